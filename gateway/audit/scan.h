/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who scans: a source that is denied many different destinations within a minute. Memory is bounded, whatever the
 * sources are: a source that was denied longest ago gives its place to a new one. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct deny;
struct scan_table;

enum { SCAN_SOURCES = 4096, SCAN_WINDOW = 60 /* seconds */, SCAN_DESTINATIONS_MAX = 1000 };

/* destinations: so many make a scan, 2 to SCAN_DESTINATIONS_MAX. Free with scan_table_free(); NULL is fine. */
struct scan_table *scan_table_new(uint32_t destinations);
void scan_table_free(struct scan_table *t);

/*
 * Notes a denied packet at `now`, in seconds of a clock that only goes forward. True: with it its source has been
 * denied that many destinations (address, protocol and port, or type of ICMP) in the last minute; it starts from
 * nothing then.
 *
 * Packets that say nothing of who sent them are not noted: forged sources, and what belongs to no flow.
 */
bool scan_note(struct scan_table *t, const struct deny *deny, uint64_t now);
