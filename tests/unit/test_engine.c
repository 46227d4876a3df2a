/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The loop, on a fake kernel whose faults are put in by hand. What is logged is caught on standard error. */
/* LINK: gateway/engine/engine.c gateway/engine/plan.c gateway/engine/txn.c gateway/engine/facts.c tests/lib/fake_subsystem.c */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "gateway/base/arena.h"
#include "gateway/base/buf.h"
#include "gateway/engine/engine.h"
#include "tests/lib/fake_subsystem.h"

static struct engine engine;
static struct buf report;

static int setup(void **state)
{
	(void)state;
	fake_reset();
	engine_init(&engine, fake_subsystems, 2);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	engine_free(&engine);
	buf_free(&report);
	return 0;
}

static enum commit_result commit(const struct config *cfg)
{
	struct arena *arena = arena_new();
	enum commit_result result;

	buf_reset(&report);
	result = engine_commit(&engine, cfg, arena, &report);
	if (result != COMMIT_OK && result != COMMIT_NOTHING)
		arena_free(arena);
	return result;
}

/* What one turn of the reconciler logs. */
static int reconcile(char *log, size_t size)
{
	int fds[2], saved = dup(STDERR_FILENO), r;
	ssize_t n;

	assert_int_equal(pipe2(fds, O_NONBLOCK), 0);
	(void)dup2(fds[1], STDERR_FILENO);
	r = engine_reconcile(&engine);
	(void)dup2(saved, STDERR_FILENO);
	n = read(fds[0], log, size - 1);
	log[n > 0 ? n : 0] = '\0';
	(void)close(fds[0]);
	(void)close(fds[1]);
	(void)close(saved);
	return r;
}

static void test_commit_and_again(void **state)
{
	const struct config *a = fake_config(0, "a=1400 b=1500");

	(void)state;
	assert_int_equal(commit(a), COMMIT_OK);
	assert_string_equal(buf_str(&report), "4 steps, verified\n");
	assert_true(fake_is(a));
	assert_true(engine.converged);
	assert_ptr_equal(engine.running, a);
	assert_int_equal(fake.n_apply_calls, 2); /* a stretch of steps goes to its subsystem at once */
	assert_int_equal(commit(a), COMMIT_NOTHING);
	assert_int_equal(fake.n_apply_calls, 2);
	assert_string_equal(buf_str(&report), "nothing to do\n");
	assert_int_equal(engine.n_commits, 2);
}

static void test_change_touches_only_what_differs(void **state)
{
	(void)state;
	assert_int_equal(commit(fake_config(0, "a=1400 b=1500")), COMMIT_OK);
	fake.n_applied = 0;
	assert_int_equal(commit(fake_config(1, "a=1400 b=1501")), COMMIT_OK);
	assert_int_equal(fake.n_applied, 2);
}

static void test_conflict_is_refused(void **state)
{
	(void)state;
	fake_put(1, "b", 7, true);
	assert_int_equal(commit(fake_config(0, "a=1400 b=1500")), COMMIT_REFUSED);
	assert_string_equal(buf_str(&report), "segment b: b belongs to somebody else\n");
	assert_int_equal(fake.n_applied, 0);
	assert_null(engine.running);
	assert_int_equal(fake_find(1, "b")->value, 7);
}

static void test_failed_observation_is_refused(void **state)
{
	(void)state;
	fake.observe_error = -EACCES;
	assert_int_equal(commit(fake_config(0, "a=1")), COMMIT_REFUSED);
	assert_string_equal(buf_str(&report), "alpha: cannot tell what the kernel has: Permission denied\n");
}

static void test_every_step_may_fail_once(void **state)
{
	const struct config *old = fake_config(0, "a=1 b=2 c=3"), *new = fake_config(1, "b=9 c=3 d=4 e=5");
	size_t n_steps;

	(void)state;
	assert_int_equal(commit(old), COMMIT_OK);
	fake.n_applied = 0;
	assert_int_equal(commit(new), COMMIT_OK);
	n_steps = fake.n_applied;
	assert_int_equal(n_steps, 8);
	assert_int_equal(commit(old), COMMIT_OK);
	for (size_t n = 1; n <= n_steps; n++) {
		fake.n_applied = 0;
		fake.fail_at = n;
		assert_int_equal(commit(new), COMMIT_ROLLED_BACK);
		assert_true(fake_is(old));
		assert_ptr_equal(engine.running, old);
		assert_non_null(strstr(buf_str(&report), "fault"));
		assert_non_null(strstr(buf_str(&report), "the previous configuration is back, verified"));
		assert_null(engine.trouble);
	}
}

static void test_first_commit_fails_leaves_nothing(void **state)
{
	(void)state;
	fake.fail_at = 3;
	assert_int_equal(commit(fake_config(0, "a=1 b=2")), COMMIT_ROLLED_BACK);
	assert_true(fake_is(NULL));
	assert_null(engine.running);
}

static void test_roll_back_fails_too(void **state)
{
	const struct config *old = fake_config(0, "a=1 b=2");
	char log[512];

	(void)state;
	assert_int_equal(commit(old), COMMIT_OK);
	fake.n_applied = 0;
	fake.fail_at = 3; /* beta a */
	fake.fail_on = true;
	assert_int_equal(commit(fake_config(1, "a=8 b=9")), COMMIT_BROKEN);
	assert_non_null(strstr(engine.trouble, "segment a: set alpha a 1: fault"));
	assert_non_null(strstr(engine.trouble, "segment b: set alpha b 2: fault"));
	assert_false(engine.converged);
	assert_ptr_equal(engine.running, old);

	/* The reconciler keeps at it, says nothing new meanwhile, and tells when it is done. */
	assert_true(reconcile(log, sizeof(log)) < 0);
	assert_true(reconcile(log, sizeof(log)) < 0);
	fake.fail_at = 0;
	assert_int_equal(reconcile(log, sizeof(log)), 2);
	assert_non_null(strstr(log, "all is as configured again"));
	assert_true(fake_is(old));
	assert_null(engine.trouble);
}

static void test_what_does_not_stay_is_a_failure(void **state)
{
	(void)state;
	fake.forget = "b";
	assert_int_equal(commit(fake_config(0, "a=1 b=2")), COMMIT_ROLLED_BACK);
	assert_non_null(
		strstr(buf_str(&report), "segment b: the kernel does not keep what was applied: set alpha b 2"));
	assert_true(fake_is(NULL));
}

static void test_what_settles_late_is_fine(void **state)
{
	const struct config *a = fake_config(0, "a=1 b=2");

	(void)state;
	fake.slow = 4; /* both subsystems, twice */
	assert_int_equal(commit(a), COMMIT_OK);
	assert_true(fake_is(a));
}

static void test_drift(void **state)
{
	const struct config *a = fake_config(0, "a=1 b=2");
	char log[512];

	(void)state;
	assert_int_equal(commit(a), COMMIT_OK);
	assert_int_equal(reconcile(log, sizeof(log)), 0);
	assert_string_equal(log, "");
	fake_remove(0, "a");
	fake_remove(1, "b");
	assert_int_equal(reconcile(log, sizeof(log)), 2);
	assert_non_null(strstr(log, "repaired drift: segment a: set alpha a 1 (and 1 more step)"));
	assert_null(strchr(strchr(log, '\n') + 1, '\n'));
	assert_true(fake_is(a));
	assert_int_equal(engine.n_repairs, 1);
	assert_int_equal(reconcile(log, sizeof(log)), 0);
}

static void test_the_same_drift_again_and_again(void **state)
{
	unsigned lines = 0;
	char log[512];

	(void)state;
	assert_int_equal(commit(fake_config(0, "a=1")), COMMIT_OK);
	for (int i = 0; i < 100; i++) {
		fake_remove(0, "a");
		assert_int_equal(reconcile(log, sizeof(log)), 1);
		lines += log[0] != '\0';
	}
	assert_int_equal(lines, 7); /* 1 2 4 8 16 32 64 */
	assert_int_equal(engine.n_repairs, 100);
}

static void test_one_bad_object_does_not_hold_up_the_rest(void **state)
{
	char log[512];

	(void)state;
	assert_int_equal(commit(fake_config(0, "a=1 b=2 c=3")), COMMIT_OK);
	fake_remove(0, "a");
	fake_remove(0, "b");
	fake_remove(1, "c");
	fake.fail_object = "a";
	assert_int_equal(reconcile(log, sizeof(log)), -EPERM);
	assert_non_null(strstr(log, "not as configured: segment a: set alpha a 1: never"));
	assert_non_null(fake_find(0, "b"));
	assert_non_null(fake_find(1, "c"));
	assert_int_equal(reconcile(log, sizeof(log)), -EPERM);
	assert_string_equal(log, "");
}

static void test_somebody_else_in_the_way_of_a_repair(void **state)
{
	char log[512];

	(void)state;
	assert_int_equal(commit(fake_config(0, "a=1 b=2")), COMMIT_OK);
	fake_put(0, "a", 7, true);
	fake_remove(1, "b");
	assert_int_equal(reconcile(log, sizeof(log)), -EEXIST);
	assert_int_equal(fake_find(0, "a")->value, 7);
	assert_non_null(fake_find(1, "b"));
	assert_string_equal(engine.trouble, "segment a: a belongs to somebody else\n");
}

static void test_a_fact_is_no_drift(void **state)
{
	char log[512];

	(void)state;
	assert_int_equal(commit(fake_config(0, "a=1")), COMMIT_OK);
	fake_remove(0, "a");
	engine.facts_changed = true;
	assert_int_equal(reconcile(log, sizeof(log)), 1);
	assert_non_null(strstr(log, "adapted to what has changed: segment a"));
	assert_int_equal(engine.n_repairs, 0);
	assert_int_equal(engine.n_adaptations, 1);
	assert_false(engine.facts_changed);
}

static void test_adopted_is_what_a_failure_returns_to(void **state)
{
	const struct config *old = fake_config(0, "a=1 b=2");

	(void)state;
	fake_put(0, "a", 1, false);
	engine_adopt(&engine, old, arena_new());
	fake.fail_at = 2;
	assert_int_equal(commit(fake_config(1, "c=5")), COMMIT_ROLLED_BACK);
	assert_true(fake_is(old));
}

/* Each look observes the two fake subsystems once. */
static void test_a_commit_plans_from_what_was_seen(void **state)
{
	const struct config *a = fake_config(0, "a=1400"), *b = fake_config(1, "a=1400 b=1500");

	(void)state;
	assert_int_equal(commit(a), COMMIT_OK);
	fake.n_observed = 0;
	assert_int_equal(commit(b), COMMIT_OK);
	assert_int_equal(fake.n_observed, 2); /* the look that verifies */
	assert_true(fake_is(b));
	fake.n_observed = 0;
	assert_int_equal(commit(b), COMMIT_NOTHING);
	assert_int_equal(fake.n_observed, 2); /* "nothing to do" is never said from memory */
	engine_disturb(&engine);
	fake.n_observed = 0;
	assert_int_equal(commit(a), COMMIT_OK);
	assert_int_equal(fake.n_observed, 4);
}

/* Changes that no event told of: what was seen is wrong, and the end is right all the same. */
static void test_what_was_seen_may_be_wrong(void **state)
{
	const struct config *a = fake_config(0, "a=1400"), *b = fake_config(1, "a=1400 b=1500");

	(void)state;
	assert_int_equal(commit(a), COMMIT_OK);
	fake_remove(0, "a");
	assert_int_equal(commit(b), COMMIT_OK);
	assert_true(fake_is(b));
	fake_remove(1, "b");
	assert_int_equal(commit(b), COMMIT_OK);
	assert_true(fake_is(b));
	engine_disturb(&engine);
	fake_put(0, "c", 1, true);
	assert_int_equal(commit(fake_config(2, "a=1400 b=1500 c=1600")), COMMIT_REFUSED);
	assert_true(fake_is(b));
}

static void test_take_down(void **state)
{
	(void)state;
	fake_put(0, "x", 7, true);
	assert_int_equal(commit(fake_config(0, "a=1 b=2")), COMMIT_OK);
	buf_reset(&report);
	assert_int_equal(engine_teardown(&engine, &report), COMMIT_OK);
	assert_true(fake_is(NULL));
	assert_non_null(fake_find(0, "x"));
	assert_null(engine.running);
}

static void test_nothing_wanted_nothing_touched(void **state)
{
	char log[64];

	(void)state;
	fake_put(0, "a", 1, false);
	assert_int_equal(reconcile(log, sizeof(log)), 0);
	assert_non_null(fake_find(0, "a"));
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_commit_and_again),
		T(test_change_touches_only_what_differs),
		T(test_conflict_is_refused),
		T(test_failed_observation_is_refused),
		T(test_every_step_may_fail_once),
		T(test_first_commit_fails_leaves_nothing),
		T(test_roll_back_fails_too),
		T(test_what_does_not_stay_is_a_failure),
		T(test_what_settles_late_is_fine),
		T(test_drift),
		T(test_the_same_drift_again_and_again),
		T(test_one_bad_object_does_not_hold_up_the_rest),
		T(test_somebody_else_in_the_way_of_a_repair),
		T(test_a_fact_is_no_drift),
		T(test_adopted_is_what_a_failure_returns_to),
		T(test_a_commit_plans_from_what_was_seen),
		T(test_what_was_seen_may_be_wrong),
		T(test_take_down),
		T(test_nothing_wanted_nothing_touched),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
