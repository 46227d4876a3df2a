/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Packets that are too big for a bridged segment and that the kernel's VXLAN driver loses without a word: what is done
 * with one of them, from its bytes alone. Pure.
 *
 * The driver answers a bridged packet that is whole and may not be fragmented, and nothing else (measured: facts/mtu).
 * toobig_render.c has the kernel hand us the others; each is either answered in the driver's manner, or, where it is
 * IPv4 and may be fragmented, is fragmented here, because nobody may do that to the outer packet.
 *
 * A frame here is a MAC header, with VLAN tags or without, and an IP packet, of which the end may be cut off.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum {
	/* The groups of nfnetlink_log that the table fairway_bridge logs to: one listener each in a network namespace.
	 */
	TOOBIG_GROUP_ANSWER = 18007,
	TOOBIG_GROUP_FRAGMENT = 18008,

	TOOBIG_QUOTE_IPV6 = 1280 - 40 - 8, /* RFC 4443 3.2: as much as fits the smallest MTU */
	TOOBIG_QUOTE_IPV4 = 576 - 20 - 8,  /* RFC 1812 4.3.2.3 */
	TOOBIG_MAC_MAX = 14 + 2 * 4,	   /* two VLAN tags */
	TOOBIG_ANSWER_MAX = TOOBIG_MAC_MAX + 1280,
	TOOBIG_FRAME_MAX = TOOBIG_MAC_MAX + 65535,
};

/* The answer to the sender, as a frame: it comes from the packet's destination, as the driver's do. */
struct toobig_answer {
	uint8_t frame[TOOBIG_ANSWER_MAX];
	size_t len;
	size_t icmp;	/* where in the frame the ICMP message begins */
	uint8_t family; /* AF_INET, AF_INET6 */
	uint8_t to[16]; /* the sender's address, network order */
};

/*
 * ICMP fragmentation needed (RFC 1191) or ICMPv6 packet too big (RFC 4443 3.2) with this MTU. 0, or -ENOMSG: no answer
 * is due to this packet (it fits, it is an ICMP error, it is no first fragment, it was sent to or from a group), or it
 * is no such packet at all.
 */
int toobig_answer(const uint8_t *frame, size_t len, uint32_t mtu, struct toobig_answer *ret);

/*
 * Fragments an IPv4 packet (RFC 791) and gives each piece, a frame in `room`, to `emit`. The packet may be a fragment
 * already. 0 or -ENOMSG: may not be fragmented, or is not whole; then nothing was emitted.
 */
struct toobig_out {
	void (*emit)(const uint8_t *frame, size_t len, void *arg);
	void *arg;
	uint8_t room[TOOBIG_FRAME_MAX];
};
int toobig_fragment(const uint8_t *frame, size_t len, uint32_t mtu, struct toobig_out *out);
