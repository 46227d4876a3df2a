/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The look-ups of a compiled policy, as the kernel does them in the rendered form; see policy_compile.h. Pure. It tells
 * nothing about the rules that policy_eval.h could not: it is there so that the two can be compared.
 */
#include <stdlib.h>

#include "gateway/base/str.h"
#include "gateway/policy/policy_compile.h"

static bool has_class(const struct policy_class_list *l, uint32_t class_id)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->v[i] == class_id)
			return true;
	return false;
}

struct lookup {
	const struct policy_compiled *c;
	const struct policy_packet *p;
	uint32_t src, dst; /* classes */
	uint32_t service;
};

static bool value_of(const struct lookup *l, enum policy_side side, uint32_t wide, bool is_from, uint32_t *ret)
{
	uint32_t class_id = is_from ? l->src : l->dst;

	*ret = 0;
	switch (side) {
	case SIDE_ANY:
		return true;
	case SIDE_DEVICE:
		*ret = is_from ? l->p->in : l->p->out;
		return *ret != 0;
	case SIDE_BEHIND:
		*ret = l->p->behind;
		return *ret != 0;
	case SIDE_CLASS:
		*ret = class_id;
		return class_id != 0;
	default:
		return has_class(&l->c->classes.sets[wide], class_id);
	}
}

static int elem_cmp(const void *key, const void *elem)
{
	const struct policy_elem *k = key, *e = elem;
	int c = cmp_u32(k->from, e->from);

	if (c == 0)
		c = cmp_u32(k->to, e->to);
	if (c == 0)
		c = k->low < e->low ? -1 : k->low > e->high;
	return c;
}

static int ask(const struct lookup *l, const struct policy_run *run)
{
	const struct policy_shape *s = &run->shape;
	struct policy_elem key = {.low = l->service};
	const struct policy_elem *found;

	if (s->schedule &&
		!policy_schedule_holds(&l->c->model->policy->schedules.v[s->schedule - 1], l->p->day, l->p->minute))
		return -1;
	if (!value_of(l, s->from, s->wide_from, true, &key.from) || !value_of(l, s->to, s->wide_to, false, &key.to))
		return -1;
	found = bsearch(&key, run->elems, run->n_elems, sizeof(*run->elems), elem_cmp);
	return found ? (int)found->rule : -1;
}

int policy_lookup(const struct policy_compiled *c, const struct policy_packet *p)
{
	struct lookup l = {.c = c,
		.p = p,
		.src = policy_class_of(&c->classes, &p->src),
		.dst = policy_class_of(&c->classes, &p->dst)};
	int rule = -1;

	l.service = policy_service_number(p->proto, p->port);
	for (size_t i = 0; i < c->n_runs && rule < 0; i++)
		if (c->runs[i].shape.hook == p->hook && c->runs[i].n_elems > 0)
			rule = ask(&l, &c->runs[i]);
	return rule;
}
