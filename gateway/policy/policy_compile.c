/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See policy_compile.h. */
#include "gateway/policy/policy_compile.h"

#include <stdlib.h>
#include <string.h>

#include "gateway/base/arena.h"
#include "gateway/base/str.h"
#include "gateway/policy/policy_cover.h"
#include "gateway/policy/policy_table.h"

/* One rule's share of one shape. */
struct part {
	uint32_t rule;
	uint32_t shape; /* index */
	unsigned level;
	const uint32_t *from, *to; /* sorted values; none where the side is ANY or WIDE */
	size_t n_from, n_to;
	const struct policy_span *spans;
	size_t n_spans;
	uint32_t low, high; /* bounds of its spans */
};

/* Of one level: the parts by their shapes, as whole shapes need not be asked. */
struct group {
	uint32_t shape;
	struct part *v;
	size_t n, cap;
};

struct level {
	struct group *v;
	size_t n, cap;
};

struct compiling {
	struct policy_compiled *c;
	struct arena *arena;
	size_t wide;
	struct policy_shape *shapes;
	size_t n_shapes, cap_shapes;
	struct level *levels;
	size_t n_levels, cap_levels;
	struct policy_table runs;   /* (level, shape) -> run + 1 */
	struct policy_table covers; /* (run, from, to) -> cover + 1; (kinds of sides, from, to) too: of all runs */
	struct policy_cover *cover;
	size_t n_cover, cap_cover;
};

/* --- sides --- */

/* What a list of endpoints is, by kind of side. */
struct side {
	enum policy_side kind;
	const uint32_t *v;
	size_t n;
	uint32_t wide;
};

struct sides {
	struct side *v;
	size_t n, cap;
	bool any, gateway;
};

struct values {
	uint32_t *v;
	size_t n, cap;
};

static void add_values(struct arena *arena, struct values *to, const uint32_t *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		to->v = arena_grow(arena, to->v, to->n, &to->cap, sizeof(*to->v));
		to->v[to->n++] = v[i];
	}
}

static int value_cmp(const void *a, const void *b)
{
	return cmp_u32(*(const uint32_t *)a, *(const uint32_t *)b);
}

static void add_side(
	struct compiling *k, struct sides *sides, enum policy_side kind, struct values *values, uint32_t wide)
{
	size_t kept = 0;

	if (values && values->n == 0)
		return;
	if (values) {
		qsort(values->v, values->n, sizeof(*values->v), value_cmp);
		for (size_t i = 0; i < values->n; i++)
			if (kept == 0 || values->v[kept - 1] != values->v[i])
				values->v[kept++] = values->v[i];
	}
	sides->v = arena_grow(k->arena, sides->v, sides->n, &sides->cap, sizeof(*sides->v));
	sides->v[sides->n++] = (struct side){kind, values ? values->v : NULL, kept, wide};
}

/* A set of many classes stands for itself; the classes of the others come together. */
static void add_addrs(struct compiling *k, struct sides *sides, uint32_t set, struct values *classes)
{
	const struct policy_class_list *l = &k->c->classes.sets[set];

	if (l->n > k->wide)
		add_side(k, sides, SIDE_WIDE, NULL, set);
	else
		add_values(k->arena, classes, l->v, l->n);
}

static struct sides make_sides(struct compiling *k, const struct policy_end *ends, size_t n, bool is_from)
{
	struct values devices = {0}, behind = {0}, classes = {0};
	struct sides sides = {0};

	for (size_t i = 0; i < n; i++) {
		const struct policy_zone *z;

		switch (ends[i].kind) {
		case END_ANY:
			sides.any = true;
			break;
		case END_GATEWAY:
			sides.gateway = true;
			break;
		case END_ADDRS:
			add_addrs(k, &sides, ends[i].index, &classes);
			break;
		case END_ZONE:
			z = &k->c->model->zones[ends[i].index];
			add_values(k->arena, &devices, is_from ? z->in : z->out, is_from ? z->n_in : z->n_out);
			if (is_from)
				add_values(k->arena, &behind, z->behind, z->n_behind);
		}
	}
	if (sides.any) {
		sides.n = 0;
		add_side(k, &sides, SIDE_ANY, NULL, 0);
		return sides;
	}
	add_side(k, &sides, SIDE_DEVICE, &devices, 0);
	add_side(k, &sides, SIDE_BEHIND, &behind, 0);
	add_side(k, &sides, SIDE_CLASS, &classes, 0);
	return sides;
}

/* --- services --- */

static enum policy_service kind_of(const struct policy_span *s)
{
	uint8_t proto = (uint8_t)(s->low >> 16);

	if (s->low == 0 && s->high == SERVICE_MAX)
		return SERVICE_ALL;
	if ((s->low & 0xffff) == 0 && (s->high & 0xffff) == 0xffff)
		return SERVICE_PROTO;
	if (port_proto_has_types(proto))
		return SERVICE_TYPE;
	return s->low == s->high ? SERVICE_PORT : SERVICE_RANGE;
}

/* Types that follow each other were united; a look-up has one each. */
static size_t count_pieces(const struct policy_span *s)
{
	return kind_of(s) == SERVICE_TYPE ? s->high - s->low + 1 : 1;
}

static const struct policy_span *spans_of_kind(
	struct compiling *k, const struct policy_rule_of *r, enum policy_service kind, size_t *ret_n)
{
	struct policy_span *v;
	size_t n = 0;

	for (size_t i = 0; i < r->n_spans; i++)
		n += kind_of(&r->spans[i]) == kind ? count_pieces(&r->spans[i]) : 0;
	v = arena_array(k->arena, n, sizeof(*v));
	*ret_n = 0;
	for (size_t i = 0; i < r->n_spans; i++) {
		const struct policy_span *s = &r->spans[i];

		if (kind_of(s) != kind)
			continue;
		if (kind != SERVICE_TYPE)
			v[(*ret_n)++] = *s;
		for (uint32_t t = s->low; kind == SERVICE_TYPE && t <= s->high; t++)
			v[(*ret_n)++] = (struct policy_span){t, t};
	}
	return v;
}

/* --- do two parts overlap? --- */

static bool values_meet(const uint32_t *a, size_t n, const uint32_t *b, size_t m)
{
	if (n == 1 && m == 1)
		return *a == *b;
	for (size_t i = 0, j = 0; i < n && j < m;) {
		if (a[i] == b[j])
			return true;
		if (a[i] < b[j])
			i++;
		else
			j++;
	}
	return false;
}

static bool spans_meet(const struct part *a, const struct part *b)
{
	if (a->low > b->high || b->low > a->high)
		return false;
	for (size_t i = 0, j = 0; i < a->n_spans && j < b->n_spans;) {
		if (a->spans[i].low <= b->spans[j].high && b->spans[j].low <= a->spans[i].high)
			return true;
		if (a->spans[i].high < b->spans[j].high)
			i++;
		else
			j++;
	}
	return false;
}

/* Of sides that are matched by different things nothing is known: they overlap. */
static bool overlap(
	const struct policy_shape *sa, const struct part *a, const struct policy_shape *sb, const struct part *b)
{
	if (!spans_meet(a, b))
		return false;
	if (a->n_to && b->n_to && sa->to == sb->to && !values_meet(a->to, a->n_to, b->to, b->n_to))
		return false;
	return !(
		a->n_from && b->n_from && sa->from == sb->from && !values_meet(a->from, a->n_from, b->from, b->n_from));
}

/* Is there something in the group that this part overlaps with? */
static bool meets(const struct compiling *k, const struct part *p, const struct group *g)
{
	for (size_t i = 0; i < g->n; i++)
		if (g->v[i].rule != p->rule && overlap(&k->shapes[p->shape], p, &k->shapes[g->shape], &g->v[i]))
			return true;
	return false;
}

/* Above every earlier part that it overlaps with and that is of another shape. */
static unsigned level_of(const struct compiling *k, const struct part *p)
{
	for (size_t l = k->n_levels; l-- > 0;) {
		const struct level *level = &k->levels[l];
		bool same = false;

		for (size_t i = 0; i < level->n; i++) {
			const struct group *g = &level->v[i];

			if (k->shapes[g->shape].hook != k->shapes[p->shape].hook || (g->shape == p->shape && l == 0))
				continue; /* of the same shape in level 0: it stays there anyway */
			if (!meets(k, p, g))
				continue;
			if (g->shape != p->shape)
				return (unsigned)l + 1;
			same = true;
		}
		if (same)
			return (unsigned)l;
	}
	return 0;
}

static struct group *group_of(struct compiling *k, struct level *level, uint32_t shape)
{
	for (size_t i = 0; i < level->n; i++)
		if (level->v[i].shape == shape)
			return &level->v[i];
	level->v = arena_grow(k->arena, level->v, level->n, &level->cap, sizeof(*level->v));
	level->v[level->n] = (struct group){.shape = shape};
	return &level->v[level->n++];
}

static void file_part(struct compiling *k, const struct part *p)
{
	struct group *g;

	if (p->level == k->n_levels) {
		k->levels = arena_grow(k->arena, k->levels, k->n_levels, &k->cap_levels, sizeof(*k->levels));
		k->levels[k->n_levels++] = (struct level){0};
	}
	g = group_of(k, &k->levels[p->level], p->shape);
	g->v = arena_grow(k->arena, g->v, g->n, &g->cap, sizeof(*g->v));
	g->v[g->n++] = *p;
	k->c->parts = arena_grow(k->arena, k->c->parts, k->c->n_parts, &k->c->cap_parts, sizeof(*k->c->parts));
	k->c->parts[k->c->n_parts++] = (struct policy_place_of_part){p->rule, k->shapes[p->shape], p->level};
}

/* --- elements --- */

static struct policy_run *run_of(struct compiling *k, const struct part *p, uint32_t *ret_number)
{
	struct policy_compiled *c = k->c;
	uint32_t *at = policy_table_at(&k->runs, (struct policy_key){p->level, p->shape, 0});

	if (*at == 0) {
		c->runs = arena_grow(k->arena, c->runs, c->n_runs, &c->cap_runs, sizeof(*c->runs));
		c->runs[c->n_runs++] = (struct policy_run){.shape = k->shapes[p->shape], .level = p->level};
		*at = (uint32_t)c->n_runs;
	}
	*ret_number = *at;
	return &c->runs[*at - 1];
}

static struct policy_cover *cover_of(struct compiling *k, uint32_t run, uint32_t from, uint32_t to)
{
	uint32_t *at = policy_table_at(&k->covers, (struct policy_key){run, from, to});

	if (*at == 0) {
		k->cover = arena_grow(k->arena, k->cover, k->n_cover, &k->cap_cover, sizeof(*k->cover));
		*at = (uint32_t)++k->n_cover;
	}
	return &k->cover[*at - 1];
}

static void add_elem(struct compiling *k, struct policy_run *run, struct policy_elem e)
{
	run->elems = arena_grow(k->arena, run->elems, run->n_elems, &run->cap_elems, sizeof(*run->elems));
	run->elems[run->n_elems++] = e;
}

/* What earlier rules of the run left of a span, as elements. */
static void add_span(struct compiling *k, struct policy_run *run, uint32_t number, struct policy_elem e)
{
	struct policy_cover *c = cover_of(k, number, e.from, e.to);
	struct policy_span s = {e.low, e.high};
	uint32_t at = e.low;

	for (size_t i = policy_cover_find(c, e.low); i < c->n && c->v[i].low <= s.high; i++) {
		if (c->v[i].low > at) {
			e.low = at;
			e.high = c->v[i].low - 1;
			add_elem(k, run, e);
		}
		at = c->v[i].high + 1;
	}
	if (at <= s.high) {
		e.low = at;
		e.high = s.high;
		add_elem(k, run, e);
	}
	policy_cover_add(c, s, k->arena);
}

/* --- shadows --- */

/* Covers by what the sides are matched by alone: of all services and levels. No run has such a number. */
static uint32_t sides_number(enum policy_hook hook, enum policy_side from, enum policy_side to)
{
	return 0x80000000U | (uint32_t)hook << 16 | (uint32_t)from << 8 | (uint32_t)to;
}

/* What always matches, whatever comes later, of one combination: for all of it, or one of its sides any. */
static bool is_covered(
	struct compiling *k, const struct policy_shape *s, uint32_t from, uint32_t to, struct policy_span span)
{
	const struct policy_cover *covers[] = {
		cover_of(k, sides_number(s->hook, s->from, s->to), from, to),
		cover_of(k, sides_number(s->hook, SIDE_ANY, s->to), 0, to),
		cover_of(k, sides_number(s->hook, s->from, SIDE_ANY), from, 0),
		cover_of(k, sides_number(s->hook, SIDE_ANY, SIDE_ANY), 0, 0),
	};

	return policy_cover_holds(covers, ARRAY_SIZE(covers), span);
}

static void note_shadow(struct compiling *k, const struct part *p, struct policy_elem e)
{
	const struct policy_shape *s = &k->shapes[p->shape];
	struct policy_span span = {e.low, e.high};
	uint32_t from = s->from == SIDE_WIDE ? s->wide_from + 1 : e.from,
		 to = s->to == SIDE_WIDE ? s->wide_to + 1 : e.to;

	if (!is_covered(k, s, from, to, span))
		k->c->decides[p->rule] = true;
	if (s->schedule == 0)
		policy_cover_add(cover_of(k, sides_number(s->hook, s->from, s->to), from, to), span, k->arena);
}

static void add_elem_of(
	struct compiling *k, const struct part *p, struct policy_run *run, uint32_t number, struct policy_elem e)
{
	if (k->c->decides)
		note_shadow(k, p, e);
	add_span(k, run, number, e);
}

static void add_elems(struct compiling *k, const struct part *p)
{
	uint32_t number;
	struct policy_run *run = run_of(k, p, &number);
	size_t n_from = p->n_from ? p->n_from : 1, n_to = p->n_to ? p->n_to : 1;

	for (size_t f = 0; f < n_from; f++)
		for (size_t t = 0; t < n_to; t++)
			for (size_t s = 0; s < p->n_spans; s++)
				add_elem_of(k, p, run, number,
					(struct policy_elem){p->n_from ? p->from[f] : 0, p->n_to ? p->to[t] : 0,
						p->spans[s].low, p->spans[s].high, p->rule});
}

/* --- parts --- */

static uint32_t shape_index(struct compiling *k, const struct policy_shape *shape)
{
	for (size_t i = 0; i < k->n_shapes; i++)
		if (memcmp(&k->shapes[i], shape, sizeof(*shape)) == 0)
			return (uint32_t)i;
	k->shapes = arena_grow(k->arena, k->shapes, k->n_shapes, &k->cap_shapes, sizeof(*k->shapes));
	k->shapes[k->n_shapes] = *shape;
	return (uint32_t)k->n_shapes++;
}

static void add_part(struct compiling *k, uint32_t rule, const struct policy_shape *shape, const struct side *from,
	const struct side *to)
{
	const struct policy_rule_of *r = &k->c->model->rules[rule];
	struct part p = {.rule = rule, .from = from->v, .to = to->v, .n_from = from->n, .n_to = to->n};

	p.spans = spans_of_kind(k, r, shape->service, &p.n_spans);
	if (p.n_spans == 0)
		return;
	p.low = p.spans[0].low;
	p.high = p.spans[p.n_spans - 1].high;
	p.shape = shape_index(k, shape);
	p.level = level_of(k, &p);
	file_part(k, &p);
	add_elems(k, &p);
	k->c->can_match[rule] = true;
}

static void add_pair(
	struct compiling *k, uint32_t rule, enum policy_hook hook, const struct side *from, const struct side *to)
{
	const struct policy_rule_of *r = &k->c->model->rules[rule];
	struct policy_shape shape;

	memset(&shape, 0, sizeof(shape)); /* compared byte by byte */
	shape.hook = hook;
	shape.from = from->kind;
	shape.to = to->kind;
	shape.wide_from = from->wide;
	shape.wide_to = to->wide;
	shape.schedule = r->schedule ? (uint32_t)(r->schedule - k->c->model->policy->schedules.v) + 1 : 0;
	for (enum policy_service s = SERVICE_ALL; s <= SERVICE_RANGE; s++) {
		shape.service = s;
		add_part(k, rule, &shape, from, to);
	}
}

static void add_hook(
	struct compiling *k, uint32_t rule, enum policy_hook hook, const struct sides *from, const struct sides *to)
{
	for (size_t i = 0; i < from->n; i++)
		for (size_t j = 0; j < to->n; j++)
			add_pair(k, rule, hook, &from->v[i], &to->v[j]);
}

/* `any` is every host, and not the gateway: that is meant by its name alone. */
static void add_rule(struct compiling *k, uint32_t rule)
{
	const struct policy_rule_of *r = &k->c->model->rules[rule];
	struct sides from = make_sides(k, r->from, r->n_from, true), to = make_sides(k, r->to, r->n_to, false);
	static struct side own = {.kind = SIDE_ANY};
	const struct sides gateway = {&own, 1, 1, false, false};

	add_hook(k, rule, POLICY_FORWARD, &from, &to);
	if (to.gateway)
		add_hook(k, rule, POLICY_INPUT, &from, &gateway);
	if (from.gateway)
		add_hook(k, rule, POLICY_OUTPUT, &gateway, &to);
}

/* --- order --- */

static int elem_cmp(const void *a, const void *b)
{
	const struct policy_elem *x = a, *y = b;
	int c = cmp_u32(x->from, y->from);

	if (c == 0)
		c = cmp_u32(x->to, y->to);
	return c ? c : cmp_u32(x->low, y->low);
}

static int run_cmp(const void *a, const void *b)
{
	const struct policy_run *x = a, *y = b;
	int c = (int)x->shape.hook - (int)y->shape.hook;

	if (c == 0)
		c = cmp_u32(x->level, y->level);
	return c ? c : memcmp(&x->shape, &y->shape, sizeof(x->shape));
}

static void compile(struct policy_model *m, size_t wide, bool shadows, struct policy_compiled *ret)
{
	struct compiling k = {.c = ret, .arena = m->arena, .wide = wide};

	*ret = (struct policy_compiled){.model = m};
	k.runs.arena = k.covers.arena = m->arena;
	if (shadows)
		ret->decides = arena_array(m->arena, m->n_rules + 1, sizeof(*ret->decides));
	ret->can_match = arena_array(m->arena, m->n_rules, sizeof(*ret->can_match));
	policy_classes_make(m->addrs, m->n_addrs, m->arena, &ret->classes);
	for (size_t i = 0; i < m->n_rules; i++)
		add_rule(&k, (uint32_t)i);
	if (ret->n_runs > 1)
		qsort(ret->runs, ret->n_runs, sizeof(*ret->runs), run_cmp);
	for (size_t i = 0; i < ret->n_runs; i++)
		if (ret->runs[i].n_elems > 1)
			qsort(ret->runs[i].elems, ret->runs[i].n_elems, sizeof(*ret->runs[i].elems), elem_cmp);
}

void policy_compile(struct policy_model *m, size_t wide, struct policy_compiled *ret)
{
	compile(m, wide, false, ret);
}

void policy_compile_shadows(struct policy_model *m, size_t wide, struct policy_compiled *ret)
{
	compile(m, wide, true, ret);
}
