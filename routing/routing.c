/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Routing as a subsystem; see routing.h. Edge: asks each daemon what it runs, and hands it what is to change, line by
 * line. A line that a daemon refuses fails the step: nothing that it said is passed over.
 */
#include "routing/routing.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#include "gateway/base/arena.h"
#include "gateway/base/buf.h"
#include "gateway/base/cleanup.h"
#include "gateway/engine/plan.h"
#include "gateway/engine/subsystem.h"
#include "gateway/engine/txn.h"
#include "gateway/service/backoff.h"
#include "gateway/service/service.h"
#include "routing/frr_daemons.h"
#include "routing/frr_plan.h"
#include "routing/frr_talk.h"
#include "routing/frr_vty.h"
#include "routing/rehearsal.h"
#include "routing/routing_check.h"
#include "routing/routing_show.h"

/*
 * Longer than any daemon works without a pause; one that is silent for as long hangs, and frr_health.c ends it. A
 * change may make bgpd walk all its routes.
 */
static const uint64_t LOOK_TIMEOUT = 3000000, CHANGE_TIMEOUT = 10000000, STOP_GRACE = 3000000;

static const char *run_folder;
static struct services *keeper;

void routing_attach(const char *run_dir, struct services *services)
{
	run_folder = run_dir;
	keeper = services;
}

/* --- observe --- */

static int open_vty(enum frr_daemon daemon, uint64_t timeout, struct frr_vty **ret)
{
	_cleanup_(arena_freep) struct arena *arena = arena_new();

	return frr_vty_open(frr_vty_path(run_folder, frr_daemon_name(daemon), arena), timeout, ret);
}

static int observe_daemon(enum frr_daemon daemon, struct frr_state *state)
{
	_cleanup_(frr_vty_closep) struct frr_vty *vty = NULL;
	int r = open_vty(daemon, LOOK_TIMEOUT, &vty);

	if (r == 0)
		r = frr_talk_running(vty, &state->conf);
	state->running = r == 0;
	/* Nobody there, or it ended under our hands: it does not run. */
	return r == -ENOENT || r == -ECONNREFUSED || r == -EPIPE || r == -ECONNRESET ? 0 : r;
}

static void observed_free(void *observed)
{
	const struct frr_observed *o = observed;

	if (o)
		arena_free(o->arena);
}

static int observe(void **ret_observed)
{
	struct arena *arena = arena_new();
	struct frr_observed *o = arena_new_obj(arena, struct frr_observed);

	o->arena = arena;
	for (enum frr_daemon daemon = 0; daemon < N_FRR_DAEMONS; daemon++) {
		int r;

		frr_conf_init(&o->daemons[daemon].conf, arena);
		r = run_folder ? observe_daemon(daemon, &o->daemons[daemon]) : 0;
		if (r < 0) {
			observed_free(o);
			return r;
		}
	}
	o->rehearsal = keeper && services_pid(keeper, FRR_REHEARSAL) > 0;
	*ret_observed = o;
	return 0;
}

static int plan(const struct config *cfg, const struct facts *facts, const void *observed, struct plan *ret)
{
	frr_plan(cfg, facts, observed, ret);
	return 0;
}

/* --- apply --- */

/* What bgpd would not take is found out where it does no harm. */
static int rehearse(const struct frr_step *s, struct buf *why)
{
	return s->rehearse ? rehearsal_run(run_folder, keeper, s->rehearse, why) : 0;
}

static int change(struct txn *txn, const struct step *step, const struct frr_step *s)
{
	_cleanup_(frr_vty_closep) struct frr_vty *vty = NULL;
	const char *name = frr_daemon_name(s->daemon);
	struct buf why = {0};
	int r = rehearse(s, &why);

	if (r == 0) {
		r = open_vty(s->daemon, CHANGE_TIMEOUT, &vty);
		if (r < 0)
			buf_printf(&why, "cannot be reached: %s", strerror(-r));
	}
	if (r == 0)
		r = frr_talk_change(vty, s->changes, s->n, &why);
	if (r == 0)
		r = frr_talk_reset(vty, s->changes, s->n, &why);
	if (r < 0)
		(void)txn_fail(txn, step, r, "%s: %s", name, buf_str(&why));
	buf_free(&why);
	return r;
}

static int start(struct txn *txn, const struct step *step, const char *name)
{
	char reason[256] = "";
	int r = services_start(keeper, name, reason);
	uint64_t wait = services_wait_usec(keeper, name);

	/* The first wait is shorter than any detour. */
	if (r == -EAGAIN && wait <= BACKOFF_FIRST_USEC) {
		(void)poll(NULL, 0, (int)(wait / 1000) + 1);
		r = services_start(keeper, name, reason);
	}
	return r < 0 ? txn_fail(txn, step, r, "%s", reason) : 0;
}

static int stop(struct txn *txn, const struct step *step, const char *name)
{
	int r = services_stop(keeper, name, STOP_GRACE);

	return r < 0 ? txn_fail(txn, step, r, "%s cannot be stopped: %s", name, strerror(-r)) : 0;
}

static int apply_step(struct txn *txn, const struct step *step)
{
	const struct frr_step *s = step->payload;
	const char *name = frr_daemon_name(s->daemon);

	switch (s->op) {
	case FRR_START:
		return start(txn, step, name);
	case FRR_STOP:
		return stop(txn, step, name);
	case FRR_CHANGE:
		break;
	}
	return change(txn, step, s);
}

static int apply(struct txn *txn, const struct step *const *steps, size_t n)
{
	int r = 0;

	for (size_t i = 0; i < n && r == 0; i++)
		r = apply_step(txn, steps[i]);
	return r;
}

static int show(const char *what, const struct config *cfg, const struct facts *facts, json_t **ret)
{
	return run_folder ? routing_show(run_folder, what, cfg, facts, ret) : -ENOENT;
}

const struct subsystem routing_subsystem = {
	.name = "routing",
	.check = routing_check,
	.observe = observe,
	.plan = plan,
	.apply = apply,
	.observed_free = observed_free,
	.show = show,
};
