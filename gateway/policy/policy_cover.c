/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See policy_cover.h. */
#include "gateway/policy/policy_cover.h"

#include <string.h>

#include "gateway/base/arena.h"

size_t policy_cover_find(const struct policy_cover *c, uint32_t low)
{
	size_t lo = 0, hi = c->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (c->v[mid].high < low)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

void policy_cover_add(struct policy_cover *c, struct policy_span s, struct arena *arena)
{
	size_t first = policy_cover_find(c, s.low), end = first;

	while (end < c->n && c->v[end].low <= s.high)
		end++;
	if (end > first) {
		if (c->v[first].low < s.low)
			s.low = c->v[first].low;
		if (c->v[end - 1].high > s.high)
			s.high = c->v[end - 1].high;
		memmove(&c->v[first + 1], &c->v[end], (c->n - end) * sizeof(*c->v));
		c->n -= end - first - 1;
		c->v[first] = s;
		return;
	}
	c->v = arena_grow(arena, c->v, c->n, &c->cap, sizeof(*c->v));
	memmove(&c->v[first + 1], &c->v[first], (c->n - first) * sizeof(*c->v));
	c->v[first] = s;
	c->n++;
}

bool policy_cover_holds(const struct policy_cover *const *covers, size_t n, struct policy_span s)
{
	uint32_t at = s.low;
	bool further = true;

	while (at <= s.high && further) {
		further = false;
		for (size_t i = 0; i < n && at <= s.high; i++) {
			size_t k = policy_cover_find(covers[i], at);

			if (k == covers[i]->n || covers[i]->v[k].low > at)
				continue;
			at = covers[i]->v[k].high + 1;
			further = true;
		}
	}
	return at > s.high;
}
