/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files below /proc/sys, in the network namespace that we are in. Edge. */
#pragma once

enum { PROCSYS_VALUE_MAX = 64 };

/* key: "net/ipv4/ip_forward". 0, -ENOENT where the kernel has no such key, or -errno. */
int procsys_read(const char *key, char ret[PROCSYS_VALUE_MAX]);
int procsys_write(const char *key, const char *value);
