/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See fake_subsystem.h. */
#include "tests/lib/fake_subsystem.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "gateway/base/arena.h"
#include "gateway/engine/facts.h"
#include "gateway/engine/plan.h"
#include "gateway/engine/subsystem.h"
#include "gateway/engine/txn.h"

struct fake fake;

struct work {
	char name[FAKE_NAME];
	uint32_t value; /* 0: remove */
};

void fake_reset(void)
{
	fake = (struct fake){0};
}

struct fake_object *fake_find(size_t side, const char *name)
{
	for (size_t i = 0; i < fake.sides[side].n; i++)
		if (strcmp(fake.sides[side].v[i].name, name) == 0)
			return &fake.sides[side].v[i];
	return NULL;
}

static int object_cmp(const void *a, const void *b)
{
	return strcmp(((const struct fake_object *)a)->name, ((const struct fake_object *)b)->name);
}

void fake_put(size_t side, const char *name, uint32_t value, bool foreign)
{
	struct fake_side *s = &fake.sides[side];
	struct fake_object *o = fake_find(side, name);

	if (!o) {
		if (s->n == FAKE_MAX)
			abort();
		o = &s->v[s->n++];
	}
	*o = (struct fake_object){.value = value, .foreign = foreign};
	(void)snprintf(o->name, sizeof(o->name), "%s", name);
	qsort(s->v, s->n, sizeof(*s->v), object_cmp);
}

void fake_remove(size_t side, const char *name)
{
	struct fake_side *s = &fake.sides[side];
	struct fake_object *o = fake_find(side, name);

	if (!o)
		abort();
	memmove(o, o + 1, (size_t)(s->v + s->n - (o + 1)) * sizeof(*o));
	s->n--;
}

static int observe(size_t side, void **ret)
{
	struct fake_side *copy;

	fake.n_observed++;
	if (fake.observe_error)
		return fake.observe_error;
	copy = malloc(sizeof(*copy));
	if (!copy)
		abort();
	*copy = fake.sides[side];
	*ret = copy;
	return 0;
}

static int observe_alpha(void **ret)
{
	return observe(0, ret);
}

static int observe_beta(void **ret)
{
	return observe(1, ret);
}

static void add(struct plan *plan, enum step_phase phase, const char *name, uint32_t value)
{
	struct work *w = arena_new_obj(plan->arena, struct work);

	(void)snprintf(w->name, sizeof(w->name), "%s", name);
	w->value = value;
	plan_add(plan, phase, 0, arena_printf(plan->arena, "segment %s", name),
		phase == STEP_REMOVE ? "stops it" : NULL, w, "%s %s %s %u", phase == STEP_REMOVE ? "remove" : "set",
		plan->subsystem->name, name, value);
}

static const struct segment *wanted(const struct config *cfg, const char *name)
{
	for (size_t i = 0; cfg && i < cfg->segments.n; i++)
		if (strcmp(cfg->segments.v[i].name, name) == 0)
			return &cfg->segments.v[i];
	return NULL;
}

static const struct fake_object *held(const struct fake_side *side, const char *name)
{
	for (size_t i = 0; i < side->n; i++)
		if (strcmp(side->v[i].name, name) == 0)
			return &side->v[i];
	return NULL;
}

static int fake_plan(const struct config *cfg, const struct facts *facts, const void *observed, struct plan *plan)
{
	const struct fake_side *have = observed;

	(void)facts;
	for (size_t i = 0; i < have->n; i++)
		if (!have->v[i].foreign && !wanted(cfg, have->v[i].name))
			add(plan, STEP_REMOVE, have->v[i].name, 0);
	for (size_t i = 0; cfg && i < cfg->segments.n; i++) {
		const struct segment *seg = &cfg->segments.v[i];
		const struct fake_object *o = held(have, seg->name);

		if (o && o->foreign)
			plan_conflict(plan, arena_printf(plan->arena, "segment %s", seg->name),
				"%s belongs to somebody else", seg->name);
		else if (!o || o->value != seg->mtu)
			add(plan, STEP_MAKE, seg->name, seg->mtu);
	}
	return 0;
}

static int apply_one(size_t side, struct txn *txn, const struct step *step)
{
	const struct work *w = step->payload;
	size_t at = ++fake.n_applied;

	if (fake.fail_at && (at == fake.fail_at || (fake.fail_on && at > fake.fail_at)))
		return txn_fail(txn, step, -EIO, "fault %zu", at);
	if (fake.fail_object && strcmp(fake.fail_object, w->name) == 0)
		return txn_fail(txn, step, -EPERM, "never");
	if (fake.forget && strcmp(fake.forget, w->name) == 0)
		return 0;
	if (w->value)
		fake_put(side, w->name, w->value, false);
	else
		fake_remove(side, w->name);
	return 0;
}

static int apply(size_t side, struct txn *txn, const struct step *const *steps, size_t n)
{
	fake.n_apply_calls++;
	if (fake.slow > 0) {
		fake.slow--;
		return 0;
	}
	for (size_t i = 0; i < n; i++) {
		int r = apply_one(side, txn, steps[i]);

		if (r < 0)
			return r;
	}
	return 0;
}

static int apply_alpha(struct txn *txn, const struct step *const *steps, size_t n)
{
	return apply(0, txn, steps, n);
}

static int apply_beta(struct txn *txn, const struct step *const *steps, size_t n)
{
	return apply(1, txn, steps, n);
}

static void fake_check(const struct config *cfg, struct diag *diag)
{
	(void)cfg;
	(void)diag;
}

static int fake_show(const char *what, const struct config *cfg, const struct facts *facts, json_t **ret)
{
	(void)what;
	(void)cfg;
	(void)facts;
	(void)ret;
	return -ENOENT;
}

static const struct subsystem alpha = {
	.name = "alpha",
	.check = fake_check,
	.observe = observe_alpha,
	.plan = fake_plan,
	.apply = apply_alpha,
	.observed_free = free,
	.show = fake_show,
};

static const struct subsystem beta = {
	.name = "beta",
	.check = fake_check,
	.observe = observe_beta,
	.plan = fake_plan,
	.apply = apply_beta,
	.observed_free = free,
	.show = fake_show,
};

const struct subsystem *const fake_subsystems[2] = {&alpha, &beta};

const struct config *fake_config(unsigned slot, const char *text)
{
	static struct config configs[4];
	static struct segment segments[4][FAKE_MAX];
	static char names[4][FAKE_MAX][FAKE_NAME];
	struct config *cfg = &configs[slot];

	*cfg = (struct config){.segments = {.v = segments[slot]}};
	for (const char *p = text; *p;) {
		size_t i = cfg->segments.n++;
		size_t len = strcspn(p, "=");
		char *end;

		if (i == FAKE_MAX || len >= FAKE_NAME || p[len] != '=')
			abort();
		memcpy(names[slot][i], p, len);
		names[slot][i][len] = '\0';
		segments[slot][i] = (struct segment){.name = names[slot][i]};
		segments[slot][i].mtu = (uint32_t)strtoul(p + len + 1, &end, 10);
		p = end + strspn(end, " ");
	}
	return cfg;
}

static bool side_is(size_t side, const struct config *cfg)
{
	size_t n = 0;

	for (size_t i = 0; i < fake.sides[side].n; i++) {
		const struct fake_object *o = &fake.sides[side].v[i];
		const struct segment *seg = wanted(cfg, o->name);

		if (o->foreign)
			continue;
		if (!seg || seg->mtu != o->value)
			return false;
		n++;
	}
	return n == (cfg ? cfg->segments.n : 0);
}

bool fake_is(const struct config *cfg)
{
	return side_is(0, cfg) && side_is(1, cfg);
}
