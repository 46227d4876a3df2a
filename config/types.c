/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Value types of numbers and quantities; words are in types_text.c, addresses in types_net.c; see types.h.
 * The one idea: a parser never only says no, it says what would be right, in words that complete "X is not ...".
 */
#include "config/types.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "config/schema.h"
#include "gateway/base/arena.h"
#include "gateway/base/buf.h"
#include "gateway/base/str.h"

#define DIGITS "0123456789"

/* --- numbers --- */

/* Types whose every value is a value. */
static bool never_absent(const void *value)
{
	(void)value;
	return false;
}

static uint64_t low(const struct limit *limit)
{
	return limit->has_range ? limit->min : 0;
}

static uint64_t high(const struct limit *limit, uint64_t max)
{
	return limit->has_range ? limit->max : max;
}

/* How a text that looks like a number misses being a plain one; NULL if it does not look like that. */
static const char *number_trouble(const char *text)
{
	const char *end = text + strspn(text, DIGITS);

	if ((*text == '+' || *text == '-') && text[1] && strspn(text + 1, DIGITS) == strlen(text + 1))
		return "without a sign";
	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X' || text[1] == 'o' || text[1] == 'b'))
		return "in decimal";
	if (end == text)
		return NULL;
	if (*end == '\0' && *text == '0' && text[1])
		return "without leading zeros";
	if ((*end == 'e' || *end == 'E' || *end == '.') && strspn(end, DIGITS "eE.+-") == strlen(end))
		return "in whole digits";
	if ((*end == '_' || *end == ',') && strspn(end, DIGITS "_,") == strlen(end))
		return "without separators";
	return NULL;
}

static int number_in(const char *text, uint64_t min, uint64_t max, uint64_t *ret)
{
	uint64_t value;

	if (str_to_u64(text, &value) < 0 || (*text == '0' && text[1]) || value < min || value > max)
		return -EINVAL;
	*ret = value;
	return 0;
}

/* The wanted text, and beside it what spoils the number that was given. */
static const char *want_number(struct arena *arena, const char *text, const char *want)
{
	const char *trouble = number_trouble(text);

	return trouble ? arena_printf(arena, "%s; write it %s", want, trouble) : want;
}

static int u32_parse(const char *text, const struct limit *limit, struct arena *arena, void *ret, const char **ret_want)
{
	uint64_t value, min = low(limit), max = high(limit, UINT32_MAX);

	if (number_in(text, min, max, &value) < 0) {
		*ret_want = want_number(
			arena, text, arena_printf(arena, "a number from %" PRIu64 " to %" PRIu64, min, max));
		return -EINVAL;
	}
	*(uint32_t *)ret = (uint32_t)value;
	return 0;
}

static void u32_print(const void *value, const struct limit *limit, struct buf *out)
{
	(void)limit;
	buf_printf(out, "%u", *(const uint32_t *)value);
}

static int u32_compare(const void *a, const void *b)
{
	return cmp_u32(*(const uint32_t *)a, *(const uint32_t *)b);
}

static bool u32_is_absent(const void *value)
{
	return *(const uint32_t *)value == 0;
}

const struct type type_U32 = {
	.name = "U32",
	.size = sizeof(uint32_t),
	.parse = u32_parse,
	.print = u32_print,
	.compare = u32_compare,
	.is_absent = u32_is_absent,
	.yaml_hint = "number",
	.json_type = "integer",
};

static int auto_parse(
	const char *text, const struct limit *limit, struct arena *arena, void *ret, const char **ret_want)
{
	uint64_t value, min = low(limit), max = high(limit, UINT32_MAX);

	if (str_eq(text, "auto")) {
		*(auto_u32_t *)ret = 0;
		return 0;
	}
	if (number_in(text, min, max, &value) < 0) {
		*ret_want = want_number(
			arena, text, arena_printf(arena, "auto or a number from %" PRIu64 " to %" PRIu64, min, max));
		return -EINVAL;
	}
	*(auto_u32_t *)ret = (auto_u32_t)value;
	return 0;
}

static void auto_print(const void *value, const struct limit *limit, struct buf *out)
{
	if (*(const auto_u32_t *)value == 0)
		buf_puts(out, "auto");
	else
		u32_print(value, limit, out);
}

const struct type type_AUTO_U32 = {
	.name = "AUTO_U32",
	.size = sizeof(auto_u32_t),
	.parse = auto_parse,
	.print = auto_print,
	.compare = u32_compare,
	.is_absent = never_absent,
	.yaml_hint = "auto|number",
	.json_type = "string",
};

static int tos_parse(const char *text, const struct limit *limit, struct arena *arena, void *ret, const char **ret_want)
{
	uint64_t value;

	(void)limit;
	if (str_eq(text, "inherit")) {
		*(uint32_t *)ret = TOS_INHERIT;
		return 0;
	}
	if (number_in(text, 0, 255, &value) < 0) {
		*ret_want = want_number(arena, text, "inherit or a number from 0 to 255");
		return -EINVAL;
	}
	*(uint32_t *)ret = (uint32_t)value;
	return 0;
}

static void tos_print(const void *value, const struct limit *limit, struct buf *out)
{
	if (*(const uint32_t *)value == TOS_INHERIT)
		buf_puts(out, "inherit");
	else
		u32_print(value, limit, out);
}

const struct type type_TOS = {
	.name = "TOS",
	.size = sizeof(uint32_t),
	.parse = tos_parse,
	.print = tos_print,
	.compare = u32_compare,
	.is_absent = never_absent,
	.yaml_hint = "inherit|number",
	.yang_type = "type union { type enumeration { enum inherit; } type uint8; }",
	.json_type = "string",
};

/* --- quantities: a whole number and a unit --- */

struct unit {
	const char *name;
	uint64_t factor;
};

static const struct unit duration_units[] = {
	{"us", 1}, {"ms", 1000}, {"s", 1000000}, {"m", 60000000}, {"h", 3600000000}, {NULL, 0}};
static const struct unit rate_units[] = {
	{"bit", 1}, {"kbit", 1000}, {"mbit", 1000000}, {"gbit", 1000000000}, {"tbit", 1000000000000}, {NULL, 0}};

static const struct unit size_units[] = {{"KiB", 1024}, {"MiB", 1U << 20}, {"GiB", 1U << 30}, {NULL, 0}};

/* In the largest unit that leaves no rest. */
static void quantity_print(uint64_t value, const struct unit *units, struct buf *out)
{
	const struct unit *best = units;

	for (const struct unit *u = units; u->name && value; u++)
		if (value % u->factor == 0)
			best = u;
	buf_printf(out, "%" PRIu64 "%s", value / best->factor, best->name);
}

static const char *want_quantity(
	struct arena *arena, const struct limit *limit, const char *what, const struct unit *units)
{
	struct buf b = {0};
	const char *want;

	buf_printf(&b, "a %s from ", what);
	quantity_print(limit->min, units, &b);
	buf_puts(&b, " to ");
	quantity_print(limit->max, units, &b);
	want = arena_strndup(arena, buf_str(&b), b.len);
	buf_free(&b);
	return want;
}

static const char *want_unit(struct arena *arena, const struct unit *units, const char *example)
{
	struct buf b = {0};
	const char *want;

	for (const struct unit *u = units; u->name; u++)
		buf_printf(&b, "%s%s", u == units ? "a number with a unit of " : u[1].name ? ", " : " or ", u->name);
	buf_printf(&b, ", such as %s", example);
	want = arena_strndup(arena, buf_str(&b), b.len);
	buf_free(&b);
	return want;
}

static int quantity_parse(const char *text, const struct unit *units, uint64_t *ret)
{
	size_t n = strspn(text, DIGITS);
	char digits[21];
	uint64_t value;

	if (n == 0 || n >= sizeof(digits))
		return -EINVAL;
	memcpy(digits, text, n);
	digits[n] = '\0';
	for (; units->name; units++)
		if (str_eq(text + n, units->name))
			break;
	if (!units->name || number_in(digits, 0, UINT64_MAX, &value) < 0 ||
		__builtin_mul_overflow(value, units->factor, &value))
		return -EINVAL;
	*ret = value;
	return 0;
}

/* What is wrong with the text: no unit, no such unit (or number), or out of bounds. */
static int quantity(const char *text, const struct limit *limit, const struct unit *units, const char *what,
	const char *example, struct arena *arena, uint64_t *ret, const char **ret_want)
{
	uint64_t value, ignored;

	if (quantity_parse(text, units, &value) == 0 &&
		(!limit->has_range || (value >= limit->min && value <= limit->max))) {
		*ret = value;
		return 0;
	}
	if (limit->has_range && (strspn(text, DIGITS) == 0 || quantity_parse(text, units, &value) == 0))
		*ret_want = want_quantity(arena, limit, what, units);
	else if (str_to_u64(text, &ignored) != -EINVAL)
		*ret_want = arena_printf(arena, "a number with a unit, such as %s", example);
	else
		*ret_want = want_unit(arena, units, example);
	return -EINVAL;
}

static int duration_parse(
	const char *text, const struct limit *limit, struct arena *arena, void *ret, const char **ret_want)
{
	return quantity(text, limit, duration_units, "time", "50ms", arena, ret, ret_want);
}

static void duration_print(const void *value, const struct limit *limit, struct buf *out)
{
	(void)limit;
	quantity_print(*(const usec_t *)value, duration_units, out);
}

static int rate_parse(
	const char *text, const struct limit *limit, struct arena *arena, void *ret, const char **ret_want)
{
	return quantity(text, limit, rate_units, "rate", "10gbit", arena, ret, ret_want);
}

static void rate_print(const void *value, const struct limit *limit, struct buf *out)
{
	(void)limit;
	quantity_print(*(const bitrate_t *)value, rate_units, out);
}

static int size_parse(
	const char *text, const struct limit *limit, struct arena *arena, void *ret, const char **ret_want)
{
	return quantity(text, limit, size_units, "size", "256MiB", arena, ret, ret_want);
}

static void size_print(const void *value, const struct limit *limit, struct buf *out)
{
	(void)limit;
	quantity_print(*(const bytesize_t *)value, size_units, out);
}

static int u64_compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static bool u64_is_absent(const void *value)
{
	return *(const uint64_t *)value == 0;
}

const struct type type_DURATION = {
	.name = "DURATION",
	.size = sizeof(usec_t),
	.parse = duration_parse,
	.print = duration_print,
	.compare = u64_compare,
	.is_absent = u64_is_absent,
	.yaml_hint = "TIME, such as 50ms",
	.yang_type = "type string { pattern '(0|[1-9][0-9]*)(us|ms|s|m|h)'; }",
	.json_type = "string",
	.pattern = "(0|[1-9][0-9]*)(us|ms|s|m|h)",
};

const struct type type_RATE = {
	.name = "RATE",
	.size = sizeof(bitrate_t),
	.parse = rate_parse,
	.print = rate_print,
	.compare = u64_compare,
	.is_absent = u64_is_absent,
	.yaml_hint = "RATE, such as 10gbit",
	.yang_type = "type string { pattern '(0|[1-9][0-9]*)[kmgt]?bit'; }",
	.json_type = "string",
	.pattern = "(0|[1-9][0-9]*)[kmgt]?bit",
};

const struct type type_SIZE = {
	.name = "SIZE",
	.size = sizeof(bytesize_t),
	.parse = size_parse,
	.print = size_print,
	.compare = u64_compare,
	.is_absent = u64_is_absent,
	.yaml_hint = "SIZE, such as 256MiB",
	.yang_type = "type string { pattern '(0|[1-9][0-9]*)[KMG]iB'; }",
	.json_type = "string",
	.pattern = "(0|[1-9][0-9]*)[KMG]iB",
};

/* --- percentages, in thousandths of a percent --- */

static int percent_value(const char *text, uint64_t *ret)
{
	size_t whole = strspn(text, DIGITS), places = 0;
	uint64_t value = 0;

	if (whole == 0 || whole > 3 || (*text == '0' && whole > 1))
		return -EINVAL;
	for (size_t i = 0; i < whole; i++)
		value = value * 10 + (uint64_t)(text[i] - '0');
	text += whole;
	if (*text == '.') {
		places = strspn(++text, DIGITS);
		if (places == 0 || places > 3)
			return -EINVAL;
	}
	for (size_t i = 0; i < 3; i++)
		value = value * 10 + (i < places ? (uint64_t)(text[i] - '0') : 0);
	if (!str_eq(text + places, "%"))
		return -EINVAL;
	*ret = value;
	return 0;
}

static void percent_print(const void *value, const struct limit *limit, struct buf *out)
{
	uint32_t v = *(const uint32_t *)value;
	char places[8];

	(void)limit;
	buf_printf(out, "%u", v / 1000);
	(void)snprintf(places, sizeof(places), "%03u", v % 1000);
	for (size_t n = 3; n > 0 && places[n - 1] == '0'; n--)
		places[n - 1] = '\0';
	if (places[0])
		buf_printf(out, ".%s", places);
	buf_putc(out, '%');
}

static int percent_parse(
	const char *text, const struct limit *limit, struct arena *arena, void *ret, const char **ret_want)
{
	uint64_t value;

	(void)arena;
	if (percent_value(text, &value) < 0 || value < low(limit) || value > high(limit, 100000)) {
		*ret_want = "a percentage from 0% to 100% with at most three decimals, such as 0.1%";
		return -EINVAL;
	}
	*(uint32_t *)ret = (uint32_t)value;
	return 0;
}

const struct type type_PERCENT = {
	.name = "PERCENT",
	.size = sizeof(uint32_t),
	.parse = percent_parse,
	.print = percent_print,
	.compare = u32_compare,
	.is_absent = u32_is_absent,
	.yaml_hint = "PERCENTAGE, such as 0.1%",
	.yang_type = "type string { pattern '(0|[1-9][0-9]{0,2})(\\.[0-9]{1,3})?%'; }",
	.json_type = "string",
	.pattern = "(0|[1-9][0-9]{0,2})(\\.[0-9]{1,3})?%",
};
