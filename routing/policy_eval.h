/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a routing policy makes of a prefix of our own, before any daemon does: for counting and for checks. Pure. */
#pragma once

#include <stdbool.h>

struct config;
struct ip_prefix;
struct prefix_list;

/* As FRR: the first entry that matches decides; none: not permitted. */
bool prefix_list_permits(const struct prefix_list *list, const struct ip_prefix *prefix);

/* Would the policy let a prefix of ours out? One that we originate has no communities. policy NULL: false. */
bool policy_permits(const struct config *cfg, const char *policy, const struct ip_prefix *prefix);
