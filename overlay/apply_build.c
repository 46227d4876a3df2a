/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Objects to messages, the mirror of observe_parse.c. A new link takes three messages, because the kernel ignores the
 * alias and the address generation mode at creation, and applies the latter after IFF_UP within one message.
 */
#include "overlay/apply_build.h"

#include <arpa/inet.h>
#include <linux/if.h>
#include <linux/if_addr.h>
#include <linux/if_bridge.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>

#include "config/config.h"
#include "gateway/base/str.h"
#include "overlay/model.h"
#include "overlay/msg_put.h"
#include "overlay/port_flags.h"

static void link_header(struct nl_msg *msg, uint32_t ifindex)
{
	msg_header(
		msg, &(struct ifinfomsg){.ifi_family = AF_UNSPEC, .ifi_index = (int)ifindex}, sizeof(struct ifinfomsg));
}

static uint8_t df_to_kernel(uint8_t df)
{
	return df == DF_SET ? VXLAN_DF_SET : df == DF_INHERIT ? VXLAN_DF_INHERIT : VXLAN_DF_UNSET;
}

static void put_vxlan(struct nl_msg *msg, const struct vxlan_attrs *v, bool create)
{
	msg_put_u32(msg, IFLA_VXLAN_ID, v->vni);
	if (ip_addr_is_set(&v->local))
		msg_put_addr(msg, ip_addr_is_ipv6(&v->local) ? IFLA_VXLAN_LOCAL6 : IFLA_VXLAN_LOCAL, &v->local);
	msg_put_u8(msg, IFLA_VXLAN_TTL, v->ttl);
	msg_put_u8(msg, IFLA_VXLAN_TOS, v->tos == TOS_INHERIT ? 1 : (uint8_t)v->tos);
	msg_put_u8(msg, IFLA_VXLAN_DF, df_to_kernel(v->df));
	msg_put_u8(msg, IFLA_VXLAN_LEARNING, v->learning);
	if (create) /* refused later, even if it is the same */
		msg_put_u16(msg, IFLA_VXLAN_PORT, htons(v->port));
}

static void put_kind(struct nl_msg *msg, const struct link *l, unsigned attrs, bool create)
{
	static const char *const kinds[] = {[LINK_BRIDGE] = "bridge", [LINK_VXLAN] = "vxlan", [LINK_VRF] = "vrf"};
	struct nlattr *info, *data;

	if (l->kind == LINK_OTHER)
		return;
	info = msg_nest(msg, IFLA_LINKINFO);
	msg_put_str(msg, IFLA_INFO_KIND, kinds[l->kind]);
	data = msg_nest(msg, IFLA_INFO_DATA);
	if (l->kind == LINK_VXLAN)
		put_vxlan(msg, &l->vxlan, create);
	if (l->kind == LINK_BRIDGE && attrs & LA_MCAST_SNOOP)
		msg_put_u8(msg, IFLA_BR_MCAST_SNOOPING, l->mcast_snoop);
	if (l->kind == LINK_BRIDGE && attrs & LA_STP)
		msg_put_u32(msg, IFLA_BR_STP_STATE, l->stp);
	if (l->kind == LINK_BRIDGE && attrs & LA_AGEING)
		msg_put_u32(msg, IFLA_BR_AGEING_TIME, l->ageing);
	if (l->kind == LINK_BRIDGE && attrs & LA_NF_CALL && (l->nf_call || !create)) {
		msg_put_u8(msg, IFLA_BR_NF_CALL_IPTABLES, l->nf_call > 0);
		msg_put_u8(msg, IFLA_BR_NF_CALL_IP6TABLES, l->nf_call > 0);
	}
	if (l->kind == LINK_VRF)
		msg_put_u32(msg, IFLA_VRF_TABLE, l->table);
	(void)nla_nest_end(msg, data);
	(void)nla_nest_end(msg, info);
}

/*
 * A bridge follows the smallest MTU of its ports until its own is changed, and a change to what it already is does not
 * count. So it starts one byte off, and the message that follows sets it for good.
 */
static uint32_t first_mtu(const struct link *l)
{
	return l->kind == LINK_BRIDGE ? l->mtu + 1 : l->mtu;
}

void build_link_create(struct nl_msg *msg, const struct link *l, unsigned attrs, uint32_t ifindex, uint32_t master)
{
	link_header(msg, ifindex);
	msg_put_str(msg, IFLA_IFNAME, l->name);
	msg_put_u32(msg, IFLA_GROUP, FAIRWAY_LINK_GROUP);
	if (attrs & LA_MTU)
		msg_put_u32(msg, IFLA_MTU, first_mtu(l));
	if (attrs & LA_MAC)
		msg_put(msg, IFLA_ADDRESS, l->mac.bytes, sizeof(l->mac.bytes));
	if (attrs & LA_MASTER && master)
		msg_put_u32(msg, IFLA_MASTER, master);
	put_kind(msg, l, attrs, true);
}

static void put_addrgen(struct nl_msg *msg, bool on)
{
	struct nlattr *af_spec = msg_nest(msg, IFLA_AF_SPEC), *ipv6 = msg_nest(msg, AF_INET6);

	msg_put_u8(msg, IFLA_INET6_ADDR_GEN_MODE, on ? IN6_ADDR_GEN_MODE_EUI64 : IN6_ADDR_GEN_MODE_NONE);
	(void)nla_nest_end(msg, ipv6);
	(void)nla_nest_end(msg, af_spec);
}

static void put_port(struct nl_msg *msg, const struct link *l, unsigned attrs)
{
	struct nlattr *info = msg_nest(msg, IFLA_LINKINFO), *data;

	msg_put_str(msg, IFLA_INFO_SLAVE_KIND, "bridge");
	data = msg_nest(msg, IFLA_INFO_SLAVE_DATA);
	for (size_t i = 0; i < ARRAY_SIZE(port_flags) && attrs & LA_PORT; i++)
		msg_put_u8(msg, port_flags[i].attr, port_flags[i].usual != (bool)(l->port_unusual & 1U << i));
	if (attrs & LA_PORT_STATE)
		msg_put_u8(msg, IFLA_BRPORT_STATE, BR_STATE_FORWARDING);
	(void)nla_nest_end(msg, data);
	(void)nla_nest_end(msg, info);
}

void build_link_set(struct nl_msg *msg, const struct link *l, unsigned attrs, uint32_t ifindex, uint32_t master)
{
	link_header(msg, ifindex);
	if (attrs & LA_MTU)
		msg_put_u32(msg, IFLA_MTU, l->mtu);
	if (attrs & LA_MAC)
		msg_put(msg, IFLA_ADDRESS, l->mac.bytes, sizeof(l->mac.bytes));
	if (attrs & LA_ALIAS)
		msg_put_str(msg, IFLA_IFALIAS, l->alias ? l->alias : "");
	if (attrs & LA_MASTER)
		msg_put_u32(msg, IFLA_MASTER, master);
	if (attrs & LA_ADDRGEN)
		put_addrgen(msg, l->addrgen);
	if (attrs & (LA_PORT | LA_PORT_STATE))
		put_port(msg, l, attrs);
}

void build_link_kind(struct nl_msg *msg, const struct link *l, uint32_t ifindex)
{
	link_header(msg, ifindex);
	put_kind(msg, l, l->attrs, false);
}

void build_link_up(struct nl_msg *msg, const struct link *l, uint32_t ifindex)
{
	struct ifinfomsg info = {
		.ifi_family = AF_UNSPEC,
		.ifi_index = (int)ifindex,
		.ifi_flags = l->up ? IFF_UP : 0,
		.ifi_change = IFF_UP,
	};

	msg_header(msg, &info, sizeof(info));
}

void build_link_group(struct nl_msg *msg, uint32_t ifindex, uint32_t group)
{
	link_header(msg, ifindex);
	msg_put_u32(msg, IFLA_GROUP, group);
}

void build_group_delete(struct nl_msg *msg, uint32_t group)
{
	link_header(msg, 0);
	msg_put_u32(msg, IFLA_GROUP, group);
}

void build_link_delete(struct nl_msg *msg, uint32_t ifindex)
{
	link_header(msg, ifindex);
}

void build_addr(struct nl_msg *msg, const struct if_addr *a, uint32_t ifindex)
{
	struct ifaddrmsg info = {
		.ifa_family = a->addr.addr.family,
		.ifa_prefixlen = a->addr.len,
		.ifa_index = ifindex,
	};

	msg_header(msg, &info, sizeof(info));
	msg_put_addr(msg, IFA_LOCAL, &a->addr.addr);
	msg_put_addr(msg, IFA_ADDRESS, &a->addr.addr);
	msg_put_u8(msg, IFA_PROTO, FAIRWAY_PROTO);
	if (a->nodad && ip_addr_is_ipv6(&a->addr.addr))
		msg_put_u32(msg, IFA_FLAGS, IFA_F_NODAD);
}

void build_fdb(struct nl_msg *msg, const struct fdb *f, uint32_t ifindex)
{
	struct ndmsg info = {
		.ndm_family = AF_BRIDGE,
		.ndm_ifindex = (int)ifindex,
		.ndm_state = NUD_PERMANENT,
		.ndm_flags = NTF_SELF,
	};

	msg_header(msg, &info, sizeof(info));
	msg_put(msg, NDA_LLADDR, f->mac.bytes, sizeof(f->mac.bytes));
	msg_put_addr(msg, NDA_DST, &f->dst);
}

static void route_header(struct nl_msg *msg, const struct ip_route *r, uint8_t scope)
{
	struct ip_prefix dst = ip_prefix_network(&r->dst);
	struct rtmsg info = {
		.rtm_family = dst.addr.family,
		.rtm_dst_len = dst.len,
		.rtm_table = r->table < 256 ? (uint8_t)r->table : RT_TABLE_UNSPEC,
		.rtm_protocol = FAIRWAY_PROTO,
		.rtm_scope = scope,
		.rtm_type = r->n_nexthops ? RTN_UNICAST : RTN_UNREACHABLE,
	};

	msg_header(msg, &info, sizeof(info));
	msg_put_u32(msg, RTA_TABLE, r->table);
	if (dst.len)
		msg_put_addr(msg, RTA_DST, &dst.addr);
	if (r->metric)
		msg_put_u32(msg, RTA_PRIORITY, r->metric);
}

static void put_mtu(struct nl_msg *msg, uint32_t mtu)
{
	struct nlattr *metrics = msg_nest(msg, RTA_METRICS);

	msg_put_u32(msg, RTAX_MTU, mtu);
	(void)nla_nest_end(msg, metrics);
}

static void put_multipath(struct nl_msg *msg, const struct ip_route *r, const uint32_t *ifindexes)
{
	struct nlattr *multipath = msg_nest(msg, RTA_MULTIPATH);

	for (size_t i = 0; i < r->n_nexthops; i++) {
		const struct nexthop *nh = &r->nexthops[i];
		struct rtnexthop *at = nlmsg_reserve(msg, sizeof(*at), NLMSG_ALIGNTO);

		if (!at)
			abort();
		*at = (struct rtnexthop){
			.rtnh_hops = nh->weight ? nh->weight - 1 : 0,
			.rtnh_ifindex = (int)ifindexes[i],
		};
		if (ip_addr_is_set(&nh->via))
			msg_put_addr(msg, RTA_GATEWAY, &nh->via);
		at->rtnh_len = (unsigned short)((char *)nlmsg_tail(nlmsg_hdr(msg)) - (char *)at);
	}
	(void)nla_nest_end(msg, multipath);
}

void build_route(struct nl_msg *msg, const struct ip_route *r, const uint32_t *ifindexes)
{
	bool has_router = r->n_nexthops > 0 && ip_addr_is_set(&r->nexthops[0].via);

	/* The kernel wants "link" where a packet is handed to its destination itself. */
	route_header(msg, r, has_router || r->n_nexthops == 0 ? RT_SCOPE_UNIVERSE : RT_SCOPE_LINK);
	if (r->mtu)
		put_mtu(msg, r->mtu);
	if (r->n_nexthops > 1) {
		put_multipath(msg, r, ifindexes);
		return;
	}
	if (has_router)
		msg_put_addr(msg, RTA_GATEWAY, &r->nexthops[0].via);
	if (r->n_nexthops == 1 && ifindexes[0])
		msg_put_u32(msg, RTA_OIF, ifindexes[0]);
}

void build_route_delete(struct nl_msg *msg, const struct ip_route *r)
{
	route_header(msg, r, RT_SCOPE_NOWHERE);
}
