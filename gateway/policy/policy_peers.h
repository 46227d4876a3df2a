/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who reaches the gateway itself because the config names it as a peer: its BGP and BFD, and nothing else of it. No
 * rule can shut these out, and no rule is needed for them. (VXLAN is the guard's: overlay/guard_render.c.) Pure.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "gateway/base/addr.h"

struct arena;
struct config;

struct policy_peer {
	struct ip_addr addr;   /* unset: whoever has a link-local address on the interface */
	const char *interface; /* of a peer without address (unnumbered); else NULL */
	uint8_t proto;
	uint16_t port;	  /* ours */
	const char *what; /* "BGP of line ali-a", for people */
};

/* In arena; each once. */
const struct policy_peer *policy_peers_of(const struct config *cfg, struct arena *arena, size_t *ret_n);
