/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A bump allocator: everything that lives and dies with one config, plan or observation.
 * The one idea: nothing in an arena is freed alone, so nothing in it can be freed twice.
 */
#pragma once

#include <stddef.h>

struct arena;

/* Makes an empty arena. Never NULL: out of memory aborts (the service manager starts us again, boot is a commit). */
struct arena *arena_new(void);

/* Frees everything that was taken from it; NULL is fine. */
void arena_free(struct arena *arena);
void arena_freep(struct arena **arena);

/* `size` zeroed bytes, aligned for any type; size 0 gives a valid pointer. */
void *arena_alloc(struct arena *arena, size_t size);

/* `n` zeroed elements of `size`; aborts if n * size overflows. */
void *arena_array(struct arena *arena, size_t n, size_t size);

/*
 * Room for one more at the end of an array of n elements in the arena, zeroed: the array itself, or a copy of twice the
 * room, where the old one stays behind. *cap is kept by it; {NULL, 0, 0} is an empty array.
 */
void *arena_grow(struct arena *arena, void *array, size_t n, size_t *cap, size_t size);

char *arena_strdup(struct arena *arena, const char *s);
char *arena_strndup(struct arena *arena, const char *s, size_t len);
void *arena_memdup(struct arena *arena, const void *p, size_t size);
char *arena_printf(struct arena *arena, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Bytes handed out so far; for tests and `show status`. */
size_t arena_used(const struct arena *arena);

#define arena_new_obj(arena, type) ((type *)arena_alloc((arena), sizeof(type)))
