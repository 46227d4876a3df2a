/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When a line counts as dead, and for how long: time is a number here. */
/* LINK: routing/flip_state.c routing/bfd_event.c gateway/base/addr.c gateway/base/arena.c gateway/base/str.c gateway/base/buf.c gateway/base/log.c */
/* LIBS: jansson */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "gateway/base/arena.h"
#include "gateway/base/str.h"
#include "routing/flip_state.h"

enum { MAX = 30 };

static struct flip_state s;

static struct ip_addr addr(const char *text)
{
	struct ip_addr a = {0};

	if (*text && ip_addr_parse(text, &a) < 0)
		fail_msg("no address: %s", text);
	return a;
}

static struct flip_line line(const char *peer, const char *interface)
{
	struct flip_line l = {.peer = addr(peer)};

	(void)snprintf(l.interface, sizeof(l.interface), "%s", interface);
	return l;
}

static int setup(void **state)
{
	const struct flip_line lines[] = {
		line("172.31.0.2", "a"), line("172.31.0.6", "b"), line("", "fab"), line("fd00::2", "six")};

	(void)state;
	s = (struct flip_state){.max_usec = MAX};
	flip_state_watch(&s, lines, ARRAY_SIZE(lines));
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	flip_state_free(&s);
	return 0;
}

/* Diagnostic 1: control detection time expired; RFC 5880 4.1. */
static struct bfd_event event(const char *peer, const char *interface, enum bfd_state state)
{
	struct bfd_event e = {.peer = addr(peer), .state = state, .diagnostic = state == BFD_DOWN};

	(void)snprintf(e.interface, sizeof(e.interface), "%s", interface);
	return e;
}

static bool says(const char *peer, const char *interface, enum bfd_state state, uint64_t now)
{
	struct bfd_event e = event(peer, interface, state);

	return flip_state_event(&s, &e, now) != NULL;
}

static size_t dead(uint64_t now)
{
	struct arena *arena = arena_new();
	struct flip_line *v;
	size_t n = flip_state_dead(&s, now, arena, &v);

	arena_free(arena);
	return n;
}

static void test_dead_until_bfd_says_otherwise(void **state)
{
	(void)state;
	assert_true(says("172.31.0.2", "a", BFD_UP, 1));
	assert_false(says("172.31.0.2", "a", BFD_UP, 2)); /* no news */
	assert_int_equal(dead(2), 0);
	assert_true(says("172.31.0.2", "a", BFD_DOWN, 3));
	assert_int_equal(dead(3), 1);
	assert_true(says("172.31.0.2", "a", BFD_UP, 9));
	assert_int_equal(dead(9), 0);
	assert_int_equal(flip_state_deadline(&s, 9), UINT64_MAX);
}

static void test_a_death_does_not_count_for_ever(void **state)
{
	(void)state;
	(void)says("172.31.0.2", "a", BFD_DOWN, 3);
	assert_int_equal(flip_state_deadline(&s, 3), 3 + MAX);
	assert_int_equal(dead(3 + MAX - 1), 1);
	assert_int_equal(dead(3 + MAX), 0);
	/* The same death again is not a new one, another is. */
	(void)says("172.31.0.2", "a", BFD_DOWN, 3 + MAX);
	assert_int_equal(dead(3 + MAX), 0);
	(void)says("172.31.0.2", "a", BFD_UP, 50);
	(void)says("172.31.0.2", "a", BFD_DOWN, 51);
	assert_int_equal(dead(51), 1);
}

static void test_whom_it_concerns(void **state)
{
	struct bfd_event multihop = event("172.31.0.2", "a", BFD_DOWN);

	(void)state;
	assert_false(says("172.31.0.9", "a", BFD_DOWN, 1));
	assert_false(says("172.31.0.2", "b", BFD_DOWN, 1));
	multihop.multihop = true;
	assert_null(flip_state_event(&s, &multihop, 1));
	assert_int_equal(dead(1), 0);
	assert_true(says("172.31.0.6", "", BFD_DOWN, 1));  /* on any interface */
	assert_true(says("fe80::77", "fab", BFD_DOWN, 1)); /* unnumbered: whoever is there */
	assert_int_equal(dead(1), 2);
}

static void test_a_dead_ipv6_line_takes_its_link_local_routers_along(void **state)
{
	(void)state;
	(void)says("fd00::2", "six", BFD_DOWN, 1);
	assert_int_equal(dead(1), 2); /* itself, and `::` */
}

static void test_ended_on_purpose_is_not_dead(void **state)
{
	(void)state;
	(void)says("172.31.0.2", "a", BFD_UP, 1);
	(void)says("172.31.0.2", "a", BFD_ADMIN_DOWN, 2);
	assert_int_equal(dead(2), 0);
}

static void test_a_lost_bfdd_leaves_doubt_which_has_its_time(void **state)
{
	(void)state;
	(void)says("172.31.0.2", "a", BFD_DOWN, 1);
	flip_state_lost(&s, 10);
	assert_int_equal(dead(10), 1);
	assert_null(flip_state_expire(&s, 10 + MAX - 1));
	assert_non_null(flip_state_expire(&s, 10 + MAX));
	assert_null(flip_state_expire(&s, 10 + MAX));
	assert_int_equal(dead(10 + MAX), 0);
	/* Its word is back in time: no doubt any more. */
	(void)says("172.31.0.6", "b", BFD_DOWN, 50);
	flip_state_lost(&s, 51);
	(void)says("172.31.0.6", "b", BFD_DOWN, 52);
	assert_null(flip_state_expire(&s, 51 + MAX));
}

static void test_other_lines_keep_what_is_known_of_those_that_stay(void **state)
{
	const struct flip_line lines[] = {line("172.31.0.2", "a"), line("172.31.0.10", "c")};

	(void)state;
	(void)says("172.31.0.2", "a", BFD_DOWN, 1);
	(void)says("172.31.0.6", "b", BFD_DOWN, 1);
	flip_state_watch(&s, lines, ARRAY_SIZE(lines));
	assert_int_equal(dead(2), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_dead_until_bfd_says_otherwise, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_death_does_not_count_for_ever, setup, teardown),
		cmocka_unit_test_setup_teardown(test_whom_it_concerns, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_a_dead_ipv6_line_takes_its_link_local_routers_along, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ended_on_purpose_is_not_dead, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_lost_bfdd_leaves_doubt_which_has_its_time, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_other_lines_keep_what_is_known_of_those_that_stay, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
