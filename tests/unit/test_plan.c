/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Plans: the running order, the text, ownership; and the record of a failed run. */
/* LINK: gateway/engine/plan.c gateway/engine/txn.c */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "gateway/base/arena.h"
#include "gateway/base/buf.h"
#include "gateway/base/str.h"
#include "gateway/engine/plan.h"
#include "gateway/engine/subsystem.h"
#include "gateway/engine/txn.h"

static const struct subsystem first = {.name = "first"}, second = {.name = "second"};
static const struct subsystem *const order[] = {&first, &second};

static void add(struct plan *plan, const struct subsystem *s, enum step_phase phase, unsigned rank, const char *text)
{
	plan->subsystem = s;
	plan_add(plan, phase, rank, "x", NULL, NULL, "%s", text);
}

static void test_order(void **state)
{
	static const char *const want[] = {"s-rm-1", "s-rm-2", "f-rm", "f-make-a", "f-make-b", "f-make-late", "s-make"};
	struct plan plan;

	(void)state;
	plan_init(&plan);
	add(&plan, &second, STEP_MAKE, 0, "s-make");
	add(&plan, &first, STEP_MAKE, 9, "f-make-late");
	add(&plan, &first, STEP_MAKE, 1, "f-make-a");
	add(&plan, &first, STEP_REMOVE, 0, "f-rm");
	add(&plan, &second, STEP_REMOVE, 2, "s-rm-2");
	add(&plan, &second, STEP_REMOVE, 1, "s-rm-1");
	add(&plan, &first, STEP_MAKE, 1, "f-make-b");
	plan_sort(&plan, order, 2);
	assert_int_equal(plan.n_steps, ARRAY_SIZE(want));
	for (size_t i = 0; i < plan.n_steps; i++)
		assert_string_equal(plan.steps[i].text, want[i]);
	plan_free(&plan);
}

static void test_order_is_stable(void **state)
{
	struct plan plan;

	(void)state;
	plan_init(&plan);
	for (unsigned i = 0; i < 1000; i++) {
		plan.subsystem = &first;
		plan_add(&plan, STEP_MAKE, i % 3, "x", NULL, NULL, "%04u", i);
	}
	plan_sort(&plan, order, 2);
	for (size_t i = 1; i < plan.n_steps; i++) {
		const struct step *a = &plan.steps[i - 1], *b = &plan.steps[i];

		assert_true(a->rank < b->rank || (a->rank == b->rank && strcmp(a->text, b->text) < 0));
	}
	plan_free(&plan);
}

static void assert_print(const struct plan *plan, const char *want)
{
	struct buf out = {0};

	plan_print(plan, &out);
	assert_string_equal(buf_str(&out), want);
	buf_free(&out);
}

static void test_print(void **state)
{
	struct plan plan;

	(void)state;
	plan_init(&plan);
	assert_true(plan_is_empty(&plan));
	assert_print(&plan, "nothing to do\n");
	plan.subsystem = &first;
	plan_add(&plan, STEP_REMOVE, 0, "segment gpu", "interrupts segment gpu", NULL, "delete vx%u", 10010);
	plan_add(&plan, STEP_MAKE, 0, "system", NULL, NULL, "set net/ipv4/ip_forward to 1");
	assert_print(&plan,
		"  - segment gpu: delete vx10010                                                         "
		"[interrupts segment gpu]\n"
		"  + system: set net/ipv4/ip_forward to 1                                                [none]\n"
		"2 steps, 1 interrupts traffic\n");
	plan_free(&plan);
	plan_init(&plan);
	plan_conflict(&plan, "segment gpu", "%s is not ours", "vx10010");
	assert_false(plan_is_empty(&plan));
	assert_print(&plan, "  ! segment gpu: vx10010 is not ours\n0 steps, none interrupts traffic, 1 conflict\n");
	plan_free(&plan);
}

static void count_free(void *p)
{
	(*(unsigned *)p)++;
}

static void test_owned(void **state)
{
	unsigned freed[2] = {0};
	struct plan plan;

	(void)state;
	plan_init(&plan);
	plan_own(&plan, &freed[0], count_free);
	plan_own(&plan, &freed[1], count_free);
	assert_int_equal(freed[0] + freed[1], 0);
	plan_free(&plan);
	assert_int_equal(freed[0], 1);
	assert_int_equal(freed[1], 1);
}

static void test_txn_keeps_the_first_failure(void **state)
{
	struct step a = {.text = "a"}, b = {.text = "b"};
	struct txn txn = {0};

	(void)state;
	assert_int_equal(txn_fail(&txn, &a, -EPERM, "no %s", "way"), -EPERM);
	assert_int_equal(txn_fail(&txn, &b, -EIO, "later"), -EIO);
	assert_ptr_equal(txn.failed, &a);
	assert_int_equal(txn.error, -EPERM);
	assert_string_equal(txn.reason, "no way");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_order_is_stable),
		cmocka_unit_test(test_print),
		cmocka_unit_test(test_owned),
		cmocka_unit_test(test_txn_keeps_the_first_failure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
