/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Path MTU of the underlay, as ICMP taught it to the kernel: the route exceptions towards each remote vtep, asked per
 * line (RTM_GETROUTE with an output interface). The kernel sends no event for them, so this is asked once a second.
 */
#pragma once

#include <stdbool.h>

struct config;
struct facts;

/* Brings the path facts up to date. Sets *ret_changed. A learned value is kept when the kernel's exception expires. 0
 * or -errno. */
int pathmtu_refresh(const struct config *cfg, struct facts *facts, bool *ret_changed);
