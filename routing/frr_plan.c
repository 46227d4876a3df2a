/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See frr_plan.h. Changes keep the order in which the delta wants them; those of one object that stand together are one
 * step, so that a plan is read by objects and not by lines.
 */
#include "routing/frr_plan.h"

#include <string.h>

#include "config/config.h"
#include "gateway/base/arena.h"
#include "gateway/base/buf.h"
#include "gateway/base/str.h"
#include "gateway/engine/plan.h"
#include "routing/frr_daemons.h"
#include "routing/frr_impact.h"
#include "routing/frr_render.h"

static const struct daemon_row {
	const char *name;
	const char *object; /* of lines that belong to no other */
	const char *stops;  /* what goes with it */
	void (*render)(const struct config *cfg, const struct facts *facts, struct frr_conf *conf);
} daemons[N_FRR_DAEMONS + 1] = {
	[DAEMON_ZEBRA] = {"zebra", "routing", "withdraws all learned routes", frr_render_zebra},
	[DAEMON_BFDD] = {"bfdd", "bfd", "ends all BFD sessions", frr_render_bfdd},
	[DAEMON_BGPD] = {"bgpd", "bgp", "ends all BGP sessions", frr_render_bgpd},
	[DAEMON_REHEARSAL] = {FRR_REHEARSAL, NULL, NULL, NULL},
};

const char *frr_daemon_name(enum frr_daemon daemon)
{
	return daemons[daemon].name;
}

const char *frr_masked(const char *line, struct arena *arena)
{
	static const char word[] = " password ";
	const char *at = strstr(line, word);

	return at ? arena_printf(arena, "%.*s***", (int)(at - line + (long)strlen(word)), line) : line;
}

/* --- the text of a step --- */

enum { TEXT_MAX = 120 };

static void print_change(const struct frr_change *c, struct arena *arena, struct buf *out)
{
	for (const char *const *up = c->context; *up; up++)
		buf_printf(out, "%s: ", *up);
	buf_puts(out, frr_masked(c->command, arena));
}

/* The change itself, or how many there are and the first of them. */
static const char *text_of(const struct frr_change *c, size_t n, struct arena *arena)
{
	struct buf text = {0};
	const char *copy;

	if (n > 1)
		buf_printf(&text, "%zu lines, the first is ", n);
	print_change(c, arena, &text);
	copy = arena_printf(arena, "%.*s%s", TEXT_MAX, buf_str(&text), text.len > TEXT_MAX ? " ..." : "");
	buf_free(&text);
	return copy;
}

/* --- the impact of a step --- */

static bool has_text(const struct buf *list, const char *text)
{
	const char *at = list->len > 0 ? strstr(list->data, text) : NULL;

	return at && (at[strlen(text)] == '\0' || at[strlen(text)] == ',');
}

/* With what routing.c adds: what a config says is in force when its commit is over. */
static const char *impact_of_change(const struct frr_change *c, struct arena *arena)
{
	const char *peer = frr_needs_reset(c, arena);

	return peer ? arena_printf(arena, "resets BGP %s", peer) : frr_impact(c, arena);
}

/* What each change interrupts, each said once; NULL: nothing. */
static const char *impact_of(const struct frr_change *changes, size_t n, struct arena *arena)
{
	struct buf list = {0};
	const char *copy = NULL;

	for (size_t i = 0; i < n; i++) {
		const char *impact = impact_of_change(&changes[i], arena);

		if (impact && !has_text(&list, impact))
			buf_printf(&list, "%s%s", list.len > 0 ? ", " : "", impact);
	}
	if (list.len > 0)
		copy = arena_strdup(arena, list.data);
	buf_free(&list);
	return copy;
}

/* --- steps --- */

static void add_step(struct plan *plan, enum step_phase phase, unsigned rank, const char *object, const char *impact,
	struct frr_step step, const char *text)
{
	const struct frr_step *payload = arena_memdup(plan->arena, &step, sizeof(step));

	plan_add(plan, phase, rank, object, impact, payload, "%s: %s", frr_daemon_name(step.daemon), text);
}

static const char *object_of(const struct frr_change *c, enum frr_daemon daemon)
{
	return c->object ? c->object : daemons[daemon].object;
}

static void plan_changes(
	const struct frr_delta *delta, enum frr_daemon daemon, const struct frr_conf *rehearse, struct plan *plan)
{
	for (size_t i = 0, end; i < delta->n; i = end) {
		const struct frr_change *c = &delta->v[i];
		const char *object = object_of(c, daemon);
		size_t n;

		for (end = i + 1; end < delta->n && str_eq(object_of(&delta->v[end], daemon), object);)
			end++;
		n = end - i;
		add_step(plan, STEP_MAKE, daemon, object, impact_of(c, n, plan->arena),
			(struct frr_step){FRR_CHANGE, daemon, c, n, i == 0 ? rehearse : NULL},
			text_of(c, n, plan->arena));
	}
}

static void plan_daemon(const struct config *cfg, const struct facts *facts, const struct frr_state *state,
	enum frr_daemon daemon, struct plan *plan)
{
	struct frr_delta delta = {0};
	struct frr_conf *want = arena_new_obj(plan->arena, struct frr_conf);

	if (!state->running)
		add_step(plan, STEP_MAKE, daemon, daemons[daemon].name, NULL,
			(struct frr_step){.op = FRR_START, .daemon = daemon}, "start");
	frr_conf_init(want, plan->arena);
	daemons[daemon].render(cfg, facts, want);
	frr_delta(want, &state->conf, plan->arena, &delta);
	plan_changes(&delta, daemon, daemon == DAEMON_BGPD ? want : NULL, plan);
}

static void plan_stop(bool running, enum frr_daemon daemon, struct plan *plan)
{
	if (running)
		add_step(plan, STEP_REMOVE, N_FRR_DAEMONS - daemon, daemons[daemon].name, daemons[daemon].stops,
			(struct frr_step){.op = FRR_STOP, .daemon = daemon}, "stop");
}

void frr_plan(
	const struct config *cfg, const struct facts *facts, const struct frr_observed *observed, struct plan *plan)
{
	bool wanted = cfg && frr_is_wanted(cfg);

	for (enum frr_daemon daemon = 0; daemon < N_FRR_DAEMONS; daemon++) {
		if (wanted)
			plan_daemon(cfg, facts, &observed->daemons[daemon], daemon, plan);
		else
			plan_stop(observed->daemons[daemon].running, daemon, plan);
	}
	if (!wanted)
		plan_stop(observed->rehearsal, DAEMON_REHEARSAL, plan);
}
