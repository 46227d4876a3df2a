/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See fib_diff.h. */
#include "routing/fib_diff.h"

#include <stdlib.h>
#include <string.h>

#include "gateway/base/arena.h"
#include "gateway/base/buf.h"
#include "gateway/base/str.h"
#include "routing/json_get.h"

static struct fib_repair *add(struct fib_repairs *list, enum fib_op op)
{
	struct fib_repair *r;

	list->v = arena_grow(list->arena, list->v, list->n, &list->cap, sizeof(*list->v));
	r = &list->v[list->n++];
	r->op = op;
	return r;
}

/* --- routes --- */

struct finding {
	uint32_t table;
	struct arena *arena;
	struct fib_want *want;
};

/* What zebra has sent to the kernel and had confirmed; a change of next hops shows in the group first. */
static bool is_settled(const json_t *entry)
{
	return get_flag(entry, "installed") && !get_flag(entry, "queued") &&
		get_number(entry, "nexthopGroupId") == get_number(entry, "installedNexthopGroupId");
}

static void take_entry(const json_t *entry, void *arg)
{
	struct finding *f = arg;

	if (!str_eq(get_text(entry, "protocol"), "bgp") || get_number(entry, "table") != f->table)
		return;
	/* Also one that is not chosen may be on its way out of the kernel. */
	f->want->known = true;
	if (!get_flag(entry, "selected"))
		return;
	f->want->settled = is_settled(entry) &&
		zebra_route(entry, f->arena, &f->want->route, &f->want->ifindexes, &f->want->onlink);
}

void fib_want_of(const json_t *answer, uint32_t table, struct arena *arena, struct fib_want *ret)
{
	struct finding f = {.table = table, .arena = arena, .want = ret};

	*ret = (struct fib_want){0};
	zebra_walk_routes(answer, take_entry, &f);
}

static bool same_hops(const struct ip_route *a, const struct ip_route *b)
{
	if (a->n_nexthops != b->n_nexthops)
		return false;
	for (size_t i = 0; i < a->n_nexthops; i++) {
		const struct nexthop *x = &a->nexthops[i], *y = &b->nexthops[i];

		if (ip_addr_cmp(&x->via, &y->via) != 0 || !str_eq(x->link, y->link) || x->weight != y->weight)
			return false;
	}
	return true;
}

void fib_diff_route(const struct fib_want *want, const struct ip_route *have, struct fib_repairs *out)
{
	struct fib_repair *r;

	if (!want->known && have) {
		r = add(out, FIB_ROUTE_DELETE);
		r->route = *have;
	}
	if (!want->settled || (have && same_hops(&want->route, have)))
		return;
	r = add(out, FIB_ROUTE_SET);
	r->route = want->route;
	r->ifindexes = want->ifindexes;
	r->onlink = want->onlink;
}

/* --- MACs --- */

static bool is_flood(const struct evpn_mac *m)
{
	static const struct mac_addr zero;

	return mac_addr_cmp(&m->mac, &zero) == 0;
}

/* The first entry of the MAC, whatever its vtep. */
static const struct evpn_mac *find(const struct evpn_mac *v, size_t n, const struct evpn_mac *like)
{
	struct evpn_mac key = {.vni = like->vni, .mac = like->mac};
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (evpn_mac_cmp(&v[middle], &key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low < n && v[low].vni == key.vni && mac_addr_cmp(&v[low].mac, &key.mac) == 0 ? &v[low] : NULL;
}

static int vni_cmp(const void *a, const void *b)
{
	return cmp_u32(*(const uint32_t *)a, *(const uint32_t *)b);
}

static bool has_device(const struct fib_macs *have, uint32_t vni)
{
	return have->n_vnis > 0 && bsearch(&vni, have->vnis, have->n_vnis, sizeof(vni), vni_cmp);
}

static void want_flood(const struct evpn_mac *want, const struct fib_macs *have, struct fib_repairs *out)
{
	const struct evpn_mac *at = find(have->fixed, have->n_fixed, want);

	for (; at && at < have->fixed + have->n_fixed && at->vni == want->vni && is_flood(at); at++)
		if (ip_addr_cmp(&at->vtep, &want->vtep) == 0)
			return;
	add(out, FIB_FLOOD_ADD)->mac = *want;
}

static void want_mac(const struct evpn_mac *want, const struct fib_macs *have, struct fib_repairs *out)
{
	const struct evpn_mac *learned = find(have->learned, have->n_learned, want);

	/* What the file says of a MAC is not FRR's business. */
	if (want->disputed || find(have->fixed, have->n_fixed, want))
		return;
	if (!learned || ip_addr_cmp(&learned->vtep, &want->vtep) != 0 || !find(have->bridge, have->n_bridge, want))
		add(out, FIB_MAC_SET)->mac = *want;
}

/* Few VNIs have a MAC too many: no search. */
static bool is_l2(const struct evpn_macs *want, uint32_t vni)
{
	for (size_t i = 0; i < want->n_l2_vnis; i++)
		if (want->l2_vnis[i] == vni)
			return true;
	return false;
}

static void drop_unknown(const struct evpn_mac *v, size_t n, const struct evpn_macs *want, struct fib_repairs *out)
{
	for (size_t i = 0; i < n; i++)
		if (!find(want->v, want->n, &v[i]) && is_l2(want, v[i].vni))
			add(out, FIB_MAC_DELETE)->mac = v[i];
}

void fib_diff_macs(const struct evpn_macs *want, const struct fib_macs *have, struct fib_repairs *out)
{
	for (size_t i = 0; i < want->n; i++) {
		if (!has_device(have, want->v[i].vni))
			continue;
		if (is_flood(&want->v[i]))
			want_flood(&want->v[i], have, out);
		else
			want_mac(&want->v[i], have, out);
	}
	drop_unknown(have->learned, have->n_learned, want, out);
}

/* --- what lasts --- */

static bool same(const struct fib_repair *a, const struct fib_repair *b)
{
	if (a->op != b->op)
		return false;
	if (a->op == FIB_ROUTE_SET || a->op == FIB_ROUTE_DELETE)
		return ip_route_cmp(&a->route, &b->route) == 0 && same_hops(&a->route, &b->route);
	return evpn_mac_cmp(&a->mac, &b->mac) == 0;
}

static void copy_into(struct fib_repairs *list, const struct fib_repair *r)
{
	struct fib_repair *copy = add(list, r->op);

	*copy = *r;
	if (r->route.n_nexthops > 0)
		copy->route.nexthops =
			arena_memdup(list->arena, r->route.nexthops, r->route.n_nexthops * sizeof(*r->route.nexthops));
	if (r->ifindexes)
		copy->ifindexes = arena_memdup(list->arena, r->ifindexes, r->route.n_nexthops * sizeof(*r->ifindexes));
}

void fib_confirm(const struct fib_repairs *before, const struct fib_repairs *found, uint64_t now_usec,
	struct fib_repairs *due, struct fib_repairs *left)
{
	for (size_t i = 0; i < found->n; i++) {
		struct fib_repair r = found->v[i];

		r.since = now_usec;
		r.seen = 1;
		for (size_t k = 0; k < before->n; k++)
			if (same(&before->v[k], &r)) {
				r.since = before->v[k].since;
				r.seen = before->v[k].seen + 1;
				break;
			}
		copy_into(r.seen >= FIB_LOOKS && now_usec - r.since >= FIB_LASTING_USEC ? due : left, &r);
	}
}

/* --- words --- */

static void print_route(const struct ip_route *r, struct buf *out)
{
	char text[IP_STR_MAX];

	buf_puts(out, ip_prefix_str(&r->dst, text));
	if (r->table != 254)
		buf_printf(out, " of table %u", r->table);
}

static void print_mac(const struct evpn_mac *m, struct buf *out)
{
	char mac[MAC_STR_MAX], vtep[IP_STR_MAX];

	buf_printf(out, "%s of VNI %u at %s", is_flood(m) ? "flooding" : mac_addr_str(&m->mac, mac), m->vni,
		ip_addr_str(&m->vtep, vtep));
}

void fib_repair_print(const struct fib_repair *r, struct buf *out)
{
	switch (r->op) {
	case FIB_ROUTE_SET:
		print_route(&r->route, out);
		buf_puts(out, " was not in the kernel as zebra has it: put back");
		break;
	case FIB_ROUTE_DELETE:
		print_route(&r->route, out);
		buf_puts(out, " was in the kernel and zebra does not have it: removed");
		break;
	case FIB_MAC_SET:
	case FIB_FLOOD_ADD:
		print_mac(&r->mac, out);
		buf_puts(out, " was not in the kernel as EVPN has it: put back");
		break;
	case FIB_MAC_DELETE:
		print_mac(&r->mac, out);
		buf_puts(out, " was in the kernel and EVPN does not have it: removed");
		break;
	}
}
