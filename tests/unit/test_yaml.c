/* SPDX-License-Identifier: GPL-2.0-or-later */
/* YAML to nodes: shapes and places; what is refused, where, and that one spoilt value does not hide the next. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "config/node.h"
#include "gateway/base/arena.h"
#include "gateway/base/buf.h"
#include "gateway/base/str.h"

/* LINK: config/diag.c config/text.c config/yaml.c */
/* LIBS: libfyaml */

struct doc {
	struct arena *arena;
	struct diag diag;
	const struct node *root;
};

static struct doc parse_bytes(const char *text, size_t len)
{
	struct doc d = {.arena = arena_new()};

	diag_init(&d.diag, "f");
	d.root = yaml_parse(text, len, d.arena, &d.diag);
	return d;
}

static struct doc parse(const char *text)
{
	return parse_bytes(text, strlen(text));
}

static void done(struct doc *d)
{
	diag_free(&d->diag);
	arena_free(d->arena);
}

static void assert_messages(const char *text, size_t len, const char *want, bool has_root)
{
	struct doc d = parse_bytes(text, len);
	struct buf out = {0};

	diag_sort(&d.diag);
	diag_print(&d.diag, &out);
	assert_string_equal(buf_str(&out), want);
	assert_int_equal(d.root != NULL, has_root);
	buf_free(&out);
	done(&d);
}

static void assert_loc(struct loc loc, uint32_t line, uint32_t col)
{
	assert_int_equal(loc.line, line);
	assert_int_equal(loc.col, col);
}

static const struct node *child(const struct node *n, size_t i)
{
	const struct node *c = n->first;

	while (i-- > 0)
		c = c->next;
	assert_non_null(c);
	return c;
}

static void test_shape(void **state)
{
	struct doc d = parse("# a comment\n"
			     "a: 1\n"
			     "é: {b: \"q\", c: 'r'}\n"
			     "list:\n"
			     "  - x: 1\n"
			     "    y: [2, 3]\n"
			     "  - z\n"
			     "none:\n"
			     "block: |\n"
			     "  text\n");
	const struct node *n;

	(void)state;
	assert_int_equal(d.diag.n, 0);
	assert_int_equal(d.root->kind, NODE_MAPPING);
	assert_int_equal(d.root->n, 5);
	n = child(d.root, 0);
	assert_string_equal(n->key, "a");
	assert_string_equal(n->text, "1");
	assert_false(n->quoted);
	assert_loc(n->key_loc, 2, 1);
	assert_loc(n->loc, 2, 4);
	n = child(d.root, 1);
	assert_loc(n->loc, 3, 4); /* in characters, not bytes */
	assert_loc(child(n, 0)->key_loc, 3, 5);
	assert_loc(child(n, 0)->loc, 3, 8); /* of the quote */
	assert_true(child(n, 0)->quoted);
	assert_string_equal(child(n, 0)->text, "q");
	assert_true(child(n, 1)->quoted);
	n = child(d.root, 2);
	assert_int_equal(n->kind, NODE_SEQUENCE);
	assert_int_equal(n->n, 2);
	assert_loc(child(n, 0)->loc, 5, 5);
	assert_loc(child(child(n, 0), 1)->loc, 6, 8);
	assert_loc(child(child(child(n, 0), 1), 1)->loc, 6, 12);
	assert_loc(child(n, 1)->loc, 7, 5);
	n = child(d.root, 3);
	assert_string_equal(n->text, "");
	assert_loc(n->loc, 8, 1); /* an empty value stands at its key */
	n = child(d.root, 4);
	assert_string_equal(n->text, "text\n");
	assert_true(n->quoted);
	done(&d);
}

static void test_json(void **state)
{
	struct doc d = parse("{\"a\": [1, true, null], \"b\": {\"c\": \"\\u5317\"}}");

	(void)state;
	assert_int_equal(d.diag.n, 0);
	assert_int_equal(child(d.root, 0)->n, 3);
	assert_string_equal(child(child(d.root, 1), 0)->text, "北");
	done(&d);
}

/* A byte order mark is skipped, CRLF is a line end, and neither moves a place. */
static void test_windows(void **state)
{
	struct doc d = parse("\xef\xbb\xbf"
			     "a: 1\r\nb: [x,\r\n    \"y\"]\r\n");

	(void)state;
	assert_int_equal(d.diag.n, 0);
	assert_loc(child(d.root, 0)->key_loc, 1, 1);
	assert_string_equal(child(d.root, 0)->text, "1");
	assert_loc(child(child(d.root, 1), 1)->loc, 3, 5);
	assert_string_equal(child(child(d.root, 1), 1)->text, "y");
	done(&d);
}

struct refused {
	const char *text, *want;
	bool has_root;
};

static void test_refused(void **state)
{
	static const struct refused cases[] = {
		{"", "f: error: the file is empty\n", false},
		{"# nothing\n", "f: error: the file is empty\n", false},
		{"a: 1\nb: 2\na: 3\n", "f:3:1: error: key a is given twice; the first is on line 1\n", true},
		{"a: &x 1\nb: *x\n",
			"f:1:4: error: an anchor; write values out, anchors and aliases are not used here\n"
			"f:2:4: error: an alias; write the value out, anchors and aliases are not used here\n",
			true},
		{"a: !!str 1\n", "f:1:4: error: a tag; write the value without it, the keyword says the type\n", true},
		{"a: 1\n---\nb: 1\n", "f:2:1: error: a second document; the file must hold one\n", false},
		{"%YAML 1.1\n---\na: 1\n", "f:1:1: error: a directive; the file is YAML 1.2 without any\n", false},
		{"a:\n\tb: 1\n\tc: 1\n",
			"f:2:1: error: a tab in the indentation; use spaces\n"
			"f:3:1: error: a tab in the indentation; use spaces\n",
			false},
		{"a:\tb\t# a tab elsewhere is fine\n", "", true},
		{"a: [1, 2\n", "f:2:1: error: not valid YAML: flow sequence without a closing bracket\n", false},
		{"a: \"b\n", "f:1:5: error: not valid YAML: double-quoted scalar without closing quote\n", false},
		{"a: 1\n b: 2\n", "f:1:4: error: not valid YAML: invalid multiline plain key\n", false},
		{"a: @b\n", "f:1:4: error: not valid YAML: plain scalar cannot start with '@'\n", false},
		{"[a]: 1\nb: 2\n", "f:1:1: error: a key must be one word\n", true},
		{"a: \"\\0\"\n", "f:1:4: error: a NUL character in a value\n", true},
		{"a: \x01\n", "f:1:4: error: control character U+0001; the file must be text\n", false},
		{"a: 1\r\nb: \x01\n", "f:2:4: error: control character U+0001; the file must be text\n", false},
		{"a: \x7f\n", "f:1:4: error: control character U+007F; the file must be text\n", false},
		{"a: 1\rb: 2\n", "f:1:5: error: control character U+000D; the file must be text\n", false},
		{"a: é\xc3(\n", "f:1:5: error: byte 0xc3 is not UTF-8 text\n", false},
		{"a: \xed\xa0\x80\n", "f:1:4: error: byte 0xed is not UTF-8 text\n", false},
		{"a: \xe2\x80\xa8\n", "f:1:4: error: control character U+2028; the file must be text\n", false},
		{"\xff\xfe"
		 "a",
			"f:1:1: error: byte 0xff is not UTF-8 text\n", false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_messages(cases[i].text, strlen(cases[i].text), cases[i].want, cases[i].has_root);
	assert_messages("a: \0\n", 5, "f:1:4: error: control character U+0000; the file must be text\n", false);
}

static void test_duplicates_leave_the_first(void **state)
{
	struct doc d = parse("{a: 1, b: 2, a: 3, c: 4, c: 5}");

	(void)state;
	assert_int_equal(d.diag.n, 2);
	assert_int_equal(d.root->n, 3);
	assert_string_equal(child(d.root, 0)->text, "1");
	assert_string_equal(child(d.root, 2)->text, "4");
	assert_null(child(d.root, 2)->next);
	assert_ptr_equal(d.root->last, child(d.root, 2));
	done(&d);
}

static char *repeat(const char *head, const char *body, size_t n, const char *tail, size_t *ret_len)
{
	struct buf b = {0};

	buf_puts(&b, head);
	for (size_t i = 0; i < n; i++)
		buf_puts(&b, body);
	buf_puts(&b, tail);
	*ret_len = b.len;
	return buf_steal(&b);
}

struct shape {
	const char *head, *body;
	size_t n;
	const char *tail, *want;
};

/* Shapes that would cost a scanner memory or time; each is found early. */
static void test_bounds(void **state)
{
	static const struct shape cases[] = {
		{"", "[", 10000000, "", "f:1:32: error: more than 32 levels of nesting\n"},
		{"", "[", 33, "", "f:1:33: error: more than 32 levels of nesting\n"},
		{"", "[\n", 100000, "", "f:33:1: error: more than 32 levels of nesting\n"},
		{"", "- ", 100000, "a", "f:1:65: error: more than 32 levels of nesting\n"},
		{"a: [", "b, ", 1000000, "]", "f:1:1: error: a line of more than two million bytes\n"},
		{"a: !", "x", 300, " b", "f:1:4: error: a tag that has no end\n"},
		{"a:", " ", 300, "b", "f:1:259: error: too many blanks in a row\n"},
		{"a:", "\n", 600, "b", "f:502:1: error: too many empty lines in a row\n"},
		{"a: ", "x", YAML_SCALAR_MAX + 1, "\n", "f:1:4: error: a value of more than 4096 bytes\n"},
		{"a:\n", " - b\n", YAML_NODES_MAX, "", "f:1999999:4: error: more than 2000000 values in the file\n"},
		{"", "# a comment\n", CONFIG_FILE_MAX / 12 + 1, "", "f: error: more than 16777216 bytes\n"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct shape *c = &cases[i];
		size_t len;
		char *text = repeat(c->head, c->body, c->n, c->tail, &len);
		struct doc d = parse_bytes(text, len);
		struct buf out = {0};

		diag_print(&d.diag, &out);
		assert_string_equal(buf_str(&out), c->want);
		buf_free(&out);
		done(&d);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shape),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_windows),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_duplicates_leave_the_first),
		cmocka_unit_test(test_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
