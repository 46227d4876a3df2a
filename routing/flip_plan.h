/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which routes a dead next hop concerns, what to put over them, and what of it is there already. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "overlay/model.h"
#include "routing/flip.h"

struct arena;

static inline bool flip_is_override(const struct ip_route *route)
{
	return route->proto == FLIP_PROTO && route->metric == FLIP_METRIC;
}

/*
 * Routes as dumped from the kernel (BGP's and ours), sorted by table, destination, metric. For each destination whose
 * best route uses a dead next hop: one override that has what is left of the best next hops, or else of the next best
 * route's. None where nothing is left. In the order of the routes; everything in `arena`. Returns how many.
 *
 * A dead line whose peer is `::` means every link-local router on its interface, one without a peer every router there.
 */
size_t flip_overrides(const struct ip_route *routes, size_t n, const struct flip_line *dead, size_t n_dead,
	struct arena *arena, struct ip_route **ret);

/*
 * Overrides that are there, over an alive next hop, of destinations that have no route below (any more): BGP may be
 * about to write another, since zebra takes a route away before. All sorted; likewise. How many.
 */
size_t flip_orphans(const struct ip_route *have, size_t n_have, const struct ip_route *routes, size_t n,
	const struct flip_line *dead, size_t n_dead, struct arena *arena, struct ip_route **ret);

/* What makes the overrides that are there the wanted ones: hosts first, as tunnels end there. */
struct flip_delta {
	const struct ip_route **set, **remove;
	size_t n_set, n_remove;
};
/* Both sorted. Everything in `arena`. */
void flip_delta(const struct ip_route *want, size_t n_want, const struct ip_route *have, size_t n_have,
	struct arena *arena, struct flip_delta *ret);
