/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Small pure string helpers that the C library lacks. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

static inline int cmp_u32(uint32_t a, uint32_t b)
{
	return a < b ? -1 : a > b;
}

bool str_eq(const char *a, const char *b); /* NULL equals only NULL */
int str_cmp(const char *a, const char *b); /* NULL sorts first */
bool str_starts(const char *s, const char *prefix);

/* Whole-string unsigned decimal. 0, -EINVAL (not a number), or -ERANGE (does not fit 64 bits). */
int str_to_u64(const char *s, uint64_t *ret);

/* Damerau-Levenshtein distance, for "did you mean"; strings above 64 bytes give SIZE_MAX. */
size_t str_distance(const char *a, const char *b);

/* FNV-1a, 64 bits: identities of texts, never security. */
uint64_t str_hash(const char *s);

/* Is s valid UTF-8 without control characters (tab included)? */
bool str_is_printable(const char *s);
