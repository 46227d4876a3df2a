/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which routes a dead next hop concerns, and what to put over them. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct flip_line;
struct ip_route;

/*
 * Routes as dumped from the kernel (BGP's and ours), sorted by table, destination, metric. For each destination whose
 * best route uses a dead next hop: one override that has what is left of the best next hops, or else of the next best
 * route's. None where nothing is left. Everything in `arena`. Returns how many.
 */
size_t flip_overrides(const struct ip_route *routes, size_t n, const struct flip_line *dead, size_t n_dead,
	struct arena *arena, struct ip_route **ret);

/* Does the override still do anything? False when the best route below it is alive by itself, or there is none. */
bool flip_is_needed(const struct ip_route *override, const struct ip_route *routes, size_t n,
	const struct flip_line *dead, size_t n_dead);
