/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes the hosts that are heard of (snoop.h) neighbors on their segment's bridge: for the bridge's suppression, and
 * for zebra, which tells other gateways. A descriptor for the event loop; at most one in a network namespace.
 *
 * The one idea: all that is known stands in the kernel, marked as ours, with the time of its last word. So a restart
 * loses nothing, and zebra's own entries, for hosts that have moved away, simply take the place of ours.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct config;
struct snoop_watch;

enum {
	SNOOP_NEIGHBORS_MAX =
		4096, /* of one segment; a host more is not learned: a flood of forged addresses ends there */
	SNOOP_SILENT_SEC = 1200, /* a host that says nothing for as long is forgotten; as ARP caches of routers do */
};

struct snoop_counts {
	uint64_t learned; /* heard of, and known since */
	uint64_t refused; /* above SNOOP_NEIGHBORS_MAX */
	uint64_t ignored; /* no such message, or the sender is not whom it says, or may not be */
	uint64_t expired, overruns;
};

/* Needs CAP_NET_ADMIN. 0 or -errno: -EBUSY where somebody else listens. */
int snoop_watch_open(struct snoop_watch **ret);
void snoop_watch_close(struct snoop_watch *w); /* NULL is fine */
int snoop_watch_fd(const struct snoop_watch *w);
/* Some of what is there to read, by the config that runs. 0, or -errno: nothing more will come. */
int snoop_watch_read(struct snoop_watch *w, const struct config *cfg);

/*
 * To be called every few seconds: forgets who is silent, or whose segment does not suppress any more, and counts. Not
 * before a config runs: by none, all are forgotten.
 */
int snoop_watch_age(struct snoop_watch *w, const struct config *cfg);
const struct snoop_counts *snoop_watch_counts(const struct snoop_watch *w);
