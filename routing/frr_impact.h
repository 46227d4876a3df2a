/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a changed line of FRR's configuration interrupts. Pure. */
#pragma once

struct arena;
struct frr_change;

/*
 * NULL: nothing. Else "resets BGP 172.31.0.2", "ends BGP 172.31.0.2", "resets all BGP sessions", "ends BFD 172.31.0.2".
 * What FRR takes without a reset, but uses from the next session on, interrupts nothing and says so: "BGP 172.31.0.2
 * uses it from its next session". What tests/net/test_frr_impact.py sees must be what this says.
 */
const char *frr_impact(const struct frr_change *change, struct arena *arena);

/* The peer whose session has to be reset for the change to have an effect, as FRR does not do it by itself; NULL: none.
 */
const char *frr_needs_reset(const struct frr_change *change, struct arena *arena);
