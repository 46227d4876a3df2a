/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A few prefixes more or less, by the short way: the class maps are what the whole way makes of them, for random sets
 * and random changes. Where the short way says that it cannot, there is a reason: classes have come or gone.
 */
/* LINK: gateway/policy/policy_delta.c gateway/policy/policy_class.c gateway/policy/policy_table.c gateway/nft/nft_model.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gateway/base/arena.h"
#include "gateway/nft/nft.h"
#include "gateway/policy/policy_class.h"
#include "gateway/policy/policy_delta.h"

enum { SETS = 3, MOST = 40, ROUNDS = 20000 };

static uint64_t seed = 1;

static uint32_t pick(uint32_t n)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return n ? (uint32_t)(seed >> 33) % n : 0;
}

/* Few addresses, so that prefixes meet, touch and hold each other; the ends of the address space too. */
static struct ip_prefix random_prefix(void)
{
	struct ip_prefix p = {.addr.family = pick(3) ? AF_INET : AF_INET6};
	unsigned bits = 8 * (unsigned)ip_addr_len(&p.addr);
	static const uint8_t tops[] = {0, 10, 255};

	memset(p.addr.bytes, (int)tops[pick(3)], bits / 8);
	p.addr.bytes[bits / 8 - 1] = (uint8_t)pick(256);
	p.len = (uint8_t)(pick(50) ? bits - pick(7) : pick(bits + 1));
	return ip_prefix_network(&p);
}

/* What policy_render.c makes of the classes. */
static struct nft_set *elems_of(const struct policy_classes *c, size_t f, struct arena *arena)
{
	struct nft_set *s = arena_new_obj(arena, struct nft_set);

	s->n_elems = f ? c->n_atoms6 : c->n_atoms4;
	s->elems = arena_array(arena, s->n_elems + 1, sizeof(*s->elems));
	for (size_t i = 0; i < s->n_elems; i++) {
		struct nft_elem *e = &s->elems[i];
		uint8_t *end = arena_alloc(arena, 16);

		e->key_len = f ? 16 : 4;
		e->key_end = end;
		if (f) {
			memcpy(e->key, c->atoms6[i].low, 16);
			memcpy(end, c->atoms6[i].high, 16);
		}
		for (size_t k = 0; k < 4 && !f; k++) {
			e->key[k] = (uint8_t)(c->atoms4[i].low >> (24 - 8 * k));
			end[k] = (uint8_t)(c->atoms4[i].high >> (24 - 8 * k));
		}
		e->data = arena_printf(arena, "%u", f ? c->atoms6[i].class_id : c->atoms4[i].class_id);
	}
	return s;
}

static bool has(const struct nft_elem *v, size_t n, const struct nft_elem *e)
{
	for (size_t i = 0; i < n; i++)
		if (nft_elem_cmp(&v[i], e) == 0)
			return true;
	return false;
}

static void assert_result(const struct nft_set *before, const struct policy_delta *d, const struct nft_set *after)
{
	size_t kept = 0;

	for (size_t i = 0; i < d->n_less; i++)
		assert_true(has(before->elems, before->n_elems, &d->less[i]));
	for (size_t i = 0; i < d->n_more; i++) {
		assert_true(has(after->elems, after->n_elems, &d->more[i]));
		assert_false(has(before->elems, before->n_elems, &d->more[i]));
	}
	for (size_t i = 0; i < before->n_elems; i++) {
		if (has(d->less, d->n_less, &before->elems[i]))
			continue;
		assert_true(has(after->elems, after->n_elems, &before->elems[i]));
		kept++;
	}
	assert_int_equal(kept + d->n_more, after->n_elems);
}

/* What a look-up in the map finds; NULL: nothing. */
static const char *found_in(const struct nft_elem *v, size_t n, const uint8_t *addr, size_t len)
{
	for (size_t i = 0; i < n; i++)
		if (memcmp(v[i].key, addr, len) <= 0 && memcmp(v[i].key_end, addr, len) >= 0)
			return v[i].data;
	return NULL;
}

/* The map as it was, and what is said behind it, find what the new map does, for every address; no two ranges meet. */
static void assert_over(
	const struct nft_set *before, const struct policy_delta *d, const struct nft_set *after, size_t f)
{
	static const uint8_t tops[] = {0, 10, 255};
	size_t len = f ? 16 : 4;

	for (size_t i = 1; i < d->n_over; i++)
		assert_true(memcmp(d->over[i - 1].key_end, d->over[i].key, len) < 0);
	for (size_t i = 0; i < (size_t)3 * 256; i++) {
		const char *over, *now;
		uint8_t addr[16];

		memset(addr, tops[i % 3], sizeof(addr));
		addr[len - 1] = (uint8_t)(i / 3);
		over = found_in(d->over, d->n_over, addr, len);
		if (!over)
			over = found_in(before->elems, before->n_elems, addr, len);
		now = found_in(after->elems, after->n_elems, addr, len);
		assert_string_equal(over ? over : "0", now ? now : "0");
	}
}

static bool same_classes(const struct policy_classes *a, const struct policy_classes *b)
{
	for (size_t i = 0; i < SETS; i++) {
		size_t found = 0;

		if (a->sets[i].n != b->sets[i].n)
			return false;
		for (size_t k = 0; k < a->sets[i].n; k++)
			for (size_t j = 0; j < b->sets[i].n; j++)
				found += a->sets[i].v[k] == b->sets[i].v[j];
		if (found != a->sets[i].n)
			return false;
	}
	return true;
}

static bool round_of_changes(void)
{
	struct arena *arena = arena_new();
	struct ip_prefix own[SETS][MOST], file[MOST + 8];
	struct policy_addrs sets[SETS] = {{.what = "group a"}, {.what = "group b"}, {.what = "group c"}};
	struct policy_model m = {.arena = arena, .addrs = sets, .n_addrs = SETS};
	struct policy_classes before, after;
	const struct nft_set *have[2];
	const struct ip_prefix *changed;
	struct policy_delta delta[2];
	size_t n_file = 1 + pick(MOST), n_now = n_file, at, gone, n_changed;
	struct ip_prefix now[MOST + 8];
	bool done;

	for (size_t i = 0; i < SETS; i++) {
		sets[i].own = own[i];
		sets[i].n_own = i ? pick(MOST / 4) : 0;
		for (size_t k = 0; k < sets[i].n_own; k++)
			own[i][k] = random_prefix();
	}
	for (size_t i = 0; i < n_file; i++)
		file[i] = random_prefix();
	sets[0].file = file;
	sets[0].n_file = n_file;
	policy_classes_make(sets, SETS, arena, &before);
	/* Some go, and some come, in one place. */
	memcpy(now, file, sizeof(now));
	at = pick((uint32_t)n_file);
	gone = pick(3);
	if (gone > n_file - at)
		gone = n_file - at;
	memmove(now + at, now + at + gone, (n_file - at - gone) * sizeof(*now));
	n_now -= gone;
	for (size_t i = pick(3); i > 0; i--)
		now[n_now++] = random_prefix();
	sets[0].file = now;
	sets[0].n_file = n_now;
	policy_classes_make(sets, SETS, arena, &after);
	for (size_t f = 0; f < 2; f++)
		have[f] = elems_of(&before, f, arena);
	assert_true(policy_delta_between(file, n_file, now, n_now, arena, &changed, &n_changed));
	done = policy_delta_make(&m, changed, n_changed, have, arena, delta);
	for (size_t f = 0; f < 2 && done; f++) {
		const struct nft_set *now_has = elems_of(&after, f, arena);

		assert_result(have[f], &delta[f], now_has);
		assert_over(have[f], &delta[f], now_has, f);
	}
	if (done)
		assert_true(same_classes(&before, &after));
	arena_free(arena);
	return done;
}

static void test_short_way(void **state)
{
	unsigned done = 0;

	(void)state;
	for (int i = 0; i < ROUNDS; i++)
		done += round_of_changes();
	/* The short way is not one that always gives up. */
	print_message("%u of %d by the short way\n", done, ROUNDS);
	assert_true(done > ROUNDS / 4);
}

/* Another class, one that goes, or a map that is not known: the whole way. */
static void test_what_it_does_not_do(void **state)
{
	struct arena *arena = arena_new();
	struct ip_prefix a[2], b[1], more[1];
	struct policy_addrs sets[2] = {
		{.what = "group a", .own = a, .n_own = 2}, {.what = "group b", .own = b, .n_own = 1}};
	struct policy_model m = {.arena = arena, .addrs = sets, .n_addrs = 2};
	const struct nft_set *have[2] = {0};
	struct policy_delta delta[2];
	struct policy_classes c;

	(void)state;
	assert_int_equal(ip_prefix_parse("10.0.0.0/24", &a[0]), 0);
	assert_int_equal(ip_prefix_parse("10.0.2.0/24", &a[1]), 0);
	assert_int_equal(ip_prefix_parse("10.9.0.0/24", &b[0]), 0);
	assert_int_equal(ip_prefix_parse("10.0.2.0/25", &more[0]), 0);
	policy_classes_make(sets, 2, arena, &c);
	assert_false(policy_delta_make(&m, &a[0], 1, have, arena, delta));
	for (size_t f = 0; f < 2; f++)
		have[f] = elems_of(&c, f, arena);
	/* In both groups: a class that is not there. */
	sets[1].file = more;
	sets[1].n_file = 1;
	assert_false(policy_delta_make(&m, more, 1, have, arena, delta));
	/* All of a class goes. */
	sets[1].n_file = sets[1].n_own = 0;
	assert_false(policy_delta_make(&m, b, 1, have, arena, delta));
	/* One of two goes. */
	sets[1].n_own = 1;
	sets[0].n_own = 1;
	assert_true(policy_delta_make(&m, &a[1], 1, have, arena, delta));
	assert_int_equal(delta[0].n_less, 1);
	assert_int_equal(delta[0].n_more, 0);
	arena_free(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_short_way), cmocka_unit_test(test_what_it_does_not_do)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
