/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who says what of itself, and who is not believed. */
/* LINK: overlay/snoop.c gateway/base/addr.c */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "gateway/base/str.h"
#include "overlay/snoop.h"

static const uint8_t arp_header[14] = {255, 255, 255, 255, 255, 255, 2, 0, 0, 0, 0, 10, 8, 6};
static const uint8_t arp[28] = {
	0, 1, 8, 0, 6, 4, 0, 1, 2, 0, 0, 0, 0, 10, 10, 99, 1, 11, 0, 0, 0, 0, 0, 0, 10, 99, 1, 12};
static const uint8_t nd_header[14] = {0x33, 0x33, 255, 0, 0, 12, 2, 0, 0, 0, 0, 10, 0x86, 0xdd};
/* fd99::11 asks for fd99::12; its MAC stands behind a nonce (RFC 3971). */
static const uint8_t solicit[40 + 24 + 16] = {0x60, 0, 0, 0, 0, 40, 58, 255, 0xfd, 0x99, [23] = 0x11, [24] = 0xff,
	2, [35] = 1, 0xff, [39] = 0x12, [40] = 135, [48] = 0xfd, 0x99, [63] = 0x12, [64] = 14, 1, 1, 2, 3, 4, 5, 6, 1,
	1, 2, 0, 0, 0, 0, 10};
/* fd99::11 is there. */
static const uint8_t advertise[40 + 24 + 8] = {0x60, 0, 0, 0, 0, 32, 58, 255, 0xfe, 0x80, [23] = 9, [24] = 0xff,
	2, [39] = 1, [40] = 136, [48] = 0xfd, 0x99, [63] = 0x11, [64] = 2, 1, 2, 0, 0, 0, 0, 10};

static int parse(const uint8_t *header, const uint8_t *packet, size_t len, char addr[IP_STR_MAX])
{
	static const uint8_t mac[6] = {2, 0, 0, 0, 0, 10};
	struct snoop_host host;
	int r = snoop_parse(header, 14, packet, len, &host);

	if (r == 0) {
		assert_memory_equal(host.mac.bytes, mac, 6);
		(void)ip_addr_str(&host.addr, addr);
	}
	return r;
}

static void test_who_speaks_is_known(void **state)
{
	char addr[IP_STR_MAX];
	uint8_t reply[28];

	(void)state;
	assert_int_equal(parse(arp_header, arp, sizeof(arp), addr), 0);
	assert_string_equal(addr, "10.99.1.11");
	memcpy(reply, arp, sizeof(arp));
	reply[7] = 2;
	assert_int_equal(parse(arp_header, reply, sizeof(reply), addr), 0);
	assert_int_equal(parse(nd_header, solicit, sizeof(solicit), addr), 0);
	assert_string_equal(addr, "fd99::11");
	assert_int_equal(parse(nd_header, advertise, sizeof(advertise), addr), 0);
	assert_string_equal(addr, "fd99::11");
}

struct change {
	const char *why;
	size_t at;
	uint8_t value;
};

static void refuse_all(const uint8_t *header, const uint8_t *packet, size_t len, const struct change *v, size_t n)
{
	uint8_t changed[128];
	char addr[IP_STR_MAX];

	for (size_t i = 0; i < n; i++) {
		memcpy(changed, packet, len);
		changed[v[i].at] = v[i].value;
		if (parse(header, changed, len, addr) != -ENOMSG)
			fail_msg("believed: %s", v[i].why);
	}
}

static void test_who_is_not_believed(void **state)
{
	static const struct change arps[] = {{"RARP", 7, 3}, {"another's MAC", 13, 11}, {"a probe's 0.0.0.0", 14, 0},
		{"a group", 14, 224}, {"nobody's", 14, 255}, {"loopback", 14, 127}, {"not Ethernet", 1, 6},
		{"not IPv4", 2, 0x86}};
	static const struct change solicits[] = {{"forwarded", 7, 254}, {"not ICMPv6", 6, 17},
		{"another's MAC", 79, 11}, {"no such option", 72, 5}, {"an option without a length", 65, 0},
		{"an option that is too long", 65, 3}, {"a group", 8, 0xff}, {"another message", 40, 133},
		{"a code", 41, 1}, {"not IPv6", 0, 0x40}};
	static const struct change advertises[] = {
		{"another's MAC", 71, 11}, {"a group", 48, 0xff}, {"a source option", 64, 1}};
	uint8_t dad[sizeof(solicit)];
	char addr[IP_STR_MAX];

	(void)state;
	refuse_all(arp_header, arp, sizeof(arp), arps, ARRAY_SIZE(arps));
	refuse_all(nd_header, solicit, sizeof(solicit), solicits, ARRAY_SIZE(solicits));
	refuse_all(nd_header, advertise, sizeof(advertise), advertises, ARRAY_SIZE(advertises));
	/* Duplicate address detection comes from nobody: RFC 4862 5.4.2. */
	memcpy(dad, solicit, sizeof(dad));
	memset(dad + 8, 0, 16);
	assert_int_equal(parse(nd_header, dad, sizeof(dad), addr), -ENOMSG);
}

static void test_cut_off_anywhere(void **state)
{
	char addr[IP_STR_MAX];

	(void)state;
	for (size_t len = 0; len < sizeof(arp); len++)
		assert_int_equal(parse(arp_header, arp, len, addr), -ENOMSG);
	for (size_t len = 0; len < sizeof(solicit); len++)
		assert_int_equal(parse(nd_header, solicit, len, addr), -ENOMSG);
}

static void test_a_sender_that_is_a_group_or_nobody(void **state)
{
	struct snoop_host host;
	uint8_t header[14];

	(void)state;
	memcpy(header, arp_header, sizeof(header));
	header[6] = 3;
	assert_int_equal(snoop_parse(header, 14, arp, sizeof(arp), &host), -ENOMSG);
	memset(header + 6, 0, 6);
	assert_int_equal(snoop_parse(header, 14, arp, sizeof(arp), &host), -ENOMSG);
	assert_int_equal(snoop_parse(arp_header, 10, arp, sizeof(arp), &host), -ENOMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_who_speaks_is_known),
		cmocka_unit_test(test_who_is_not_believed),
		cmocka_unit_test(test_cut_off_anywhere),
		cmocka_unit_test(test_a_sender_that_is_a_group_or_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
