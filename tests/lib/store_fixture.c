/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A store in a folder of the test's own; see store_fixture.h. */
#include "tests/lib/store_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "gateway/base/cleanup.h"
#include "tests/lib/calls.h"

static char base[64];
char store_dir[128];

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

void forget(const char *path)
{
	(void)nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

int store_setup(void **state)
{
	(void)state;
	(void)snprintf(base, sizeof(base), "/tmp/fairway-store.XXXXXX");
	if (!mkdtemp(base))
		return -1;
	(void)snprintf(store_dir, sizeof(store_dir), "%s/state", base);
	return 0;
}

int store_teardown(void **state)
{
	(void)state;
	calls_arm(CALLS_PASS, 0);
	forget(base);
	return 0;
}

const char *in_store(const char *name)
{
	static char path[1024];

	(void)snprintf(path, sizeof(path), "%s/%s", store_dir, name);
	return path;
}

void put_file(const char *name, const char *text)
{
	FILE *f = fopen(in_store(name), "we");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

bool file_exists(const char *name)
{
	struct stat st;

	return lstat(in_store(name), &st) == 0;
}

struct revision meta_of(const char *comment)
{
	struct revision m = {.time = 1764547200, .user = "ops", .source = "/etc/fairway/fairway.yaml"};

	(void)snprintf(m.comment, sizeof(m.comment), "%s", comment);
	return m;
}

int begin_text(struct store *s, const char *text)
{
	struct revision m = meta_of(text);

	return store_begin(s, text, strlen(text), &m);
}

uint64_t commit_text(struct store *s, const char *text)
{
	uint64_t number = 0;

	assert_int_equal(begin_text(s, text), 0);
	assert_int_equal(store_commit(s, &number), 0);
	return number;
}

struct store *open_store(unsigned keep)
{
	struct store *s = NULL;

	assert_int_equal(store_open(store_dir, keep, &s), 0);
	return s;
}

void assert_text(struct store *s, uint64_t number, const char *want)
{
	_cleanup_free_ char *text = NULL;
	struct revision m;
	size_t len;

	assert_int_equal(store_read(s, number, &text, &len, &m), 0);
	assert_string_equal(text, want);
	assert_int_equal(len, strlen(want));
	assert_string_equal(m.comment, want);
}

/* A fresh store with "one" and "two"; two runs. */
void make_two(unsigned keep)
{
	struct store *s;

	forget(store_dir);
	s = open_store(keep);
	assert_int_equal(commit_text(s, "one"), 1);
	assert_int_equal(commit_text(s, "two"), 2);
	store_close(s);
}
