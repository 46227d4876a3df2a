/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nft models: building, sealing, keys and comments. */
/* LINK: gateway/nft/nft_model.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "gateway/base/arena.h"
#include "gateway/base/str.h"
#include "gateway/nft/nft.h"

static void setup(struct nft_model *m)
{
	*m = (struct nft_model){.arena = arena_new()};
}

static void add_u24(struct nft_model *m, struct nft_set *s, uint32_t n)
{
	uint8_t key[4];

	nft_key_u24(n, key);
	nft_add_elem(m, s, key, sizeof(key), "%u", n);
}

static void test_seal_sorts_and_drops_duplicates(void **state)
{
	static const uint32_t numbers[] = {70000, 3, 256, 3, 255, 16777215, 70000, 1};
	static const char *const want[] = {"1", "3", "255", "256", "70000", "16777215"};
	struct nft_model m;
	struct nft_table *t;
	struct nft_set *z, *a;

	(void)state;
	setup(&m);
	t = nft_add_table(&m, "inet", "fairway_z");
	z = nft_add_set(&m, t, "z", "typeof @th,96,24", "numbers");
	a = nft_add_set(&m, t, "a", "type ifname", "names");
	(void)nft_add_table(&m, "inet", "fairway_a");
	(void)nft_add_table(&m, "bridge", "fairway_z");
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		add_u24(&m, z, numbers[i]);
	nft_model_seal(&m);

	assert_string_equal(m.tables[0]->family, "bridge");
	assert_string_equal(m.tables[1]->name, "fairway_a");
	assert_ptr_equal(m.tables[2], t);
	assert_ptr_equal(t->sets[0], a);
	assert_ptr_equal(t->sets[1], z);
	assert_int_equal(z->n_elems, ARRAY_SIZE(want));
	for (size_t i = 0; i < z->n_elems; i++)
		assert_string_equal(z->elems[i].text, want[i]);
	arena_free(m.arena);
}

/* A renderer fills several tables, sets and chains in turns: none may move while others grow. */
static void test_pointers_stay(void **state)
{
	enum { N = 100 };
	struct nft_model m;
	struct nft_table *tables[N];
	struct nft_set *sets[N];
	struct nft_chain *chains[N];

	(void)state;
	setup(&m);
	for (int i = 0; i < N; i++) {
		tables[i] = nft_add_table(&m, "inet", "fairway_t");
		sets[i] = nft_add_set(&m, tables[0], "s", "type ifname", "x");
		chains[i] = nft_add_chain(&m, tables[0], "c", NULL);
	}
	for (uint32_t i = 0; i < N; i++) {
		add_u24(&m, sets[i], i);
		nft_add_rule(&m, chains[i], "drop");
	}
	for (int i = 0; i < N; i++) {
		assert_ptr_equal(m.tables[i], tables[i]);
		assert_int_equal(tables[0]->sets[i]->n_elems, 1);
		assert_int_equal(tables[0]->chains[i]->n_rules, 1);
	}
	arena_free(m.arena);
}

static void test_find(void **state)
{
	struct nft_model m;
	struct nft_table *t;
	struct nft_set *s;
	struct nft_chain *c;

	(void)state;
	setup(&m);
	t = nft_add_table(&m, "inet", "fairway_t");
	s = nft_add_set(&m, t, "s", "type ifname", "x");
	c = nft_add_chain(&m, t, "c", NULL);
	assert_ptr_equal(nft_model_table(&m, "inet", "fairway_t"), t);
	assert_null(nft_model_table(&m, "bridge", "fairway_t"));
	assert_ptr_equal(nft_table_set(t, "s"), s);
	assert_null(nft_table_set(t, "c"));
	assert_ptr_equal(nft_table_chain(t, "c"), c);
	assert_null(nft_table_chain(t, "s"));
	arena_free(m.arena);
}

static void test_hashes_follow_the_declaration(void **state)
{
	struct nft_model m;
	struct nft_table *t;
	struct nft_chain *accept, *drop, *plain;

	(void)state;
	setup(&m);
	t = nft_add_table(&m, "inet", "fairway_t");
	accept = nft_add_chain(&m, t, "a", "type filter hook input priority 0; policy accept;");
	drop = nft_add_chain(&m, t, "b", "type filter hook input priority 0; policy drop;");
	plain = nft_add_chain(&m, t, "c", NULL);
	assert_false(accept->drop);
	assert_true(drop->drop);
	assert_false(plain->drop);
	assert_int_not_equal(accept->hash, drop->hash);
	assert_int_not_equal(plain->hash, 0);
	nft_add_rule(&m, plain, "tcp dport %d drop", 22);
	nft_add_rule(&m, plain, "tcp dport %d drop", 23);
	assert_string_equal(plain->rules[0].text, "tcp dport 22 drop");
	assert_int_not_equal(plain->rules[0].hash, plain->rules[1].hash);
	assert_int_not_equal(nft_table_hash(t), nft_table_hash(nft_add_table(&m, "bridge", "fairway_t")));
	arena_free(m.arena);
}

static void test_key_ifname(void **state)
{
	static const uint8_t vx1[16] = "vx1";
	uint8_t key[16];

	(void)state;
	memset(key, 0xff, sizeof(key));
	nft_key_ifname("vx1", key);
	assert_memory_equal(key, vx1, 16);
	nft_key_ifname("abcdefghijklmno", key);
	assert_memory_equal(key, "abcdefghijklmno", 16); /* 15 characters and a NUL */
	nft_key_ifname("abcdefghijklmnopq", key);
	assert_memory_equal(key, "abcdefghijklmno", 16);
}

static void test_key_u24(void **state)
{
	static const uint8_t want[4] = {0x00, 0x27, 0x1a, 0x00};
	uint8_t key[4] = {0xff, 0xff, 0xff, 0xff};

	(void)state;
	nft_key_u24(10010, key);
	assert_memory_equal(key, want, 4);
}

static void test_comment(void **state)
{
	static const uint64_t hashes[] = {1, 0xdeadbeef, UINT64_MAX, 0x0123456789abcdef};
	static const char *const bad[] = {"", "fw:", "fw:1", "fw:0123456789abcdeg", "fw:0123456789abcdef0",
		"xx:0123456789abcdef", "0123456789abcdef"};
	char text[NFT_COMMENT_MAX];

	(void)state;
	assert_string_equal(nft_comment(0xab, text), "fw:00000000000000ab");
	for (size_t i = 0; i < ARRAY_SIZE(hashes); i++)
		assert_true(nft_comment_hash(nft_comment(hashes[i], text)) == hashes[i]);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_true(nft_comment_hash(bad[i]) == 0);
	assert_true(nft_comment_hash(NULL) == 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_seal_sorts_and_drops_duplicates),
		cmocka_unit_test(test_pointers_stay),
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_hashes_follow_the_declaration),
		cmocka_unit_test(test_key_ifname),
		cmocka_unit_test(test_key_u24),
		cmocka_unit_test(test_comment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
