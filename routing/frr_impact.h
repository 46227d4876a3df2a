/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a changed line of FRR's configuration interrupts. Pure. */
#pragma once

struct arena;
struct frr_change;

/* NULL: nothing. Else e.g. "resets BGP 172.31.0.2", "ends BGP 172.31.0.2", "resets all BGP sessions", "ends BFD
 * 172.31.0.2". */
const char *frr_impact(const struct frr_change *change, struct arena *arena);
