/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See policy_show.h. */
#include "gateway/filter/policy_show.h"

#include <stdio.h>
#include <stdlib.h>

#include "config/config.h"
#include "gateway/base/arena.h"
#include "gateway/base/cleanup.h"
#include "gateway/base/str.h"
#include "gateway/nft/nft.h"
#include "gateway/policy/policy_compile.h"
#include "gateway/policy/policy_render.h"
#include "gateway/policy/protect_render.h"

/* Of flows: a rule is asked once for each, and once more after a change of the policy. */
static json_int_t flows_of(const struct nft_table *t, const char *counter)
{
	const struct nft_counter *c = t ? nft_table_counter(t, counter) : NULL;

	return c ? (json_int_t)c->packets : 0;
}

static const char *state_of(const struct policy_compiled *c, size_t rule, json_int_t flows)
{
	if (!c->can_match[rule])
		return "can never match";
	if (!c->decides[rule])
		return "shadowed";
	return flows > 0 ? "used" : "unused";
}

static json_t *rule_json(const struct policy_compiled *c, size_t i, const struct nft_table *t)
{
	static const char *const actions[] = {"accept", "drop", "reject"};
	const struct access_rule *rule = c->model->rules[i].rule;
	char counter[32];
	json_int_t flows;

	(void)snprintf(counter, sizeof(counter), POLICY_COUNTER_RULE "%u", rule->seq);
	flows = flows_of(t, counter);
	return json_pack("{s:I, s:s, s:s, s:I, s:s}", "rule", (json_int_t)rule->seq, "name",
		rule->name ? rule->name : "", "action", actions[rule->action], "flows", flows, "state",
		state_of(c, i, flows));
}

/* What the protection dropped: packets. */
static void add_protection(json_t *json, const struct nft_model *have)
{
	static const struct {
		const char *key, *counter;
	} rows[] = {
		{"dropped-forged-source", PROTECT_COUNTER_SPOOFED},
		{"dropped-fragments", PROTECT_COUNTER_FRAGMENT},
		{"dropped-over-source-limits", PROTECT_COUNTER_FLOOD},
		{"dropped-of-blocked-sources", PROTECT_COUNTER_BLOCKED},
	};
	const struct nft_table *t = nft_model_table(have, "inet", NFT_TABLE_PROTECT);

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		json_object_set_new(json, rows[i].key, json_integer(flows_of(t, rows[i].counter)));
}

json_t *policy_show(const struct config *cfg, const struct facts *facts, const struct nft_model *have)
{
	_cleanup_(arena_freep) struct arena *arena = arena_new();
	const struct nft_table *t = nft_model_table(have, "inet", NFT_TABLE_POLICY);
	struct policy_compiled c;
	json_t *rules = json_array(), *json;

	policy_compile_shadows(policy_model_new(cfg, facts, arena), POLICY_WIDE, &c);
	for (size_t i = 0; i < c.model->n_rules; i++)
		json_array_append_new(rules, rule_json(&c, i, t));
	json = json_pack("{s:b, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:o}", "in-force", t != NULL, "default",
		cfg->policy->otherwise == DEFAULT_DROP ? "drop" : "accept", "denied-by-default",
		flows_of(t, POLICY_COUNTER_DEFAULT), "denied-between-domains", flows_of(t, POLICY_COUNTER_BETWEEN),
		"denied-over-limits", flows_of(t, POLICY_COUNTER_LIMITED), "denied-invalid-packets",
		flows_of(t, POLICY_COUNTER_INVALID), "denied-packets-of-cut-flows", flows_of(t, POLICY_COUNTER_CUT),
		"denied-to-the-gateway", flows_of(t, POLICY_COUNTER_OWN), "rules", rules);
	add_protection(json, have);
	return json;
}
