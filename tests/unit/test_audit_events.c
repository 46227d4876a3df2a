/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the kernel says of flows and denied packets, made by libmnl and taken apart by ours. */
/* LINK: tests/lib/audit_fixture.c gateway/audit/ct_event.c gateway/audit/deny.c */
/* LIBS: libmnl */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <netinet/in.h>

#include "gateway/audit/deny.h"
#include "gateway/audit/flow.h"
#include "tests/lib/audit_fixture.h"

static struct ct_event flow(const char *a, unsigned sport, const char *b, unsigned dport, uint8_t proto)
{
	return (struct ct_event){
		.kind = CT_NEW,
		.orig = tuple_of(a, sport, b, dport, proto),
		.reply = tuple_of(b, dport, a, sport, proto),
		.id = 0x80000001,
		.status = 8,
	};
}

/* Through the bytes and back. */
static void same(const struct ct_event *ct)
{
	uint8_t bytes[AUDIT_MESSAGE_MAX];
	struct ct_event got;

	assert_int_equal(ct_event_parse(bytes, put_ct(ct, bytes), &got), 0);
	assert_int_equal(got.kind, ct->kind);
	assert_true(ct_tuple_eq(&got.orig, &ct->orig));
	assert_true(ct_tuple_eq(&got.reply, &ct->reply));
	assert_int_equal(got.id, ct->id);
	assert_int_equal(got.mark, ct->mark);
	assert_int_equal(got.status, ct->status);
	assert_int_equal(got.zone, ct->zone);
	assert_int_equal(got.has_counters, ct->has_counters);
	assert_memory_equal(got.packets, ct->packets, sizeof(got.packets));
	assert_memory_equal(got.bytes, ct->bytes, sizeof(got.bytes));
	assert_true(got.start_ns == ct->start_ns && got.stop_ns == ct->stop_ns);
	assert_int_equal(got.has_label, ct->has_label);
	assert_memory_equal(got.label, ct->label, sizeof(got.label));
}

static void test_flows(void **state)
{
	struct ct_event ct = flow("10.0.0.1", 40000, "10.2.0.2", 443, IPPROTO_TCP);

	(void)state;
	same(&ct);
	ct.kind = CT_UPDATE;
	same(&ct);
	ct.kind = CT_END;
	ct.has_counters = true;
	ct.packets[0] = 3;
	ct.packets[1] = UINT64_MAX;
	ct.bytes[0] = UINT64_C(1) << 40;
	ct.start_ns = UINT64_C(1764583200123456789);
	ct.stop_ns = ct.start_ns + 5;
	ct.mark = 0x8000000a;
	ct.zone = 7;
	same(&ct);
	ct = flow("fd00::1", 1, "fd00:2::2", 65535, IPPROTO_UDP);
	ct.has_label = true;
	ct.label[0] = 1;
	ct.label[15] = 0xff;
	same(&ct);
	ct = flow("10.0.0.1", 77, "10.2.0.2", 8 << 8, IPPROTO_ICMP);
	same(&ct);
	ct = flow("fd00::1", 77, "fd00::2", 128 << 8, IPPROTO_ICMPV6);
	same(&ct);
}

static void test_translation(void **state)
{
	struct ct_event ct = flow("10.0.0.1", 40000, "10.2.0.2", 443, IPPROTO_TCP);

	(void)state;
	assert_true(ct_tuple_is_reverse(&ct.orig, &ct.reply));
	ct.reply = tuple_of("10.2.0.2", 443, "192.0.2.1", 40000, IPPROTO_TCP);
	assert_false(ct_tuple_is_reverse(&ct.orig, &ct.reply));
	ct.reply = tuple_of("10.2.0.2", 443, "10.0.0.1", 40001, IPPROTO_TCP);
	assert_false(ct_tuple_is_reverse(&ct.orig, &ct.reply));
	ct = flow("10.0.0.1", 77, "10.2.0.2", 8 << 8, IPPROTO_ICMP);
	ct.reply.dport = 0; /* an echo reply */
	assert_true(ct_tuple_is_reverse(&ct.orig, &ct.reply));
}

/* A message that ends anywhere, and one with any one byte of an attribute's head wrong, is refused or whole. */
static void test_broken(void **state)
{
	struct ct_event ct = flow("10.0.0.1", 40000, "10.2.0.2", 443, IPPROTO_TCP), got;
	uint8_t bytes[AUDIT_MESSAGE_MAX], *cut;
	size_t len = put_ct(&ct, bytes);

	(void)state;
	for (size_t n = 0; n < len; n++) {
		cut = malloc(n + 1);
		assert_non_null(cut);
		memcpy(cut, bytes, n);
		assert_int_equal(ct_event_parse(cut, n, &got), -EBADMSG);
		free(cut);
	}
	bytes[20] = 3; /* shorter than an attribute's head */
	bytes[21] = 0;
	assert_int_equal(ct_event_parse(bytes, len, &got), -EBADMSG);
	bytes[20] = 0xff;
	bytes[21] = 0xff;
	assert_int_equal(ct_event_parse(bytes, len, &got), -EBADMSG);
	bytes[4] = 9; /* another kind of message */
	assert_int_equal(ct_event_parse(bytes, len, &got), -ENOMSG);
}

/* --- denied packets --- */

static const uint8_t tcp4[] = {
	0x45, 0, 0, 60, 0, 1, 0x40, 0, 64, 6, 0, 0, 10, 1, 0, 2, 10, 2, 0, 9, 0x9c, 0x40, 1, 0xbb};

static struct deny parse(const char *prefix, const void *packet, size_t len)
{
	uint8_t bytes[AUDIT_MESSAGE_MAX];
	struct deny d;

	assert_int_equal(deny_parse(bytes, put_log(prefix, packet, len, 3, 4, 17, bytes), &d), 0);
	return d;
}

static int refuse(const char *prefix, const void *packet, size_t len)
{
	uint8_t bytes[AUDIT_MESSAGE_MAX];
	struct deny d;

	return deny_parse(bytes, put_log(prefix, packet, len, 0, 0, UINT32_MAX, bytes), &d);
}

static void test_deny(void **state)
{
	struct deny d = parse("fw:10", tcp4, sizeof(tcp4));
	struct ct_tuple want = tuple_of("10.1.0.2", 40000, "10.2.0.9", 443, IPPROTO_TCP);

	(void)state;
	assert_int_equal(d.rule, 10);
	assert_string_equal(d.verdict, "rule");
	assert_true(ct_tuple_eq(&d.tuple, &want));
	assert_int_equal(d.bytes, 60);
	assert_int_equal(d.in, 3);
	assert_int_equal(d.out, 4);
	assert_true(d.has_seq && d.seq == 17);
	assert_true(d.time_ns == UINT64_C(1764583200123456000));
	d = parse("fw:1048575 more", tcp4, sizeof(tcp4));
	assert_int_equal(d.rule, 1048575);
	d = parse("fw:default", tcp4, sizeof(tcp4));
	assert_int_equal(d.rule, 0);
	assert_string_equal(d.verdict, "default");
}

static void test_deny_prefixes(void **state)
{
	static const char *const foreign[] = {"", "fw", "fw:", "kern:10", "fw:0", "fw:99999999999", "fw:4294967296",
		"fw:10a", "fw:Default", "fw:de\"fault", "fw:a-word-that-is-too-long", " fw:10"};

	(void)state;
	for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++)
		assert_int_equal(refuse(foreign[i], tcp4, sizeof(tcp4)), -ENOMSG);
	assert_int_equal(refuse("fw:10", tcp4, sizeof(tcp4)), 0);
}

/* RFC 826: whose address is claimed, and who is meant. */
static void test_deny_arp(void **state)
{
	uint8_t arp[28] = {0, 1, 8, 0, 6, 4, 0, 2, 2, 0, 0, 0, 1, 2, 10, 99, 1, 1, [24] = 10, 99, 1, 11};
	struct deny d = parse("fw:arp", arp, sizeof(arp));

	(void)state;
	assert_int_equal(d.tuple.proto, FLOW_PROTO_ARP);
	assert_int_equal(d.tuple.family, AF_INET);
	assert_memory_equal(d.tuple.src, arp + 14, 4);
	assert_memory_equal(d.tuple.dst, arp + 24, 4);
	assert_string_equal(d.verdict, "arp");
	assert_int_equal(refuse("fw:arp", arp, sizeof(arp) - 1), -ENOMSG);
	arp[4] = 8; /* another kind of hardware */
	assert_int_equal(refuse("fw:arp", arp, sizeof(arp)), -ENOMSG);
}

static void test_deny_packets(void **state)
{
	uint8_t fragment[sizeof(tcp4)], v6[40 + 8 + 8 + 8] = {0x60, 0, 0, 0, 0, 24, 0, 64};
	struct deny d;

	(void)state;
	memcpy(fragment, tcp4, sizeof(tcp4));
	fragment[7] = 1; /* not the first: what follows is no port */
	d = parse("fw:own", fragment, sizeof(fragment));
	assert_int_equal(d.tuple.sport, 0);
	assert_int_equal(d.tuple.dport, 0);
	/* Hop-by-hop, then destination options, then UDP. */
	v6[8] = v6[24] = 0xfd;
	v6[23] = 1;
	v6[39] = 2;
	v6[40] = 60;
	v6[48] = 17;
	v6[57] = 53;
	v6[59] = 99;
	d = parse("fw:spoof", v6, sizeof(v6));
	assert_int_equal(d.tuple.family, AF_INET6);
	assert_int_equal(d.tuple.proto, IPPROTO_UDP);
	assert_int_equal(d.tuple.sport, 53);
	assert_int_equal(d.tuple.dport, 99);
	assert_int_equal(d.bytes, 64);
	assert_int_equal(refuse("fw:10", tcp4, 19), -ENOMSG);
	assert_int_equal(refuse("fw:10", v6, 39), -ENOMSG);
	assert_int_equal(refuse("fw:10", v6, 0), -ENOMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_flows),
		cmocka_unit_test(test_translation),
		cmocka_unit_test(test_broken),
		cmocka_unit_test(test_deny),
		cmocka_unit_test(test_deny_prefixes),
		cmocka_unit_test(test_deny_arp),
		cmocka_unit_test(test_deny_packets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
