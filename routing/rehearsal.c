/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See rehearsal.h. The understudy is started once and kept, so that it has what the last commit left and a rehearsal is
 * the same few lines as the change.
 */
#include "routing/rehearsal.h"

#include <errno.h>
#include <string.h>

#include "gateway/base/arena.h"
#include "gateway/base/buf.h"
#include "gateway/base/cleanup.h"
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
