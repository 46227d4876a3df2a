/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a config calls the ends of a flow and the rule that decided it. Pure.
 *
 * The kernel's connection tracking knows addresses, and not the interfaces that a flow came by. So the first packet of
 * each flow is labelled with the names of its two interfaces (audit_render.c), and only where there is no label the
 * addresses have to say it: what they cannot tell apart, because two tenants use the same, has no name then.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gateway/audit/ct_event.h"
#include "gateway/base/addr.h"

struct arena;
struct config;

/* Where one end of a flow is; NULL: not known, or none. */
struct audit_place {
	const char *tenant, *segment, *line;
	const char *interface; /* the kernel's */
};

/* Of one config. */
struct audit_names;

struct audit_names *audit_names_new(const struct config *cfg); /* keeps nothing of cfg; NULL cfg: knows nothing */
void audit_names_free(struct audit_names *names);

/* Each NULL if there is none; lives as long as names. */
const struct audit_place *audit_names_at_address(
	const struct audit_names *names, uint8_t family, const uint8_t address[16]);
const struct audit_place *audit_names_at_interface(const struct audit_names *names, const char *interface);
const struct audit_place *audit_names_at_label(const struct audit_names *names, uint64_t label);
const char *audit_names_rule(const struct audit_names *names, uint32_t rule);
/* All places, for tables by place. */
const struct audit_place *audit_names_places(const struct audit_names *names, size_t *ret_n);

/* --- labels: two numbers of 48 bits in the 128 of a conntrack label --- */

enum { AUDIT_LABEL_BITS = 48, AUDIT_LABEL_OUT = 64 /* the first bit of the second number */ };

/* The number of an interface: of its name alone, so that it is the same after any change of the config; never 0. */
uint64_t audit_label_of(const char *interface);
/* Both of a flow; 0: none. */
void audit_label_read(const uint8_t label[CT_LABEL_LEN], uint64_t *ret_in, uint64_t *ret_out);

/* Calls for each interface that the config names: what audit_render.c labels. */
void audit_each_interface(const struct config *cfg, void (*fn)(const struct audit_place *place, void *arg), void *arg);
