/* SPDX-License-Identifier: GPL-2.0-or-later */
/* String helpers; see str.h. */
#include "gateway/base/str.h"

#include <errno.h>
#include <string.h>

bool str_eq(const char *a, const char *b)
{
	return str_cmp(a, b) == 0;
}

int str_cmp(const char *a, const char *b)
{
	if (!a || !b)
		return (a != NULL) - (b != NULL);
	return strcmp(a, b);
}

bool str_starts(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

int str_to_u64(const char *s, uint64_t *ret)
{
	uint64_t value = 0;

	if (!*s)
		return -EINVAL;
	for (const char *p = s; *p; p++)
		if (*p < '0' || *p > '9')
			return -EINVAL;
	for (const char *p = s; *p; p++)
		if (__builtin_mul_overflow(value, 10, &value) ||
			__builtin_add_overflow(value, (uint64_t)(*p - '0'), &value))
			return -ERANGE;
	*ret = value;
	return 0;
}

static size_t min3(size_t a, size_t b, size_t c)
{
	if (b < a)
		a = b;
	return c < a ? c : a;
}

/* Optimal string alignment: insertions, deletions, substitutions and swaps of neighbours cost 1 each. */
size_t str_distance(const char *a, const char *b)
{
	enum { MAX = 64 };
	size_t la = strlen(a), lb = strlen(b);
	size_t rows[3][MAX + 1];
	size_t *before = rows[0], *prev = rows[1], *cur = rows[2];

	if (la > MAX || lb > MAX)
		return SIZE_MAX;
	for (size_t j = 0; j <= lb; j++)
		prev[j] = j;
	for (size_t i = 1; i <= la; i++) {
		size_t *free_row = before;

		cur[0] = i;
		for (size_t j = 1; j <= lb; j++) {
			size_t cost = a[i - 1] != b[j - 1];

			cur[j] = min3(prev[j] + 1, cur[j - 1] + 1, prev[j - 1] + cost);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
				before[j - 2] + 1 < cur[j])
				cur[j] = before[j - 2] + 1;
		}
		before = prev;
		prev = cur;
		cur = free_row;
	}
	return prev[lb];
}

uint64_t str_hash(const char *s)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (; *s; s++)
		h = (h ^ (uint8_t)*s) * 0x100000001b3u;
	return h;
}

/* Length of the valid, shortest-form UTF-8 sequence at p, 0 if it is none (RFC 3629). */
static size_t utf8_len(const unsigned char *p)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t len = p[0] < 0x80	? 1
		: (p[0] & 0xe0) == 0xc0 ? 2
		: (p[0] & 0xf0) == 0xe0 ? 3
		: (p[0] & 0xf8) == 0xf0 ? 4
					: 0;
	uint32_t c;

	if (len < 2)
		return len;
	c = p[0] & (0xffu >> (len + 1));
	for (size_t i = 1; i < len; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (p[i] & 0x3f);
	}
	if (c < least[len] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 0;
	return c >= 0x80 && c < 0xa0 ? 0 : len; /* C1 control characters */
}

bool str_is_printable(const char *s)
{
	const unsigned char *p = (const unsigned char *)s;

	while (*p) {
		size_t len = utf8_len(p);

		if (len == 0 || *p < 0x20 || *p == 0x7f)
			return false;
		p += len;
	}
	return true;
}
