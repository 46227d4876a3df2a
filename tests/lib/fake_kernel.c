/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rules of the kernel that a plan has to know; see fake_kernel.h. */
#include "tests/lib/fake_kernel.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "gateway/base/arena.h"
#include "gateway/base/str.h"
#include "overlay/overlay.h"
#include "overlay/sysctl.h"

enum { IPV6_MIN = 1280 };

static int refuse(struct fake_kernel *k, int error, const char *reason)
{
	k->reason = reason;
	return -error;
}

static struct link *find(struct fake_kernel *k, const char *name)
{
	const struct link *l = model_link(&k->m, name);

	return l ? &k->m.links[l - k->m.links] : NULL;
}

/* --- lists --- */

#define REMOVE_IF(k, list, condition)                                                                                  \
	do {                                                                                                           \
		size_t kept_ = 0;                                                                                      \
		for (size_t i_ = 0; i_ < (k)->m.n_##list; i_++) {                                                      \
			__auto_type e = &(k)->m.list[i_];                                                              \
			if (!(condition))                                                                              \
				(k)->m.list[kept_++] = *e;                                                             \
		}                                                                                                      \
		(k)->m.n_##list = kept_;                                                                               \
	} while (0)

/* Takes the link's next hops away; true if the route had only those. An unreachable one never had any. */
static bool loses_all(struct ip_route *r, const char *link, uint8_t family)
{
	size_t kept = 0;

	if (r->n_nexthops == 0 || (family != AF_UNSPEC && r->dst.addr.family != family))
		return false;
	for (size_t i = 0; i < r->n_nexthops; i++)
		if (!str_eq(r->nexthops[i].link, link))
			r->nexthops[kept++] = r->nexthops[i];
	r->n_nexthops = kept;
	return kept == 0;
}

static void flush_routes(struct fake_kernel *k, const char *link, uint8_t family)
{
	REMOVE_IF(k, routes, loses_all(e, link, family));
}

static void flush_ipv6_addrs(struct fake_kernel *k, const char *link)
{
	REMOVE_IF(k, addrs, str_eq(e->link, link) && ip_addr_is_ipv6(&e->addr.addr));
	flush_routes(k, link, AF_INET6);
}

/* --- links --- */

static unsigned attrs_of(enum link_kind kind)
{
	unsigned attrs = LA_UP | LA_MTU | LA_MASTER | LA_ALIAS | LA_MAC | LA_ADDRGEN;

	if (kind == LINK_VXLAN)
		attrs |= LA_VXLAN | LA_TX_CSUM;
	if (kind == LINK_BRIDGE)
		attrs |= LA_MCAST_SNOOP | LA_STP | LA_AGEING | LA_NF_CALL;
	if (kind == LINK_VRF)
		attrs |= LA_TABLE;
	return attrs;
}

/* Not by model_link(): a link that was just added is not in its place yet. */
static bool is_bridge(const struct fake_kernel *k, const char *name)
{
	for (size_t i = 0; i < k->m.n_links; i++)
		if (str_eq(k->m.links[i].name, name))
			return k->m.links[i].kind == LINK_BRIDGE;
	return false;
}

/* A port begins with what the kernel gives it; what is no port shows nothing of that. */
static void become_port(struct fake_kernel *k, struct link *l)
{
	const unsigned port = LA_PORT | LA_PORT_STATE;

	l->port_unusual = 0;
	l->forwarding = true;
	l->attrs = l->master[0] && is_bridge(k, l->master) ? l->attrs | port : l->attrs & ~port;
}

static void set_attrs(struct fake_kernel *k, struct link *l, const struct link *to, unsigned change)
{
	if (change & LA_UP)
		l->up = to->up;
	if (change & LA_MTU)
		l->mtu = to->mtu;
	if (change & LA_MASTER) {
		memcpy(l->master, to->master, sizeof(l->master));
		become_port(k, l);
	}
	if (change & LA_MAC)
		l->mac = to->mac;
	if (change & LA_ALIAS)
		l->alias = arena_strdup(k->m.arena, to->alias ? to->alias : "");
	if (change & LA_ADDRGEN)
		l->addrgen = to->addrgen;
	if (change & LA_TX_CSUM)
		l->tx_csum = to->tx_csum;
	if (change & LA_VXLAN)
		l->vxlan = to->vxlan;
	if (change & LA_TABLE)
		l->table = to->table;
	if (change & LA_MCAST_SNOOP)
		l->mcast_snoop = to->mcast_snoop;
	if (change & LA_STP)
		l->stp = to->stp;
	if (change & LA_AGEING)
		l->ageing = to->ageing;
	if (change & LA_NF_CALL)
		l->nf_call = to->nf_call;
	if (change & LA_PORT)
		l->port_unusual = to->port_unusual;
	if (change & LA_PORT_STATE)
		l->forwarding = true;
}

static bool master_exists(struct fake_kernel *k, const struct link *l, unsigned change)
{
	return !(change & LA_MASTER) || !l->master[0] || find(k, l->master);
}

static int create_link(struct fake_kernel *k, const struct overlay_step *s)
{
	const struct link *want = s->link;
	struct link *l;

	for (size_t i = 0; i < k->m.n_links; i++) {
		l = &k->m.links[i];
		if (str_eq(l->name, want->name))
			return refuse(k, EEXIST, "a link of that name exists");
		if (l->ifindex == want->ifindex)
			return refuse(k, EBUSY, "a link of that ifindex exists");
		if (want->kind == LINK_VXLAN && l->kind == LINK_VXLAN && l->vxlan.vni == want->vxlan.vni &&
			l->vxlan.port == want->vxlan.port && l->vxlan.local.family == want->vxlan.local.family)
			return refuse(k, EEXIST, "a VXLAN device with the specified VNI already exists");
	}
	if (!master_exists(k, want, s->change))
		return refuse(k, ENODEV, "the master does not exist");
	l = model_add_link(&k->m, want->name);
	l->kind = want->kind;
	l->ifindex = want->ifindex;
	l->ours = true;
	l->group = FAIRWAY_LINK_GROUP;
	l->mtu = 1500;
	l->alias = "";
	l->addrgen = l->tx_csum = l->mcast_snoop = true;
	l->ageing = BRIDGE_AGEING;
	l->attrs = attrs_of(want->kind);
	set_attrs(k, l, want, s->change);
	return 0;
}

static bool is_vrf(struct fake_kernel *k, const char *name)
{
	const struct link *l = name[0] ? model_link(&k->m, name) : NULL;

	return l && l->kind == LINK_VRF;
}

/* Down and up again, so that its addresses move to another table. */
static void cycle(struct fake_kernel *k, const char *link)
{
	flush_ipv6_addrs(k, link);
	flush_routes(k, link, AF_UNSPEC);
}

static int change_link(struct fake_kernel *k, const struct overlay_step *s)
{
	struct link *l = find(k, s->link->name);
	bool moves;

	if (!l)
		return refuse(k, ENODEV, "no such link");
	if (!master_exists(k, s->link, s->change))
		return refuse(k, ENODEV, "the master does not exist");
	if (s->change & LA_VXLAN &&
		(l->vxlan.vni != s->link->vxlan.vni || l->vxlan.port != s->link->vxlan.port ||
			l->vxlan.local.family != s->link->vxlan.local.family))
		return refuse(k, EOPNOTSUPP, "cannot change VNI, port or family");
	if (s->change & LA_TABLE)
		return refuse(k, EOPNOTSUPP, "cannot change the table");
	moves = s->change & LA_MASTER && (is_vrf(k, l->master) || is_vrf(k, s->link->master));
	set_attrs(k, l, s->link, s->change);
	if (moves || !l->up)
		cycle(k, l->name);
	if (l->mtu < IPV6_MIN)
		flush_ipv6_addrs(k, l->name);
	return 0;
}

static bool goes_through(const struct ip_route *r, const char *link)
{
	for (size_t i = 0; i < r->n_nexthops; i++)
		if (str_eq(r->nexthops[i].link, link))
			return true;
	return false;
}

static void forget_link(struct fake_kernel *k, const char *name)
{
	bool vrf = is_vrf(k, name);

	/* An IPv4 route goes whole, even if it had other next hops; of an IPv6 one that next hop goes. */
	REMOVE_IF(k, routes, e->dst.addr.family == AF_INET && goes_through(e, name));
	REMOVE_IF(k, addrs, str_eq(e->link, name));
	REMOVE_IF(k, fdbs, str_eq(e->link, name));
	flush_routes(k, name, AF_UNSPEC);
	for (size_t i = 0; i < k->m.n_links; i++)
		if (str_eq(k->m.links[i].master, name)) {
			k->m.links[i].master[0] = '\0';
			become_port(k, &k->m.links[i]);
			if (vrf)
				cycle(k, k->m.links[i].name);
		}
	REMOVE_IF(k, links, str_eq(e->name, name));
}

static int delete_link(struct fake_kernel *k, const struct overlay_step *s)
{
	const struct link *l = find(k, s->link->name);
	char name[16];

	if (!l)
		return refuse(k, ENODEV, "no such link");
	if (l->kind == LINK_OTHER)
		return refuse(k, EOPNOTSUPP, "a card of the machine");
	memcpy(name, l->name, sizeof(name));
	forget_link(k, name);
	return 0;
}

/* --- addresses --- */

static int add_addr(struct fake_kernel *k, const struct overlay_step *s)
{
	const struct link *l = find(k, s->addr->link);
	struct if_addr *a;

	if (!l)
		return refuse(k, ENODEV, "no such link");
	if (ip_addr_is_ipv6(&s->addr->addr.addr) && l->mtu < IPV6_MIN)
		return refuse(k, EINVAL, "no IPv6 below an MTU of 1280");
	for (size_t i = 0; i < k->m.n_addrs; i++)
		if (if_addr_cmp(&k->m.addrs[i], s->addr) == 0)
			return refuse(k, EEXIST, "the address is there");
	a = model_add_addr(&k->m);
	*a = *s->addr;
	a->proto = FAIRWAY_PROTO;
	a->object = NULL;
	return 0;
}

static int delete_addr(struct fake_kernel *k, const struct overlay_step *s)
{
	uint8_t family = s->addr->addr.addr.family;
	size_t before = k->m.n_addrs, left = 0;

	REMOVE_IF(k, addrs, if_addr_cmp(e, s->addr) == 0);
	if (k->m.n_addrs == before)
		return refuse(k, EADDRNOTAVAIL, "no such address");
	for (size_t i = 0; i < k->m.n_addrs; i++)
		left += str_eq(k->m.addrs[i].link, s->addr->link) && k->m.addrs[i].addr.addr.family == family;
	if (left == 0)
		flush_routes(k, s->addr->link, family);
	return 0;
}

/* --- FDB --- */

static int add_fdb(struct fake_kernel *k, const struct overlay_step *s)
{
	static const struct mac_addr zero;
	const struct link *l = find(k, s->fdb->link);

	if (!l || l->kind != LINK_VXLAN)
		return refuse(k, ENODEV, "no such VXLAN device");
	if (l->vxlan.local.family != s->fdb->dst.family)
		return refuse(k, EAFNOSUPPORT, "of the other family");
	if (mac_addr_cmp(&s->fdb->mac, &zero) != 0)
		REMOVE_IF(k, fdbs, str_eq(e->link, s->fdb->link) && mac_addr_cmp(&e->mac, &s->fdb->mac) == 0);
	for (size_t i = 0; i < k->m.n_fdbs; i++)
		if (fdb_cmp(&k->m.fdbs[i], s->fdb) == 0)
			return refuse(k, EEXIST, "the entry is there");
	*model_add_fdb(&k->m) = *s->fdb;
	return 0;
}

static int delete_fdb(struct fake_kernel *k, const struct overlay_step *s)
{
	size_t before = k->m.n_fdbs;

	REMOVE_IF(k, fdbs, fdb_cmp(e, s->fdb) == 0);
	return k->m.n_fdbs < before ? 0 : refuse(k, ENOENT, "no such entry");
}

/* --- routes --- */

/* The link on which a next hop is reached: its own, or any with the subnet. NULL: unreachable. */
static const char *link_of(struct fake_kernel *k, const struct nexthop *n)
{
	for (size_t i = 0; i < k->m.n_addrs; i++) {
		const struct if_addr *a = &k->m.addrs[i];

		if (ip_prefix_contains(&a->addr, &n->via) && (!n->link[0] || str_eq(n->link, a->link)))
			return a->link;
	}
	return NULL;
}

static int replace_route(struct fake_kernel *k, const struct overlay_step *s)
{
	struct nexthop *nexthops = arena_array(k->m.arena, s->route->n_nexthops, sizeof(*nexthops));
	struct ip_route *r;

	for (size_t i = 0; i < s->route->n_nexthops; i++) {
		const char *link = link_of(k, &s->route->nexthops[i]);

		if (!link)
			return refuse(k, ENETUNREACH, "the next hop is unreachable");
		if (!find(k, link)->up)
			return refuse(k, ENETDOWN, "the link is down");
		nexthops[i] = s->route->nexthops[i];
		(void)snprintf(nexthops[i].link, sizeof(nexthops[i].link), "%s", link);
	}
	REMOVE_IF(k, routes, ip_route_cmp(e, s->route) == 0);
	r = model_add_route(&k->m);
	*r = *s->route;
	r->nexthops = nexthops;
	r->proto = FAIRWAY_PROTO;
	r->object = NULL;
	return 0;
}

static int delete_route(struct fake_kernel *k, const struct overlay_step *s)
{
	size_t before = k->m.n_routes;

	REMOVE_IF(k, routes, ip_route_cmp(e, s->route) == 0);
	return k->m.n_routes < before ? 0 : refuse(k, ESRCH, "no such route");
}

/* --- sysctls --- */

static int set_sysctl(struct fake_kernel *k, const struct overlay_step *s)
{
	for (size_t i = 0; i < k->m.n_sysctls; i++)
		if (str_eq(k->m.sysctls[i].key, s->sysctl->key) && k->m.sysctls[i].value) {
			k->m.sysctls[i].value = arena_strdup(k->m.arena, s->sysctl->value);
			return 0;
		}
	return refuse(k, ENOENT, "no such key");
}

/* --- all --- */

int fake_kernel_apply(struct fake_kernel *k, const struct overlay_step *step)
{
	static int (*const ops[])(struct fake_kernel *, const struct overlay_step *) = {
		[OP_SYSCTL_SET] = set_sysctl,
		[OP_LINK_CREATE] = create_link,
		[OP_LINK_CHANGE] = change_link,
		[OP_LINK_DELETE] = delete_link,
		[OP_ADDR_ADD] = add_addr,
		[OP_ADDR_DELETE] = delete_addr,
		[OP_FDB_ADD] = add_fdb,
		[OP_FDB_DELETE] = delete_fdb,
		[OP_ROUTE_REPLACE] = replace_route,
		[OP_ROUTE_DELETE] = delete_route,
	};
	int r;

	if (++k->n_applied == k->fail_at)
		return refuse(k, EIO, "the test wants it");
	r = ops[step->op](k, step);
	model_seal(&k->m);
	return r;
}

void fake_kernel_observe(const struct fake_kernel *k, struct kernel_model *ret)
{
	struct arena *arena = ret->arena;

	*ret = k->m;
	ret->arena = arena;
	ret->links = arena_memdup(arena, k->m.links, k->m.n_links * sizeof(*k->m.links));
	ret->addrs = arena_memdup(arena, k->m.addrs, k->m.n_addrs * sizeof(*k->m.addrs));
	ret->fdbs = arena_memdup(arena, k->m.fdbs, k->m.n_fdbs * sizeof(*k->m.fdbs));
	ret->routes = arena_memdup(arena, k->m.routes, k->m.n_routes * sizeof(*k->m.routes));
	ret->sysctls = arena_memdup(arena, k->m.sysctls, k->m.n_sysctls * sizeof(*k->m.sysctls));
	for (size_t i = 0; i < ret->n_routes; i++)
		ret->routes[i].nexthops = arena_memdup(
			arena, ret->routes[i].nexthops, ret->routes[i].n_nexthops * sizeof(*ret->routes[i].nexthops));
}

void fake_kernel_init(struct fake_kernel *k)
{
	struct link *lo;

	*k = (struct fake_kernel){.m.arena = arena_new()};
	lo = model_add_link(&k->m, "lo");
	lo->ifindex = 1;
	lo->mtu = 65536;
	lo->alias = "";
	lo->attrs = attrs_of(LINK_OTHER);
#define KEY(key, value, optional) (void)model_add_sysctl(&k->m, key, "9");
	SYSCTLS_GLOBAL(KEY)
	SYSCTLS_AUDIT(KEY)
#undef KEY
	model_seal(&k->m);
}

void fake_kernel_free(struct fake_kernel *k)
{
	arena_free(k->m.arena);
	*k = (struct fake_kernel){0};
}

void fake_kernel_add_interface(struct fake_kernel *k, const char *name, uint32_t mtu)
{
	struct link *l = model_add_link(&k->m, name);

	l->ifindex = 1 + (uint32_t)k->m.n_links;
	l->mtu = mtu;
	l->alias = "";
	l->addrgen = true;
	l->attrs = attrs_of(LINK_OTHER);
#define KEY(family, key, index, value)                                                                                 \
	(void)model_add_sysctl(&k->m, arena_printf(k->m.arena, "net/" family "/conf/%s/" key, name), "9");
	SYSCTLS_LINE_IPV4(KEY)
	SYSCTLS_LINE_IPV6(KEY)
#undef KEY
	model_seal(&k->m);
}

void fake_kernel_remove_interface(struct fake_kernel *k, const char *name)
{
	char prefix[64];

	forget_link(k, name);
	(void)snprintf(prefix, sizeof(prefix), "/conf/%s/", name);
	REMOVE_IF(k, sysctls, strstr(e->key, prefix) != NULL);
	model_seal(&k->m);
}
