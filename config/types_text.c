/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Value types of words: texts, names, paths, true and false, enums; see types.h and types.c. */
#include "config/types.h"

#include <errno.h>
#include <string.h>

#include "config/schema.h"
#include "gateway/base/arena.h"
#include "gateway/base/buf.h"
#include "gateway/base/str.h"

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define DIGITS "0123456789"

/* --- texts --- */

static int text_compare(const void *a, const void *b)
{
	return str_cmp(*(const char *const *)a, *(const char *const *)b);
}

static void text_print(const void *value, const struct limit *limit, struct buf *out)
{
	const char *text = *(const char *const *)value;

	(void)limit;
	buf_puts(out, text ? text : "");
}

static bool text_is_absent(const void *value)
{
	return *(const char *const *)value == NULL;
}

static int text_take(
	bool good, const char *text, const char *want, struct arena *arena, void *ret, const char **ret_want)
{
	if (!good) {
		*ret_want = want;
		return -EINVAL;
	}
	*(const char **)ret = arena_strdup(arena, text);
	return 0;
}

static int name_parse(
	const char *text, const struct limit *limit, struct arena *arena, void *ret, const char **ret_want)
{
	size_t len = strlen(text);
	bool good = len >= 1 && len <= 63 && strchr(LETTERS DIGITS, *text) && strspn(text, LETTERS DIGITS "._-") == len;

	(void)limit;
	return text_take(good, text,
		"a name: 1 to 63 of letters, digits, '.', '_' and '-', beginning with a letter or digit", arena, ret,
		ret_want);
}

static int text_parse(
	const char *text, const struct limit *limit, struct arena *arena, void *ret, const char **ret_want)
{
	(void)limit;
	return text_take(strlen(text) <= 256 && str_is_printable(text), text,
		"text of one line, at most 256 bytes, without control characters", arena, ret, ret_want);
}

static int ifname_parse(
	const char *text, const struct limit *limit, struct arena *arena, void *ret, const char **ret_want)
{
	static const char *const taken[] = {".", "..", "all", "default"};
	size_t len = strlen(text);

	(void)limit;
	for (size_t i = 0; i < ARRAY_SIZE(taken); i++)
		if (str_eq(text, taken[i]))
			return text_take(false, text, "an interface name: the kernel has another use for that word",
				arena, ret, ret_want);
	return text_take(len >= 1 && len <= 15 && strspn(text, LETTERS DIGITS "._-@") == len, text,
		"an interface name: 1 to 15 of letters, digits, '.', '_', '-' and '@'", arena, ret, ret_want);
}

static bool has_dotdot(const char *path)
{
	for (const char *p = path; (p = strstr(p, "/..")); p += 3)
		if (p[3] == '/' || p[3] == '\0')
			return true;
	return false;
}

static int path_parse(
	const char *text, const struct limit *limit, struct arena *arena, void *ret, const char **ret_want)
{
	size_t len = strlen(text);
	bool good = len >= 2 && len <= 1024 && *text == '/' && text[len - 1] != '/' && str_is_printable(text);

	(void)limit;
	return text_take(
		good && !has_dotdot(text), text, "an absolute path of a file, without \"..\"", arena, ret, ret_want);
}

const struct type type_NAME = {
	.name = "NAME",
	.size = sizeof(const char *),
	.parse = name_parse,
	.print = text_print,
	.compare = text_compare,
	.is_absent = text_is_absent,
	.yaml_hint = "NAME",
	.yang_type = "type string { length \"1..63\"; pattern '[A-Za-z0-9][A-Za-z0-9._\\-]*'; }",
	.json_type = "string",
	.text = true,
	.pattern = "[A-Za-z0-9][A-Za-z0-9._-]{0,62}",
};

const struct type type_TEXT = {
	.name = "TEXT",
	.size = sizeof(const char *),
	.parse = text_parse,
	.print = text_print,
	.compare = text_compare,
	.is_absent = text_is_absent,
	.yaml_hint = "text",
	.yang_type = "type string { length \"0..256\"; }",
	.json_type = "string",
	.text = true,
	.pattern = "[^\\u0000-\\u001f\\u007f-\\u009f]{0,256}",
};

const struct type type_IFNAME = {
	.name = "IFNAME",
	.size = sizeof(const char *),
	.parse = ifname_parse,
	.print = text_print,
	.compare = text_compare,
	.is_absent = text_is_absent,
	.yaml_hint = "INTERFACE",
	.yang_type = "type string { length \"1..15\"; pattern '[A-Za-z0-9._@\\-]+'; }",
	.json_type = "string",
	.text = true,
	.pattern = "[A-Za-z0-9._@-]{1,15}",
};

const struct type type_PATH = {
	.name = "PATH",
	.size = sizeof(const char *),
	.parse = path_parse,
	.print = text_print,
	.compare = text_compare,
	.is_absent = text_is_absent,
	.yaml_hint = "/PATH",
	.yang_type = "type string { length \"2..1024\"; pattern '/.*[^/]'; }",
	.json_type = "string",
	.text = true,
	.pattern = "/.*[^/]",
};

/* --- true and false --- */

static int bool_parse(
	const char *text, const struct limit *limit, struct arena *arena, void *ret, const char **ret_want)
{
	(void)limit;
	(void)arena;
	if (!str_eq(text, "true") && !str_eq(text, "false")) {
		*ret_want = "true or false";
		return -EINVAL;
	}
	*(bool *)ret = *text == 't';
	return 0;
}

static void bool_print(const void *value, const struct limit *limit, struct buf *out)
{
	(void)limit;
	buf_puts(out, *(const bool *)value ? "true" : "false");
}

static int bool_compare(const void *a, const void *b)
{
	return (int)*(const bool *)a - (int)*(const bool *)b;
}

/* Types whose every value is a value. */
static bool never_absent(const void *value)
{
	(void)value;
	return false;
}

const struct type type_BOOL = {
	.name = "BOOL",
	.size = sizeof(bool),
	.parse = bool_parse,
	.print = bool_print,
	.compare = bool_compare,
	.is_absent = never_absent,
	.yaml_hint = "true|false",
	.yang_type = "type boolean;",
	.json_type = "boolean",
};

/* --- enums --- */

static int enum_parse(
	const char *text, const struct limit *limit, struct arena *arena, void *ret, const char **ret_want)
{
	const struct words *words = limit->words;
	struct nearest near = {.word = text};
	struct buf b = {0};

	for (size_t i = 0; i < words->n; i++) {
		if (str_eq(text, words->v[i].word)) {
			*(int *)ret = (int)i;
			return 0;
		}
		nearest_try(&near, words->v[i].word);
	}
	buf_puts(&b, words->n > 2 ? "one of " : "");
	for (size_t i = 0; i < words->n; i++)
		buf_printf(&b, "%s%s", i == 0 ? "" : i + 1 < words->n ? ", " : " or ", words->v[i].word);
	if (near.best)
		buf_printf(&b, "; did you mean %s?", near.best);
	*ret_want = arena_strndup(arena, buf_str(&b), b.len);
	buf_free(&b);
	return -EINVAL;
}

static void enum_print(const void *value, const struct limit *limit, struct buf *out)
{
	buf_puts(out, limit->words->v[*(const int *)value].word);
}

static int enum_compare(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return (x > y) - (x < y);
}

const struct type type_ENUM = {
	.name = "ENUM",
	.size = sizeof(int),
	.parse = enum_parse,
	.print = enum_print,
	.compare = enum_compare,
	.is_absent = never_absent,
	.yaml_hint = "word",
	.json_type = "string",
};
