/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The fast flip: when BFD says that a line is dead, every route over it that has another way is overridden at once, by
 * netlink, in a thread of its own: neither BGP's work queues nor a commit that runs are waited for. An override has a
 * protocol and a metric that no other route has, and a better one than any; it is withdrawn when the route below it no
 * longer uses the dead line, when the line is back, when there has been nothing below it for a second, or when the line
 * has been dead for FLIP_MAX_SECONDS: by then BGP or the floating route have long taken over. All are flushed at start:
 * an override can never hide BGP for ever.
 *
 * The protocol is the kernel's own for redirects, because zebra passes that over (netlink_route_change_read_unicast()
 * in zebra/rt_netlink.c). With a private number it took an override for a better route than BGP's, took BGP's out of
 * the kernel, and put it back 10 ms after the override was gone: seen with FRR 8.4.4.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gateway/base/addr.h"
#include "routing/bfd_event.h"

enum {
	FLIP_PROTO = 1, /* RTPROT_REDIRECT */
	FLIP_METRIC = 5,
	FLIP_MAX_SECONDS = 30,
};

struct flip;

/*
 * A BFD session that matters for forwarding: next hop `peer` over `interface`. Without a peer (unnumbered): whoever is
 * there.
 */
struct flip_line {
	struct ip_addr peer;
	char interface[16];
};

/* What the thread tells the loop: the latest of each watched line; news not read yet are overtaken, not queued. */
struct flip_news {
	struct bfd_event event;
	bool dead;	/* the line is, as far as is known: what facts_set_dead() wants */
	unsigned moved; /* routes that were overridden */
	uint32_t usec;	/* from the event to the last of them in the kernel */
	bool lost;	/* nothing but: bfdd's socket is gone, all states are unknown until it is back */
};

/*
 * Flushes what an earlier life left, and starts the thread, which (re)connects to bfdd's socket by itself. max_seconds
 * is FLIP_MAX_SECONDS. Call it while privileged if the thread is to have a better nice value. 0 or -errno.
 */
int flip_open(const char *bfd_socket, unsigned max_seconds, struct flip **ret);
void flip_close(struct flip *flip); /* withdraws all overrides; NULL is fine */

/* Which next hops are watched; replaces the list. Of one that is new, its state follows as news. */
void flip_watch(struct flip *flip, const struct flip_line *lines, size_t n);

/* For the event loop: readable when there are news. flip_read: 1, 0 when there are no more, or -errno. */
int flip_fd(const struct flip *flip);
int flip_read(struct flip *flip, struct flip_news *ret);
