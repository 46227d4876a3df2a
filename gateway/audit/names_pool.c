/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See names_pool.h. */
#include "gateway/audit/names_pool.h"

#include <stdlib.h>

#include "gateway/audit/audit_names.h"

void names_pool_free(struct names_pool *p)
{
	for (size_t i = 0; i < p->n; i++)
		audit_names_free(p->v[i].names);
	free(p->v);
	*p = (struct names_pool){0};
}

static void free_unused(struct names_pool *p, size_t i)
{
	if (p->v[i].flows > 0 || i == p->now)
		return;
	audit_names_free(p->v[i].names);
	p->v[i].names = NULL;
}

static size_t find_free(struct names_pool *p)
{
	for (size_t i = 0; i < p->n; i++)
		if (!p->v[i].names)
			return i;
	if (p->n > UINT16_MAX)
		abort();
	p->v = reallocarray(p->v, p->n + 1, sizeof(*p->v));
	if (!p->v)
		abort();
	p->v[p->n].flows = 0;
	return p->n++;
}

void names_pool_set(struct names_pool *p, struct audit_names *names)
{
	size_t i = find_free(p), old = p->now;

	p->v[i].names = names;
	p->now = (uint16_t)i;
	if (old < p->n && old != i)
		free_unused(p, old);
}

const struct audit_names *names_pool_at(const struct names_pool *p, uint16_t i)
{
	return p->v[i].names;
}

void names_pool_hold(struct names_pool *p, uint16_t i)
{
	p->v[i].flows++;
}

void names_pool_drop(struct names_pool *p, uint16_t i)
{
	p->v[i].flows--;
	free_unused(p, i);
}
