/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What zebra and bgpd mean the kernel to have, from their JSON, in the shape in which the kernel says it. Pure; foreign
 * text, fuzzed.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "overlay/model.h"

struct arena;
struct buf;

enum { ZEBRA_METRIC = 20 }; /* RTA_PRIORITY of all that zebra installs */

/*
 * The documents of an answer, one after the other, as a list: zebra prints one per VRF. NULL: it is no JSON. The caller
 * owns it.
 */
json_t *frr_documents(const char *text, size_t len);

/* Calls fn for each route entry of `show ip route ... json` (its documents, or one). */
void zebra_walk_routes(const json_t *answer, void (*fn)(const json_t *entry, void *arg), void *arg);

/*
 * The entry as a kernel route: table, dst, metric, next hops that forward, sorted as the model has them, in `arena`.
 * ret_indexes (may be NULL) gets the ifindex of each next hop, ret_onlink whether their gateways are on the link by
 * decree. False: none that the kernel could have.
 */
bool zebra_route(
	const json_t *entry, struct arena *arena, struct ip_route *ret, uint32_t **ret_indexes, bool *ret_onlink);

/* A MAC that EVPN says is behind a vtep; mac all zero: BUM traffic of the VNI goes to it too. */
struct evpn_mac {
	uint32_t vni;
	struct mac_addr mac;
	struct ip_addr vtep;
	bool disputed; /* FRR's parts do not agree yet, or it is held: leave it alone */
};

struct evpn_macs {
	struct arena *arena;
	struct evpn_mac *v; /* sorted by vni, mac, vtep after evpn_macs_seal() */
	size_t n, cap;
	uint32_t *l2_vnis; /* that zebra knows; what it has of an L3 VNI (MACs of routers) it does not list as MACs */
	size_t n_l2_vnis, cap_l2_vnis;
};

int evpn_mac_cmp(const void *a, const void *b); /* vni, mac, vtep */

/* Adds zebra's flood list (`show evpn vni detail json`), and its remote MACs (`show evpn mac vni all json`). */
void zebra_flood(const json_t *answer, struct evpn_macs *macs);
void zebra_macs(const json_t *answer, struct evpn_macs *macs);
/*
 * Sorted and once each. best: bgpd's `show bgp l2vpn evpn route vni all json`, whose best path is right where zebra has
 * another vtep; NULL: zebra's word alone.
 */
void evpn_macs_seal(struct evpn_macs *macs, const json_t *best);
