/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What FRR 8.4.4 really said (tests/unit/frr), told in the words of a config; and the kernel against it. */
/* LINK: routing/bgp_shape.c routing/bgp_prefixes_shape.c routing/bfd_shape.c routing/routes_shape.c routing/evpn_shape.c routing/zebra_parse.c routing/fib_diff.c overlay/model.c routing/session.c config/preset.c overlay/mtu.c gateway/engine/facts.c tests/lib/config_fixture.c config/print.c config/config.c config/decode.c config/diag.c config/hint.c config/schema.c config/text.c config/types.c config/types_bgp.c config/types_net.c config/types_policy.c config/endpoint.c config/types_text.c config/yaml.c */
/* LIBS: jansson libfyaml */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "config/config.h"
#include "gateway/base/arena.h"
#include "gateway/base/buf.h"
#include "routing/fib_diff.h"
#include "routing/json_get.h"
#include "routing/session.h"
#include "routing/show_shape.h"
#include "routing/zebra_parse.h"
#include "tests/lib/config_fixture.h"

static const char text[] = "system: {hostname: a}\n"
			   "vtep: {address: 10.255.0.1}\n"
			   "lines:\n"
			   "- {name: ali-a, interface: l1, address: 172.31.1.1/30, peer-address: 172.31.1.2, bfd: {},"
			   " bgp: {peer-as: 65002, policy-in: clouds}}\n"
			   "- {name: ali-b, interface: l2, address: 172.31.2.1/30, peer-address: 172.31.2.2, bfd: {},"
			   " bgp: {peer-as: 65002}}\n"
			   "remotes:\n"
			   "- {name: far, vtep: 10.255.1.1, lines: [ali-a, ali-b], learn: evpn}\n"
			   "segments:\n"
			   "- {name: gpu, vni: 10010, mode: bridged, remotes: [far]}\n"
			   "bgp: {as: 65001, policies: [{name: clouds}]}\n";

static json_t *answer(const char *name)
{
	char path[128];
	json_t *json;

	(void)snprintf(path, sizeof(path), "tests/unit/frr/%s.json", name);
	json = json_load_file(path, 0, NULL);
	assert_non_null(json);
	return json;
}

static const json_t *named(const json_t *list, const char *key, const char *value)
{
	size_t i;
	const json_t *entry;

	json_array_foreach(list, i, entry)
	{
		if (strcmp(get_text(entry, key), value) == 0)
			return entry;
	}
	fail_msg("no %s %s", key, value);
	return NULL;
}

static json_t *bgp(const struct config *cfg, const json_t *neighbors)
{
	struct sessions sessions;

	sessions_of(cfg, test_arena, &sessions);
	return bgp_shape(cfg, &sessions, neighbors, NULL);
}

static void test_bgp(void **state)
{
	const struct config *cfg = must_parse(text);
	json_t *neighbors = answer("neighbors"), *shape = bgp(cfg, neighbors);
	const json_t *list = json_object_get(shape, "sessions"), *a = named(list, "peer", "172.31.1.2");
	const json_t *b = named(list, "peer", "172.31.2.2");

	(void)state;
	assert_string_equal(get_text(a, "name"), "line ali-a");
	assert_string_equal(get_text(a, "state"), "idle");
	assert_string_equal(get_text(a, "reason"), "BFD: the peer does not answer");
	assert_string_equal(get_text(a, "bfd"), "down");
	assert_string_equal(get_text(a, "policy-in"), "clouds");
	assert_true(json_is_null(json_object_get(a, "uptime")));
	assert_string_equal(get_text(b, "reason"), "the peer announced more than max-prefixes");
	assert_string_equal(get_text(json_object_get(b, "last-reset"), "reason"),
		"we ended it: Cease/Maximum Number of Prefixes Reached");
	json_decref(shape);
	shape = bgp(cfg, NULL);
	a = named(json_object_get(shape, "sessions"), "peer", "172.31.1.2");
	assert_string_equal(get_text(a, "state"), "missing");
	assert_string_equal(get_text(a, "reason"), "bgpd does not answer");
	json_decref(shape);
	json_decref(neighbors);
}

static void test_why_a_prefix_is_not_used(void **state)
{
	const struct config *cfg = must_parse(text);
	json_t *table = answer("bgp_ipv4"), *received = answer("received"), *advertised = answer("advertised");
	struct bgp_prefixes in = {.received = received, .table = table, .advertised = advertised};
	json_t *list = json_array();
	struct sessions sessions;
	const json_t *row;

	(void)state;
	sessions_of(cfg, test_arena, &sessions);
	bgp_prefixes_shape(cfg, sessions_by_peer(&sessions, "172.31.1.2"), FAMILY_IPV4, &in, list);
	row = named(list, "prefix", "10.66.1.0/24");
	assert_string_equal(get_text(row, "state"), "not-accepted");
	assert_string_equal(get_text(row, "reason"), "policy clouds does not permit it");
	row = named(list, "prefix", "10.255.0.1/32");
	assert_string_equal(get_text(row, "reason"), "our own AS is in its path");
	assert_string_equal(get_text(named(list, "prefix", "10.77.1.0/24"), "state"), "best");
	(void)named(list, "direction", "out");
	json_array_clear(list);
	bgp_prefixes_shape(cfg, sessions_by_peer(&sessions, "172.31.2.2"), FAMILY_IPV4, &in, list);
	assert_string_equal(get_text(named(list, "prefix", "10.77.1.0/24"), "state"), "multipath");
	assert_string_equal(get_text(named(list, "prefix", "10.66.1.0/24"), "reason"),
		"without policy-in only the vteps of remotes are taken");
	json_decref(list);
	json_decref(table);
	json_decref(received);
	json_decref(advertised);
}

static void test_bfd_and_health(void **state)
{
	const struct config *cfg = must_parse(text);
	json_t *peers = answer("bfd"), *counters = answer("bfd_counters"), *neighbors = answer("neighbors");
	json_t *shape = bfd_shape(cfg, peers, counters), *sessions = bgp(cfg, neighbors);
	json_t *lines =
		json_pack("[{s:s, s:s}, {s:s, s:s}]", "name", "ali-a", "state", "up", "name", "ali-b", "state", "up");
	const json_t *list = json_object_get(shape, "sessions"), *a = named(list, "name", "ali-a");

	(void)state;
	assert_string_equal(get_text(a, "state"), "down");
	assert_string_equal(get_text(a, "reason"), "control detection time expired");
	assert_int_equal(get_number(json_object_get(named(list, "name", "ali-b"), "negotiated"), "detection"), 150);
	assert_int_equal(get_number(a, "ups"), 1);
	lines_shape(cfg, sessions, shape, lines);
	assert_string_equal(get_text(json_array_get(lines, 0), "health"), "down");
	assert_string_equal(get_text(json_array_get(lines, 1), "health"), "degraded");
	assert_non_null(strstr(get_text(json_array_get(lines, 1), "reason"), "max-prefixes"));
	json_decref(lines);
	json_decref(sessions);
	json_decref(shape);
	json_decref(peers);
	json_decref(counters);
	json_decref(neighbors);
}

static void test_evpn(void **state)
{
	const struct config *cfg = must_parse(text);
	json_t *vnis = answer("vni"), *macs = answer("mac"), *arp = answer("arp"), *routes = answer("evpn");
	struct evpn_answers in = {.vnis = vnis, .macs = macs, .neighbors = arp, .routes = routes};
	json_t *shape = evpn_shape(cfg, &in);
	const json_t *vni = named(json_object_get(shape, "vnis"), "name", "gpu");

	(void)state;
	assert_int_equal(get_number(json_object_get(vni, "macs"), "local"), 1);
	assert_int_equal(get_number(json_object_get(vni, "macs"), "remote"), 1);
	assert_string_equal(json_string_value(json_array_get(json_object_get(vni, "remotes"), 0)), "far");
	assert_string_equal(get_text(named(json_object_get(shape, "macs"), "type", "remote"), "at"), "far");
	assert_int_equal(get_number(json_object_get(shape, "routes"), "inclusive-multicast"), 2);
	json_decref(shape);
	json_decref(vnis);
	json_decref(macs);
	json_decref(arp);
	json_decref(routes);
}

/* --- the kernel --- */

static void test_route_against_zebra(void **state)
{
	json_t *routes = answer("routes_ipv4"),
	       *one = json_pack("{s:O}", "10.77.1.0/24", json_object_get(routes, "10.77.1.0/24"));
	struct fib_repairs found = {.arena = test_arena};
	struct fib_want want, none = {0};
	struct ip_route other;

	(void)state;
	fib_want_of(one, 254, test_arena, &want);
	assert_true(want.known && want.settled);
	assert_int_equal(want.route.n_nexthops, 2);
	fib_diff_route(&want, &want.route, &found);
	assert_int_equal(found.n, 0);
	other = want.route;
	other.n_nexthops = 1;
	fib_diff_route(&want, &other, &found);
	fib_diff_route(&want, NULL, &found);
	fib_diff_route(&none, &other, &found);
	assert_int_equal(found.n, 3);
	assert_int_equal(found.v[0].op, FIB_ROUTE_SET);
	assert_int_equal(found.v[1].op, FIB_ROUTE_SET);
	assert_int_equal(found.v[2].op, FIB_ROUTE_DELETE);
	want.settled = false; /* on its way */
	fib_diff_route(&want, NULL, &found);
	assert_int_equal(found.n, 3);
	fib_want_of(one, 1001, test_arena, &want);
	assert_false(want.known);
	json_decref(one);
	json_decref(routes);
}

/* Case 12: zebra keeps the vtep that a lower sequence number could not replace; bgpd's best path says another. */
static void test_mac_that_moved_back(void **state)
{
	static const uint32_t vnis[] = {10010};
	json_t *macs = answer("mac");
	json_t *best = json_pack("{s:{s:{s:[[{s:b, s:b, s:s, s:s, s:[{s:s}]}]]}}}", "10010",
		"[2]:[0]:[48]:[e2:75:6d:58:65:cd]", "paths", "valid", 1, "bestpath", 1, "mac", "e2:75:6d:58:65:cd",
		"peerId", "10.255.2.1", "nexthops", "ip", "10.255.2.1");
	struct evpn_macs want = {.arena = test_arena};
	struct fib_repairs found = {.arena = test_arena};
	struct evpn_mac kernel;
	char vtep[IP_STR_MAX];

	(void)state;
	zebra_macs(macs, &want);
	assert_int_equal(want.n, 1);
	kernel = want.v[0];
	evpn_macs_seal(&want, best);
	fib_diff_macs(&want,
		&(struct fib_macs){.vnis = vnis,
			.n_vnis = 1,
			.learned = &kernel,
			.n_learned = 1,
			.bridge = &kernel,
			.n_bridge = 1},
		&found);
	assert_int_equal(found.n, 1);
	assert_int_equal(found.v[0].op, FIB_MAC_SET);
	assert_string_equal(ip_addr_str(&found.v[0].mac.vtep, vtep), "10.255.2.1");
	json_decref(macs);
	json_decref(best);
}

/* MACs that zebra does not list: of an L2 VNI that it knows they go, of an L3 VNI they are its routers'. */
static void test_router_macs_stay(void **state)
{
	static const uint32_t vnis[] = {10010, 50000};
	json_t *detail = json_pack("[{s:i, s:s}, {s:i, s:s}]", "vni", 10010, "type", "L2", "vni", 50000, "type", "L3");
	struct evpn_macs want = {.arena = test_arena};
	struct fib_repairs found = {.arena = test_arena};
	struct evpn_mac learned[2] = {{.vni = 10010}, {.vni = 50000}};

	(void)state;
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(mac_addr_parse("02:0d:34:c9:84:54", &learned[i].mac), 0);
	zebra_flood(detail, &want);
	evpn_macs_seal(&want, NULL);
	fib_diff_macs(&want, &(struct fib_macs){.vnis = vnis, .n_vnis = 2, .learned = learned, .n_learned = 2}, &found);
	assert_int_equal(found.n, 1);
	assert_int_equal(found.v[0].op, FIB_MAC_DELETE);
	assert_int_equal(found.v[0].mac.vni, 10010);
	json_decref(detail);
}

static void test_only_what_lasts(void **state)
{
	struct fib_repairs left = {.arena = test_arena}, found = {.arena = test_arena};
	struct ip_route route = {.table = 254, .metric = ZEBRA_METRIC};
	struct fib_want none = {0};

	(void)state;
	fib_diff_route(&none, &route, &found);
	for (uint64_t look = 0; look < 4; look++) {
		struct fib_repairs due = {.arena = test_arena}, next = {.arena = test_arena};

		fib_confirm(&left, &found, look * 90000, &due, &next);
		assert_int_equal(due.n, look == 3); /* the third look is too early, at 180 ms */
		left = next;
	}
	assert_int_equal(left.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CONFIG_TEST(test_bgp),
		CONFIG_TEST(test_why_a_prefix_is_not_used),
		CONFIG_TEST(test_bfd_and_health),
		CONFIG_TEST(test_evpn),
		CONFIG_TEST(test_route_against_zebra),
		CONFIG_TEST(test_mac_that_moved_back),
		CONFIG_TEST(test_router_macs_stay),
		CONFIG_TEST(test_only_what_lasts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
