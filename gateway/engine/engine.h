/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The loop: check, observe, plan, apply, observe and plan again. VERIFIED MEANS THE SECOND PLAN IS EMPTY.
 * Commit, boot, roll-back, drift and events are this one loop with different reasons.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "gateway/engine/facts.h"
#include "gateway/engine/plan.h"

struct arena;
struct buf;
struct config;
struct diag;
struct subsystem;

struct engine {
	const struct subsystem *const *subsystems;
	size_t n_subsystems;
	struct facts facts;
	const struct config *running; /* NULL before the first commit; owned through running_arena */
	struct arena *running_arena;
	/*
	 * What the look that verified last has seen, one per subsystem, kept while no event says that anything changed:
	 * the next commit may plan from it. That is only a first plan: what verifies is always a look of its own.
	 */
	void **seen;
	bool undisturbed;
	/* How it stands, for `show status`. */
	bool converged;	    /* the last look found an empty plan */
	bool lenient;	    /* a boot: a prefix file that is no good is warned of, what was good last counts */
	bool facts_changed; /* set by who changed a fact: the next turn of the reconciler adapts, it repairs no drift */
	uint64_t n_commits, n_repairs, n_adaptations;
	time_t last_commit, last_repair;
	char last_repair_text[256]; /* first step of the last repair */
	uint64_t n_same_repair;	    /* how often in a row it was this one */
	char *trouble;		    /* NULL, or what could not be made so, a line per object */
	/* May be NULL: told of each commit's plan before it runs, or is refused for its conflicts. */
	void (*on_plan)(void *arg, const struct plan *plan);
	void *on_plan_arg;
};

enum commit_result {
	COMMIT_OK,	    /* applied and verified */
	COMMIT_NOTHING,	    /* the first plan was empty: nothing touched */
	COMMIT_REFUSED,	    /* conflicts or a failed observation: nothing touched */
	COMMIT_ROLLED_BACK, /* a step failed; the previous config is back and verified */
	COMMIT_BROKEN,	    /* a step failed and the previous config could not be restored either: see engine.trouble */
};

/* "applied", "nothing", "refused", "rolled-back", "broken". */
const char *commit_result_name(enum commit_result result);

void engine_init(struct engine *e, const struct subsystem *const *subsystems, size_t n);
void engine_free(struct engine *e);

/* Something may have changed in the kernel: what was seen is not used any more. */
void engine_disturb(struct engine *e);

/* Runs every subsystem's check. */
void engine_check(const struct engine *e, const struct config *cfg, struct diag *diag);

/* Observes and plans; nothing is changed. 0 or -errno (then reason says which subsystem). cfg NULL: take all down. */
int engine_plan(struct engine *e, const struct config *cfg, struct plan *plan, struct buf *reason);

/*
 * Makes cfg the running config. Takes over `arena` (which holds cfg) if the result is OK or NOTHING, else the caller
 * still owns it. `report` gets what was done or what went wrong, in words.
 */
enum commit_result engine_commit(struct engine *e, const struct config *cfg, struct arena *arena, struct buf *report);

/*
 * Names cfg as the config that runs already (a restart), without a look: a failing commit then comes back to it.
 * Takes over `arena`.
 */
void engine_adopt(struct engine *e, const struct config *cfg, struct arena *arena);

/* Takes everything of ours out of the kernel. */
enum commit_result engine_teardown(struct engine *e, struct buf *report);

/*
 * The reconciler's turn: plan for the running config and, if that is not empty, repair and report (log once). An object
 * that cannot be made so, or that has something else in its way, does not keep the others from being repaired.
 * Returns the number of steps done, 0 if converged, -errno if it could not; trouble is logged when it changes.
 */
int engine_reconcile(struct engine *e);
