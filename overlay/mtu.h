/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All MTU and MSS arithmetic of the gateway, in this one place. Pure.
 *
 * Bytes on an underlay of IP MTU M: outer IP (20 or 40) + [ESP] + UDP 8 + VXLAN 8 + inner Ethernet 14 (+4 per VLAN
 * tag). What is left is the inner IP MTU: what a sender may use, and what it will be told.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct config;
struct facts;
struct remote;
struct arena;
struct segment;
struct line;

enum {
	MTU_IPV4_MIN = 68,
	MTU_IPV6_MIN = 1280, /* RFC 8200 section 5 */
	MTU_ETHERNET = 1500, /* RFC 894: where nobody says otherwise */
	MTU_VXLAN_MAX = 65485,
};
enum { MSS_IPV4_MIN = 536, MSS_IPV6_MIN = 1220, MSS_IPV4_MAX = 65495, MSS_IPV6_MAX = 65475 };

enum esp_mode { ESP_NONE, ESP_TRANSPORT, ESP_TUNNEL };

struct encap {
	bool ipv6_outer;
	uint8_t vlan_tags; /* of the inner frame */
	enum esp_mode esp; /* AES-GCM with a 16-byte tag, RFC 4106 */
	bool nat_t;	   /* ESP in UDP, RFC 3948 */
};

/* Bytes that the encapsulation takes from the underlay's IP MTU (for ESP: at this underlay MTU, padding included). */
uint32_t mtu_overhead(const struct encap *encap, uint32_t underlay);
/* Inner IP MTU; 0 if nothing is left. */
uint32_t mtu_inner(const struct encap *encap, uint32_t underlay);
/* TCP MSS that fits an IP MTU: less 40 for IPv4, 60 for IPv6; 0 if below the family's minimum. */
uint32_t mss_ipv4(uint32_t mtu);
uint32_t mss_ipv6(uint32_t mtu);

/* "1500 - 20 (IPv4) - 8 (UDP) - 8 (VXLAN) - 14 (Ethernet) = 1450": for messages. ret has 160 bytes. */
const char *mtu_arithmetic(const struct encap *encap, uint32_t underlay, char ret[160]);

/* facts may be NULL everywhere here: nothing was learned. */

/* Of a config: underlay IP MTU towards a remote: the smallest of its enabled lines' mtu, path-mtu and learned path MTU.
 */
uint32_t mtu_of_remote(const struct config *cfg, const struct facts *facts, const struct remote *remote);

/* All numbers of one segment. */
struct segment_mtu {
	uint32_t underlay; /* smallest towards any of its remotes; 1500 where it has none */
	uint32_t inner;	   /* inner IP MTU: what a sender is told */
	uint32_t device;   /* MTU of the VXLAN device: bridged the hosts' MTU, routed the inner MTU */
	uint32_t largest;  /* IP packet that passes whole: the smaller of inner and device */
	uint32_t mss_ipv4; /* 0: not clamped */
	uint32_t mss_ipv6;
	struct encap encap;
};
void mtu_of_segment(
	const struct config *cfg, const struct facts *facts, const struct segment *seg, struct segment_mtu *ret);

/*
 * The VXLAN side of each L3 VNI (type 5 routes) as a routed segment with all EVPN remotes, named after whose it is.
 * In `arena`.
 */
const struct segment *segment_of_l3_vnis(const struct config *cfg, struct arena *arena, size_t *ret_n);

/* Does the segment have an IPv6 gateway address? */
bool segment_carries_ipv6(const struct segment *seg);
