/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A growing text buffer, always NUL-terminated. The zero value is an empty buffer: `struct buf b = {0};` */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct buf {
	char *data; /* NULL while nothing was written; use buf_str() to read */
	size_t len; /* without the final NUL */
	size_t cap;
};

void buf_add(struct buf *b, const void *data, size_t len);
void buf_puts(struct buf *b, const char *s);
void buf_putc(struct buf *b, char c);
void buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void buf_vprintf(struct buf *b, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
void buf_reset(struct buf *b); /* empty, storage kept */
void buf_free(struct buf *b);  /* back to the zero value */

/* The text, "" when empty; owned by the buffer. */
const char *buf_str(const struct buf *b);

/* Gives the text to the caller (free() it); the buffer is the zero value again. */
char *buf_steal(struct buf *b);
