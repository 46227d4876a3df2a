/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every rule of the overlay: a file that breaks it and exactly what is said; and that 10,000 segments take no time. */
/* LINK: tests/lib/overlay_fixture.c tests/lib/fake_kernel.c overlay/mtu.c overlay/model.c overlay/desired.c overlay/overlay_plan.c overlay/link_plan.c overlay/overlay_check.c overlay/interface_check.c overlay/segment_check.c overlay/address_check.c config/config.c config/decode.c config/diag.c config/schema.c config/types.c config/types_bgp.c config/types_net.c config/types_policy.c config/endpoint.c config/types_text.c config/text.c config/yaml.c gateway/engine/facts.c gateway/engine/plan.c */
/* LIBS: libfyaml jansson */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "config/config.h"
#include "gateway/base/str.h"
#include "overlay/overlay.h"
#include "tests/lib/overlay_fixture.h"

/* Lines 1 to 7 of every file; what a row adds begins on line 8. */
#define HEAD                                                                                                           \
	"system: {hostname: a}\n"                                                                                      \
	"vtep: {address: 10.255.0.1}\n"                                                                                \
	"lines:\n"                                                                                                     \
	"  - {name: l, interface: e1, address: 10.0.1.1/30, peer-address: 10.0.1.2}\n"                                 \
	"  - {name: m, interface: e2, address: 10.0.2.1/30, peer-address: 10.0.2.2}\n"                                 \
	"remotes:\n"                                                                                                   \
	"  - {name: r, vtep: 10.255.1.1, lines: [l]}\n"

/* The same for IPv6 and IPv4: lines 1 to 7 too. */
#define HEAD_DUAL                                                                                                      \
	"system: {hostname: a}\n"                                                                                      \
	"vtep: {address: 10.255.0.1, address6: \"fd00:255::1\"}\n"                                                     \
	"lines:\n"                                                                                                     \
	"  - {name: l, interface: e1, address: 10.0.1.1/30, peer-address: 10.0.1.2, address6: \"fd00:1::1/64\", "      \
	"peer-address6: \"fd00:1::2\"}\n"                                                                              \
	"remotes:\n"                                                                                                   \
	"  - {name: r, vtep: 10.255.1.1, lines: [l]}\n"                                                                \
	"  - {name: s, vtep: \"fd00:255:1::1\", lines: [l]}\n"

struct row {
	const char *text;
	const char *said; /* "" : nothing */
};

/* All rows, so that one run shows all that is wrong. */
static void check_rows(const struct row *rows, size_t n)
{
	size_t n_wrong = 0;

	for (size_t i = 0; i < n; i++) {
		struct overlay_fixture f;

		fixture_open(&f);
		(void)fixture_parse(&f, rows[i].text);
		if (!str_eq(buf_str(&f.text), rows[i].said)) {
			print_error("file:\n%ssaid: %sright: %s\n", rows[i].text, buf_str(&f.text), rows[i].said);
			n_wrong++;
		}
		fixture_close(&f);
	}
	assert_int_equal(n_wrong, 0);
}

/* What is right, near to what is wrong: the wrong side stands in config/examples/bad, each with its text. */
static void test_accepted(void **state)
{
	static const struct row rows[] = {
		{HEAD, ""},
		{HEAD_DUAL, ""},
		{"system: {hostname: a}\n", ""},
		/* The vtep may be a line's own address, with assign or without. */
		{"system: {hostname: a}\nvtep: {address: 10.0.1.1, assign: false}\n"
		 "lines:\n  - {name: l, interface: e1, address: 10.0.1.1/30, peer-address: 10.0.1.2}\n",
			""},
		{"system: {hostname: a}\nvtep: {address: 10.0.1.1}\n"
		 "lines:\n  - {name: l, interface: e1, address: 10.0.1.1/30, peer-address: 10.0.1.2}\n",
			""},
		/* A remote's vtep may be the far end of a line. */
		{"system: {hostname: a}\nvtep: {address: 10.0.1.1}\n"
		 "lines:\n  - {name: l, interface: e1, address: 10.0.1.1/31, peer-address: 10.0.1.0}\n"
		 "remotes:\n  - {name: r, vtep: 10.0.1.0, lines: [l]}\n",
			""},
		/* Several addresses of one subnet on one interface; link-local ones on several. */
		{"system: {hostname: a}\ninterfaces:\n"
		 "  - {name: e0, addresses: [10.1.0.1/24, 10.1.0.2/24, 10.1.0.9/32, \"fe80::1/64\"]}\n"
		 "  - {name: e1, addresses: [\"fe80::2/64\"]}\n",
			""},
		/* A bridged MTU above what fits is the point of it; below 1280 is fine without IPv6. */
		{HEAD "segments:\n  - {name: s, vni: 7, mode: bridged, mtu: 9000, remotes: [r]}\n"
		      "  - {name: t, vni: 8, mode: bridged, mtu: 1000, gateway: [10.1.0.1/24], remotes: [r]}\n",
			""},
		{HEAD "segments:\n  - {name: s, vni: 7, mode: routed, mtu: 1450, mss: {ipv4: 1410, ipv6: 1390}, "
		      "gateway: [\"fd00:7::1/64\"], remotes: [r]}\n",
			""},
		{HEAD_DUAL "segments:\n  - {name: s, vni: 7, mode: routed, mtu: 1430, mss: 1370, remotes: [s]}\n", ""},
		/* A member may have its MTU under interfaces. */
		{HEAD "interfaces:\n  - {name: e3, mtu: 9000}\n"
		      "segments:\n  - {name: s, vni: 7, mode: bridged, members: [e3], remotes: [r]}\n",
			""},
		/* A segment's default route, through its own subnet or a link-local next hop. */
		{HEAD "segments:\n  - name: s\n    vni: 7\n    mode: routed\n    gateway: [10.1.0.1/24]\n"
		      "    routes:\n      - {prefix: 0.0.0.0/0, via: 10.1.0.2}\n"
		      "      - {prefix: \"::/0\", via: \"fe80::1\"}\n",
			""},
		{HEAD "routes:\n  - {prefix: 0.0.0.0/0, via: 10.0.1.2}\n", ""},
		/* Tenants may use the same addresses and prefixes. */
		{HEAD "tenants:\n  - {name: a, table: 1001}\n  - {name: b, table: 1002}\n"
		      "segments:\n"
		      "  - {name: s, vni: 7, mode: routed, tenant: a, gateway: [10.1.0.1/24], "
		      "routes: [{prefix: 10.9.0.0/16, via: 10.1.0.2}]}\n"
		      "  - {name: t, vni: 8, mode: routed, tenant: b, gateway: [10.1.0.3/24], "
		      "routes: [{prefix: 10.9.0.0/16, via: 10.1.0.2}]}\n"
		      "  - {name: u, vni: 9, mode: routed, gateway: [10.1.0.1/24]}\n",
			""},
		/* In clear over the Internet: said, not refused. */
		{"system: {hostname: a}\nlines:\n"
		 "  - {name: l, interface: e1, address: 10.0.1.1/30, peer-address: 10.0.1.2, tier: internet}\n",
			"x:3:82: warning: line l: traffic crosses the Internet in clear\n"},
	};

	(void)state;
	check_rows(rows, ARRAY_SIZE(rows));
}

static void test_refused(void **state)
{
	static const struct row rows[] = {
		/* In one tenant, what two tenants may. */
		{HEAD "tenants:\n  - {name: a, table: 1001}\n"
		      "segments:\n"
		      "  - {name: s, vni: 7, mode: routed, tenant: a, gateway: [10.1.0.1/24]}\n"
		      "  - {name: t, vni: 8, mode: routed, tenant: a, gateway: [10.1.0.1/24]}\n",
			"x:12:58: error: segment t: 10.1.0.1 is already an address of segment s (line 11)\n"},
		/* A next hop in another segment's subnet. */
		{HEAD "segments:\n"
		      "  - {name: s, vni: 7, mode: routed, gateway: [10.1.0.1/24]}\n"
		      "  - {name: t, vni: 8, mode: routed, gateway: [10.2.0.1/24], "
		      "routes: [{prefix: 10.9.0.0/16, via: 10.1.0.2}]}\n",
			"x:10:97: error: segment t: 10.1.0.2 is in none of the segment's gateway subnets\n"},
		/* The smaller subnet stands first in the file, the larger is named last. */
		{HEAD "interfaces:\n"
		      "  - {name: e3, addresses: [10.5.1.1/24]}\n"
		      "  - {name: e4, addresses: [10.5.2.1/24]}\n"
		      "  - {name: e5, addresses: [10.5.3.1/16]}\n",
			"x:11:28: error: interface e5: 10.5.0.0/16 overlaps 10.5.1.0/24 of interface e3 (line 9)\n"
			"x:11:28: error: interface e5: 10.5.0.0/16 overlaps 10.5.2.0/24 of interface e4 (line 10)\n"},
		/* Three with one VNI: two messages, both against the first. */
		{HEAD "segments:\n"
		      "  - {name: s, vni: 7, mode: bridged}\n  - {name: t, vni: 7, mode: bridged}\n"
		      "  - {name: u, vni: 7, mode: bridged}\n",
			"x:10:20: error: segment t: VNI 7 is already that of segment s (line 9)\n"
			"x:11:20: error: segment u: VNI 7 is already that of segment s (line 9)\n"},
		/* The far end of one line is our address on another. */
		{"system: {hostname: a}\nlines:\n"
		 "  - {name: l, interface: e1, address: 10.0.1.1/24, peer-address: 10.0.1.2}\n"
		 "interfaces:\n  - {name: e2, addresses: [10.0.1.2/32]}\n",
			"x:3:66: error: line l: 10.0.1.2 is this gateway's own address (interface e2, line 5)\n"
			"x:5:28: error: interface e2: 10.0.1.2/32 overlaps 10.0.1.0/24 of line l (line 3)\n"},
		/* A line's peer is our own vtep. */
		{"system: {hostname: a}\nvtep: {address: 10.0.1.2}\nlines:\n"
		 "  - {name: l, interface: e1, address: 10.0.1.1/24, peer-address: 10.0.1.2}\n",
			"x:4:66: error: line l: 10.0.1.2 is this gateway's own address (vtep, line 2)\n"},
		{HEAD "interfaces:\n  - {name: lo, enabled: false}\n",
			"x:9:25: error: interface lo: the vtep needs it\n"},
		/* segments without remotes and vtep */
		{"system: {hostname: a}\nsegments:\n  - {name: s, vni: 7, mode: bridged}\n",
			"x:3:5: error: segments need a vtep section: this gateway's own endpoint\n"},
		{HEAD_DUAL "  - {name: t, vtep: \"fd00:255::1\", lines: [l]}\n",
			"x:8:21: error: remote t: fd00:255::1 is this gateway's own vtep\n"},
		{HEAD_DUAL "  - {name: t, vtep: \"fe80::7\", lines: [l]}\n",
			"x:8:21: error: remote t: fe80::7 is link-local and cannot be reached through a router\n"},
	};

	(void)state;
	check_rows(rows, ARRAY_SIZE(rows));
}

/* An error of the schema, and what follows from it only: the rules say nothing, whatever they miss. */
static void test_no_noise(void **state)
{
#define BAD_LINE "x:5:93: error: lines[m].rate: 1 is not a number with a unit, such as 10gbit\n"
#define HEAD_BAD_LINE                                                                                                  \
	"system: {hostname: a}\n"                                                                                      \
	"vtep: {address: 10.0.2.1, assign: false}\n"                                                                   \
	"lines:\n"                                                                                                     \
	"  - {name: l, interface: e1, address: 10.0.1.1/30, peer-address: 10.0.1.2, mtu: 9000}\n"                      \
	"  - {name: m, mtu: 9000, interface: e2, address: 10.0.2.1/30, peer-address: 10.0.2.2, rate: 1}\n"             \
	"remotes:\n"                                                                                                   \
	"  - {name: r, vtep: 10.255.1.1, lines: [m]}\n"
#define HEAD_JUMBO                                                                                                     \
	"system: {hostname: a}\nvtep: {address: 10.255.0.1}\n"                                                         \
	"lines: [{name: l, interface: e1, address: 10.0.1.1/30, peer-address: 10.0.1.2, mtu: 9000}]\n"                 \
	"remotes: [{name: r, vtep: 10.255.1.1, lines: [l]}]\n"
#define JUMBO "segments:\n  - {name: s, vni: 7, mode: bridged, members: [e3], mss: 8000, remotes: [r]}\n"
	static const struct row rows[] = {
		/* The vtep, the next hop and what fits may be the line's. */
		{HEAD_BAD_LINE "  - {name: s, vtep: 10.255.1.2, lines: [l, m]}\n"
			       "routes:\n  - {prefix: 10.9.0.0/16, via: 10.0.2.2}\n"
			       "segments:\n  - {name: s, vni: 7, mode: routed, mtu: 8950, mss: 8890, remotes: [r]}\n"
			       "  - {name: t, vni: 8, mode: routed, mtu: 8950, mss: {ipv6: 8890}, remotes: [s]}\n"
			       "  - {name: u, vni: 9, mode: routed, gateway: [\"fd00:7::1/64\"], remotes: [r]}\n",
			BAD_LINE},
		/* What is wrong with any line is said. */
		{HEAD_BAD_LINE "segments:\n  - {name: s, vni: 7, mode: routed, mss: 600, remotes: [r]}\n",
			BAD_LINE
			"x:9:42: error: segment s: mss 600 is below the 1220 that IPv6 works with; write {ipv4: "
			"600, ipv6: auto}\n"},
		/* No vtep is missed, and no number is judged by the family that it may not have. */
		{"system: {hostname: a}\nvtep: {adress: \"fd00:255::1\"}\nsegments:\n"
		 "  - {name: s, vni: 7, mode: routed, mtu: 1460}\n",
			"x:2:8: error: unknown key \"adress\" in vtep; did you mean \"address\"?\n"},
		{"system: 5\nvtep: []\nremotes: []\nsegments:\n  - {name: s, vni: 7, mode: bridged}\n",
			"x:1:9: error: system: 5 is not a mapping of hostname, site, role, description\n"
			"x:2:7: error: vtep: a list is not a mapping of address, address6, assign, port, "
			"checksum-offload\n"},
		/* Another vtep may be missing all the same. */
		{"system: {hostname: a, role: x}\nsegments:\n  - {name: s, vni: 7, mode: bridged}\n",
			"x:1:29: error: system.role: x is not gateway or border\n"
			"x:3:5: error: segments need a vtep section: this gateway's own endpoint\n"},
		/* A tenant's segment is not in the default domain because the tenant has an error. */
		{HEAD "tenants:\n  - {name: a, table: 1}\n"
		      "segments:\n"
		      "  - {name: s, vni: 7, mode: routed, tenant: a, gateway: [10.0.1.1/30], "
		      "routes: [{prefix: 10.0.2.0/30, via: 10.9.0.2}]}\n",
			"x:9:22: error: tenants[a].table: 1 is not a number from 1000 to 4000000000\n"},
		/* The remote of a MAC may be the one that was meant. */
		{HEAD "segments:\n  - {name: s, vni: 7, mode: bridged, remotes: [rr], "
		      "macs: [{mac: \"02:00:00:00:00:01\", remote: r}]}\n",
			"x:9:48: error: segments[s].remotes: there is no remote \"rr\"; did you mean \"r\"?\n"},
		{HEAD "segments:\n  - {name: s, vni: 7, mode: bridged, remotes: [r], "
		      "macs: [{mac: \"02:00:00:00:00:01\", remote: rr}]}\n",
			"x:9:94: error: segments[s].macs[02:00:00:00:00:01].remote: there is no remote \"rr\"; did you "
			"mean \"r\"?\n"},
		/* A remote that has an error may be over lines of any MTU. */
		{HEAD "  - {name: t, vtep: 10.255.1.2, lines: [l], learn: x}\n"
		      "segments:\n  - {name: s, vni: 7, mode: routed, mtu: 8950, mss: 8890, remotes: [t]}\n",
			"x:8:52: error: remotes[t].learn: x is not one of static, bgp or evpn\n"},
		/* A member's MTU may stand in an interface that has an error. */
		{HEAD_JUMBO "interfaces:\n  - {name: e3, mtu: 9000, enabled: x}\n" JUMBO,
			"x:6:36: error: interfaces[e3].enabled: x is not true or false\n"},
		{HEAD_JUMBO "interfaces:\n  - {name: e3}\n" JUMBO,
			"x:8:58: error: segment s: mss 8000 does not fit IPv4; at most 1460: its hosts have an MTU of "
			"1500, and 1500 - 40 (IPv4, TCP) = 1460\n"},
		/* The first remote is not there: the others are compared. */
		{HEAD_DUAL "segments:\n  - {name: s, vni: 7, mode: bridged, remotes: [zz, r, s]}\n",
			"x:9:48: error: segments[s].remotes: there is no remote \"zz\"; define it under remotes\n"
			"x:9:55: error: segment s: remote r is reached over IPv4 and remote s over IPv6; a segment has "
			"remotes of one family\n"},
		/* A next hop may be in the subnet of an interface or segment that has an error. */
		{HEAD "interfaces:\n  - {name: e3, addresses: [10.5.0.1/24], mtu: 1}\n"
		      "routes:\n  - {prefix: 10.9.0.0/16, via: 10.5.0.2}\n",
			"x:9:47: error: interfaces[e3].mtu: 1 is not a number from 576 to 65535\n"},
		{HEAD "segments:\n  - {name: s, vni: 0, mode: routed, gateway: [10.5.0.1/24]}\n"
		      "routes:\n  - {prefix: 10.9.0.0/16, via: 10.5.0.2}\n",
			"x:9:20: error: segments[s].vni: 0 is not a number from 1 to 16777215\n"},
	};

	(void)state;
	check_rows(rows, ARRAY_SIZE(rows));
}

static void test_no_vrf(void **state)
{
	struct overlay_fixture f;
	const struct config *cfg;

	(void)state;
	fixture_open(&f);
	cfg = fixture_config(&f,
		HEAD "tenants:\n  - {name: a, table: 1001}\n  - {name: unused, table: 1002}\n"
		     "segments:\n  - {name: s, vni: 7, mode: bridged, tenant: a, remotes: [r]}\n");
	fixture_add_interfaces(&f, cfg);
	(void)fixture_plan(&f, cfg);
	assert_int_equal(f.plan.n_conflicts, 1);
	assert_string_equal(f.plan.conflicts[0].object, "tenant a");
	assert_string_equal(f.plan.conflicts[0].text, "tenant a needs a VRF (CONFIG_NET_VRF), which this kernel lacks");
	/* And its segment is not made in the default domain instead. */
	assert_false(fixture_has_step(&f, "segment s", ""));
	f.facts.has_vrf = true;
	(void)fixture_plan(&f, cfg);
	assert_int_equal(f.plan.n_conflicts, 0);
	overlay_check_facts(NULL, &f.facts, &f.plan);
	fixture_close(&f);
}

/* A filter that filters nothing is refused, and not open. */
static void test_kernel_without_bridge_filter(void **state)
{
	struct overlay_fixture f;
	const struct config *cfg;

	(void)state;
	fixture_open(&f);
	cfg = fixture_config(&f,
		HEAD
		"segments:\n  - {name: s, vni: 7, mode: bridged, filter: true}\n  - {name: t, vni: 8, mode: bridged}\n"
		"policy: {default: drop}\n");
	fixture_add_interfaces(&f, cfg);
	(void)fixture_plan(&f, cfg);
	assert_int_equal(f.plan.n_conflicts, 0);
	f.facts.lacks_bridge_filter = true;
	(void)fixture_plan(&f, cfg);
	assert_int_equal(f.plan.n_conflicts, 1);
	assert_string_equal(f.plan.conflicts[0].object, "segment s");
	assert_string_equal(f.plan.conflicts[0].text,
		"segment s: filter needs the kernel's module br_netfilter; load it (modprobe br_netfilter)");
	fixture_close(&f);
}

/* All in order, none quadratic: 10,000 segments with members, addresses, routes and remotes. */
static void test_many(void **state)
{
	enum { N = 10000 };
	struct overlay_fixture f;
	struct timespec start, end;
	struct buf text = {0};
	const struct config *cfg;
	struct diag diag;

	(void)state;
	fixture_open(&f);
	buf_puts(&text, HEAD "segments:\n");
	for (unsigned i = 0; i < N; i++)
		buf_printf(&text,
			"  - {name: s%u, vni: %u, mode: bridged, members: [m%u], gateway: [10.%u.%u.1/24], remotes: "
			"[r], routes: [{prefix: 172.%u.%u.0/24, via: 10.%u.%u.2}]}\n",
			i, i + 1, i, 100 + i / 250, i % 250, 100 + i / 250, i % 250, 100 + i / 250, i % 250);
	diag_init(&diag, "x");
	cfg = config_parse(buf_str(&text), text.len, f.arena, &diag);
	assert_non_null(cfg);
	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
	overlay_check(cfg, &diag);
	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
	assert_int_equal(diag.n_errors, 0);
	/* Some 20 ms; quadratic would be many seconds. Room for a sanitizer on a busy machine. */
	assert_true(end.tv_sec - start.tv_sec < 3);
	diag_free(&diag);
	buf_free(&text);
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_accepted),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_no_noise),
		cmocka_unit_test(test_no_vrf),
		cmocka_unit_test(test_kernel_without_bridge_filter),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
