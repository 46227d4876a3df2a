/* SPDX-License-Identifier: GPL-2.0-or-later */
/* IPFIX on the wire: templates first, then records, taken apart by hand as RFC 7011 has them. */
/* LINK: tests/lib/audit_fixture.c gateway/audit/ct_event.c gateway/audit/flow.c gateway/audit/ipfix_sink.c */
/* LIBS: libfixbuf libmnl */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "gateway/audit/ipfix_sink.h"
#include "tests/lib/audit_fixture.h"

static const uint64_t T0 = UINT64_C(1764583200123456789);
enum { TEMPLATE_SET = 2, IPV4 = 256, IPV6 = 257, SETS_MAX = 64 };

static int collector;
static struct ipfix_target target;

static int setup(void **state)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(a);

	(void)state;
	collector = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (collector < 0 || bind(collector, (struct sockaddr *)&a, len) < 0 ||
		getsockname(collector, (struct sockaddr *)&a, &len) < 0)
		return -1;
	target = (struct ipfix_target){.port = ntohs(a.sin_port), .domain = 7};
	return ip_addr_parse("127.0.0.1", &target.collector);
}

static int teardown(void **state)
{
	(void)state;
	return close(collector);
}

static uint32_t be(const uint8_t *p, size_t n)
{
	uint32_t v = 0;

	for (size_t i = 0; i < n; i++)
		v = v << 8 | p[i];
	return v;
}

struct received {
	unsigned messages, templates, records4, records6;
	uint32_t domain;
	uint8_t first[128]; /* bytes of the first IPv4 record */
};

static size_t varlen(const uint8_t *record, size_t fixed)
{
	return fixed + 1 + record[fixed];
}

static void read_set(const uint8_t *set, size_t len, struct received *r)
{
	uint32_t id = be(set, 2);
	size_t fixed = id == IPV4 ? 40 + 16 + 10 + 4 : 40 + 64 + 10 + 4;

	if (id == TEMPLATE_SET) {
		r->templates++;
		return;
	}
	assert_true(id == IPV4 || id == IPV6);
	for (size_t at = 4; at + fixed < len; at += varlen(set + at, fixed)) {
		if (id == IPV4 && r->records4 == 0)
			memcpy(r->first, set + at, fixed);
		r->records4 += id == IPV4;
		r->records6 += id == IPV6;
	}
}

/* All messages that are there; none is larger than any path carries, all are whole. */
static struct received receive(void)
{
	struct received r = {0};
	uint8_t m[65536];
	ssize_t n;

	while ((n = recv(collector, m, sizeof(m), MSG_DONTWAIT)) > 0) {
		assert_true(n <= 1232);
		assert_int_equal(be(m, 2), 10);
		assert_int_equal(be(m + 2, 2), n);
		r.domain = be(m + 12, 4);
		r.messages++;
		for (size_t at = 16; at < (size_t)n; at += be(m + at + 2, 2))
			read_set(m + at, be(m + at + 2, 2), &r);
	}
	return r;
}

static const struct audit_place place = {.tenant = "training"};

static struct flow flow(const char *a, const char *b, enum flow_event event)
{
	return (struct flow){
		.event = event,
		.orig = tuple_of(a, 40000, b, 443, IPPROTO_TCP),
		.reply = tuple_of(b, 443, a, 40000, IPPROTO_TCP),
		.id = 77,
		.from = &place,
		.has_counters = true,
		.packets = {5, 4},
		.bytes = {500, 4000},
		.start_ns = T0,
		.end_ns = T0 + 1000000000,
	};
}

static void test_records(void **state)
{
	struct flow f = flow("10.1.0.2", "10.2.0.9", FLOW_END), six = flow("fd00::1", "fd00::2", FLOW_END);
	struct flow denied = flow("10.1.0.2", "10.2.0.9", FLOW_DENY), start = flow("10.1.0.2", "10.2.0.9", FLOW_START);
	struct ipfix_sink *s;
	struct received r;

	(void)state;
	assert_int_equal(ipfix_sink_open(&target, &s), 0);
	ipfix_sink_turn(s, T0);
	r = receive();
	assert_true(r.templates >= 1);
	assert_int_equal(r.domain, 7);
	ipfix_sink_put(s, &start); /* is told when it has ended */
	ipfix_sink_put(s, &f);
	ipfix_sink_put(s, &six);
	six.packets[1] = 0;
	ipfix_sink_put(s, &six);
	ipfix_sink_put(s, &denied);
	ipfix_sink_turn(s, T0 + 1);
	r = receive();
	assert_int_equal(r.records4, 3);
	assert_int_equal(r.records6, 3);
	assert_int_equal(be(r.first + 16 + 4, 4), 500);
	assert_int_equal(be(r.first + 24 + 4, 4), 5);
	assert_int_equal(be(r.first + 40, 4), 0x0a010002);
	assert_int_equal(be(r.first + 44, 4), 0x0a020009);
	assert_int_equal(be(r.first + 56, 2), 40000);
	assert_int_equal(be(r.first + 58, 2), 443);
	assert_int_equal(r.first[66], IPPROTO_TCP);
	assert_int_equal(r.first[68], 2);
	assert_int_equal(r.first[69], 1);
	assert_int_equal(ipfix_sink_counts(s)->records, 6);
	ipfix_sink_close(s);
}

/* Many fill messages, which go at once; templates come again after ten seconds. */
static void test_many(void **state)
{
	struct flow f = flow("10.1.0.2", "10.2.0.9", FLOW_END);
	struct ipfix_sink *s;
	struct received r;

	(void)state;
	assert_int_equal(ipfix_sink_open(&target, &s), 0);
	ipfix_sink_turn(s, T0);
	(void)receive();
	for (unsigned i = 0; i < 100; i++)
		ipfix_sink_put(s, &f);
	ipfix_sink_close(s);
	r = receive();
	assert_int_equal(r.records4, 200);
	assert_true(r.messages > 10 && r.messages < 30);
	assert_int_equal(ipfix_sink_open(&target, &s), 0);
	ipfix_sink_turn(s, T0);
	(void)receive();
	ipfix_sink_turn(s, T0 + UINT64_C(9) * 1000000000);
	assert_int_equal(receive().messages, 0);
	ipfix_sink_turn(s, T0 + UINT64_C(10) * 1000000000);
	assert_true(receive().templates >= 1);
	ipfix_sink_close(s);
}

static void test_nobody_listens(void **state)
{
	struct flow f = flow("10.1.0.2", "10.2.0.9", FLOW_END);
	struct ipfix_target gone = target;
	struct ipfix_sink *s;

	(void)state;
	gone.port = 1;
	assert_int_equal(ipfix_sink_open(&gone, &s), 0);
	for (unsigned i = 0; i < 4; i++) {
		ipfix_sink_put(s, &f);
		ipfix_sink_turn(s, T0 + i);
	}
	assert_int_equal(ipfix_sink_counts(s)->records + ipfix_sink_counts(s)->lost, 8);
	assert_true(ipfix_sink_refused(s));
	ipfix_sink_close(s);
	ipfix_sink_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_records, setup, teardown),
		cmocka_unit_test_setup_teardown(test_many, setup, teardown),
		cmocka_unit_test_setup_teardown(test_nobody_listens, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
