/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Denied packets as records: with names, no more a second than the config allows, and the others counted. Edge: asks
 * for the names of interfaces. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gateway/audit/deny.h"
#include "gateway/audit/flow.h"

enum { DENY_BUFFER = 8 * 1024 * 1024, DENY_INTERFACES = 256 };

struct deny_record {
	uint64_t seen, omitted, lost;
	uint64_t overruns; /* times that the kernel could not tell; what was lost shows in the next one's number */
	/* Of this second. */
	uint64_t second, in_second;
	/* Not told in the record yet. */
	uint64_t omitted_new, lost_new;
	bool has_seq;
	uint32_t seq; /* the next that is expected */
	/* Names of interfaces, for a second. */
	struct {
		uint32_t ifindex;
		uint64_t second;
		char name[16];
	} interfaces[DENY_INTERFACES];
	char verdict[DENY_VERDICT_MAX]; /* of the last record */
	struct audit_place from, to;
};

/* True: record *ret, which is good until the next call. */
bool deny_record_take(struct deny_record *d, const struct deny *deny, const struct audit_names *names,
	uint32_t per_second, uint64_t now_ns, struct flow *ret);

struct deny_omitted {
	uint64_t over_rate, lost;
};
/* What was left out since it was last asked; false: nothing. */
bool deny_record_omitted(struct deny_record *d, struct deny_omitted *ret);
