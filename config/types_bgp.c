/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Value types of BGP's numbers in several parts: communities and route targets; see types.h. Kept as canonical text,
 * because that is how they are compared, printed and handed on.
 */
#include "config/types.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "config/schema.h"
#include "gateway/base/addr.h"
#include "gateway/base/arena.h"
#include "gateway/base/buf.h"
#include "gateway/base/str.h"

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

/* One decimal number without leading zeros, up to max, at *text; moves *text behind it. */
static bool take_number(const char **text, uint64_t max, uint64_t *ret)
{
	size_t len = strspn(*text, "0123456789");
	char digits[24];

	if (len == 0 || len > 10 || (len > 1 && **text == '0'))
		return false;
	memcpy(digits, *text, len);
	digits[len] = '\0';
	*text += len;
	return str_to_u64(digits, ret) == 0 && *ret <= max;
}

/* "A:B" or "A:B:C" with these largest values; the number of parts, or 0. */
static size_t parts(const char *text, const uint64_t *max, size_t n, uint64_t *ret)
{
	for (size_t i = 0; i < n; i++) {
		if ((i > 0 && *text++ != ':') || !take_number(&text, max[i], &ret[i]))
			return 0;
		if (*text == '\0')
			return i + 1;
	}
	return 0;
}

static bool is_community(const char *text)
{
	/* RFC 1997 and RFC 3765, RFC 7999: as FRR spells them. */
	static const char *const known[] = {
		"no-export", "no-advertise", "local-AS", "no-peer", "blackhole", "graceful-shutdown"};
	static const uint64_t standard[] = {65535, 65535}, large[] = {UINT32_MAX, UINT32_MAX, UINT32_MAX};
	uint64_t v[3];

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (str_eq(text, known[i]))
			return true;
	return parts(text, standard, 2, v) == 2 || parts(text, large, 3, v) == 3;
}

static int community_parse(
	const char *text, const struct limit *limit, struct arena *arena, void *ret, const char **ret_want)
{
	(void)limit;
	if (!is_community(text)) {
		*ret_want = "a community: AS:NUMBER (each to 65535), a large one AS:NUMBER:NUMBER, or no-export, "
			    "no-advertise, local-AS, no-peer, blackhole, graceful-shutdown";
		return -EINVAL;
	}
	*(const char **)ret = arena_strdup(arena, text);
	return 0;
}

/* RFC 4360, RFC 5668: a two-byte AS takes a number of four bytes, a four-byte AS or an address one of two. */
static bool is_route_target(const char *text)
{
	static const uint64_t as2[] = {65535, UINT32_MAX}, as4[] = {UINT32_MAX, 65535};
	const char *colon = strrchr(text, ':');
	struct ip_addr addr;
	char head[16];
	uint64_t v[2];

	if (parts(text, as2, 2, v) == 2 || parts(text, as4, 2, v) == 2)
		return true;
	if (!colon || (size_t)(colon - text) >= sizeof(head))
		return false;
	(void)snprintf(head, sizeof(head), "%.*s", (int)(colon - text), text);
	colon++;
	return ip_addr_parse(head, &addr) == 0 && addr.family == AF_INET && take_number(&colon, 65535, v) && !*colon;
}

static int route_target_parse(
	const char *text, const struct limit *limit, struct arena *arena, void *ret, const char **ret_want)
{
	(void)limit;
	if (!is_route_target(text)) {
		*ret_want = "a route target: AS:NUMBER or ADDRESS:NUMBER; behind an AS above 65535 or an address the "
			    "number is at most 65535";
		return -EINVAL;
	}
	*(const char **)ret = arena_strdup(arena, text);
	return 0;
}

const struct type type_COMMUNITY = {
	.name = "COMMUNITY",
	.size = sizeof(const char *),
	.parse = community_parse,
	.print = text_print,
	.compare = text_compare,
	.is_absent = text_is_absent,
	.yaml_hint = "AS:NUMBER",
	.yang_type = "type string { pattern '[0-9]+:[0-9]+(:[0-9]+)?|[a-zA-Z\\-]+'; }",
	.json_type = "string",
	.text = true,
	.pattern = "[0-9]+:[0-9]+(:[0-9]+)?|[a-zA-Z-]+",
};

const struct type type_ROUTE_TARGET = {
	.name = "ROUTE_TARGET",
	.size = sizeof(const char *),
	.parse = route_target_parse,
	.print = text_print,
	.compare = text_compare,
	.is_absent = text_is_absent,
	.yaml_hint = "AS:NUMBER",
	.yang_type = "type string { pattern '[0-9.]+:[0-9]+'; }",
	.json_type = "string",
	.text = true,
	.pattern = "[0-9.]+:[0-9]+",
};
