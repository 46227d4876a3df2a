/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The flags of a bridge port that somebody may turn so that traffic is lost without a word, one row each: what is read,
 * what is put back and what the plan says of it cannot drift apart.
 *
 * Most ports of ours have what the kernel gives a new one, so the model notes only which are not so: bit i of
 * link.port_unusual is row i. Nothing has to be said when such a port is made, and a kernel that lacks a flag shows
 * none.
 */
#pragma once

#include <linux/if_link.h>
#include <stdbool.h>

/* Bits of rows that a port of ours may have turned on purpose: that of a VXLAN device of an EVPN segment. */
enum { PORT_NO_LEARNING = 1 << 0, PORT_NEIGH_SUPPRESS = 1 << 6 };

static const struct port_flag {
	const char *name; /* as bridge(8) has it */
	int attr;	  /* IFLA_BRPORT_*, one byte */
	bool usual;
} port_flags[] = {
	{"learning", IFLA_BRPORT_LEARNING, true},
	{"flood", IFLA_BRPORT_UNICAST_FLOOD, true},
	{"mcast_flood", IFLA_BRPORT_MCAST_FLOOD, true},
	{"bcast_flood", IFLA_BRPORT_BCAST_FLOOD, true},
	{"isolated", IFLA_BRPORT_ISOLATED, false},
	{"locked", IFLA_BRPORT_LOCKED, false},
	{"neigh_suppress", IFLA_BRPORT_NEIGH_SUPPRESS, false},
	{"proxy_arp", IFLA_BRPORT_PROXYARP, false},
	{"hairpin", IFLA_BRPORT_MODE, false},
	{"guard", IFLA_BRPORT_GUARD, false},
	{"root_block", IFLA_BRPORT_PROTECT, false},
	{"fastleave", IFLA_BRPORT_FAST_LEAVE, false},
};
