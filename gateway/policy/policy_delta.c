/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See policy_delta.h. Each changed prefix opens a window: its addresses, and all old ranges that meet them or touch
 * them (what is beside it may become one range with it). Within a window the classes are made anew, and compared.
 */
#include "gateway/policy/policy_delta.h"

#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "gateway/base/arena.h"
#include "gateway/base/str.h"
#include "gateway/policy/policy_class.h"

struct window {
	u128 low, high;
};

static bool is_same(const struct ip_prefix *a, const struct ip_prefix *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

bool policy_delta_between(const struct ip_prefix *a, size_t n_a, const struct ip_prefix *b, size_t n_b,
	struct arena *arena, const struct ip_prefix **ret, size_t *ret_n)
{
	size_t n = n_a < n_b ? n_a : n_b, front = 0, back = 0;
	struct ip_prefix *v;

	while (front < n && is_same(&a[front], &b[front]))
		front++;
	while (back < n - front && is_same(&a[n_a - 1 - back], &b[n_b - 1 - back]))
		back++;
	n_a -= front + back;
	n_b -= front + back;
	if (n_a + n_b > POLICY_DELTA_MAX)
		return false;
	v = arena_array(arena, n_a + n_b + 1, sizeof(*v));
	memcpy(v, a + front, n_a * sizeof(*v));
	memcpy(v + n_a, b + front, n_b * sizeof(*v));
	*ret = v;
	*ret_n = n_a + n_b;
	return true;
}

/* --- keys --- */

static u128 number_of(const uint8_t *bytes, size_t len)
{
	u128 n = 0;

	for (size_t i = 0; i < len; i++)
		n = n << 8 | bytes[i];
	return n;
}

static void bytes_of(u128 n, size_t len, uint8_t *ret)
{
	for (size_t i = len; i-- > 0; n >>= 8)
		ret[i] = (uint8_t)n;
}

static u128 low_of(const struct nft_elem *e)
{
	return number_of(e->key, e->key_len);
}

static u128 high_of(const struct nft_elem *e)
{
	return number_of(e->key_end ? e->key_end : e->key, e->key_len);
}

/* The first element that ends at, or behind, this address. */
static size_t first_at(const struct nft_set *s, u128 at)
{
	size_t low = 0, high = s->n_elems;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (high_of(&s->elems[mid]) < at)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* --- windows --- */

static u128 last_address(size_t f)
{
	return f ? ~(u128)0 : (u128)UINT32_MAX;
}

static struct window window_of(const struct ip_prefix *p, size_t f, const struct nft_set *have)
{
	size_t len = f ? 16 : 4;
	u128 low = number_of(p->addr.bytes, len), size = p->len == 0 ? 0 : (u128)1 << (8 * len - p->len);
	struct window w = {low, p->len == 0 ? last_address(f) : low + (size - 1)};
	u128 before = low == 0 ? 0 : low - 1, behind = w.high == last_address(f) ? w.high : w.high + 1;

	for (size_t i = first_at(have, before); i < have->n_elems && low_of(&have->elems[i]) <= behind; i++) {
		if (low_of(&have->elems[i]) < w.low)
			w.low = low_of(&have->elems[i]);
		if (high_of(&have->elems[i]) > w.high)
			w.high = high_of(&have->elems[i]);
	}
	return w;
}

static int window_cmp(const void *a, const void *b)
{
	const struct window *x = a, *y = b;

	return x->low < y->low ? -1 : x->low > y->low;
}

static size_t unite(struct window *v, size_t n)
{
	size_t kept = 0;

	if (n > 1)
		qsort(v, n, sizeof(*v), window_cmp);
	for (size_t i = 0; i < n; i++) {
		if (kept > 0 && (v[i].low <= v[kept - 1].high || v[i].low - 1 == v[kept - 1].high)) {
			if (v[i].high > v[kept - 1].high)
				v[kept - 1].high = v[i].high;
			continue;
		}
		v[kept++] = v[i];
	}
	return kept;
}

/* --- one window --- */

struct making {
	const struct policy_model *m;
	struct arena *arena;
	struct policy_delta *d;
	size_t cap_more, cap_less;
};

static void add(struct making *mk, bool more, const struct nft_elem *e)
{
	struct policy_delta *d = mk->d;

	if (more) {
		d->more = arena_grow(mk->arena, d->more, d->n_more, &mk->cap_more, sizeof(*d->more));
		d->more[d->n_more++] = *e;
	} else {
		d->less = arena_grow(mk->arena, d->less, d->n_less, &mk->cap_less, sizeof(*d->less));
		d->less[d->n_less++] = *e;
	}
}

static struct nft_elem elem_of(struct making *mk, size_t f, u128 low, u128 high, uint32_t class_id)
{
	struct nft_elem e = {.key_len = f ? 16 : 4};
	uint8_t *end = arena_alloc(mk->arena, e.key_len);

	bytes_of(low, e.key_len, e.key);
	bytes_of(high, e.key_len, end);
	e.key_end = end;
	e.data = arena_printf(mk->arena, "%u", class_id);
	return e;
}

static struct nft_elem atom_elem(struct making *mk, const struct policy_classes *c, size_t f, size_t i)
{
	if (f == 0)
		return elem_of(mk, f, c->atoms4[i].low, c->atoms4[i].high, c->atoms4[i].class_id);
	return elem_of(mk, f, number_of(c->atoms6[i].low, 16), number_of(c->atoms6[i].high, 16), c->atoms6[i].class_id);
}

static void compare(struct making *mk, size_t f, const struct window *w, const struct nft_set *have)
{
	struct policy_classes now;
	size_t i = first_at(have, w->low), k = 0, n;

	policy_classes_within(mk->m->addrs, mk->m->n_addrs, f ? AF_INET6 : AF_INET, w->low, w->high, mk->arena, &now);
	n = f ? now.n_atoms6 : now.n_atoms4;
	while (k < n || (i < have->n_elems && low_of(&have->elems[i]) <= w->high)) {
		bool has_old = i < have->n_elems && low_of(&have->elems[i]) <= w->high;
		struct nft_elem atom = {0};
		int c = has_old ? -1 : 1;

		if (k < n) {
			atom = atom_elem(mk, &now, f, k);
			if (has_old)
				c = nft_key_cmp(&have->elems[i], &atom);
		}
		if (c == 0 && nft_elem_cmp(&have->elems[i], &atom) == 0) {
			i++;
			k++;
			continue;
		}
		if (c <= 0)
			add(mk, false, &have->elems[i++]);
		if (c >= 0) {
			add(mk, true, &atom);
			k++;
		}
	}
}

/* --- what has to be said behind the map --- */

static void put(struct policy_delta *d, const struct nft_elem *e, size_t *cap, struct arena *arena)
{
	d->over = arena_grow(arena, d->over, d->n_over, cap, sizeof(*d->over));
	d->over[d->n_over++] = *e;
}

/* Of a range that goes, what nothing new covers: of no class. */
static void put_bare(struct making *mk, size_t f, const struct nft_elem *gone, size_t *cap)
{
	u128 at = low_of(gone), end = high_of(gone);
	const struct policy_delta *d = mk->d;
	struct nft_elem bare;

	for (size_t i = 0; i < d->n_more; i++) {
		u128 low = low_of(&d->more[i]), high = high_of(&d->more[i]);

		if (high < at || low > end)
			continue;
		if (low > at) {
			bare = elem_of(mk, f, at, low - 1, 0);
			put(mk->d, &bare, cap, mk->arena);
		}
		if (high >= end)
			return;
		at = high + 1;
	}
	bare = elem_of(mk, f, at, end, 0);
	put(mk->d, &bare, cap, mk->arena);
}

static int elem_cmp(const void *a, const void *b)
{
	return nft_key_cmp(a, b);
}

static void make_over(struct making *mk, size_t f)
{
	struct policy_delta *d = mk->d;
	size_t cap = 0;

	for (size_t i = 0; i < d->n_less; i++)
		put_bare(mk, f, &d->less[i], &cap);
	for (size_t i = 0; i < d->n_more; i++)
		put(d, &d->more[i], &cap, mk->arena);
	if (d->n_over > 1)
		qsort(d->over, d->n_over, sizeof(*d->over), elem_cmp);
}

/* --- classes that come or go --- */

static bool has_data(const struct nft_elem *v, size_t n, const char *data)
{
	for (size_t i = 0; i < n; i++)
		if (str_eq(v[i].data, data))
			return true;
	return false;
}

/* Elements of this class in all maps, but for those that go. */
static bool is_left(
	const struct nft_set *const have[2], const struct policy_delta delta[2], const struct nft_elem *gone, size_t f)
{
	size_t left = 0, going = 0;

	if (has_data(delta[0].more, delta[0].n_more, gone->data) ||
		has_data(delta[1].more, delta[1].n_more, gone->data))
		return true;
	for (size_t i = 0; i < delta[f].n_less; i++)
		going += str_eq(delta[f].less[i].data, gone->data);
	for (size_t i = 0; i < have[f]->n_elems && left <= going; i++)
		left += str_eq(have[f]->elems[i].data, gone->data);
	return left > going;
}

static bool classes_stay(const struct nft_set *const have[2], const struct policy_delta delta[2])
{
	for (size_t f = 0; f < 2; f++) {
		for (size_t i = 0; i < delta[f].n_more; i++)
			if (!has_data(have[f]->elems, have[f]->n_elems, delta[f].more[i].data))
				return false;
		for (size_t i = 0; i < delta[f].n_less; i++)
			if (!is_left(have, delta, &delta[f].less[i], f))
				return false;
	}
	return true;
}

bool policy_delta_make(const struct policy_model *m, const struct ip_prefix *changed, size_t n,
	const struct nft_set *const have[2], struct arena *arena, struct policy_delta ret[2])
{
	struct window *windows = arena_array(arena, n + 1, sizeof(*windows));

	ret[0] = ret[1] = (struct policy_delta){0};
	for (size_t f = 0; f < 2; f++) {
		struct making mk = {.m = m, .arena = arena, .d = &ret[f]};
		size_t n_windows = 0;

		for (size_t i = 0; i < n; i++) {
			if (ip_addr_is_ipv6(&changed[i].addr) != (f == 1))
				continue;
			if (!have[f])
				return false;
			windows[n_windows++] = window_of(&changed[i], f, have[f]);
		}
		n_windows = unite(windows, n_windows);
		for (size_t i = 0; i < n_windows; i++)
			compare(&mk, f, &windows[i], have[f]);
		make_over(&mk, f);
	}
	return ret[0].n_over + ret[1].n_over <= POLICY_OVER_MAX && classes_stay(have, ret);
}
