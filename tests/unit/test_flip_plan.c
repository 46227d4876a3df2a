/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which routes are overridden when a line dies, by what, and which overrides go. */
/* LINK: routing/flip_plan.c overlay/model.c gateway/base/addr.c gateway/base/arena.c gateway/base/str.c gateway/base/buf.c gateway/base/log.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gateway/base/arena.h"
#include "gateway/base/buf.h"
#include "gateway/base/str.h"
#include "overlay/model.h"
#include "routing/flip.h"
#include "routing/flip_plan.h"

enum { MAIN = 254, BGP = 20, FLOATING = 4194304200U };

static struct arena *arena;

static int setup(void **state)
{
	(void)state;
	arena = arena_new();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	arena_free(arena);
	return 0;
}

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

/* hops: "VIA LINK WEIGHT, ..." in order. */
static struct ip_route route(const char *dst, uint32_t metric, const char *hops)
{
	struct ip_route r = {.table = MAIN, .metric = metric, .proto = 186};
	char via[64], link[16], weight[4];
	int used;

	if (ip_prefix_parse(dst, &r.dst) < 0)
		fail_msg("no prefix: %s", dst);
	r.nexthops = arena_array(arena, 8, sizeof(*r.nexthops));
	while (sscanf(hops, "%63s %15s %3[0-9]%n", via, link, weight, &used) == 3) {
		struct nexthop *nh = &r.nexthops[r.n_nexthops++];

		*nh = (struct nexthop){.via = addr(via), .weight = (uint8_t)strtoul(weight, NULL, 10)};
		(void)snprintf(nh->link, sizeof(nh->link), "%s", link);
		hops += used + (hops[used] == ',');
	}
	return r;
}

static void print(const struct ip_route *r, struct buf *out)
{
	char text[IP_STR_MAX];

	buf_printf(out, "%s%s", out->len > 0 ? "; " : "", ip_prefix_str(&r->dst, text));
	for (size_t i = 0; i < r->n_nexthops; i++)
		buf_printf(out, "%s %s %s %u", i > 0 ? "," : "", ip_addr_str(&r->nexthops[i].via, text),
			r->nexthops[i].link, r->nexthops[i].weight);
}

static void expect(
	const struct ip_route *routes, size_t n, const struct flip_line *dead, size_t n_dead, const char *overrides)
{
	struct ip_route *found;
	size_t n_found = flip_overrides(routes, n, dead, n_dead, arena, &found);
	struct buf text = {0};

	for (size_t i = 0; i < n_found; i++) {
		assert_int_equal(found[i].proto, FLIP_PROTO);
		assert_int_equal(found[i].metric, FLIP_METRIC);
		assert_int_equal(found[i].table, MAIN);
		print(&found[i], &text);
	}
	assert_string_equal(buf_str(&text), overrides);
	buf_free(&text);
}

#define EXPECT(routes, dead, text) expect(routes, ARRAY_SIZE(routes), dead, ARRAY_SIZE(dead), text)

static void test_what_is_left_of_a_multipath_route_carries_with_its_weights(void **state)
{
	const struct ip_route two[] = {route("10.1.0.0/24", BGP, "172.31.0.2 a 3,172.31.0.6 b 5")};
	const struct ip_route three[] = {route("10.1.0.0/24", BGP, "172.31.0.2 a 1,172.31.0.6 b 2,172.31.0.10 c 4")};
	const struct flip_line a[] = {line("172.31.0.2", "a")};
	const struct flip_line a_c[] = {line("172.31.0.10", "c"), line("172.31.0.2", "a")};

	(void)state;
	EXPECT(two, a, "10.1.0.0/24 172.31.0.6 b 5");
	EXPECT(three, a, "10.1.0.0/24 172.31.0.6 b 2, 172.31.0.10 c 4");
	EXPECT(three, a_c, "10.1.0.0/24 172.31.0.6 b 2");
	expect(two, 1, NULL, 0, "");
}

static void test_every_prefix_behind_a_next_hop_moves_and_no_other(void **state)
{
	const struct ip_route routes[] = {route("10.1.0.0/24", BGP, "172.31.0.2 a 1,172.31.0.6 b 1"),
		route("10.2.0.0/24", BGP, "172.31.0.6 b 1"), route("10.3.0.0/24", BGP, "172.31.0.2 a 1,172.31.0.6 b 1"),
		route("10.4.0.0/24", BGP, "172.31.0.2 x 1,172.31.0.6 b 1")};
	const struct flip_line dead[] = {line("172.31.0.2", "a")};

	(void)state;
	EXPECT(routes, dead, "10.1.0.0/24 172.31.0.6 b 1; 10.3.0.0/24 172.31.0.6 b 1");
}

static void test_a_worse_route_carries_where_the_best_is_dead_as_a_whole(void **state)
{
	const struct ip_route floating[] = {route("10.255.1.1/32", BGP, "172.31.0.2 a 1"),
		route("10.255.1.1/32", FLOATING, "172.31.0.2 a 1,172.31.0.6 b 7")};
	const struct flip_line a[] = {line("172.31.0.2", "a")},
			       both[] = {line("172.31.0.2", "a"), line("172.31.0.6", "b")};

	(void)state;
	EXPECT(floating, a, "10.255.1.1/32 172.31.0.6 b 7");
	EXPECT(floating, both, "");
}

static void test_without_another_way_all_stays(void **state)
{
	const struct ip_route routes[] = {route("10.1.0.0/24", BGP, "172.31.0.2 a 1"),
		route("10.2.0.0/24", BGP, "172.31.0.2 a 1,172.31.0.6 b 1")};
	const struct flip_line both[] = {line("172.31.0.2", "a"), line("172.31.0.6", "b")};

	(void)state;
	EXPECT(routes, both, "");
}

static void test_a_best_route_that_does_not_use_the_line_is_left_alone(void **state)
{
	const struct ip_route converged[] = {route("10.1.0.0/24", BGP, "172.31.0.6 b 1"),
		route("10.1.0.0/24", FLOATING, "172.31.0.2 a 1,172.31.0.6 b 1")};
	const struct ip_route better[] = {route("10.1.0.0/24", FLIP_METRIC, "172.31.0.2 a 1"),
		route("10.1.0.0/24", BGP, "172.31.0.2 a 1,172.31.0.6 b 1")};
	const struct flip_line a[] = {line("172.31.0.2", "a")};

	(void)state;
	EXPECT(converged, a, "");
	EXPECT(better, a, ""); /* somebody's own, and better than ours could be */
}

static void test_ipv6_and_ipv4_over_ipv6(void **state)
{
	const struct ip_route routes[] = {route("10.1.0.0/24", BGP, "fe80::2 a 1,fe80::6 b 1"),
		route("fd00:1::/64", BGP, "fd00:31::2 a 1,fd00:31::6 b 1"),
		route("fd00:2::/64", BGP, "fe80::2 a 1,fe80::6 b 1")};
	const struct flip_line global[] = {line("fd00:31::2", "a")}, link_local[] = {line("fe80::2", "a")};
	const struct flip_line all_link_local[] = {line("::", "a")}, unnumbered[] = {line("", "a")};

	(void)state;
	EXPECT(routes, global, "fd00:1::/64 fd00:31::6 b 1");
	EXPECT(routes, link_local, "10.1.0.0/24 fe80::6 b 1; fd00:2::/64 fe80::6 b 1");
	EXPECT(routes, all_link_local, "10.1.0.0/24 fe80::6 b 1; fd00:2::/64 fe80::6 b 1");
	EXPECT(routes, unnumbered, "10.1.0.0/24 fe80::6 b 1; fd00:1::/64 fd00:31::6 b 1; fd00:2::/64 fe80::6 b 1");
}

static void test_tables_are_apart(void **state)
{
	struct ip_route routes[] = {
		route("10.1.0.0/24", BGP, "172.31.0.2 a 1"), route("10.1.0.0/24", BGP, "172.31.0.6 b 1")};
	const struct flip_line a[] = {line("172.31.0.2", "a")};

	(void)state;
	routes[1].table = 1001;
	EXPECT(routes, a, "");
}

static void expect_orphans(const struct ip_route *have, size_t n_have, const struct ip_route *routes, size_t n,
	const struct flip_line *dead, size_t n_dead, const char *orphans)
{
	struct ip_route *found;
	size_t n_found = flip_orphans(have, n_have, routes, n, dead, n_dead, arena, &found);
	struct buf text = {0};

	for (size_t i = 0; i < n_found; i++)
		print(&found[i], &text);
	assert_string_equal(buf_str(&text), orphans);
	buf_free(&text);
}

static void test_an_override_that_has_lost_the_route_below_is_an_orphan(void **state)
{
	const struct ip_route have[] = {route("10.1.0.0/24", FLIP_METRIC, "172.31.0.6 b 1"),
		route("10.2.0.0/24", FLIP_METRIC, "172.31.0.6 b 1"),
		route("10.3.0.0/24", FLIP_METRIC, "172.31.0.2 a 1"),
		route("10.4.0.0/24", FLIP_METRIC, "172.31.0.6 b 1")};
	const struct ip_route below[] = {route("10.0.0.0/24", BGP, "172.31.0.6 b 1"),
		route("10.2.0.0/24", BGP, "172.31.0.2 a 1"), route("10.2.0.0/24", FLOATING, "172.31.0.6 b 1")};
	const struct flip_line a[] = {line("172.31.0.2", "a")};

	(void)state;
	/* 10.3: its next hop has died since. */
	expect_orphans(have, 4, below, 3, a, 1, "10.1.0.0/24 172.31.0.6 b 1; 10.4.0.0/24 172.31.0.6 b 1");
	expect_orphans(have, 1, NULL, 0, a, 1, "10.1.0.0/24 172.31.0.6 b 1");
	expect_orphans(have, 0, below, 3, a, 1, "");
}

static void expect_delta(const struct ip_route *want, size_t n_want, const struct ip_route *have, size_t n_have,
	const char *set, const char *removed)
{
	struct flip_delta d;
	struct buf text = {0};

	flip_delta(want, n_want, have, n_have, arena, &d);
	for (size_t i = 0; i < d.n_set; i++)
		print(d.set[i], &text);
	assert_string_equal(buf_str(&text), set);
	buf_reset(&text);
	for (size_t i = 0; i < d.n_remove; i++)
		print(d.remove[i], &text);
	assert_string_equal(buf_str(&text), removed);
	buf_free(&text);
}

static void test_only_what_differs_is_written_hosts_first(void **state)
{
	const struct ip_route want[] = {route("10.0.0.0/8", FLIP_METRIC, "172.31.0.6 b 1"),
		route("10.1.0.0/24", FLIP_METRIC, "172.31.0.6 b 1"),
		route("10.255.1.1/32", FLIP_METRIC, "172.31.0.6 b 1")};
	const struct ip_route have[] = {route("10.0.0.0/8", FLIP_METRIC, "172.31.0.6 b 1"),
		route("10.1.0.0/24", FLIP_METRIC, "172.31.0.10 c 1"),
		route("10.2.0.0/24", FLIP_METRIC, "172.31.0.6 b 1")};

	(void)state;
	expect_delta(want, 3, NULL, 0,
		"10.255.1.1/32 172.31.0.6 b 1; 10.1.0.0/24 172.31.0.6 b 1; 10.0.0.0/8 172.31.0.6 b 1", "");
	expect_delta(want, 3, have, 3, "10.255.1.1/32 172.31.0.6 b 1; 10.1.0.0/24 172.31.0.6 b 1",
		"10.2.0.0/24 172.31.0.6 b 1");
	expect_delta(NULL, 0, have, 1, "", "10.0.0.0/8 172.31.0.6 b 1");
	expect_delta(want, 3, want, 3, "", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			test_what_is_left_of_a_multipath_route_carries_with_its_weights, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_every_prefix_behind_a_next_hop_moves_and_no_other, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_a_worse_route_carries_where_the_best_is_dead_as_a_whole, setup, teardown),
		cmocka_unit_test_setup_teardown(test_without_another_way_all_stays, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_a_best_route_that_does_not_use_the_line_is_left_alone, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ipv6_and_ipv4_over_ipv6, setup, teardown),
		cmocka_unit_test_setup_teardown(test_tables_are_apart, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_an_override_that_has_lost_the_route_below_is_an_orphan, setup, teardown),
		cmocka_unit_test_setup_teardown(test_only_what_differs_is_written_hosts_first, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
