/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The flows that are alive, from the kernel's own table; see record_read.h. */
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "gateway/audit/ct_socket.h"
#include "gateway/audit/flow_json.h"
#include "gateway/audit/record_read.h"
#include "gateway/audit/tracker.h"
#include "gateway/base/cleanup.h"

enum { PATIENCE_MS = 10000 };

struct live {
	record_line_fn fn;
	void *arg;
	bool go_on;
	uint64_t now_ns;
	struct ct_event *ct; /* that the tracker makes a record of */
	struct flow_clock clock;
};

/* The tracker knows names; all else is as the kernel has it now. */
static void emit(const struct flow *flow, void *arg)
{
	struct live *l = arg;
	char line[FLOW_JSON_MAX];
	struct flow f = *flow;

	f.event = FLOW_LIVE;
	f.start_ns = l->ct->start_ns;
	f.end_ns = l->now_ns;
	if (l->go_on)
		l->go_on = l->fn(line, flow_json(&l->clock, &f, line) - 1, l->arg);
}

/* The namespace is this process's from here on: it ends soon. */
static int enter(int pid)
{
	char path[64];
	_cleanup_close_ int fd = -1;

	if (pid == 0)
		return 0;
	(void)snprintf(path, sizeof(path), "/proc/%d/ns/net", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 || setns(fd, CLONE_NEWNET) < 0 ? -errno : 0;
}

/* 1: the end of the dump; 0: more; or -errno. */
static int take(struct tracker *t, struct live *l, const uint8_t *room, size_t len)
{
	for (size_t at = 0; at + NLMSG_HDRLEN <= len;) {
		struct nlmsghdr h;
		struct ct_event ct;

		memcpy(&h, room + at, sizeof(h));
		if (h.nlmsg_len < NLMSG_HDRLEN || h.nlmsg_len > len - at)
			return -EBADMSG;
		if (h.nlmsg_type == NLMSG_ERROR) {
			struct nlmsgerr e;

			if (h.nlmsg_len < NLMSG_HDRLEN + sizeof(e))
				return -EBADMSG;
			memcpy(&e, room + at + NLMSG_HDRLEN, sizeof(e));
			return e.error < 0 ? e.error : -EBADMSG;
		}
		if (h.nlmsg_type == NLMSG_DONE || !l->go_on)
			return 1;
		if (ct_event_parse(room + at, h.nlmsg_len, &ct) == 0) {
			l->ct = &ct;
			tracker_dump_entry(t, &ct, l->now_ns);
			l->ct = NULL;
		}
		at += NLMSG_ALIGN(h.nlmsg_len);
	}
	return 0;
}

static int dump(struct tracker *t, struct live *l)
{
	_Alignas(8) static uint8_t room[CT_DUMP_MAX];
	_cleanup_close_ int fd = -1;
	int r = ct_socket_dump(&fd);

	if (r == 0)
		r = ct_socket_ask(fd);
	while (r == 0) {
		struct pollfd p = {.fd = fd, .events = POLLIN};
		int n;

		if (poll(&p, 1, PATIENCE_MS) == 0)
			return -ETIMEDOUT;
		n = ct_socket_read_dump(fd, room);
		r = n < 0 ? n : take(t, l, room, (size_t)n);
	}
	return r < 0 ? r : 0;
}

int record_read_live(int pid, const struct config *cfg, record_line_fn fn, void *arg)
{
	struct live l = {.fn = fn, .arg = arg, .go_on = true};
	struct timespec now;
	struct tracker t;
	int r;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	l.now_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	tracker_init(&t, 0, emit, &l);
	tracker_set_names(&t, audit_names_new(cfg));
	r = enter(pid);
	if (r == 0)
		r = dump(&t, &l);
	tracker_free(&t);
	return r;
}
