/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See policy_quick.h. */
#include "gateway/filter/policy_quick.h"

#include "config/config.h"
#include "gateway/base/arena.h"
#include "gateway/base/cleanup.h"
#include "gateway/engine/plan.h"
#include "gateway/engine/txn.h"
#include "gateway/nft/nft.h"
#include "gateway/nft/nft_kernel.h"
#include "gateway/nft/nft_memory.h"
#include "gateway/policy/policy_delta.h"
#include "gateway/policy/policy_render.h"

enum { FAMILIES = 2, STEPS = FAMILIES };

static const struct nft_table table = {.family = "inet", .name = NFT_TABLE_POLICY};

struct work {
	struct nft_set sets[FAMILIES];
	struct nft_step payloads[STEPS];
	struct step steps[STEPS];
	const struct step *order[STEPS];
	size_t n;
};

static void add_step(struct work *w, size_t f, const struct nft_elem *v, size_t n)
{
	if (n == 0)
		return;
	w->payloads[w->n] =
		(struct nft_step){.op = NFT_ADD_ELEMS, .table = &table, .set = &w->sets[f], .elems = v, .n_elems = n};
	w->steps[w->n] = (struct step){.payload = &w->payloads[w->n]};
	w->order[w->n] = &w->steps[w->n];
	w->n++;
}

/* One transaction. Where something is said of the same addresses already, it fails, and the loop does it. */
static bool run(struct work *w, const struct policy_delta delta[FAMILIES], uint32_t before)
{
	struct txn txn = {0};
	uint32_t now;
	int r;

	for (size_t f = 0; f < FAMILIES; f++)
		add_step(w, f, delta[f].over, delta[f].n_over);
	if (w->n == 0)
		return true;
	nft_monitor_listen(false);
	r = nft_apply_elems(&txn, w->order, w->n);
	nft_monitor_listen(true);
	if (r == 0 && nft_generation(&now) == 0 && now == before + 1)
		nft_memory_moved(before, now);
	else
		nft_memory_forget();
	return r == 0;
}

bool policy_quick(const struct config *cfg, const struct facts *facts, const struct ip_prefix *changed, size_t n)
{
	_cleanup_(arena_freep) struct arena *arena = arena_new();
	struct nft_set maps[FAMILIES] = {{.name = "class4"}, {.name = "class6"}};
	struct work w = {
		.sets = {{.name = "recent4", .spec = POLICY_CLASS4}, {.name = "recent6", .spec = POLICY_CLASS6}}};
	struct policy_delta delta[FAMILIES];
	const struct nft_set *have[FAMILIES] = {NULL, NULL};
	uint32_t generation;

	if (!cfg || !cfg->policy || nft_generation(&generation) < 0)
		return false;
	for (size_t f = 0; f < FAMILIES; f++)
		if (nft_memory_look(&maps[f], &table, generation))
			have[f] = &maps[f];
	return (have[0] || have[1]) &&
		policy_delta_make(policy_model_new(cfg, facts, arena), changed, n, have, arena, delta) &&
		run(&w, delta, generation);
}
