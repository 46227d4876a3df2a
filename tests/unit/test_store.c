/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Revisions on disk: the usual course, and what is spoilt or left over. Crashes are in test_store_crash.c. */
/* LINK: config/store.c config/store_record.c config/store_scan.c tests/lib/calls.c tests/lib/store_fixture.c */
/* LIBS: jansson */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "config/config.h"
#include "config/store.h"
#include "gateway/base/cleanup.h"
#include "gateway/base/str.h"
#include "tests/lib/store_fixture.h"

/* --- the usual course --- */

static void test_commits(void **state)
{
	_cleanup_(store_closep) struct store *s = open_store(50);
	_cleanup_free_ struct revision *list = NULL;
	struct revision m = meta_of("Grüße, 线路"), got;
	uint64_t number;
	size_t n, len;
	char *text;

	(void)state;
	assert_int_equal(store_read(s, 0, &text, &len, &got), -ENOENT);
	assert_int_equal(store_pending(s, &got), 0);
	assert_int_equal(store_commit(s, &number), -ENOENT);
	m.number = 77; /* is not taken */
	assert_int_equal(store_begin(s, "a: b\n", 5, &m), 0);
	assert_int_equal(store_pending(s, &got), 1);
	assert_int_equal(got.number, 1);
	assert_int_equal(got.time, m.time);
	assert_string_equal(got.user, "ops");
	assert_string_equal(got.comment, m.comment);
	assert_string_equal(got.source, m.source);
	assert_int_equal(store_read(s, 0, &text, &len, &got), -ENOENT);
	assert_int_equal(store_commit(s, &number), 0);
	assert_int_equal(number, 1);
	assert_int_equal(store_pending(s, &got), 0);
	assert_int_equal(commit_text(s, "two"), 2);
	assert_text(s, 0, "two");
	assert_text(s, 2, "two");
	assert_int_equal(store_read(s, 1, &text, &len, NULL), 0);
	assert_string_equal(text, "a: b\n");
	free(text);
	assert_int_equal(store_read(s, 3, &text, &len, NULL), -ENOENT);
	assert_int_equal(store_list(s, &list, &n), 0);
	assert_int_equal(n, 2);
	assert_int_equal(list[0].number, 2);
	assert_string_equal(list[1].comment, "Grüße, 线路");
}

static void test_abort(void **state)
{
	struct store *s = open_store(50);
	struct revision got;

	(void)state;
	assert_int_equal(store_abort(s), 0);
	assert_int_equal(commit_text(s, "one"), 1);
	assert_int_equal(begin_text(s, "two"), 0);
	assert_int_equal(begin_text(s, "another two"), 0);
	assert_int_equal(store_abort(s), 0);
	assert_int_equal(store_pending(s, &got), 0);
	assert_text(s, 0, "one");
	assert_int_equal(commit_text(s, "three"), 2);
	store_close(s);
	s = open_store(50);
	assert_text(s, 0, "three");
	store_close(s);
}

static void test_keeps_the_newest(void **state)
{
	_cleanup_(store_closep) struct store *s = open_store(3);
	_cleanup_free_ struct revision *list = NULL;
	size_t n;

	(void)state;
	for (int i = 1; i <= 7; i++) {
		char text[16];

		(void)snprintf(text, sizeof(text), "text %d", i);
		assert_int_equal(commit_text(s, text), i);
	}
	assert_int_equal(store_list(s, &list, &n), 0);
	assert_int_equal(n, 3);
	assert_int_equal(list[0].number, 7);
	assert_int_equal(list[2].number, 5);
	assert_false(file_exists("revisions/000004.yaml"));
	assert_false(file_exists("revisions/000004.json"));
	assert_text(s, 5, "text 5");
}

static void test_modes_and_lock(void **state)
{
	struct store *s, *second = NULL;
	struct stat st;

	(void)state;
	assert_int_equal(mkdir(store_dir, 0755), 0);
	s = open_store(5);
	assert_int_equal(commit_text(s, "one"), 1);
	assert_int_equal(begin_text(s, "two"), 0);
	assert_int_equal(stat(store_dir, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	assert_int_equal(stat(in_store("revisions"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	static const char *const files[] = {
		"revisions/000001.yaml", "revisions/000001.json", "pending.yaml", "pending.json"};
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		assert_int_equal(stat(in_store(files[i]), &st), 0);
		assert_int_equal(st.st_mode & 07777, 0600);
	}
	assert_int_equal(store_open(store_dir, 5, &second), -EBUSY);
	assert_null(second);
	store_close(s);
	s = open_store(5);
	store_close(s);
}

static void test_refuses_foreign_bytes(void **state)
{
	_cleanup_(store_closep) struct store *s = open_store(5);
	struct revision good = meta_of("fine"), m, got;

	(void)state;
	m = good;
	strcpy(m.user, "a\nb");
	assert_int_equal(store_begin(s, "x", 1, &m), -EINVAL);
	m = good;
	strcpy(m.comment, "\x1b[2J");
	assert_int_equal(store_begin(s, "x", 1, &m), -EINVAL);
	m = good;
	strcpy(m.source, "\xff");
	assert_int_equal(store_begin(s, "x", 1, &m), -EINVAL);
	m = good;
	memset(m.user, 'a', sizeof(m.user)); /* no end */
	assert_int_equal(store_begin(s, "x", 1, &m), -EINVAL);
	m = good;
	m.time = -1;
	assert_int_equal(store_begin(s, "x", 1, &m), -EINVAL);
	assert_int_equal(store_begin(s, "x\0y", 3, &good), -EINVAL);
	assert_int_equal(store_begin(s, "x", (size_t)CONFIG_FILE_MAX + 1, &good), -EFBIG);
	assert_int_equal(store_pending(s, &got), 0);
	m = good;
	memset(m.comment, 'a', sizeof(m.comment) - 1);
	assert_int_equal(store_begin(s, "x", 1, &m), 0);
	assert_int_equal(store_pending(s, &got), 1);
	assert_string_equal(got.comment, m.comment);
}

/* --- what is spoilt --- */

#define USER_TOO_LONG "0123456789012345678901234567890123456789012345678901234567890123"

static void test_spoilt_record(void **state)
{
	static const char rest[] =
		"\"comment\": \"c\", \"source\": \"s\", \"bytes\": 3, \"hash\": \"5714d319447c9709\"}";
	static const char *const heads[] = {"", "{", "[]", "{\"number\": 2}",
		"{\"number\": \"2\", \"time\": 1, \"user\": \"u\", ", "{\"number\": 3, \"time\": 1, \"user\": \"u\", ",
		"{\"number\": 2, \"time\": -1, \"user\": \"u\", ",
		"{\"number\": 2, \"time\": 999999999999999, \"user\": \"u\", ",
		"{\"number\": -2, \"time\": 1, \"user\": \"u\", ",
		"{\"number\": 2, \"time\": 1, \"user\": \"\\u001b\", ",
		("{\"number\": 2, \"time\": 1, \"user\": \"" USER_TOO_LONG "\", "),
		"{\"number\": 2, \"number\": 2, \"time\": 1, \"user\": \"u\", "};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(heads); i++) {
		char text[1024], *got = NULL;
		struct store *s;
		size_t len, n;
		_cleanup_free_ struct revision *list = NULL;

		make_two(5);
		(void)snprintf(text, sizeof(text), "%s%s", heads[i], rest);
		put_file("revisions/000002.json", text);
		s = open_store(5);
		assert_text(s, 0, "one"); /* the newest that is sound */
		assert_int_equal(store_read(s, 2, &got, &len, NULL), -EBADMSG);
		assert_null(got);
		assert_int_equal(store_list(s, &list, &n), 0);
		assert_int_equal(n, 1);
		assert_int_equal(commit_text(s, "three"), 3);
		store_close(s);
	}
}

/* The format of the record, which revisions on disks in the field have. */
static void test_record_by_hand(void **state)
{
	struct store *s;

	(void)state;
	make_two(5);
	put_file("revisions/000002.json",
		"{\"number\": 2, \"time\": 1, \"user\": \"u\", \"comment\": \"two\", \"source\": \"s\", \"later\": "
		"[1], "
		"\"bytes\": 3, \"hash\": \"5714d319447c9709\"}");
	s = open_store(5);
	assert_text(s, 0, "two");
	store_close(s);
}

static void test_spoilt_text(void **state)
{
	static const char *const texts[] = {"tw", "twp", "two ", ""};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		char *got = NULL;
		struct store *s;
		size_t len;

		make_two(5);
		s = open_store(5);
		put_file("revisions/000002.yaml", texts[i]);
		assert_int_equal(store_read(s, 0, &got, &len, NULL), -EBADMSG);
		assert_null(got);
		store_close(s);
		s = open_store(5);
		assert_text(s, 0, "one");
		store_close(s);
	}
}

static void test_record_too_long(void **state)
{
	FILE *f;
	struct store *s;

	(void)state;
	make_two(5);
	f = fopen(in_store("revisions/000002.json"), "we");
	assert_non_null(f);
	for (int i = 0; i < 20000; i++)
		assert_true(fputc(' ', f) != EOF);
	assert_int_equal(fclose(f), 0);
	s = open_store(5);
	assert_text(s, 0, "one");
	store_close(s);
}

static void test_leftovers(void **state)
{
	static const char *const ours[] = {"pending.yaml.tmp.abcdef", "pending.json.tmp.123456", "pending.yaml",
		"running.tmp", "revisions/000003.yaml", "revisions/000004.json"};
	static const char *const theirs[] = {"notes.txt", "revisions/README", "revisions/3.yaml",
		"revisions/0000003.yaml", "revisions/000000.yaml", "revisions/9999999999999.yaml"};
	struct revision got;
	struct store *s;

	(void)state;
	make_two(5);
	for (size_t i = 0; i < ARRAY_SIZE(ours); i++)
		put_file(ours[i], "torn");
	for (size_t i = 0; i < ARRAY_SIZE(theirs); i++)
		put_file(theirs[i], "mine");
	s = open_store(5);
	for (size_t i = 0; i < ARRAY_SIZE(ours); i++)
		assert_false(file_exists(ours[i]));
	for (size_t i = 0; i < ARRAY_SIZE(theirs); i++)
		assert_true(file_exists(theirs[i]));
	assert_text(s, 0, "two");
	assert_int_equal(commit_text(s, "three"), 3);
	store_close(s);
	put_file("pending.json", "{torn");
	s = open_store(5);
	assert_int_equal(store_pending(s, &got), 0);
	assert_false(file_exists("pending.json"));
	store_close(s);
}

static void test_link_that_leads_nowhere(void **state)
{
	static const char *const targets[] = {
		"revisions/000009.yaml", "/etc/passwd", "revisions/../../etc/passwd", "revisions/000001.json", "x"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(targets) + 2; i++) {
		struct store *s;

		make_two(5);
		assert_int_equal(unlink(in_store("running")), 0);
		if (i < ARRAY_SIZE(targets))
			assert_int_equal(symlink(targets[i], in_store("running")), 0);
		else if (i == ARRAY_SIZE(targets))
			put_file("running", "a file");
		s = open_store(5);
		assert_text(s, 0, "two");
		store_close(s);
	}
}

static void test_numbers_end(void **state)
{
	struct store *s;

	(void)state;
	make_two(5);
	put_file("revisions/999999999999.yaml", "");
	put_file("revisions/999999999999.json", "");
	s = open_store(5);
	assert_int_equal(begin_text(s, "three"), -EOVERFLOW);
	assert_text(s, 0, "two");
	store_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(test_commits),
		STORE_TEST(test_abort),
		STORE_TEST(test_keeps_the_newest),
		STORE_TEST(test_modes_and_lock),
		STORE_TEST(test_refuses_foreign_bytes),
		STORE_TEST(test_spoilt_record),
		STORE_TEST(test_record_by_hand),
		STORE_TEST(test_spoilt_text),
		STORE_TEST(test_record_too_long),
		STORE_TEST(test_leftovers),
		STORE_TEST(test_link_that_leads_nowhere),
		STORE_TEST(test_numbers_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
