/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who scans: many destinations within any minute, and nobody else; bounded, whatever comes. */
/* LINK: gateway/audit/scan.c */
#include <netinet/in.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

#include "gateway/audit/deny.h"
#include "gateway/audit/scan.h"

static struct deny denied(uint32_t source, uint32_t destination, uint16_t port)
{
	struct deny d = {
		.rule = 10, .verdict = "rule", .tuple = {.family = AF_INET, .proto = IPPROTO_TCP, .dport = port}};

	memcpy(d.tuple.src, &source, sizeof(source));
	memcpy(d.tuple.dst, &destination, sizeof(destination));
	return d;
}

static bool note(struct scan_table *t, uint32_t source, uint32_t destination, uint16_t port, uint64_t now)
{
	struct deny d = denied(source, destination, port);

	return scan_note(t, &d, now);
}

static void test_counts_destinations(void **state)
{
	struct scan_table *t = scan_table_new(10);

	(void)state;
	for (unsigned i = 0; i < 100; i++)
		assert_false(note(t, 1, 2, 80, i));
	for (uint16_t port = 81; port < 89; port++)
		assert_false(note(t, 1, 2, port, 100));
	assert_true(note(t, 1, 3, 80, 100));
	/* From nothing again. */
	for (uint16_t port = 1; port < 10; port++)
		assert_false(note(t, 1, 2, port, 101));
	assert_true(note(t, 1, 2, 10, 101));
	scan_table_free(t);
}

/* Protocols are different destinations; what is no rule's and no default's is nobody's. */
static void test_what_counts(void **state)
{
	static const char *const none[] = {"spoofed", "invalid", "fragment", "flood", "limit", "guard"};
	struct scan_table *t = scan_table_new(3);
	struct deny d = denied(1, 2, 80);

	(void)state;
	assert_false(scan_note(t, &d, 0));
	d.tuple.proto = IPPROTO_UDP;
	assert_false(scan_note(t, &d, 0));
	d.rule = 0;
	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++) {
		(void)snprintf(d.verdict, sizeof(d.verdict), "%s", none[i]);
		d.tuple.dport++;
		assert_false(scan_note(t, &d, 0));
	}
	(void)snprintf(d.verdict, sizeof(d.verdict), "own");
	assert_true(scan_note(t, &d, 0));
	(void)snprintf(d.verdict, sizeof(d.verdict), "default");
	assert_false(scan_note(t, &d, 0));
	d.tuple.dport++;
	assert_false(scan_note(t, &d, 0));
	d.tuple.family = AF_INET6;
	d.tuple.dport++;
	assert_false(scan_note(t, &d, 0)); /* the same bytes of another family are another source */
	scan_table_free(t);
}

static void test_any_minute(void **state)
{
	struct scan_table *t = scan_table_new(10);

	(void)state;
	/* One in seven seconds: nine alive at a time. */
	for (unsigned i = 0; i < 1000; i++)
		assert_false(note(t, 1, i, 80, 7ULL * i));
	/* One in six: ten, also where a minute of the clock lies between. */
	for (unsigned i = 0; i < 9; i++)
		assert_false(note(t, 2, i, 80, 8000 + 6ULL * i));
	assert_true(note(t, 2, 9, 80, 8000 + 54));
	scan_table_free(t);
}

/* Ten times as many sources as there is room for: who scans among them is seen. */
static void test_many_sources(void **state)
{
	struct scan_table *t = scan_table_new(20);
	unsigned found = 0;

	(void)state;
	for (uint16_t port = 0; port < 20; port++) {
		for (uint32_t source = 100; source < 100 + 2000; source++)
			(void)note(t, source * 2654435761U, 7, 443, 10);
		found += note(t, 1, 2, port, 10);
	}
	assert_int_equal(found, 1);
	for (uint32_t source = 0; source < 10 * SCAN_SOURCES; source++)
		assert_false(note(t, source * 2654435761U, 7, 443, 11));
	scan_table_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts_destinations),
		cmocka_unit_test(test_what_counts),
		cmocka_unit_test(test_any_minute),
		cmocka_unit_test(test_many_sources),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
