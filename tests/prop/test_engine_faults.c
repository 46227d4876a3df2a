/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Random pairs of configs, and every step failing: the end is the old config, or a half state that is reported object
 * by object and mended by the reconciler once the fault is gone. FAIRWAY_SEED repeats a run.
 */
/* LINK: gateway/engine/engine.c gateway/engine/plan.c gateway/engine/txn.c gateway/engine/facts.c tests/lib/fake_subsystem.c */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "config/config.h"
#include "gateway/base/arena.h"
#include "gateway/base/buf.h"
#include "gateway/engine/engine.h"
#include "gateway/engine/subsystem.h"
#include "tests/lib/fake_subsystem.h"

enum { PAIRS = 150, NAMES = 12 };

static struct engine engine;
static struct buf report;

static const struct config *random_config(unsigned slot)
{
	struct buf text = {0};
	const struct config *cfg;

	for (int i = 0; i < NAMES; i++)
		if (rand() % 2)
			buf_printf(&text, "s%02d=%d ", i, 1400 + rand() % 3);
	cfg = fake_config(slot, buf_str(&text));
	buf_free(&text);
	return cfg;
}

static enum commit_result commit(const struct config *cfg)
{
	struct arena *arena = arena_new();
	enum commit_result result;

	buf_reset(&report);
	result = engine_commit(&engine, cfg, arena, &report);
	if (engine.running_arena != arena)
		arena_free(arena);
	return result;
}

/* From old to new: how many steps that takes; the kernel ends as old. */
static size_t count_steps(const struct config *old, const struct config *new)
{
	enum commit_result result;
	size_t n;

	fake_reset();
	result = commit(old);
	assert_true(result == COMMIT_OK || result == COMMIT_NOTHING);
	fake.n_applied = 0;
	result = commit(new);
	n = fake.n_applied;
	assert_int_equal(result, n > 0 ? COMMIT_OK : COMMIT_NOTHING);
	assert_true(fake_is(new));
	assert_int_equal(commit(new), COMMIT_NOTHING);
	(void)commit(old);
	assert_true(fake_is(old));
	return n;
}

static void one_fault(const struct config *old, const struct config *new, size_t at)
{
	fake.n_applied = 0;
	fake.fail_at = at;
	assert_int_equal(commit(new), COMMIT_ROLLED_BACK);
	assert_true(fake_is(old));
	assert_ptr_equal(engine.running, old);
	assert_null(engine.trouble);
	assert_true(engine.converged);
	fake.fail_at = 0;
}

/* Every object that differs from old has to be named in the trouble. */
static void assert_half_state_is_reported(const struct config *old)
{
	struct plan plan;

	plan_init(&plan);
	assert_int_equal(engine_plan(&engine, old, &plan, &report), 0);
	assert_true(plan.n_steps > 0);
	for (size_t i = 0; i < plan.n_steps; i++) {
		assert_non_null(strstr(engine.trouble, plan.steps[i].object));
		assert_non_null(strstr(buf_str(&report), plan.steps[i].object));
	}
	plan_free(&plan);
}

static void fault_that_stays(const struct config *old, const struct config *new, size_t at)
{
	enum commit_result result;

	fake.n_applied = 0;
	fake.fail_at = at;
	fake.fail_on = true;
	result = commit(new);
	assert_ptr_equal(engine.running, old);
	if (result == COMMIT_BROKEN) {
		assert_false(engine.converged);
		assert_half_state_is_reported(old);
		assert_true(engine_reconcile(&engine) < 0);
	} else {
		/* The very first step failed: nothing was done, so there was nothing to undo. */
		assert_int_equal(result, COMMIT_ROLLED_BACK);
	}
	fake.fail_at = 0;
	fake.fail_on = false;
	assert_true(engine_reconcile(&engine) >= 0);
	assert_true(fake_is(old));
	assert_true(engine.converged);
	assert_null(engine.trouble);
}

static void test_every_step_of_random_pairs(void **state)
{
	(void)state;
	for (int i = 0; i < PAIRS; i++) {
		const struct config *old = random_config(0), *new = random_config(1);
		size_t n = count_steps(old, new);

		for (size_t at = 1; at <= n; at++) {
			one_fault(old, new, at);
			fault_that_stays(old, new, at);
		}
		/* So that the next pair starts with a clean slate. */
		assert_int_not_equal(engine_teardown(&engine, &report), COMMIT_BROKEN);
		assert_true(fake_is(NULL));
	}
}

static void test_random_drift(void **state)
{
	(void)state;
	for (int i = 0; i < PAIRS; i++) {
		const struct config *cfg = random_config(0);

		fake_reset();
		(void)commit(cfg);
		for (int k = rand() % 8; k > 0; k--) {
			char name[FAKE_NAME];
			size_t side = (size_t)rand() % 2;

			(void)snprintf(name, sizeof(name), "s%02d", rand() % (2 * NAMES));
			if (rand() % 2)
				fake_put(side, name, 1 + (uint32_t)rand() % 5, false);
			else if (fake_find(side, name))
				fake_remove(side, name);
		}
		assert_true(engine_reconcile(&engine) >= 0);
		assert_true(fake_is(cfg));
		assert_int_equal(engine_reconcile(&engine), 0);
		(void)engine_teardown(&engine, &report);
	}
}

static int stderr_saved = -1;

/* What the engine logs of thousands of faults is not looked at here. */
static int setup(void **state)
{
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

	(void)state;
	if (fd < 0)
		return -1;
	engine_init(&engine, fake_subsystems, 2);
	stderr_saved = dup(STDERR_FILENO);
	return dup2(fd, STDERR_FILENO) < 0 ? -1 : close(fd);
}

static int teardown(void **state)
{
	(void)state;
	engine_free(&engine);
	buf_free(&report);
	return dup2(stderr_saved, STDERR_FILENO) < 0 ? -1 : close(stderr_saved);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_every_step_of_random_pairs, setup, teardown),
		cmocka_unit_test_setup_teardown(test_random_drift, setup, teardown),
	};
	const char *given = getenv("FAIRWAY_SEED");
	unsigned seed = given ? (unsigned)strtoul(given, NULL, 10) : (unsigned)time(NULL);

	printf("FAIRWAY_SEED=%u\n", seed);
	srand(seed);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
