/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All sessions of a config, with every default filled in, each as one line of text. */
/* LINK: routing/session.c config/preset.c overlay/mtu.c gateway/engine/facts.c tests/lib/config_fixture.c config/print.c config/config.c config/decode.c config/diag.c config/hint.c config/schema.c config/text.c config/types.c config/types_bgp.c config/types_net.c config/types_policy.c config/endpoint.c config/types_text.c config/yaml.c */
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
#include "routing/session.h"
#include "tests/lib/config_fixture.h"

#define HEAD "system: {hostname: a}\nvtep: {address: 10.255.0.1, address6: \"fd00:255::1\"}\n"
#define LINE(name, net, more)                                                                                          \
	"  - {name: " name ", interface: e" net ", address: 10.0." net ".1/30, peer-address: 10.0." net ".2, " more    \
	"}\n"
#define LINE6(name, net, more)                                                                                         \
	LINE(name, net, "address6: \"fd00:" net "::1/64\", peer-address6: \"fd00:" net "::2\", " more)

static void put_families(unsigned families, struct buf *out)
{
	buf_printf(out, "%s%s%s", families & CARRIES_IPV4 ? " ipv4" : "", families & CARRIES_IPV6 ? " ipv6" : "",
		families & CARRIES_EVPN ? " evpn" : "");
}

static void put_flags(const struct session *s, struct buf *out)
{
	buf_printf(out, "%s%s%s%s%s%s%s%s", s->internal ? " internal" : "", s->unnumbered ? " unnumbered" : "",
		s->extended_next_hop ? " extended" : "", s->ttl_security ? " gtsm" : "", s->passive ? " passive" : "",
		s->route_reflector_client ? " client" : "", s->next_hop_self ? " self" : "",
		s->default_originate ? " default" : "");
}

static const char *shown(const char *text)
{
	struct sessions all;
	struct buf out = {0};
	const char *s;
	char source[IP_STR_MAX];

	sessions_of(must_parse(text), test_arena, &all);
	for (size_t i = 0; i < all.n; i++) {
		const struct session *v = &all.v[i];

		buf_printf(&out, "%s %s from %s on %s as %u hops %u:", v->peer, v->object,
			ip_addr_is_set(&v->source) ? ip_addr_str(&v->source, source) : "-",
			v->interface ? v->interface : "-", v->peer_as, v->hops);
		put_families(v->families, &out);
		buf_printf(&out, ", hold %u/%u, mss %u, bfd %ux%u%s", v->hold, v->keepalive, v->tcp_mss,
			v->bfd.interval_ms, v->bfd.multiplier, v->bfd.multihop ? " multihop" : "");
		put_flags(v, &out);
		buf_putc(&out, '\n');
	}
	s = arena_strdup(test_arena, buf_str(&out));
	buf_free(&out);
	return s;
}

static void test_lines(void **state)
{
	(void)state;
	assert_string_equal(
		shown(HEAD "lines:\n" LINE("b", "2", "bgp: {peer-as: 65001}, mtu: 9000, path-mtu: 1400") LINE(
			"a", "1", "bgp: {peer-as: 65002, hold-time: 30s, tcp-mss: 1000, passive: true}") LINE("off",
			"3", "bgp: {peer-as: 1}, enabled: false") LINE("none", "4", "bfd: {}") "bgp: {as: 65001}\n"),
		"10.0.1.2 line a from 10.0.1.1 on e1 as 65002 hops 1: ipv4, hold 30/10, mss 1000, bfd 0x0 passive\n"
		"10.0.2.2 line b from 10.0.2.1 on e2 as 65001 hops 1: ipv4, hold 9/3, mss 1360, bfd 0x0 internal\n");
	assert_string_equal(shown(HEAD "lines:\n" LINE("a", "1", "bgp: {peer-as: 1}")), ""); /* no speaker */
}

/* Each session of a line with two carries the prefixes of its own family, EVPN goes over the first. */
static void test_two_families(void **state)
{
	(void)state;
	assert_string_equal(shown(HEAD "lines:\n" LINE6("a", "1", "bgp: {peer-as: 2}, bfd: {}") "bgp: {as: 1}\n"),
		"10.0.1.2 line a from 10.0.1.1 on e1 as 2 hops 1: ipv4, hold 9/3, mss 1460, bfd 50x3\n"
		"fd00:1::2 line a from fd00:1::1 on e1 as 2 hops 1: ipv6, hold 9/3, mss 1440, bfd 50x3\n");
	assert_string_equal(shown(HEAD "lines:\n" LINE6(
				    "a", "1", "bgp: {peer-as: 2, families: [ipv4, ipv6, evpn]}") "bgp: {as: 1}\n"),
		"10.0.1.2 line a from 10.0.1.1 on e1 as 2 hops 1: ipv4 evpn, hold 9/3, mss 1460, bfd 0x0\n"
		"fd00:1::2 line a from fd00:1::1 on e1 as 2 hops 1: ipv6, hold 9/3, mss 1440, bfd 0x0\n");
	assert_string_equal(
		shown(HEAD "lines:\n" LINE6("a", "1", "bgp: {peer-as: 2, families: [ipv6]}") "bgp: {as: 1}\n"),
		"fd00:1::2 line a from fd00:1::1 on e1 as 2 hops 1: ipv6, hold 9/3, mss 1440, bfd 0x0\n");
	assert_string_equal(
		shown(HEAD
			"lines:\n  - {name: a, interface: e, address: \"fd00::1/64\", peer-address: \"fd00::2\", bgp: "
			"{peer-as: 2, families: [ipv4]}}\nbgp: {as: 1}\n"),
		"fd00::2 line a from fd00::1 on e as 2 hops 1: ipv4, hold 9/3, mss 1440, bfd 0x0 extended\n");
}

/* What the file does not say is as the provider has it. */
static void test_presets(void **state)
{
	(void)state;
	assert_string_equal(shown(HEAD "lines:\n" LINE("a", "1", "provider: aliyun, bfd: {}, bgp: {peer-as: 2}") LINE(
				    "b", "2", "provider: aws, bfd: {multiplier: 5}, bgp: {peer-as: 2}") LINE("c", "3",
				    "provider: aws, bfd: {interval: 500ms}, bgp: {peer-as: 2, hold-time: 6s}") LINE("d",
				    "4", "provider: tencent, bfd: {}, bgp: {peer-as: 2}") LINE("e", "5",
				    "provider: huawei, bfd: {}, bgp: {peer-as: 2}") "bgp: {as: 1}\n"),
		"10.0.1.2 line a from 10.0.1.1 on e1 as 2 hops 1: ipv4, hold 9/3, mss 1460, bfd 1000x3\n"
		"10.0.2.2 line b from 10.0.2.1 on e2 as 2 hops 1: ipv4, hold 90/30, mss 1460, bfd 300x5\n"
		"10.0.3.2 line c from 10.0.3.1 on e3 as 2 hops 1: ipv4, hold 6/2, mss 1460, bfd 500x3\n"
		"10.0.4.2 line d from 10.0.4.1 on e4 as 2 hops 1: ipv4, hold 9/3, mss 1460, bfd 50x3\n"
		"10.0.5.2 line e from 10.0.5.1 on e5 as 2 hops 1: ipv4, hold 9/3, mss 1460, bfd 50x3\n");
}

static void test_neighbors(void **state)
{
	(void)state;
	assert_string_equal(
		shown(HEAD
			"interfaces:\n"
			"  - {name: f1, mtu: 9000, addresses: [10.9.1.1/31]}\n"
			"  - {name: f2, mtu: 1500}\n"
			"bgp:\n"
			"  as: 1\n"
			"  neighbors:\n"
			"    - {name: a, address: 10.9.1.0, peer-as: 2, default-originate: true}\n"
			"    - {name: b, interface: f2, peer-as: 3, bfd: {interval: 100ms}}\n"
			"    - {name: c, address: \"fe80::9\", interface: f2, peer-as: 3, families: [ipv4]}\n"
			"    - {name: d, address: 10.1.1.1, multihop: 4, peer-as: 1, bfd: {}, route-reflector-client: "
			"true, next-hop-self: true}\n"
			"    - {name: e, address: 10.1.1.2, multihop: 2, source: 10.9.1.1, peer-as: 5, families: "
			"[evpn], "
			"ttl-security: true}\n"
			"    - {name: f, address: 10.1.1.3, peer-as: 5, enabled: false}\n"),
		"10.1.1.1 neighbor d from 10.255.0.1 on - as 1 hops 4: ipv4, hold 9/3, mss 0, bfd 50x3 multihop "
		"internal "
		"client self\n"
		"10.1.1.2 neighbor e from 10.9.1.1 on - as 5 hops 2: evpn, hold 9/3, mss 0, bfd 0x0 gtsm\n"
		"10.9.1.0 neighbor a from - on f1 as 2 hops 1: ipv4, hold 9/3, mss 8960, bfd 0x0 default\n"
		"fe80::9 neighbor c from - on f2 as 3 hops 1: ipv4, hold 9/3, mss 1440, bfd 0x0 extended\n"
		"f2 neighbor b from - on f2 as 3 hops 1: ipv4 ipv6, hold 9/3, mss 1440, bfd 100x3 unnumbered "
		"extended\n");
}

/* From vtep to vtep, of the remote's family, and only where it has its own session. */
static void test_remotes(void **state)
{
	(void)state;
	assert_string_equal(
		shown(HEAD "lines:\n" LINE6("a", "1", "mtu: 9000") LINE6("b", "2",
			"mtu: 1500") "remotes:\n"
				     "  - {name: r, vtep: 10.255.1.1, lines: [a, b], learn: evpn, peer-as: 2}\n"
				     "  - {name: s, vtep: \"fd00:255::2\", lines: [a], learn: evpn, peer-as: 1}\n"
				     "  - {name: t, vtep: 10.255.1.3, lines: [a], learn: evpn}\n"
				     "  - {name: u, vtep: 10.255.1.4, lines: [a], learn: bgp, peer-as: 2}\n"
				     "bgp: {as: 1}\n"),
		"10.255.1.1 remote r from 10.255.0.1 on - as 2 hops 255: evpn, hold 9/3, mss 1460, bfd 0x0\n"
		"fd00:255::2 remote s from fd00:255::1 on - as 1 hops 255: evpn, hold 9/3, mss 8940, bfd 0x0 "
		"internal\n");
}

/* FRR's order: addresses by value, not by text, IPv4 first. */
static void test_order(void **state)
{
	const struct config *cfg = must_parse(HEAD "lines:\n" LINE6("z", "9", "bgp: {peer-as: 2}") LINE(
		"y", "10", "bgp: {peer-as: 2}") "bgp: {as: 1, neighbors: [{name: e, interface: e0, peer-as: 1}]}\n");
	static const char *const order[] = {"10.0.9.2", "10.0.10.2", "fd00:9::2", "e0"};
	struct sessions all;

	(void)state;
	sessions_of(cfg, test_arena, &all);
	assert_int_equal(all.n, 4);
	for (size_t i = 0; i < all.n; i++) {
		assert_string_equal(all.v[i].peer, order[i]);
		assert_ptr_equal(sessions_by_peer(&all, order[i]), &all.v[i]);
	}
	assert_null(sessions_by_peer(&all, "10.0.9.1"));
}

/* BFD needs no BGP. */
static void test_line_bfds(void **state)
{
	const struct config *cfg = must_parse(HEAD "lines:\n" LINE("a", "1", "bfd: {interval: 20ms, multiplier: 7}")
			LINE6("b", "2", "provider: aliyun, bfd: {}") LINE("c", "3", "bfd: {}, enabled: false")
				LINE("d", "4", "mtu: 1500"));
	struct line_bfd bfds[8];
	char text[IP_STR_MAX];

	(void)state;
	assert_int_equal(line_bfds_of(cfg, bfds), 3);
	assert_string_equal(bfds[0].line->name, "a");
	assert_int_equal(bfds[0].timers.interval_ms, 20);
	assert_int_equal(bfds[0].timers.multiplier, 7);
	assert_false(bfds[0].timers.multihop);
	assert_string_equal(ip_addr_str(&bfds[1].peer, text), "10.0.2.2");
	assert_string_equal(ip_addr_str(&bfds[2].peer, text), "fd00:2::2");
	assert_string_equal(ip_addr_str(&bfds[2].local, text), "fd00:2::1");
	assert_int_equal(bfds[2].timers.interval_ms, 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CONFIG_TEST(test_lines),
		CONFIG_TEST(test_two_families),
		CONFIG_TEST(test_presets),
		CONFIG_TEST(test_neighbors),
		CONFIG_TEST(test_remotes),
		CONFIG_TEST(test_order),
		CONFIG_TEST(test_line_bfds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
