/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The difference of nft models, as plan texts and as nft commands. What is "there" is made by the same functions. */
/* LINK: gateway/nft/nft_model.c gateway/nft/nft_plan.c gateway/nft/nft_change.c gateway/engine/plan.c */
#include <arpa/inet.h>
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
#include "gateway/nft/nft.h"

static const struct subsystem nft = {.name = "nft"};
static const struct subsystem *const order[] = {&nft};

static void add_name(struct nft_model *m, struct nft_set *s, const char *name)
{
	uint8_t key[16];

	nft_key_ifname(name, key);
	nft_add_elem(m, s, key, sizeof(key), "\"%s\"", name);
}

static void add_source(struct nft_model *m, struct nft_set *s, const char *addr, uint32_t vni)
{
	uint8_t key[8];

	(void)inet_pton(AF_INET, addr, key);
	nft_key_u24(vni, key + 4);
	nft_add_elem(m, s, key, sizeof(key), "%s . %u", addr, vni);
}

/* One table with all that a table can have; each test changes something in it before it is sealed. */
struct world {
	struct nft_model m;
	struct nft_table *table;
	struct nft_set *sources, *clamped;
	struct nft_chain *input, *helper;
};

static void world_make(struct world *w)
{
	*w = (struct world){.m.arena = arena_new()};
	w->table = nft_add_table(&w->m, "inet", "fairway_test");
	w->sources = nft_add_set(&w->m, w->table, "sources", "typeof ip saddr . @th,96,24", "the VXLAN sources");
	w->clamped = nft_add_set(&w->m, w->table, "clamped", "type ifname; counter", "the MSS clamp");
	w->helper = nft_add_chain(&w->m, w->table, "helper", NULL);
	w->input = nft_add_chain(&w->m, w->table, "input", "type filter hook input priority -10; policy accept;");
	nft_add_rule(&w->m, w->helper, "iifname @clamped accept");
	nft_add_rule(&w->m, w->input, "udp dport 4789 ip saddr . @th,96,24 != @sources counter drop");
	nft_add_rule(&w->m, w->input, "jump helper");
	add_source(&w->m, w->sources, "10.0.0.1", 10010);
	add_name(&w->m, w->clamped, "vx10010");
}

/* As observed: elements without texts, sets without specs. */
static void make_observed(struct nft_model *m)
{
	for (size_t i = 0; i < m->n_tables; i++)
		for (size_t k = 0; k < m->tables[i]->n_sets; k++) {
			struct nft_set *s = m->tables[i]->sets[k];

			s->spec = s->object = NULL;
			for (size_t e = 0; e < s->n_elems; e++)
				s->elems[e].text = NULL;
		}
}

/* The plan from have to want, and after it the commands of its steps. Ends both. */
static char *plan_text(struct world *want, struct world *have)
{
	struct buf out = {0};
	struct plan plan;

	nft_model_seal(&want->m);
	nft_model_seal(&have->m);
	make_observed(&have->m);
	plan_init(&plan);
	plan.subsystem = &nft;
	nft_plan(&want->m, &have->m, &plan);
	plan_sort(&plan, order, 1);
	for (size_t i = 0; i < plan.n_conflicts; i++)
		buf_printf(&out, "! %s: %s\n", plan.conflicts[i].object, plan.conflicts[i].text);
	for (size_t i = 0; i < plan.n_steps; i++)
		buf_printf(&out, "%c %s: %s [%s]\n", plan.steps[i].phase == STEP_REMOVE ? '-' : '+',
			plan.steps[i].object, plan.steps[i].text, plan.steps[i].impact);
	for (size_t i = 0; i < plan.n_steps; i++)
		nft_step_print(plan.steps[i].payload, &out);
	plan_free(&plan);
	arena_free(want->m.arena);
	arena_free(have->m.arena);
	return buf_steal(&out);
}

static void assert_plan(struct world *want, struct world *have, const char *text)
{
	char *got = plan_text(want, have);

	assert_string_equal(got ? got : "", text);
	free(got);
}

/* Only the first line: for what replaces the table, whose text test_create() has whole. */
static void assert_first_line(struct world *want, struct world *have, const char *line)
{
	char *got = plan_text(want, have);

	assert_non_null(got);
	got[strcspn(got, "\n")] = '\0';
	assert_string_equal(got, line);
	free(got);
}

static void make_two(struct world *want, struct world *have)
{
	world_make(want);
	world_make(have);
}

static void test_same(void **state)
{
	struct world want, have;

	(void)state;
	make_two(&want, &have);
	assert_plan(&want, &have, "");
}

#define DEFINITION(counter)                                                                                            \
	"table inet fairway_test\n"                                                                                    \
	"delete table inet fairway_test\n"                                                                             \
	"table inet fairway_test {\n"                                                                                  \
	"\tcomment \"fw:1071018880ae46a3\"\n"                                                                          \
	"\tset clamped {\n"                                                                                            \
	"\t\ttype ifname\n"                                                                                            \
	"\t\tcounter\n"                                                                                                \
	"\t\tcomment \"fw:06aec85fea694588\"\n"                                                                        \
	"\t\telements = {\n"                                                                                           \
	"\t\t\t\"vx10010\"" counter "\n"                                                                               \
	"\t\t}\n"                                                                                                      \
	"\t}\n"                                                                                                        \
	"\tset sources {\n"                                                                                            \
	"\t\ttypeof ip saddr . @th,96,24\n"                                                                            \
	"\t\tcomment \"fw:a2a3e623915db716\"\n"                                                                        \
	"\t\telements = {\n"                                                                                           \
	"\t\t\t10.0.0.1 . 10010\n"                                                                                     \
	"\t\t}\n"                                                                                                      \
	"\t}\n"                                                                                                        \
	"\tchain helper {\n"                                                                                           \
	"\t\tcomment \"fw:cbf29ce484222325\"\n"                                                                        \
	"\t\tiifname @clamped accept comment \"fw:4bf88ba2025651a2\"\n"                                                \
	"\t}\n"                                                                                                        \
	"\tchain input {\n"                                                                                            \
	"\t\tcomment \"fw:3fc4a3768190062e\"\n"                                                                        \
	"\t\ttype filter hook input priority -10; policy accept;\n"                                                    \
	"\t\tudp dport 4789 ip saddr . @th,96,24 != @sources counter drop comment \"fw:a393d3cab617b2fc\"\n"           \
	"\t\tjump helper comment \"fw:914d4b5e0d420b13\"\n"                                                            \
	"\t}\n"                                                                                                        \
	"}\n"

static void test_create(void **state)
{
	struct world want, have = {.m.arena = arena_new()};

	(void)state;
	world_make(&want);
	assert_plan(&want, &have, "+ table inet fairway_test: create (3 rules, 2 elements) [none]\n" DEFINITION(""));
}

/* A table that is swapped does not forget what its elements counted. */
static void test_replace_keeps_counters(void **state)
{
	struct world want, have;

	(void)state;
	make_two(&want, &have);
	have.table->dormant = true;
	have.clamped->elems[0].packets = 7;
	have.clamped->elems[0].bytes = 420;
	assert_plan(&want, &have,
		"+ table inet fairway_test: replace: it is dormant [none]\n" DEFINITION(
			" counter packets 7 bytes 420"));
}

/* ... unless the set is no longer the same. */
static void test_replace_of_another_set(void **state)
{
	struct world want, have;
	char *got;

	(void)state;
	make_two(&want, &have);
	have.clamped->hash++;
	have.clamped->elems[0].packets = 7;
	got = plan_text(&want, &have);
	assert_non_null(strstr(got, "replace: set clamped is another"));
	assert_null(strstr(got, "packets 7"));
	free(got);
}

static void test_delete(void **state)
{
	struct world want = {.m.arena = arena_new()}, have;

	(void)state;
	world_make(&have);
	assert_plan(&want, &have, "- table inet fairway_test: delete [none]\ndelete table inet fairway_test\n");
}

static void test_stranger(void **state)
{
	struct world want, have;

	(void)state;
	make_two(&want, &have);
	have.table->ours = false;
	assert_plan(&want, &have,
		"! table inet fairway_test: there is a table of this name that Fairway did not make; "
		"delete or rename it\n");
	want = (struct world){.m.arena = arena_new()};
	world_make(&have);
	have.table->ours = false;
	assert_plan(&want, &have, "");
}

static void test_add_elements(void **state)
{
	struct world want, have;

	(void)state;
	make_two(&want, &have);
	add_source(&want.m, want.sources, "10.0.0.2", 10010);
	add_source(&want.m, want.sources, "10.0.0.1", 16777215);
	add_source(&want.m, want.sources, "10.0.0.3", 1);
	add_source(&want.m, want.sources, "10.0.0.4", 1);
	assert_plan(&want, &have,
		"+ the VXLAN sources: add 10.0.0.1 . 16777215, 10.0.0.2 . 10010, 10.0.0.3 . 1 and 1 more [none]\n"
		"add element inet fairway_test sources {\n"
		"\t10.0.0.1 . 16777215,\n"
		"\t10.0.0.2 . 10010,\n"
		"\t10.0.0.3 . 1,\n"
		"\t10.0.0.4 . 1\n"
		"}\n");
}

static void test_remove_elements(void **state)
{
	struct world want, have;

	(void)state;
	make_two(&want, &have);
	add_source(&have.m, have.sources, "192.0.2.1", 9);
	add_name(&have.m, have.clamped, "abcdefghijklmno");
	assert_plan(&want, &have,
		"- the MSS clamp: remove \"abcdefghijklmno\" [none]\n"
		"- the VXLAN sources: remove 192.0.2.1 . 9 [none]\n"
		"delete element inet fairway_test clamped {\n"
		"\t\"abcdefghijklmno\"\n"
		"}\n"
		"delete element inet fairway_test sources {\n"
		"\t192.0.2.1 . 9\n"
		"}\n");
}

/* What moves from one set to another is in one of them at any moment: both steps in one phase, the new place first. */
static void test_move_between_sets(void **state)
{
	struct world want, have;
	struct nft_set *a, *z;

	(void)state;
	make_two(&want, &have);
	(void)nft_add_set(&want.m, want.table, "a", "type ifname", "the MSS clamp");
	z = nft_add_set(&want.m, want.table, "z", "type ifname", "the MSS clamp");
	a = nft_add_set(&have.m, have.table, "a", "type ifname", "the MSS clamp");
	(void)nft_add_set(&have.m, have.table, "z", "type ifname", "the MSS clamp");
	add_name(&have.m, a, "vx1");
	add_name(&want.m, z, "vx1");
	assert_plan(&want, &have,
		"+ the MSS clamp: add \"vx1\" [none]\n"
		"+ the MSS clamp: remove \"vx1\" [none]\n"
		"add element inet fairway_test z {\n"
		"\t\"vx1\"\n"
		"}\n"
		"delete element inet fairway_test a {\n"
		"\t\"vx1\"\n"
		"}\n");
}

static void test_unknown_kind_of_element(void **state)
{
	static const uint8_t foreign[4] = {1, 2, 3, 4};
	struct world want, have;

	(void)state;
	make_two(&want, &have);
	(void)nft_add_set(&want.m, want.table, "marks", "type mark", "marks");
	nft_add_elem(&have.m, nft_add_set(&have.m, have.table, "marks", "type mark", "marks"), foreign, 4, "x");
	assert_first_line(&want, &have, "+ table inet fairway_test: replace: an element is unknown [none]");
}

static void test_rules_differ(void **state)
{
	static const char line[] = "+ table inet fairway_test: replace: the rules of chain input differ [none]";
	struct world want, have;
	struct nft_rule swap;

	(void)state;
	make_two(&want, &have);
	have.input->n_rules--; /* deleted */
	assert_first_line(&want, &have, line);
	make_two(&want, &have);
	nft_add_observed_rule(&have.m, have.input, 0); /* a stranger's */
	assert_first_line(&want, &have, line);
	make_two(&want, &have);
	have.input->rules[1].hash = 0; /* `nft replace rule` */
	assert_first_line(&want, &have, line);
	make_two(&want, &have);
	swap = have.input->rules[0]; /* the same rules in another order */
	have.input->rules[0] = have.input->rules[1];
	have.input->rules[1] = swap;
	assert_first_line(&want, &have, line);
	make_two(&want, &have);
	nft_add_rule(&want.m, want.input, "accept"); /* the config's doing */
	assert_first_line(&want, &have, line);
}

static void test_chains_and_sets_differ(void **state)
{
	struct world want, have;

	(void)state;
	make_two(&want, &have);
	have.input->drop = true;
	assert_first_line(&want, &have, "+ table inet fairway_test: replace: the policy of chain input is drop [none]");
	make_two(&want, &have);
	have.input->hash = 0;
	assert_first_line(&want, &have, "+ table inet fairway_test: replace: chain input is another [none]");
	make_two(&want, &have);
	have.table->n_chains--;
	assert_first_line(&want, &have, "+ table inet fairway_test: replace: chain input is missing [none]");
	make_two(&want, &have);
	(void)nft_add_chain(&have.m, have.table, "foreign", NULL);
	assert_first_line(
		&want, &have, "+ table inet fairway_test: replace: it has more sets, chains or counters [none]");
	make_two(&want, &have);
	(void)nft_add_set(&have.m, have.table, "foreign", "type ifname", "x");
	assert_first_line(
		&want, &have, "+ table inet fairway_test: replace: it has more sets, chains or counters [none]");
	make_two(&want, &have);
	(void)nft_add_set(&want.m, want.table, "another", "type ifname", "x");
	assert_first_line(&want, &have, "+ table inet fairway_test: replace: set another is missing [none]");
}

static void test_elem_print(void **state)
{
	static const struct {
		const char *spec;
		uint8_t key[NFT_KEY_MAX];
		uint8_t len;
		const char *text; /* NULL: cannot be printed */
	} cases[] = {
		{"typeof ip saddr . @th,96,24", {10, 0, 0, 1, 0, 0x27, 0x1a}, 8, "10.0.0.1 . 10010"},
		{"typeof ip6 saddr . @th,96,24", {0xfd, [15] = 1, 0xff, 0xff, 0xff}, 20, "fd00::1 . 16777215"},
		{"type ifname; counter", "vx1", 16, "\"vx1\""},
		{"type ifname", "abcdefghijklmno", 16, "\"abcdefghijklmno\""},
		{"type ipv4_addr . inet_service", {192, 0, 2, 1, 0x12, 0xb5}, 8, "192.0.2.1 . 4789"},
		{"type ipv6_addr", {[15] = 1}, 16, "::1"},
		{"typeof @th,96,24", {0, 0, 9}, 3, "9"},
		{"type ifname", "vx1", 8, NULL},			/* too short */
		{"type ipv4_addr", {10, 0, 0, 1, 0, 0, 0, 1}, 8, NULL}, /* too long */
		{"type ether_addr", {1, 2, 3, 4, 5, 6}, 6, "01:02:03:04:05:06"},
		{"typeof iifname . @th,208,48 . @th,64,128", {'e', [16] = 2, 0, 0, 0, 0, 1, [24] = 0xfd, [39] = 1}, 40,
			"\"e\" . 0x020000000001 . 0xfd000000000000000000000000000001"},
		{"type ct_id", {1}, 4, NULL},
		{"typeof ip saddr . ct zone", {1}, 8, NULL},
		{"elements", {1}, 4, NULL},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct nft_elem e = {.key_len = cases[i].len};
		struct buf out = {0};

		memcpy(e.key, cases[i].key, sizeof(e.key));
		buf_puts(&out, "x");
		assert_int_equal(nft_elem_print(cases[i].spec, &e, &out), cases[i].text != NULL);
		assert_string_equal(buf_str(&out) + 1, cases[i].text ? cases[i].text : "");
		buf_free(&out);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same),
		cmocka_unit_test(test_create),
		cmocka_unit_test(test_replace_keeps_counters),
		cmocka_unit_test(test_replace_of_another_set),
		cmocka_unit_test(test_delete),
		cmocka_unit_test(test_stranger),
		cmocka_unit_test(test_add_elements),
		cmocka_unit_test(test_remove_elements),
		cmocka_unit_test(test_move_between_sets),
		cmocka_unit_test(test_unknown_kind_of_element),
		cmocka_unit_test(test_rules_differ),
		cmocka_unit_test(test_chains_and_sets_differ),
		cmocka_unit_test(test_elem_print),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
