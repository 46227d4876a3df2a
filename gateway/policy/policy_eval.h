/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The evaluator: what becomes of a new flow, rule by rule, as the words of the config say. It knows nothing of classes
 * and look-ups: `fairway policy test` and `plan` ask it, and tests hold the compiled form against it. Pure.
 */
#pragma once

#include "gateway/policy/policy_compile.h"

enum policy_reason {
	POLICY_BY_RULE,
	POLICY_BY_DEFAULT,     /* within one domain no rule decided */
	POLICY_BETWEEN,	       /* two domains, and no rule decided */
	POLICY_INSIDE_SEGMENT, /* it leaves where it came from, and no rule decided */
	POLICY_SENT,	       /* the gateway itself sends it, and no rule decided */
	POLICY_OWN,	       /* it is for the gateway itself, and no rule decided */
	POLICY_PEER,	       /* it is for the gateway itself, of a configured peer: no rule is asked */
};

struct policy_verdict {
	enum policy_reason reason;
	int rule; /* index into the model's rules; -1: none */
	enum access_action action;
};

/* What limits and rates would add is not known here. */
struct policy_verdict policy_eval(const struct policy_model *m, const struct policy_packet *p);

/* The same by the look-ups: for many packets. */
struct policy_verdict policy_decide(const struct policy_compiled *c, const struct policy_packet *p);

/* The verdict in words: "rule 10 (train-to-store) accepts it". */
struct buf;
void policy_verdict_print(const struct policy_model *m, const struct policy_verdict *v, struct buf *out);
