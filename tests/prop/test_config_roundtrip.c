/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Random configs, written as YAML from the schema table itself, in every way in which YAML can say the same:
 *   parse -> print -> parse loses nothing, print is stable, and JSON says the same;
 *   the difference of two configs is empty exactly if they print the same text;
 *   the difference from nothing names every entry.
 * A new row of the schema is in this test without a line being written. FAIRWAY_SEED=N runs one seed.
 */
/* LINK: config/print.c config/diff.c config/hint.c config/config.c config/decode.c config/diag.c config/schema.c config/types.c config/types_bgp.c config/types_net.c config/types_policy.c config/endpoint.c config/types_text.c config/yaml.c config/text.c tests/lib/config_fixture.c tests/lib/random_config.c */
/* LIBS: libfyaml jansson */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "config/config.h"
#include "config/diff.h"
#include "config/print.h"
#include "gateway/base/arena.h"
#include "gateway/base/buf.h"
#include "gateway/base/cleanup.h"
#include "gateway/base/str.h"
#include "tests/lib/config_fixture.h"
#include "tests/lib/random_config.h"

enum { RUNS = 500 };

static size_t differences(const struct config *a, const struct config *b)
{
	struct config_diff d = {.arena = test_arena};

	config_diff(a, b, &d);
	return d.n;
}

static const struct config *generate(uint64_t seed, unsigned variant)
{
	struct buf text = {0};
	const struct config *cfg;

	random_config(seed, variant, &text);
	cfg = must_parse(buf_str(&text));
	buf_free(&text);
	return cfg;
}

static const struct config *through_json(const struct config *cfg)
{
	json_t *json = config_to_json(cfg);
	_cleanup_free_ char *text = json_dumps(json, JSON_INDENT(1) | JSON_ENSURE_ASCII);

	json_decref(json);
	return must_parse(text);
}

static void check_round_trip(const struct config *cfg)
{
	const char *text = printed(cfg);
	const struct config *again = must_parse(text);

	assert_int_equal(differences(cfg, again), 0);
	assert_string_equal(printed(again), text);
	assert_int_equal(differences(cfg, through_json(cfg)), 0);
	assert_string_equal(printed(through_json(cfg)), text);
}

/* Two variants of one seed differ in a few values, so that both outcomes happen. */
static bool check_pair(const struct config *a, const struct config *b)
{
	bool same = str_eq(printed(a), printed(b));

	assert_int_equal(differences(a, b) == 0, same);
	assert_int_equal(differences(a, b), differences(b, a));
	return same;
}

static size_t entries(const struct config *c)
{
	return (c->system != NULL) + (c->vtep != NULL) + c->interfaces.n + c->lines.n + c->remotes.n + c->tenants.n +
		c->segments.n + c->routes.n + (c->bgp != NULL) + (c->policy != NULL) + (c->audit != NULL);
}

static void run(uint64_t seed, unsigned *n_same, unsigned *n_different)
{
	const struct config *a, *b;

	/* A failed assertion leaves this function; the seed is then the last line of the output before it. */
	a = generate(seed, 0);
	b = generate(seed, 1);
	check_round_trip(a);
	check_round_trip(b);
	if (check_pair(a, b))
		(*n_same)++;
	else
		(*n_different)++;
	assert_int_equal(differences(NULL, a), entries(a));
	assert_int_equal(differences(b, NULL), entries(b));
}

static void test_round_trip(void **state)
{
	const char *one = getenv("FAIRWAY_SEED");
	uint64_t first = one ? strtoull(one, NULL, 10) : 1, last = one ? first : RUNS;
	unsigned n_same = 0, n_different = 0;

	(void)state;
	for (uint64_t seed = first; seed <= last; seed++) {
		struct arena *whole = test_arena;

		random_config_seed = seed;
		test_arena = arena_new();
		run(seed, &n_same, &n_different);
		arena_free(test_arena);
		test_arena = whole;
	}
	random_config_seed = 0;
	if (!one)
		assert_true(n_same > RUNS / 20 && n_different > RUNS / 4);
}

static int say_seed(void **state)
{
	if (random_config_seed)
		print_error("repeat it with FAIRWAY_SEED=%llu\n", (unsigned long long)random_config_seed);
	return config_teardown(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_round_trip, config_setup, say_seed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
