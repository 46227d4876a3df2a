/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Netlink messages to model, see observe_parse.h. Attributes are read through nla_parse's length checks only. */
#include "overlay/observe_parse.h"

#include <errno.h>
#include <linux/if.h>
#include <linux/if_addr.h>
#include <linux/if_bridge.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "gateway/base/arena.h"
#include "gateway/base/str.h"
#include "overlay/model.h"
#include "overlay/port_flags.h"
#include "overlay/sysctl.h"

/* --- attributes of unknown length --- */

static bool get_bytes(const struct nlattr *a, void *ret, size_t len)
{
	if (!a || (size_t)nla_len(a) < len)
		return false;
	memcpy(ret, nla_data(a), len);
	return true;
}

static uint8_t get_u8(const struct nlattr *a)
{
	uint8_t v = 0;

	(void)get_bytes(a, &v, sizeof(v));
	return v;
}

static uint32_t get_u32(const struct nlattr *a)
{
	uint32_t v = 0;

	(void)get_bytes(a, &v, sizeof(v));
	return v;
}

static bool get_addr(const struct nlattr *a, uint8_t family, struct ip_addr *ret)
{
	struct ip_addr addr = {.family = family};

	if ((family != AF_INET && family != AF_INET6) || !get_bytes(a, addr.bytes, ip_addr_len(&addr)))
		return false;
	*ret = addr;
	return true;
}

/* nla_strlcpy() stops at the attribute's end, NUL or not. */
static void get_str(const struct nlattr *a, char *ret, size_t size)
{
	ret[0] = '\0';
	if (a && nla_len(a) > 0)
		(void)nla_strlcpy(ret, a, size);
}

static bool get_nested(struct nlattr *a, struct nlattr **tb, int max)
{
	memset(tb, 0, (size_t)(max + 1) * sizeof(struct nlattr *));
	return a && nla_len(a) >= 0 && nla_parse(tb, max, nla_data(a), nla_len(a), NULL) >= 0;
}

/* --- links --- */

static struct link_note *add_note(struct observe_parser *p)
{
	if (p->n_notes == p->cap_notes) {
		size_t cap = p->cap_notes ? p->cap_notes * 2 : 64;
		struct link_note *notes = arena_array(p->model->arena, cap, sizeof(*notes));

		if (p->n_notes)
			memcpy(notes, p->notes, p->n_notes * sizeof(*notes));
		p->notes = notes;
		p->cap_notes = cap;
	}
	p->notes[p->n_notes] = (struct link_note){0};
	return &p->notes[p->n_notes++];
}

static uint8_t df_of_kernel(uint8_t df)
{
	return df == VXLAN_DF_SET ? DF_SET : df == VXLAN_DF_INHERIT ? DF_INHERIT : DF_UNSET;
}

static void parse_vxlan(struct nlattr *data, struct link *l)
{
	struct nlattr *tb[IFLA_VXLAN_MAX + 1];
	uint16_t port = 0;
	uint8_t tos;

	if (!get_nested(data, tb, IFLA_VXLAN_MAX))
		return;
	tos = get_u8(tb[IFLA_VXLAN_TOS]);
	(void)get_bytes(tb[IFLA_VXLAN_PORT], &port, sizeof(port));
	l->vxlan = (struct vxlan_attrs){
		.vni = get_u32(tb[IFLA_VXLAN_ID]),
		.port = ntohs(port),
		.df = df_of_kernel(get_u8(tb[IFLA_VXLAN_DF])),
		.tos = tos == 1 ? TOS_INHERIT : tos,
		.ttl = get_u8(tb[IFLA_VXLAN_TTL]),
		.learning = get_u8(tb[IFLA_VXLAN_LEARNING]),
	};
	if (!get_addr(tb[IFLA_VXLAN_LOCAL6], AF_INET6, &l->vxlan.local))
		(void)get_addr(tb[IFLA_VXLAN_LOCAL], AF_INET, &l->vxlan.local);
	l->attrs |= LA_VXLAN;
}

static void parse_bridge(struct nlattr *data, struct link *l)
{
	struct nlattr *tb[IFLA_BR_MAX + 1];

	if (!get_nested(data, tb, IFLA_BR_MAX))
		return;
	l->mcast_snoop = get_u8(tb[IFLA_BR_MCAST_SNOOPING]);
	l->stp = get_u32(tb[IFLA_BR_STP_STATE]);
	l->ageing = get_u32(tb[IFLA_BR_AGEING_TIME]);
	l->nf_call = (uint8_t)(!!get_u8(tb[IFLA_BR_NF_CALL_IPTABLES]) + !!get_u8(tb[IFLA_BR_NF_CALL_IP6TABLES]));
	l->attrs |= tb[IFLA_BR_NF_CALL_IPTABLES] ? LA_NF_CALL : 0;
	l->attrs |= (tb[IFLA_BR_MCAST_SNOOPING] ? LA_MCAST_SNOOP : 0) | (tb[IFLA_BR_STP_STATE] ? LA_STP : 0) |
		(tb[IFLA_BR_AGEING_TIME] ? LA_AGEING : 0);
}

static void parse_port(struct nlattr *data, struct link *l)
{
	struct nlattr *tb[IFLA_BRPORT_MAX + 1];

	if (!get_nested(data, tb, IFLA_BRPORT_MAX))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(port_flags); i++) {
		const struct nlattr *flag = tb[port_flags[i].attr];

		if (flag && (get_u8(flag) != 0) != port_flags[i].usual)
			l->port_unusual |= 1U << i;
	}
	l->forwarding = get_u8(tb[IFLA_BRPORT_STATE]) == BR_STATE_FORWARDING;
	l->attrs |= LA_PORT | (tb[IFLA_BRPORT_STATE] ? LA_PORT_STATE : 0);
}

static void parse_linkinfo(struct nlattr *linkinfo, struct link *l)
{
	struct nlattr *tb[IFLA_INFO_MAX + 1], *data[IFLA_VRF_MAX + 1];
	char kind[16];

	if (!get_nested(linkinfo, tb, IFLA_INFO_MAX))
		return;
	get_str(tb[IFLA_INFO_SLAVE_KIND], kind, sizeof(kind));
	if (str_eq(kind, "bridge"))
		parse_port(tb[IFLA_INFO_SLAVE_DATA], l);
	get_str(tb[IFLA_INFO_KIND], kind, sizeof(kind));
	if (str_eq(kind, "vxlan")) {
		l->kind = LINK_VXLAN;
		parse_vxlan(tb[IFLA_INFO_DATA], l);
	} else if (str_eq(kind, "bridge")) {
		l->kind = LINK_BRIDGE;
		parse_bridge(tb[IFLA_INFO_DATA], l);
	} else if (str_eq(kind, "vrf")) {
		l->kind = LINK_VRF;
		if (get_nested(tb[IFLA_INFO_DATA], data, IFLA_VRF_MAX) && data[IFLA_VRF_TABLE]) {
			l->table = get_u32(data[IFLA_VRF_TABLE]);
			l->attrs |= LA_TABLE;
		}
	}
}

/* Element i of an array of 32-bit numbers. */
static void add_devconf(struct kernel_model *m, const struct nlattr *conf, size_t i, const char *family,
	const char *link, const char *name)
{
	int32_t value;

	if (!conf || (size_t)nla_len(conf) < (i + 1) * sizeof(value))
		return;
	memcpy(&value, (char *)nla_data(conf) + i * sizeof(value), sizeof(value));
	(void)model_add_sysctl(m, arena_printf(m->arena, "net/%s/conf/%s/%s", family, link, name),
		arena_printf(m->arena, "%d", value));
}

static void parse_af_spec(struct kernel_model *m, struct nlattr *af_spec, struct link *l)
{
	struct nlattr *af[AF_INET6 + 1], *ipv4[IFLA_INET_MAX + 1], *ipv6[IFLA_INET6_MAX + 1];

	if (!get_nested(af_spec, af, AF_INET6))
		return;
	if (get_nested(af[AF_INET6], ipv6, IFLA_INET6_MAX) && ipv6[IFLA_INET6_ADDR_GEN_MODE]) {
		l->addrgen = get_u8(ipv6[IFLA_INET6_ADDR_GEN_MODE]) != IN6_ADDR_GEN_MODE_NONE;
		l->attrs |= LA_ADDRGEN;
	}
	if (l->ours)
		return;
#define READ_IPV4(family, key, index, value) add_devconf(m, ipv4[IFLA_INET_CONF], (index)-1, family, l->name, key);
#define READ_IPV6(family, key, index, value) add_devconf(m, ipv6[IFLA_INET6_CONF], index, family, l->name, key);
	if (get_nested(af[AF_INET], ipv4, IFLA_INET_MAX)) {
		SYSCTLS_LINE_IPV4(READ_IPV4)
	}
	SYSCTLS_LINE_IPV6(READ_IPV6)
#undef READ_IPV4
#undef READ_IPV6
}

static void parse_counters(const struct nlattr *a, struct link_note *note)
{
	struct rtnl_link_stats64 s = {0};

	/* Kernels append to it; 6.1 and 6.18 agree on this much. */
	if (!get_bytes(a, &s, offsetof(struct rtnl_link_stats64, multicast)))
		return;
	note->rx_packets = s.rx_packets;
	note->tx_packets = s.tx_packets;
	note->rx_bytes = s.rx_bytes;
	note->tx_bytes = s.tx_bytes;
	note->rx_dropped = s.rx_dropped;
	note->tx_dropped = s.tx_dropped;
	note->rx_errors = s.rx_errors;
	note->tx_errors = s.tx_errors;
}

/*
 * The kernel disables a port that is down or without carrier, and does so together with the operational state: such a
 * port tells nothing. See also observe_parse_links_end().
 */
static void forget_state_of_idle_port(struct link *l, unsigned flags)
{
	const unsigned busy = IFF_UP | IFF_RUNNING | IFF_LOWER_UP;

	if ((flags & busy) != busy)
		l->attrs &= ~(unsigned)LA_PORT_STATE;
}

int observe_parse_link(struct observe_parser *p, struct nlmsghdr *h)
{
	struct kernel_model *m = p->model;
	struct nlattr *tb[IFLA_MAX + 1];
	struct link_note *note;
	struct ifinfomsg info;
	char name[IFNAMSIZ], alias[256];
	struct link *l;

	if (h->nlmsg_type != RTM_NEWLINK)
		return 0;
	if (nlmsg_parse(h, sizeof(info), tb, IFLA_MAX, NULL) < 0 || !tb[IFLA_IFNAME])
		return -EBADMSG;
	memcpy(&info, nlmsg_data(h), sizeof(info));
	get_str(tb[IFLA_IFNAME], name, sizeof(name));
	get_str(tb[IFLA_IFALIAS], alias, sizeof(alias));
	note = add_note(p);
	l = model_add_link(m, name);
	memcpy(note->name, l->name, sizeof(note->name));
	note->ifindex = (uint32_t)info.ifi_index;
	note->master = get_u32(tb[IFLA_MASTER]);
	note->link = m->n_links - 1;
	l->ifindex = note->ifindex;
	l->group = get_u32(tb[IFLA_GROUP]);
	l->ours = l->group == FAIRWAY_LINK_GROUP || l->group == FAIRWAY_DOOMED_GROUP;
	l->up = info.ifi_flags & IFF_UP;
	l->carrier = info.ifi_flags & IFF_LOWER_UP;
	l->mtu = get_u32(tb[IFLA_MTU]);
	l->alias = arena_strdup(m->arena, alias);
	l->attrs = LA_UP | LA_MTU | LA_MASTER | LA_ALIAS;
	if (tb[IFLA_ADDRESS] && nla_len(tb[IFLA_ADDRESS]) == (int)sizeof(l->mac) &&
		get_bytes(tb[IFLA_ADDRESS], &l->mac, sizeof(l->mac)))
		l->attrs |= LA_MAC;
	parse_linkinfo(tb[IFLA_LINKINFO], l);
	forget_state_of_idle_port(l, info.ifi_flags);
	parse_af_spec(m, tb[IFLA_AF_SPEC], l);
	parse_counters(tb[IFLA_STATS64], note);
	note->our_vxlan = l->ours && l->kind == LINK_VXLAN;
	return 0;
}

static int note_cmp(const void *a, const void *b)
{
	return cmp_u32(((const struct link_note *)a)->ifindex, ((const struct link_note *)b)->ifindex);
}

const struct link_note *link_note_find(const struct link_note *notes, size_t n, uint32_t ifindex)
{
	const struct link_note key = {.ifindex = ifindex};

	return n ? bsearch(&key, notes, n, sizeof(*notes), note_cmp) : NULL;
}

static struct link_note *find(const struct observe_parser *p, uint32_t ifindex)
{
	const struct link_note key = {.ifindex = ifindex};

	return p->n_notes ? bsearch(&key, p->notes, p->n_notes, sizeof(*p->notes), note_cmp) : NULL;
}

void observe_parse_links_end(struct observe_parser *p)
{
	if (p->n_notes)
		qsort(p->notes, p->n_notes, sizeof(*p->notes), note_cmp);
	for (size_t i = 0; i < p->n_notes; i++) {
		const struct link_note *master = p->notes[i].master ? find(p, p->notes[i].master) : NULL;

		if (!master)
			continue;
		memcpy(p->model->links[p->notes[i].link].master, master->name, sizeof(master->name));
		/* A bridge that is down disables its ports, and enables them when it comes up. */
		if (!p->model->links[master->link].up)
			p->model->links[p->notes[i].link].attrs &= ~(unsigned)LA_PORT_STATE;
	}
}

/* --- addresses, FDB --- */

int observe_parse_addr(struct observe_parser *p, struct nlmsghdr *h)
{
	struct nlattr *tb[IFA_MAX + 1];
	const struct link_note *note;
	struct ifaddrmsg info;
	struct ip_addr addr;
	struct if_addr *a;

	if (h->nlmsg_type != RTM_NEWADDR)
		return 0;
	if (nlmsg_parse(h, sizeof(info), tb, IFA_MAX, NULL) < 0)
		return -EBADMSG;
	memcpy(&info, nlmsg_data(h), sizeof(info));
	note = find(p, info.ifa_index);
	/* With a peer address IFA_ADDRESS is the peer's. */
	if (!note ||
		(!get_addr(tb[IFA_LOCAL], info.ifa_family, &addr) &&
			!get_addr(tb[IFA_ADDRESS], info.ifa_family, &addr)))
		return 0;
	a = model_add_addr(p->model);
	memcpy(a->link, note->name, sizeof(a->link));
	a->addr = (struct ip_prefix){.addr = addr, .len = info.ifa_prefixlen};
	a->proto = get_u8(tb[IFA_PROTO]);
	a->nodad = (tb[IFA_FLAGS] ? get_u32(tb[IFA_FLAGS]) : info.ifa_flags) & IFA_F_NODAD;
	return 0;
}

int observe_parse_fdb(struct observe_parser *p, struct nlmsghdr *h)
{
	struct nlattr *tb[NDA_MAX + 1];
	struct link_note *note;
	struct ip_addr dst;
	struct ndmsg info;
	struct mac_addr mac;
	struct fdb *f;

	if (h->nlmsg_type != RTM_NEWNEIGH)
		return 0;
	if (nlmsg_parse(h, sizeof(info), tb, NDA_MAX, NULL) < 0)
		return -EBADMSG;
	memcpy(&info, nlmsg_data(h), sizeof(info));
	if (info.ndm_family != AF_BRIDGE || !(info.ndm_flags & NTF_SELF))
		return 0;
	note = find(p, (uint32_t)info.ndm_ifindex);
	if (!note || !note->our_vxlan || !get_bytes(tb[NDA_LLADDR], &mac, sizeof(mac)))
		return 0;
	/* bridge(8) calls them permanent and static; neither ages. What zebra installs says whose it is. */
	if (info.ndm_flags & NTF_EXT_LEARNED || !(info.ndm_state & (NUD_PERMANENT | NUD_NOARP))) {
		note->n_learned++;
		return 0;
	}
	note->n_permanent++;
	/* To another port, VNI or link than the device's own: made by hand, and never wanted by us. */
	if (tb[NDA_PORT] || tb[NDA_VNI] || tb[NDA_IFINDEX] || !tb[NDA_DST] ||
		!get_addr(tb[NDA_DST], nla_len(tb[NDA_DST]) == 16 ? AF_INET6 : AF_INET, &dst))
		return 0;
	f = model_add_fdb(p->model);
	memcpy(f->link, note->name, sizeof(f->link));
	f->mac = mac;
	f->dst = dst;
	return 0;
}

/* --- routes --- */

static bool get_via(struct nlattr **tb, uint8_t family, struct ip_addr *ret)
{
	struct rtvia via;

	if (get_addr(tb[RTA_GATEWAY], family, ret))
		return true;
	/* An IPv4 route through an IPv6 router, RFC 5549. */
	if (!get_bytes(tb[RTA_VIA], &via, sizeof(via)))
		return false;
	*ret = (struct ip_addr){.family = AF_INET6};
	if (via.rtvia_family != AF_INET6 || (size_t)nla_len(tb[RTA_VIA]) < sizeof(via) + sizeof(ret->bytes)) {
		*ret = (struct ip_addr){0};
		return false;
	}
	memcpy(ret->bytes, (char *)nla_data(tb[RTA_VIA]) + sizeof(via), sizeof(ret->bytes));
	return true;
}

static void set_nexthop(const struct observe_parser *p, uint8_t family, struct nlattr **tb, uint32_t ifindex,
	uint8_t weight, struct nexthop *ret)
{
	const struct link_note *note = find(p, ifindex);

	*ret = (struct nexthop){.weight = weight};
	(void)get_via(tb, family, &ret->via);
	if (note)
		memcpy(ret->link, note->name, sizeof(ret->link));
}

static size_t parse_multipath(
	const struct observe_parser *p, uint8_t family, const struct nlattr *a, struct nexthop ret[ROUTE_MAX_NEXTHOPS])
{
	char *data = nla_data(a);
	size_t left = (size_t)nla_len(a), n = 0;

	while (left >= sizeof(struct rtnexthop) && n < ROUTE_MAX_NEXTHOPS) {
		struct nlattr *tb[RTA_MAX + 1];
		struct rtnexthop nh;
		size_t len;

		memcpy(&nh, data, sizeof(nh));
		if (nh.rtnh_len < sizeof(nh) || nh.rtnh_len > left)
			break;
		memset(tb, 0, sizeof(tb));
		if (nla_parse(tb, RTA_MAX, (struct nlattr *)(data + sizeof(nh)), (int)(nh.rtnh_len - sizeof(nh)),
			    NULL) < 0)
			break;
		set_nexthop(p, family, tb, (uint32_t)nh.rtnh_ifindex,
			(uint8_t)(nh.rtnh_hops == 255 ? 255 : nh.rtnh_hops + 1), &ret[n++]);
		len = NLA_ALIGN(nh.rtnh_len);
		data += len > left ? left : len;
		left -= len > left ? left : len;
	}
	return n;
}

static int nexthop_cmp(const void *a, const void *b)
{
	const struct nexthop *x = a, *y = b;
	int c = ip_addr_cmp(&x->via, &y->via);

	return c ? c : strcmp(x->link, y->link);
}

static uint32_t get_metric_mtu(struct nlattr *metrics)
{
	struct nlattr *tb[RTAX_MAX + 1];

	return get_nested(metrics, tb, RTAX_MAX) ? get_u32(tb[RTAX_MTU]) : 0;
}

/* Not the local table's, the cache's, link-local or multicast; nor those with more identity than the model has. */
static bool route_concerns_us(const struct rtmsg *info, uint32_t table, const struct ip_prefix *dst)
{
	if (table == RT_TABLE_LOCAL || info->rtm_flags & RTM_F_CLONED || info->rtm_src_len || info->rtm_tos)
		return false;
	if (dst->addr.family == AF_INET6 && (dst->addr.bytes[0] == 0xff || ip_addr_is_link_local(&dst->addr)))
		return false;
	return info->rtm_type == RTN_UNICAST || info->rtm_type == RTN_BLACKHOLE || info->rtm_type == RTN_UNREACHABLE ||
		info->rtm_type == RTN_PROHIBIT || info->rtm_type == RTN_THROW;
}

int observe_parse_route(struct observe_parser *p, struct nlmsghdr *h)
{
	struct nexthop nexthops[ROUTE_MAX_NEXTHOPS];
	struct nlattr *tb[RTA_MAX + 1];
	struct ip_prefix dst;
	struct ip_route *r;
	struct rtmsg info;
	uint32_t table;
	size_t n = 0;

	if (h->nlmsg_type != RTM_NEWROUTE)
		return 0;
	if (nlmsg_parse(h, sizeof(info), tb, RTA_MAX, NULL) < 0)
		return -EBADMSG;
	memcpy(&info, nlmsg_data(h), sizeof(info));
	if (info.rtm_family != AF_INET && info.rtm_family != AF_INET6)
		return 0;
	dst = (struct ip_prefix){.addr = {.family = info.rtm_family}, .len = info.rtm_dst_len};
	if (tb[RTA_DST] && !get_addr(tb[RTA_DST], info.rtm_family, &dst.addr))
		return -EBADMSG;
	table = tb[RTA_TABLE] ? get_u32(tb[RTA_TABLE]) : info.rtm_table;
	if (!route_concerns_us(&info, table, &dst))
		return 0;
	if (tb[RTA_MULTIPATH])
		n = parse_multipath(p, info.rtm_family, tb[RTA_MULTIPATH], nexthops);
	else if (info.rtm_type == RTN_UNICAST)
		set_nexthop(p, info.rtm_family, tb, get_u32(tb[RTA_OIF]), 1, &nexthops[n++]);
	if (n > 1)
		qsort(nexthops, n, sizeof(*nexthops), nexthop_cmp);
	r = model_add_route(p->model);
	r->table = table;
	r->dst = dst;
	r->metric = get_u32(tb[RTA_PRIORITY]);
	r->mtu = get_metric_mtu(tb[RTA_METRICS]);
	r->proto = info.rtm_protocol;
	r->nexthops = arena_memdup(p->model->arena, nexthops, n * sizeof(*nexthops));
	r->n_nexthops = n;
	return 0;
}

uint32_t observe_parse_route_mtu(struct nlmsghdr *h)
{
	struct nlattr *tb[RTA_MAX + 1];
	struct rta_cacheinfo cache;

	if (h->nlmsg_type != RTM_NEWROUTE || nlmsg_parse(h, sizeof(struct rtmsg), tb, RTA_MAX, NULL) < 0 ||
		!get_bytes(tb[RTA_CACHEINFO], &cache, sizeof(cache)) || cache.rta_expires == 0)
		return 0;
	return get_metric_mtu(tb[RTA_METRICS]);
}
