/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The netlink socket. libnl makes and takes apart the messages; sending and receiving are here, because batches need
 * many messages in one send and their answers told apart.
 */
#include "overlay/rtsock.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <sys/socket.h>

#include "gateway/base/cleanup.h"

enum {
	MSG_ROOM = 2 * 1024,		      /* our largest message, a route with 32 next hops, takes half of it */
	BATCH_ROOM = RTSOCK_BATCH * MSG_ROOM, /* below the default SO_SNDBUF: any batch fits one send */
	RECV_ROOM = 64 * 1024,		      /* the kernel fills at most 32 KiB of it in a dump */
	SOCKET_BUFFER = 8 * 1024 * 1024,
	DUMP_TRIES = 10,
};

struct rtsock {
	int fd;
	uint32_t seq;
	uint64_t n_sends;
	struct nl_msg *msg;
	size_t n_queued, queued_len;
	const void *tags[RTSOCK_BATCH];
	uint32_t first_seq; /* of the batch; the others follow */
	_Alignas(struct nlmsghdr) char batch[BATCH_ROOM];
	_Alignas(struct nlmsghdr) char recv[RECV_ROOM];
};

static void set_option(int fd, int level, int option, int value)
{
	/* Each is a help that a kernel may refuse; none is needed for a right result. */
	(void)setsockopt(fd, level, option, &value, sizeof(value));
}

int rtsock_open(struct rtsock **ret)
{
	_cleanup_close_ int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	struct sockaddr_nl local = {.nl_family = AF_NETLINK};
	struct rtsock *s;

	if (fd < 0 || bind(fd, (struct sockaddr *)&local, sizeof(local)) < 0)
		return -errno;
	set_option(fd, SOL_SOCKET, SO_RCVBUF, SOCKET_BUFFER);
	set_option(fd, SOL_SOCKET, SO_RCVBUFFORCE, SOCKET_BUFFER);
	set_option(fd, SOL_NETLINK, NETLINK_EXT_ACK, 1);
	set_option(fd, SOL_NETLINK, NETLINK_CAP_ACK, 1);
	set_option(fd, SOL_NETLINK, NETLINK_GET_STRICT_CHK, 1);
	s = calloc(1, sizeof(*s));
	if (!s)
		abort();
	s->msg = nlmsg_alloc_size(MSG_ROOM);
	if (!s->msg)
		abort();
	s->fd = steal_fd(&fd);
	*ret = s;
	return 0;
}

void rtsock_close(struct rtsock *s)
{
	if (!s)
		return;
	(void)close(s->fd);
	nlmsg_free(s->msg);
	free(s);
}

void rtsock_closep(struct rtsock **s)
{
	rtsock_close(*s);
}

size_t rtsock_n_queued(const struct rtsock *s)
{
	return s->n_queued;
}

uint64_t rtsock_n_sends(const struct rtsock *s)
{
	return s->n_sends;
}

struct nl_msg *rtsock_begin(struct rtsock *s, uint16_t type, uint16_t flags)
{
	struct nlmsghdr *h = nlmsg_hdr(s->msg);

	*h = (struct nlmsghdr){
		.nlmsg_len = NLMSG_HDRLEN,
		.nlmsg_type = type,
		.nlmsg_flags = flags | NLM_F_REQUEST,
		.nlmsg_seq = ++s->seq,
	};
	return s->msg;
}

static int send_all(struct rtsock *s, const void *data, size_t len)
{
	struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
	ssize_t n;

	s->n_sends++;
	do
		n = sendto(s->fd, data, len, 0, (struct sockaddr *)&kernel, sizeof(kernel));
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}

/* One datagram of the kernel into s->recv. Its length, or -errno. */
static ssize_t receive(struct rtsock *s)
{
	for (;;) {
		struct sockaddr_nl from = {0};
		struct iovec iov = {.iov_base = s->recv, .iov_len = sizeof(s->recv)};
		struct msghdr m = {.msg_name = &from, .msg_namelen = sizeof(from), .msg_iov = &iov, .msg_iovlen = 1};
		ssize_t n = recvmsg(s->fd, &m, 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (m.msg_flags & MSG_TRUNC)
			return -EMSGSIZE;
		if (from.nl_pid == 0)
			return n;
	}
}

static int copy_words(const struct nlattr *msg, char ret[RTSOCK_WORDS])
{
	return (int)nla_strlcpy(ret, msg, RTSOCK_WORDS);
}

/* The error of an NLMSG_ERROR or NLMSG_DONE, and the kernel's words, "" if it has none. */
static int answer_error(struct nlmsghdr *h, char words[RTSOCK_WORDS])
{
	struct nlattr *tb[NLMSGERR_ATTR_MAX + 1];
	size_t fixed = h->nlmsg_type == NLMSG_DONE ? sizeof(int) : sizeof(struct nlmsgerr);
	const struct nlmsgerr *e = nlmsg_data(h);

	words[0] = '\0';
	if (h->nlmsg_len < NLMSG_LENGTH(fixed))
		return h->nlmsg_type == NLMSG_DONE ? 0 : -EBADMSG;
	if (!(h->nlmsg_flags & NLM_F_ACK_TLVS))
		return e->error;
	if (h->nlmsg_type == NLMSG_ERROR && !(h->nlmsg_flags & NLM_F_CAPPED))
		fixed += e->msg.nlmsg_len - NLMSG_HDRLEN;
	if (nlmsg_parse(h, (int)fixed, tb, NLMSGERR_ATTR_MAX, NULL) == 0 && tb[NLMSGERR_ATTR_MSG])
		(void)copy_words(tb[NLMSGERR_ATTR_MSG], words);
	return e->error;
}

/* Walks one dump to its end, reading it all even when fn fails. 1: interrupted, must be repeated. */
static int dump_once(struct rtsock *s, const struct rtsock_reader *reader)
{
	uint32_t seq = nlmsg_hdr(s->msg)->nlmsg_seq;
	char words[RTSOCK_WORDS];
	bool interrupted = false;
	int r = send_all(s, nlmsg_hdr(s->msg), nlmsg_hdr(s->msg)->nlmsg_len);

	if (r < 0)
		return r;
	for (;;) {
		ssize_t n = receive(s);
		int len = (int)n;

		if (n < 0)
			return (int)n;
		for (struct nlmsghdr *h = (struct nlmsghdr *)s->recv; nlmsg_ok(h, len); h = nlmsg_next(h, &len)) {
			if (h->nlmsg_seq != seq)
				continue;
			interrupted |= h->nlmsg_flags & NLM_F_DUMP_INTR;
			if (h->nlmsg_type == NLMSG_DONE || h->nlmsg_type == NLMSG_ERROR) {
				int error = answer_error(h, words);

				return error ? error : r ? r : interrupted;
			}
			if (r == 0)
				r = reader->fn(h, reader->arg);
		}
	}
}

int rtsock_dump(struct rtsock *s, const struct rtsock_reader *reader)
{
	struct nlmsghdr *h = nlmsg_hdr(s->msg);

	h->nlmsg_flags |= NLM_F_DUMP;
	for (int i = 0; i < DUMP_TRIES; i++) {
		int r = dump_once(s, reader);

		if (r <= 0)
			return r;
		reader->restart(reader->arg);
		h->nlmsg_seq = ++s->seq;
	}
	return -EAGAIN;
}

int rtsock_get(struct rtsock *s, int (*fn)(struct nlmsghdr *h, void *arg), void *arg)
{
	struct nlmsghdr *request = nlmsg_hdr(s->msg);
	char words[RTSOCK_WORDS];
	int r = send_all(s, request, request->nlmsg_len);

	while (r == 0) {
		ssize_t n = receive(s);
		int len = (int)n;

		if (n < 0)
			return (int)n;
		for (struct nlmsghdr *h = (struct nlmsghdr *)s->recv; nlmsg_ok(h, len); h = nlmsg_next(h, &len)) {
			if (h->nlmsg_seq != request->nlmsg_seq)
				continue;
			return h->nlmsg_type == NLMSG_ERROR ? answer_error(h, words) : fn(h, arg);
		}
	}
	return r;
}

static int fail(struct rtsock_failure *failure, const void *tag, int error, const char *words)
{
	if (failure->error == 0) {
		failure->error = error;
		failure->tag = tag;
		(void)snprintf(failure->words, sizeof(failure->words), "%s", words);
	}
	return failure->error;
}

int rtsock_flush(struct rtsock *s, struct rtsock_failure *failure)
{
	size_t n_sent = s->n_queued, n_answered = 0;
	char words[RTSOCK_WORDS];
	int r;

	if (n_sent == 0)
		return failure->error;
	r = send_all(s, s->batch, s->queued_len);
	s->n_queued = s->queued_len = 0;
	if (r < 0)
		return fail(failure, s->tags[0], r, "");
	/* Answers come in order: after an overrun the first one missing is the first that we know nothing of. */
	while (n_answered < n_sent) {
		ssize_t n = receive(s);
		int len = (int)n;

		if (n < 0)
			return fail(failure, s->tags[n_answered], (int)n, "");
		for (struct nlmsghdr *h = (struct nlmsghdr *)s->recv; nlmsg_ok(h, len); h = nlmsg_next(h, &len)) {
			uint32_t i = h->nlmsg_seq - s->first_seq;

			if (h->nlmsg_type != NLMSG_ERROR || i >= n_sent)
				continue;
			n_answered++;
			r = answer_error(h, words);
			if (r < 0 && !(failure->is_fine && failure->is_fine(s->tags[i], r)))
				(void)fail(failure, s->tags[i], r, words);
		}
	}
	return failure->error;
}

int rtsock_queue(struct rtsock *s, const void *tag, struct rtsock_failure *failure)
{
	struct nlmsghdr *h = nlmsg_hdr(s->msg);
	size_t len = NLMSG_ALIGN(h->nlmsg_len);

	h->nlmsg_flags |= NLM_F_ACK;
	if (s->n_queued == 0)
		s->first_seq = h->nlmsg_seq;
	h->nlmsg_seq =
		s->first_seq + (uint32_t)s->n_queued; /* no holes, also if a message was begun for something else */
	s->tags[s->n_queued++] = tag;
	memcpy(s->batch + s->queued_len, h, h->nlmsg_len);
	memset(s->batch + s->queued_len + h->nlmsg_len, 0, len - h->nlmsg_len);
	s->queued_len += len;
	return s->n_queued == RTSOCK_BATCH ? rtsock_flush(s, failure) : 0;
}
