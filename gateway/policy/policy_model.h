/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A policy with its names resolved: what its endpoints are in the kernel (interface names, addresses), and its services
 * as numbers. Pure; both the compiler (policy_compile.h) and the evaluator (policy_eval.h) begin here.
 *
 * Of what is routed in a tenant's VRF, the interface that it came by is the VRF; the device itself is the one "behind"
 * it (meta sdifname). A bridged frame between members of a segment comes by the bridge, in a tenant too.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/config.h"
#include "config/endpoint.h"

struct arena;
struct facts;

/* Services are one dimension: protocol << 16 | port, or type of ICMP, or 0. */
enum { SERVICE_MAX = 0xffffff };
struct policy_span {
	uint32_t low, high;
};

/* A place: which interfaces it is. Devices are numbers from 1, see policy_model.devices. */
struct policy_zone {
	const char *what;	     /* "segment gpu" */
	uint32_t *in, *behind, *out; /* what comes by it: by name, behind its VRF; and what leaves by it */
	size_t n_in, n_behind, n_out, cap_in, cap_behind, cap_out;
};

/* Addresses: what the config lists, and what a file has. */
struct policy_addrs {
	const char *what; /* "group storage", "10.0.0.0/8" */
	const struct ip_prefix *own, *file;
	size_t n_own, n_file;
};

enum policy_end_kind { END_ANY, END_GATEWAY, END_ZONE, END_ADDRS };
struct policy_end {
	enum policy_end_kind kind;
	uint32_t index; /* of zones, addrs */
};

struct policy_rule_of {
	const struct access_rule *rule;
	const struct policy_end *from, *to; /* at least one each; none of them: it can never match */
	size_t n_from, n_to;
	const struct policy_span *spans; /* sorted, apart from each other */
	size_t n_spans;
	const struct access_schedule *schedule; /* NULL: always */
};

struct policy_device {
	const char *name;
	uint32_t domain;	/* as interface that a packet leaves by, or came by; 0: the default domain */
	bool is_vrf, is_bridge; /* a tenant's VRF; a bridged segment's bridge */
};

struct policy_peer;

struct policy_model {
	struct arena *arena;
	const struct facts *facts;
	const struct policy *policy;
	struct policy_device *devices; /* [0] stands for all that the policy does not know */
	size_t n_devices, cap_devices;
	struct policy_zone *zones;
	size_t n_zones, cap_zones;
	struct policy_addrs *addrs;
	size_t n_addrs, cap_addrs;
	struct policy_rule_of *rules;
	size_t n_rules;
	const struct policy_peer *peers; /* see policy_peers.h */
	size_t n_peers;
};

/* cfg has a policy, and has passed policy_rules_check(). In arena; points into cfg and facts. */
struct policy_model *policy_model_new(const struct config *cfg, const struct facts *facts, struct arena *arena);

/* What a text is, as an endpoint of a rule would be; false: it leads nowhere. May add to zones, addrs and devices. */
bool policy_model_end(struct policy_model *m, const struct config *cfg, const char *text, struct policy_end *ret);

/* 0: not known, and so of the default domain. */
uint32_t policy_model_device(const struct policy_model *m, const char *name);

/* --- for the check too --- */

/*
 * Which kinds of things have this name: bits by enum endpoint_kind. A kind that is said in the endpoint is the only
 * one.
 */
unsigned policy_kinds_of(const struct config *cfg, const struct endpoint *e);
/* The spans of a rule's services, in arena: sorted and united. Names that lead nowhere are left out. */
const struct policy_span *policy_spans_of(
	const struct policy *policy, const struct access_rule *rule, struct arena *arena, size_t *ret_n);
