/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records to the machine's syslog: a datagram to /dev/log for each, facility local0, with the record's line of JSON. It
 * never waits; what syslogd does not take is counted. Edge.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define SYSLOG_SOCKET "/dev/log"

struct syslog_sink {
	const char *path; /* borrowed */
	int fd;		  /* -1: not connected; it is tried again once a second */
	uint64_t sent, lost;
	uint64_t second; /* that `stamp` is of */
	char stamp[16];
	int error; /* -errno of the last try; 0: all is well */
};

void syslog_sink_open(struct syslog_sink *sink, const char *path);
void syslog_sink_close(struct syslog_sink *sink);
/* A line without its newline. */
void syslog_sink_put(struct syslog_sink *sink, const char *line, size_t len, uint64_t now_ns);
