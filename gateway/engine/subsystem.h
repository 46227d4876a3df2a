/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What ties a part of the gateway to the engine, and nothing else does. Const structs in one array (subsystems.c).
 *
 * The order of the array is the order in which things are made; tear-down runs backwards.
 */
#pragma once

#include <jansson.h>
#include <stddef.h>

struct config;
struct diag;
struct facts;
struct plan;
struct step;
struct txn;

struct subsystem {
	const char *name;

	/* The subsystem's own rules, beyond the schema's. Errors go to diag, with their place. Pure. */
	void (*check)(const struct config *cfg, struct diag *diag);

	/* What the kernel or a daemon has now. Reads only. 0 or -errno. */
	int (*observe)(void **ret_observed);

	/* Steps from observed to cfg under facts. cfg NULL: nothing is wanted, take down what is ours. Pure. 0 or
	 * -errno. */
	int (*plan)(const struct config *cfg, const struct facts *facts, const void *observed, struct plan *plan);

	/*
	 * Does n consecutive steps of this subsystem, in order, batched as it likes. 0: all done. -errno: txn_fail()
	 * was called with the step that failed; the others may or may not have been done, the engine observes again.
	 */
	int (*apply)(struct txn *txn, const struct step *const *steps, size_t n);

	void (*observed_free)(void *observed);

	/* Live state for `fairway show WHAT`. 0, -ENOENT (not mine), or -errno. The caller owns *ret. Reads only. */
	int (*show)(const char *what, const struct config *cfg, const struct facts *facts, json_t **ret);
};
