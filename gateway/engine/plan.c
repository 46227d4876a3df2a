/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Collecting, ordering and printing steps; see plan.h. Pure. */
#include "gateway/engine/plan.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "gateway/base/arena.h"
#include "gateway/base/buf.h"
#include "gateway/base/str.h"
#include "gateway/engine/subsystem.h"

enum { IMPACT_COLUMN = 88 }; /* where [impact] starts, so that a plan reads as a table */

static const char no_impact[] = "none";

struct plan_owned {
	struct plan_owned *next;
	const struct subsystem *subsystem;
	void *p; /* NULL once it was taken */
	void (*free_fn)(void *);
};

void plan_init(struct plan *plan)
{
	*plan = (struct plan){.arena = arena_new()};
}

void plan_free(struct plan *plan)
{
	for (const struct plan_owned *o = plan->owned; o; o = o->next)
		if (o->p)
			o->free_fn(o->p);
	free(plan->steps);
	free(plan->conflicts);
	arena_free(plan->arena);
	*plan = (struct plan){0};
}

void plan_own(struct plan *plan, void *p, void (*free_fn)(void *))
{
	struct plan_owned *o = arena_new_obj(plan->arena, struct plan_owned);

	*o = (struct plan_owned){.next = plan->owned, .subsystem = plan->subsystem, .p = p, .free_fn = free_fn};
	plan->owned = o;
}

void *plan_take_owned(struct plan *plan, const struct subsystem *subsystem)
{
	for (struct plan_owned *o = plan->owned; o; o = o->next) {
		void *p = o->p;

		if (o->subsystem != subsystem || !p)
			continue;
		o->p = NULL;
		return p;
	}
	return NULL;
}

__attribute__((format(printf, 2, 0))) static const char *format(struct plan *plan, const char *fmt, va_list ap)
{
	struct buf text = {0};
	const char *copy;

	buf_vprintf(&text, fmt, ap);
	copy = arena_strndup(plan->arena, buf_str(&text), text.len);
	buf_free(&text);
	return copy;
}

void plan_add(struct plan *plan, enum step_phase phase, unsigned rank, const char *object, const char *impact,
	const void *payload, const char *fmt, ...)
{
	va_list ap;

	if (plan->n_steps == plan->cap_steps) {
		plan->cap_steps = plan->cap_steps ? 2 * plan->cap_steps : 64;
		plan->steps = reallocarray(plan->steps, plan->cap_steps, sizeof(*plan->steps));
		if (!plan->steps)
			abort();
	}
	va_start(ap, fmt);
	plan->steps[plan->n_steps] = (struct step){
		.subsystem = plan->subsystem,
		.phase = phase,
		.rank = rank,
		.object = object,
		.text = format(plan, fmt, ap),
		.impact = impact ? impact : no_impact,
		.payload = payload,
		.seq = plan->n_steps,
	};
	va_end(ap);
	plan->n_steps++;
}

void plan_conflict(struct plan *plan, const char *object, const char *fmt, ...)
{
	va_list ap;

	plan->conflicts = reallocarray(plan->conflicts, plan->n_conflicts + 1, sizeof(*plan->conflicts));
	if (!plan->conflicts)
		abort();
	va_start(ap, fmt);
	plan->conflicts[plan->n_conflicts++] = (struct plan_conflict){object, format(plan, fmt, ap)};
	va_end(ap);
}

struct order {
	const struct subsystem *const *v;
	size_t n;
};

static size_t position(const struct order *order, const struct subsystem *subsystem)
{
	size_t i = 0;

	while (i < order->n && order->v[i] != subsystem)
		i++;
	return i;
}

static int step_cmp(const void *pa, const void *pb, void *arg)
{
	const struct step *a = pa, *b = pb;
	size_t at_a = position(arg, a->subsystem), at_b = position(arg, b->subsystem);

	if (a->phase != b->phase)
		return a->phase == STEP_REMOVE ? -1 : 1;
	if (at_a != at_b)
		return (at_a < at_b) == (a->phase == STEP_MAKE) ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return a->seq < b->seq ? -1 : a->seq > b->seq;
}

void plan_sort(struct plan *plan, const struct subsystem *const *order, size_t n)
{
	struct order o = {order, n};

	if (plan->n_steps > 1)
		qsort_r(plan->steps, plan->n_steps, sizeof(*plan->steps), step_cmp, &o);
}

static void print_step(const struct step *step, struct buf *out)
{
	size_t start = out->len;

	buf_printf(out, "  %c %s: %s", step->phase == STEP_REMOVE ? '-' : '+', step->object, step->text);
	do
		buf_putc(out, ' ');
	while (out->len - start < IMPACT_COLUMN);
	buf_printf(out, "[%s]\n", step->impact);
}

static size_t count_interrupting(const struct plan *plan)
{
	size_t n = 0;

	for (size_t i = 0; i < plan->n_steps; i++)
		n += !str_eq(plan->steps[i].impact, no_impact);
	return n;
}

void plan_print(const struct plan *plan, struct buf *out)
{
	size_t n = plan->n_steps, hard = count_interrupting(plan), in_the_way = plan->n_conflicts;

	for (size_t i = 0; i < in_the_way; i++)
		buf_printf(out, "  ! %s: %s\n", plan->conflicts[i].object, plan->conflicts[i].text);
	for (size_t i = 0; i < n; i++)
		print_step(&plan->steps[i], out);
	if (plan_is_empty(plan)) {
		buf_puts(out, "nothing to do\n");
		return;
	}
	buf_printf(out, "%zu step%s, ", n, n == 1 ? "" : "s");
	if (hard > 0)
		buf_printf(out, "%zu interrupt%s traffic", hard, hard == 1 ? "s" : "");
	else
		buf_puts(out, "none interrupts traffic");
	if (in_the_way > 0)
		buf_printf(out, ", %zu conflict%s", in_the_way, in_the_way == 1 ? "" : "s");
	buf_putc(out, '\n');
}
