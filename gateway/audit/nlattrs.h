/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A walk over netlink attributes (struct nlattr) in foreign bytes: inline, because it runs some forty times for each
 * event. Never reads beyond the end; what is not whole ends the walk with `bad` set.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct nlattrs {
	const uint8_t *p;
	size_t left;
	bool bad;
};

struct nlattr_view {
	uint16_t type; /* without its flags */
	const uint8_t *data;
	size_t len;
};

static inline bool nlattrs_next(struct nlattrs *w, struct nlattr_view *ret)
{
	uint16_t len, type;
	size_t step;

	if (w->left < 4) {
		w->bad |= w->left > 0;
		return false;
	}
	memcpy(&len, w->p, 2);
	memcpy(&type, w->p + 2, 2);
	if (len < 4 || len > w->left) {
		w->bad = true;
		return false;
	}
	*ret = (struct nlattr_view){.type = type & 0x3fff, .data = w->p + 4, .len = (size_t)len - 4};
	step = ((size_t)len + 3) & ~(size_t)3;
	if (step > w->left)
		step = w->left;
	w->p += step;
	w->left -= step;
	return true;
}

static inline struct nlattrs nlattrs_of(const struct nlattr_view *a)
{
	return (struct nlattrs){.p = a->data, .left = a->len};
}

/* Numbers in network order, as nfnetlink has them; false where the length is another. */
static inline bool nlattr_be16(const struct nlattr_view *a, uint16_t *ret)
{
	if (a->len != 2)
		return false;
	*ret = (uint16_t)(a->data[0] << 8 | a->data[1]);
	return true;
}

static inline bool nlattr_be32(const struct nlattr_view *a, uint32_t *ret)
{
	uint32_t v;

	if (a->len != 4)
		return false;
	memcpy(&v, a->data, 4);
	*ret = __builtin_bswap32(v);
	return true;
}

static inline bool nlattr_be64(const struct nlattr_view *a, uint64_t *ret)
{
	uint64_t v;

	if (a->len != 8)
		return false;
	memcpy(&v, a->data, 8);
	*ret = __builtin_bswap64(v);
	return true;
}

static inline bool nlattr_u8(const struct nlattr_view *a, uint8_t *ret)
{
	if (a->len != 1)
		return false;
	*ret = a->data[0];
	return true;
}
