/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Growth by doubling; one byte is always kept for the final NUL. */
#include "gateway/base/buf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void reserve(struct buf *b, size_t more)
{
	size_t need, cap = b->cap ? b->cap : 64;

	if (__builtin_add_overflow(b->len, more, &need) || __builtin_add_overflow(need, 1, &need))
		abort();
	if (need <= b->cap)
		return;
	while (cap < need)
		if (__builtin_mul_overflow(cap, 2, &cap))
			abort();
	b->data = realloc(b->data, cap);
	if (!b->data)
		abort();
	b->cap = cap;
}

void buf_add(struct buf *b, const void *data, size_t len)
{
	reserve(b, len);
	if (len)
		memcpy(b->data + b->len, data, len);
	b->len += len;
	b->data[b->len] = '\0';
}

void buf_puts(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s));
}

void buf_putc(struct buf *b, char c)
{
	buf_add(b, &c, 1);
}

void buf_vprintf(struct buf *b, const char *fmt, va_list ap)
{
	va_list again;
	int len;

	va_copy(again, ap);
	len = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	if (len < 0)
		abort();
	reserve(b, (size_t)len);
	(void)vsnprintf(b->data + b->len, (size_t)len + 1, fmt, ap);
	b->len += (size_t)len;
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(b, fmt, ap);
	va_end(ap);
}

void buf_reset(struct buf *b)
{
	b->len = 0;
	if (b->data)
		b->data[0] = '\0';
}

void buf_free(struct buf *b)
{
	free(b->data);
	*b = (struct buf){0};
}

const char *buf_str(const struct buf *b)
{
	return b->data ? b->data : "";
}

char *buf_steal(struct buf *b)
{
	char *s;

	reserve(b, 0);
	b->data[b->len] = '\0';
	s = b->data;
	*b = (struct buf){0};
	return s;
}
