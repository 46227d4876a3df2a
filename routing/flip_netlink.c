/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Routes for the fast flip; see flip_netlink.h. Next hops are copies of such that the kernel has already, so they are
 * given to it as "on link": it need not look for them again, and those that were so stay so.
 */
#include "routing/flip_netlink.h"

#include <errno.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "gateway/base/arena.h"
#include "gateway/base/cleanup.h"
#include "gateway/base/str.h"
#include "overlay/model.h"
#include "overlay/observe_parse.h"
#include "overlay/rtsock.h"
#include "routing/flip.h"
#include "routing/flip_plan.h"

struct flip_kernel {
	struct rtsock *s;
	int events;
	bool listens;
	struct arena *arena; /* of the notes; NULL: not known */
	struct link_note *notes;
	const struct link_note **by_name;
	size_t n_notes;
};

static int open_events(int *ret)
{
	_cleanup_close_ int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
	struct sockaddr_nl local = {.nl_family = AF_NETLINK};

	if (fd < 0 || bind(fd, (struct sockaddr *)&local, sizeof(local)) < 0)
		return -errno;
	*ret = steal_fd(&fd);
	return 0;
}

int flip_kernel_open(struct flip_kernel **ret)
{
	_cleanup_(rtsock_closep) struct rtsock *s = NULL;
	struct flip_kernel *k;
	int events = -1, r = rtsock_open(&s);

	if (r == 0)
		r = open_events(&events);
	if (r < 0)
		return r;
	k = calloc(1, sizeof(*k));
	if (!k)
		abort();
	k->s = s;
	s = NULL;
	k->events = events;
	*ret = k;
	return 0;
}

void flip_kernel_forget_links(struct flip_kernel *k)
{
	arena_freep(&k->arena);
	k->arena = NULL;
	k->notes = NULL;
	k->by_name = NULL;
	k->n_notes = 0;
}

void flip_kernel_close(struct flip_kernel *k)
{
	if (!k)
		return;
	flip_kernel_forget_links(k);
	rtsock_close(k->s);
	(void)close(k->events);
	free(k);
}

/* --- reading --- */

struct reading {
	struct observe_parser *parser;
	int (*parse)(struct observe_parser *p, struct nlmsghdr *h);
	size_t n_routes; /* where the model stood */
};

static int take(struct nlmsghdr *h, void *arg)
{
	struct reading *reading = arg;

	return reading->parse(reading->parser, h);
}

static void restart(void *arg)
{
	struct reading *reading = arg;

	reading->parser->model->n_routes = reading->n_routes;
	if (reading->parse == observe_parse_link)
		reading->parser->model->n_links = reading->parser->n_notes = 0;
}

static int run(
	struct flip_kernel *k, struct observe_parser *p, int (*parse)(struct observe_parser *, struct nlmsghdr *))
{
	struct reading reading = {p, parse, p->model->n_routes};

	return rtsock_dump(k->s, &(struct rtsock_reader){.fn = take, .restart = restart, .arg = &reading});
}

static int cmp_name(const void *a, const void *b)
{
	return strcmp((*(const struct link_note *const *)a)->name, (*(const struct link_note *const *)b)->name);
}

static int read_links(struct flip_kernel *k)
{
	struct kernel_model model = {.arena = arena_new()};
	struct observe_parser p = {.model = &model};
	struct nl_msg *msg = rtsock_begin(k->s, RTM_GETLINK, 0);
	int r;

	msg_header(msg, &(struct ifinfomsg){.ifi_family = AF_UNSPEC}, sizeof(struct ifinfomsg));
	msg_put_u32(msg, IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS);
	r = run(k, &p, observe_parse_link);
	if (r < 0) {
		arena_free(model.arena);
		return r;
	}
	observe_parse_links_end(&p);
	flip_kernel_forget_links(k);
	k->arena = model.arena;
	k->notes = p.notes;
	k->n_notes = p.n_notes;
	k->by_name = arena_array(k->arena, k->n_notes, sizeof(const struct link_note *));
	for (size_t i = 0; i < k->n_notes; i++)
		k->by_name[i] = &k->notes[i];
	qsort(k->by_name, k->n_notes, sizeof(const struct link_note *), cmp_name);
	return 0;
}

static int read_routes(struct flip_kernel *k, uint8_t proto, struct kernel_model *m)
{
	static const uint8_t families[] = {AF_INET, AF_INET6};
	struct observe_parser p = {.model = m, .notes = k->notes, .n_notes = k->n_notes};
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(families) && r == 0; i++) {
		struct rtmsg info = {.rtm_family = families[i], .rtm_protocol = proto};

		msg_header(rtsock_begin(k->s, RTM_GETROUTE, 0), &info, sizeof(info));
		r = run(k, &p, observe_parse_route);
		if (r == -EOPNOTSUPP && families[i] == AF_INET6)
			r = 0; /* a kernel without IPv6 */
	}
	return r;
}

static bool has_unknown_link(const struct kernel_model *m, size_t from)
{
	for (size_t i = from; i < m->n_routes; i++)
		for (size_t j = 0; j < m->routes[i].n_nexthops; j++)
			if (!m->routes[i].nexthops[j].link[0])
				return true;
	return false;
}

int flip_kernel_read(struct flip_kernel *k, uint8_t proto, struct kernel_model *ret)
{
	size_t from = ret->n_routes;
	int r = k->arena ? 0 : read_links(k);

	if (r == 0)
		r = read_routes(k, proto, ret);
	/* A link that is new since we asked. */
	if (r == 0 && has_unknown_link(ret, from)) {
		r = read_links(k);
		ret->n_routes = from;
		if (r == 0)
			r = read_routes(k, proto, ret);
	}
	if (r == 0)
		model_seal(ret);
	return r;
}

/* --- writing --- */

static uint32_t find_ifindex(const struct flip_kernel *k, const char *name)
{
	size_t lo = 0, hi = k->n_notes;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		int c = strcmp(k->by_name[mid]->name, name);

		if (c == 0)
			return k->by_name[mid]->ifindex;
		if (c < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return 0;
}

/* An IPv4 route through an IPv6 router has the other kind of attribute. */
static void put_via(struct nl_msg *msg, const struct ip_route *r, const struct nexthop *nh)
{
	struct {
		uint16_t family;
		uint8_t bytes[16];
	} via = {.family = nh->via.family};

	if (!ip_addr_is_set(&nh->via))
		return;
	if (nh->via.family == r->dst.addr.family) {
		msg_put_addr(msg, RTA_GATEWAY, &nh->via);
		return;
	}
	memcpy(via.bytes, nh->via.bytes, sizeof(via.bytes));
	msg_put(msg, RTA_VIA, &via, sizeof(via.family) + ip_addr_len(&nh->via));
}

static void put_nexthops(struct nl_msg *msg, const struct flip_kernel *k, const struct ip_route *r)
{
	struct nlattr *multipath = msg_nest(msg, RTA_MULTIPATH);

	for (size_t i = 0; i < r->n_nexthops; i++) {
		const struct nexthop *nh = &r->nexthops[i];
		struct rtnexthop *at = nlmsg_reserve(msg, sizeof(*at), NLMSG_ALIGNTO);

		if (!at)
			abort();
		*at = (struct rtnexthop){
			.rtnh_flags = ip_addr_is_set(&nh->via) ? RTNH_F_ONLINK : 0,
			.rtnh_hops = nh->weight ? nh->weight - 1 : 0,
			.rtnh_ifindex = (int)find_ifindex(k, nh->link),
		};
		put_via(msg, r, nh);
		at->rtnh_len = (unsigned short)((char *)nlmsg_tail(nlmsg_hdr(msg)) - (char *)at);
	}
	(void)nla_nest_end(msg, multipath);
}

static void put_route(struct nl_msg *msg, const struct ip_route *r, struct rtmsg info)
{
	info.rtm_family = r->dst.addr.family;
	info.rtm_dst_len = r->dst.len;
	info.rtm_table = r->table < 256 ? (uint8_t)r->table : RT_TABLE_UNSPEC;
	info.rtm_protocol = FLIP_PROTO;
	msg_header(msg, &info, sizeof(info));
	msg_put_u32(msg, RTA_TABLE, r->table);
	if (r->dst.len)
		msg_put_addr(msg, RTA_DST, &r->dst.addr);
	msg_put_u32(msg, RTA_PRIORITY, r->metric);
}

static void build_override(struct flip_kernel *k, const struct ip_route *r)
{
	struct nl_msg *msg = rtsock_begin(k->s, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_REPLACE);
	bool has_router = false;

	for (size_t i = 0; i < r->n_nexthops; i++)
		has_router |= ip_addr_is_set(&r->nexthops[i].via);
	put_route(msg, r,
		(struct rtmsg){.rtm_type = RTN_UNICAST, .rtm_scope = has_router ? RT_SCOPE_UNIVERSE : RT_SCOPE_LINK});
	if (r->mtu) {
		struct nlattr *metrics = msg_nest(msg, RTA_METRICS);

		msg_put_u32(msg, RTAX_MTU, r->mtu);
		(void)nla_nest_end(msg, metrics);
	}
	put_nexthops(msg, k, r);
}

static bool is_gone(const void *tag, int error)
{
	(void)tag;
	return error == -ESRCH;
}

int flip_kernel_apply(struct flip_kernel *k, const struct flip_delta *delta)
{
	struct rtsock_failure failure = {.is_fine = is_gone};

	for (size_t i = 0; i < delta->n_set; i++) {
		build_override(k, delta->set[i]);
		(void)rtsock_queue(k->s, NULL, &failure);
	}
	for (size_t i = 0; i < delta->n_remove; i++) {
		put_route(rtsock_begin(k->s, RTM_DELROUTE, 0), delta->remove[i],
			(struct rtmsg){.rtm_scope = RT_SCOPE_NOWHERE});
		(void)rtsock_queue(k->s, NULL, &failure);
	}
	return rtsock_flush(k->s, &failure);
}

/* --- changes --- */

void flip_kernel_listen(struct flip_kernel *k, bool on)
{
	static const int groups[] = {RTNLGRP_IPV4_ROUTE, RTNLGRP_IPV6_ROUTE};

	/* Where it cannot be, the regular look has to do. */
	for (size_t i = 0; on != k->listens && i < ARRAY_SIZE(groups); i++)
		(void)setsockopt(k->events, SOL_NETLINK, on ? NETLINK_ADD_MEMBERSHIP : NETLINK_DROP_MEMBERSHIP,
			&groups[i], sizeof(groups[i]));
	k->listens = on;
}

int flip_kernel_fd(const struct flip_kernel *k)
{
	return k->events;
}

static bool is_foreign(const struct nlmsghdr *h)
{
	return h->nlmsg_len >= NLMSG_LENGTH(sizeof(struct rtmsg)) &&
		((const struct rtmsg *)NLMSG_DATA(h))->rtm_protocol != FLIP_PROTO;
}

bool flip_kernel_changed(struct flip_kernel *k)
{
	_Alignas(struct nlmsghdr) char buf[16 * 1024];
	bool changed = false;

	for (;;) {
		ssize_t n = recv(k->events, buf, sizeof(buf), MSG_DONTWAIT);
		int len = (int)n;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return changed;
		if (n < 0)
			return true; /* overrun: there was something */
		for (struct nlmsghdr *h = (struct nlmsghdr *)buf; nlmsg_ok(h, len); h = nlmsg_next(h, &len))
			changed |= is_foreign(h);
	}
}
