/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs kernel against intent (routing/fib_check.h) in the namespace that it is started in, beside daemons that the test
 * started, until standard input ends. Each repair is a line of the log; at the end, the counters on standard output.
 */
/* LINK: routing/fib_check.c routing/fib_diff.c routing/fib_kernel.c routing/frr_vty.c routing/zebra_parse.c overlay/model.c overlay/observe_parse.c overlay/rtsock.c */
/* LIBS: libnl-3.0 jansson */
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "gateway/base/log.h"
#include "routing/fib_check.h"

static uint64_t clock_now(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000 + (uint64_t)ts.tv_nsec / 1000;
}

int main(int argc, char **argv)
{
	struct fib_check *fc;
	uint64_t next = 0, busy = 0, start = clock_now();
	const struct fib_report *report;

	if (argc != 2 || fib_check_open(argv[1], &fc) < 0)
		return 1;
	log_open("fib_selftest", LOG_INFO);
	for (;;) {
		struct pollfd fds[] = {{.fd = 0, .events = POLLIN}, {.fd = fib_check_fd(fc), .events = POLLIN}};
		uint64_t now = clock_now();

		if (now >= next) {
			next = fib_check_look(fc, now);
			busy += clock_now() - now;
			continue;
		}
		if (poll(fds, 2, (int)((next - now) / 1000) + 1) < 0 || fds[0].revents)
			break;
		if (fds[1].revents)
			next = fib_check_heard(fc, clock_now());
	}
	report = fib_check_report(fc);
	(void)printf("{\"looks\": %llu, \"full_looks\": %llu, \"repairs\": %llu, \"busy_percent\": %llu}\n",
		(unsigned long long)report->looks, (unsigned long long)report->full_looks,
		(unsigned long long)report->repairs, (unsigned long long)(100 * busy / (clock_now() - start + 1)));
	fib_check_close(fc);
	return 0;
}
