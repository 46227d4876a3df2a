/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * FRR 8.4's bgpd does not tell a zebra that starts anew what the old one knew: its routes would be missing for good.
 * Nor does it look for one more often than every 10 s. So the new zebra keeps for ZEBRA_KEEPS what it finds in the
 * kernel, and bgpd is made to tell all when it is there, and its routes once more when zebra has swept what it found.
 * Edge.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { ZEBRA_KEEPS = 60 }; /* seconds: bgpd's 10, and a large commit that the loop may be busy with */

struct config;

struct frr_retell {
	pid_t zebra;	  /* the last one seen; 0: none yet */
	uint64_t swept;	  /* when the new one has, monotonic microseconds */
	bool found, done; /* what was told to it; both true: nothing is to be done */
};

/* One turn: zebra's pid now (0: it does not run); `cfg` runs, and has a bgp. Costs nothing while zebra stays the same.
 */
void frr_retell_turn(
	struct frr_retell *r, const char *run_dir, pid_t zebra, const struct config *cfg, uint64_t now_usec);
