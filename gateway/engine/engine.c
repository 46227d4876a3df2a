/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The loop; see engine.h. Everything here is one function, converge(), with two tempers: a commit stops at the first
 * step that fails and goes back; roll-back and repair go on with the objects that have not failed, so that one bad
 * object never holds up the rest.
 */
#include "gateway/engine/engine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gateway/base/arena.h"
#include "gateway/base/buf.h"
#include "gateway/base/cleanup.h"
#include "gateway/base/log.h"
#include "gateway/base/str.h"
#include "gateway/engine/subsystem.h"
#include "gateway/engine/txn.h"

enum {
	MAX_ROUNDS = 3,	   /* some things settle only after a second look */
	MAX_FAILURES = 16, /* objects that may fail in one best-effort run before it gives up */
	SAME_REPAIR = 60,  /* seconds */
	MAX_NAMED = 20,	   /* objects named in one report */
};

const char *commit_result_name(enum commit_result result)
{
	static const char *const names[] = {
		[COMMIT_OK] = "applied",
		[COMMIT_NOTHING] = "nothing",
		[COMMIT_REFUSED] = "refused",
		[COMMIT_ROLLED_BACK] = "rolled-back",
		[COMMIT_BROKEN] = "broken",
	};

	return names[result];
}

void engine_init(struct engine *e, const struct subsystem *const *subsystems, size_t n)
{
	*e = (struct engine){.subsystems = subsystems, .n_subsystems = n};
	e->seen = calloc(n ? n : 1, sizeof(*e->seen));
	if (!e->seen)
		abort();
	facts_init(&e->facts);
}

/* --- looks --- */

static void forget_seen(struct engine *e)
{
	for (size_t i = 0; i < e->n_subsystems; i++) {
		if (e->seen[i])
			e->subsystems[i]->observed_free(e->seen[i]);
		e->seen[i] = NULL;
	}
	e->undisturbed = false;
}

void engine_disturb(struct engine *e)
{
	e->undisturbed = false;
}

/* The look behind an empty plan: no step points into it, and it may serve the next plan. */
static void keep_seen(struct engine *e, struct plan *plan)
{
	forget_seen(e);
	for (size_t i = 0; i < e->n_subsystems; i++)
		e->seen[i] = plan_take_owned(plan, e->subsystems[i]);
	e->undisturbed = true;
}

void engine_free(struct engine *e)
{
	forget_seen(e);
	free(e->seen);
	facts_free(&e->facts);
	arena_free(e->running_arena);
	free(e->trouble);
	*e = (struct engine){0};
}

void engine_adopt(struct engine *e, const struct config *cfg, struct arena *arena)
{
	if (arena != e->running_arena)
		arena_free(e->running_arena);
	e->running = cfg;
	e->running_arena = arena;
}

void engine_check(const struct engine *e, const struct config *cfg, struct diag *diag)
{
	for (size_t i = 0; i < e->n_subsystems; i++)
		e->subsystems[i]->check(cfg, diag);
}

/* Plans from what was seen, if there is that, else from a look. */
static int plan_subsystem(struct engine *e, size_t i, const struct config *cfg, struct plan *plan)
{
	const struct subsystem *s = e->subsystems[i];
	void *observed = e->seen[i];
	int r = observed ? 0 : s->observe(&observed);

	if (r < 0)
		return r;
	e->seen[i] = NULL;
	plan->subsystem = s;
	plan_own(plan, observed, s->observed_free);
	return s->plan(cfg, &e->facts, observed, plan);
}

static int plan_all(struct engine *e, const struct config *cfg, struct plan *plan, struct buf *reason)
{
	for (size_t i = 0; i < e->n_subsystems; i++) {
		int r = plan_subsystem(e, i, cfg, plan);

		if (r < 0) {
			buf_printf(reason, "%s: cannot tell what the kernel has: %s", e->subsystems[i]->name,
				strerror(-r));
			return r;
		}
	}
	plan_sort(plan, e->subsystems, e->n_subsystems);
	return 0;
}

int engine_plan(struct engine *e, const struct config *cfg, struct plan *plan, struct buf *reason)
{
	forget_seen(e);
	return plan_all(e, cfg, plan, reason);
}

/*
 * A commit's first plan, from what was seen if nothing has changed since. If it would end there, because there is
 * nothing to do or something is in the way, it takes a look of its own to say so.
 */
static int first_plan(struct engine *e, const struct config *cfg, struct plan *plan, struct buf *reason)
{
	bool by_memory = e->undisturbed;
	int r;

	if (!by_memory)
		return engine_plan(e, cfg, plan, reason);
	r = plan_all(e, cfg, plan, reason);
	if (r < 0 || (plan->n_steps > 0 && plan->n_conflicts == 0))
		return r;
	plan_free(plan);
	plan_init(plan);
	return engine_plan(e, cfg, plan, reason);
}

/* --- one run of the loop --- */

/* An object that could not be made so, and why. */
struct failure {
	char *object;
	char *text;
};

struct run {
	struct engine *e;
	const struct config *cfg;
	size_t max_failures; /* 0: stop at the first */
	struct failure *failures;
	size_t n_failures;
	size_t n_done; /* steps */
	char *first;   /* "object: text" of the first of them */
	bool gave_up;  /* the plan could not be made, or what was applied does not stay */
	int error;     /* of the last failure */
};

static void run_free(struct run *run)
{
	for (size_t i = 0; i < run->n_failures; i++) {
		free(run->failures[i].object);
		free(run->failures[i].text);
	}
	free(run->failures);
	free(run->first);
}

__attribute__((format(printf, 4, 5))) static void run_fail(
	struct run *run, int error, const char *object, const char *fmt, ...)
{
	struct buf text = {0}, name = {0};
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(&text, fmt, ap);
	va_end(ap);
	buf_puts(&name, object);
	run->failures = reallocarray(run->failures, run->n_failures + 1, sizeof(*run->failures));
	if (!run->failures)
		abort();
	run->failures[run->n_failures++] = (struct failure){buf_steal(&name), buf_steal(&text)};
	run->error = error;
}

static bool has_failed(const struct run *run, const char *object)
{
	for (size_t i = 0; i < run->n_failures; i++)
		if (str_eq(run->failures[i].object, object))
			return true;
	return false;
}

static void note_conflicts(struct run *run, const struct plan *plan)
{
	for (size_t i = 0; i < plan->n_conflicts; i++)
		if (!has_failed(run, plan->conflicts[i].object))
			run_fail(run, -EEXIST, plan->conflicts[i].object, "%s", plan->conflicts[i].text);
}

/* The steps whose object has not failed, in order; in the plan's arena. */
static const struct step **select_steps(const struct run *run, const struct plan *plan, size_t *ret_n)
{
	const struct step **v = arena_array(plan->arena, plan->n_steps, sizeof(const struct step *));

	*ret_n = 0;
	for (size_t i = 0; i < plan->n_steps; i++)
		if (!has_failed(run, plan->steps[i].object))
			v[(*ret_n)++] = &plan->steps[i];
	return v;
}

static void note_done(struct run *run, const struct step *const *steps, size_t n)
{
	struct buf text = {0};

	run->n_done += n;
	if (run->first)
		return;
	buf_printf(&text, "%s: %s", steps[0]->object, steps[0]->text);
	run->first = buf_steal(&text);
}

static void note_failed_step(struct run *run, int r, const struct txn *txn, const struct step *first)
{
	const struct step *step = txn->failed ? txn->failed : first;

	run_fail(run, r, step->object, "%s: %s", step->text, txn->reason[0] ? txn->reason : strerror(-r));
}

/* Hands each stretch of steps of one subsystem to it. Stops at the first failure. */
static int apply_steps(struct run *run, const struct step *const *steps, size_t n)
{
	for (size_t i = 0, end; i < n; i = end) {
		const struct subsystem *s = steps[i]->subsystem;
		struct txn txn = {0};
		int r;

		for (end = i + 1; end < n && steps[end]->subsystem == s;)
			end++;
		r = s->apply(&txn, steps + i, end - i);
		if (r < 0) {
			note_failed_step(run, r, &txn, steps[i]);
			return r;
		}
		note_done(run, steps + i, end - i);
	}
	return 0;
}

static int give_up(struct run *run)
{
	run->gave_up = true;
	return run->error;
}

static int plan_again(struct run *run, struct plan *plan)
{
	struct buf reason = {0};
	int r;

	plan_free(plan);
	plan_init(plan);
	r = engine_plan(run->e, run->cfg, plan, &reason);
	if (r < 0)
		run_fail(run, r, "gateway", "%s", buf_str(&reason));
	buf_free(&reason);
	return r;
}

static int not_kept(struct run *run, const struct step *const *steps, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!has_failed(run, steps[i]->object))
			run_fail(run, -EBUSY, steps[i]->object, "the kernel does not keep what was applied: %s",
				steps[i]->text);
	return give_up(run);
}

/*
 * Applies and looks again until nothing is left. `plan` is a fresh plan for run->cfg and ends as the last one made.
 * 0: verified. -errno: run->failures says what could not be made so.
 */
static int converge(struct run *run, struct plan *plan)
{
	for (unsigned rounds = 0;;) {
		const struct step **steps;
		size_t n;

		note_conflicts(run, plan);
		if (run->n_failures > run->max_failures)
			return give_up(run);
		steps = select_steps(run, plan, &n);
		if (n == 0 && run->n_failures > 0)
			return run->error;
		if (n == 0) {
			keep_seen(run->e, plan);
			return 0;
		}
		if (rounds == MAX_ROUNDS)
			return not_kept(run, steps, n);
		if (apply_steps(run, steps, n) == 0)
			rounds++;
		if (run->n_failures > run->max_failures || plan_again(run, plan) < 0)
			return give_up(run);
	}
}

/* Plans for cfg and converges, whatever fails on the way. */
static int converge_best_effort(struct run *run, struct plan *plan)
{
	run->max_failures = MAX_FAILURES;
	return plan_again(run, plan) < 0 ? give_up(run) : converge(run, plan);
}

/* --- reports --- */

static void print_failures(const struct run *run, struct buf *out)
{
	size_t named = run->n_failures < MAX_NAMED ? run->n_failures : MAX_NAMED;

	for (size_t i = 0; i < named; i++)
		buf_printf(out, "%s: %s\n", run->failures[i].object, run->failures[i].text);
	if (named < run->n_failures)
		buf_printf(out, "and %zu more objects\n", run->n_failures - named);
}

static void set_trouble(struct engine *e, const struct run *run)
{
	struct buf text = {0};

	print_failures(run, &text);
	free(e->trouble);
	e->trouble = buf_steal(&text);
	e->converged = false;
}

static void clear_trouble(struct engine *e)
{
	free(e->trouble);
	e->trouble = NULL;
	e->converged = true;
}

/* --- commit --- */

static void note_commit(struct engine *e, const struct config *cfg, struct arena *arena)
{
	engine_adopt(e, cfg, arena);
	e->n_commits++;
	e->last_commit = time(NULL);
	e->facts_changed = false;
	clear_trouble(e);
}

static enum commit_result roll_back(struct engine *e, struct plan *plan, struct buf *report)
{
	struct run run = {.e = e, .cfg = e->running};
	enum commit_result result = COMMIT_ROLLED_BACK;

	if (converge_best_effort(&run, plan) == 0) {
		buf_puts(report, "the previous configuration is back, verified\n");
		clear_trouble(e);
	} else {
		set_trouble(e, &run);
		buf_printf(report, "the previous configuration could not be restored either:\n%s", e->trouble);
		result = COMMIT_BROKEN;
	}
	run_free(&run);
	return result;
}

static void show_plan(const struct engine *e, const struct plan *plan)
{
	if (e->on_plan)
		e->on_plan(e->on_plan_arg, plan);
}

static enum commit_result refuse(const struct engine *e, const struct plan *plan, struct buf *report)
{
	show_plan(e, plan);
	for (size_t i = 0; i < plan->n_conflicts; i++)
		buf_printf(report, "%s: %s\n", plan->conflicts[i].object, plan->conflicts[i].text);
	return COMMIT_REFUSED;
}

static enum commit_result run_commit(
	struct engine *e, const struct config *cfg, struct arena *arena, struct plan *plan, struct buf *report)
{
	struct run run = {.e = e, .cfg = cfg};
	enum commit_result result = COMMIT_OK;

	show_plan(e, plan);
	if (converge(&run, plan) == 0) {
		note_commit(e, cfg, arena);
		buf_printf(report, "%zu step%s, verified\n", run.n_done, run.n_done == 1 ? "" : "s");
	} else {
		print_failures(&run, report);
		result = roll_back(e, plan, report);
	}
	run_free(&run);
	return result;
}

enum commit_result engine_commit(struct engine *e, const struct config *cfg, struct arena *arena, struct buf *report)
{
	enum commit_result result;
	struct plan plan;

	plan_init(&plan);
	if (first_plan(e, cfg, &plan, report) < 0) {
		buf_putc(report, '\n');
		result = COMMIT_REFUSED;
	} else if (plan.n_conflicts > 0) {
		result = refuse(e, &plan, report);
	} else if (plan_is_empty(&plan)) {
		note_commit(e, cfg, arena);
		keep_seen(e, &plan);
		buf_puts(report, "nothing to do\n");
		result = COMMIT_NOTHING;
	} else {
		result = run_commit(e, cfg, arena, &plan, report);
	}
	plan_free(&plan);
	return result;
}

enum commit_result engine_teardown(struct engine *e, struct buf *report)
{
	struct run run = {.e = e};
	enum commit_result result = COMMIT_OK;
	struct plan plan;

	plan_init(&plan);
	engine_adopt(e, NULL, NULL);
	if (converge_best_effort(&run, &plan) == 0) {
		clear_trouble(e);
		buf_printf(report, "%zu step%s, verified\n", run.n_done, run.n_done == 1 ? "" : "s");
	} else {
		set_trouble(e, &run);
		buf_puts(report, e->trouble);
		result = COMMIT_BROKEN;
	}
	plan_free(&plan);
	run_free(&run);
	return result;
}

/* --- the reconciler --- */

/* Somebody who undoes a repair again and again within SAME_REPAIR seconds: a line at the 1st, 2nd, 4th, 8th ... time.
 */
static bool is_power_of_two(uint64_t n)
{
	return (n & (n - 1)) == 0;
}

static void more_steps(const struct run *run, struct buf *line)
{
	if (run->n_done > 1)
		buf_printf(line, " (and %zu more step%s)", run->n_done - 1, run->n_done == 2 ? "" : "s");
}

static void note_repair(struct engine *e, const struct run *run)
{
	struct buf line = {0};
	time_t now = time(NULL);
	bool same;

	buf_puts(&line, run->first);
	more_steps(run, &line);
	same = now - e->last_repair < SAME_REPAIR &&
		strncmp(e->last_repair_text, line.data, sizeof(e->last_repair_text) - 1) == 0;
	e->n_same_repair = same ? e->n_same_repair + 1 : 1;
	(void)snprintf(e->last_repair_text, sizeof(e->last_repair_text), "%s", line.data);
	e->last_repair = now;
	e->n_repairs++;
	if (e->n_same_repair > 1)
		buf_printf(&line, " (time %llu of the same)", (unsigned long long)e->n_same_repair);
	if (is_power_of_two(e->n_same_repair))
		log_notice("repaired drift: %s", line.data);
	buf_free(&line);
}

static void note_adaptation(struct engine *e, const struct run *run)
{
	struct buf line = {0};

	buf_puts(&line, run->first);
	more_steps(run, &line);
	log_notice("adapted to what has changed: %s", line.data);
	e->n_adaptations++;
	buf_free(&line);
}

/* Logs trouble when it begins, when it changes and when it ends, not each time that it is met. */
static void note_outcome(struct engine *e, const struct run *run)
{
	_cleanup_free_ char *before = e->trouble;

	e->trouble = NULL;
	if (run->n_failures == 0) {
		if (before)
			log_notice("all is as configured again");
		e->converged = true;
		return;
	}
	set_trouble(e, run);
	if (!str_eq(before, e->trouble))
		log_error("not as configured: %s", e->trouble);
}

int engine_reconcile(struct engine *e)
{
	struct run run = {.e = e, .cfg = e->running};
	struct plan plan;
	int r;

	/* Before the first commit nothing is wanted, and nothing is taken down either, unless a roll-back began to. */
	if (!e->running && !e->trouble)
		return 0;
	plan_init(&plan);
	r = converge_best_effort(&run, &plan);
	if (run.n_done > 0 && e->facts_changed)
		note_adaptation(e, &run);
	else if (run.n_done > 0)
		note_repair(e, &run);
	note_outcome(e, &run);
	e->facts_changed = false;
	if (r == 0)
		r = (int)run.n_done;
	plan_free(&plan);
	run_free(&run);
	return r;
}
