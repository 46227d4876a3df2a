/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Diagnostics for programs. Pure. */
#pragma once

#include <jansson.h>

struct diag;

/* [{"line", "column", "severity", "text"}]; line 0 is the file as a whole. */
json_t *diag_to_json(const struct diag *diag);
