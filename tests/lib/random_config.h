/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Random configs as YAML text, from the schema table: valid for config_parse(), not for the subsystems' own rules. */
#pragma once

#include <stdint.h>

struct buf;

extern uint64_t random_config_seed; /* for messages; the user's to set */

/* The same seed gives the same text. Variants of one seed say the same in other ways, but for a few values. */
void random_config(uint64_t seed, unsigned variant, struct buf *out);
