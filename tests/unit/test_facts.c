/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Facts against a plain array that is searched from end to end. */
/* LINK: gateway/engine/facts.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gateway/engine/facts.h"

static struct ip_addr addr(const char *text)
{
	struct ip_addr a;

	assert_int_equal(ip_addr_parse(text, &a), 0);
	return a;
}

static void test_set_and_forget(void **state)
{
	struct ip_addr v4 = addr("10.255.1.1"), v6 = addr("fd00::1");
	struct facts f;

	(void)state;
	facts_init(&f);
	assert_int_equal(facts_path_mtu(&f, &v4, "eth1"), 0);
	assert_false(facts_set_path_mtu(&f, &v4, "eth1", 0));
	assert_true(facts_set_path_mtu(&f, &v4, "eth1", 1400));
	assert_false(facts_set_path_mtu(&f, &v4, "eth1", 1400));
	assert_true(facts_set_path_mtu(&f, &v6, "eth1", 1380));
	assert_true(facts_set_path_mtu(&f, &v4, "eth0", 1300));
	assert_int_equal(facts_path_mtu(&f, &v4, "eth1"), 1400);
	assert_int_equal(facts_path_mtu(&f, &v4, "eth0"), 1300);
	assert_int_equal(facts_path_mtu(&f, &v6, "eth1"), 1380);
	assert_int_equal(facts_path_mtu(&f, &v6, "eth0"), 0);
	assert_true(facts_set_path_mtu(&f, &v4, "eth1", 1390));
	assert_int_equal(facts_path_mtu(&f, &v4, "eth1"), 1390);
	assert_true(facts_set_path_mtu(&f, &v4, "eth1", 0));
	assert_int_equal(facts_path_mtu(&f, &v4, "eth1"), 0);
	assert_int_equal(f.n_paths, 2);
	facts_free(&f);
	assert_int_equal(f.n_paths, 0);
}

static void test_many(void **state)
{
	enum { N = 40, ROUNDS = 4000 };
	uint32_t model[N] = {0};
	struct facts f;

	(void)state;
	srand(7);
	facts_init(&f);
	for (int i = 0; i < ROUNDS; i++) {
		unsigned at = (unsigned)rand() % N;
		uint32_t mtu = rand() % 4 ? 1000u + (uint32_t)(rand() % 8) : 0;
		struct ip_addr vtep = addr("10.0.0.0");
		char name[16];

		vtep.bytes[3] = (uint8_t)(at / 4);
		(void)snprintf(name, sizeof(name), "eth%u", at % 4);
		assert_int_equal(facts_set_path_mtu(&f, &vtep, name, mtu), model[at] != mtu);
		model[at] = mtu;
		assert_int_equal(facts_path_mtu(&f, &vtep, name), mtu);
	}
	for (size_t i = 1; i < f.n_paths; i++) {
		const struct path_fact *a = &f.paths[i - 1], *b = &f.paths[i];
		int c = ip_addr_cmp(&a->vtep, &b->vtep);

		assert_true(c < 0 || (c == 0 && strcmp(a->interface, b->interface) < 0));
	}
	facts_free(&f);
}

/* Sorted by peer, then interface; an address counts per interface and family. */
static void test_dead(void **state)
{
	struct ip_addr v4 = addr("10.0.1.2"), other = addr("10.0.0.2"), v6 = addr("fe80::2");
	struct facts f;

	(void)state;
	facts_init(&f);
	assert_false(facts_is_dead(&f, &v4, "eth1"));
	assert_false(facts_set_dead(&f, &v4, "eth1", false));
	assert_true(facts_set_dead(&f, &v6, "eth1", true));
	assert_true(facts_set_dead(&f, &v4, "eth1", true));
	assert_false(facts_set_dead(&f, &v4, "eth1", true));
	assert_true(facts_set_dead(&f, &v4, "eth0", true));
	assert_true(facts_set_dead(&f, &other, "eth9", true));
	assert_int_equal(f.n_dead, 4);
	assert_memory_equal(&f.dead[0].peer, &other, sizeof(other));
	assert_string_equal(f.dead[1].interface, "eth0");
	assert_string_equal(f.dead[2].interface, "eth1");
	assert_memory_equal(&f.dead[3].peer, &v6, sizeof(v6));
	assert_true(facts_is_dead(&f, &v6, "eth1"));
	assert_false(facts_is_dead(&f, &v6, "eth0"));
	assert_true(facts_set_dead(&f, &v4, "eth0", false));
	assert_false(facts_is_dead(&f, &v4, "eth0"));
	assert_true(facts_is_dead(&f, &v4, "eth1"));
	assert_int_equal(f.n_dead, 3);
	facts_free(&f);
	assert_int_equal(f.n_dead, 0);
}

/* The facts keep copies: what they were made from may change. */
static void test_secrets(void **state)
{
	char path[] = "/etc/fairway/secrets/b", text[] = "second";
	struct facts f;

	(void)state;
	facts_init(&f);
	assert_null(facts_secret(&f, path));
	facts_set_secret(&f, path, NULL);
	assert_int_equal(f.n_secrets, 0);
	facts_set_secret(&f, path, text);
	facts_set_secret(&f, "/etc/fairway/secrets/c", "third");
	facts_set_secret(&f, "/etc/fairway/secrets/a", "");
	memset(text, 'x', strlen(text));
	path[0] = 'x';
	assert_int_equal(f.n_secrets, 3);
	assert_string_equal(f.secrets[0].path, "/etc/fairway/secrets/a");
	assert_string_equal(f.secrets[1].path, "/etc/fairway/secrets/b");
	assert_string_equal(f.secrets[2].path, "/etc/fairway/secrets/c");
	assert_string_equal(facts_secret(&f, "/etc/fairway/secrets/a"), "");
	assert_string_equal(facts_secret(&f, "/etc/fairway/secrets/b"), "second");
	facts_set_secret(&f, "/etc/fairway/secrets/b", "new");
	assert_string_equal(facts_secret(&f, "/etc/fairway/secrets/b"), "new");
	facts_set_secret(&f, "/etc/fairway/secrets/b", facts_secret(&f, "/etc/fairway/secrets/b"));
	assert_string_equal(facts_secret(&f, "/etc/fairway/secrets/b"), "new");
	assert_int_equal(f.n_secrets, 3);
	facts_set_secret(&f, "/etc/fairway/secrets/a", NULL);
	assert_null(facts_secret(&f, "/etc/fairway/secrets/a"));
	assert_string_equal(facts_secret(&f, "/etc/fairway/secrets/c"), "third");
	facts_free(&f);
	assert_null(facts_secret(&f, "/etc/fairway/secrets/c"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_set_and_forget),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_dead),
		cmocka_unit_test(test_secrets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
