/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Building and sealing nft models; see nft.h. Pure. Tables, sets and chains are allocated one by one, so that a
 * renderer may hold on to several while it fills them; elements, of which there are many, lie in one array per set.
 */
#include "gateway/nft/nft.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gateway/base/arena.h"
#include "gateway/base/buf.h"
#include "gateway/base/str.h"

static const char comment_prefix[] = "fw:";

__attribute__((format(printf, 2, 0))) static const char *format(struct arena *arena, const char *fmt, va_list ap)
{
	struct buf text = {0};
	const char *copy;

	buf_vprintf(&text, fmt, ap);
	copy = arena_strndup(arena, buf_str(&text), text.len);
	buf_free(&text);
	return copy;
}

struct nft_table *nft_add_table(struct nft_model *m, const char *family, const char *name)
{
	struct nft_table *t = arena_new_obj(m->arena, struct nft_table);

	t->family = arena_strdup(m->arena, family);
	t->name = arena_strdup(m->arena, name);
	t->ours = true;
	m->tables = arena_grow(m->arena, m->tables, m->n_tables, &m->cap_tables, sizeof(void *));
	m->tables[m->n_tables++] = t;
	return t;
}

struct nft_set *nft_add_set(
	struct nft_model *m, struct nft_table *t, const char *name, const char *spec, const char *object)
{
	struct nft_set *s = arena_new_obj(m->arena, struct nft_set);

	s->name = arena_strdup(m->arena, name);
	s->spec = spec ? arena_strdup(m->arena, spec) : NULL;
	s->object = object ? arena_strdup(m->arena, object) : NULL;
	s->hash = spec ? str_hash(spec) : 0;
	t->sets = arena_grow(m->arena, t->sets, t->n_sets, &t->cap_sets, sizeof(void *));
	t->sets[t->n_sets++] = s;
	return s;
}

struct nft_chain *nft_add_chain(struct nft_model *m, struct nft_table *t, const char *name, const char *hook)
{
	struct nft_chain *c = arena_new_obj(m->arena, struct nft_chain);

	c->name = arena_strdup(m->arena, name);
	c->hook = hook ? arena_strdup(m->arena, hook) : NULL;
	c->hash = str_hash(hook ? hook : "");
	c->drop = hook && strstr(hook, "policy drop");
	t->chains = arena_grow(m->arena, t->chains, t->n_chains, &t->cap_chains, sizeof(void *));
	t->chains[t->n_chains++] = c;
	return c;
}

static struct nft_rule *add_rule(struct nft_model *m, struct nft_chain *c)
{
	c->rules = arena_grow(m->arena, c->rules, c->n_rules, &c->cap_rules, sizeof(*c->rules));
	return &c->rules[c->n_rules++];
}

void nft_add_rule(struct nft_model *m, struct nft_chain *c, const char *fmt, ...)
{
	struct nft_rule *r = add_rule(m, c);
	va_list ap;

	va_start(ap, fmt);
	r->text = format(m->arena, fmt, ap);
	va_end(ap);
	r->hash = str_hash(r->text);
}

struct nft_rule *nft_add_observed_rule(struct nft_model *m, struct nft_chain *c, uint64_t hash)
{
	struct nft_rule *r = add_rule(m, c);

	r->hash = hash;
	return r;
}

struct nft_elem *nft_add_observed_elem(struct nft_model *m, struct nft_set *s, const void *key, size_t len)
{
	struct nft_elem *e;

	s->elems = arena_grow(m->arena, s->elems, s->n_elems, &s->cap_elems, sizeof(*s->elems));
	e = &s->elems[s->n_elems++];
	if (len > NFT_KEY_MAX)
		abort();
	memcpy(e->key, key, len);
	e->key_len = (uint8_t)len;
	return e;
}

void nft_add_elem(struct nft_model *m, struct nft_set *s, const void *key, size_t len, const char *fmt, ...)
{
	struct nft_elem *e = nft_add_observed_elem(m, s, key, len);
	va_list ap;

	va_start(ap, fmt);
	e->text = format(m->arena, fmt, ap);
	va_end(ap);
}

void nft_add_map_elem(struct nft_model *m, struct nft_set *s, const void *key, size_t len, const void *key_end,
	const char *data, const char *fmt, ...)
{
	struct nft_elem *e = nft_add_observed_elem(m, s, key, len);
	va_list ap;

	e->key_end = key_end ? arena_memdup(m->arena, key_end, len) : NULL;
	e->data = data ? arena_strdup(m->arena, data) : NULL;
	va_start(ap, fmt);
	e->text = format(m->arena, fmt, ap);
	va_end(ap);
}

struct nft_counter *nft_add_counter(struct nft_model *m, struct nft_table *t, const char *name)
{
	t->counters = arena_grow(m->arena, t->counters, t->n_counters, &t->cap_counters, sizeof(*t->counters));
	t->counters[t->n_counters].name = arena_strdup(m->arena, name);
	return &t->counters[t->n_counters++];
}

/* --- specs --- */

bool nft_spec_is_map(const char *spec)
{
	return memchr(spec, ':', strcspn(spec, ";")) != NULL;
}

bool nft_spec_has_intervals(const char *spec)
{
	return strstr(spec, "flags interval") != NULL;
}

bool nft_spec_is_concat(const char *spec)
{
	const char *dot = strstr(spec, " . ");

	return dot && (size_t)(dot - spec) < strcspn(spec, ":;");
}

/* --- sealing and finding --- */

int nft_elem_cmp(const struct nft_elem *a, const struct nft_elem *b)
{
	int c = nft_key_cmp(a, b);

	if (c == 0)
		c = (a->key_end != NULL) - (b->key_end != NULL);
	if (c == 0 && a->key_end)
		c = memcmp(a->key_end, b->key_end, a->key_len);
	return c ? c : str_cmp(a->data, b->data);
}

int nft_key_cmp(const struct nft_elem *a, const struct nft_elem *b)
{
	int c = memcmp(a->key, b->key, a->key_len < b->key_len ? a->key_len : b->key_len);

	return c ? c : (int)a->key_len - (int)b->key_len;
}

/* The end of a range stands before what begins there. */
static int elem_cmp(const void *a, const void *b)
{
	const struct nft_elem *x = a, *y = b;
	int c = nft_key_cmp(x, y);

	return c ? c : (int)y->is_end - (int)x->is_end;
}

static int counter_cmp(const void *a, const void *b)
{
	return strcmp(((const struct nft_counter *)a)->name, ((const struct nft_counter *)b)->name);
}

static int set_cmp(const void *pa, const void *pb)
{
	const struct nft_set *const *a = pa, *const *b = pb;

	return strcmp((*a)->name, (*b)->name);
}

static int chain_cmp(const void *pa, const void *pb)
{
	const struct nft_chain *const *a = pa, *const *b = pb;

	return strcmp((*a)->name, (*b)->name);
}

static int table_cmp(const void *pa, const void *pb)
{
	const struct nft_table *const *a = pa, *const *b = pb;
	int c = strcmp((*a)->family, (*b)->family);

	return c ? c : strcmp((*a)->name, (*b)->name);
}

static void sort(void *array, size_t n, size_t size, int (*cmp)(const void *, const void *))
{
	if (n > 1)
		qsort(array, n, size, cmp);
}

/* The key before this one, in arena. */
static const uint8_t *key_before(const uint8_t *key, size_t len, struct arena *arena)
{
	uint8_t *before = arena_memdup(arena, key, len);

	for (size_t i = len; i-- > 0;)
		if (before[i]-- != 0)
			break;
	return before;
}

/* The kernel lists where ranges of one part begin and where they end; a range to the end of all has no end. */
static void join_ranges(struct nft_model *m, struct nft_set *s)
{
	struct nft_elem *open = NULL;
	size_t kept = 0;

	for (size_t i = 0; i < s->n_elems; i++) {
		const struct nft_elem *e = &s->elems[i];

		if (open)
			open->key_end = key_before(e->key, e->key_len, m->arena);
		open = NULL;
		if (e->is_end)
			continue;
		s->elems[kept] = *e;
		open = &s->elems[kept++];
	}
	if (open) {
		uint8_t *last = arena_alloc(m->arena, open->key_len);

		memset(last, 0xff, open->key_len);
		open->key_end = last;
	}
	s->n_elems = kept;
}

static void seal_set(struct nft_model *m, struct nft_set *s)
{
	size_t kept = 0;

	if (s->kept)
		return; /* it was sealed when it was remembered */
	sort(s->elems, s->n_elems, sizeof(*s->elems), elem_cmp);
	if (s->has_ends)
		join_ranges(m, s);
	for (size_t i = 0; i < s->n_elems; i++)
		if (kept == 0 || nft_key_cmp(&s->elems[kept - 1], &s->elems[i]) != 0)
			s->elems[kept++] = s->elems[i];
	s->n_elems = kept;
}

void nft_model_seal(struct nft_model *m)
{
	sort(m->tables, m->n_tables, sizeof(void *), table_cmp);
	for (size_t i = 0; i < m->n_tables; i++) {
		struct nft_table *t = m->tables[i];

		sort(t->sets, t->n_sets, sizeof(void *), set_cmp);
		sort(t->counters, t->n_counters, sizeof(*t->counters), counter_cmp);
		t->by_name = arena_memdup(m->arena, t->chains, t->n_chains * sizeof(void *));
		sort(t->by_name, t->n_chains, sizeof(void *), chain_cmp);
		for (size_t k = 0; k < t->n_sets; k++)
			seal_set(m, t->sets[k]);
	}
}

const struct nft_table *nft_model_table(const struct nft_model *m, const char *family, const char *name)
{
	for (size_t i = 0; i < m->n_tables; i++)
		if (str_eq(m->tables[i]->family, family) && str_eq(m->tables[i]->name, name))
			return m->tables[i];
	return NULL;
}

const struct nft_set *nft_table_set(const struct nft_table *t, const char *name)
{
	for (size_t i = 0; i < t->n_sets; i++)
		if (str_eq(t->sets[i]->name, name))
			return t->sets[i];
	return NULL;
}

const struct nft_chain *nft_table_chain(const struct nft_table *t, const char *name)
{
	struct nft_chain key = {.name = name}, *const pkey = &key, **found;

	if (t->by_name) {
		found = bsearch(&pkey, t->by_name, t->n_chains, sizeof(void *), chain_cmp);
		return found ? *found : NULL;
	}
	for (size_t i = 0; i < t->n_chains; i++)
		if (str_eq(t->chains[i]->name, name))
			return t->chains[i];
	return NULL;
}

const struct nft_counter *nft_table_counter(const struct nft_table *t, const char *name)
{
	struct nft_counter key = {.name = name};

	return t->n_counters ? bsearch(&key, t->counters, t->n_counters, sizeof(key), counter_cmp) : NULL;
}

/* --- keys --- */

void nft_key_ifname(const char *ifname, uint8_t ret[16])
{
	size_t len = strnlen(ifname, 15);

	memset(ret, 0, 16);
	memcpy(ret, ifname, len);
}

void nft_key_u24(uint32_t value, uint8_t ret[4])
{
	ret[0] = (uint8_t)(value >> 16);
	ret[1] = (uint8_t)(value >> 8);
	ret[2] = (uint8_t)value;
	ret[3] = 0; /* the part is three bytes long, its register four */
}

/* --- comments --- */

const char *nft_comment(uint64_t hash, char ret[NFT_COMMENT_MAX])
{
	(void)snprintf(ret, NFT_COMMENT_MAX, "%s%016" PRIx64, comment_prefix, hash);
	return ret;
}

uint64_t nft_comment_hash(const char *text)
{
	size_t prefix = sizeof(comment_prefix) - 1;
	uint64_t hash = 0;

	if (!text || !str_starts(text, comment_prefix) || strlen(text) != prefix + 16)
		return 0;
	for (const char *p = text + prefix; *p; p++) {
		unsigned digit;

		if (*p >= '0' && *p <= '9')
			digit = (unsigned)(*p - '0');
		else if (*p >= 'a' && *p <= 'f')
			digit = (unsigned)(*p - 'a') + 10;
		else
			return 0;
		hash = hash << 4 | digit;
	}
	return hash;
}

uint64_t nft_table_hash(const struct nft_table *t)
{
	struct buf text = {0};
	uint64_t hash;

	buf_printf(&text, "%s %s", t->family, t->name);
	hash = str_hash(buf_str(&text));
	buf_free(&text);
	return hash;
}
