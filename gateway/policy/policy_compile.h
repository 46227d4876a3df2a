/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A policy compiled into a few look-ups: first match over ten thousand rules is a handful of them. Pure; nothing here
 * knows nftables.
 *
 * Each rule is taken apart into parts of one shape: what its `from` and `to` are matched by, and how its services are.
 * All parts of one shape are one look-up, a run, whose elements are disjoint: the first rule that means a combination
 * has it. Where two rules of different shapes overlap, the later one goes to a later level; runs of one level are
 * disjoint, so their order does not matter, and levels are asked in order. What is not at odds with anything stays in
 * level 0, whatever its place among the rules: so there are as many look-ups as shapes, and more only where general and
 * special rules really alternate.
 *
 * A group that falls into many classes is not multiplied out: it is WIDE, and stands before the look-up as a set.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gateway/policy/policy_class.h"
#include "gateway/policy/policy_model.h"

enum policy_hook { POLICY_FORWARD, POLICY_INPUT, POLICY_OUTPUT, POLICY_HOOKS };

/* What a side of a run is matched by. BEHIND is a device in a VRF, of `from` only. */
enum policy_side { SIDE_ANY, SIDE_DEVICE, SIDE_BEHIND, SIDE_CLASS, SIDE_WIDE };

/* How services are: all; one protocol; a protocol and one port or type; a protocol and a range of ports. */
enum policy_service { SERVICE_ALL, SERVICE_PROTO, SERVICE_PORT, SERVICE_TYPE, SERVICE_RANGE };

struct policy_shape {
	enum policy_hook hook;
	enum policy_side from, to;
	uint32_t wide_from, wide_to; /* sets of policy_model.addrs */
	enum policy_service service;
	uint32_t schedule; /* place in the policy's schedules + 1; 0: always */
};

struct policy_elem {
	uint32_t from, to;  /* device or class; 0: the side is ANY or WIDE */
	uint32_t low, high; /* of services, see policy_span */
	uint32_t rule;	    /* index into policy_model.rules */
};

struct policy_run {
	struct policy_shape shape;
	unsigned level;
	struct policy_elem *elems; /* sorted, disjoint */
	size_t n_elems, cap_elems;
};

/* Where a rule's share of a shape is. */
struct policy_place_of_part {
	uint32_t rule;
	struct policy_shape shape;
	unsigned level;
};

struct policy_compiled {
	struct policy_model *model;
	struct policy_classes classes;
	struct policy_run *runs; /* in the order in which they are to be asked */
	size_t n_runs, cap_runs;
	struct policy_place_of_part *parts;
	size_t n_parts, cap_parts;
	bool *decides; /* NULL: not asked for. For each rule: some element is left to it. Else others before it say all
			  that it says */
	bool *can_match; /* for each rule: it has parts at all */
};

/* A set of addresses of more classes than that is WIDE. */
enum { POLICY_WIDE = 64 };

/* Everything in the model's arena, but for decides. wide: POLICY_WIDE; tests take others. */
void policy_compile(struct policy_model *m, size_t wide, struct policy_compiled *ret);
/* The same with decides, which takes as long again. */
void policy_compile_shadows(struct policy_model *m, size_t wide, struct policy_compiled *ret);

/* A packet as the look-ups see it. */
struct policy_packet {
	enum policy_hook hook;
	uint32_t in, behind, out; /* devices; 0: none that the policy knows. behind: in is its VRF */
	struct ip_addr src, dst;
	uint8_t proto;
	uint16_t port;	      /* destination port, or type of ICMP */
	unsigned day, minute; /* UTC; 0 is Sunday */
};

/* The rule that decides, by the look-ups; -1: none. What the kernel does with the rendered form. */
int policy_lookup(const struct policy_compiled *c, const struct policy_packet *p);

/* A packet's place among the services: see policy_span. */
uint32_t policy_service_number(uint8_t proto, uint16_t port);
/* Is the schedule in force? NULL: always. */
bool policy_schedule_holds(const struct access_schedule *s, unsigned day, unsigned minute);
