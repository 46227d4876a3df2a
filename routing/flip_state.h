/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is known of each watched line, and since when. Pure: time comes from the caller, in microseconds. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "routing/bfd_event.h"
#include "routing/flip.h"

struct arena;

struct watched {
	struct flip_line line;
	struct bfd_event last; /* its last event; peer unset: none yet */
	bool dead;
	uint64_t died;	/* when dead */
	uint64_t doubt; /* since when BFD does not say so any more; 0: it does */
};

struct flip_state {
	struct watched *v;
	size_t n;
	uint64_t max_usec; /* how long a death, or a doubted one, counts */
};

void flip_state_free(struct flip_state *s);

/* Replaces the lines; what is known of those that stay is kept. */
void flip_state_watch(struct flip_state *s, const struct flip_line *lines, size_t n);

/* The line that the event changed; NULL: it is not watched, or this is no news of it. */
struct watched *flip_state_event(struct flip_state *s, const struct bfd_event *event, uint64_t now);

/* bfdd is gone: its word does not count any more. */
void flip_state_lost(struct flip_state *s, uint64_t now);

/* A line that was dead and has been in doubt for too long: it counts as alive now. NULL: there is none (more). */
struct watched *flip_state_expire(struct flip_state *s, uint64_t now);

/* The lines to flip around, as flip_overrides() wants them: those that died within max_usec. In `arena`. */
size_t flip_state_dead(const struct flip_state *s, uint64_t now, struct arena *arena, struct flip_line **ret);

/* When time alone changes what the two above say; UINT64_MAX: never. */
uint64_t flip_state_deadline(const struct flip_state *s, uint64_t now);
