/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A list of growing blocks; each allocation is cut from the newest, large ones get a block of their own. */
#include "gateway/base/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_MIN = 4096, BLOCK_MAX = 1 << 20, ALIGN = _Alignof(max_align_t) };

struct block {
	struct block *next;
	size_t used, size;
	max_align_t data[];
};

struct arena {
	struct block *blocks; /* newest first */
	size_t next_size;
	size_t used;
};

static void *must(void *p)
{
	if (!p)
		abort();
	return p;
}

struct arena *arena_new(void)
{
	struct arena *arena = must(calloc(1, sizeof(*arena)));

	arena->next_size = BLOCK_MIN;
	return arena;
}

void arena_free(struct arena *arena)
{
	if (!arena)
		return;
	for (struct block *b = arena->blocks, *next; b; b = next) {
		next = b->next;
		free(b);
	}
	free(arena);
}

void arena_freep(struct arena **arena)
{
	arena_free(*arena);
}

static struct block *block_new(size_t size)
{
	struct block *b;

	if (size > SIZE_MAX - sizeof(*b))
		abort();
	b = must(malloc(sizeof(*b) + size));
	b->used = 0;
	b->size = size;
	return b;
}

static struct block *block_for(struct arena *arena, size_t size)
{
	struct block *b = arena->blocks;

	if (b && b->size - b->used >= size)
		return b;
	if (b && size > arena->next_size / 4) {
		/* Behind the newest block, whose free space stays in use. */
		struct block *own = block_new(size);

		own->next = b->next;
		b->next = own;
		return own;
	}
	b = block_new(size > arena->next_size ? size : arena->next_size);
	b->next = arena->blocks;
	arena->blocks = b;
	if (arena->next_size < BLOCK_MAX)
		arena->next_size *= 2;
	return b;
}

void *arena_alloc(struct arena *arena, size_t size)
{
	struct block *b;
	void *p;

	if (size > SIZE_MAX - ALIGN)
		abort();
	size = (size + ALIGN - 1) & ~(size_t)(ALIGN - 1);
	if (size == 0)
		size = ALIGN;
	b = block_for(arena, size);
	p = (char *)b->data + b->used;
	b->used += size;
	arena->used += size;
	return memset(p, 0, size);
}

void *arena_array(struct arena *arena, size_t n, size_t size)
{
	size_t total;

	if (__builtin_mul_overflow(n, size, &total))
		abort();
	return arena_alloc(arena, total);
}

void *arena_grow(struct arena *arena, void *array, size_t n, size_t *cap, size_t size)
{
	void *larger;

	if (n < *cap)
		return array;
	*cap = *cap ? 2 * *cap : 8;
	larger = arena_array(arena, *cap, size);
	if (n > 0)
		memcpy(larger, array, n * size);
	return larger;
}

void *arena_memdup(struct arena *arena, const void *p, size_t size)
{
	void *copy = arena_alloc(arena, size);

	return size ? memcpy(copy, p, size) : copy;
}

char *arena_strndup(struct arena *arena, const char *s, size_t len)
{
	char *copy = arena_alloc(arena, len + 1);

	if (len)
		memcpy(copy, s, len);
	return copy;
}

char *arena_strdup(struct arena *arena, const char *s)
{
	return arena_strndup(arena, s, strlen(s));
}

char *arena_printf(struct arena *arena, const char *fmt, ...)
{
	va_list ap, again;
	char *s;
	int len;

	va_start(ap, fmt);
	va_copy(again, ap);
	len = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (len < 0)
		abort();
	s = arena_alloc(arena, (size_t)len + 1);
	(void)vsnprintf(s, (size_t)len + 1, fmt, again);
	va_end(again);
	return s;
}

size_t arena_used(const struct arena *arena)
{
	return arena->used;
}
