/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See nft_memory.h. Contents are shared with the models that were made of them, and counted. Pure: it asks nobody. */
#include "gateway/nft/nft_memory.h"

#include <stdlib.h>
#include <string.h>

#include "gateway/base/arena.h"
#include "gateway/base/str.h"
#include "gateway/nft/nft.h"

struct nft_kept {
	struct arena *arena;
	struct nft_elem *elems;
	size_t n, users;
};

struct entry {
	char *family, *table, *set;
	uint64_t hash; /* of the set's declaration */
	struct nft_kept *kept;
};

static struct {
	uint32_t generation;
	struct entry *v;
	size_t n;
} memory;

static void release(struct nft_kept *k)
{
	if (--k->users == 0)
		arena_free(k->arena);
}

static void drop(size_t i)
{
	struct entry *e = &memory.v[i];

	free(e->family);
	free(e->table);
	free(e->set);
	release(e->kept);
	memory.v[i] = memory.v[--memory.n];
}

static struct entry *find(const struct nft_table *t, const struct nft_set *s)
{
	for (size_t i = 0; i < memory.n; i++) {
		struct entry *e = &memory.v[i];

		if (str_eq(e->set, s->name) && str_eq(e->table, t->name) && str_eq(e->family, t->family))
			return e;
	}
	return NULL;
}

static char *copy(const char *text)
{
	char *s = strdup(text);

	if (!s)
		abort();
	return s;
}

/* Without the texts, which only a wanted model has. */
static struct nft_kept *keep(const struct nft_set *s)
{
	struct arena *arena = arena_new();
	struct nft_kept *k = arena_new_obj(arena, struct nft_kept);
	const char *data = NULL;

	k->arena = arena;
	k->users = 1;
	k->n = s->n_elems;
	k->elems = arena_memdup(arena, s->elems, s->n_elems * sizeof(*s->elems));
	for (size_t i = 0; i < k->n; i++) {
		struct nft_elem *e = &k->elems[i];

		e->text = NULL;
		if (e->key_end)
			e->key_end = arena_memdup(arena, e->key_end, e->key_len);
		/* Neighbors often have the same. */
		if (e->data && !str_eq(e->data, data))
			data = arena_strdup(arena, e->data);
		if (e->data)
			e->data = data;
	}
	return k;
}

static bool is_large(const struct nft_set *s)
{
	return s->n_elems >= NFT_LARGE && !s->has_counters && !(s->spec && strstr(s->spec, "counter"));
}

static void set_entry(const struct nft_table *t, const struct nft_set *s, struct nft_kept *kept)
{
	struct entry *e = find(t, s);

	if (e) {
		release(e->kept);
	} else {
		memory.v = reallocarray(memory.v, memory.n + 1, sizeof(*memory.v));
		if (!memory.v)
			abort();
		e = &memory.v[memory.n++];
		*e = (struct entry){copy(t->family), copy(t->name), copy(s->name), 0, NULL};
	}
	e->hash = s->hash;
	e->kept = kept;
}

static void take_table(const struct nft_table *t)
{
	for (size_t i = 0; i < t->n_sets; i++) {
		struct nft_set *s = t->sets[i];

		if (!is_large(s))
			continue;
		if (s->kept)
			s->kept->users++;
		set_entry(t, s, s->kept ? s->kept : keep(s));
	}
}

bool nft_memory_attach(struct nft_set *s, const struct nft_table *t, uint32_t generation)
{
	struct entry *e = memory.generation == generation ? find(t, s) : NULL;

	if (!e || e->hash != s->hash)
		return false;
	s->elems = e->kept->elems;
	s->n_elems = e->kept->n;
	s->kept = e->kept;
	s->kept->users++;
	return true;
}

bool nft_memory_look(struct nft_set *s, const struct nft_table *t, uint32_t generation)
{
	const struct entry *e = memory.generation == generation ? find(t, s) : NULL;

	if (!e)
		return false;
	s->elems = e->kept->elems;
	s->n_elems = e->kept->n;
	return true;
}

void nft_memory_leave(const struct nft_model *m)
{
	for (size_t i = 0; i < m->n_tables; i++)
		for (size_t k = 0; k < m->tables[i]->n_sets; k++) {
			struct nft_set *s = m->tables[i]->sets[k];

			if (s->kept)
				release(s->kept);
			s->kept = NULL;
		}
}

void nft_memory_take(const struct nft_model *m, uint32_t generation)
{
	if (generation == memory.generation)
		return;
	nft_memory_forget();
	for (size_t i = 0; i < m->n_tables; i++)
		if (m->tables[i]->ours)
			take_table(m->tables[i]);
	memory.generation = generation;
}

void nft_memory_written(const struct nft_table *want)
{
	nft_memory_deleted(want);
	take_table(want);
}

void nft_memory_deleted(const struct nft_table *t)
{
	for (size_t i = memory.n; i-- > 0;)
		if (str_eq(memory.v[i].table, t->name) && str_eq(memory.v[i].family, t->family))
			drop(i);
}

void nft_memory_moved(uint32_t from, uint32_t to)
{
	if (memory.generation == from)
		memory.generation = to;
	else
		nft_memory_forget();
}

void nft_memory_forget(void)
{
	while (memory.n > 0)
		drop(memory.n - 1);
	memory.generation = 0;
}
