/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The only list of subsystems. */
#pragma once

#include <stddef.h>

struct subsystem;

extern const struct subsystem *const subsystems[];
extern const size_t n_subsystems;
