/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A kernel for tests of the engine: two subsystems, "alpha" and "beta", that each keep one number per segment of the
 * config (its mtu, under its name). Faults are put in by hand.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct config;
struct subsystem;

enum { FAKE_MAX = 64, FAKE_NAME = 16 };

struct fake_object {
	char name[FAKE_NAME];
	uint32_t value;
	bool foreign; /* somebody else's: a conflict */
};

struct fake_side {
	struct fake_object v[FAKE_MAX]; /* sorted by name */
	size_t n;
};

struct fake {
	struct fake_side sides[2]; /* alpha, beta */
	size_t n_applied, n_observed, n_apply_calls;
	size_t fail_at;		 /* the step, counted from 1 over all applies, that fails; 0: none */
	bool fail_on;		 /* and all after it */
	const char *fail_object; /* steps of this segment fail */
	const char *forget;	 /* steps of this segment succeed and change nothing */
	unsigned slow;		 /* so many applies change nothing, then they do */
	int observe_error;
};

extern struct fake fake;
extern const struct subsystem *const fake_subsystems[2];

void fake_reset(void);
struct fake_object *fake_find(size_t side, const char *name);
void fake_put(size_t side, const char *name, uint32_t value, bool foreign);
void fake_remove(size_t side, const char *name);

/* A config of segments from "a=1400 b=1500"; static storage per slot (0..3). */
const struct config *fake_config(unsigned slot, const char *text);
/* Has the kernel exactly cfg's objects (NULL: none), beside foreign ones? */
bool fake_is(const struct config *cfg);
