/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What FRR says, in the words of the config: JSON in, JSON out. Pure. FRR's JSON is taken as it comes: what it lacks is
 * null or 0 in the answer. The shapes are stable (docs/rpc.md): members are added, not renamed.
 */
#pragma once

#include <jansson.h>
#include <stddef.h>

struct config;
struct ip_route;
struct session;
struct sessions;

/* The address family as FRR calls it in JSON ("ipv4Unicast") and in commands ("ipv4 unicast"); family: enum family. */
const char *shape_afi(int family);
const char *shape_afi_command(int family);

/*
 * `show bgp`. neighbors: `show bgp neighbors json`. counts: of each peer and family the answer to `prefix-counts`,
 * where bgpd keeps what it received: {peer: {"ipv4Unicast": {...}}}. Either may be NULL: not known.
 */
json_t *bgp_shape(
	const struct config *cfg, const struct sessions *sessions, const json_t *neighbors, const json_t *counts);

/* One of the sessions of the above. */
json_t *bgp_session_shape(const struct session *s, const json_t *neighbors, const json_t *counts);

/*
 * `show bgp SESSION`, the prefixes of one family, added to `list`: what the peer sent, what became of it and why, and
 * what it was told. received: `neighbors P received-routes json`, NULL where bgpd does not keep it; table: `show bgp
 * FAMILY json`; advertised: `neighbors P advertised-routes json`.
 */
struct bgp_prefixes {
	const json_t *received, *table, *advertised;
};
void bgp_prefixes_shape(
	const struct config *cfg, const struct session *s, int family, const struct bgp_prefixes *in, json_t *list);

/* `show bfd`. peers: `show bfd peers json`; counters: `show bfd peers counters json`. */
json_t *bfd_shape(const struct config *cfg, const json_t *peers, const json_t *counters);

/*
 * `show routes`. zebra: `show ip route vrf all json` and the same of ipv6, either may be NULL; kernel: all its routes,
 * sorted (model_seal).
 */
json_t *routes_shape(const struct config *cfg, const json_t *ipv4, const json_t *ipv6, const struct ip_route *kernel,
	size_t n_kernel);

/*
 * `show evpn`. vnis: zebra's `show evpn vni detail json`; macs: `show evpn mac vni all json`; neighbors: `show evpn
 * arp-cache vni all json`; routes: bgpd's `show bgp l2vpn evpn json`; suppression: overlay/snoop_show.h, NULL: not
 * known.
 */
struct evpn_answers {
	const json_t *vnis, *macs, *neighbors, *routes, *suppression;
};
json_t *evpn_shape(const struct config *cfg, const struct evpn_answers *in);

/*
 * Adds to each line of `show lines` (overlay_show.h): "bfd", "bgp", "health": "up|degraded|down|disabled", "reason".
 * bfd and bgp as the shapes above gave them; NULL: FRR did not answer.
 */
void lines_shape(const struct config *cfg, const json_t *bgp, const json_t *bfd, json_t *lines);
