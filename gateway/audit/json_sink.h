/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines into rotating files (audit_files.h), in a thread of its own behind a bounded queue: a disk that is slow, full
 * or hangs never stops the reader of the kernel's events, and so never the gateway. What the queue or the disk did not
 * take is counted, and the record says so as soon as it can be written again. Edge.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_sink;

struct json_sink_counts {
	uint64_t lines, bytes; /* written */
	uint64_t lost;	       /* lines that never were */
	uint64_t files;	       /* begun */
	int error;	       /* -errno of the last try; 0: all is well */
};

/*
 * Starts the thread. The folder is made where it is missing; files are 0640, and of the group `fairway` where we may
 * give them to it. Together they never have more than max_files * max_size bytes. Never fails for reasons of the disk:
 * they are in the counts, and it is tried again every second. 0 or -errno.
 */
int json_sink_open(const char *dir, uint64_t max_size, size_t max_files, struct json_sink **ret);
/* Waits until all is written, but not for ever where the disk does not take it. NULL is fine. */
void json_sink_close(struct json_sink *sink);

void json_sink_limits(struct json_sink *sink, uint64_t max_size, size_t max_files);
/* Whole lines. True: they are in the queue; false: they are lost, and counted. */
bool json_sink_put(struct json_sink *sink, const char *lines, size_t len, size_t n_lines);
void json_sink_counts(struct json_sink *sink, struct json_sink_counts *ret);

/* When the last record in the folder was made, nanoseconds since 1970; 0: there is none, or it cannot be read. */
uint64_t json_sink_last_time(const char *dir);
