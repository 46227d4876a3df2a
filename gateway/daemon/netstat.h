/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's own counts of this network namespace: /proc/net/netstat. Edge, but for the reading of the text. */
#pragma once

#include <stdint.h>

/* Of a group ("IpExt") the count of this name ("ReasmOverlaps"), as the kernel's text has it; -1: it is not there. */
int64_t netstat_find(const char *text, const char *group, const char *name);
/* The same of the kernel, now. */
int64_t netstat_count(const char *group, const char *name);
