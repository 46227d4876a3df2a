/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See flow_table.h. Open addressing, linear probing, at most half full; a removal closes its gap. */
#include "gateway/audit/flow_table.h"

#include <stdlib.h>
#include <string.h>

enum { CAP_MIN = 1024 };

void flow_table_free(struct flow_table *t)
{
	free(t->v);
	*t = (struct flow_table){0};
}

/* The halves of a 128-bit product, folded: every bit of both depends on every bit of the inputs. */
static uint64_t fold(uint64_t a, uint64_t b)
{
	__uint128_t p = (__uint128_t)a * b;

	return (uint64_t)p ^ (uint64_t)(p >> 64);
}

uint64_t flow_table_key(const struct flow_table *t, const struct ct_event *ct)
{
	const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15), other = UINT64_C(0xd6e8feb86659fd93);
	uint64_t w[6], h = t->seed ^ odd;

	memcpy(w, ct->orig.src, 16);
	memcpy(w + 2, ct->orig.dst, 16);
	w[4] = (uint64_t)ct->orig.sport << 48 | (uint64_t)ct->orig.dport << 32 | (uint32_t)ct->orig.proto << 24 |
		(uint32_t)ct->orig.family << 16 | ct->zone;
	w[5] = ct->id;
	for (size_t i = 0; i < 6; i += 2)
		h = fold(h ^ w[i] ^ other, w[i + 1] ^ t->seed ^ odd) + h;
	return h ? h : 1;
}

static size_t home(const struct flow_table *t, uint64_t key)
{
	return (size_t)(key ^ key >> 32) & (t->cap - 1);
}

static struct flow_entry *slot(const struct flow_table *t, uint64_t key)
{
	size_t i = home(t, key);

	while (t->v[i].key != 0 && t->v[i].key != key)
		i = (i + 1) & (t->cap - 1);
	return &t->v[i];
}

struct flow_entry *flow_table_find(const struct flow_table *t, uint64_t key)
{
	struct flow_entry *e = t->cap ? slot(t, key) : NULL;

	return e && e->key ? e : NULL;
}

/* To half of its places at most, and back when there is much too much room. */
static void resize(struct flow_table *t, size_t cap)
{
	struct flow_table old = *t;

	t->cap = cap;
	t->v = calloc(cap, sizeof(*t->v));
	if (!t->v)
		abort();
	for (size_t i = 0; i < old.cap; i++)
		if (old.v[i].key)
			*slot(t, old.v[i].key) = old.v[i];
	free(old.v);
}

struct flow_entry *flow_table_add(struct flow_table *t, uint64_t key, bool *ret_new)
{
	struct flow_entry *e;

	if (2 * (t->n + 1) > t->cap)
		resize(t, t->cap ? 2 * t->cap : CAP_MIN);
	e = slot(t, key);
	*ret_new = e->key == 0;
	if (*ret_new) {
		*e = (struct flow_entry){.key = key, .round = t->round};
		t->n++;
	}
	return e;
}

void flow_table_remove(struct flow_table *t, struct flow_entry *entry)
{
	size_t mask = t->cap - 1, hole = (size_t)(entry - t->v);

	for (size_t i = (hole + 1) & mask; t->v[i].key; i = (i + 1) & mask) {
		size_t at = home(t, t->v[i].key);

		/* May it move into the hole, or does its own place lie between the two? */
		if (((i - at) & mask) < ((i - hole) & mask))
			continue;
		t->v[hole] = t->v[i];
		hole = i;
	}
	t->v[hole] = (struct flow_entry){0};
	t->n--;
	if (t->cap > CAP_MIN && t->n < t->cap / 16)
		resize(t, t->cap / 4);
}

void flow_table_begin(struct flow_table *t)
{
	t->round++;
	for (size_t i = 0; i < t->cap; i++)
		t->v[i].stale = false;
}

void flow_table_touch(struct flow_table *t, struct flow_entry *entry)
{
	entry->round = t->round;
	entry->stale = false;
}

size_t flow_table_mark_stale(struct flow_table *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->cap; i++) {
		t->v[i].stale = t->v[i].key && t->v[i].round != t->round;
		n += t->v[i].stale;
	}
	return n;
}

/* Into a new array: in the old one a removal would move others about. */
size_t flow_table_drop_stale(struct flow_table *t, void (*fn)(const struct flow_entry *entry, void *arg), void *arg)
{
	size_t n = 0;

	for (size_t i = 0; i < t->cap; i++) {
		if (!t->v[i].key || !t->v[i].stale)
			continue;
		fn(&t->v[i], arg);
		t->v[i].key = 0;
		n++;
	}
	t->n -= n;
	if (n > 0)
		resize(t, t->cap);
	return n;
}
