/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A plan for programs. */
#include "gateway/daemon/daemon.h"
#include "gateway/engine/subsystem.h"

static json_t *step_to_json(const struct step *step)
{
	return json_pack("{s:s, s:s, s:s, s:s, s:s}", "action", step->phase == STEP_REMOVE ? "remove" : "make",
		"subsystem", step->subsystem->name, "object", step->object, "text", step->text, "impact", step->impact);
}

json_t *plan_to_json(const struct plan *plan)
{
	json_t *steps = json_array(), *conflicts = json_array();

	for (size_t i = 0; i < plan->n_steps; i++)
		json_array_append_new(steps, step_to_json(&plan->steps[i]));
	for (size_t i = 0; i < plan->n_conflicts; i++)
		json_array_append_new(conflicts,
			json_pack("{s:s, s:s}", "object", plan->conflicts[i].object, "text", plan->conflicts[i].text));
	return json_pack("{s:o, s:o}", "steps", steps, "conflicts", conflicts);
}
