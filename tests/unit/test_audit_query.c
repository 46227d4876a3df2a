/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Filters of the record, and reading it while it is written. */
/* LINK: gateway/audit/audit_files.c gateway/audit/ct_event.c gateway/audit/flow.c gateway/audit/flow_json.c gateway/audit/record_query.c gateway/audit/record_read.c */
/* LIBS: jansson */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <unistd.h>

#include "gateway/audit/audit_files.h"
#include "gateway/audit/record_query.h"
#include "gateway/audit/record_read.h"
#include "gateway/base/fs.h"

static const uint64_t NOW = UINT64_C(1764583200000000000); /* 2025-12-01T10:00:00 */

static const char line[] =
	"{\"time\":\"2025-12-01T09:30:00.000001Z\",\"event\":\"end\",\"id\":1,\"proto\":\"tcp\",\"from\":\"10.1.0.2\","
	"\"from-port\":40000,\"to\":\"10.2.0.9\",\"to-port\":443,\"nat-from\":\"192.0.2.1\",\"tenant\":\"training\","
	"\"from-segment\":\"gpu\",\"to-line\":\"ali-a\",\"rule\":10,\"rule-name\":\"web\"}";

static bool matches(const char *name, const char *value)
{
	json_t *record = json_loads(line, 0, NULL);
	struct record_query q;
	bool is;

	assert_non_null(record);
	record_query_init(&q, NOW);
	assert_int_equal(record_query_set(&q, name, value, NOW), 0);
	is = record_query_may_match(&q, line, strlen(line), "end") && record_query_matches(&q, record);
	json_decref(record);
	return is;
}

static void test_filters(void **state)
{
	static const struct {
		const char *name, *yes, *no;
	} cases[] = {
		{"since", "31m", "29m"},
		{"since", "2025-12-01T09:30", "2025-12-01T09:30:00.000002Z"},
		{"until", "2025-12-01T09:31", "2025-12-01T09:29"},
		{"until", "29m", "31m"},
		{"from", "10.1.0.2", "10.2.0.9"},
		{"from", "10.1.0.0/16", "fd00::/8"},
		{"from", "192.0.2.1", "192.0.2.2"},
		{"from", "0.0.0.0/0", "::/0"},
		{"to", "10.2.0.0/24", "10.1.0.2"},
		{"host", "10.1.0.2", "10.3.0.0/16"},
		{"host", "10.2.0.9", "10.9.0.2"},
		{"port", "443", "44"},
		{"port", "40000", "4000"},
		{"proto", "tcp", "udp"},
		{"proto", "6", "17"},
		{"rule", "10", "1"},
		{"rule", "web", "we"},
		{"segment", "gpu", "web"},
		{"tenant", "training", "train"},
		{"line", "ali-a", "ali-b"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (!matches(cases[i].name, cases[i].yes) || matches(cases[i].name, cases[i].no))
			print_error("case %zu: %s\n", i, cases[i].name);
		assert_true(matches(cases[i].name, cases[i].yes));
		assert_false(matches(cases[i].name, cases[i].no));
	}
}

static void test_wrong_values(void **state)
{
	static const char *const cases[][2] = {{"since", "soon"}, {"since", "10"}, {"since", "10x"}, {"since", "-1h"},
		{"until", ""}, {"from", "10.0.0"}, {"from", "10.0.0.0/33"}, {"host", "gpu"}, {"port", "65536"},
		{"port", "http"}, {"proto", "256"}, {"proto", "tpc"}, {"rule", ""}, {"nonsense", "1"}};
	struct record_query q;

	(void)state;
	record_query_init(&q, NOW);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(record_query_set(&q, cases[i][0], cases[i][1], NOW), -EINVAL);
}

/* A line that is cut anywhere is none; one of another event neither. */
static void test_quick_look(void **state)
{
	struct record_query q;

	(void)state;
	record_query_init(&q, NOW);
	for (size_t n = 0; n < 50; n++) {
		char *cut = malloc(n + 1);

		assert_non_null(cut);
		memcpy(cut, line, n);
		assert_false(record_query_may_match(&q, cut, n, "end"));
		free(cut);
	}
	assert_false(record_query_may_match(&q, line, strlen(line), "start"));
	assert_false(record_query_may_match(&q, line, strlen(line), "en"));
}

/* --- files --- */

static char dir[] = "/tmp/fairway-query-XXXXXX";
enum { FILES = 5, LINES = 1000 };

/* Minute i of the hour is file i's; the last line of each is not whole. */
static int make_files(void **state)
{
	(void)state;
	if (!mkdtemp(dir))
		return -1;
	for (unsigned i = 1; i <= FILES; i++) {
		char name[AUDIT_FILE_NAME_MAX], path[128];
		FILE *f;

		audit_file_name(i, name);
		(void)snprintf(path, sizeof(path), "%s/%s", dir, name);
		f = fopen(path, "w");
		if (!f)
			return -1;
		for (unsigned k = 0; k < LINES; k++)
			(void)fprintf(f, "{\"time\":\"2025-12-01T%02u:00:%02u.%06uZ\",\"event\":\"end\",\"id\":%u}\n",
				i, k / 100, k, i * LINES + k);
		(void)fprintf(f, "{\"time\":\"2025-12-01T%02u:01", i);
		(void)fclose(f);
	}
	return 0;
}

static int remove_files(void **state)
{
	(void)state;
	for (unsigned i = 1; i <= FILES; i++) {
		char name[AUDIT_FILE_NAME_MAX], path[128];

		audit_file_name(i, name);
		(void)snprintf(path, sizeof(path), "%s/%s", dir, name);
		(void)unlink(path);
	}
	return rmdir(dir);
}

struct reading {
	const struct record_query *q;
	unsigned seen, match, stop_at;
};

static bool take(const char *text, size_t len, void *arg)
{
	struct reading *r = arg;

	assert_int_equal(text[len - 1], '}');
	r->seen++;
	r->match += record_query_may_match(r->q, text, len, "end");
	return r->seen != r->stop_at;
}

static struct reading read_all(const char *since, const char *until, unsigned stop_at)
{
	struct record_query q;
	struct reading r = {.q = &q, .stop_at = stop_at};

	record_query_init(&q, NOW);
	assert_int_equal(record_query_set(&q, "since", since, NOW), 0);
	if (until)
		assert_int_equal(record_query_set(&q, "until", until, NOW), 0);
	assert_int_equal(record_read(dir, &q, take, &r), 0);
	return r;
}

static void test_reading(void **state)
{
	struct record_query q;
	struct reading r = read_all("2025-12-01", NULL, 0);

	(void)state;
	assert_int_equal(r.seen, FILES * LINES);
	assert_int_equal(r.match, FILES * LINES);
	/* Files that cannot have any, also a minute late, are not read. */
	r = read_all("2025-12-01T03:00:05", "2025-12-01T04:00:00", 0);
	assert_int_equal(r.match, LINES / 2 + 1);
	assert_int_equal(r.seen, 3 * LINES);
	r = read_all("2025-12-01", NULL, 10);
	assert_int_equal(r.seen, 10);
	record_query_init(&q, NOW);
	assert_int_equal(record_read("/nonexistent", &q, take, &r), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_filters),
		cmocka_unit_test(test_wrong_values),
		cmocka_unit_test(test_quick_look),
		cmocka_unit_test_setup_teardown(test_reading, make_files, remove_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
