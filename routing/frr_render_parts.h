/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of the rendering of bgpd's configuration share. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "routing/frr_conf.h"
#include "routing/session.h"

struct facts;
struct frr_node;

/* The address families of a session, as FRR writes them. `suffix` ends the names of what is generated for one. */
struct frr_family {
	unsigned carries; /* CARRIES_* */
	uint8_t family;	  /* AF_*; 0: EVPN */
	const char *node; /* "ipv4 unicast" */
	const char *ip;	  /* "ip" or "ipv6": the first word of a prefix list */
	const char *suffix;
};

enum { FRR_N_UNICAST = 2, FRR_N_FAMILIES = 3 };
extern const struct frr_family frr_families[FRR_N_FAMILIES]; /* the unicast ones first */

struct render {
	const struct config *cfg;
	const struct facts *facts;
	struct frr_conf *conf;
	struct sessions sessions;
	struct frr_conf seqs; /* numbers that frr_seq() gave away: "LIST NUMBER", and the entry as its object */
};

void frr_render_init(struct render *r, const struct config *cfg, const struct facts *facts, struct frr_conf *conf);

/* Our identifier: the operator's, else the vtep's IPv4 address; unset where there is neither. */
struct ip_addr frr_router_id(const struct config *cfg);

/* Our own vtep of a family; unset if there is none. */
struct ip_addr frr_own_vtep(const struct config *cfg, uint8_t family);

/*
 * A number from 1 to max for an entry of a list in which order means nothing. It comes from the entry itself, so that
 * one that comes or goes moves no other.
 */
#define FRR_SEQ_MAX 4294967294u /* of prefix and community lists */
uint32_t frr_seq(struct render *r, const char *list, const char *entry, uint32_t max);

/* A prefix list entry `permit ADDR/32` or /128 in the list's family. */
void frr_permit_host(
	struct render *r, const char *object, const char *ip, const char *list, const struct ip_addr *addr);

/* Do the timers of its BFD session come from a profile? Where no file can know the two addresses. */
bool frr_bfd_has_profile(const struct session *s);

void frr_add_router_id(struct render *r, struct frr_node *bgp, const char *object);
void frr_add_max_paths(struct render *r, struct frr_node *family, const char *object);

/* route-maps of all sessions, policies and the lists they refer to (frr_render_policy.c) */
void frr_render_policies(struct render *r);
/* The route-maps of a session for one family. */
void frr_render_session_maps(struct render *r, const struct session *s, const struct frr_family *f);

/* EVPN (frr_render_evpn.c). Is there any? */
bool frr_has_evpn(const struct render *r);
void frr_render_evpn_maps(struct render *r, const struct session *s);
/* Within `address-family l2vpn evpn` of the default domain. */
void frr_render_evpn_family(struct render *r, struct frr_node *family);
/* The tenants' own `router bgp ... vrf ...`. */
void frr_render_tenants(struct render *r);
/* The VNI of the default domain's type 5 routes, and of the tenants' ones, for zebra. */
void frr_render_l3_vnis(struct render *r);
