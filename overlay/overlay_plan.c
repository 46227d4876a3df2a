/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From what the kernel has to what is wanted, as steps; see overlay.h. Pure. Both models are sorted by identity, so
 * each list is one merge walk. What the kernel takes along with a link that is deleted counts as gone: it is made again
 * where it is wanted, and not deleted a second time where it is not.
 *
 * Ours are addresses and routes of our protocol number and permanent FDB entries of our VXLAN devices. An address that
 * is there already, whoever gave it, is right and is never removed; a foreign route where ours must go is a conflict.
 */
#include "overlay/overlay.h"

#include <inttypes.h>
#include <string.h>

#include "gateway/base/arena.h"
#include "gateway/base/buf.h"
#include "gateway/base/str.h"
#include "gateway/engine/plan.h"
#include "overlay/link_plan.h"
#include "overlay/model.h"

/* --- sysctls --- */

/* "net/ipv4/conf/eth1/rp_filter" is about the line on eth1, the others about the gateway. */
static const char *sysctl_object(const struct walk *w, const char *key)
{
	const char *start = strstr(key, "/conf/"), *end = start ? strrchr(key, '/') : NULL;
	const struct link *l;
	char name[16];

	if (!start || end < start + 6 || (size_t)(end - start - 6) >= sizeof(name))
		return "system";
	memcpy(name, start + 6, (size_t)(end - start - 6));
	name[end - start - 6] = '\0';
	l = model_link(w->want, name);
	return l ? l->object : "system";
}

static void plan_sysctls(const struct walk *w)
{
	const struct kernel_model *want = w->want, *have = w->have;

	for (size_t i = 0, k = 0; i < want->n_sysctls; i++) {
		const struct sysctl *s = &want->sysctls[i];
		const char *is = NULL;

		while (k < have->n_sysctls && sysctl_cmp(&have->sysctls[k], s) < 0)
			k++;
		if (k < have->n_sysctls && sysctl_cmp(&have->sysctls[k], s) == 0)
			is = have->sysctls[k].value;
		if (str_eq(is, s->value) || (!is && s->optional))
			continue;
		plan_add(w->plan, STEP_MAKE, MAKE_SYSCTL, sysctl_object(w, s->key), NULL,
			walk_step(w, (struct overlay_step){.op = OP_SYSCTL_SET, .sysctl = s}), "%s: %s -> %s", s->key,
			is ? is : "(none)", s->value);
	}
}

/* --- addresses --- */

static void add_addr(const struct walk *w, const struct if_addr *a)
{
	char text[IP_STR_MAX];

	if (walk_want_fate(w, a->link) == FATE_MISSING)
		return;
	plan_add(w->plan, STEP_MAKE, MAKE_ADDR, a->object, NULL,
		walk_step(w, (struct overlay_step){.op = OP_ADDR_ADD, .addr = a, .ifindex = walk_ifindex(w, a->link)}),
		"add %s to %s", ip_prefix_str(&a->addr, text), a->link);
}

/* Has the link another wanted address of the family, perhaps the same with another length? */
static const struct if_addr *successor(const struct walk *w, const struct if_addr *gone)
{
	const struct kernel_model *want = w->want;
	const struct if_addr *found = NULL;
	size_t lo = 0, hi = want->n_addrs;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (strcmp(want->addrs[mid].link, gone->link) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < want->n_addrs && str_eq(want->addrs[lo].link, gone->link); lo++) {
		if (ip_addr_cmp(&want->addrs[lo].addr.addr, &gone->addr.addr) == 0)
			return &want->addrs[lo];
		if (want->addrs[lo].addr.addr.family == gone->addr.addr.family)
			found = &want->addrs[lo];
	}
	return found;
}

/*
 * With its last address of a family a link loses its routes of that family. So where another one comes, the old one
 * goes after it.
 */
static void delete_addr(const struct walk *w, const struct if_addr *a)
{
	const struct if_addr *next = successor(w, a);
	bool stays = next && ip_addr_cmp(&next->addr.addr, &a->addr.addr) == 0;
	char text[IP_STR_MAX], addr[IP_STR_MAX];

	plan_add(w->plan, next ? STEP_MAKE : STEP_REMOVE, next ? MAKE_ADDR_AWAY : REMOVE_ADDR, walk_object(w, a->link),
		stays ? NULL : walk_interrupts(w, ip_addr_str(&a->addr.addr, addr)),
		walk_step(
			w, (struct overlay_step){.op = OP_ADDR_DELETE, .addr = a, .ifindex = walk_ifindex(w, a->link)}),
		"remove %s from %s", ip_prefix_str(&a->addr, text), a->link);
}

static bool addr_is_lost(const struct walk *w, const struct if_addr *a)
{
	enum link_fate fate = walk_have_fate(w, a->link);

	return fate == FATE_DELETED || (fate == FATE_CYCLED && ip_addr_is_ipv6(&a->addr.addr));
}

static void plan_addrs(const struct walk *w)
{
	const struct kernel_model *want = w->want, *have = w->have;
	size_t i = 0, k = 0;

	while (i < want->n_addrs || k < have->n_addrs) {
		int c = i == want->n_addrs   ? 1
			: k == have->n_addrs ? -1
					     : if_addr_cmp(&want->addrs[i], &have->addrs[k]);
		bool lost = c >= 0 && addr_is_lost(w, &have->addrs[k]);

		if (c < 0 || (c == 0 && lost))
			add_addr(w, &want->addrs[i]);
		else if (c > 0 && !lost && have->addrs[k].proto == FAIRWAY_PROTO)
			delete_addr(w, &have->addrs[k]);
		i += c <= 0;
		k += c >= 0;
	}
}

/* --- FDB --- */

static bool is_flood(const struct fdb *f)
{
	static const struct mac_addr zero;

	return mac_addr_cmp(&f->mac, &zero) == 0;
}

static void add_fdb(const struct walk *w, const struct fdb *f)
{
	char dst[IP_STR_MAX], mac[MAC_STR_MAX];
	const struct overlay_step *step;

	if (walk_want_fate(w, f->link) == FATE_MISSING)
		return;
	step = walk_step(w, (struct overlay_step){.op = OP_FDB_ADD, .fdb = f, .ifindex = walk_ifindex(w, f->link)});
	if (is_flood(f))
		plan_add(w->plan, STEP_MAKE, MAKE_FDB, f->object, NULL, step, "%s: send to %s", f->link,
			ip_addr_str(&f->dst, dst));
	else
		plan_add(w->plan, STEP_MAKE, MAKE_FDB, f->object, NULL, step, "%s: %s is behind %s", f->link,
			mac_addr_str(&f->mac, mac), ip_addr_str(&f->dst, dst));
}

static void delete_fdb(const struct walk *w, const struct fdb *f)
{
	char dst[IP_STR_MAX], mac[MAC_STR_MAX];
	const char *object = walk_object(w, f->link);
	const struct overlay_step *step =
		walk_step(w, (struct overlay_step){.op = OP_FDB_DELETE, .fdb = f, .ifindex = walk_ifindex(w, f->link)});

	(void)ip_addr_str(&f->dst, dst);
	if (is_flood(f))
		plan_add(w->plan, STEP_REMOVE, REMOVE_FDB, object,
			arena_printf(w->plan->arena, "interrupts %s to %s", object, dst), step,
			"%s: stop sending to %s", f->link, dst);
	else
		plan_add(w->plan, STEP_REMOVE, REMOVE_FDB, object, NULL, step, "%s: forget that %s is behind %s",
			f->link, mac_addr_str(&f->mac, mac), dst);
}

/* A device has one entry per unicast MAC: adding the new one replaces the old. */
static bool same_slot(const struct fdb *a, const struct fdb *b)
{
	return a && b && !is_flood(a) && str_eq(a->link, b->link) && mac_addr_cmp(&a->mac, &b->mac) == 0;
}

static bool is_replaced(const struct kernel_model *want, size_t next, const struct fdb *have)
{
	return same_slot(next < want->n_fdbs ? &want->fdbs[next] : NULL, have) ||
		same_slot(next > 0 ? &want->fdbs[next - 1] : NULL, have);
}

static void plan_fdbs(const struct walk *w)
{
	const struct kernel_model *want = w->want, *have = w->have;
	size_t i = 0, k = 0;

	while (i < want->n_fdbs || k < have->n_fdbs) {
		int c = i == want->n_fdbs ? 1 : k == have->n_fdbs ? -1 : fdb_cmp(&want->fdbs[i], &have->fdbs[k]);
		bool lost = c >= 0 && walk_have_fate(w, have->fdbs[k].link) == FATE_DELETED;

		if (c < 0 || (c == 0 && lost))
			add_fdb(w, &want->fdbs[i]);
		else if (c > 0 && !lost && !is_replaced(want, i, &have->fdbs[k]))
			delete_fdb(w, &have->fdbs[k]);
		i += c <= 0;
		k += c >= 0;
	}
}

/* --- routes --- */

static void text_route(struct buf *out, const struct ip_route *r)
{
	char text[IP_STR_MAX];

	buf_printf(out, "%sroute %s", r->metric == metric_floating ? "floating " : "", ip_prefix_str(&r->dst, text));
	if (r->table != 254)
		buf_printf(out, " table %" PRIu32, r->table);
	if (r->mtu > 0)
		buf_printf(out, " MTU %" PRIu32, r->mtu);
	if (r->n_nexthops == 0)
		buf_puts(out, " unreachable");
	for (size_t i = 0; i < r->n_nexthops; i++) {
		const struct nexthop *n = &r->nexthops[i];

		if (i > 0)
			buf_puts(out, " and");
		if (ip_addr_is_set(&n->via))
			buf_printf(out, " via %s", ip_addr_str(&n->via, text));
		if (n->link[0])
			buf_printf(out, " %s", n->link);
		if (r->n_nexthops > 1)
			buf_printf(out, " weight %u", n->weight);
	}
}

/* Whoever its first link is about. */
static const char *route_object(const struct walk *w, const struct ip_route *r)
{
	return r->n_nexthops > 0 && r->nexthops[0].link[0] ? walk_object(w, r->nexthops[0].link) : "routes";
}

static void add_route_step(const struct walk *w, enum overlay_op op, const struct ip_route *r, const char *object)
{
	bool add = op == OP_ROUTE_REPLACE;
	char dst[IP_STR_MAX];
	struct buf text = {0};

	text_route(&text, r);
	plan_add(w->plan, add ? STEP_MAKE : STEP_REMOVE, add ? MAKE_ROUTE : REMOVE_ROUTE, object,
		add ? NULL : walk_interrupts(w, ip_prefix_str(&r->dst, dst)),
		walk_step(w,
			(struct overlay_step){.op = op,
				.route = r,
				.ifindex = r->n_nexthops > 0 ? walk_ifindex(w, r->nexthops[0].link) : 0}),
		"%s%s", add ? "" : "remove ", buf_str(&text));
	buf_free(&text);
}

/* The route without the next hops whose interface is missing: a line that is away does not hold up the others. */
static const struct ip_route *usable_route(const struct walk *w, const struct ip_route *want)
{
	struct ip_route *r;
	size_t n = 0;

	for (size_t i = 0; i < want->n_nexthops; i++)
		n += !want->nexthops[i].link[0] || walk_want_fate(w, want->nexthops[i].link) != FATE_MISSING;
	if (n == want->n_nexthops)
		return want;
	if (n == 0)
		return NULL;
	r = arena_memdup(w->plan->arena, want, sizeof(*want));
	r->nexthops = arena_array(w->plan->arena, n, sizeof(*r->nexthops));
	r->n_nexthops = 0;
	for (size_t i = 0; i < want->n_nexthops; i++)
		if (walk_want_fate(w, want->nexthops[i].link) != FATE_MISSING)
			r->nexthops[r->n_nexthops++] = want->nexthops[i];
	if (n == 1)
		r->nexthops[0].weight = 1;
	return r;
}

static bool route_is_lost(const struct walk *w, const struct ip_route *have)
{
	for (size_t i = 0; i < have->n_nexthops; i++) {
		enum link_fate fate = have->nexthops[i].link[0] ? walk_have_fate(w, have->nexthops[i].link) : FATE_KEPT;

		if (fate == FATE_DELETED || fate == FATE_CYCLED)
			return true;
	}
	return false;
}

/* The wanted route against all that the kernel has with its identity (IPv6 may have several). */
static void plan_route(const struct walk *w, const struct ip_route *want, const struct ip_route *have, size_t n)
{
	const struct ip_route *r = usable_route(w, want);
	char dst[IP_STR_MAX];
	bool right = false;

	for (size_t i = 0; i < n; i++) {
		if (have[i].proto != FAIRWAY_PROTO && !route_is_lost(w, &have[i])) {
			plan_conflict(w->plan, want->object,
				"a route to %s that Fairway did not make (protocol %u) is in its place; remove it",
				ip_prefix_str(&want->dst, dst), have[i].proto);
			return;
		}
		right = right ||
			(r && ip_route_same_nexthops(r, &have[i]) && r->mtu == have[i].mtu &&
				!route_is_lost(w, &have[i]));
	}
	if (r && !right)
		add_route_step(w, OP_ROUTE_REPLACE, r, want->object);
}

static void plan_routes(const struct walk *w)
{
	const struct kernel_model *want = w->want, *have = w->have;
	size_t k = 0, end;

	for (size_t i = 0; i <= want->n_routes; i++) {
		const struct ip_route *r = i < want->n_routes ? &want->routes[i] : NULL;

		for (; k < have->n_routes && (!r || ip_route_cmp(&have->routes[k], r) < 0); k++)
			if (have->routes[k].proto == FAIRWAY_PROTO && !route_is_lost(w, &have->routes[k]))
				add_route_step(w, OP_ROUTE_DELETE, &have->routes[k], route_object(w, &have->routes[k]));
		if (!r)
			return;
		for (end = k; end < have->n_routes && ip_route_cmp(&have->routes[end], r) == 0;)
			end++;
		plan_route(w, r, have->routes + k, end - k);
		k = end;
	}
}

void overlay_plan(const struct kernel_model *want, const struct kernel_model *have, struct plan *plan)
{
	struct walk w = {.want = want, .have = have, .plan = plan};

	link_plan(&w);
	plan_sysctls(&w);
	plan_addrs(&w);
	plan_fdbs(&w);
	plan_routes(&w);
}
