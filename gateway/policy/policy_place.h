/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where an address is, as far as the config says: which interface a packet of it comes by, or leaves by. For questions
 * and previews: the kernel itself decides by the interfaces. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "gateway/policy/policy_compile.h"

struct policy_places;

/* Makes the devices of interfaces and lines known to the model. In the model's arena. */
struct policy_places *policy_places_new(const struct config *cfg, struct policy_model *m);

struct policy_place {
	uint32_t device; /* 0: not known */
	bool own;	 /* one of the gateway's addresses */
};

/* domain: of a tenant, as in struct policy_device; 0: the default domain. */
struct policy_place policy_place_of(const struct policy_places *p, uint32_t domain, const struct ip_addr *addr);
/* Some address of a device that is not the gateway's, of this family; false: none is known. */
bool policy_place_example(const struct policy_places *p, uint32_t device, uint8_t family, struct ip_addr *ret);

/* Fills in hook, in, behind and out of a packet by its two places. */
void policy_place_packet(
	const struct policy_model *m, struct policy_place from, struct policy_place to, struct policy_packet *p);

/* The conntrack zones of the domains, by number; 0 of the default one. Tenants may use the same addresses. In arena. */
const uint32_t *policy_zones(const struct config *cfg, struct arena *arena);
