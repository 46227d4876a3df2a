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

enum { FAMILIES = 2, STEPS = 2 * FAMILIES };

static const struct nft_table table = {.family = "inet", .name = NFT_TABLE_POLICY};

struct work {
	struct nft_set sets[FAMILIES];
	struct nft_step payloads[STEPS];
	struct step steps[STEPS];
	const struct step *order[STEPS];
	size_t n;
};

static void add_step(struct work *w, enum nft_op op, size_t f, const struct nft_elem *v, size_t n)
{
	if (n == 0)
		return;
	w->payloads[w->n] = (struct nft_step){.op = op, .table = &table, .set = &w->sets[f], .elems = v, .n_elems = n};
	w->steps[w->n] = (struct step){.payload = &w->payloads[w->n]};
	w->order[w->n] = &w->steps[w->n];
	w->n++;
}

/* One transaction; what goes stands before what comes, as ranges must not meet. */
static bool run(struct work *w, const struct policy_delta delta[FAMILIES], uint32_t before)
{
	struct txn txn = {0};
	uint32_t now;
	int r;

	for (size_t f = 0; f < FAMILIES; f++) {
		add_step(w, NFT_DEL_ELEMS, f, delta[f].less, delta[f].n_less);
		add_step(w, NFT_ADD_ELEMS, f, delta[f].more, delta[f].n_more);
	}
	if (w->n == 0)
		return true;
	nft_monitor_listen(false);
	r = nft_apply_elems(&txn, w->order, w->n);
	nft_monitor_listen(true);
	if (r < 0 || nft_generation(&now) < 0 || now != before + 1) {
		nft_memory_forget();
		return r == 0;
	}
	for (size_t f = 0; f < FAMILIES; f++)
		nft_memory_patch(&table, &w->sets[f], delta[f].less, delta[f].n_less, delta[f].more, delta[f].n_more);
	nft_memory_moved(before, now);
	return true;
}

bool policy_quick(const struct config *cfg, const struct facts *facts, const struct ip_prefix *changed, size_t n)
{
	_cleanup_(arena_freep) struct arena *arena = arena_new();
	struct work w = {
		.sets = {{.name = "class4", .spec = POLICY_CLASS4}, {.name = "class6", .spec = POLICY_CLASS6}}};
	struct policy_delta delta[FAMILIES];
	const struct nft_set *have[FAMILIES] = {NULL, NULL};
	uint32_t generation;

	if (!cfg || !cfg->policy || nft_generation(&generation) < 0)
		return false;
	for (size_t f = 0; f < FAMILIES; f++)
		if (nft_memory_look(&w.sets[f], &table, generation))
			have[f] = &w.sets[f];
	return (have[0] || have[1]) &&
		policy_delta_make(policy_model_new(cfg, facts, arena), changed, n, have, arena, delta) &&
		run(&w, delta, generation);
}
