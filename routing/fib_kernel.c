/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See fib_kernel.h. Messages are those of zebra: protocol bgp, metric 20, MACs learned from outside. */
#include "routing/fib_kernel.h"

#include <errno.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>

#include "gateway/base/arena.h"
#include "gateway/base/str.h"
#include "overlay/observe_parse.h"
#include "overlay/rtsock.h"

enum { PROTO_ZEBRA = 11 }; /* NDA_PROTOCOL */

/* --- reading --- */

struct macs {
	struct evpn_mac *v;
	size_t n, cap;
};

struct reading {
	struct arena *arena;
	struct fib_kernel *kernel;
	struct observe_parser parser;
	struct macs learned, bridge, fixed;
	size_t first_route; /* of the family that is being read */
};

static int on_link(struct nlmsghdr *h, void *arg)
{
	return observe_parse_link(&((struct reading *)arg)->parser, h);
}

static int on_route(struct nlmsghdr *h, void *arg)
{
	const struct rtmsg *info = nlmsg_data(h);

	/* The kernel filters by protocol, but old ones do not. */
	if (h->nlmsg_len < NLMSG_LENGTH(sizeof(*info)) || info->rtm_protocol != RTPROT_BGP ||
		info->rtm_type != RTN_UNICAST)
		return 0;
	return observe_parse_route(&((struct reading *)arg)->parser, h);
}

/* Our VXLAN device of this ifindex. */
static const struct link *vxlan_of(const struct reading *r, uint32_t ifindex)
{
	for (size_t i = 0; i < r->kernel->model.n_links; i++) {
		const struct link *l = &r->kernel->model.links[i];

		if (l->ifindex == ifindex)
			return l->ours && l->kind == LINK_VXLAN ? l : NULL;
	}
	return NULL;
}

static void add_mac(struct reading *r, struct macs *list, const struct evpn_mac *mac)
{
	list->v = arena_grow(r->arena, list->v, list->n, &list->cap, sizeof(*list->v));
	list->v[list->n++] = *mac;
}

static int on_fdb(struct nlmsghdr *h, void *arg)
{
	struct nlattr *tb[NDA_MAX + 1];
	struct evpn_mac mac = {0};
	struct reading *r = arg;
	const struct link *device;
	struct ndmsg info;

	if (h->nlmsg_type != RTM_NEWNEIGH || nlmsg_parse(h, sizeof(info), tb, NDA_MAX, NULL) < 0)
		return 0;
	memcpy(&info, nlmsg_data(h), sizeof(info));
	device = vxlan_of(r, (uint32_t)info.ndm_ifindex);
	if (!device || !tb[NDA_LLADDR] || nla_len(tb[NDA_LLADDR]) != sizeof(mac.mac))
		return 0;
	mac.vni = device->vxlan.vni;
	memcpy(&mac.mac, nla_data(tb[NDA_LLADDR]), sizeof(mac.mac));
	if (tb[NDA_DST] && (nla_len(tb[NDA_DST]) == 4 || nla_len(tb[NDA_DST]) == 16)) {
		mac.vtep.family = nla_len(tb[NDA_DST]) == 4 ? AF_INET : AF_INET6;
		memcpy(mac.vtep.bytes, nla_data(tb[NDA_DST]), (size_t)nla_len(tb[NDA_DST]));
	}
	if (!(info.ndm_flags & NTF_SELF))
		add_mac(r, &r->bridge, &(struct evpn_mac){.vni = mac.vni, .mac = mac.mac});
	else if (info.ndm_state & NUD_PERMANENT)
		add_mac(r, &r->fixed, &mac);
	else if (info.ndm_flags & NTF_EXT_LEARNED)
		add_mac(r, &r->learned, &mac);
	return 0;
}

static void forget_routes(void *arg)
{
	struct reading *r = arg;

	r->kernel->model.n_routes = r->first_route;
}

static void forget_macs(void *arg)
{
	struct reading *r = arg;

	r->learned.n = r->bridge.n = r->fixed.n = 0;
}

static void forget_links(void *arg)
{
	struct reading *r = arg;

	r->kernel->model.n_links = 0;
	r->parser = (struct observe_parser){.model = &r->kernel->model};
}

static int read_links(struct rtsock *s, struct reading *r)
{
	struct nl_msg *msg = rtsock_begin(s, RTM_GETLINK, 0);
	int e;

	msg_header(msg, &(struct ifinfomsg){.ifi_family = AF_UNSPEC}, sizeof(struct ifinfomsg));
	msg_put_u32(msg, IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS);
	e = rtsock_dump(s, &(struct rtsock_reader){.fn = on_link, .restart = forget_links, .arg = r});
	if (e == 0)
		observe_parse_links_end(&r->parser);
	return e;
}

/* Both families into one list: a dump that begins again forgets its own alone. */
static int read_routes(struct rtsock *s, struct reading *r, uint8_t family)
{
	struct rtmsg info = {.rtm_family = family, .rtm_protocol = RTPROT_BGP};
	int e;

	r->first_route = r->kernel->model.n_routes;
	msg_header(rtsock_begin(s, RTM_GETROUTE, 0), &info, sizeof(info));
	e = rtsock_dump(s, &(struct rtsock_reader){.fn = on_route, .restart = forget_routes, .arg = r});
	return e == -EOPNOTSUPP && family == AF_INET6 ? 0 : e;
}

static int read_fdb(struct rtsock *s, struct reading *r)
{
	msg_header(rtsock_begin(s, RTM_GETNEIGH, 0), &(struct ndmsg){.ndm_family = AF_BRIDGE}, sizeof(struct ndmsg));
	return rtsock_dump(s, &(struct rtsock_reader){.fn = on_fdb, .restart = forget_macs, .arg = r});
}

static int vni_cmp(const void *a, const void *b)
{
	return cmp_u32(*(const uint32_t *)a, *(const uint32_t *)b);
}

static const struct evpn_mac *sorted(struct macs *list)
{
	if (list->n > 1)
		qsort(list->v, list->n, sizeof(*list->v), evpn_mac_cmp);
	return list->v;
}

static void finish(struct reading *r)
{
	struct kernel_model *m = &r->kernel->model;
	uint32_t *vnis = arena_array(r->arena, m->n_links + 1, sizeof(*vnis));
	size_t n = 0;

	for (size_t i = 0; i < m->n_links; i++)
		if (m->links[i].ours && m->links[i].kind == LINK_VXLAN)
			vnis[n++] = m->links[i].vxlan.vni;
	qsort(vnis, n, sizeof(*vnis), vni_cmp);
	r->kernel->macs = (struct fib_macs){
		.vnis = vnis,
		.n_vnis = n,
		.learned = sorted(&r->learned),
		.n_learned = r->learned.n,
		.bridge = sorted(&r->bridge),
		.n_bridge = r->bridge.n,
		.fixed = sorted(&r->fixed),
		.n_fixed = r->fixed.n,
	};
	model_seal(m);
}

int fib_kernel_read(struct rtsock *s, struct arena *arena, struct fib_kernel *ret)
{
	struct reading r = {.arena = arena, .kernel = ret, .parser = {.model = &ret->model}};
	int e;

	*ret = (struct fib_kernel){.model.arena = arena};
	e = read_links(s, &r);
	if (e == 0)
		e = read_fdb(s, &r);
	if (e == 0)
		e = read_routes(s, &r, AF_INET);
	if (e == 0)
		e = read_routes(s, &r, AF_INET6);
	if (e == 0)
		finish(&r);
	return e;
}

/* --- repairing --- */

static void put_gateway(struct nl_msg *msg, uint8_t family, const struct ip_addr *via)
{
	if (via->family == family)
		msg_put_addr(msg, RTA_GATEWAY, via);
}

static void put_multipath(struct nl_msg *msg, const struct fib_repair *r)
{
	struct nlattr *multipath = msg_nest(msg, RTA_MULTIPATH);

	for (size_t i = 0; i < r->route.n_nexthops; i++) {
		const struct nexthop *nh = &r->route.nexthops[i];
		struct rtnexthop *at = nlmsg_reserve(msg, sizeof(*at), NLMSG_ALIGNTO);

		if (!at)
			abort();
		*at = (struct rtnexthop){
			.rtnh_flags = r->onlink ? RTNH_F_ONLINK : 0,
			.rtnh_hops = (unsigned char)(nh->weight - 1),
			.rtnh_ifindex = (int)r->ifindexes[i],
		};
		put_gateway(msg, r->route.dst.addr.family, &nh->via);
		at->rtnh_len = (unsigned short)((char *)nlmsg_tail(nlmsg_hdr(msg)) - (char *)at);
	}
	(void)nla_nest_end(msg, multipath);
}

static void build_route(struct nl_msg *msg, const struct fib_repair *r)
{
	const struct ip_prefix dst = ip_prefix_network(&r->route.dst);
	struct rtmsg info = {
		.rtm_family = dst.addr.family,
		.rtm_dst_len = dst.len,
		.rtm_table = r->route.table < 256 ? (uint8_t)r->route.table : RT_TABLE_UNSPEC,
		.rtm_protocol = RTPROT_BGP,
		.rtm_scope = r->op == FIB_ROUTE_DELETE ? RT_SCOPE_NOWHERE : RT_SCOPE_UNIVERSE,
		.rtm_type = RTN_UNICAST,
		.rtm_flags = r->onlink && r->route.n_nexthops == 1 ? RTNH_F_ONLINK : 0,
	};

	msg_header(msg, &info, sizeof(info));
	msg_put_u32(msg, RTA_TABLE, r->route.table);
	if (dst.len)
		msg_put_addr(msg, RTA_DST, &dst.addr);
	if (r->route.metric)
		msg_put_u32(msg, RTA_PRIORITY, r->route.metric);
	if (r->op == FIB_ROUTE_DELETE)
		return;
	if (r->route.n_nexthops > 1) {
		put_multipath(msg, r);
		return;
	}
	put_gateway(msg, dst.addr.family, &r->route.nexthops[0].via);
	msg_put_u32(msg, RTA_OIF, r->ifindexes[0]);
}

static uint32_t device_of(const struct fib_kernel *kernel, uint32_t vni)
{
	for (size_t i = 0; i < kernel->model.n_links; i++) {
		const struct link *l = &kernel->model.links[i];

		if (l->ours && l->kind == LINK_VXLAN && l->vxlan.vni == vni)
			return l->ifindex;
	}
	return 0;
}

static void build_mac(struct nl_msg *msg, const struct evpn_mac *mac, uint32_t ifindex, uint8_t flags, bool flood)
{
	struct ndmsg info = {
		.ndm_family = AF_BRIDGE,
		.ndm_ifindex = (int)ifindex,
		.ndm_state = flood ? NUD_NOARP | NUD_PERMANENT : NUD_REACHABLE,
		.ndm_flags = flags,
	};

	msg_header(msg, &info, sizeof(info));
	msg_put_u8(msg, NDA_PROTOCOL, PROTO_ZEBRA);
	msg_put(msg, NDA_LLADDR, mac->mac.bytes, sizeof(mac->mac.bytes));
	if (ip_addr_is_set(&mac->vtep))
		msg_put_addr(msg, NDA_DST, &mac->vtep);
}

static bool gone_is_fine(const void *tag, int error)
{
	const struct fib_repair *r = tag;

	return (error == -ENOENT || error == -ESRCH) && (r->op == FIB_ROUTE_DELETE || r->op == FIB_MAC_DELETE);
}

static int queue_mac(
	struct rtsock *s, const struct fib_kernel *kernel, const struct fib_repair *r, struct rtsock_failure *failure)
{
	static const uint16_t replace = NLM_F_CREATE | NLM_F_REPLACE, append = NLM_F_CREATE | NLM_F_APPEND;
	uint32_t ifindex = device_of(kernel, r->mac.vni);
	int e;

	if (ifindex == 0)
		return -ENODEV;
	if (r->op == FIB_FLOOD_ADD) {
		build_mac(rtsock_begin(s, RTM_NEWNEIGH, append), &r->mac, ifindex, NTF_SELF, true);
		return rtsock_queue(s, r, failure);
	}
	if (r->op == FIB_MAC_SET) {
		build_mac(rtsock_begin(s, RTM_NEWNEIGH, replace), &r->mac, ifindex,
			NTF_SELF | NTF_MASTER | NTF_EXT_LEARNED, false);
		return rtsock_queue(s, r, failure);
	}
	/* One by one: of a message for both, a missing first part keeps the second. */
	build_mac(rtsock_begin(s, RTM_DELNEIGH, 0), &r->mac, ifindex, NTF_MASTER, false);
	e = rtsock_queue(s, r, failure);
	if (e == 0) {
		build_mac(rtsock_begin(s, RTM_DELNEIGH, 0), &r->mac, ifindex, NTF_SELF, false);
		e = rtsock_queue(s, r, failure);
	}
	return e;
}

int fib_kernel_repair(struct rtsock *s, const struct fib_kernel *kernel, const struct fib_repair *r)
{
	struct rtsock_failure failure = {.is_fine = gone_is_fine};
	int e;

	if (r->op == FIB_ROUTE_SET) {
		build_route(rtsock_begin(s, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_REPLACE), r);
		e = rtsock_queue(s, r, &failure);
	} else if (r->op == FIB_ROUTE_DELETE) {
		build_route(rtsock_begin(s, RTM_DELROUTE, 0), r);
		e = rtsock_queue(s, r, &failure);
	} else {
		e = queue_mac(s, kernel, r, &failure);
	}
	return e < 0 ? e : rtsock_flush(s, &failure);
}
