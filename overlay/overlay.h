/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The overlay: bridges, VXLAN devices, FDB, addresses, routes and sysctls that a config means, and the nft tables that
 * guard its VXLAN port, clamp TCP MSS and watch for packets that are too big.
 *
 *   desired.c        config + facts -> struct kernel_model                           pure
 *   overlay_check.c  the overlay's own rules, with file:line:col                      pure
 *   overlay_plan.c   wanted and observed model -> steps                               pure
 *   *_render.c       config + facts -> struct nft_model                              pure
 *   netlink.c, ...   observe and apply                                                edge
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct config;
struct diag;
struct facts;
struct kernel_model;
struct nexthop;
struct nft_model;
struct plan;
struct remote;
struct subsystem;

void overlay_check(const struct config *cfg, struct diag *diag);
/* What a right file asks of a kernel that lacks it: conflicts. cfg NULL asks nothing. */
void overlay_check_facts(const struct config *cfg, const struct facts *facts, struct plan *plan);

/* Fills m (an empty model with an arena) and seals it. cfg NULL: stays empty. */
void overlay_desired(const struct config *cfg, const struct facts *facts, struct kernel_model *m);

struct segment;
/* Bridged, and its remotes are learned by EVPN. And: ARP and neighbor discovery for hosts behind them are answered
 * here. */
bool overlay_is_evpn(const struct config *cfg, const struct segment *seg);
bool overlay_suppresses(const struct config *cfg, const struct segment *seg);

enum overlay_op {
	OP_SYSCTL_SET,
	OP_LINK_CREATE,
	OP_LINK_CHANGE, /* `change` says which attributes */
	OP_LINK_DELETE,
	OP_ADDR_ADD,
	OP_ADDR_DELETE,
	OP_FDB_ADD, /* for a unicast MAC: add or replace */
	OP_FDB_DELETE,
	OP_ROUTE_REPLACE,
	OP_ROUTE_DELETE,
};

/* Payload of a step of the overlay subsystem: exactly one object is set, by op. */
struct overlay_step {
	enum overlay_op op;
	unsigned change; /* OP_LINK_CHANGE, OP_LINK_CREATE: LA_* */
	const struct link *link;
	const struct if_addr *addr;
	const struct fdb *fdb;
	const struct ip_route *route;
	const struct sysctl *sysctl;
	uint32_t ifindex; /* of link, or of the object's link, where known; 0: by name */
};

/* Adds the steps from have to want; both sealed, and both outlive the plan. Conflicts where somebody else's object is
 * in the way. */
void overlay_plan(const struct kernel_model *want, const struct kernel_model *have, struct plan *plan);

/* Names of our devices for a VNI: "vx10010", "br10010". */
void overlay_vxlan_name(uint32_t vni, char ret[16]);
void overlay_bridge_name(uint32_t vni, char ret[16]);
/* Of a tenant's VRF: "vrf-training". False if the tenant's name is too long for it. */
bool overlay_vrf_name(const char *tenant, char ret[16]);

/*
 * Next hops of the route to a remote's vtep, weighted by rate: of its lines in service those that are not dead (all,
 * where none is left), and of these those of the highest priority. 0: no route, because no line is in service or the
 * vtep is on-link. ret has ROUTE_MAX_NEXTHOPS (model.h).
 */
size_t overlay_nexthops(
	const struct config *cfg, const struct facts *facts, const struct remote *remote, struct nexthop *ret);
/* Can several lines of the remote carry at once, whatever is dead? */
bool overlay_has_choice(const struct config *cfg, const struct remote *remote);

/* nft tables of the overlay. Add to m; the caller seals. cfg NULL adds nothing. */
void guard_render(const struct config *cfg, struct nft_model *m);
void mss_render(const struct config *cfg, const struct facts *facts, struct nft_model *m);
void spread_render(const struct config *cfg, struct nft_model *m);
void bridge_render(const struct config *cfg, const struct facts *facts, struct nft_model *m);

extern const struct subsystem overlay_subsystem;
