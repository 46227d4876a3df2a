/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A blocking call; see rpc_client.h. */
#include "gateway/rpc/rpc_client.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include "gateway/base/buf.h"
#include "gateway/base/cleanup.h"
#include "gateway/rpc/rpc_frame.h"

enum { CHUNK = 65536 };

/* A daemon that is stopped still has its socket: a connection and a small request need nobody to take them. */
static int connect_to(const char *path, unsigned patience, int *ret)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	const struct timeval limit = {.tv_sec = patience};
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	if (strlen(path) >= sizeof(addr.sun_path))
		return -ENAMETOOLONG;
	memcpy(addr.sun_path, path, strlen(path));
	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) < 0 ||
		setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)) < 0)
		return -errno;
	if (connect(fd, (const struct sockaddr *)&addr, sizeof(addr)) < 0)
		return -errno;
	*ret = steal_fd(&fd);
	return 0;
}

/* A server that refuses closes early and its answer says why: a broken pipe is no reason not to read it. */
static int send_all(int fd, const char *data, size_t len)
{
	while (len > 0) {
		ssize_t n = send(fd, data, len, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EPIPE || errno == ECONNRESET ? 0 : -errno;
		data += n;
		len -= (size_t)n;
	}
	return 0;
}

static int receive_frame(int fd, struct rpc_frame *frame)
{
	char chunk[CHUNK];

	for (;;) {
		size_t wants = rpc_frame_wants(frame);
		ssize_t n = recv(fd, chunk, wants < sizeof(chunk) ? wants : sizeof(chunk), 0);
		int r;

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -ECONNRESET;
		r = rpc_frame_feed(frame, UINT32_MAX, chunk, (size_t)n);
		if (r != 0)
			return r < 0 ? r : 0;
	}
}

int rpc_client_call(const char *path, const char *method, json_t *params, unsigned patience, struct rpc_answer *ret)
{
	struct rpc_frame frame = {0};
	struct buf request = {0};
	const char *why;
	_cleanup_close_ int fd = -1;
	int r = connect_to(path, patience, &fd);

	rpc_put_request(&request, 1, method, params);
	if (r >= 0)
		r = send_all(fd, request.data, request.len);
	if (r >= 0)
		r = receive_frame(fd, &frame);
	if (r >= 0)
		r = rpc_answer_parse(frame.body.data, frame.body.len, ret, &why);
	buf_free(&request);
	rpc_frame_reset(&frame);
	return r == -EAGAIN ? -ETIMEDOUT : r;
}
