/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one idea: a filter in the kernel lets through only what could have changed something of ours, so that ten
 * thousand learned MACs or a full BGP table going by do not wake the gateway once. See monitor.h.
 */
#include "overlay/monitor.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/neighbour.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "gateway/base/cleanup.h"
#include "gateway/base/str.h"
#include "overlay/model.h"

enum { SOCKET_BUFFER = 4 * 1024 * 1024 };

struct monitor {
	int fd;
	int routes; /* of everybody; only asked, never waited for */
};

/* Offsets in a message: its header, then the family's. The filter loads big-endian, netlink is native: hence htons().
 */
enum {
	AT_TYPE = offsetof(struct nlmsghdr, nlmsg_type),
	AT_FLAGS = offsetof(struct nlmsghdr, nlmsg_flags),
	AT_NEIGH_FAMILY = NLMSG_HDRLEN + offsetof(struct ndmsg, ndm_family),
	AT_NEIGH_STATE = NLMSG_HDRLEN + offsetof(struct ndmsg, ndm_state),
	AT_ROUTE_PROTO = NLMSG_HDRLEN + offsetof(struct rtmsg, rtm_protocol),
};

/*
 * Neighbours: only entries of an FDB that do not age. Routes: ours, or what took the place of another. All else passes:
 * links, addresses, and the per-interface sysctls that the kernel tells of.
 */
static int attach_filter(int fd)
{
	enum { NEIGH = 6, ROUTE = 10, DROP = 14, PASS = 15 };
#define TO(target, from) ((unsigned char)((target) - (from)-1))
	struct sock_filter code[] = {
		[0] = BPF_STMT(BPF_LD | BPF_H | BPF_ABS, AT_TYPE),
		[1] = BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htons(RTM_NEWNEIGH), TO(NEIGH, 1), 0),
		[2] = BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htons(RTM_DELNEIGH), TO(NEIGH, 2), 0),
		[3] = BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htons(RTM_NEWROUTE), TO(ROUTE, 3), 0),
		[4] = BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htons(RTM_DELROUTE), TO(ROUTE, 4), 0),
		[5] = BPF_JUMP(BPF_JMP | BPF_JA, TO(PASS, 5), 0, 0),
		[NEIGH] = BPF_STMT(BPF_LD | BPF_B | BPF_ABS, AT_NEIGH_FAMILY),
		[NEIGH + 1] = BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_BRIDGE, 0, TO(DROP, NEIGH + 1)),
		[NEIGH + 2] = BPF_STMT(BPF_LD | BPF_H | BPF_ABS, AT_NEIGH_STATE),
		[NEIGH + 3] = BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, htons(NUD_PERMANENT | NUD_NOARP),
			TO(PASS, NEIGH + 3), TO(DROP, NEIGH + 3)),
		[ROUTE] = BPF_STMT(BPF_LD | BPF_B | BPF_ABS, AT_ROUTE_PROTO),
		[ROUTE + 1] = BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, FAIRWAY_PROTO, TO(PASS, ROUTE + 1), 0),
		[ROUTE + 2] = BPF_STMT(BPF_LD | BPF_H | BPF_ABS, AT_FLAGS),
		[ROUTE + 3] = BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, htons(NLM_F_REPLACE), TO(PASS, ROUTE + 3), 0),
		[DROP] = BPF_STMT(BPF_RET | BPF_K, 0),
		[PASS] = BPF_STMT(BPF_RET | BPF_K, 0xffffffff),
	};
#undef TO
	struct sock_fprog program = {.len = ARRAY_SIZE(code), .filter = code};

	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)) < 0 ? -errno : 0;
}

static const int all_groups[] = {RTNLGRP_IPV4_ROUTE, RTNLGRP_IPV6_ROUTE, RTNLGRP_LINK, RTNLGRP_NEIGH,
	RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR, RTNLGRP_IPV4_NETCONF, RTNLGRP_IPV6_NETCONF};
enum { N_ROUTE_GROUPS = 2 };

static int join_groups(int fd, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (setsockopt(fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &all_groups[i], sizeof(all_groups[i])) < 0)
			return -errno;
	return 0;
}

static int open_socket(int *ret)
{
	_cleanup_close_ int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
	struct sockaddr_nl local = {.nl_family = AF_NETLINK};

	if (fd < 0 || bind(fd, (struct sockaddr *)&local, sizeof(local)) < 0)
		return -errno;
	*ret = steal_fd(&fd);
	return 0;
}

/* The smallest buffer there is: one route or ten thousand are the same news, and an overrun tells it too. */
static int open_routes(int *ret)
{
	_cleanup_close_ int fd = -1;
	const int buffer = 0;
	int r = open_socket(&fd);

	if (r == 0 && setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof(buffer)) < 0)
		r = -errno;
	if (r == 0)
		r = join_groups(fd, N_ROUTE_GROUPS);
	if (r == 0)
		*ret = steal_fd(&fd);
	return r;
}

int monitor_open(struct monitor **ret)
{
	_cleanup_close_ int fd = -1, routes = -1;
	const int buffer = SOCKET_BUFFER;
	struct monitor *m;
	int r = open_socket(&fd);

	if (r == 0)
		r = open_routes(&routes);
	if (r < 0)
		return r;
	/* An overrun is noticed and counts as a change, so a smaller buffer will do too. */
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &buffer, sizeof(buffer)) < 0)
		(void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof(buffer));
	/* The filter first: nothing else is to get in before it. */
	r = attach_filter(fd);
	if (r == 0)
		r = join_groups(fd, ARRAY_SIZE(all_groups));
	if (r < 0)
		return r;
	m = calloc(1, sizeof(*m));
	if (!m)
		abort();
	m->fd = steal_fd(&fd);
	m->routes = steal_fd(&routes);
	*ret = m;
	return 0;
}

void monitor_close(struct monitor *m)
{
	if (!m)
		return;
	(void)close(m->fd);
	(void)close(m->routes);
	free(m);
}

int monitor_fd(const struct monitor *m)
{
	return m->fd;
}

/* What came in matters; what it says is found by observing, so the rest is cut off. */
static int drain(int fd)
{
	char message[NLMSG_HDRLEN];
	int changed = 0;

	for (;;) {
		struct sockaddr_nl from = {0};
		socklen_t len = sizeof(from);
		ssize_t n = recvfrom(fd, message, sizeof(message), MSG_TRUNC, (struct sockaddr *)&from, &len);

		if (n >= 0 && from.nl_pid == 0)
			changed = 1;
		if (n >= 0 || errno == EINTR)
			continue;
		if (errno == EAGAIN)
			return changed;
		if (errno != ENOBUFS)
			return -errno;
		changed = 1;
	}
}

int monitor_read(struct monitor *m)
{
	return drain(m->fd);
}

int monitor_routes(struct monitor *m)
{
	return drain(m->routes);
}
