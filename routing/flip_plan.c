/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The decisions of the fast flip; see flip_plan.h. There is no "when to withdraw": what is wanted now is computed from
 * the routes as they are now, and what is there beyond that goes away. Pure.
 */
#include "routing/flip_plan.h"

#include <stdlib.h>
#include <string.h>

#include "gateway/base/arena.h"
#include "gateway/base/str.h"
#include "overlay/model.h"
#include "routing/flip.h"

static bool is_any_link_local(const struct ip_addr *peer)
{
	static const struct ip_addr any = {.family = AF_INET6};

	return ip_addr_cmp(peer, &any) == 0;
}

static bool is_via(const struct nexthop *nh, const struct flip_line *line)
{
	if (nh->link[0] && strcmp(nh->link, line->interface) != 0)
		return false;
	if (!ip_addr_is_set(&line->peer))
		return nh->link[0];
	if (is_any_link_local(&line->peer))
		return ip_addr_is_link_local(&nh->via) && ip_addr_is_ipv6(&nh->via) && nh->link[0];
	return ip_addr_cmp(&nh->via, &line->peer) == 0;
}

struct dead_lines {
	const struct flip_line *v;
	size_t n;
};

static bool is_dead(const struct nexthop *nh, const struct dead_lines *dead)
{
	for (size_t i = 0; i < dead->n; i++)
		if (is_via(nh, &dead->v[i]))
			return true;
	return false;
}

static size_t count_alive(const struct ip_route *route, const struct dead_lines *dead)
{
	size_t n = 0;

	for (size_t i = 0; i < route->n_nexthops; i++)
		n += !is_dead(&route->nexthops[i], dead);
	return n;
}

static size_t group_end(const struct ip_route *routes, size_t n, size_t from)
{
	size_t i = from + 1;

	while (i < n && routes[i].table == routes[from].table && ip_prefix_cmp(&routes[i].dst, &routes[from].dst) == 0)
		i++;
	return i;
}

/* The best of n routes to one destination that has a way left; NULL: no override helps, or none is needed. */
static const struct ip_route *find_way(const struct ip_route *routes, size_t n, const struct dead_lines *dead)
{
	if (routes[0].metric <= FLIP_METRIC || count_alive(&routes[0], dead) == routes[0].n_nexthops)
		return NULL;
	for (size_t i = 0; i < n; i++)
		if (count_alive(&routes[i], dead) > 0)
			return &routes[i];
	return NULL;
}

static struct ip_route make_override(const struct ip_route *way, const struct dead_lines *dead, struct arena *arena)
{
	struct ip_route o = *way;

	o.metric = FLIP_METRIC;
	o.proto = FLIP_PROTO;
	o.object = NULL;
	o.nexthops = arena_array(arena, way->n_nexthops, sizeof(*o.nexthops));
	o.n_nexthops = 0;
	for (size_t i = 0; i < way->n_nexthops; i++)
		if (!is_dead(&way->nexthops[i], dead))
			o.nexthops[o.n_nexthops++] = way->nexthops[i];
	return o;
}

size_t flip_overrides(const struct ip_route *routes, size_t n, const struct flip_line *dead, size_t n_dead,
	struct arena *arena, struct ip_route **ret)
{
	const struct dead_lines lines = {dead, n_dead};
	struct ip_route *overrides = NULL;
	size_t n_overrides = 0, cap = 0;

	for (size_t i = 0, end; n_dead > 0 && i < n; i = end) {
		const struct ip_route *way;

		end = group_end(routes, n, i);
		way = find_way(&routes[i], end - i, &lines);
		if (!way)
			continue;
		overrides = arena_grow(arena, overrides, n_overrides, &cap, sizeof(*overrides));
		overrides[n_overrides++] = make_override(way, &lines, arena);
	}
	*ret = overrides;
	return n_overrides;
}

/* By table and destination, as routes are sorted. */
static int cmp_destination(const struct ip_route *a, const struct ip_route *b)
{
	int c = cmp_u32(a->table, b->table);

	return c ? c : ip_prefix_cmp(&a->dst, &b->dst);
}

size_t flip_orphans(const struct ip_route *have, size_t n_have, const struct ip_route *routes, size_t n,
	const struct flip_line *dead, size_t n_dead, struct arena *arena, struct ip_route **ret)
{
	const struct dead_lines lines = {dead, n_dead};
	struct ip_route *orphans = arena_array(arena, n_have, sizeof(*orphans));
	size_t n_orphans = 0, from = 0;

	for (size_t i = 0; i < n_have; i++) {
		while (from < n && cmp_destination(&routes[from], &have[i]) < 0)
			from++;
		if ((from == n || cmp_destination(&routes[from], &have[i]) != 0) &&
			count_alive(&have[i], &lines) == have[i].n_nexthops)
			orphans[n_orphans++] = have[i];
	}
	*ret = orphans;
	return n_orphans;
}

/* --- what is there already --- */

static int cmp_length(const void *a, const void *b)
{
	const struct ip_route *x = *(const struct ip_route *const *)a, *y = *(const struct ip_route *const *)b;
	unsigned host_bits_x = 8 * (unsigned)ip_addr_len(&x->dst.addr) - x->dst.len;
	unsigned host_bits_y = 8 * (unsigned)ip_addr_len(&y->dst.addr) - y->dst.len;
	int c = cmp_u32(host_bits_x, host_bits_y);

	return c ? c : ip_route_cmp(x, y);
}

void flip_delta(const struct ip_route *want, size_t n_want, const struct ip_route *have, size_t n_have,
	struct arena *arena, struct flip_delta *ret)
{
	struct flip_delta d = {
		.set = arena_array(arena, n_want, sizeof(const struct ip_route *)),
		.remove = arena_array(arena, n_have, sizeof(const struct ip_route *)),
	};
	size_t w = 0, h = 0;

	while (w < n_want || h < n_have) {
		int c = w == n_want ? 1 : h == n_have ? -1 : ip_route_cmp(&want[w], &have[h]);

		if (c > 0) {
			d.remove[d.n_remove++] = &have[h++];
			continue;
		}
		if (c < 0 || !ip_route_same_nexthops(&want[w], &have[h]) || want[w].mtu != have[h].mtu)
			d.set[d.n_set++] = &want[w];
		w++;
		h += c == 0;
	}
	qsort(d.set, d.n_set, sizeof(const struct ip_route *), cmp_length);
	*ret = d;
}
