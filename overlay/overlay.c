/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The overlay as a subsystem: nothing but what joins its pure half to its edge. */
#include "overlay/overlay.h"

#include "gateway/base/arena.h"
#include "gateway/engine/plan.h"
#include "gateway/engine/subsystem.h"
#include "overlay/apply.h"
#include "overlay/model.h"
#include "overlay/observe.h"
#include "overlay/overlay_show.h"

static int overlay_observe(void **ret_observed)
{
	struct observation *o;
	int r = observe(false, &o);

	if (r == 0)
		*ret_observed = o;
	return r;
}

static int plan_overlay(const struct config *cfg, const struct facts *facts, const void *observed, struct plan *plan)
{
	const struct observation *o = observed;
	struct kernel_model *want = arena_new_obj(plan->arena, struct kernel_model);

	want->arena = plan->arena;
	overlay_check_facts(cfg, facts, plan);
	overlay_desired(cfg, facts, want);
	overlay_plan(want, &o->model, plan);
	return 0;
}

static void free_observed(void *observed)
{
	observation_free(observed);
}

const struct subsystem overlay_subsystem = {
	.name = "overlay",
	.check = overlay_check,
	.observe = overlay_observe,
	.plan = plan_overlay,
	.apply = overlay_apply,
	.observed_free = free_observed,
	.show = overlay_show,
};
