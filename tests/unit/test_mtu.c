/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The arithmetic against the measured table, and the numbers of whole configs. */
/* LINK: overlay/mtu.c config/config.c config/decode.c config/diag.c config/schema.c config/types.c config/types_bgp.c config/types_net.c config/types_policy.c config/endpoint.c config/types_text.c config/text.c config/yaml.c gateway/engine/facts.c */
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
#include "overlay/mtu.h"

static void test_table(void **state)
{
	static const struct {
		struct encap encap;
		uint32_t underlay, inner, ipv4, ipv6;
	} rows[] = {
		{{.ipv6_outer = false}, 1500, 1450, 1410, 1390},
		{{.vlan_tags = 1}, 1500, 1446, 1406, 1386},
		{{.vlan_tags = 2}, 1500, 1442, 1402, 1382},
		{{.ipv6_outer = true}, 1500, 1430, 1390, 1370},
		{{.esp = ESP_TRANSPORT}, 1500, 1416, 1376, 1356},
		{{.esp = ESP_TRANSPORT, .nat_t = true}, 1500, 1408, 1368, 1348},
		{{.esp = ESP_TUNNEL}, 1500, 1396, 1356, 1336},
		/* ESP's padding: one byte more on the line is not one byte more inside, four are. */
		{{.esp = ESP_TRANSPORT}, 1501, 1416, 1376, 1356},
		{{.esp = ESP_TRANSPORT}, 1504, 1420, 1380, 1360},
		{{.ipv6_outer = false}, 9000, 8950, 8910, 8890},
		{{.ipv6_outer = false}, 1400, 1350, 1310, 1290},
		{{.ipv6_outer = true}, 1280, 1210, 1170, 0},
		{{.ipv6_outer = false}, 600, 550, 0, 0},
		{{.ipv6_outer = false}, 65535, 65485, 65445, 65425},
		{{.ipv6_outer = false}, 50, 0, 0, 0},
		{{.esp = ESP_TUNNEL, .ipv6_outer = true}, 40, 0, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint32_t inner = mtu_inner(&rows[i].encap, rows[i].underlay);

		assert_int_equal(inner, rows[i].inner);
		assert_int_equal(mtu_overhead(&rows[i].encap, rows[i].underlay), rows[i].underlay - inner);
		assert_int_equal(mss_ipv4(inner), rows[i].ipv4);
		assert_int_equal(mss_ipv6(inner), rows[i].ipv6);
	}
}

static void test_mss_bounds(void **state)
{
	(void)state;
	assert_int_equal(mss_ipv4(575), 0);
	assert_int_equal(mss_ipv4(576), 536);
	assert_int_equal(mss_ipv6(1279), 0);
	assert_int_equal(mss_ipv6(1280), 1220);
	assert_int_equal(mss_ipv4(100000), MSS_IPV4_MAX);
	assert_int_equal(mss_ipv6(100000), MSS_IPV6_MAX);
}

/* The whole packet never exceeds the underlay, and with one byte more inside it would. */
static void test_esp_is_tight(void **state)
{
	(void)state;
	for (uint32_t underlay = 200; underlay < 1600; underlay++) {
		uint32_t inner = mtu_inner(&(struct encap){.esp = ESP_TRANSPORT}, underlay);
		uint32_t plain = 8 + 8 + 14 + inner + 2;

		assert_true(20 + 8 + 8 + (plain + 3) / 4 * 4 + 16 <= underlay);
		assert_true(20 + 8 + 8 + (plain + 1 + 3) / 4 * 4 + 16 > underlay);
	}
}

static void test_arithmetic(void **state)
{
	char text[160];

	(void)state;
	assert_string_equal(mtu_arithmetic(&(struct encap){0}, 1500, text),
		"1500 - 20 (IPv4) - 8 (UDP) - 8 (VXLAN) - 14 (Ethernet) = 1450");
	assert_string_equal(mtu_arithmetic(&(struct encap){.ipv6_outer = true, .vlan_tags = 2}, 1500, text),
		"1500 - 40 (IPv6) - 8 (UDP) - 8 (VXLAN) - 14 (Ethernet) - 8 (VLAN tags) = 1422");
	assert_string_equal(mtu_arithmetic(&(struct encap){.esp = ESP_TUNNEL, .nat_t = true}, 1500, text),
		"1500 - 20 (IPv4) - 62 (ESP tunnel, NAT-T) - 8 (UDP) - 8 (VXLAN) - 14 (Ethernet) = 1388");
	assert_string_equal(mtu_arithmetic(&(struct encap){0}, 40, text), "40 leaves nothing for an inner packet");
}

/* --- configs --- */

static const char base[] = "system: {hostname: a}\n"
			   "interfaces: [{name: h}, {name: big, mtu: 65535}, {name: jumbo, mtu: 9000}]\n"
			   "lines:\n"
			   "  - {name: one, interface: e1, address: 10.0.1.1/30, peer-address: 10.0.1.2, mtu: 9000}\n"
			   "  - {name: two, interface: e2, address: 10.0.2.1/30, peer-address: 10.0.2.2, mtu: 1500}\n"
			   "  - {name: off, interface: e3, address: 10.0.3.1/30, peer-address: 10.0.3.2, mtu: 600, "
			   "enabled: false}\n"
			   "  - {name: six, interface: e4, address: \"fd00:4::1/64\", peer-address: \"fd00:4::2\", "
			   "path-mtu: 1400}\n"
			   "vtep: {address: 10.255.0.1, address6: \"fd00::1\"}\n"
			   "remotes:\n"
			   "  - {name: fast, vtep: 10.255.1.1, lines: [one, off]}\n"
			   "  - {name: both, vtep: 10.255.2.1, lines: [one, two]}\n"
			   "  - {name: none, vtep: 10.255.3.1, lines: [off]}\n"
			   "  - {name: v6, vtep: \"fd00:9::1\", lines: [six]}\n"
			   "segments:\n";

struct numbers {
	struct arena *arena;
	struct facts facts;
	const struct config *cfg;
	struct segment_mtu m;
};

/* The numbers of one segment s that is added to the base. */
static void numbers_of(struct numbers *n, const char *segment)
{
	struct buf text = {0}, out = {0};
	struct diag diag;

	buf_printf(&text, "%s  - {name: s, vni: 7, %s}\n", base, segment);
	diag_init(&diag, "x");
	n->cfg = config_parse(buf_str(&text), text.len, n->arena, &diag);
	diag_print(&diag, &out);
	if (!n->cfg)
		fail_msg("%s", buf_str(&out));
	mtu_of_segment(n->cfg, &n->facts, config_segment(n->cfg, "s"), &n->m);
	diag_free(&diag);
	buf_free(&text);
	buf_free(&out);
}

static void setup(struct numbers *n)
{
	*n = (struct numbers){.arena = arena_new()};
	facts_init(&n->facts);
}

static void teardown(struct numbers *n)
{
	facts_free(&n->facts);
	arena_free(n->arena);
}

static void learn(struct numbers *n, const char *vtep, const char *interface, uint32_t mtu)
{
	struct ip_addr addr;

	assert_int_equal(ip_addr_parse(vtep, &addr), 0);
	(void)facts_set_path_mtu(&n->facts, &addr, interface, mtu);
}

static void test_bridged(void **state)
{
	struct numbers n;

	(void)state;
	setup(&n);
	numbers_of(&n, "mode: bridged, remotes: [both]");
	assert_int_equal(n.m.underlay, 1500);
	assert_int_equal(n.m.inner, 1450);
	assert_int_equal(n.m.device, 1500); /* the hosts' */
	assert_int_equal(n.m.mss_ipv4, 1410);
	assert_int_equal(n.m.mss_ipv6, 1390);
	/* A disabled line does not count. Hosts have 1500 where nobody says otherwise. */
	numbers_of(&n, "mode: bridged, remotes: [fast]");
	assert_int_equal(n.m.inner, 8950);
	assert_int_equal(n.m.device, 1500);
	assert_int_equal(n.m.mss_ipv4, 1460);
	numbers_of(&n, "mode: bridged, remotes: [fast], mtu: 9000");
	assert_int_equal(n.m.device, 9000);
	assert_int_equal(n.m.largest, 8950);
	assert_int_equal(n.m.mss_ipv4, 8910);
	/* The smallest that the file gives a member; the VXLAN device has an end. */
	numbers_of(&n, "mode: bridged, remotes: [fast], members: [big, h, jumbo]");
	assert_int_equal(n.m.device, 9000);
	numbers_of(&n, "mode: bridged, remotes: [fast], members: [big, h]");
	assert_int_equal(n.m.device, 65485);
	numbers_of(&n, "mode: bridged, remotes: [fast], mtu: 1400");
	assert_int_equal(n.m.device, 1400);
	assert_int_equal(n.m.mss_ipv4, 1360);
	numbers_of(&n, "mode: bridged");
	assert_int_equal(n.m.underlay, 1500);
	numbers_of(&n, "mode: bridged, remotes: [none]");
	assert_int_equal(n.m.underlay, 1500);
	teardown(&n);
}

static void test_routed(void **state)
{
	struct numbers n;

	(void)state;
	setup(&n);
	numbers_of(&n, "mode: routed, remotes: [fast, both], gateway: [10.1.0.1/24]");
	assert_int_equal(n.m.device, 1450);
	numbers_of(&n, "mode: routed, remotes: [both], mtu: 1300");
	assert_int_equal(n.m.device, 1300);
	assert_int_equal(n.m.mss_ipv4, 1260);
	numbers_of(&n, "mode: routed, remotes: [v6], vlan-tags: 1");
	assert_int_equal(n.m.underlay, 1400); /* path-mtu */
	assert_int_equal(n.m.inner, 1326);
	teardown(&n);
}

static void test_mss(void **state)
{
	struct numbers n;

	(void)state;
	setup(&n);
	numbers_of(&n, "mode: bridged, remotes: [both], mss: 1300");
	assert_int_equal(n.m.mss_ipv4, 1300);
	assert_int_equal(n.m.mss_ipv6, 1300);
	numbers_of(&n, "mode: bridged, remotes: [both], mss: {ipv4: 1300}");
	assert_int_equal(n.m.mss_ipv4, 1300);
	assert_int_equal(n.m.mss_ipv6, 1390);
	numbers_of(&n, "mode: bridged, remotes: [both], mss: 0");
	assert_int_equal(n.m.mss_ipv4, 0);
	assert_int_equal(n.m.mss_ipv6, 0);
	teardown(&n);
}

/* A smaller hop moves device MTU and MSS together, and a configured number that no longer fits gives way. */
static void test_learned(void **state)
{
	struct numbers n;

	(void)state;
	setup(&n);
	learn(&n, "10.255.2.1", "e2", 1400);
	numbers_of(&n, "mode: routed, remotes: [both], mss: {ipv4: 1400}");
	assert_int_equal(n.m.underlay, 1400);
	assert_int_equal(n.m.device, 1350);
	assert_int_equal(n.m.mss_ipv4, 1310);
	assert_int_equal(n.m.mss_ipv6, 1290);
	numbers_of(&n, "mode: routed, remotes: [fast]"); /* another remote */
	assert_int_equal(n.m.underlay, 9000);
	mtu_of_segment(n.cfg, NULL, config_segment(n.cfg, "s"), &n.m);
	assert_int_equal(n.m.underlay, 9000);
	/* Below what IPv6 works with, the device keeps 1280, or the kernel would take its addresses away. */
	learn(&n, "10.255.2.1", "e2", 1300);
	numbers_of(&n, "mode: routed, remotes: [both], gateway: [\"fd00:1::1/64\"]");
	assert_int_equal(n.m.inner, 1250);
	assert_int_equal(n.m.device, 1280);
	assert_int_equal(n.m.mss_ipv6, 1220);
	numbers_of(&n, "mode: routed, remotes: [both], gateway: [10.1.0.1/24]");
	assert_int_equal(n.m.device, 1250);
	/* Somebody forges an ICMP: the device keeps what the kernel takes. */
	learn(&n, "10.255.2.1", "e2", 100);
	numbers_of(&n, "mode: routed, remotes: [both], gateway: [10.1.0.1/24]");
	assert_int_equal(n.m.inner, 50);
	assert_int_equal(n.m.device, 68);
	assert_int_equal(n.m.mss_ipv4, 536);
	teardown(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_mss_bounds),
		cmocka_unit_test(test_esp_is_tight),
		cmocka_unit_test(test_arithmetic),
		cmocka_unit_test(test_bridged),
		cmocka_unit_test(test_routed),
		cmocka_unit_test(test_mss),
		cmocka_unit_test(test_learned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
