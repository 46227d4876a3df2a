/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Addresses, subnets and routes: what may stand once in a routing domain stands there once; see check_parts.h. Pure.
 * A domain is a routing table: 254 the default one, a tenant's its VRF. In two domains the same subnet is fine, that is
 * what they are for.
 *
 * Sorted by (table, network, length), a subnet stands directly behind one that it lies in, or behind others in there.
 */
#include "overlay/check_parts.h"

#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "gateway/base/arena.h"
#include "gateway/base/str.h"

enum { TABLE_MAIN = 254 };

/* Who has it: "segment gpu" without a copy of the name. */
struct owner {
	const char *kind, *name;
	struct loc loc;
};

struct subnet {
	uint32_t table;
	struct ip_prefix network; /* of addr */
	struct ip_addr addr;
	struct owner owner;
};

struct dest {
	uint32_t table;
	struct ip_prefix prefix;
	struct owner owner;
};

struct lists {
	struct subnet *subnets; /* by network */
	struct subnet *own;	/* the same and the vteps, by address */
	struct dest *dests;
	size_t n_subnets, n_own, n_dests;
	bool whole; /* no subnet of the file is missing here */
	struct diag *diag;
};

/* False if nobody knows: its tenant is not there, or has an error. */
static bool find_table(const struct config *cfg, const struct segment *seg, uint32_t *ret)
{
	const struct tenant *tenant = seg->tenant ? config_tenant(cfg, seg->tenant) : NULL;

	if (seg->tenant && !tenant)
		return false;
	*ret = tenant ? tenant->table : TABLE_MAIN;
	return true;
}

/* --- collecting --- */

static void add_subnet(struct lists *l, uint32_t table, const struct ip_prefix *addr, struct owner owner)
{
	struct subnet s = {table, ip_prefix_network(addr), addr->addr, owner};

	if (!ip_addr_is_set(&addr->addr))
		return;
	l->own[l->n_own++] = s;
	/* fe80::/10 is on every link. */
	if (!ip_addr_is_ipv6(&addr->addr) || !ip_addr_is_link_local(&addr->addr))
		l->subnets[l->n_subnets++] = s;
}

static void add_vtep(struct lists *l, const struct ip_addr *addr, struct loc loc)
{
	struct ip_prefix host = ip_addr_host_prefix(addr);

	if (ip_addr_is_set(addr))
		l->own[l->n_own++] = (struct subnet){TABLE_MAIN, host, *addr, {"vtep", "", loc}};
}

static void add_routes(
	struct lists *l, uint32_t table, const struct route *v, size_t n, const char *kind, const char *name)
{
	for (size_t i = 0; i < n; i++)
		l->dests[l->n_dests++] =
			(struct dest){table, v[i].prefix, {kind, name, CONFIG_AT(&v[i], route, prefix)}};
}

static void collect(const struct config *cfg, struct lists *l)
{
	for (size_t i = 0; i < cfg->interfaces.n; i++) {
		const struct interface *e = &cfg->interfaces.v[i];

		for (size_t k = 0; k < e->addresses.n; k++)
			add_subnet(l, TABLE_MAIN, &e->addresses.v[k],
				(struct owner){"interface", e->name, e->addresses.at[k]});
	}
	for (size_t i = 0; i < cfg->lines.n; i++) {
		const struct line *line = &cfg->lines.v[i];

		add_subnet(l, TABLE_MAIN, &line->address,
			(struct owner){"line", line->name, CONFIG_AT(line, line, address)});
		add_subnet(l, TABLE_MAIN, &line->address6,
			(struct owner){"line", line->name, CONFIG_AT(line, line, address6)});
	}
	for (size_t i = 0; i < cfg->segments.n; i++) {
		const struct segment *seg = &cfg->segments.v[i];
		uint32_t table;

		if (!find_table(cfg, seg, &table))
			continue;
		for (size_t k = 0; k < seg->gateway.n; k++)
			add_subnet(
				l, table, &seg->gateway.v[k], (struct owner){"segment", seg->name, seg->gateway.at[k]});
		add_routes(l, table, seg->routes.v, seg->routes.n, "segment", seg->name);
	}
	for (size_t i = 0; i < cfg->remotes.n; i++) {
		const struct remote *remote = &cfg->remotes.v[i];

		l->dests[l->n_dests++] = (struct dest){TABLE_MAIN, ip_addr_host_prefix(&remote->vtep),
			{"remote", remote->name, CONFIG_AT(remote, remote, vtep)}};
	}
	add_routes(l, TABLE_MAIN, cfg->routes.v, cfg->routes.n, "routes", "");
	if (cfg->vtep) {
		add_vtep(l, &cfg->vtep->address, CONFIG_AT(cfg->vtep, vtep, address));
		add_vtep(l, &cfg->vtep->address6, CONFIG_AT(cfg->vtep, vtep, address6));
	}
}

static size_t count(const struct config *cfg)
{
	size_t n = 2 * cfg->lines.n + cfg->remotes.n + cfg->routes.n + 2;

	for (size_t i = 0; i < cfg->interfaces.n; i++)
		n += cfg->interfaces.v[i].addresses.n;
	for (size_t i = 0; i < cfg->segments.n; i++)
		n += cfg->segments.v[i].gateway.n + cfg->segments.v[i].routes.n;
	return n;
}

/* --- order --- */

static int subnet_cmp(const void *pa, const void *pb)
{
	const struct subnet *a = pa, *b = pb;
	int c = cmp_u32(a->table, b->table);

	if (c == 0)
		c = ip_prefix_cmp(&a->network, &b->network);
	return c ? c : loc_cmp(a->owner.loc, b->owner.loc);
}

static int own_cmp(const void *pa, const void *pb)
{
	const struct subnet *a = pa, *b = pb;
	int c = cmp_u32(a->table, b->table);

	if (c == 0)
		c = ip_addr_cmp(&a->addr, &b->addr);
	return c ? c : loc_cmp(a->owner.loc, b->owner.loc);
}

static int dest_cmp(const void *pa, const void *pb)
{
	const struct dest *a = pa, *b = pb;
	int c = cmp_u32(a->table, b->table);

	if (c == 0)
		c = ip_prefix_cmp(&a->prefix, &b->prefix);
	return c ? c : loc_cmp(a->owner.loc, b->owner.loc);
}

static bool same_owner(const struct owner *a, const struct owner *b)
{
	return str_eq(a->kind, b->kind) && str_eq(a->name, b->name);
}

/* "segment gpu", "vtep" */
#define OWNER "%s%s%s"
#define OWNER_ARGS(o) (o).kind, (o).name[0] ? " " : "", (o).name

/* --- rules --- */

static bool is_twice(const struct lists *l, size_t i)
{
	return i > 0 && l->own[i].table == l->own[i - 1].table &&
		ip_addr_cmp(&l->own[i].addr, &l->own[i - 1].addr) == 0;
}

static void check_twice(const struct lists *l)
{
	char text[IP_STR_MAX];

	for (size_t i = 1; i < l->n_own; i++) {
		const struct owner *a = &l->own[i - 1].owner, *b = &l->own[i].owner;
		bool has_vtep = str_eq(a->kind, "vtep") || str_eq(b->kind, "vtep");

		/* The vtep may be a line's or interface's own address; a segment's is inside of what it carries. */
		if (!is_twice(l, i) || (has_vtep && !str_eq(a->kind, "segment") && !str_eq(b->kind, "segment")))
			continue;
		diag_error(l->diag, b->loc, OWNER ": %s is already an address of " OWNER " (line %u)", OWNER_ARGS(*b),
			ip_addr_str(&l->own[i].addr, text), OWNER_ARGS(*a), a->loc.line);
	}
}

static void check_overlaps(const struct lists *l)
{
	const struct subnet *cover = l->subnets;
	char text[IP_STR_MAX], other[IP_STR_MAX];

	for (size_t i = 1; i < l->n_subnets; i++) {
		const struct subnet *s = &l->subnets[i];
		const struct owner *a = &cover->owner, *b = &s->owner;

		if (s->table != cover->table || !ip_prefix_overlaps(&s->network, &cover->network)) {
			cover = s;
			continue;
		}
		/* Several addresses in one subnet of one interface are usual; one address twice is said above. */
		if (same_owner(a, b) || ip_addr_cmp(&s->addr, &cover->addr) == 0)
			continue;
		if (loc_cmp(b->loc, a->loc) > 0)
			diag_error(l->diag, b->loc, OWNER ": %s overlaps %s of " OWNER " (line %u)", OWNER_ARGS(*b),
				ip_prefix_str(&s->network, text), ip_prefix_str(&cover->network, other), OWNER_ARGS(*a),
				a->loc.line);
		else
			diag_error(l->diag, a->loc, OWNER ": %s overlaps %s of " OWNER " (line %u)", OWNER_ARGS(*a),
				ip_prefix_str(&cover->network, text), ip_prefix_str(&s->network, other), OWNER_ARGS(*b),
				b->loc.line);
	}
}

/* --- routes --- */

static const struct subnet *find_subnet(const struct lists *l, uint32_t table, const struct ip_prefix *network)
{
	size_t lo = 0, hi = l->n_subnets;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		int c = cmp_u32(l->subnets[mid].table, table);

		if (c == 0)
			c = ip_prefix_cmp(&l->subnets[mid].network, network);
		if (c == 0)
			return &l->subnets[mid];
		if (c < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}

/* The subnet of a domain that an address lies in. */
static const struct subnet *subnet_of(const struct lists *l, uint32_t table, const struct ip_addr *addr)
{
	struct ip_prefix p = ip_addr_host_prefix(addr);

	for (unsigned len = p.len; len > 0; len--) {
		struct ip_prefix net = {*addr, (uint8_t)len};
		const struct subnet *s;

		net = ip_prefix_network(&net);
		s = find_subnet(l, table, &net);
		if (s)
			return s;
	}
	return NULL;
}

static bool is_own(const struct lists *l, uint32_t table, const struct ip_addr *addr, const struct owner **ret)
{
	size_t lo = 0, hi = l->n_own;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		int c = cmp_u32(l->own[mid].table, table);

		if (c == 0)
			c = ip_addr_cmp(&l->own[mid].addr, addr);
		if (c == 0) {
			*ret = &l->own[mid].owner;
			return true;
		}
		if (c < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return false;
}

static void check_dests(const struct lists *l)
{
	char text[IP_STR_MAX];

	for (size_t i = 0; i < l->n_dests; i++) {
		const struct dest *d = &l->dests[i], *before = i > 0 ? d - 1 : NULL;
		const struct subnet *s = find_subnet(l, d->table, &d->prefix);

		(void)ip_prefix_str(&d->prefix, text);
		if (s)
			diag_error(l->diag, d->owner.loc, OWNER ": %s is the subnet of " OWNER " itself (line %u)",
				OWNER_ARGS(d->owner), text, OWNER_ARGS(s->owner), s->owner.loc.line);
		/* Two remotes with one vtep are told so elsewhere. */
		else if (before && before->table == d->table && ip_prefix_cmp(&before->prefix, &d->prefix) == 0 &&
			!(str_eq(before->owner.kind, "remote") && str_eq(d->owner.kind, "remote")))
			diag_error(l->diag, d->owner.loc, OWNER ": %s is already reached through " OWNER " (line %u)",
				OWNER_ARGS(d->owner), text, OWNER_ARGS(before->owner), before->owner.loc.line);
	}
}

/* Is the next hop on the link that the route is about (owner), or on any of the domain (owner NULL)? */
static void check_via(const struct lists *l, uint32_t table, const struct route *r, const struct owner *of)
{
	struct loc loc = CONFIG_AT(r, route, via);
	const struct subnet *s = NULL;
	const struct owner *own;
	char text[IP_STR_MAX];

	(void)ip_addr_str(&r->via, text);
	if (r->via.family != r->prefix.addr.family) {
		diag_error(l->diag, loc, OWNER ": %s is not of the route's family", OWNER_ARGS(*of), text);
		return;
	}
	if (is_own(l, table, &r->via, &own)) {
		diag_error(l->diag, loc, OWNER ": %s is this gateway's own address (" OWNER ", line %u)",
			OWNER_ARGS(*of), text, OWNER_ARGS(*own), own->loc.line);
		return;
	}
	/* A link-local next hop is on the segment's link; without a segment nobody knows on which. */
	if (ip_addr_is_link_local(&r->via) && str_eq(of->kind, "segment"))
		return;
	s = subnet_of(l, table, &r->via);
	if (str_eq(of->kind, "segment") && (!s || !same_owner(&s->owner, of)))
		diag_error(
			l->diag, loc, OWNER ": %s is in none of the segment's gateway subnets", OWNER_ARGS(*of), text);
	else if (!s && l->whole)
		diag_error(l->diag, loc, OWNER ": %s is in no subnet of an interface, line or segment", OWNER_ARGS(*of),
			text);
}

static void check_vias(const struct config *cfg, const struct lists *l)
{
	static const struct owner top = {"routes", "", {0}};

	for (size_t i = 0; i < cfg->segments.n; i++) {
		const struct segment *seg = &cfg->segments.v[i];
		struct owner of = {"segment", seg->name, seg->entry.loc};
		uint32_t table;

		if (!find_table(cfg, seg, &table))
			continue;
		for (size_t k = 0; k < seg->routes.n; k++)
			check_via(l, table, &seg->routes.v[k], &of);
	}
	for (size_t i = 0; i < cfg->routes.n; i++)
		check_via(l, TABLE_MAIN, &cfg->routes.v[i], &top);
}

/* --- the far ends --- */

static void check_not_own(
	const struct lists *l, const struct ip_addr *addr, struct loc loc, const char *kind, const char *name)
{
	struct owner far_end = {kind, name, loc};
	const struct owner *own;
	char text[IP_STR_MAX];

	if (!ip_addr_is_set(addr) || !is_own(l, TABLE_MAIN, addr, &own))
		return;
	/* The two ends of one line, and our vtep as a remote's: said in overlay_check.c. */
	if (same_owner(own, &far_end) || (str_eq(own->kind, "vtep") && str_eq(kind, "remote")))
		return;
	diag_error(l->diag, loc, "%s %s: %s is this gateway's own address (" OWNER ", line %u)", kind, name,
		ip_addr_str(addr, text), OWNER_ARGS(*own), own->loc.line);
}

static void check_far_ends(const struct config *cfg, const struct lists *l)
{
	for (size_t i = 0; i < cfg->lines.n; i++) {
		const struct line *line = &cfg->lines.v[i];

		check_not_own(l, &line->peer_address, CONFIG_AT(line, line, peer_address), "line", line->name);
		check_not_own(l, &line->peer_address6, CONFIG_AT(line, line, peer_address6), "line", line->name);
	}
	for (size_t i = 0; i < cfg->remotes.n; i++) {
		const struct remote *remote = &cfg->remotes.v[i];

		check_not_own(l, &remote->vtep, CONFIG_AT(remote, remote, vtep), "remote", remote->name);
	}
}

static void sort(void *v, size_t n, size_t size, int (*cmp)(const void *, const void *))
{
	if (n > 1)
		qsort(v, n, size, cmp);
}

void address_check(const struct config *cfg, struct arena *scratch, struct diag *diag)
{
	size_t n = count(cfg);
	struct lists l = {
		.subnets = arena_array(scratch, n, sizeof(struct subnet)),
		.own = arena_array(scratch, n, sizeof(struct subnet)),
		.dests = arena_array(scratch, n, sizeof(struct dest)),
		.whole = CONFIG_IS_WHOLE(cfg, interfaces) && CONFIG_IS_WHOLE(cfg, lines) &&
			CONFIG_IS_WHOLE(cfg, segments),
		.diag = diag,
	};

	collect(cfg, &l);
	sort(l.subnets, l.n_subnets, sizeof(*l.subnets), subnet_cmp);
	sort(l.own, l.n_own, sizeof(*l.own), own_cmp);
	sort(l.dests, l.n_dests, sizeof(*l.dests), dest_cmp);
	check_twice(&l);
	check_overlaps(&l);
	check_dests(&l);
	check_vias(cfg, &l);
	check_far_ends(cfg, &l);
}
