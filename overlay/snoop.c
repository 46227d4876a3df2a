/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See snoop.h. */
#include "overlay/snoop.h"

#include <errno.h>
#include <net/ethernet.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>

enum {
	MAC_HEADER = 14,
	ARP_LEN = 28,
	IPV6_HEADER = 40,
	ND_LEN = 24, /* NS and NA: type to target address */
	SOLICIT = 135,
	ADVERTISE = 136, /* RFC 4861 4.3, 4.4 */
	SOURCE_OPTION = 1,
	TARGET_OPTION = 2, /* RFC 4861 4.6.1 */
};

static uint16_t be16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static int take(const uint8_t *frame_source, const uint8_t *said, struct snoop_host *ret)
{
	if (!ip_addr_is_unicast_host(&ret->addr) || memcmp(frame_source, said, sizeof(ret->mac.bytes)) != 0)
		return -ENOMSG;
	memcpy(ret->mac.bytes, said, sizeof(ret->mac.bytes));
	return 0;
}

/* Requests and replies for IPv4 over Ethernet. A probe (RFC 5227) has no sender's address yet. */
static int parse_arp(const uint8_t *source, const uint8_t *p, size_t len, struct snoop_host *ret)
{
	static const uint8_t head[6] = {0, 1, 8, 0, 6, 4};

	if (len < ARP_LEN || memcmp(p, head, sizeof(head)) != 0 || be16(p + 6) < 1 || be16(p + 6) > 2)
		return -ENOMSG;
	ret->addr = (struct ip_addr){.family = AF_INET};
	memcpy(ret->addr.bytes, p + 14, 4);
	return take(source, p + 8, ret);
}

static const uint8_t *find_option(const uint8_t *p, size_t len, uint8_t type)
{
	while (len >= 8 && p[1] > 0 && (size_t)p[1] * 8 <= len) {
		if (p[0] == type)
			return p + 2;
		len -= (size_t)p[1] * 8;
		p += (size_t)p[1] * 8;
	}
	return NULL;
}

/* A solicitation is of its source, an advertisement of its target. Hop limit 255: nobody forwarded it. */
static int parse_nd(const uint8_t *source, const uint8_t *p, size_t len, struct snoop_host *ret)
{
	const uint8_t *nd = p + IPV6_HEADER, *addr, *mac;
	bool solicits;

	if (len < IPV6_HEADER + ND_LEN || p[0] >> 4 != 6 || p[6] != IPPROTO_ICMPV6 || p[7] != 255 ||
		(nd[0] != SOLICIT && nd[0] != ADVERTISE) || nd[1] != 0)
		return -ENOMSG;
	solicits = nd[0] == SOLICIT;
	addr = solicits ? p + 8 : nd + 8;
	mac = find_option(nd + ND_LEN, len - IPV6_HEADER - ND_LEN, solicits ? SOURCE_OPTION : TARGET_OPTION);
	if (!mac)
		return -ENOMSG;
	ret->addr = (struct ip_addr){.family = AF_INET6};
	memcpy(ret->addr.bytes, addr, 16);
	return take(source, mac, ret);
}

int snoop_parse(const uint8_t *mac, size_t mac_len, const uint8_t *packet, size_t len, struct snoop_host *ret)
{
	static const uint8_t none[6] = {0};
	struct snoop_host host;
	const uint8_t *source = mac + 6;
	int r = -ENOMSG;

	if (mac_len != MAC_HEADER || (source[0] & 1) || memcmp(source, none, sizeof(none)) == 0)
		return -ENOMSG;
	if (be16(mac + 12) == ETHERTYPE_ARP)
		r = parse_arp(source, packet, len, &host);
	else if (be16(mac + 12) == ETHERTYPE_IPV6)
		r = parse_nd(source, packet, len, &host);
	if (r == 0)
		*ret = host;
	return r;
}
