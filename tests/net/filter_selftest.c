/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The nft subsystem as the engine calls it, with the tables that a config really means; driven by test_filter.py in a
 * namespace of its own:
 *
 *   filter_selftest apply FILE | plan FILE | show FILE | down
 */
/* LINK: gateway/filter/nft_desired.c gateway/filter/nft_show.c gateway/filter/policy_show.c gateway/filter/nft_subsystem.c gateway/nft/nft_model.c gateway/nft/nft_memory.c gateway/nft/nft_plan.c gateway/nft/nft_change.c gateway/nft/nft_parse.c gateway/nft/nft_observe.c gateway/nft/nft_apply.c gateway/nft/nft_elems.c gateway/nft/nft_monitor.c gateway/engine/plan.c gateway/engine/txn.c gateway/engine/facts.c gateway/policy/policy_base.c gateway/policy/policy_input.c gateway/policy/protect_render.c routing/session.c config/preset.c gateway/policy/policy_keys.c gateway/policy/policy_layout.c gateway/policy/policy_render.c gateway/policy/policy_check.c gateway/policy/policy_class.c gateway/policy/policy_compile.c gateway/policy/policy_cover.c gateway/policy/policy_eval.c gateway/policy/policy_lookup.c gateway/policy/policy_model.c gateway/policy/policy_peers.c gateway/policy/policy_place.c gateway/policy/policy_table.c config/hint.c gateway/audit/audit_names.c gateway/audit/audit_render.c overlay/guard_render.c overlay/mss_render.c overlay/spread_render.c overlay/bridge_render.c overlay/inspect_render.c overlay/snoop_render.c overlay/toobig_render.c overlay/mtu.c overlay/desired.c overlay/model.c config/config.c config/decode.c config/diag.c config/schema.c config/types.c config/types_bgp.c config/types_net.c config/types_policy.c config/endpoint.c config/types_text.c config/text.c config/yaml.c */
/* LIBS: libnftables libmnl jansson libfyaml */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "config/diag.h"
#include "gateway/base/arena.h"
#include "gateway/base/buf.h"
#include "gateway/base/cleanup.h"
#include "gateway/base/fs.h"
#include "gateway/base/str.h"
#include "gateway/engine/facts.h"
#include "gateway/engine/plan.h"
#include "gateway/engine/subsystem.h"
#include "gateway/engine/txn.h"
#include "gateway/nft/nft_subsystem.h"

static const struct config *load(const char *path, struct arena *arena)
{
	_cleanup_free_ char *text = NULL;
	const struct config *cfg;
	struct diag diag;
	size_t len;

	if (fs_read(path, CONFIG_FILE_MAX, &text, &len) < 0)
		return NULL;
	diag_init(&diag, path);
	cfg = config_parse(text, len, arena, &diag);
	if (!cfg) {
		struct buf out = {0};

		diag_print(&diag, &out);
		(void)fputs(buf_str(&out), stderr);
		buf_free(&out);
	}
	diag_free(&diag);
	return cfg;
}

static int apply_plan(const struct plan *plan)
{
	_cleanup_free_ const struct step **steps = reallocarray(NULL, plan->n_steps + 1, sizeof(void *));
	struct txn txn = {0};

	if (plan->n_conflicts > 0)
		return 1;
	for (size_t i = 0; i < plan->n_steps; i++)
		steps[i] = &plan->steps[i];
	if (plan->n_steps == 0 || nft_subsystem.apply(&txn, steps, plan->n_steps) == 0)
		return 0;
	(void)printf("failed: %s: %s\n", txn.failed->object, txn.reason);
	return 1;
}

static int turn(const struct config *cfg, const struct facts *facts, bool apply)
{
	static const struct subsystem *const order[] = {&nft_subsystem};
	struct buf out = {0};
	struct plan plan;
	void *observed;
	int result = 1;

	if (nft_subsystem.observe(&observed) < 0)
		return 1;
	plan_init(&plan);
	plan.subsystem = &nft_subsystem;
	plan_own(&plan, observed, nft_subsystem.observed_free);
	if (nft_subsystem.plan(cfg, facts, observed, &plan) == 0) {
		plan_sort(&plan, order, 1);
		plan_print(&plan, &out);
		(void)fputs(buf_str(&out), stdout);
		result = apply ? apply_plan(&plan) : 0;
	}
	buf_free(&out);
	plan_free(&plan);
	return result;
}

static int show(const struct config *cfg, const struct facts *facts)
{
	json_t *answer;

	if (nft_subsystem.show("overlay", cfg, facts, &answer) != -ENOENT ||
		nft_subsystem.show("filter", cfg, facts, &answer) < 0)
		return 1;
	(void)json_dumpf(answer, stdout, JSON_INDENT(1));
	json_decref(answer);
	return 0;
}

int main(int argc, char **argv)
{
	_cleanup_(arena_freep) struct arena *arena = arena_new();
	const char *cmd = argc > 1 ? argv[1] : "";
	const struct config *cfg = argc > 2 ? load(argv[2], arena) : NULL;
	struct facts facts;
	int result;

	if (argc > 2 && !cfg)
		return 1;
	facts_init(&facts);
	if (str_eq(cmd, "show"))
		result = show(cfg, &facts);
	else
		result = turn(cfg, &facts, !str_eq(cmd, "plan"));
	facts_free(&facts);
	return result;
}
