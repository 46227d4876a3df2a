/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Addresses: what is accepted, what is refused, and the arithmetic of prefixes. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "gateway/base/addr.h"
#include "gateway/base/str.h"

static struct ip_addr addr(const char *s)
{
	struct ip_addr a;

	assert_int_equal(ip_addr_parse(s, &a), 0);
	return a;
}

static struct ip_prefix prefix(const char *s)
{
	struct ip_prefix p;

	assert_int_equal(ip_prefix_parse(s, &p), 0);
	return p;
}

static void test_addr_parse(void **state)
{
	static const char *const good[][2] = {
		{"10.0.0.1", "10.0.0.1"},
		{"255.255.255.255", "255.255.255.255"},
		{"FD00:0:0::1", "fd00::1"},
		{"::", "::"},
		{"::ffff:10.0.0.1", "::ffff:10.0.0.1"},
	};
	static const char *const bad[] = {
		"", "10.0.0", "10.0.0.256", "10.0.0.01 ", "fd00::1::2", "fe80::1%eth0", "1.2.3.4/24", "a.b.c.d"};
	char buf[IP_STR_MAX];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		struct ip_addr a = addr(good[i][0]);

		assert_string_equal(ip_addr_str(&a, buf), good[i][1]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct ip_addr a = {.family = 99};

		assert_int_equal(ip_addr_parse(bad[i], &a), -EINVAL);
		assert_int_equal(a.family, 99);
	}
}

static void test_prefix_parse(void **state)
{
	static const char *const bad[] = {"10.0.0.1", "10.0.0.1/", "10.0.0.1/33", "fd00::/129", "10.0.0.1/-1",
		"10.0.0.1/024", "10.0.0.1/2 4", "/24"};
	struct ip_prefix p;
	char buf[IP_STR_MAX];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(ip_prefix_parse(bad[i], &p), -EINVAL);
	p = prefix("10.0.0.1/0");
	assert_string_equal(ip_prefix_str(&p, buf), "10.0.0.1/0");
	p = prefix("FD00:20::2/64");
	assert_string_equal(ip_prefix_str(&p, buf), "fd00:20::2/64");
}

static void test_mac(void **state)
{
	static const char *const bad[] = {
		"", "02:00:00:00:00", "02:00:00:00:00:0g", "02-00-00-00-00-01", "02:00:00:00:00:011"};
	struct mac_addr a, b;
	char buf[MAC_STR_MAX];

	(void)state;
	assert_int_equal(mac_addr_parse("02:AB:cd:00:ff:10", &a), 0);
	assert_string_equal(mac_addr_str(&a, buf), "02:ab:cd:00:ff:10");
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(mac_addr_parse(bad[i], &a), -EINVAL);
	a = mac_addr_derive("bj-gw1", 10010);
	b = mac_addr_derive("bj-gw1", 10010);
	assert_int_equal(mac_addr_cmp(&a, &b), 0);
	assert_int_equal(a.bytes[0], 0x02);
	b = mac_addr_derive("bj-gw1", 10011);
	assert_int_not_equal(mac_addr_cmp(&a, &b), 0);
	b = mac_addr_derive("bj-gw2", 10010);
	assert_int_not_equal(mac_addr_cmp(&a, &b), 0);
}

static void test_unicast_host(void **state)
{
	static const char *const no[] = {"0.0.0.0", "0.1.2.3", "127.0.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255",
		"::", "::1", "ff02::1", "::ffff:10.0.0.1", "::10.0.0.1"};
	static const char *const yes[] = {"10.0.0.1", "223.255.255.254", "fd00::1", "2001:db8::1", "fe80::1"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(no); i++) {
		struct ip_addr a = addr(no[i]);

		if (ip_addr_is_unicast_host(&a))
			fail_msg("%s is taken for a host's address", no[i]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(yes); i++) {
		struct ip_addr a = addr(yes[i]);

		if (!ip_addr_is_unicast_host(&a))
			fail_msg("%s is not taken for a host's address", yes[i]);
	}
}

static void test_network(void **state)
{
	static const char *const cases[][2] = {
		{"10.1.2.3/24", "10.1.2.0/24"},
		{"10.1.2.3/32", "10.1.2.3/32"},
		{"10.1.2.3/0", "0.0.0.0/0"},
		{"10.255.2.3/9", "10.128.0.0/9"},
		{"fd00:99:1::1/64", "fd00:99:1::/64"},
		{"fd00:99:1::ffff/121", "fd00:99:1::ff80/121"},
	};
	char buf[IP_STR_MAX];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct ip_prefix p = prefix(cases[i][0]), net = ip_prefix_network(&p);

		assert_string_equal(ip_prefix_str(&net, buf), cases[i][1]);
	}
}

static void test_contains_and_overlaps(void **state)
{
	struct ip_prefix p = prefix("10.1.0.0/16"), q = prefix("10.1.2.0/24"), r = prefix("10.2.0.0/16"),
			 all = prefix("0.0.0.0/0"), six = prefix("::/0");
	struct ip_addr in = addr("10.1.255.255"), out = addr("10.2.0.0");

	(void)state;
	assert_true(ip_prefix_contains(&p, &in));
	assert_false(ip_prefix_contains(&p, &out));
	assert_true(ip_prefix_overlaps(&p, &q) && ip_prefix_overlaps(&q, &p));
	assert_false(ip_prefix_overlaps(&p, &r));
	assert_true(ip_prefix_overlaps(&all, &r));
	assert_false(ip_prefix_overlaps(&all, &six));
	assert_false(ip_prefix_contains(&six, &in));
}

static void test_edges(void **state)
{
	static const struct {
		const char *prefix, *addr;
		bool edge;
	} cases[] = {
		{"10.0.0.1/24", "10.0.0.0", true},
		{"10.0.0.1/24", "10.0.0.255", true},
		{"10.0.0.1/24", "10.0.0.254", false},
		{"10.0.0.0/31", "10.0.0.0", false},
		{"10.0.0.1/32", "10.0.0.1", false},
		{"fd00::1/64", "fd00::", true},
		{"fd00::1/64", "fd00::ffff:ffff:ffff:ffff", false},
		{"fd00::/127", "fd00::", false},
		{"10.0.0.1/24", "10.0.1.0", false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct ip_prefix p = prefix(cases[i].prefix);
		struct ip_addr a = addr(cases[i].addr);

		if (ip_prefix_is_edge(&p, &a) != cases[i].edge)
			fail_msg("%s in %s", cases[i].addr, cases[i].prefix);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_addr_parse),
		cmocka_unit_test(test_prefix_parse),
		cmocka_unit_test(test_mac),
		cmocka_unit_test(test_unicast_host),
		cmocka_unit_test(test_network),
		cmocka_unit_test(test_contains_and_overlaps),
		cmocka_unit_test(test_edges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
