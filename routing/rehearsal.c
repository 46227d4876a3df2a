/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See rehearsal.h. The understudy is started once and kept, so that it has what the last commit left and a rehearsal is
 * the same few lines as the change. Left out are lists and route maps: bgpd itself takes all of a batch of these or
 * nothing (frr_talk.c), and a thousand of them take it seconds.
 */
#include "routing/rehearsal.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "gateway/base/arena.h"
#include "gateway/base/buf.h"
#include "gateway/base/cleanup.h"
#include "gateway/base/str.h"
#include "gateway/service/service.h"
#include "routing/frr_conf.h"
#include "routing/frr_daemons.h"
#include "routing/frr_plan.h"
#include "routing/frr_talk.h"
#include "routing/frr_vty.h"

static const uint64_t TIMEOUT = 10000000;
enum { ROUNDS = 2 }; /* one to change, one to see that nothing is left */

static int reach(
	const char *run_dir, struct services *services, struct arena *arena, struct frr_vty **ret, struct buf *why)
{
	const char *path = frr_vty_path(run_dir, FRR_REHEARSAL, arena);
	char reason[SERVICE_REASON] = "";
	int r = frr_vty_open(path, TIMEOUT, ret);

	if (r == -ENOENT || r == -ECONNREFUSED) {
		r = services_start(services, FRR_REHEARSAL, reason);
		if (r == 0)
			r = frr_vty_open(path, TIMEOUT, ret);
	}
	if (r < 0)
		buf_printf(why, "no rehearsal: %s", reason[0] ? reason : strerror(-r));
	return r;
}

/* Graceful restart is zebra's too, and without one bgpd says no to what it has taken. */
static bool is_left_out(const struct frr_change *c)
{
	static const char *const words[] = {"ip prefix-list ", "ipv6 prefix-list ", "route-map "};
	const char *top = c->context[0] ? c->context[0] : c->line;

	if (strstr(c->line, "graceful-restart"))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (str_starts(top, words[i]))
			return true;
	return false;
}

static void leave_out(struct frr_delta *delta)
{
	size_t n = 0;

	for (size_t i = 0; i < delta->n; i++)
		if (!is_left_out(&delta->v[i]))
			delta->v[n++] = delta->v[i];
	delta->n = n;
}

static int what_is_left(
	struct frr_vty *vty, const struct frr_conf *want, struct arena *arena, struct frr_delta *ret, struct buf *why)
{
	struct frr_conf have;
	int r;

	frr_conf_init(&have, arena);
	r = frr_talk_running(vty, &have);
	if (r < 0) {
		buf_printf(why, "no rehearsal: %s", strerror(-r));
		return r;
	}
	*ret = (struct frr_delta){0};
	frr_delta(want, &have, arena, ret);
	leave_out(ret);
	return 0;
}

int rehearsal_run(const char *run_dir, struct services *services, const struct frr_conf *want, struct buf *why)
{
	_cleanup_(arena_freep) struct arena *arena = arena_new();
	_cleanup_(frr_vty_closep) struct frr_vty *vty = NULL;
	struct frr_delta delta = {0};
	int r = reach(run_dir, services, arena, &vty, why);

	for (unsigned round = 0; r == 0; round++) {
		r = what_is_left(vty, want, arena, &delta, why);
		if (r < 0 || delta.n == 0)
			return r;
		if (round == ROUNDS)
			break;
		r = frr_talk_change(vty, delta.v, delta.n, why);
	}
	if (r == 0) {
		buf_printf(why, "bgpd does not keep \"%s\"", frr_masked(delta.v[0].command, arena));
		r = -EINVAL;
	}
	return r;
}
