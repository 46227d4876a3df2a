/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A record as one line of JSON (RFC 8259), the format of the audit's files and of its syslog messages. Pure. It is
 * written by hand, member by member, because it is the work of the reader's thread; docs/operator-guide.md has the
 * members. The time stands first and has always the same length, so that a search can skip lines without decoding.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "gateway/audit/flow.h"

enum {
	FLOW_JSON_MAX = 2048,
	FLOW_TIME_LEN = 27, /* "2026-12-01T10:00:00.123456Z" */
};

/* Keeps the texts of some seconds: flows end now, and began whenever. Zero is a good start. One for each thread. */
enum { FLOW_CLOCK_SECONDS = 256 };
struct flow_clock {
	struct {
		uint64_t second;
		char text[FLOW_TIME_LEN + 1];
	} v[FLOW_CLOCK_SECONDS];
};

/* Puts the time (nanoseconds since 1970) and a NUL at out. */
void flow_time_print(struct flow_clock *clock, uint64_t ns, char out[FLOW_TIME_LEN + 1]);
/* "2026-12-01T10:00:00.123456Z", or shorter from the right: a day, a minute. 0 or -EINVAL. */
int flow_time_parse(const char *text, uint64_t *ret_ns);

/* One line with its newline, at most FLOW_JSON_MAX bytes, without a NUL. Its length. */
size_t flow_json(struct flow_clock *clock, const struct flow *flow, char out[FLOW_JSON_MAX]);
