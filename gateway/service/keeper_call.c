/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fairwayd's end of the connection to the keeper; see keeper.h. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "gateway/base/cleanup.h"
#include "gateway/service/keeper.h"
#include "gateway/service/keeper_packet.h"

static int passed_fd(struct msghdr *msg)
{
	struct cmsghdr *c = CMSG_FIRSTHDR(msg);
	int fd = -1;

	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(sizeof(fd)))
		memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	return fd;
}

/* 0; -EPIPE: it is gone, or did not answer in time (SO_RCVTIMEO, see keeper.c); or another -errno. */
static int receive(int keeper, struct keeper_reply *ret, int *ret_pidfd)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec iov = {.iov_base = ret, .iov_len = sizeof(*ret)};
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
	ssize_t n;

	do
		n = recvmsg(keeper, &msg, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == EAGAIN || errno == ECONNRESET ? -EPIPE : -errno;
	if (n != sizeof(*ret))
		return -EPIPE;
	*ret_pidfd = passed_fd(&msg);
	return 0;
}

/* What answers a call that was given up is passed over. */
static int receive_answer(int keeper, uint32_t number, struct keeper_reply *ret, int *ret_pidfd)
{
	int r;

	do {
		closep(ret_pidfd);
		*ret_pidfd = -1;
		r = receive(keeper, ret, ret_pidfd);
	} while (r == 0 && ret->number != number);
	return r < 0 ? r : ret->error;
}

int keeper_call(int keeper, enum keeper_op op, size_t service, pid_t pid, pid_t *ret_pid, int *ret_pidfd)
{
	static uint32_t last_number;
	const uint32_t number = ++last_number;
	const struct keeper_request request = {
		.number = number, .op = (uint32_t)op, .service = (uint32_t)service, .pid = pid};
	struct keeper_reply reply = {0};
	_cleanup_close_ int pidfd = -1;
	int r;

	if (send(keeper, &request, sizeof(request), MSG_NOSIGNAL) < 0)
		return errno == EAGAIN || errno == ECONNRESET ? -EPIPE : -errno;
	r = receive_answer(keeper, number, &reply, &pidfd);
	if (r < 0)
		return r;
	if (ret_pid)
		*ret_pid = reply.pid;
	if (ret_pidfd)
		*ret_pidfd = steal_fd(&pidfd);
	return 0;
}
