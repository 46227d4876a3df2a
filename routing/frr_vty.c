/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The vty socket of one daemon. The one idea: text of FRR has no NUL, so the first NUL begins the trailer, wherever the
 * pieces of a reply were cut. After any error the two sides may be out of step, so the connection is not used again.
 */
#include "routing/frr_vty.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>

#include "gateway/base/buf.h"
#include "gateway/base/cleanup.h"

enum { PIECE = 64 << 10, TRAILER = 4 };
static const size_t TEXT_MAX = 64u << 20;
static const uint64_t USEC = 1000000;

struct frr_vty {
	int fd;
	uint64_t timeout_usec;
	pid_t pid;
	int broken; /* 0, or what ended it */
};

static uint64_t now_usec(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * USEC + (uint64_t)t.tv_nsec / 1000;
}

/* Waits for the socket. 0 or -ETIMEDOUT. */
static int wait_for(int fd, short events, uint64_t deadline)
{
	struct pollfd p = {.fd = fd, .events = events};

	for (;;) {
		uint64_t now = now_usec(), left = now < deadline ? deadline - now : 0;
		struct timespec t = {.tv_sec = (time_t)(left / USEC), .tv_nsec = (long)(left % USEC) * 1000};
		int n = ppoll(&p, 1, &t, NULL);

		if (n > 0)
			return 0;
		if (n == 0)
			return -ETIMEDOUT;
		if (errno != EINTR)
			return -errno;
	}
}

static int send_all(int fd, const char *data, size_t len, uint64_t deadline)
{
	while (len > 0) {
		ssize_t n = send(fd, data, len, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n >= 0) {
			data += n;
			len -= (size_t)n;
		} else if (errno == EAGAIN) {
			int r = wait_for(fd, POLLOUT, deadline);

			if (r < 0)
				return r;
		} else if (errno != EINTR) {
			return -errno;
		}
	}
	return 0;
}

/* Bytes received, at least one, or -errno. */
static ssize_t receive(int fd, char *data, size_t size, uint64_t deadline)
{
	for (;;) {
		ssize_t n = recv(fd, data, size, MSG_DONTWAIT);

		if (n > 0)
			return n;
		if (n == 0)
			return -ECONNRESET;
		if (errno == EAGAIN) {
			int r = wait_for(fd, POLLIN, deadline);

			if (r < 0)
				return r;
		} else if (errno != EINTR) {
			return -errno;
		}
	}
}

struct reply {
	struct buf *text; /* NULL: not wanted */
	size_t len;	  /* of the text, wanted or not */
	unsigned char trailer[TRAILER];
	size_t n_trailer;
};

/* One more piece. 1: the reply is whole; 0: there is more to come; or -errno. */
static int reply_feed(struct reply *r, const char *data, size_t len)
{
	const char *nul = r->n_trailer == 0 ? memchr(data, '\0', len) : data;
	size_t text = nul ? (size_t)(nul - data) : len, rest = len - text;

	if (text > TEXT_MAX - r->len)
		return -EMSGSIZE;
	r->len += text;
	if (r->text)
		buf_add(r->text, data, text);
	if (rest > TRAILER - r->n_trailer)
		return -EBADMSG;
	memcpy(r->trailer + r->n_trailer, data + text, rest);
	r->n_trailer += rest;
	if (r->n_trailer < TRAILER)
		return 0;
	return r->trailer[0] == 0 && r->trailer[1] == 0 && r->trailer[2] == 0 ? 1 : -EBADMSG;
}

static int run(int fd, const char *command, struct buf *text, uint64_t deadline)
{
	struct reply reply = {.text = text};
	char piece[PIECE];
	int r;

	r = send_all(fd, command, strlen(command) + 1, deadline);
	while (r == 0) {
		ssize_t n = receive(fd, piece, sizeof(piece), deadline);

		r = n < 0 ? (int)n : reply_feed(&reply, piece, (size_t)n);
	}
	return r < 0 ? r : reply.trailer[TRAILER - 1];
}

int frr_vty_run(struct frr_vty *vty, const char *command, struct buf *ret_text)
{
	int r;

	if (ret_text)
		buf_reset(ret_text);
	/* It would be two commands. */
	if (strpbrk(command, "\r\n"))
		return -EINVAL;
	if (vty->broken)
		return vty->broken;
	r = run(vty->fd, command, ret_text, now_usec() + vty->timeout_usec);
	if (r < 0) {
		vty->broken = r;
		(void)shutdown(vty->fd, SHUT_RDWR);
	}
	return r;
}

/* A full backlog makes connect() wait, up to the time-out for sending. */
static int connect_to(const char *path, uint64_t timeout_usec, int *ret_fd)
{
	struct timeval t = {.tv_sec = (time_t)(timeout_usec / USEC), .tv_usec = (suseconds_t)(timeout_usec % USEC)};
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	_cleanup_close_ int fd = -1;

	if (strlen(path) >= sizeof(to.sun_path))
		return -ENAMETOOLONG;
	memcpy(to.sun_path, path, strlen(path) + 1);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &t, sizeof(t)) < 0)
		return -errno;
	while (connect(fd, (const struct sockaddr *)&to, sizeof(to)) < 0)
		if (errno != EINTR)
			return errno == EAGAIN ? -ETIMEDOUT : -errno;
	*ret_fd = steal_fd(&fd);
	return 0;
}

int frr_vty_open(const char *socket_path, uint64_t timeout_usec, struct frr_vty **ret)
{
	_cleanup_close_ int fd = -1;
	socklen_t len = sizeof(struct ucred);
	struct frr_vty *vty;
	struct ucred peer;
	int r;

	r = connect_to(socket_path, timeout_usec, &fd);
	if (r < 0)
		return r;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0)
		return -errno;
	r = run(fd, "enable", NULL, now_usec() + timeout_usec);
	if (r != 0)
		return r < 0 ? r : -EACCES;
	vty = malloc(sizeof(*vty));
	if (!vty)
		abort();
	*vty = (struct frr_vty){.fd = steal_fd(&fd), .timeout_usec = timeout_usec, .pid = peer.pid};
	*ret = vty;
	return 0;
}

void frr_vty_close(struct frr_vty *vty)
{
	if (!vty)
		return;
	closep(&vty->fd);
	free(vty);
}

pid_t frr_vty_pid(const struct frr_vty *vty)
{
	return vty->pid;
}
