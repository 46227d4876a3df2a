/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See policy_class.h. One sweep over all borders of prefixes, in order: between two borders the same sets are open, and
 * a hash of these, kept up to date with each border, says which class it is.
 */
#include "gateway/policy/policy_class.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "gateway/base/arena.h"
#include "gateway/base/str.h"
#include "gateway/policy/policy_model.h"
#include "gateway/policy/policy_table.h"

struct border {
	u128 at;
	uint32_t set;
	bool opens;
};

struct sweep {
	struct policy_classes *c;
	struct arena *arena;
	struct policy_table classes, numbers;
	const struct policy_addrs *sets;
	uint8_t family;
	u128 from, to; /* what is looked at */
	struct border *borders;
	size_t n_borders;
	uint32_t *depth;	/* of each set: how many of its prefixes are open */
	uint32_t *open, *place; /* the open sets, and where each stands there */
	size_t n_open;
	struct policy_key hash; /* of the open sets */
	size_t cap4, cap6;
};

static u128 number_of(const struct ip_addr *a)
{
	u128 n = 0;

	for (size_t i = 0; i < ip_addr_len(a); i++)
		n = n << 8 | a->bytes[i];
	return n;
}

static u128 last_of(uint8_t family)
{
	return family == AF_INET6 ? ~(u128)0 : (u128)UINT32_MAX;
}

static int border_cmp(const void *a, const void *b)
{
	const struct border *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return (int)x->opens - (int)y->opens;
}

static void add_borders(struct sweep *s, const struct ip_prefix *v, size_t n, uint32_t set)
{
	unsigned bits = s->family == AF_INET6 ? 128 : 32;

	for (size_t i = 0; i < n; i++) {
		u128 low, high;

		if (v[i].addr.family != s->family)
			continue;
		low = number_of(&v[i].addr);
		high = v[i].len == 0 ? last_of(s->family) : low + (((u128)1 << (bits - v[i].len)) - 1);
		if (low > s->to || high < s->from)
			continue;
		s->borders[s->n_borders++] = (struct border){low < s->from ? s->from : low, set, true};
		if (high < s->to)
			s->borders[s->n_borders++] = (struct border){high + 1, set, false};
	}
}

static void sort_borders(struct sweep *s)
{
	bool sorted = true;

	for (size_t i = 1; i < s->n_borders && sorted; i++)
		sorted = border_cmp(&s->borders[i - 1], &s->borders[i]) <= 0;
	if (!sorted)
		qsort(s->borders, s->n_borders, sizeof(*s->borders), border_cmp);
}

static void mix(struct sweep *s, uint32_t set)
{
	uint64_t h = str_hash(s->sets[set].what) * UINT64_C(0x9e3779b97f4a7c15);

	h = (h ^ h >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	h = (h ^ h >> 27) * UINT64_C(0x94d049bb133111eb);
	s->hash.a ^= (uint32_t)h;
	s->hash.b ^= (uint32_t)(h >> 32);
	h = (h ^ h >> 31) * UINT64_C(0xd6e8feb86659fd93);
	s->hash.c ^= (uint32_t)(h >> 16);
}

static void cross(struct sweep *s, const struct border *b)
{
	if (b->opens && s->depth[b->set]++ == 0) {
		s->place[b->set] = (uint32_t)s->n_open;
		s->open[s->n_open++] = b->set;
		mix(s, b->set);
	} else if (!b->opens && --s->depth[b->set] == 0) {
		uint32_t last = s->open[--s->n_open];

		s->open[s->place[b->set]] = last;
		s->place[last] = s->place[b->set];
		mix(s, b->set);
	}
}

/*
 * A class has the same number whenever the same sets make it, whatever else is in the policy: so a packet that has its
 * class when the policy changes is not taken for another.
 */
static uint32_t class_number(struct sweep *s)
{
	uint32_t number = (s->hash.a ^ s->hash.b ^ s->hash.c) & INT32_MAX;

	while (number == 0 || policy_table_get(&s->numbers, (struct policy_key){number, 0, 0}))
		number = (number + 1) & INT32_MAX;
	*policy_table_at(&s->numbers, (struct policy_key){number, 0, 0}) = 1;
	return number;
}

static uint32_t open_class(struct sweep *s)
{
	uint32_t *at, number;

	if (s->n_open == 0)
		return 0;
	at = policy_table_at(&s->classes, s->hash);
	number = *at;
	if (number)
		return number;
	*at = number = class_number(s);
	s->c->n_classes++;
	for (size_t i = 0; i < s->n_open; i++) {
		struct policy_class_list *l = &s->c->sets[s->open[i]];

		l->v = arena_grow(s->arena, l->v, l->n, &l->cap, sizeof(*l->v));
		l->v[l->n++] = number;
	}
	return number;
}

static void put128(u128 n, uint8_t ret[16])
{
	for (int i = 15; i >= 0; i--, n >>= 8)
		ret[i] = (uint8_t)n;
}

static void add_atom4(struct sweep *s, uint32_t low, uint32_t high, uint32_t class_id)
{
	struct policy_classes *c = s->c;
	struct policy_atom4 *last = c->n_atoms4 ? &c->atoms4[c->n_atoms4 - 1] : NULL;

	if (last && last->class_id == class_id && last->high + 1 == low) {
		last->high = high;
		return;
	}
	c->atoms4 = arena_grow(s->arena, c->atoms4, c->n_atoms4, &s->cap4, sizeof(*c->atoms4));
	c->atoms4[c->n_atoms4++] = (struct policy_atom4){low, high, class_id};
}

static void add_atom6(struct sweep *s, u128 low, u128 high, uint32_t class_id)
{
	struct policy_classes *c = s->c;
	struct policy_atom6 *last = c->n_atoms6 ? &c->atoms6[c->n_atoms6 - 1] : NULL;
	struct policy_atom6 atom = {.class_id = class_id};

	put128(high, atom.high);
	if (last && last->class_id == class_id) {
		uint8_t before[16];

		put128(low - 1, before);
		if (memcmp(before, last->high, 16) == 0) {
			memcpy(last->high, atom.high, 16);
			return;
		}
	}
	put128(low, atom.low);
	c->atoms6 = arena_grow(s->arena, c->atoms6, c->n_atoms6, &s->cap6, sizeof(*c->atoms6));
	c->atoms6[c->n_atoms6++] = atom;
}

static void add_atom(struct sweep *s, u128 low, u128 high)
{
	uint32_t class_id = open_class(s);

	if (class_id == 0)
		return;
	if (s->family == AF_INET6)
		add_atom6(s, low, high, class_id);
	else
		add_atom4(s, (uint32_t)low, (uint32_t)high, class_id);
}

static void sweep_family(struct sweep *s, const struct policy_addrs *sets, size_t n_sets, uint8_t family)
{
	size_t n = 0;

	s->family = family;
	s->sets = sets;
	for (size_t i = 0; i < n_sets; i++)
		n += 2 * (sets[i].n_own + sets[i].n_file);
	s->borders = reallocarray(NULL, n + 1, sizeof(*s->borders));
	if (!s->borders)
		abort();
	s->n_borders = 0;
	for (size_t i = 0; i < n_sets; i++) {
		add_borders(s, sets[i].own, sets[i].n_own, (uint32_t)i);
		add_borders(s, sets[i].file, sets[i].n_file, (uint32_t)i);
	}
	sort_borders(s);
	memset(s->depth, 0, n_sets * sizeof(*s->depth));
	s->n_open = 0;
	s->hash = (struct policy_key){0};
	for (size_t i = 0; i < s->n_borders;) {
		u128 at = s->borders[i].at;

		for (; i < s->n_borders && s->borders[i].at == at; i++)
			cross(s, &s->borders[i]);
		add_atom(s, at, i < s->n_borders ? s->borders[i].at - 1 : s->to);
	}
	free(s->borders);
}

static struct sweep sweep_new(size_t n_sets, struct arena *arena, struct policy_classes *ret)
{
	struct sweep s = {.c = ret, .arena = arena, .classes = {.arena = arena}, .numbers = {.arena = arena}};

	*ret = (struct policy_classes){.n_sets = n_sets};
	ret->sets = arena_array(arena, n_sets, sizeof(*ret->sets));
	s.depth = arena_array(arena, n_sets, sizeof(*s.depth));
	s.open = arena_array(arena, n_sets, sizeof(*s.open));
	s.place = arena_array(arena, n_sets, sizeof(*s.place));
	return s;
}

void policy_classes_make(
	const struct policy_addrs *sets, size_t n_sets, struct arena *arena, struct policy_classes *ret)
{
	struct sweep s = sweep_new(n_sets, arena, ret);

	s.to = last_of(AF_INET);
	sweep_family(&s, sets, n_sets, AF_INET);
	s.to = last_of(AF_INET6);
	sweep_family(&s, sets, n_sets, AF_INET6);
}

void policy_classes_within(const struct policy_addrs *sets, size_t n_sets, uint8_t family, u128 low, u128 high,
	struct arena *arena, struct policy_classes *ret)
{
	struct sweep s = sweep_new(n_sets, arena, ret);

	s.from = low;
	s.to = high;
	sweep_family(&s, sets, n_sets, family);
}

uint32_t policy_class_of(const struct policy_classes *c, const struct ip_addr *addr)
{
	bool six = ip_addr_is_ipv6(addr);
	uint32_t number = six ? 0 : (uint32_t)number_of(addr);
	size_t low = 0, high = six ? c->n_atoms6 : c->n_atoms4;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		int before = six ? memcmp(c->atoms6[mid].high, addr->bytes, 16) < 0 : c->atoms4[mid].high < number;

		if (before)
			low = mid + 1;
		else
			high = mid;
	}
	if (six)
		return low < c->n_atoms6 && memcmp(c->atoms6[low].low, addr->bytes, 16) <= 0 ? c->atoms6[low].class_id
											     : 0;
	return low < c->n_atoms4 && c->atoms4[low].low <= number ? c->atoms4[low].class_id : 0;
}
