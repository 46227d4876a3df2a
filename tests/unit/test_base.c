/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arena, buffer, strings and files. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gateway/base/arena.h"
#include "gateway/base/buf.h"
#include "gateway/base/cleanup.h"
#include "gateway/base/fs.h"
#include "gateway/base/str.h"

static void test_arena(void **state)
{
	_cleanup_(arena_freep) struct arena *arena = arena_new();
	unsigned char *pieces[300];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(pieces); i++) {
		size_t size = i * i; /* some larger than a block */

		pieces[i] = arena_alloc(arena, size);
		assert_int_equal((uintptr_t)pieces[i] % _Alignof(max_align_t), 0);
		for (size_t j = 0; j < size; j++)
			assert_int_equal(pieces[i][j], 0);
		memset(pieces[i], (int)(i & 0xff), size);
	}
	for (size_t i = 0; i < ARRAY_SIZE(pieces); i++)
		for (size_t j = 0; j < i * i; j++)
			assert_int_equal(pieces[i][j], i & 0xff);
	assert_string_equal(arena_printf(arena, "%s-%d", "vx", 10010), "vx-10010");
	assert_string_equal(arena_strndup(arena, "lines", 4), "line");
	assert_true(arena_used(arena) > 300u * 299 * 299 / 3);
}

static void test_arena_grow(void **state)
{
	_cleanup_(arena_freep) struct arena *arena = arena_new();
	size_t n = 0, cap = 0;
	int *v = NULL;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		v = arena_grow(arena, v, n, &cap, sizeof(*v));
		assert_true(n < cap);
		assert_int_equal(v[n], 0);
		v[n++] = i;
	}
	for (int i = 0; i < 1000; i++)
		assert_int_equal(v[i], i);
}

static void test_buf(void **state)
{
	struct buf b = {0};
	char *s;

	(void)state;
	assert_string_equal(buf_str(&b), "");
	for (int i = 0; i < 1000; i++)
		buf_printf(&b, "%d,", i);
	assert_int_equal(b.len, 10 * 2 + 90 * 3 + 900 * 4);
	buf_reset(&b);
	assert_string_equal(buf_str(&b), "");
	buf_add(&b, "a\0b", 3);
	assert_int_equal(b.len, 3);
	buf_putc(&b, 'c');
	s = buf_steal(&b);
	assert_memory_equal(s, "a\0bc", 5);
	free(s);
	assert_null(b.data);
	s = buf_steal(&b);
	assert_string_equal(s, "");
	free(s);
}

static void test_numbers(void **state)
{
	uint64_t v = 7;

	(void)state;
	assert_int_equal(str_to_u64("18446744073709551615", &v), 0);
	assert_true(v == UINT64_MAX);
	assert_int_equal(str_to_u64("18446744073709551616", &v), -ERANGE);
	assert_int_equal(str_to_u64("", &v), -EINVAL);
	assert_int_equal(str_to_u64("-1", &v), -EINVAL);
	assert_int_equal(str_to_u64("+1", &v), -EINVAL);
	assert_int_equal(str_to_u64(" 1", &v), -EINVAL);
	assert_int_equal(str_to_u64("99999999999999999999x", &v), -EINVAL);
	assert_true(v == UINT64_MAX);
}

static void test_distance(void **state)
{
	(void)state;
	assert_int_equal(str_distance("members", "members"), 0);
	assert_int_equal(str_distance("memebers", "members"), 1);
	assert_int_equal(str_distance("memebrs", "members"), 1);
	assert_int_equal(str_distance("", "vni"), 3);
	assert_int_equal(str_distance("mtu", "mss"), 2);
	assert_true(str_distance("this word is far longer than any keyword of the schema could ever be, really", "x") ==
		SIZE_MAX);
}

static void test_printable(void **state)
{
	(void)state;
	assert_true(str_is_printable("IDC fabric, leaf 1"));
	assert_true(str_is_printable("\xe5\x8c\x97\xe4\xba\xac \xf0\x9f\x98\x80"));
	assert_false(str_is_printable("tab\there"));
	assert_false(str_is_printable("\x1b[31m"));
	assert_false(str_is_printable("\xff\xfe"));
	assert_false(str_is_printable("\xc0\x80"));	    /* overlong */
	assert_false(str_is_printable("\xed\xa0\x80"));	    /* surrogate */
	assert_false(str_is_printable("\xf4\x90\x80\x80")); /* above U+10FFFF */
	assert_false(str_is_printable("\xe5\x8c"));	    /* cut short */
	assert_false(str_is_printable("\xc2\x85"));	    /* C1 control */
}

static void test_compare(void **state)
{
	(void)state;
	assert_true(str_eq(NULL, NULL));
	assert_false(str_eq(NULL, ""));
	assert_true(str_cmp(NULL, "") < 0 && str_cmp("", NULL) > 0);
	assert_true(str_starts("fairway_guard", "fairway_"));
	assert_false(str_starts("fair", "fairway_"));
	assert_true(str_hash("a") != str_hash("b"));
}

static void test_files(void **state)
{
	char folder[] = "/tmp/fairway-test.XXXXXX";
	char path[128], deep[128];
	_cleanup_free_ char *text = NULL;
	struct stat st;
	size_t len;

	(void)state;
	assert_non_null(mkdtemp(folder));
	(void)snprintf(deep, sizeof(deep), "%s/a/b", folder);
	assert_int_equal(fs_mkdir_p(deep, 0700), 0);
	assert_int_equal(fs_mkdir_p(deep, 0700), 0);
	(void)snprintf(path, sizeof(path), "%s/a/b/file", folder);
	assert_int_equal(fs_read(path, 100, &text, &len), -ENOENT);
	assert_int_equal(fs_write_atomic(path, "first", 5, 0600), 0);
	assert_int_equal(fs_write_atomic(path, "second", 6, 0640), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0640);
	assert_int_equal(fs_read(path, 5, &text, &len), -EFBIG);
	assert_null(text);
	assert_int_equal(fs_read(path, 6, &text, &len), 0);
	assert_int_equal(len, 6);
	assert_string_equal(text, "second");
	free(text);
	assert_int_equal(fs_read_regular(path, 6, &text, &len), 0);
	assert_string_equal(text, "second");
	assert_int_equal(unlink(path), 0);
	/* A pipe without a writer: an error, and not a wait for one. */
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(fs_read_regular(path, 6, &text, &len), -EINVAL);
	assert_int_equal(fs_read_regular(deep, 6, &text, &len), -EINVAL);
	assert_string_equal(fs_read_error(-EINVAL), "not a regular file");
	assert_int_equal(unlink(path), 0);
	/* Nothing else was left there: the folders are empty. */
	assert_int_equal(rmdir(deep), 0);
	(void)snprintf(deep, sizeof(deep), "%s/a", folder);
	assert_int_equal(rmdir(deep), 0);
	assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arena),
		cmocka_unit_test(test_arena_grow),
		cmocka_unit_test(test_buf),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_distance),
		cmocka_unit_test(test_printable),
		cmocka_unit_test(test_compare),
		cmocka_unit_test(test_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
