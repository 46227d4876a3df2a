/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A table changed in place; see nft.h. Pure. A packet meets the elements of sets as they are at that moment, and rules
 * as they were when it entered the chain; a swap of the whole table therefore has packets that find neither. Here what
 * stays is not touched, and all the rest is one transaction.
 *
 * For tables with named counters: others are small and swapped.
 */
#include <stdlib.h>
#include <string.h>

#include "gateway/base/buf.h"
#include "gateway/base/cleanup.h"
#include "gateway/nft/nft.h"

/* What an element is called is made of its key, where it is one that goes. */
static bool all_have_words(const struct nft_set *want, const struct nft_set *have)
{
	struct buf text = {0};
	bool ok = true;

	for (size_t i = 0; ok && i < have->n_elems; i++) {
		buf_reset(&text);
		ok = nft_elem_print(want->spec, &have->elems[i], &text);
	}
	buf_free(&text);
	return ok;
}

bool nft_can_change(const struct nft_table *want, const struct nft_table *have)
{
	if (want->n_counters == 0 || !have->ours || have->dormant)
		return false;
	for (size_t i = 0; i < have->n_sets; i++) {
		const struct nft_set *w = nft_table_set(want, have->sets[i]->name);

		if (w && (w->hash != have->sets[i]->hash || !all_have_words(w, have->sets[i])))
			return false;
	}
	for (size_t i = 0; i < have->n_chains; i++) {
		const struct nft_chain *h = have->chains[i], *w = nft_table_chain(want, h->name);

		if (w && (w->hash != h->hash || w->drop != h->drop))
			return false;
	}
	return true;
}

/* --- the difference, told to whoever wants it --- */

struct teller {
	const struct nft_table *want, *have;
	enum nft_change phase;
	struct buf *out; /* NULL: only counted */
	size_t chains, sets, elems, counters;
};

static void tell_counters(struct teller *t)
{
	bool add = t->phase == NFT_CHANGE_COMES;
	const struct nft_table *from = add ? t->want : t->have, *other = add ? t->have : t->want;

	for (size_t i = 0; i < from->n_counters; i++) {
		if (nft_table_counter(other, from->counters[i].name))
			continue;
		t->counters++;
		if (t->out)
			buf_printf(t->out, "%s counter %s %s %s\n", add ? "add" : "delete", from->family, from->name,
				from->counters[i].name);
	}
}

/* --- chains --- */

static void tell_chain(struct teller *t, const char *verb, const struct nft_chain *c)
{
	if (t->out)
		buf_printf(t->out, "%s chain %s %s %s\n", verb, t->want->family, t->want->name, c->name);
}

static void tell_new_chain(struct teller *t, const struct nft_chain *c)
{
	char comment[NFT_COMMENT_MAX];

	t->chains++;
	if (t->out)
		buf_printf(t->out, "add chain %s %s %s { %s comment \"%s\"; }\n", t->want->family, t->want->name,
			c->name, c->hook ? c->hook : "", nft_comment(c->hash, comment));
}

static void tell_rules(struct teller *t, const struct nft_chain *c)
{
	char comment[NFT_COMMENT_MAX];

	for (size_t i = 0; t->out && i < c->n_rules; i++)
		buf_printf(t->out, "add rule %s %s %s %s comment \"%s\"\n", t->want->family, t->want->name, c->name,
			c->rules[i].text, nft_comment(c->rules[i].hash, comment));
}

static bool is_new(const struct teller *t, const struct nft_chain *c)
{
	return !nft_table_chain(t->have, c->name);
}

/* Is there already, with other rules, and this is the moment for it. */
static bool changes(const struct teller *t, const struct nft_chain *want)
{
	const struct nft_chain *h;

	if (t->phase != (want->last ? NFT_CHANGE_GOES : NFT_CHANGE_SWITCHES))
		return false;
	h = nft_table_chain(t->have, want->name);
	return h && !nft_same_rules(want, h);
}

/* Chains stand before whoever leads to them. */
static void tell_chains(struct teller *t)
{
	const struct nft_table *w = t->want;
	struct nft_chain **told = calloc(w->n_chains + 1, sizeof(void *));
	size_t n = 0;

	if (!told)
		abort();
	for (size_t i = 0; i < w->n_chains && t->phase == NFT_CHANGE_COMES; i++)
		if (is_new(t, w->chains[i])) {
			tell_new_chain(t, w->chains[i]);
			told[n++] = w->chains[i];
		}
	for (size_t i = 0; i < w->n_chains; i++)
		if (changes(t, w->chains[i])) {
			t->chains++;
			tell_chain(t, "flush", w->chains[i]);
			told[n++] = w->chains[i];
		}
	for (size_t i = 0; i < n; i++)
		tell_rules(t, told[i]);
	free(told);
}

/* --- elements --- */

/* Parts are words of four bytes. */
static bool ranges_meet(const struct nft_elem *a, const struct nft_elem *b)
{
	for (size_t at = 0; at + 4 <= a->key_len; at += 4)
		if (memcmp(a->key + at, b->key_end + at, 4) > 0 || memcmp(b->key + at, a->key_end + at, 4) > 0)
			return false;
	return true;
}

static bool has_key(const struct nft_elem *v, size_t n, const struct nft_elem *key)
{
	size_t lo = 0, hi = n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (nft_key_cmp(&v[mid], key) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < n && nft_key_cmp(&v[lo], key) == 0;
}

/* Has it to go so that what comes can be there? A key has one datum, and ranges do not overlap. */
static bool is_in_the_way(
	const struct nft_set *s, const struct nft_elem *gone, const struct nft_elem *more, size_t n_more)
{
	enum { PATIENCE = 1000 };

	if (n_more == 0)
		return false;
	if (!nft_spec_has_intervals(s->spec))
		return has_key(more, n_more, gone);
	/* Of one part: an element is not in two sets, so nothing is lost with it. */
	if (!nft_spec_is_concat(s->spec) || n_more > PATIENCE || !gone->key_end)
		return true;
	for (size_t i = 0; i < n_more; i++)
		if (ranges_meet(gone, &more[i]))
			return true;
	return false;
}

static struct nft_elem *elems_of(const struct nft_set *a, const struct nft_set *b, size_t *ret_n)
{
	struct nft_elem *v = reallocarray(NULL, a->n_elems + 1, sizeof(*v));

	if (!v)
		abort();
	*ret_n = nft_elems_without(a, b, v);
	return v;
}

static void tell_elems(struct teller *t, const char *verb, const struct nft_set *s, const struct nft_elem *v, size_t n)
{
	t->elems += n;
	if (t->out && n > 0)
		nft_elem_command(verb, t->want, s, v, n, t->out);
}

static void tell_set_elems(struct teller *t, const struct nft_set *w, const struct nft_set *h)
{
	static const struct nft_set empty;
	size_t n_more, n_gone, n = 0;
	_cleanup_free_ struct nft_elem *more = elems_of(w, h ? h : &empty, &n_more);
	_cleanup_free_ struct nft_elem *gone = elems_of(h ? h : &empty, w, &n_gone);
	bool comes = t->phase == NFT_CHANGE_COMES;

	if (h && w->last)
		return; /* nft_plan.c has steps for it */
	for (size_t i = 0; i < n_gone; i++)
		if (is_in_the_way(w, &gone[i], more, n_more) == comes)
			gone[n++] = gone[i];
	tell_elems(t, "delete", w, gone, n);
	if (comes)
		tell_elems(t, "add", w, more, n_more);
}

/* --- sets --- */

static void tell_new_set(struct teller *t, const struct nft_set *s)
{
	char comment[NFT_COMMENT_MAX];

	t->sets++;
	if (t->out)
		buf_printf(t->out, "add %s %s %s %s { %s%s comment \"%s\"; }\n",
			nft_spec_is_map(s->spec) ? "map" : "set", t->want->family, t->want->name, s->name, s->spec,
			strchr(s->spec, ';') ? "" : ";", nft_comment(s->hash, comment));
}

/* Rules use sets and lead to chains, and so do the elements of maps: first these go, and then what nothing leads to. */
static void tell_gone(struct teller *t)
{
	for (size_t i = 0; i < t->have->n_chains; i++)
		if (!nft_table_chain(t->want, t->have->chains[i]->name)) {
			t->chains++;
			tell_chain(t, "flush", t->have->chains[i]);
		}
	for (size_t i = 0; i < t->have->n_sets; i++) {
		if (nft_table_set(t->want, t->have->sets[i]->name))
			continue;
		t->sets++;
		if (t->out)
			buf_printf(t->out, "delete set %s %s %s\n", t->want->family, t->want->name,
				t->have->sets[i]->name);
	}
	for (size_t i = 0; i < t->have->n_chains; i++)
		if (!nft_table_chain(t->want, t->have->chains[i]->name))
			tell_chain(t, "delete", t->have->chains[i]);
}

static void tell_sets(struct teller *t)
{
	bool comes = t->phase == NFT_CHANGE_COMES;

	for (size_t i = 0; i < t->want->n_sets; i++) {
		const struct nft_set *h = nft_table_set(t->have, t->want->sets[i]->name);

		if (h || comes)
			tell_set_elems(t, t->want->sets[i], h);
	}
}

static void tell(struct teller *t)
{
	if (t->phase == NFT_CHANGE_SWITCHES) {
		tell_chains(t);
		return;
	}
	if (t->phase == NFT_CHANGE_COMES) {
		tell_counters(t);
		for (size_t i = 0; i < t->want->n_sets; i++)
			if (!nft_table_set(t->have, t->want->sets[i]->name))
				tell_new_set(t, t->want->sets[i]);
	}
	tell_chains(t);
	tell_sets(t);
	if (t->phase == NFT_CHANGE_GOES) {
		tell_gone(t);
		tell_counters(t);
	}
}

void nft_change_print(
	const struct nft_table *want, const struct nft_table *have, enum nft_change phase, struct buf *out)
{
	struct teller t = {.want = want, .have = have, .phase = phase, .out = out};

	tell(&t);
}

static void summarize(size_t n, const char *what, struct buf *out)
{
	if (n > 0)
		buf_printf(out, "%s%zu %s%s", out->len ? ", " : "", n, what, n == 1 ? "" : "s");
}

void nft_change_summary(
	const struct nft_table *want, const struct nft_table *have, enum nft_change phase, struct buf *out)
{
	struct teller t = {.want = want, .have = have, .phase = phase};

	tell(&t);
	summarize(t.chains, "chain", out);
	summarize(t.sets, "set", out);
	summarize(t.elems, "element", out);
	summarize(t.counters, "counter", out);
}
