/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See policy_table.h: open addressing, at most half full. */
#include "gateway/policy/policy_table.h"

#include "gateway/base/arena.h"

enum { CAP_MIN = 64 };

static size_t hash(struct policy_key key)
{
	uint64_t h = key.a * UINT64_C(0x9e3779b97f4a7c15);

	h = (h ^ h >> 32 ^ key.b) * UINT64_C(0xbf58476d1ce4e5b9);
	h = (h ^ h >> 29 ^ key.c) * UINT64_C(0x94d049bb133111eb);
	return (size_t)(h ^ h >> 32);
}

static struct policy_slot *find(struct policy_slot *slots, size_t cap, struct policy_key key)
{
	for (size_t i = hash(key) & (cap - 1);; i = (i + 1) & (cap - 1)) {
		struct policy_slot *s = &slots[i];

		if (s->value == 0 || (s->key.a == key.a && s->key.b == key.b && s->key.c == key.c))
			return s;
	}
}

static void grow(struct policy_table *t)
{
	size_t cap = t->cap ? 2 * t->cap : CAP_MIN;
	struct policy_slot *slots = arena_array(t->arena, cap, sizeof(*slots));

	for (size_t i = 0; i < t->cap; i++)
		if (t->slots[i].value)
			*find(slots, cap, t->slots[i].key) = t->slots[i];
	t->slots = slots;
	t->cap = cap;
}

uint32_t *policy_table_at(struct policy_table *t, struct policy_key key)
{
	struct policy_slot *s;

	if (2 * (t->n + 1) > t->cap)
		grow(t);
	s = find(t->slots, t->cap, key);
	if (s->value == 0) {
		s->key = key;
		t->n++;
	}
	return &s->value;
}

uint32_t policy_table_get(const struct policy_table *t, struct policy_key key)
{
	return t->cap ? find(t->slots, t->cap, key)->value : 0;
}
