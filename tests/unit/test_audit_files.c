/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The record's files: bounded, whole lines, also after a crash and over a disk that is full. Syslog, from its other
 * end. */
/* LINK: gateway/audit/audit_files.c gateway/audit/flow.c gateway/audit/flow_json.c gateway/audit/ct_event.c gateway/audit/json_sink.c gateway/audit/syslog_sink.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>

#include "gateway/audit/audit_files.h"
#include "gateway/audit/flow_json.h"
#include "gateway/audit/json_sink.h"
#include "gateway/audit/syslog_sink.h"
#include "gateway/base/fs.h"
#include "gateway/base/str.h"

static char dir[64];

static int setup(void **state)
{
	(void)state;
	(void)strcpy(dir, "/tmp/fairway-audit-XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static void path_of(const char *name, char ret[512])
{
	(void)snprintf(ret, 512, "%s/%s", dir, name);
}

static int teardown(void **state)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	char path[512];

	(void)state;
	while (d && (e = readdir(d)) != NULL) {
		path_of(e->d_name, path);
		(void)unlink(path);
	}
	if (d)
		(void)closedir(d);
	return rmdir(dir);
}

static struct json_sink *sink_open(uint64_t max_size, size_t max_files)
{
	struct json_sink *s;

	assert_int_equal(json_sink_open(dir, max_size, max_files, &s), 0);
	return s;
}

/* Lines of 64 bytes, numbered. */
static void put(struct json_sink *s, unsigned first, unsigned n)
{
	char line[65];

	for (unsigned i = first; i < first + n; i++) {
		(void)snprintf(
			line, sizeof(line), "{\"time\":\"2025-12-01T10:00:00.%06uZ\",\"n\":%020u}\n", i % 1000000, i);
		(void)json_sink_put(s, line, 64, 1);
	}
}

struct content {
	size_t files, lines, largest;
	unsigned first, last;
	bool ordered;
	unsigned incomplete, missing;
};

static void read_lines(const char *text, struct content *c)
{
	for (const char *end; (end = strchr(text, '\n')) != NULL; text = end + 1) {
		const char *number = memmem(text, (size_t)(end - text), "\"n\":", 4);
		const char *missing = memmem(text, (size_t)(end - text), "\"missing\":", 10);
		unsigned n;

		assert_memory_equal(text, "{\"time\":\"", 9);
		assert_int_equal(end[-1], '}');
		if (missing) {
			c->incomplete++;
			c->missing += (unsigned)strtoul(missing + 10, NULL, 10);
			continue;
		}
		assert_non_null(number);
		n = (unsigned)strtoul(number + 4, NULL, 10);
		if (c->lines++ == 0)
			c->first = n;
		else
			c->ordered &= n > c->last;
		c->last = n;
	}
	assert_int_equal(*text, '\0');
}

static struct content content(void)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY);
	struct content c = {.ordered = true};
	uint64_t *files = NULL;

	assert_int_equal(audit_files_list(fd, &files, &c.files), 0);
	for (size_t i = 0; i < c.files; i++) {
		char name[AUDIT_FILE_NAME_MAX], path[512], *text;
		struct stat st;
		size_t len;

		audit_file_name(files[i], name);
		path_of(name, path);
		assert_int_equal(fs_read(path, SIZE_MAX / 2, &text, &len), 0);
		assert_int_equal(stat(path, &st), 0);
		assert_int_equal(st.st_mode & 0777, 0640);
		c.largest = len > c.largest ? len : c.largest;
		read_lines(text, &c);
		free(text);
	}
	free(files);
	(void)close(fd);
	return c;
}

static void test_rotation(void **state)
{
	struct json_sink *s = sink_open(64 * 1000 + 17, 4);
	struct content c;

	(void)state;
	put(s, 0, 10500);
	json_sink_close(s);
	c = content();
	assert_int_equal(c.files, 4);
	assert_int_equal(c.largest, 64 * 1000);
	assert_true(c.ordered);
	assert_int_equal(c.first, 7000);
	assert_int_equal(c.last, 10499);
	assert_int_equal(c.lines, 3500);
	/* The next life goes on in the last file, and fewer files are fewer at the next change. */
	s = sink_open(64000, 2);
	put(s, 10500, 600);
	json_sink_close(s);
	c = content();
	assert_int_equal(c.files, 2);
	assert_int_equal(c.first, 10000);
	assert_int_equal(c.last, 11099);
}

static void test_cut_line(void **state)
{
	char path[512], name[AUDIT_FILE_NAME_MAX];
	struct json_sink *s = sink_open(1 << 20, 4);
	int fd;

	(void)state;
	put(s, 1, 3);
	json_sink_close(s);
	audit_file_name(1, name);
	path_of(name, path);
	fd = open(path, O_WRONLY | O_APPEND);
	assert_int_equal(write(fd, "{\"time\":\"2025", 13), 13);
	(void)close(fd);
	/* What is behind the last newline is not the last record. */
	assert_true(json_sink_last_time(dir) == UINT64_C(1764583200000003000));
	s = sink_open(1 << 20, 4);
	put(s, 4, 1);
	json_sink_close(s);
	assert_int_equal(content().lines, 4);
	assert_true(json_sink_last_time(dir) == UINT64_C(1764583200000004000));
}

static void test_nothing_there(void **state)
{
	struct json_sink *s;

	(void)state;
	assert_true(json_sink_last_time(dir) == 0);
	assert_true(json_sink_last_time("/nonexistent") == 0);
	s = sink_open(1 << 20, 4);
	json_sink_close(s);
	assert_true(json_sink_last_time(dir) == 0);
}

static void limit_file_size(rlim_t bytes)
{
	struct rlimit limit = {bytes, RLIM_INFINITY};

	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static struct json_sink_counts wait_for(struct json_sink *s, bool (*is)(const struct json_sink_counts *c))
{
	struct json_sink_counts c;

	for (unsigned i = 0; i < 1000; i++) {
		json_sink_counts(s, &c);
		if (is(&c))
			break;
		(void)nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
	}
	assert_true(is(&c));
	return c;
}

static bool has_error(const struct json_sink_counts *c)
{
	return c->error < 0;
}

static bool has_none(const struct json_sink_counts *c)
{
	return c->error == 0;
}

/* A file that cannot grow stands for a disk that is full: what comes meanwhile waits, and is lost only above the queue.
 */
static void test_full_disk(void **state)
{
	struct json_sink *s;
	struct json_sink_counts counts;
	struct content c;

	(void)state;
	(void)signal(SIGXFSZ, SIG_IGN);
	limit_file_size(64 * 100 + 30);
	s = sink_open(UINT64_C(1) << 30, 4);
	put(s, 0, 1000);
	counts = wait_for(s, has_error);
	assert_int_equal(counts.lost, 0);
	put(s, 1000, 1500000);
	json_sink_counts(s, &counts);
	assert_true(counts.lost > 0);
	limit_file_size(RLIM_INFINITY);
	(void)wait_for(s, has_none);
	put(s, 1501000, 1);
	json_sink_close(s);
	c = content();
	assert_true(c.ordered);
	assert_int_equal(c.first, 0);
	assert_int_equal(c.last, 1501000);
	assert_int_equal(c.incomplete, 1);
	assert_int_equal(c.missing, counts.lost);
	assert_int_equal(c.lines + c.missing, 1501001);
}

/* Somebody removes a file that is written: the record goes on in one that can be found. */
static void test_removed_file(void **state)
{
	char path[512], name[AUDIT_FILE_NAME_MAX];
	struct json_sink *s = sink_open(1 << 20, 4);
	struct json_sink_counts counts;

	(void)state;
	put(s, 0, 1);
	do
		json_sink_counts(s, &counts);
	while (counts.lines == 0);
	audit_file_name(1, name);
	path_of(name, path);
	assert_int_equal(unlink(path), 0);
	put(s, 1, 1);
	json_sink_close(s);
	assert_int_equal(content().first, 1);
}

/* Two gateways in one folder would remove each other's files. */
static void test_one_writer(void **state)
{
	struct json_sink *a = sink_open(1 << 20, 4), *b;
	struct json_sink_counts counts;

	(void)state;
	put(a, 0, 1);
	do
		json_sink_counts(a, &counts);
	while (counts.lines == 0);
	b = sink_open(1 << 20, 4);
	put(b, 1, 1);
	assert_int_equal(wait_for(b, has_error).error, -EBUSY);
	json_sink_close(a);
	(void)wait_for(b, has_none);
	json_sink_close(b);
	assert_int_equal(content().lines, 2);
}

static void test_syslog(void **state)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	struct syslog_sink s;
	char path[512], got[512];
	ssize_t n;
	int fd;

	(void)state;
	path_of("log", path);
	syslog_sink_open(&s, path);
	syslog_sink_put(&s, "{}", 2, UINT64_C(1764583200) * 1000000000);
	assert_int_equal(s.error, -ENOENT);
	assert_int_equal(s.lost, 1);
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	(void)snprintf(a.sun_path, sizeof(a.sun_path), "%.100s", path);
	assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	/* Not in the same second again. */
	syslog_sink_put(&s, "{}", 2, UINT64_C(1764583200) * 1000000000);
	assert_int_equal(s.lost, 2);
	syslog_sink_put(&s, "{\"a\":1}", 7, UINT64_C(1764583201) * 1000000000);
	assert_int_equal(s.sent, 1);
	assert_int_equal(s.error, 0);
	n = recv(fd, got, sizeof(got) - 1, 0);
	assert_true(n > 0);
	got[n] = '\0';
	assert_true(str_starts(got, "<134>"));
	assert_non_null(strstr(got, ":01 fairway-audit["));
	assert_non_null(strstr(got, "]: {\"a\":1}"));
	(void)close(fd);
	syslog_sink_put(&s, "{}", 2, UINT64_C(1764583201) * 1000000000);
	assert_int_equal(s.error, -ECONNREFUSED);
	syslog_sink_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_rotation, setup, teardown),
		cmocka_unit_test_setup_teardown(test_cut_line, setup, teardown),
		cmocka_unit_test_setup_teardown(test_nothing_there, setup, teardown),
		cmocka_unit_test_setup_teardown(test_full_disk, setup, teardown),
		cmocka_unit_test_setup_teardown(test_removed_file, setup, teardown),
		cmocka_unit_test_setup_teardown(test_one_writer, setup, teardown),
		cmocka_unit_test_setup_teardown(test_syslog, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
