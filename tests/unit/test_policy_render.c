/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The policy's table: what its size follows from, that overlapping prefixes come out apart, schedules over midnight,
 * limits. What packets meet is in tests/net/test_policy.py.
 */
/* LINK: gateway/policy/policy_base.c gateway/policy/policy_input.c gateway/policy/policy_class.c gateway/policy/policy_compile.c gateway/policy/policy_cover.c gateway/policy/policy_keys.c gateway/policy/policy_layout.c gateway/policy/policy_model.c gateway/policy/policy_peers.c gateway/policy/policy_place.c gateway/policy/policy_render.c gateway/policy/policy_table.c routing/session.c overlay/mtu.c overlay/model.c overlay/desired.c config/config.c config/decode.c config/diag.c config/hint.c config/preset.c config/schema.c config/text.c config/types.c config/types_bgp.c config/types_net.c config/types_policy.c config/endpoint.c config/types_text.c config/yaml.c gateway/engine/facts.c gateway/nft/nft_model.c */
/* LIBS: libfyaml jansson */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "config/config.h"
#include "gateway/base/arena.h"
#include "gateway/base/buf.h"
#include "gateway/base/str.h"
#include "gateway/engine/facts.h"
#include "gateway/nft/nft.h"
#include "gateway/policy/policy_render.h"

struct fixture {
	struct arena *arena;
	struct facts facts;
	struct nft_model model;
	const struct nft_table *table;
};

static void render(struct fixture *f, const char *text)
{
	const struct config *cfg;
	struct diag diag;

	f->arena = arena_new();
	facts_init(&f->facts);
	diag_init(&diag, "f");
	cfg = config_parse(text, strlen(text), f->arena, &diag);
	assert_int_equal(diag.n_errors, 0);
	diag_free(&diag);
	f->model = (struct nft_model){.arena = f->arena};
	policy_render(cfg, &f->facts, &f->model);
	nft_model_seal(&f->model);
	f->table = nft_model_table(&f->model, "inet", NFT_TABLE_POLICY);
	assert_non_null(f->table);
}

static void done(struct fixture *f)
{
	facts_free(&f->facts);
	arena_free(f->arena);
}

static size_t count_rules(const struct nft_table *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n_chains; i++)
		n += t->chains[i]->n_rules;
	return n;
}

static size_t count_elems(const struct nft_table *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n_sets; i++)
		n += t->sets[i]->n_elems;
	return n;
}

static bool has_rule(const struct nft_table *t, const char *chain, const char *part)
{
	const struct nft_chain *c = nft_table_chain(t, chain);

	for (size_t i = 0; c && i < c->n_rules; i++)
		if (strstr(c->rules[i].text, part))
			return true;
	return false;
}

/* n segments, and from each of them to each other one service. */
static void render_matrix(struct fixture *f, unsigned n)
{
	struct buf text = {0}, names = {0};

	buf_puts(&text, "system: {hostname: gw}\nvtep: {address: 10.255.0.1}\nsegments:\n");
	for (unsigned i = 0; i < n; i++) {
		buf_printf(&text, "  - {name: s%u, vni: %u, mode: bridged}\n", i, 1000 + i);
		buf_printf(&names, "%ss%u", i ? ", " : "", i);
	}
	buf_printf(&text,
		"policy:\n  default: drop\n  rules:\n    - {seq: 10, from: [%s], to: [%s], services: [tcp/443], "
		"action: accept}\n",
		buf_str(&names), buf_str(&names));
	render(f, buf_str(&text));
	buf_free(&text);
	buf_free(&names);
}

/* Case 37: pairs of zones are elements of a map, and never rules. */
static void test_pairs_are_no_rules(void **state)
{
	struct fixture small, large;

	(void)state;
	render_matrix(&small, 2);
	render_matrix(&large, 60);
	assert_int_equal(count_rules(small.table), count_rules(large.table));
	assert_int_equal(small.table->n_chains, large.table->n_chains);
	assert_true(count_elems(large.table) >= (size_t)60 * 60);
	assert_true(count_elems(large.table) < (size_t)60 * 60 + 1000);
	done(&small);
	done(&large);
}

/* Groups, however many rules name them, are in one map; two rules for each rule, and some for all. */
static void test_rules_grow_by_themselves(void **state)
{
	struct buf text = {0};
	struct fixture f;

	(void)state;
	buf_puts(&text, "system: {hostname: gw}\npolicy:\n  default: drop\n  groups:\n");
	for (unsigned i = 0; i < 100; i++)
		buf_printf(&text, "    - {name: g%u, prefixes: [10.%u.0.0/16]}\n", i, i);
	buf_puts(&text, "  rules:\n");
	for (unsigned i = 0; i < 99; i++)
		buf_printf(&text, "    - {seq: %u, from: [g%u], to: [g%u], services: [tcp/%u], action: accept}\n",
			i + 1, i, i + 1, i + 1);
	render(&f, buf_str(&text));
	assert_true(count_rules(f.table) < 99 * 2 + 100);
	assert_int_equal(nft_table_set(f.table, "class4")->n_elems, 100);
	buf_free(&text);
	done(&f);
}

/* Case 35: a network, a network in it, and a host in that, of one group and of two; no two elements meet. */
static void test_overlaps_come_out_apart(void **state)
{
	struct fixture f;

	(void)state;
	render(&f,
		"system: {hostname: gw}\npolicy:\n  default: drop\n  groups:\n"
		"    - {name: a, prefixes: [\"fd00::/64\", \"fd00::7/128\", 10.0.0.0/8, 10.1.0.0/16]}\n"
		"    - {name: b, prefixes: [\"fd00::/96\", 10.1.2.0/24, 10.1.2.3/32]}\n"
		"  rules:\n    - {seq: 10, from: [a], to: [b], action: accept}\n");
	for (size_t six = 0; six < 2; six++) {
		const struct nft_set *s = nft_table_set(f.table, six ? "class6" : "class4");

		assert_true(s->n_elems >= 2);
		for (size_t i = 0; i < s->n_elems; i++) {
			assert_true(memcmp(s->elems[i].key, s->elems[i].key_end, s->elems[i].key_len) <= 0);
			if (i > 0)
				assert_true(memcmp(s->elems[i - 1].key_end, s->elems[i].key, s->elems[i].key_len) < 0);
		}
	}
	done(&f);
}

static void test_schedules(void **state)
{
	struct fixture f;

	(void)state;
	render(&f,
		"system: {hostname: gw}\npolicy:\n  default: drop\n"
		"  schedules: [{name: night, days: [sat], from: \"22:00\", to: \"06:00\"}, {name: noon, from: "
		"\"12:00\", to: \"13:00\"}]\n"
		"  rules:\n    - {seq: 10, services: [tcp/1], action: accept, schedule: night}\n"
		"    - {seq: 20, services: [tcp/2], action: accept, schedule: noon}\n");
	assert_true(has_rule(f.table, "ports_forward", "meta day @days_night meta hour 79200-86399 "));
	assert_true(has_rule(f.table, "ports_forward", "meta day @days_after_night meta hour 0-21599 "));
	assert_true(has_rule(f.table, "ports_forward", "meta hour 43200-46799 "));
	assert_int_equal(nft_table_set(f.table, "days_night")->elems[0].key[0], 6);
	assert_int_equal(nft_table_set(f.table, "days_after_night")->elems[0].key[0], 0);
	done(&f);
}

static void test_limits_and_peers(void **state)
{
	struct fixture f;

	(void)state;
	render(&f,
		"system: {hostname: gw}\n"
		"lines: [{name: l, interface: e1, address: 172.31.0.1/30, peer-address: 172.31.0.2, bfd: {interval: "
		"50ms}}]\n"
		"policy:\n  default: drop\n  rules:\n"
		"    - {seq: 10, to: [gateway], services: [tcp/22], action: accept, rate-limit: 30/m, "
		"connection-limit: 5}\n");
	assert_true(
		has_rule(f.table, "rule_10", "ct state new limit rate over 30/minute burst 30 packets goto limited"));
	assert_true(has_rule(f.table, "rule_10", "ct count over 5 goto limited"));
	assert_true(has_rule(f.table, "otherwise_input", "goto own"));
	/* BFD needs no rule, and BGP none is configured. */
	assert_int_equal(nft_table_set(f.table, "peers4")->n_elems, 1);
	assert_string_equal(nft_table_set(f.table, "peers4")->elems[0].text, "172.31.0.2 . 17 . 3784");
	done(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pairs_are_no_rules),
		cmocka_unit_test(test_rules_grow_by_themselves),
		cmocka_unit_test(test_overlaps_come_out_apart),
		cmocka_unit_test(test_schedules),
		cmocka_unit_test(test_limits_and_peers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
