/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The subsystem of all our nft tables; see gateway/nft/nft_subsystem.h. Only ties the parts together. Edge. */
#include "gateway/nft/nft_subsystem.h"

#include <errno.h>

#include "gateway/base/arena.h"
#include "gateway/base/cleanup.h"
#include "gateway/base/str.h"
#include "gateway/engine/plan.h"
#include "gateway/engine/subsystem.h"
#include "config/config.h"
#include "gateway/filter/nft_show.h"
#include "gateway/filter/policy_show.h"
#include "gateway/nft/nft.h"
#include "gateway/nft/nft_kernel.h"
#include "gateway/nft/nft_memory.h"
#include "gateway/policy/policy.h"
#include "gateway/policy/policy_render.h"

/* The model lives in its own arena. */
static struct nft_model *new_model(struct arena *arena)
{
	struct nft_model *m = arena_new_obj(arena, struct nft_model);

	m->arena = arena;
	return m;
}

static void observed_free(void *observed)
{
	const struct nft_model *m = observed;

	if (m) {
		nft_memory_leave(m);
		arena_free(m->arena);
	}
}

/* The other tables follow from what others check. */
static void check(const struct config *cfg, struct diag *diag)
{
	policy_rules_check(cfg, diag);
}

/*
 * An epoch of the policy must not come again while flows of it may be alive, also where the table that had it is gone.
 * This is what the process has seen.
 */
static uint32_t last_epoch;

uint32_t nft_policy_epoch(void)
{
	return last_epoch;
}

static int observe(void **ret_observed)
{
	struct nft_model *m = new_model(arena_new());
	int error = nft_observe(m);

	if (error < 0) {
		observed_free(m);
		return error;
	}
	if (policy_epoch_of(m) > 0)
		last_epoch = policy_epoch_of(m);
	m->last_epoch = last_epoch;
	*ret_observed = m;
	return 0;
}

/* What is wanted lives in the plan's arena: the steps point into it. */
static int plan(const struct config *cfg, const struct facts *facts, const void *observed, struct plan *ret)
{
	struct nft_model *want = new_model(ret->arena);

	want->have = observed;
	nft_desired(cfg, facts, want);
	nft_plan(want, observed, ret);
	return 0;
}

static int show(const char *what, const struct config *cfg, const struct facts *facts, json_t **ret)
{
	_cleanup_(arena_freep) struct arena *arena = NULL;
	bool policy = str_eq(what, "policy");
	struct nft_model *m;
	int error;

	if (!policy && !str_eq(what, "filter"))
		return -ENOENT;
	if (policy && !cfg->policy) {
		*ret = json_pack("{s:b, s:s}", "in-force", 0, "text", "there is no policy: nothing is filtered\n");
		return 0;
	}
	arena = arena_new();
	m = new_model(arena);
	error = policy ? nft_observe_counters(m) : nft_observe(m);
	if (error < 0)
		return error;
	*ret = policy ? policy_show(cfg, facts, m) : nft_show(cfg, m);
	nft_memory_leave(m);
	return 0;
}

const struct subsystem nft_subsystem = {
	.name = "nft",
	.check = check,
	.observe = observe,
	.plan = plan,
	.apply = nft_apply,
	.observed_free = observed_free,
	.show = show,
};
