/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The prefix files that groups of a policy name. Edge: reads files. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "gateway/base/addr.h"

struct config;
struct diag;
struct buf;

enum { PREFIX_FILE_MAX = 128 * 1024 * 1024 };

/*
 * Every file there is, each of its lines a prefix? What is wrong stands with FILE:LINE:COL in the message, at the place
 * of the group's `file`. lenient: as warnings, for a boot, where what was good last can be used.
 */
void prefix_file_check(const struct config *cfg, bool lenient, struct diag *diag);

/* One file, whole: *ret of malloc(). 0, or -errno with why in words, a line each: "/a/b:17:1: ..." */
int prefix_file_read(const char *path, struct ip_prefix **ret, size_t *ret_n, struct buf *why);
