/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel as it is now: the sealed model, and notes of links for `show`. Edge, reads only. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "overlay/model.h"

struct link_note;

struct observation {
	struct kernel_model model;     /* its arena owns everything, this struct too */
	const struct link_note *notes; /* sorted by ifindex */
	size_t n_notes;
};

/* with_counters: the links' packet counters too, which the plan does not need. 0 or -errno. */
int observe(bool with_counters, struct observation **ret);
void observation_free(struct observation *o);
void observation_freep(struct observation **o);

/* NULL if there is no such link. */
const struct link_note *observation_note(const struct observation *o, const char *link);
