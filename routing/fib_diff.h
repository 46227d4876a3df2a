/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel against what FRR means it to have: differences as repairs, and which of them have lasted. Pure.
 *
 * A route on its way is different for a moment, so a difference counts only when look after look finds the very same
 * one.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "overlay/model.h"
#include "routing/zebra_parse.h"

struct arena;
struct buf;

enum { FIB_LOOKS = 3 };
static const uint64_t FIB_LASTING_USEC = 200000;

enum fib_op { FIB_ROUTE_SET, FIB_ROUTE_DELETE, FIB_MAC_SET, FIB_MAC_DELETE, FIB_FLOOD_ADD };

struct fib_repair {
	enum fib_op op;
	struct ip_route route;	   /* of a route */
	const uint32_t *ifindexes; /* FIB_ROUTE_SET: of its next hops */
	bool onlink;
	struct evpn_mac mac; /* of a MAC */
	uint64_t since;	     /* when it was found first */
	unsigned seen;	     /* in how many looks */
};

struct fib_repairs {
	struct arena *arena;
	struct fib_repair *v;
	size_t n, cap;
};

/* What zebra means for one destination. */
struct fib_want {
	bool known;   /* zebra has a route of BGP's that it chose */
	bool settled; /* and says that it is in the kernel, and nothing is on its way */
	struct ip_route route;
	uint32_t *ifindexes;
	bool onlink;
};

/* The entry that counts among the documents of `show ip route vrf all P json`, for the table. */
void fib_want_of(const json_t *answer, uint32_t table, struct arena *arena, struct fib_want *ret);

/* have: the kernel's BGP route to that destination, or NULL. Adds at most one repair. */
void fib_diff_route(const struct fib_want *want, const struct ip_route *have, struct fib_repairs *out);

/* FDB entries of our VXLAN devices; both lists sorted by evpn_mac_cmp, once each. */
struct fib_macs {
	const uint32_t *vnis; /* sorted: whose devices are there */
	size_t n_vnis;
	const struct evpn_mac *learned; /* the device's, learned from outside */
	size_t n_learned;
	const struct evpn_mac *bridge; /* the bridge's part of these; no vtep */
	size_t n_bridge;
	const struct evpn_mac *fixed; /* permanent ones: flood lists (mac all zero), and what the file says */
	size_t n_fixed;
};
void fib_diff_macs(const struct evpn_macs *want, const struct fib_macs *have, struct fib_repairs *out);

/*
 * found: of this look. before: what the last one left. Fills `due` with what has lasted, and `left` with the others, in
 * left's arena.
 */
void fib_confirm(const struct fib_repairs *before, const struct fib_repairs *found, uint64_t now_usec,
	struct fib_repairs *due, struct fib_repairs *left);

/* "route 10.1.0.0/16 is put back", for the log. */
void fib_repair_print(const struct fib_repair *repair, struct buf *out);
