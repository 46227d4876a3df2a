/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Facts: what events tell us and no file says. An event changes a fact and the engine plans again; there is no second
 * code path for "runtime". Plain values, so that a test can write them down.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gateway/base/addr.h"

/* The largest packet that a path carries, learned from ICMP: smaller than the line's MTU, or the fact is not there. */
struct path_fact {
	struct ip_addr vtep; /* the remote's */
	char interface[16];  /* the line's */
	uint32_t mtu;
};

struct facts {
	struct path_fact *paths; /* sorted by vtep, interface */
	size_t n_paths;
	/* What this kernel can do. */
	bool has_vrf;
};

void facts_init(struct facts *facts);
void facts_free(struct facts *facts);

/* Sets (mtu > 0) or forgets (mtu 0) a path's MTU. True if that changed anything. */
bool facts_set_path_mtu(struct facts *facts, const struct ip_addr *vtep, const char *interface, uint32_t mtu);
/* 0: nothing smaller than the line is known. */
uint32_t facts_path_mtu(const struct facts *facts, const struct ip_addr *vtep, const char *interface);
