/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the two files that render the policy share. Pure. */
#pragma once

#include "gateway/nft/nft.h"
#include "gateway/policy/policy_compile.h"
#include "gateway/policy/policy_render.h"

struct rendering {
	struct nft_model *m;
	struct nft_table *t;
	struct policy_compiled c;
	unsigned layout;   /* of the runs: see policy_layout.c */
	uint64_t identity; /* hash of all that was added, but for the epoch */
	/* Chains whose rules have the epoch in them: it is known in the end. */
	struct nft_chain *accepted, *denied, *refused, *hooks[POLICY_HOOKS];
};

/* A text that the identity depends on. */
void rendering_note(struct rendering *r, const char *text);
/* As nft.h has them, noted in the identity. */
struct nft_chain *rendering_chain(struct rendering *r, const char *name);
void rendering_rule(struct rendering *r, struct nft_chain *c, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
struct nft_set *rendering_set(struct rendering *r, const char *name, const char *spec, const char *object);
void rendering_elem(struct rendering *r, struct nft_set *s, const void *key, size_t len, const void *key_end,
	const char *data, const char *text);
/* Tells the record of a denied packet: so many a second, so that a flood of them costs little. */
void rendering_log(struct rendering *r, struct nft_chain *c, const char *verdict);

/* Does the gateway itself take only what a rule accepts? */
bool policy_is_closed(const struct policy *policy);
const char *policy_rate_unit(const struct event_rate *rate); /* "second" */
const char *policy_hook_name(enum policy_hook hook);	     /* "forward" */

/* policy_layout.c: before any run is named. */
void policy_layout(struct rendering *r);

/* policy_input.c: the chain slow_input, and what it leads to. */
void policy_input_slow(struct rendering *r, const struct config *cfg);

/* policy_base.c. In this order. */
void policy_base_ends(struct rendering *r);
void policy_base_otherwise(struct rendering *r, enum policy_hook hook);
void policy_base_hook(struct rendering *r, const struct config *cfg, enum policy_hook hook);
void policy_base_zones(struct rendering *r, const struct config *cfg);
void policy_base_epoch(struct rendering *r);
