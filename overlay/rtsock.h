/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A route netlink socket: dumps, single requests, and batches of up to 64 requests in one send(2).
 *
 * A request of a batch carries the caller's tag; the kernel answers each by its sequence number, so a failure names
 * the tag it belongs to, with the kernel's own words (extended ack) where it has some.
 */
#pragma once

#include <netlink/msg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "overlay/msg_put.h"

enum { RTSOCK_BATCH = 64, RTSOCK_WORDS = 192 };

struct rtsock;

struct rtsock_failure {
	bool (*is_fine)(const void *tag, int error); /* an error that does not matter: what is to be deleted is gone */
	int error;				     /* negative errno; 0 while all is well */
	const void *tag;			     /* of the first request that failed */
	char words[RTSOCK_WORDS];
};

int rtsock_open(struct rtsock **ret);
void rtsock_close(struct rtsock *s);
void rtsock_closep(struct rtsock **s);

/* The next message, empty but for its header; the same memory each time. */
struct nl_msg *rtsock_begin(struct rtsock *s, uint16_t type, uint16_t flags);

/*
 * Sends what rtsock_begin() and msg_put() made as a dump request and gives each answer to fn, which returns 0 or
 * -errno. When the kernel says that the dump was interrupted by a change, restart() forgets what fn took, and it begins
 * anew.
 */
struct rtsock_reader {
	int (*fn)(struct nlmsghdr *h, void *arg);
	void (*restart)(void *arg);
	void *arg;
};
int rtsock_dump(struct rtsock *s, const struct rtsock_reader *reader);

/* Sends one request and gives its one answer to fn. 0, or -errno as the kernel says. */
int rtsock_get(struct rtsock *s, int (*fn)(struct nlmsghdr *h, void *arg), void *arg);

/* Puts the message into the batch and sends it if it is full. 0, or -errno with *failure filled. */
int rtsock_queue(struct rtsock *s, const void *tag, struct rtsock_failure *failure);
int rtsock_flush(struct rtsock *s, struct rtsock_failure *failure);

size_t rtsock_n_queued(const struct rtsock *s);

/* How often send(2) was called: for tests. */
uint64_t rtsock_n_sends(const struct rtsock *s);
