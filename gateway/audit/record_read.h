/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading the record: line by line, however large, while it is written. Files that are too old for the query are not
 * opened further than their first line. Edge.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct record_query;

/* A line without its newline, and not NUL-terminated; false ends the reading. */
typedef bool (*record_line_fn)(const char *line, size_t len, void *arg);

/* Every line of the files that may have some for the query; which ones do is the caller's to ask. 0 or -errno. */
int record_read(const char *dir, const struct record_query *q, record_line_fn fn, void *arg);

/*
 * The flows that are alive in the network namespace of this process (0: our own), as the lines of records with event
 * "live", with the names of cfg. Needs root.
 */
struct config;
int record_read_live(int pid, const struct config *cfg, record_line_fn fn, void *arg);
