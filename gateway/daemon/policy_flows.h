/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Live flows against a policy, from the kernel's connection tracking. Edge.
 *
 * The kernel looks a flow up again by its next packet from who began it. What only answers goes on until then; so after
 * a change of the policy all flows are looked at here too, and what is denied ends.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct config;
struct facts;

struct policy_cut {
	uint64_t flows;	  /* alive, and accepted now */
	uint64_t denied;  /* of these: the policy of cfg would not accept them */
	uint64_t unknown; /* of these: where they come from or go to is not to be seen */
	json_t *named; /* some that are denied: {"flow": "tcp 10.1.0.1:5000 -> ...", "verdict": "rule 10 drops it"} */
};

/* What a commit of cfg would cut. 0 or -errno; the caller owns named. */
int policy_flows_preview(const struct config *cfg, const struct facts *facts, struct policy_cut *ret);

/*
 * Denies what the policy of cfg denies, of the flows that are not of its epoch, or of all: both directions, from now
 * on. The number of flows, or -errno.
 */
int policy_flows_sweep(const struct config *cfg, const struct facts *facts, uint32_t epoch, bool all);
