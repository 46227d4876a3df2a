/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which host has which address, from what the host itself says: ARP (RFC 826) and neighbor discovery (RFC 4861). Pure.
 *
 * A bridge with neighbor suppression answers for hosts whose address it knows as a neighbor, and EVPN tells other
 * gateways of those only. In a segment without a gateway address nobody has made such neighbors (field case 14), so
 * snoop_render.c has the kernel hand us the members' ARP and ND, and snoop_watch.c makes them.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "gateway/base/addr.h"

enum {
	SNOOP_GROUP = 18009, /* of nfnetlink_log */
	SNOOP_BYTES = 128,   /* enough of a packet: IPv6 40, ND 24, and its options */
};

/* The prefixes of the log: in a segment with gateway addresses the kernel keeps neighbors itself too, and ages them. */
#define SNOOP_LAYER2 "layer2"
#define SNOOP_GATEWAY "gateway"

struct snoop_host {
	struct ip_addr addr;
	struct mac_addr mac;
};

/*
 * The sender, as an untagged frame says: `mac` is its MAC header, `packet` what follows, of which the end may be cut
 * off. 0 or -ENOMSG: it is no such message, it says nothing of its sender, or one of its MAC addresses is another than
 * the frame's: who answers for others is not believed.
 */
int snoop_parse(const uint8_t *mac, size_t mac_len, const uint8_t *packet, size_t len, struct snoop_host *ret);
