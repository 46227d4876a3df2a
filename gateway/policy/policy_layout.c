/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The layout: which level each rule has. Pure.
 *
 * A packet that is looked up while the table changes knows the rules of its chain as they were, and the elements of
 * maps as they are. Elements that come and go do no harm to it, as long as each rule stays on its level: who stands
 * before whom is the same. Where rules have to move, all maps are made anew under another number beside the old ones,
 * which go when nobody can be on his way through them any more. The kernel's table itself remembers the levels and the
 * number, in the set `layout`.
 */
#include <string.h>

#include "gateway/base/arena.h"
#include "gateway/base/buf.h"
#include "gateway/base/str.h"
#include "gateway/policy/policy_keys.h"
#include "gateway/policy/policy_rendering.h"
#include "gateway/policy/policy_table.h"

enum { LAYOUTS = 100, WORDS = 3 };

static uint32_t shape_number(const struct policy_model *m, const struct policy_shape *s)
{
	struct buf name = {0};
	uint64_t h;

	buf_printf(&name, "%u", (unsigned)s->hook);
	policy_shape_name(m, s, &name);
	h = str_hash(buf_str(&name));
	buf_free(&name);
	return (uint32_t)(h ^ h >> 32);
}

static void read_elem(const struct nft_elem *e, uint32_t ret[WORDS])
{
	memset(ret, 0, WORDS * sizeof(*ret));
	if (e->key_len == WORDS * sizeof(*ret))
		memcpy(ret, e->key, e->key_len);
}

/* What stands in the kernel: (seq, shape) -> level + 1, and the number itself as (0, 0). */
struct before {
	struct policy_table levels;
	bool known;
	bool doubtful; /* a change that was not finished left two of something */
	unsigned layout;
};

static void read_before(const struct rendering *r, struct before *b)
{
	const struct nft_table *t = r->m->have ? nft_model_table(r->m->have, "inet", NFT_TABLE_POLICY) : NULL;
	const struct nft_set *s = t ? nft_table_set(t, "layout") : NULL;

	for (size_t i = 0; s && i < s->n_elems; i++) {
		uint32_t e[WORDS], *at;

		read_elem(&s->elems[i], e);
		at = policy_table_at(&b->levels, (struct policy_key){e[0], e[1], 0});
		b->doubtful |= *at != 0;
		*at = e[2] + 1;
		if (e[0] == 0) {
			b->known = true;
			b->layout = e[2] > b->layout ? e[2] : b->layout;
		}
	}
}

static bool any_moves(const struct rendering *r, const struct before *b)
{
	for (size_t i = 0; i < r->c.n_parts; i++) {
		const struct policy_place_of_part *p = &r->c.parts[i];
		uint32_t level = policy_table_get(&b->levels,
			(struct policy_key){
				r->c.model->rules[p->rule].rule->seq, shape_number(r->c.model, &p->shape), 0});

		if (level > 0 && level != p->level + 1)
			return true;
	}
	return false;
}

/* Not by rendering_elem(): it is no part of what the policy is. */
static void put(struct rendering *r, struct nft_set *s, uint32_t a, uint32_t b, uint32_t c)
{
	uint32_t key[WORDS] = {a, b, c};

	nft_add_map_elem(r->m, s, key, sizeof(key), NULL, NULL, "%u . %u . %u", a, b, c);
}

void policy_layout(struct rendering *r)
{
	struct before b = {.levels = {.arena = r->m->arena}};
	struct nft_set *s =
		nft_add_set(r->m, r->t, "layout", "typeof ct mark . ct mark . ct mark;", "the levels of the rules");

	read_before(r, &b);
	r->layout = b.layout;
	if (b.known && (b.doubtful || any_moves(r, &b)))
		r->layout = 1 + b.layout % LAYOUTS;
	put(r, s, 0, 0, r->layout);
	for (size_t i = 0; i < r->c.n_parts; i++)
		put(r, s, r->c.model->rules[r->c.parts[i].rule].rule->seq,
			shape_number(r->c.model, &r->c.parts[i].shape), r->c.parts[i].level);
}
