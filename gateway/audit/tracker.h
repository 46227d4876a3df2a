/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From the kernel's events to records: each flow starts once and ends once, whatever was lost, came twice, or came by a
 * dump. Pure: time and what to do with a record are the caller's.
 *
 *   started by   a new flow; a dump that has one which nobody told of; the end of one that was not known
 *   ended by     its end; or, without a record, by being in no dump and having no end told (counted as missing)
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gateway/audit/flow.h"
#include "gateway/audit/flow_table.h"
#include "gateway/audit/names_pool.h"

struct tracker {
	/* The caller's. */
	void (*emit)(const struct flow *flow, void *arg);
	void *arg;
	/* Flows that began until then have their start in the record already, of an earlier life; 0: there was none. */
	uint64_t recorded_until_ns;

	uint64_t started, ended, missing;
	/*
	 * Flows that only a dump has told of. The kernel tells the end of those that began while somebody listened, or
	 * while nf_conntrack_events was 1; of the others only the next dump can. So it takes one now and then, while
	 * there are any.
	 */
	size_t unsure;

	struct flow_table live;
	struct names_pool names;
	struct flow_table gone; /* while a dump runs: what ended in the meantime, and may still come in it */
	bool dumping;
};

void tracker_init(struct tracker *t, uint64_t seed, void (*emit)(const struct flow *flow, void *arg), void *arg);
void tracker_free(struct tracker *t);
/* Forgets all flows: nobody listens to their ends any more. */
void tracker_clear(struct tracker *t);
/* The names from now on; taken over. */
void tracker_set_names(struct tracker *t, struct audit_names *names);

void tracker_event(struct tracker *t, const struct ct_event *ct, uint64_t now_ns);

/* A dump: begin, each entry, end. whole: the kernel did not say that it may lack some. */
void tracker_dump_begin(struct tracker *t);
void tracker_dump_entry(struct tracker *t, const struct ct_event *ct, uint64_t now_ns);
/* How many flows were not in it: their ends may be on the way. */
size_t tracker_dump_end(struct tracker *t, bool whole);
/* Those whose end has not come since are missing: how many. */
size_t tracker_drop_stale(struct tracker *t);
