/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Routing's own rules: what is right, near to what is wrong (the wrong side stands in config/examples/bad, each with
 * its text), what an error elsewhere must not cause, and how policies count.
 */
/* LINK: routing/routing_check.c routing/neighbor_check.c routing/policy_check.c routing/policy_eval.c routing/preset_check.c routing/evpn_check.c routing/session.c config/preset.c overlay/mtu.c gateway/engine/facts.c config/config.c config/decode.c config/diag.c config/hint.c config/schema.c config/text.c config/types.c config/types_bgp.c config/types_net.c config/types_policy.c config/endpoint.c config/types_text.c config/yaml.c */
/* LIBS: libfyaml jansson */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "config/config.h"
#include "config/draft.h"
#include "gateway/base/arena.h"
#include "gateway/base/buf.h"
#include "gateway/base/str.h"
#include "routing/policy_eval.h"
#include "routing/routing_check.h"

#define HEAD                                                                                                           \
	"system: {hostname: a}\n"                                                                                      \
	"vtep: {address: 10.255.0.1}\n"
#define LINE(more)                                                                                                     \
	"lines:\n"                                                                                                     \
	"  - {name: l, interface: e1, address: 10.0.1.1/30, peer-address: 10.0.1.2" more "}\n"
#define REMOTE(more)                                                                                                   \
	"remotes:\n"                                                                                                   \
	"  - {name: r, vtep: 10.255.1.1, lines: [l]" more "}\n"

struct row {
	const char *text;
	const char *said; /* "": nothing */
};

/* Everything that a run says, the schema's errors too. */
static void say(const char *text, struct buf *out)
{
	struct arena *arena = arena_new();
	struct config_draft draft;
	struct diag diag;

	diag_init(&diag, "f");
	draft = config_parse_draft(text, strlen(text), arena, &diag);
	if (draft.sound)
		routing_check(draft.sound, &diag);
	diag_sort(&diag);
	diag_print(&diag, out);
	diag_free(&diag);
	arena_free(arena);
}

static void check_rows(const struct row *rows, size_t n)
{
	size_t n_wrong = 0;

	for (size_t i = 0; i < n; i++) {
		struct buf said = {0};

		say(rows[i].text, &said);
		if (!str_eq(buf_str(&said), rows[i].said)) {
			print_error("file:\n%ssaid: %sright: %s\n", rows[i].text, buf_str(&said), rows[i].said);
			n_wrong++;
		}
		buf_free(&said);
	}
	assert_int_equal(n_wrong, 0);
}

static void test_accepted(void **state)
{
	static const struct row rows[] = {
		{"system: {hostname: a}\n", ""},
		/* BFD needs no BGP, and static remotes neither. */
		{HEAD LINE(", bfd: {}") REMOTE(""), ""},
		{"system: {hostname: a}\nbgp: {as: 1, router-id: 1.1.1.1}\n", ""},
		{"system: {hostname: a}\nvtep: {address: \"fd00::1\"}\nbgp: {as: 1, router-id: 1.1.1.1}\n", ""},
		/* Learned over the line, or over any neighbor. */
		{HEAD LINE(", bgp: {peer-as: 2}") REMOTE(", learn: bgp") "bgp: {as: 1}\n", ""},
		{HEAD LINE("") REMOTE(
			 ", learn: bgp") "bgp: {as: 1, neighbors: [{name: n, interface: e9, peer-as: 2}]}\n",
			""},
		{HEAD LINE("") REMOTE(
			 ", learn: evpn") "bgp: {as: 1, l3-vni: 9, neighbors: [{name: n, address: 10.9.9.9, "
					  "multihop: 3, peer-as: 1, families: [evpn]}]}\n",
			""},
		{HEAD LINE(", bgp: {peer-as: 2, families: [ipv4, evpn]}")
				REMOTE(", learn: evpn") "tenants: [{name: t, table: 1000, l3-vni: 7}]\nbgp: {as: 1}\n",
			""},
		/* Graceful restart without BFD, or with the operator's word for it. */
		{HEAD LINE(", bgp: {peer-as: 2, graceful-restart: full}") "bgp: {as: 1}\n", ""},
		{HEAD LINE(", bfd: {}, bgp: {peer-as: 2, graceful-restart: full-with-bfd}") "bgp: {as: 1}\n", ""},
		{HEAD LINE(", bfd: {}, bgp: {peer-as: 2, graceful-restart: \"off\"}") "bgp: {as: 1}\n", ""},
		/* GTSM within the AS between direct neighbors, and over hops between two. */
		{HEAD "bgp: {as: 1, neighbors: [{name: n, address: 10.9.9.9, peer-as: 1, ttl-security: true}]}\n", ""},
		/* At a provider's limit. */
		{HEAD LINE(", provider: aws, mtu: 9001, bfd: {interval: 300ms, multiplier: 3}, bgp: {peer-as: 2, "
			   "hold-time: "
			   "90s}") "bgp: {as: 1}\n",
			""},
		/* An IPv6 session carries IPv4 too, RFC 8950. */
		{HEAD "lines: [{name: l, interface: e1, address: \"fd00::1/64\", peer-address: \"fd00::2\", bgp: "
		      "{peer-as: "
		      "2, families: [ipv4, ipv6]}}]\nbgp: {as: 1}\n",
			""},
		/* Two link-local neighbors on one interface. */
		{HEAD "bgp: {as: 1, neighbors: [{name: n, address: \"fe80::1\", interface: e8, peer-as: 2}, {name: m, "
		      "address: \"fe80::2\", interface: e8, peer-as: 2}]}\n",
			""},
		/* Bounds at their ends; one prefix in several ways. */
		{HEAD "bgp: {as: 1, prefix-lists: [{name: p, entries: [{seq: 1, prefix: 10.0.0.0/8, ge: 8}, {seq: 2, "
		      "prefix: "
		      "10.0.0.0/8, le: 8}, {seq: 3, prefix: 10.0.0.0/8, ge: 32, le: 32}, {seq: 4, prefix: 10.0.0.0/8}, "
		      "{seq: 5, prefix: 0.0.0.0/0, ge: 0}]}]}\n",
			""},
	};

	(void)state;
	check_rows(rows, ARRAY_SIZE(rows));
}

/* What is absent may have an error of its own: nothing follows from it, and what is there is judged all the same. */
static void test_no_follow_up(void **state)
{
	static const struct row rows[] = {
		/* the speaker */
		{HEAD LINE(", bgp: {peer-as: 2}") "bgp: {as: 0}\n",
			"f:5:11: error: bgp.as: 0 is not a number from 1 to 4294967294\n"},
		{HEAD LINE(", bgp: {peer-as: 2}") "bpg: {as: 1}\n",
			"f:5:1: error: unknown key \"bpg\" at the top of the file; did you mean \"bgp\"?\n"},
		/* the vtep that gives the router-id */
		{"system: {hostname: a}\nvtep: {address: x}\nbgp: {as: 1}\n",
			"f:2:17: error: vtep.address: x is not an IPv4 or IPv6 address\n"},
		/* the line, or the neighbor, that would bring the remote */
		{HEAD LINE(", bgp: {peer-as: 0}") REMOTE(", learn: bgp") "bgp: {as: 1}\n",
			"f:4:91: error: lines[l].bgp.peer-as: 0 is not a number from 1 to 4294967294\n"},
		{HEAD LINE("") REMOTE(", learn: bgp") "bgp:\n  as: 1\n  neighbors:\n    - {name: n, interface: e9}\n",
			"f:10:7: error: bgp.neighbors[n]: \"peer-as\" is missing (the far side's AS number)\n"},
		/* the segment that would be learned */
		{HEAD LINE("") REMOTE(
			 ", learn: evpn, peer-as: 2") "segments: [{name: s, vni: 0, mode: bridged, remotes: "
						      "[r]}]\nbgp: {as: 1}\n",
			"f:7:27: error: segments[s].vni: 0 is not a number from 1 to 16777215\n"},
		/* a list with an error leaves the others to be judged, and its other entries */
		{HEAD "bgp:\n  as: 1\n  neighbors:\n    - {name: n, peer-as: 0, interface: e}\n    - {name: m, "
		      "peer-as: 2}\n",
			"f:6:26: error: bgp.neighbors[n].peer-as: 0 is not a number from 1 to 4294967294\n"
			"f:7:7: error: neighbor m: it needs an address, or the interface that it is on\n"},
	};

	(void)state;
	check_rows(rows, ARRAY_SIZE(rows));
}

static bool permits(const struct config *cfg, const char *policy, const char *text)
{
	struct ip_prefix prefix;

	assert_int_equal(ip_prefix_parse(text, &prefix), 0);
	return policy_permits(cfg, policy, &prefix);
}

static void test_policies(void **state)
{
	static const char text[] =
		"system: {hostname: a}\nbgp:\n  as: 1\n  router-id: 1.1.1.1\n  prefix-lists:\n"
		"    - {name: exact, entries: [{seq: 1, prefix: 10.0.0.0/8}]}\n"
		"    - {name: longer, entries: [{seq: 1, action: deny, prefix: 10.9.0.0/16, le: 32}, {seq: 2, prefix: "
		"10.0.0.0/8, ge: 16}, {seq: 3, prefix: 11.0.0.0/8, le: 16}, {seq: 4, prefix: \"fd00::/16\", ge: 48, "
		"le: "
		"64}]}\n"
		"  community-sets: [{name: c, communities: [\"1:1\"]}]\n"
		"  policies:\n"
		"    - {name: exact, rules: [{seq: 1, prefix-list: exact}]}\n"
		"    - {name: longer, rules: [{seq: 1, prefix-list: longer}]}\n"
		"    - {name: not-longer, rules: [{seq: 1, action: deny, prefix-list: longer}, {seq: 2}]}\n"
		"    - {name: marked, rules: [{seq: 1, community-set: c}]}\n"
		"    - {name: none}\n";
	struct arena *arena = arena_new();
	const struct config *cfg;
	struct diag diag;

	(void)state;
	diag_init(&diag, "f");
	cfg = config_parse(text, strlen(text), arena, &diag);
	assert_non_null(cfg);
	assert_true(permits(cfg, "exact", "10.0.0.0/8"));
	assert_false(permits(cfg, "exact", "10.0.0.0/9"));
	assert_false(permits(cfg, "longer", "10.0.0.0/8"));
	assert_true(permits(cfg, "longer", "10.1.0.0/16") && permits(cfg, "longer", "10.1.1.1/32"));
	assert_false(permits(cfg, "longer", "10.9.1.0/24"));
	assert_true(permits(cfg, "longer", "11.0.0.0/8") && permits(cfg, "longer", "11.1.0.0/16"));
	assert_false(permits(cfg, "longer", "11.1.1.0/24") || permits(cfg, "longer", "12.0.0.0/8"));
	assert_true(permits(cfg, "longer", "fd00:1::/48"));
	assert_false(permits(cfg, "longer", "fd00:1::/65") || permits(cfg, "longer", "fd00::/16"));
	assert_true(permits(cfg, "not-longer", "10.9.1.0/24") && !permits(cfg, "not-longer", "10.1.0.0/16"));
	assert_false(permits(cfg, "marked", "10.0.0.0/8") || permits(cfg, "none", "10.0.0.0/8"));
	assert_false(permits(cfg, NULL, "10.0.0.0/8") || permits(cfg, "unknown", "10.0.0.0/8"));
	diag_free(&diag);
	arena_free(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_accepted),
		cmocka_unit_test(test_no_follow_up),
		cmocka_unit_test(test_policies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
