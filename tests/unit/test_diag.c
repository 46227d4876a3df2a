/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Diagnostics: their form, their order, their number; foreign text in them is harmless. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "config/diag.h"
#include "gateway/base/arena.h"
#include "gateway/base/buf.h"
#include "gateway/base/str.h"

/* LINK: config/diag.c */

static void assert_printed(const struct diag *d, const char *want)
{
	struct buf out = {0};

	diag_print(d, &out);
	assert_string_equal(buf_str(&out), want);
	buf_free(&out);
}

static void test_print(void **state)
{
	struct diag d;

	(void)state;
	diag_init(&d, "a.yaml");
	assert_printed(&d, "");
	diag_error(&d, (struct loc){12, 10}, "segments[%s].vni: %d is wrong", "gpu", 0);
	diag_warning(&d, (struct loc){13, 1}, "not yet");
	diag_error(&d, (struct loc){0, 0}, "the file is empty");
	assert_printed(&d,
		"a.yaml:12:10: error: segments[gpu].vni: 0 is wrong\n"
		"a.yaml:13:1: warning: not yet\n"
		"a.yaml: error: the file is empty\n");
	assert_int_equal(d.n, 3);
	assert_int_equal(d.n_errors, 2);
	diag_free(&d);
	assert_int_equal(d.n, 0);
}

static void test_sort(void **state)
{
	struct diag d;

	(void)state;
	diag_init(&d, "f");
	diag_error(&d, (struct loc){2, 5}, "c");
	diag_error(&d, (struct loc){2, 1}, "a");
	diag_error(&d, (struct loc){10, 1}, "e");
	diag_error(&d, (struct loc){2, 5}, "d");
	diag_error(&d, (struct loc){2, 4}, "b");
	diag_sort(&d);
	assert_printed(&d, "f:2:1: error: a\nf:2:4: error: b\nf:2:5: error: c\nf:2:5: error: d\nf:10:1: error: e\n");
	diag_free(&d);
}

static void test_left_out(void **state)
{
	struct buf out = {0};
	struct diag d;

	(void)state;
	diag_init(&d, "f");
	for (uint32_t i = 0; i < DIAG_MAX + 7; i++)
		diag_error(&d, (struct loc){i + 1, 1}, "no");
	assert_int_equal(d.n, DIAG_MAX);
	assert_int_equal(d.n_errors, DIAG_MAX + 7);
	assert_int_equal(d.n_left_out, 7);
	diag_print(&d, &out);
	assert_non_null(strstr(buf_str(&out), "f:1000:1: error: no\nf: 7 more messages left out\n"));
	buf_free(&out);
	diag_free(&d);
}

static void test_show(void **state)
{
	static const char *const cases[][2] = {
		{"10.0.0.1/24", "10.0.0.1/24"},
		{"", "\"\""},
		{"two words", "\"two words\""},
		{"北京", "\"北京\""},
		{"\033[31mred", "\"\\x1b[31mred\""},
		{"a\nb", "\"a\\x0ab\""},
	};
	struct arena *arena = arena_new();
	char text[2048];
	const char *shown;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_string_equal(diag_show(arena, cases[i][0]), cases[i][1]);
	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	shown = diag_show(arena, text);
	assert_true(strlen(shown) < 120);
	assert_non_null(strstr(shown, "xxx...\""));
	arena_free(arena);
}

static const char *nearest(const char *word, const char *const *words, size_t n)
{
	struct nearest near = {.word = word};

	for (size_t i = 0; i < n; i++)
		nearest_try(&near, words[i]);
	return near.best;
}

static void test_nearest(void **state)
{
	static const char *const words[] = {"name", "members", "remotes", "mtu", "mss"};

	(void)state;
	assert_string_equal(nearest("memebers", words, ARRAY_SIZE(words)), "members");
	assert_string_equal(nearest("remote", words, ARRAY_SIZE(words)), "remotes");
	assert_string_equal(nearest("mut", words, ARRAY_SIZE(words)), "mtu");
	assert_null(nearest("gateway", words, ARRAY_SIZE(words)));
	assert_null(nearest("x", words, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_print),
		cmocka_unit_test(test_sort),
		cmocka_unit_test(test_left_out),
		cmocka_unit_test(test_show),
		cmocka_unit_test(test_nearest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
