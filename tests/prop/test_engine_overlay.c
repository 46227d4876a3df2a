/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The engine with the overlay's own plans, on the fake kernel with its rules: from one random config to another, with
 * every step failing once. The old config is back, the plan for it is empty, and the new one can then be applied.
 * FAIRWAY_SEED repeats a run.
 */
/* LINK: gateway/engine/engine.c gateway/engine/txn.c tests/lib/overlay_fixture.c tests/lib/fake_kernel.c overlay/mtu.c overlay/model.c overlay/desired.c overlay/overlay_plan.c overlay/link_plan.c overlay/overlay_check.c overlay/interface_check.c overlay/segment_check.c overlay/address_check.c config/config.c config/decode.c config/diag.c config/hint.c config/schema.c config/text.c config/types.c config/types_bgp.c config/types_net.c config/types_policy.c config/endpoint.c config/types_text.c config/yaml.c gateway/engine/facts.c gateway/engine/plan.c */
/* LIBS: libfyaml jansson */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "config/config.h"
#include "gateway/base/arena.h"
#include "gateway/engine/engine.h"
#include "gateway/engine/subsystem.h"
#include "gateway/engine/txn.h"
#include "overlay/overlay.h"
#include "tests/lib/overlay_fixture.h"

enum { PAIRS = 100, SEGMENTS = 5 };

static struct overlay_fixture fixture;
static struct engine engine;
static struct buf report;

/* --- the overlay on the fake kernel --- */

static int observe(void **ret)
{
	struct kernel_model *m = arena_new_obj(fixture.arena, struct kernel_model);

	m->arena = fixture.arena;
	fake_kernel_observe(&fixture.kernel, m);
	*ret = m;
	return 0;
}

/* The fake kernel keeps the texts of what it is given, so these live as long as it does. */
static int plan_overlay(const struct config *cfg, const struct facts *facts, const void *observed, struct plan *plan)
{
	struct kernel_model *want = arena_new_obj(fixture.arena, struct kernel_model);

	want->arena = fixture.arena;
	overlay_check_facts(cfg, facts, plan);
	overlay_desired(cfg, facts, want);
	overlay_plan(want, observed, plan);
	return 0;
}

static int apply(struct txn *txn, const struct step *const *steps, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int r = fake_kernel_apply(&fixture.kernel, steps[i]->payload);

		if (r < 0)
			return txn_fail(txn, steps[i], r, "%s", fixture.kernel.reason);
	}
	return 0;
}

static void forget(void *observed)
{
	(void)observed; /* in the fixture's arena */
}

static int show(const char *what, const struct config *cfg, const struct facts *facts, json_t **ret)
{
	(void)what;
	(void)cfg;
	(void)facts;
	(void)ret;
	return -ENOENT;
}

static const struct subsystem overlay = {
	.name = "overlay",
	.check = overlay_check,
	.observe = observe,
	.plan = plan_overlay,
	.apply = apply,
	.observed_free = forget,
	.show = show,
};
static const struct subsystem *const only_overlay[] = {&overlay};

/* --- random configs --- */

static unsigned any(unsigned below)
{
	return (unsigned)rand() % below;
}

static void add_segment(struct buf *b, unsigned i)
{
	bool bridged = any(2);

	buf_printf(b, "  - {name: s%u, vni: %u, mode: %s, gateway: [10.%u.0.%u/24]", i, 100 * (i + 1) + any(2),
		bridged ? "bridged" : "routed", i + 1, 1 + any(2));
	if (bridged)
		buf_printf(b, ", members: [p%u]", i + 10 * any(2));
	else
		buf_printf(b, ", routes: [{prefix: 172.%u.0.0/16, via: 10.%u.0.9}]", 20 + i + 10 * any(2), i + 1);
	buf_printf(b, ", remotes: [%s], ttl: %u}\n", any(2) ? "x" : "x, y", 64 + any(2));
}

static const struct config *random_config(void)
{
	const struct config *cfg;
	struct buf b = {0};

	buf_printf(&b,
		"system: {hostname: h}\nlines:\n"
		"  - {name: a, interface: e1, address: 192.168.1.1/30, peer-address: 192.168.1.2}\n"
		"  - {name: b, interface: e2, address: 192.168.2.1/30, peer-address: 192.168.2.2, enabled: %s}\n"
		"vtep: {address: 10.255.0.%u}\nremotes:\n"
		"  - {name: x, vtep: 10.255.1.1, lines: [a, b]}\n  - {name: y, vtep: 10.255.2.1, lines: [a]}\n"
		"segments:\n  - {name: last, vni: 9, mode: bridged}\n",
		any(3) ? "true" : "false", 1 + (any(4) == 0));
	for (unsigned i = 0; i < SEGMENTS; i++)
		if (any(3))
			add_segment(&b, i);
	cfg = fixture_config(&fixture, buf_str(&b));
	fixture_add_interfaces(&fixture, cfg);
	buf_free(&b);
	return cfg;
}

/* --- the property --- */

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

static void assert_is(const struct config *cfg)
{
	assert_string_equal(fixture_plan(&fixture, cfg), "nothing to do\n");
}

static void assert_applied(const struct config *cfg)
{
	enum commit_result result = commit(cfg);

	if (result != COMMIT_OK && result != COMMIT_NOTHING)
		fail_msg("%s", buf_str(&report));
	assert_is(cfg);
}

static void test_every_step_of_random_pairs(void **state)
{
	(void)state;
	for (int i = 0; i < PAIRS; i++) {
		const struct config *old, *new;
		size_t n;

		fixture_open(&fixture);
		engine_init(&engine, only_overlay, 1);
		old = random_config();
		new = random_config();
		assert_applied(old);
		fixture.kernel.n_applied = 0;
		assert_applied(new);
		n = fixture.kernel.n_applied;
		assert_applied(old);
		for (size_t at = 1; at <= n; at++) {
			fixture.kernel.n_applied = 0;
			fixture.kernel.fail_at = at;
			assert_int_equal(commit(new), COMMIT_ROLLED_BACK);
			assert_non_null(strstr(buf_str(&report), "the test wants it"));
			assert_is(old);
		}
		fixture.kernel.fail_at = 0;
		assert_applied(new);
		assert_int_equal(engine_teardown(&engine, &report), COMMIT_OK);
		assert_is(NULL);
		engine_free(&engine);
		fixture_close(&fixture);
	}
	buf_free(&report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_step_of_random_pairs),
	};
	const char *given = getenv("FAIRWAY_SEED");
	unsigned seed = given ? (unsigned)strtoul(given, NULL, 10) : (unsigned)time(NULL);

	printf("FAIRWAY_SEED=%u\n", seed);
	srand(seed);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
