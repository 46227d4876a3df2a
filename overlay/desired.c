/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a config and the facts mean in the kernel; see overlay.h. Pure.
 *
 * Devices are named by VNI (vx10010, br10010) and have ifindexes made from it, so that one batch of messages can make
 * a device and refer to it, and a segment that gets another name keeps its devices. They are ours by their group; the
 * alias "fairway: segment gpu" is for people. MACs are derived, so that a bridge does not change its own with each
 * member, and a device made again has the old one.
 *
 * Head-end replication: one all-zero FDB entry per remote; the VXLAN device learns who is behind which. That holds for
 * routed segments too: without learning, each packet would go to all remotes.
 */
#include "overlay/overlay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "gateway/base/arena.h"
#include "gateway/base/str.h"
#include "gateway/engine/facts.h"
#include "overlay/model.h"
#include "overlay/mtu.h"
#include "overlay/port_flags.h"
#include "overlay/sysctl.h"

enum { TABLE_MAIN = 254, METRIC_IPV4 = 0, METRIC_IPV6 = 1024, WEIGHT_MAX = 255 };
static const uint32_t metric_last = 4278198272; /* as the kernel's VRF guide has it */

struct wish {
	const struct config *cfg;
	const struct facts *facts;
	struct kernel_model *m;
};

void overlay_vxlan_name(uint32_t vni, char ret[16])
{
	(void)snprintf(ret, 16, "vx%u", vni);
}

void overlay_bridge_name(uint32_t vni, char ret[16])
{
	(void)snprintf(ret, 16, "br%u", vni);
}

bool overlay_vrf_name(const char *tenant, char ret[16])
{
	return snprintf(ret, 16, "vrf-%s", tenant) < 16;
}

static void set_name(char ret[16], const char *name)
{
	(void)snprintf(ret, 16, "%s", name);
}

static void add_addr(struct wish *w, const char *link, const struct ip_prefix *addr, const char *object)
{
	struct if_addr *a = model_add_addr(w->m);

	set_name(a->link, link);
	a->addr = *addr;
	a->nodad = true; /* usable at once; a check has seen to it that it is there once */
	a->object = object;
}

static struct ip_route *add_route(struct wish *w, uint32_t table, const struct ip_prefix *dst, const char *object)
{
	struct ip_route *r = model_add_route(w->m);

	r->table = table;
	r->dst = ip_prefix_network(dst);
	r->metric = ip_addr_is_ipv6(&dst->addr) ? METRIC_IPV6 : METRIC_IPV4;
	r->object = object;
	return r;
}

static void add_routes(
	struct wish *w, uint32_t table, const struct route *routes, size_t n, const char *link, const char *object)
{
	for (size_t i = 0; i < n; i++) {
		struct ip_route *r = add_route(w, table, &routes[i].prefix, object);

		r->nexthops = arena_new_obj(w->m->arena, struct nexthop);
		r->n_nexthops = 1;
		r->nexthops->via = routes[i].via;
		r->nexthops->weight = 1;
		set_name(r->nexthops->link, link);
	}
}

static void want_sysctls(struct wish *w)
{
#define WANT(key, value, may_lack) model_add_sysctl(w->m, key, value)->optional = may_lack;
	SYSCTLS_GLOBAL(WANT)
	if (w->cfg->audit) {
		SYSCTLS_AUDIT(WANT)
	}
#undef WANT
}

/* Optional: they exist exactly where the interface does, and its absence is a conflict of its own. */
static void want_line_sysctls(struct wish *w, const char *interface)
{
#define WANT(family, name, index, value)                                                                               \
	model_add_sysctl(w->m, arena_printf(w->m->arena, "net/" family "/conf/%s/" name, interface), value)            \
		->optional = true;
	SYSCTLS_LINE_IPV4(WANT)
	SYSCTLS_LINE_IPV6(WANT)
#undef WANT
}

/* --- underlay --- */

static void want_interface(struct wish *w, const struct interface *i)
{
	struct link *l = model_add_link(w->m, i->name);
	const char *object = arena_printf(w->m->arena, "interface %s", i->name);

	l->attrs = LA_UP | (i->mtu > 0 ? LA_MTU : 0);
	l->up = i->enabled;
	l->mtu = i->mtu;
	l->object = object;
	/* The kernel takes the IPv6 addresses of an interface that is down. */
	for (size_t k = 0; k < i->addresses.n && i->enabled; k++)
		add_addr(w, i->name, &i->addresses.v[k], object);
}

static void want_line(struct wish *w, const struct line *line)
{
	struct link *l = model_add_link(w->m, line->interface);
	const char *object = arena_printf(w->m->arena, "line %s", line->name);

	l->attrs = LA_UP | LA_MTU;
	l->up = line->enabled;
	l->mtu = line->mtu;
	l->object = object;
	want_line_sysctls(w, line->interface);
	if (!line->enabled)
		return;
	add_addr(w, line->interface, &line->address, object);
	if (ip_addr_is_set(&line->address6.addr))
		add_addr(w, line->interface, &line->address6, object);
}

static bool has_address(const struct kernel_model *m, const struct ip_addr *addr)
{
	for (size_t i = 0; i < m->n_addrs; i++)
		if (ip_addr_cmp(&m->addrs[i].addr.addr, addr) == 0)
			return true;
	return false;
}

/* After interfaces and lines: the address may be one of theirs. */
static void want_vtep_address(struct wish *w, const struct ip_addr *addr)
{
	struct ip_prefix host = ip_addr_host_prefix(addr);

	if (ip_addr_is_set(addr) && !has_address(w->m, addr))
		add_addr(w, "lo", &host, "vtep");
}

static void want_vtep(struct wish *w, const struct vtep *vtep)
{
	struct link *lo = model_add_link(w->m, "lo");

	lo->attrs = LA_UP;
	lo->up = true;
	lo->object = "vtep";
	if (!vtep->assign)
		return;
	want_vtep_address(w, &vtep->address);
	want_vtep_address(w, &vtep->address6);
}

/* --- remotes --- */

static uint64_t gcd(uint64_t a, uint64_t b)
{
	while (b > 0) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* In the proportion of the rates, as small as can be; all 1 where a rate is not known. */
static void set_weights(struct nexthop *nexthops, const bitrate_t *rates, size_t n)
{
	uint64_t unit = 0, largest = 0;

	for (size_t i = 0; i < n; i++) {
		unit = rates[i] > 0 ? gcd(rates[i], unit) : 1;
		if (rates[i] > largest)
			largest = rates[i];
		if (rates[i] == 0) {
			for (size_t k = 0; k < n; k++)
				nexthops[k].weight = 1;
			return;
		}
	}
	for (size_t i = 0; i < n; i++) {
		uint64_t weight = rates[i] / unit;

		if (largest / unit > WEIGHT_MAX)
			weight = (rates[i] * WEIGHT_MAX + largest / 2) / largest;
		nexthops[i].weight = (uint8_t)(weight > 0 ? weight : 1);
	}
}

static int nexthop_cmp(const void *pa, const void *pb)
{
	const struct nexthop *a = pa, *b = pb;
	int c = ip_addr_cmp(&a->via, &b->via);

	return c ? c : strcmp(a->link, b->link);
}

/* This end and the far end of a line in one family; false if it does not carry that. */
static bool line_ends(
	const struct line *line, uint8_t family, const struct ip_prefix **ret_own, const struct ip_addr **ret_peer)
{
	bool second = line->address.addr.family != family;

	*ret_own = second ? &line->address6 : &line->address;
	*ret_peer = second ? &line->peer_address6 : &line->peer_address;
	return line->enabled && (*ret_own)->addr.family == family && (*ret_peer)->family == family;
}

/* A line that could carry to a remote. */
struct way {
	struct nexthop nexthop;
	bitrate_t rate;
	uint32_t priority;
	bool dead;
};

/* All of a remote's; none if the vtep is on-link. */
static size_t find_ways(const struct config *cfg, const struct facts *facts, const struct remote *remote,
	struct way ret[ROUTE_MAX_NEXTHOPS])
{
	size_t n = 0;

	for (size_t i = 0; i < remote->lines.n && n < ROUTE_MAX_NEXTHOPS; i++) {
		const struct line *line = config_line(cfg, remote->lines.v[i]);
		const struct ip_prefix *own;
		const struct ip_addr *peer;

		if (!line || !line_ends(line, remote->vtep.family, &own, &peer))
			continue;
		if (ip_prefix_contains(own, &remote->vtep))
			return 0;
		ret[n] = (struct way){
			.nexthop.via = *peer,
			.rate = line->rate,
			.priority = line->priority,
			.dead = facts && facts_is_dead(facts, peer, line->interface),
		};
		set_name(ret[n++].nexthop.link, line->interface);
	}
	return n;
}

/* Better to try a line that BFD calls dead than to have no way at all: BFD may be what does not work. */
static size_t keep_alive(struct way *ways, size_t n)
{
	size_t alive = 0;

	for (size_t i = 0; i < n; i++)
		if (!ways[i].dead)
			ways[alive++] = ways[i];
	return alive > 0 ? alive : n;
}

static size_t keep_preferred(struct way *ways, size_t n)
{
	uint32_t highest = 0;
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		highest = ways[i].priority > highest ? ways[i].priority : highest;
	for (size_t i = 0; i < n; i++)
		if (ways[i].priority == highest)
			ways[kept++] = ways[i];
	return kept;
}

size_t overlay_nexthops(
	const struct config *cfg, const struct facts *facts, const struct remote *remote, struct nexthop *ret)
{
	struct way ways[ROUTE_MAX_NEXTHOPS];
	bitrate_t rates[ROUTE_MAX_NEXTHOPS];
	size_t n = find_ways(cfg, facts, remote, ways);

	n = keep_preferred(ways, keep_alive(ways, n));
	for (size_t i = 0; i < n; i++) {
		ret[i] = ways[i].nexthop;
		rates[i] = ways[i].rate;
	}
	set_weights(ret, rates, n);
	if (n > 1)
		qsort(ret, n, sizeof(*ret), nexthop_cmp);
	return n;
}

/* Two of one priority: also if better ones are dead, they carry together. */
bool overlay_has_choice(const struct config *cfg, const struct remote *remote)
{
	struct way ways[ROUTE_MAX_NEXTHOPS];
	size_t n = find_ways(cfg, NULL, remote, ways);

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < i; k++)
			if (ways[k].priority == ways[i].priority)
				return true;
	return false;
}

/* Does BGP or BFD look after any line of the remote? */
static bool is_watched(const struct config *cfg, const struct remote *remote)
{
	for (size_t i = 0; i < remote->lines.n; i++) {
		const struct line *line = config_line(cfg, remote->lines.v[i]);

		if (line && line->enabled && (line->bgp || line->bfd))
			return true;
	}
	return false;
}

/*
 * What the route has to say itself, because an interface says more: the VXLAN driver believes its route. Needed where
 * the file knows a smaller path, and where one was learned: with several lines, ICMP about one of them may leave its
 * mark in the kernel on another (measured with an IPv6 underlay), and senders would never be told.
 */
static uint32_t route_mtu(const struct wish *w, const struct remote *remote)
{
	uint32_t mtu = mtu_of_remote(w->cfg, w->facts, remote), largest = 0;

	for (size_t i = 0; i < remote->lines.n; i++) {
		const struct line *line = config_line(w->cfg, remote->lines.v[i]);

		if (line && line->enabled && line->mtu > largest)
			largest = line->mtu;
	}
	return mtu < largest ? mtu : 0;
}

static void want_remote(struct wish *w, const struct remote *remote)
{
	struct ip_prefix dst = ip_addr_host_prefix(&remote->vtep);
	struct nexthop nexthops[ROUTE_MAX_NEXTHOPS];
	size_t n = overlay_nexthops(w->cfg, w->facts, remote, nexthops);
	struct ip_route *r;

	if (n == 0)
		return;
	r = add_route(w, TABLE_MAIN, &dst, arena_printf(w->m->arena, "remote %s", remote->name));
	r->nexthops = arena_memdup(w->m->arena, nexthops, n * sizeof(*nexthops));
	r->n_nexthops = n;
	r->mtu = route_mtu(w, remote);
	if (is_watched(w->cfg, remote))
		r->metric = metric_floating;
}

/* --- tenants --- */

/* What no route of the tenant matches ends here: without it, the look-up would go on in the main table. */
static void want_last_route(struct wish *w, uint32_t table, uint8_t family, const char *object)
{
	struct ip_prefix all = {.addr.family = family};

	add_route(w, table, &all, object)->metric = metric_last;
}

static void want_tenant(struct wish *w, const struct tenant *tenant)
{
	const char *object = arena_printf(w->m->arena, "tenant %s", tenant->name);
	char name[16];
	struct link *l;

	(void)overlay_vrf_name(tenant->name, name);
	l = model_add_link(w->m, name);
	l->kind = LINK_VRF;
	l->ours = true;
	l->ifindex = FAIRWAY_IFINDEX_VRF | (tenant->table & 0xffffff);
	l->attrs = LA_UP | LA_TABLE | LA_ALIAS;
	l->up = true;
	l->table = tenant->table;
	l->alias = arena_printf(w->m->arena, "fairway: %s", object);
	l->object = object;
	want_last_route(w, tenant->table, AF_INET, object);
	want_last_route(w, tenant->table, AF_INET6, object);
}

/* --- segments --- */

static struct link *want_device(
	struct wish *w, enum link_kind kind, const char *name, uint32_t ifindex, uint32_t mtu, const char *object)
{
	struct link *l = model_add_link(w->m, name);

	l->kind = kind;
	l->ours = true;
	l->ifindex = ifindex;
	l->attrs = LA_UP | LA_MTU | LA_MASTER | LA_ALIAS | LA_ADDRGEN;
	l->up = true;
	l->mtu = mtu;
	l->alias = arena_printf(w->m->arena, "fairway: %s", object);
	l->object = object;
	return l;
}

/* The family of its remotes decides which of our two addresses a segment's packets come from. */
static const struct ip_addr *local_address(const struct config *cfg, const struct segment *seg)
{
	const struct remote *remote = seg->remotes.n > 0 ? config_remote(cfg, seg->remotes.v[0]) : NULL;

	if (remote && ip_addr_is_ipv6(&remote->vtep) != ip_addr_is_ipv6(&cfg->vtep->address))
		return &cfg->vtep->address6;
	return &cfg->vtep->address;
}

/* A check has seen to it that a bridged segment has remotes of one kind. */
bool overlay_is_evpn(const struct config *cfg, const struct segment *seg)
{
	const struct remote *remote = seg->remotes.n > 0 ? config_remote(cfg, seg->remotes.v[0]) : NULL;

	return seg->mode == MODE_BRIDGED && remote && remote->learn == LEARN_EVPN;
}

static struct link *want_vxlan(struct wish *w, const struct segment *seg, uint32_t mtu, const char *object)
{
	const struct vtep *vtep = w->cfg->vtep;
	struct link *l;
	char name[16];

	overlay_vxlan_name(seg->vni, name);
	l = want_device(w, LINK_VXLAN, name, FAIRWAY_IFINDEX_VXLAN | seg->vni, mtu, object);
	l->attrs |= LA_VXLAN | LA_TX_CSUM;
	l->tx_csum = vtep->checksum_offload;
	l->vxlan = (struct vxlan_attrs){
		.vni = seg->vni,
		.local = *local_address(w->cfg, seg),
		.port = (uint16_t)vtep->port,
		.df = (uint8_t)seg->df,
		.tos = (uint16_t)seg->tos,
		.ttl = (uint8_t)seg->ttl,
		.learning = !overlay_is_evpn(w->cfg, seg),
	};
	return l;
}

static void want_members(
	struct wish *w, const struct segment *seg, uint32_t mtu, const char *bridge, const char *object)
{
	for (size_t i = 0; i < seg->members.n; i++) {
		struct link *l = model_add_link(w->m, seg->members.v[i]);

		l->attrs = LA_UP | LA_MASTER | LA_MTU | LA_PORT | LA_PORT_STATE;
		l->up = l->forwarding = true;
		l->mtu = mtu;
		set_name(l->master, bridge);
		l->object = object;
	}
}

static void want_fdb(
	struct wish *w, const char *link, const struct remote *remote, const struct mac_addr *mac, const char *object)
{
	struct fdb *f;

	if (!remote)
		return;
	f = model_add_fdb(w->m);
	set_name(f->link, link);
	f->mac = *mac;
	f->dst = remote->vtep;
	f->object = object;
}

static void want_fdbs(struct wish *w, const struct segment *seg, const char *link, const char *object)
{
	static const struct mac_addr all_remotes;

	for (size_t i = 0; i < seg->remotes.n; i++)
		want_fdb(w, link, config_remote(w->cfg, seg->remotes.v[i]), &all_remotes, object);
	for (size_t i = 0; i < seg->macs.n; i++)
		want_fdb(w, link, config_remote(w->cfg, seg->macs.v[i].remote), &seg->macs.v[i].mac, object);
}

/* A bridge with the VXLAN device and the members as ports, all of one MTU; gateway addresses are the bridge's. Gives
 * the device that has the addresses. */
static const char *want_bridged(
	struct wish *w, const struct segment *seg, uint32_t mtu, const char *vrf, const char *object)
{
	struct link *l;
	char name[16];

	overlay_bridge_name(seg->vni, name);
	l = want_vxlan(w, seg, mtu, object);
	l->attrs |= LA_PORT | LA_PORT_STATE;
	l->forwarding = true;
	if (overlay_is_evpn(w->cfg, seg))
		l->port_unusual = PORT_NO_LEARNING | (seg->neighbor_suppression ? PORT_NEIGH_SUPPRESS : 0U);
	set_name(l->master, name);
	l = want_device(w, LINK_BRIDGE, name, FAIRWAY_IFINDEX_BRIDGE | seg->vni, mtu, object);
	l->attrs |= LA_MAC | LA_MCAST_SNOOP | LA_STP | LA_AGEING | LA_NF_CALL;
	l->nf_call = seg->filter && w->cfg->policy ? 2 : 0;
	l->ageing = BRIDGE_AGEING;
	l->mac = mac_addr_derive(w->cfg->system->hostname, seg->vni);
	l->addrgen = segment_carries_ipv6(seg);
	set_name(l->master, vrf);
	want_members(w, seg, mtu, name, object);
	return arena_strdup(w->m->arena, name);
}

static const char *want_routed(
	struct wish *w, const struct segment *seg, uint32_t mtu, const char *vrf, const char *object)
{
	struct link *l = want_vxlan(w, seg, mtu, object);
	char local[IP_STR_MAX];

	l->attrs |= LA_MAC;
	l->mac = mac_addr_derive(ip_addr_str(&l->vxlan.local, local), seg->vni);
	l->addrgen = segment_carries_ipv6(seg);
	set_name(l->master, vrf);
	return arena_strdup(w->m->arena, l->name);
}

static void want_segment(struct wish *w, const struct segment *seg)
{
	const struct tenant *tenant = seg->tenant ? config_tenant(w->cfg, seg->tenant) : NULL;
	const char *object, *device;
	char vrf[16] = "", vxlan[16];
	struct segment_mtu mtu;

	/* Never in the default domain instead; overlay_check_facts() says why it is missing. */
	if (tenant && !w->facts->has_vrf)
		return;
	if (tenant)
		(void)overlay_vrf_name(tenant->name, vrf);
	object = arena_printf(w->m->arena, "segment %s", seg->name);
	mtu_of_segment(w->cfg, w->facts, seg, &mtu);
	device = seg->mode == MODE_BRIDGED ? want_bridged(w, seg, mtu.device, vrf, object)
					   : want_routed(w, seg, mtu.device, vrf, object);
	for (size_t i = 0; i < seg->gateway.n; i++)
		add_addr(w, device, &seg->gateway.v[i], object);
	add_routes(w, tenant ? tenant->table : TABLE_MAIN, seg->routes.v, seg->routes.n, device, object);
	overlay_vxlan_name(seg->vni, vxlan);
	want_fdbs(w, seg, vxlan, object);
}

/* A bridge with the VXLAN device as its only port and the MAC that type 5 routes name; the rest is zebra's. */
static void want_l3_vni(struct wish *w, const struct segment *seg)
{
	char vrf[16] = "", local[IP_STR_MAX];
	struct segment_mtu mtu;
	struct link *l;

	if (seg->tenant && (!w->facts->has_vrf || !overlay_vrf_name(seg->tenant, vrf)))
		return;
	mtu_of_segment(w->cfg, w->facts, seg, &mtu);
	(void)want_bridged(w, seg, mtu.device, vrf, seg->name);
	l = &w->m->links[w->m->n_links - 2]; /* the VXLAN device, then its bridge */
	l->vxlan.learning = false;
	l->port_unusual = PORT_NO_LEARNING;
	l[1].mac = mac_addr_derive(ip_addr_str(&l->vxlan.local, local), seg->vni);
}

void overlay_desired(const struct config *cfg, const struct facts *facts, struct kernel_model *m)
{
	struct wish w = {cfg, facts, m};
	const struct segment *l3_vnis;
	size_t n_l3_vnis;

	if (cfg) {
		want_sysctls(&w);
		for (size_t i = 0; i < cfg->interfaces.n; i++)
			want_interface(&w, &cfg->interfaces.v[i]);
		for (size_t i = 0; i < cfg->lines.n; i++)
			want_line(&w, &cfg->lines.v[i]);
		if (cfg->vtep)
			want_vtep(&w, cfg->vtep);
		for (size_t i = 0; i < cfg->remotes.n; i++)
			want_remote(&w, &cfg->remotes.v[i]);
		for (size_t i = 0; i < cfg->tenants.n && facts->has_vrf; i++)
			want_tenant(&w, &cfg->tenants.v[i]);
		for (size_t i = 0; i < cfg->segments.n && cfg->vtep; i++)
			want_segment(&w, &cfg->segments.v[i]);
		l3_vnis = segment_of_l3_vnis(cfg, m->arena, &n_l3_vnis);
		for (size_t i = 0; i < n_l3_vnis && cfg->vtep; i++)
			want_l3_vni(&w, &l3_vnis[i]);
		add_routes(&w, TABLE_MAIN, cfg->routes.v, cfg->routes.n, "", "routes");
	}
	model_seal(m);
}
