/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kernel against intent: FRR's own view is no proof that the kernel has its routes and MACs. What differs, and goes on
 * differing (fib_diff.h), is repaired as zebra would have written it. Edge.
 *
 * The one idea: all of zebra's routes as JSON are too much to read often (10,000 take half a second), but the kernel
 * tells of nearly every change. So the destinations that it spoke of are asked one by one, and the whole is compared
 * rarely, for what changes without a word.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct fib_check;

struct fib_report {
	uint64_t looks, full_looks, repairs;
	int64_t last_time; /* seconds since 1970; 0: none yet */
	char last[192];	   /* the last repair in words */
};

/* frr_dir: where zebra's and bgpd's sockets are; they need not be there yet. */
int fib_check_open(const char *frr_dir, struct fib_check **ret);
void fib_check_close(struct fib_check *fc); /* NULL is fine */

/* For the event loop: readable means fib_check_heard(), which gives the time of the next look, as below. */
int fib_check_fd(const struct fib_check *fc);
uint64_t fib_check_heard(struct fib_check *fc, uint64_t now_usec);

/*
 * Looks and repairs, and logs what it repaired. now_usec: CLOCK_MONOTONIC. Returns when to look again: soon while
 * something differs or there was an event, else in some seconds; never so that looking takes more than a fifth of the
 * time.
 */
uint64_t fib_check_look(struct fib_check *fc, uint64_t now_usec);

const struct fib_report *fib_check_report(const struct fib_check *fc);
