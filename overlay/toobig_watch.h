/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers and fragments packets that are too big for a bridged segment, as the table fairway_bridge logs them.
 * toobig.h says what is done with each. A descriptor for the event loop, like monitor.h; at most one listener in a
 * network namespace.
 */
#pragma once

#include <stdint.h>

struct toobig_watch;

struct toobig_counts {
	uint64_t answered, fragmented;
	uint64_t ignored;  /* no answer was due, or it could not be sent */
	uint64_t overruns; /* times that the kernel had more packets than were read */
};

/* Needs CAP_NET_RAW and CAP_NET_ADMIN, for this only. 0 or -errno: -EBUSY where somebody else listens. */
int toobig_watch_open(struct toobig_watch **ret);
void toobig_watch_close(struct toobig_watch *w);
int toobig_watch_fd(const struct toobig_watch *w);
/* Some of what is there to read, so that others have their turn. 0, or -errno: nothing more will come. */
int toobig_watch_read(struct toobig_watch *w);
const struct toobig_counts *toobig_watch_counts(const struct toobig_watch *w);
