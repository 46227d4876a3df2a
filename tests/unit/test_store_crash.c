/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Revisions on disk against a crash or an error at every system call that changes something. */
/* LINK: config/store.c config/store_record.c config/store_scan.c tests/lib/calls.c tests/lib/store_fixture.c */
/* LIBS: jansson */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "config/store.h"
#include "gateway/base/cleanup.h"
#include "gateway/base/str.h"
#include "tests/lib/calls.h"
#include "tests/lib/store_fixture.h"

/* After a crash, everything in the folder must be something that the store knows. */
static void assert_clean(void)
{
	_cleanup_free_ struct dirent **v = NULL;
	int n = scandir(store_dir, &v, NULL, alphasort);

	assert_true(n > 2);
	for (int i = 0; i < n; i++) {
		const char *name = v[i]->d_name;

		assert_true(str_eq(name, ".") || str_eq(name, "..") || str_eq(name, "revisions") ||
			str_eq(name, "running") || str_eq(name, "pending.yaml") || str_eq(name, "pending.json"));
		free(v[i]);
	}
	for (uint64_t number = 1; number <= 9; number++) {
		char yaml[64], json[64];

		(void)snprintf(yaml, sizeof(yaml), "revisions/%06d.yaml", (int)number);
		(void)snprintf(json, sizeof(json), "revisions/%06d.json", (int)number);
		assert_int_equal(file_exists(yaml), file_exists(json));
	}
}

/* What a process does that may die at any moment. */
typedef void (*life_fn)(void);

static void life_commit(void)
{
	struct store *s;
	uint64_t number;

	if (store_open(store_dir, 2, &s) < 0 || begin_text(s, "three") < 0 || store_commit(s, &number) < 0)
		_exit(1);
}

static void life_abort(void)
{
	struct store *s;

	if (store_open(store_dir, 2, &s) < 0 || begin_text(s, "never") < 0 || store_abort(s) < 0)
		_exit(1);
}

static void life_open(void)
{
	struct store *s;

	if (store_open(store_dir, 2, &s) < 0)
		_exit(1);
}

/* True if it died at call n, false if it lived to its end. */
static bool dies(life_fn life, unsigned n)
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		calls_arm(CALLS_CRASH, n);
		life();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_true(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == CALLS_CRASHED);
	return WEXITSTATUS(status) == CALLS_CRASHED;
}

/* The store opens, has the old or the new revision whole, and works on. Returns whether it is the new one. */
static bool check_survival(const char *old, const char *new)
{
	struct store *s = open_store(2);
	_cleanup_free_ char *text = NULL;
	struct revision m, pending;
	uint64_t before;
	size_t len;
	int cut;

	assert_clean();
	assert_int_equal(store_read(s, 0, &text, &len, &m), 0);
	assert_true(str_eq(text, old) || str_eq(text, new));
	before = m.number;
	cut = store_pending(s, &pending);
	assert_true(cut == 0 || cut == 1);
	if (str_eq(text, new))
		assert_int_equal(cut, 0);
	assert_int_equal(store_abort(s), 0);
	assert_true(commit_text(s, "next") > before);
	assert_text(s, 0, "next");
	assert_text(s, before, text);
	store_close(s);
	return str_eq(text, new);
}

/* Does the link lead to the third revision? What store.c promises to decide. */
static bool is_decided(void)
{
	char target[64] = "";

	return readlink(in_store("running"), target, sizeof(target) - 1) > 0 && str_eq(target, "revisions/000003.yaml");
}

static void test_crash_in_commit(void **state)
{
	unsigned n = 0, news = 0, pending_seen = 0;
	bool decided;

	(void)state;
	for (bool died = true; died; n++) {
		make_two(2);
		died = dies(life_commit, n);
		pending_seen += died && file_exists("pending.json");
		decided = is_decided();
		assert_true(decided || (died && news == 0)); /* from one call on, and it stays so */
		news += decided;
		assert_int_equal(check_survival("two", "three"), decided);
	}
	assert_true(n > 20);
	assert_true(news > 3 && news < n);
	assert_true(pending_seen > 3);
}

static void test_crash_in_abort(void **state)
{
	unsigned n = 0;

	(void)state;
	for (bool died = true; died; n++) {
		make_two(2);
		died = dies(life_abort, n);
		assert_false(check_survival("two", "never"));
	}
	assert_true(n > 10);
}

static void test_crash_in_first_commit(void **state)
{
	unsigned n = 0, news = 0;

	(void)state;
	for (bool died = true; died; n++) {
		_cleanup_free_ char *text = NULL;
		struct store *s;
		size_t len;
		int r;

		forget(store_dir);
		died = dies(life_commit, n);
		s = open_store(2);
		r = store_read(s, 0, &text, &len, NULL);
		assert_true(r == -ENOENT || (r == 0 && str_eq(text, "three")));
		assert_true(died || r == 0);
		news += r == 0;
		assert_int_equal(store_abort(s), 0);
		(void)commit_text(s, "next");
		assert_text(s, 0, "next");
		store_close(s);
	}
	assert_true(news > 1 && news < n);
}

/* The crash after the crash: opening is cut short too, at every call. */
static void test_crash_while_cleaning(void **state)
{
	unsigned cleanings = 0;

	(void)state;
	for (unsigned n = 0;; n++) {
		make_two(2);
		if (!dies(life_commit, n))
			break;
		for (unsigned m = 0; dies(life_open, m); m++)
			cleanings++;
		(void)check_survival("two", "three");
	}
	assert_true(cleanings > 20);
}

/* The calls fail and the process lives on: what it says is what is on disk. */
static void test_errors(void **state)
{
	unsigned n = 0, failed_commits = 0;

	(void)state;
	for (bool failed = true; failed; n++) {
		_cleanup_free_ char *text = NULL;
		struct store *s;
		uint64_t number;
		size_t len;
		int r;

		make_two(2);
		s = open_store(2);
		calls_arm(CALLS_FAIL, n);
		r = begin_text(s, "three");
		if (r == 0) {
			r = store_commit(s, &number);
			failed_commits += r < 0;
		}
		failed = calls_hit();
		calls_arm(CALLS_PASS, 0);
		assert_true(failed || r == 0);
		assert_int_equal(store_read(s, 0, &text, &len, NULL), 0);
		assert_true(str_eq(text, "three") || (r < 0 && str_eq(text, "two")));
		assert_int_equal(store_abort(s), 0);
		(void)commit_text(s, "four");
		assert_text(s, 0, "four");
		store_close(s);
		assert_clean();
	}
	assert_true(n > 15 && failed_commits > 3);
}

static void test_order_of_syncs(void **state)
{
	struct store *s = open_store(50);

	(void)state;
	for (int i = 0; i < 3; i++) {
		calls_forget();
		assert_int_equal(begin_text(s, "text"), 0);
		assert_int_equal(calls_unsynced(), 0);
		if (i == 2)
			break;
		(void)commit_text(s, "text");
		assert_int_equal(calls_unsynced(), 0);
		assert_null(calls_disorder());
	}
	assert_int_equal(store_abort(s), 0);
	assert_int_equal(calls_unsynced(), 0);
	assert_null(calls_disorder());
	store_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(test_crash_in_commit),
		STORE_TEST(test_crash_in_abort),
		STORE_TEST(test_crash_in_first_commit),
		STORE_TEST(test_crash_while_cleaning),
		STORE_TEST(test_errors),
		STORE_TEST(test_order_of_syncs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
