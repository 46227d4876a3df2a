/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See totals.h. */
#include "gateway/audit/totals.h"

#include <stdlib.h>
#include <string.h>

#include "gateway/base/str.h"

enum { CAP_MIN = 64 };

static struct total *slot(const struct totals *t, const char *key)
{
	size_t i = (size_t)str_hash(key) & (t->cap - 1);

	while (t->v[i].key && !str_eq(t->v[i].key, key))
		i = (i + 1) & (t->cap - 1);
	return &t->v[i];
}

static void grow(struct totals *t)
{
	struct totals old = *t;

	t->cap = old.cap ? 2 * old.cap : CAP_MIN;
	t->v = calloc(t->cap, sizeof(*t->v));
	if (!t->v)
		abort();
	for (size_t i = 0; i < old.cap; i++)
		if (old.v[i].key)
			*slot(t, old.v[i].key) = old.v[i];
	free(old.v);
}

struct total *totals_at(struct totals *t, const char *key)
{
	struct total *found;

	if (2 * (t->n + 1) > t->cap)
		grow(t);
	found = slot(t, key);
	if (found->key)
		return found;
	found->key = strdup(key);
	if (!found->key)
		abort();
	t->n++;
	return found;
}

void totals_free(struct totals *t)
{
	for (size_t i = 0; i < t->cap; i++)
		free(t->v[i].key);
	free(t->v);
	*t = (struct totals){0};
}

static int total_cmp(const void *a, const void *b)
{
	const struct total *x = *(struct total *const *)a, *y = *(struct total *const *)b;

	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	if (x->flows + x->denied != y->flows + y->denied)
		return x->flows + x->denied > y->flows + y->denied ? -1 : 1;
	return strcmp(x->key, y->key);
}

struct total **totals_sorted(const struct totals *t)
{
	struct total **sorted = calloc(t->n + 1, sizeof(struct total *));
	size_t n = 0;

	if (!sorted)
		abort();
	for (size_t i = 0; i < t->cap; i++)
		if (t->v[i].key)
			sorted[n++] = &t->v[i];
	qsort(sorted, n, sizeof(struct total *), total_cmp);
	return sorted;
}
