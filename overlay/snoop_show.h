/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What neighbor suppression did, from the counters of snoop_render.c. Edge, reads only. */
#pragma once

#include <jansson.h>

struct config;

/*
 * {"VNI": {"asked", "flooded", "suppressed"}} of each segment that suppresses: questions of its members to all (ARP
 * requests, neighbor solicitations), those of them that went to the remotes all the same, and the difference. NULL: the
 * kernel did not say. The caller owns it.
 */
json_t *snoop_show(const struct config *cfg);
