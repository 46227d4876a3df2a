/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prefix files: what a line may be, and where what is none of it stands. */
/* LINK: config/prefix_parse.c */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "config/prefix_parse.h"

static void test_lines(void **state)
{
	static const char text[] =
		"\xef\xbb\xbf# storage\r\n\r\n10.99.8.0/24\r\n  10.99.8.7 # a host\n\tfd00:99::/32\t\n"
		"fd00:99::7\n10.0.0.0/8#no blank\n#\n0.0.0.0/0\n::/0";
	static const char *const wanted[] = {
		"10.99.8.0/24", "10.99.8.7/32", "fd00:99::/32", "fd00:99::7/128", "10.0.0.0/8", "0.0.0.0/0", "::/0"};
	struct prefix_list_file f;

	(void)state;
	assert_int_equal(prefix_parse(text, sizeof(text) - 1, &f), 0);
	assert_int_equal(f.n, sizeof(wanted) / sizeof(*wanted));
	for (size_t i = 0; i < f.n; i++) {
		char is[IP_STR_MAX];

		assert_string_equal(ip_prefix_str(&f.v[i], is), wanted[i]);
	}
	free(f.v);
	assert_int_equal(prefix_parse("", 0, &f), 0);
	assert_int_equal(f.n, 0);
}

static void assert_error(const struct prefix_error *e, size_t line, size_t column, const char *word, const char *want)
{
	assert_int_equal(e->line, line);
	assert_int_equal(e->column, column);
	assert_string_equal(e->word, word);
	assert_string_equal(e->want, want);
}

static void test_junk(void **state)
{
	static const char text[] =
		"10.0.0.0/8\n 10.0.0.1/8\nten\n10.0.0.0/33\nfd00::1/64\n10.0.0.0/8 10.1.0.0/16\na\001b\n";
	struct prefix_list_file f;

	(void)state;
	assert_int_equal(prefix_parse(text, sizeof(text) - 1, &f), -EINVAL);
	assert_null(f.v);
	assert_int_equal(f.n, 0);
	assert_int_equal(f.n_errors, 6);
	assert_error(&f.errors[0], 2, 2, "10.0.0.1/8", "write 10.0.0.0/8");
	assert_error(&f.errors[1], 3, 1, "ten", "");
	assert_error(&f.errors[2], 4, 1, "10.0.0.0/33", "");
	assert_error(&f.errors[3], 5, 1, "fd00::1/64", "write fd00::/64");
	assert_error(&f.errors[4], 6, 1, "10.0.0.0/8 10.1.0.0/16", "");
	assert_error(&f.errors[5], 7, 1, "a.b", "");
}

static void test_much_junk(void **state)
{
	char text[400];
	struct prefix_list_file f;

	(void)state;
	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = "jun\n"[i % 4];
	assert_int_equal(prefix_parse(text, sizeof(text), &f), -EINVAL);
	assert_int_equal(f.n_errors, 100);
	assert_error(&f.errors[PREFIX_ERRORS_MAX - 1], PREFIX_ERRORS_MAX, 1, "jun", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_junk),
		cmocka_unit_test(test_much_junk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
