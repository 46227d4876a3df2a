/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From what FRR's daemons run to what they should: the steps of the plan. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "routing/frr_conf.h"

struct arena;
struct config;
struct facts;
struct frr_change;
struct plan;

/* In the order in which they are started; they are stopped backwards. */
enum frr_daemon { DAEMON_ZEBRA, DAEMON_BFDD, DAEMON_BGPD, N_FRR_DAEMONS, DAEMON_REHEARSAL = N_FRR_DAEMONS };

const char *frr_daemon_name(enum frr_daemon daemon);

/* What was seen of one daemon. */
struct frr_state {
	bool running;
	struct frr_conf conf; /* empty if it does not run */
};

struct frr_observed {
	struct arena *arena;
	struct frr_state daemons[N_FRR_DAEMONS];
	bool rehearsal; /* it runs; rehearsal.c starts it, where bgpd changes */
};

enum frr_op { FRR_START, FRR_STOP, FRR_CHANGE };

/* Payload of a step. */
struct frr_step {
	enum frr_op op;
	enum frr_daemon daemon;
	const struct frr_change *changes; /* FRR_CHANGE: n of them, in the order in which they are sent */
	size_t n;
	const struct frr_conf *rehearse; /* FRR_CHANGE, the first of bgpd: all that is wanted of it; else NULL */
};

/* Both config and observation outlive the plan. cfg NULL, or one that needs no FRR: the daemons are stopped. */
void frr_plan(
	const struct config *cfg, const struct facts *facts, const struct frr_observed *observed, struct plan *plan);

/* The line with what is behind `password` masked, if it has one; in `arena`, or the line itself. */
const char *frr_masked(const char *line, struct arena *arena);
