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
	/* How it stands, for `show status`. */
	bool converged; /* the last look found an empty plan */
	uint64_t n_commits, n_repairs;
	time_t last_commit, last_repair;
	char last_repair_text[256]; /* first step of the last repair */
	char *trouble;		    /* NULL, or what could not be made so, object by object */
};

enum commit_result {
	COMMIT_OK,	    /* applied and verified */
	COMMIT_NOTHING,	    /* the first plan was empty: nothing touched */
	COMMIT_REFUSED,	    /* conflicts or a failed observation: nothing touched */
	COMMIT_ROLLED_BACK, /* a step failed; the previous config is back and verified */
	COMMIT_BROKEN,	    /* a step failed and the previous config could not be restored either: see engine.trouble */
};

void engine_init(struct engine *e, const struct subsystem *const *subsystems, size_t n);
void engine_free(struct engine *e);

/* Runs every subsystem's check. */
void engine_check(const struct engine *e, const struct config *cfg, struct diag *diag);

/* Observes and plans; nothing is changed. 0 or -errno (then reason says which subsystem). cfg NULL: take all down. */
int engine_plan(struct engine *e, const struct config *cfg, struct plan *plan, struct buf *reason);

/*
 * Makes cfg the running config. Takes over `arena` (which holds cfg) if the result is OK or NOTHING, else the caller
 * still owns it. `report` gets what was done or what went wrong, in words.
 */
enum commit_result engine_commit(struct engine *e, const struct config *cfg, struct arena *arena, struct buf *report);

/* Takes everything of ours out of the kernel. */
enum commit_result engine_teardown(struct engine *e, struct buf *report);

/*
 * The reconciler's turn: plan for the running config and, if that is not empty, repair and report (log once).
 * Returns the number of steps done, 0 if converged, -errno if it could not.
 */
int engine_reconcile(struct engine *e);
