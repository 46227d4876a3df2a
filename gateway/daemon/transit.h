/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fail closed: while there is no configuration that is good, nothing passes through this machine, and what is for the
 * machine itself stays as it is, so that it can be managed. Two small nft tables, whose name says it; they outlive
 * fairwayd. They go when a configuration runs, and with it whatever policy it has.
 */
#pragma once

#include <stdbool.h>

/* False after logging why not. */
bool transit_close(void);
bool transit_open(void);
