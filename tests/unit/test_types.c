/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Value types: what each takes, what it refuses and with which advice, and that its print is what it parses. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "config/schema.h"
#include "config/types.h"
#include "gateway/base/arena.h"
#include "gateway/base/buf.h"
#include "gateway/base/str.h"

/* LINK: config/diag.c config/schema.c config/types.c config/types_bgp.c config/types_net.c config/types_policy.c config/endpoint.c config/types_text.c */

#define X256 X64 X64 X64 X64
#define X64 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"

static const struct limit vni = {.has_range = true, .min = 1, .max = 16777215};
static const struct limit mtu = {.has_range = true, .min = 576, .max = 65485};
static const struct limit interval = {.has_range = true, .min = 10000, .max = 60000000};
static const struct limit rate = {.has_range = true, .min = 1000000, .max = 10000000000000};
static const struct limit size = {.has_range = true, .min = 1 << 20, .max = UINT64_C(2) << 30};
static const struct limit loss = {.has_range = true, .min = 0, .max = 100000};
static const struct limit none;

struct good {
	const struct type *type;
	const struct limit *limit;
	const char *text, *printed; /* NULL: the same */
};

static void test_good(void **state)
{
	static const struct good cases[] = {
		{&type_NAME, &none, "bj-gw1.idc_2", NULL},
		{&type_NAME, &none, "0", NULL},
		{&type_TEXT, &none, "IDC fabric, leaf 1: \"北京\"", NULL},
		{&type_TEXT, &none, "", NULL},
		{&type_TEXT, &none, X256, NULL},
		{&type_IFNAME, &none, "eth0.100@x-y_z1", NULL},
		{&type_PATH, &none, "/etc/fairway/a..b/c", NULL},
		{&type_BOOL, &none, "true", NULL},
		{&type_BOOL, &none, "false", NULL},
		{&type_U32, &vni, "1", NULL},
		{&type_U32, &vni, "16777215", NULL},
		{&type_U32, &none, "4294967295", NULL},
		{&type_U32, &none, "0", NULL},
		{&type_AUTO_U32, &mtu, "auto", NULL},
		{&type_AUTO_U32, &mtu, "576", NULL},
		{&type_TOS, &none, "inherit", NULL},
		{&type_TOS, &none, "0", NULL},
		{&type_TOS, &none, "255", NULL},
		{&type_DURATION, &interval, "50ms", NULL},
		{&type_DURATION, &interval, "60s", "1m"},
		{&type_DURATION, &interval, "1500ms", NULL},
		{&type_DURATION, &interval, "10000us", "10ms"},
		{&type_DURATION, &none, "2h", NULL},
		{&type_RATE, &rate, "10gbit", NULL},
		{&type_RATE, &rate, "10000mbit", "10gbit"},
		{&type_RATE, &rate, "1000000bit", "1mbit"},
		{&type_SIZE, &size, "256MiB", NULL},
		{&type_SIZE, &size, "2048KiB", "2MiB"},
		{&type_SIZE, &size, "1024MiB", "1GiB"},
		{&type_PERCENT, &loss, "0.1%", NULL},
		{&type_PERCENT, &loss, "0%", NULL},
		{&type_PERCENT, &loss, "99.050%", "99.05%"},
		{&type_PERCENT, &loss, "100%", NULL},
		{&type_ADDR, &none, "10.255.0.1", NULL},
		{&type_ADDR, &none, "FD00:0:0::1", "fd00::1"},
		{&type_PREFIX, &none, "0.0.0.0/0", NULL},
		{&type_PREFIX, &none, "10.30.0.0/16", NULL},
		{&type_PREFIX, &none, "fd00:30::/48", NULL},
		{&type_IFADDR, &none, "10.99.1.1/24", NULL},
		{&type_IFADDR, &none, "10.99.1.0/31", NULL},
		{&type_IFADDR, &none, "10.99.1.0/32", NULL},
		{&type_IFADDR, &none, "fd00::1/64", NULL},
		{&type_MAC, &none, "02:00:00:00:00:0A", "02:00:00:00:00:0a"},
		{&type_COMMUNITY, &none, "0:0", NULL},
		{&type_COMMUNITY, &none, "65535:65535", NULL},
		{&type_COMMUNITY, &none, "4294967295:0:4294967295", NULL},
		{&type_COMMUNITY, &none, "local-AS", NULL},
		{&type_ROUTE_TARGET, &none, "65000:4294967295", NULL},
		{&type_ROUTE_TARGET, &none, "4200000001:65535", NULL},
		{&type_ROUTE_TARGET, &none, "10.0.0.1:65535", NULL},
		{&type_ENDPOINT, &none, "any", NULL},
		{&type_ENDPOINT, &none, "gpu", NULL},
		{&type_ENDPOINT, &none, "interface:eth0.100@x", NULL},
		{&type_ENDPOINT, &none, "segment:10", NULL},
		{&type_ENDPOINT, &none, "10.1.0.0/16", NULL},
		{&type_ENDPOINT, &none, "FD00:0::/64", "fd00::/64"},
		{&type_PORT, &none, "tcp/2049", NULL},
		{&type_PORT, &none, "udp/5000-6000", NULL},
		{&type_PORT, &none, "sctp/7-7", "sctp/7"},
		{&type_PORT, &none, "tcp/0-65535", "tcp"},
		{&type_PORT, &none, "icmp/8", "icmp/echo-request"},
		{&type_PORT, &none, "icmp/250", NULL},
		{&type_PORT, &none, "icmpv6/packet-too-big", NULL},
		{&type_PORT, &none, "proto/47", "gre"},
		{&type_PORT, &none, "proto/6", "tcp"},
		{&type_PORT, &none, "proto/99", NULL},
		{&type_SERVICE, &none, "nfs", NULL},
		{&type_SERVICE, &none, "tcp/443", NULL},
		{&type_SERVICE, &none, "icmpv6", NULL},
		{&type_EVENT_RATE, &none, "100/s", NULL},
		{&type_EVENT_RATE, &none, "60/m", NULL},
		{&type_EVENT_RATE, &none, "1/h", NULL},
		{&type_CLOCK, &none, "00:00", NULL},
		{&type_CLOCK, &none, "24:00", NULL},
		{&type_CLOCK, &none, "06:59", NULL},
		{&type_MSS, &none, "auto", NULL},
		{&type_MSS, &none, "0", NULL},
		{&type_MSS, &none, "1410", NULL},
		{&type_MSS, &none, "{ipv4: 1410, ipv6: 1390}", NULL},
		{&type_MSS, &none, "{ipv6: 1390, ipv4: 1410}", "{ipv4: 1410, ipv6: 1390}"},
		{&type_MSS, &none, "{ipv6: 1220}", NULL},
		{&type_MSS, &none, "{ipv4: 536, ipv6: auto}", "{ipv4: 536}"},
		{&type_MSS, &none, "{ipv4: auto, ipv6: auto}", "auto"},
		{&type_MSS, &none, "{ipv4: 1300, ipv6: 1300}", "1300"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct good *c = &cases[i];
		struct arena *arena = arena_new();
		_Alignas(max_align_t) char value[64] = {0}, again[64] = {0};
		struct buf text = {0};
		const char *want;

		assert_int_equal(c->type->parse(c->text, c->limit, arena, value, &want), 0);
		c->type->print(value, c->limit, &text);
		assert_string_equal(buf_str(&text), c->printed ? c->printed : c->text);
		assert_int_equal(c->type->parse(buf_str(&text), c->limit, arena, again, &want), 0);
		assert_int_equal(c->type->compare(value, again), 0);
		buf_free(&text);
		arena_free(arena);
	}
}

struct bad {
	const struct type *type;
	const struct limit *limit;
	const char *text, *want; /* part of the advice */
};

static void test_bad(void **state)
{
	static const struct bad cases[] = {
		{&type_NAME, &none, "", "a name: 1 to 63"},
		{&type_NAME, &none, X64, "a name: 1 to 63"},
		{&type_NAME, &none, "-a", "beginning with a letter or digit"},
		{&type_NAME, &none, "a b", "a name"},
		{&type_NAME, &none, "a,b", "a name"},
		{&type_NAME, &none, "é", "a name"},
		{&type_TEXT, &none, "a\nb", "one line"},
		{&type_TEXT, &none, "\033[31m", "without control characters"},
		{&type_TEXT, &none, X256 "x", "at most 256 bytes"},
		{&type_IFNAME, &none, "", "1 to 15"},
		{&type_IFNAME, &none, "abcdefghij123456", "1 to 15"},
		{&type_IFNAME, &none, "eth0;reboot", "letters, digits"},
		{&type_IFNAME, &none, "a/b", "letters, digits"},
		{&type_IFNAME, &none, "..", "the kernel has another use"},
		{&type_IFNAME, &none, ".", "the kernel has another use"},
		{&type_IFNAME, &none, "all", "the kernel has another use"},
		{&type_IFNAME, &none, "default", "the kernel has another use"},
		{&type_COMMUNITY, &none, "65536:1", "a community"},
		{&type_COMMUNITY, &none, "1:65536", "each to 65535"},
		{&type_COMMUNITY, &none, "1:2:4294967296", "a large one"},
		{&type_COMMUNITY, &none, "1:2:3:4", "a community"},
		{&type_COMMUNITY, &none, "01:2", "a community"},
		{&type_COMMUNITY, &none, "1", "a community"},
		{&type_COMMUNITY, &none, "1:", "a community"},
		{&type_COMMUNITY, &none, "No-Export", "no-export"},
		{&type_COMMUNITY, &none, "no-export 1:2", "a community"},
		{&type_ROUTE_TARGET, &none, "65000", "a route target"},
		{&type_ROUTE_TARGET, &none, "65536:65536", "at most 65535"},
		{&type_ROUTE_TARGET, &none, "10.0.0.1:65536", "at most 65535"},
		{&type_ROUTE_TARGET, &none, "10.0.0:1", "a route target"},
		{&type_ROUTE_TARGET, &none, "fd00::1:1", "a route target"},
		{&type_ROUTE_TARGET, &none, "1:2:3", "a route target"},
		{&type_PATH, &none, "secrets/a", "an absolute path"},
		{&type_PATH, &none, "/etc/../shadow", "without \"..\""},
		{&type_PATH, &none, "/etc/..", "without \"..\""},
		{&type_PATH, &none, "/", "an absolute path of a file"},
		{&type_PATH, &none, "/etc/", "an absolute path of a file"},
		{&type_BOOL, &none, "yes", "true or false"},
		{&type_BOOL, &none, "on", "true or false"},
		{&type_BOOL, &none, "True", "true or false"},
		{&type_BOOL, &none, "1", "true or false"},
		{&type_U32, &vni, "0", "a number from 1 to 16777215"},
		{&type_U32, &vni, "16777216", "a number from 1 to 16777215"},
		{&type_U32, &vni, "99999999999999999999999", "a number from 1 to 16777215"},
		{&type_U32, &vni, "010", "a number from 1 to 16777215; write it without leading zeros"},
		{&type_U32, &vni, "0x10", "; write it in decimal"},
		{&type_U32, &vni, "0o17", "; write it in decimal"},
		{&type_U32, &vni, "1e3", "; write it in whole digits"},
		{&type_U32, &vni, "1.5", "; write it in whole digits"},
		{&type_U32, &vni, "+5", "; write it without a sign"},
		{&type_U32, &vni, "1_000", "; write it without separators"},
		{&type_U32, &vni, "1,000", "; write it without separators"},
		{&type_U32, &vni, "ten", "a number from 1 to 16777215"},
		{&type_U32, &vni, " 5", "a number from 1 to 16777215"},
		{&type_U32, &none, "4294967296", "a number from 0 to 4294967295"},
		{&type_AUTO_U32, &mtu, "0", "auto or a number from 576 to 65485"},
		{&type_AUTO_U32, &mtu, "Auto", "auto or a number from 576 to 65485"},
		{&type_TOS, &none, "256", "inherit or a number from 0 to 255"},
		{&type_DURATION, &interval, "50", "a number with a unit, such as 50ms"},
		{&type_DURATION, &interval, "50 ms", "us, ms, s, m or h, such as 50ms"},
		{&type_DURATION, &interval, "5min", "us, ms, s, m or h, such as 50ms"},
		{&type_DURATION, &interval, "1.5s", "us, ms, s, m or h"},
		{&type_DURATION, &interval, "050ms", "us, ms, s, m or h"},
		{&type_DURATION, &interval, "-50ms", "a time from 10ms to 1m"},
		{&type_DURATION, &interval, "5ms", "a time from 10ms to 1m"},
		{&type_DURATION, &interval, "61s", "a time from 10ms to 1m"},
		{&type_DURATION, &none, "18446744073709551615h", "us, ms, s, m or h"},
		{&type_RATE, &rate, "10", "a number with a unit, such as 10gbit"},
		{&type_RATE, &rate, "10G", "bit, kbit, mbit, gbit or tbit, such as 10gbit"},
		{&type_RATE, &rate, "10Gbit", "bit, kbit, mbit, gbit or tbit"},
		{&type_RATE, &rate, "11tbit", "a rate from 1mbit to 10tbit"},
		{&type_SIZE, &size, "256", "a number with a unit, such as 256MiB"},
		{&type_SIZE, &size, "256MB", "KiB, MiB or GiB, such as 256MiB"},
		{&type_SIZE, &size, "1KiB", "a size from 1MiB to 2GiB"},
		{&type_PERCENT, &loss, "0.1", "a percentage from 0% to 100%"},
		{&type_PERCENT, &loss, "100.001%", "a percentage from 0% to 100%"},
		{&type_PERCENT, &loss, "0.1234%", "at most three decimals"},
		{&type_PERCENT, &loss, "00%", "a percentage"},
		{&type_ADDR, &none, "10.0.0.300", "an IPv4 or IPv6 address"},
		{&type_ADDR, &none, "10.0.0.1/32", "an address without a prefix length"},
		{&type_ADDR, &none, "224.0.0.1", "an address that a host can own"},
		{&type_ADDR, &none, "::", "an address that a host can own"},
		{&type_ADDR, &none, "::ffff:10.0.0.1", "an address that a host can own"},
		{&type_ENDPOINT, &none, "10.99.1.1/24", "write 10.99.1.0/24"},
		{&type_ENDPOINT, &none, "10.99.1.1", "write 10.99.1.1/32"},
		{&type_ENDPOINT, &none, "fd00::1", "write fd00::1/128"},
		{&type_ENDPOINT, &none, "zone:gpu", "segment, tenant, group, line, interface"},
		{&type_ENDPOINT, &none, "segment:", "any, gateway"},
		{&type_ENDPOINT, &none, "a b", "any, gateway"},
		{&type_PORT, &none, "tcp/65536", "a port, such as"},
		{&type_PORT, &none, "tcp/2-1", "a port, such as"},
		{&type_PORT, &none, "tcp/1-", "a port, such as"},
		{&type_PORT, &none, "tcp/", "a port, such as"},
		{&type_PORT, &none, "tcp/01", "a port, such as"},
		{&type_PORT, &none, "icmp/256", "a port, such as"},
		{&type_PORT, &none, "icmp/packet-too-big", "a port, such as"},
		{&type_PORT, &none, "gre/1", "a port, such as"},
		{&type_PORT, &none, "proto", "a port, such as"},
		{&type_PORT, &none, "proto/256", "a port, such as"},
		{&type_PORT, &none, "nfs", "a port, such as"},
		{&type_SERVICE, &none, "web/80", "a port, such as"},
		{&type_SERVICE, &none, "-x", "the name of a service"},
		{&type_EVENT_RATE, &none, "100", "per second, minute or hour"},
		{&type_EVENT_RATE, &none, "0/s", "per second, minute or hour"},
		{&type_EVENT_RATE, &none, "010/s", "per second, minute or hour"},
		{&type_EVENT_RATE, &none, "1/ss", "per second, minute or hour"},
		{&type_CLOCK, &none, "24:01", "a time of the day"},
		{&type_CLOCK, &none, "7:00", "a time of the day"},
		{&type_CLOCK, &none, "12:60", "a time of the day"},
		{&type_PREFIX, &none, "10.99.1.1/24", "write 10.99.1.0/24"},
		{&type_PREFIX, &none, "fd00:30::1/48", "write fd00:30::/48"},
		{&type_PREFIX, &none, "10.99.1.0", "a network, such as 10.0.0.0/8"},
		{&type_IFADDR, &none, "10.99.1.1", "an address with its prefix length"},
		{&type_IFADDR, &none, "10.99.1.1/33", "an address with its prefix length"},
		{&type_IFADDR, &none, "10.99.1.0/24", "a host's address in 10.99.1.0/24"},
		{&type_IFADDR, &none, "10.99.1.255/24", "a host's address in 10.99.1.0/24"},
		{&type_IFADDR, &none, "127.0.0.1/8", "an address that a host can own"},
		{&type_MAC, &none, "02-00-00-00-00-01", "a MAC address"},
		{&type_MAC, &none, "00:00:00:00:00:00", "the MAC address of one host"},
		{&type_MAC, &none, "01:00:5e:00:00:01", "the MAC address of one host"},
		{&type_MSS, &none, "535", "auto, 0, a number from 536 to 65475"},
		{&type_MSS, &none, "65476", "auto, 0, a number from 536 to 65475"},
		{&type_MSS, &none, "{}", "auto, 0"},
		{&type_MSS, &none, "{ipv4: 0}", "{ipv4: 536 to 65495"},
		{&type_MSS, &none, "{ipv6: 1219}", "ipv6: 1220 to 65475}"},
		{&type_MSS, &none, "{ipv5: 1400}", "auto, 0"},
		{&type_MSS, &none, "{ipv4: 1400", "auto, 0"},
		{&type_MSS, &none, "01410", "auto, 0"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct bad *c = &cases[i];
		struct arena *arena = arena_new();
		_Alignas(max_align_t) char value[64] = {0};
		static const char untouched[64];
		const char *want = NULL;

		assert_int_equal(c->type->parse(c->text, c->limit, arena, value, &want), -EINVAL);
		assert_memory_equal(value, untouched, sizeof(value));
		assert_non_null(want);
		if (!strstr(want, c->want))
			fail_msg("%s: \"%s\" is said to be not \"%s\"", c->type->name, c->text, want);
		arena_free(arena);
	}
}

static void test_enum(void **state)
{
	const struct limit mode = {.words = schema_words("segment_mode")}, df = {.words = schema_words("df")};
	struct arena *arena = arena_new();
	struct buf text = {0};
	const char *want;
	int value = -1;

	(void)state;
	assert_int_equal(type_ENUM.parse("routed", &mode, arena, &value, &want), 0);
	assert_int_equal(value, MODE_ROUTED);
	type_ENUM.print(&value, &mode, &text);
	assert_string_equal(buf_str(&text), "routed");
	assert_int_equal(type_ENUM.parse("brigded", &mode, arena, &value, &want), -EINVAL);
	assert_string_equal(want, "bridged or routed; did you mean bridged?");
	assert_int_equal(type_ENUM.parse("never", &df, arena, &value, &want), -EINVAL);
	assert_string_equal(want, "one of inherit, set or unset");
	assert_int_equal(value, MODE_ROUTED);
	buf_free(&text);
	arena_free(arena);
}

/* Orders are orders, and nothing is something only where the type has a value for it. */
static void test_compare(void **state)
{
	const uint32_t one = 1, two = 2, zero = 0;
	const struct mss automatic = {0}, off = {.kind = MSS_OFF}, small = {MSS_FIXED, 1300, 1300},
			 large = {MSS_FIXED, 1300, 1400};
	const char *a = "a", *b = "b", *nothing = NULL;
	const struct ip_addr no_addr = {0};

	(void)state;
	assert_true(type_U32.compare(&one, &two) < 0 && type_U32.compare(&two, &one) > 0);
	assert_true(type_MSS.compare(&automatic, &off) != 0 && type_MSS.compare(&small, &large) < 0);
	assert_int_equal(type_MSS.compare(&large, &large), 0);
	assert_true(type_NAME.compare(&a, &b) < 0 && type_NAME.compare(&nothing, &a) < 0);
	assert_true(type_U32.is_absent(&zero) && !type_U32.is_absent(&one));
	assert_true(type_NAME.is_absent(&nothing) && !type_NAME.is_absent(&a));
	assert_true(type_ADDR.is_absent(&no_addr));
	assert_false(type_AUTO_U32.is_absent(&zero));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_enum),
		cmocka_unit_test(test_compare),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
