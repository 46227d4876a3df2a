/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers and fragments; see toobig.h. Pure. Every byte read is foreign: a length in a packet is believed only after it
 * was compared with what is there.
 */
#include "overlay/toobig.h"

#include <errno.h>
#include <netinet/icmp6.h>
#include <netinet/ip_icmp.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>

#include "overlay/mtu.h"

enum {
	MAC_ADDRESSES = 12,
	VLAN_TAG = 4,
	TYPE_IPV4 = 0x0800,
	TYPE_IPV6 = 0x86dd,
	TYPE_VLAN = 0x8100,
	TYPE_QINQ = 0x88a8,

	IPV4_HEADER = 20,
	IPV6_HEADER = 40,
	ICMP_HEADER = 8,
	UDP_HEADER = 8,
	PACKET_MAX = 65535,

	/* IPv4's flags and offset */
	DONT_FRAGMENT = 0x4000,
	MORE_FRAGMENTS = 0x2000,
	OFFSET = 0x1fff,

	OPTION_END = 0, /* RFC 791 3.1 */
	OPTION_NOP = 1,
	OPTION_COPY = 0x80,

	TTL = 64,
	INTERNETWORK_CONTROL = 0xc0, /* precedence of ICMP errors: RFC 1812 4.3.2.5 */
	MAX_EXTENSIONS = 8,
};

static uint16_t get16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static void put16(uint8_t *p, uint32_t value)
{
	p[0] = (uint8_t)(value >> 8);
	p[1] = (uint8_t)value;
}

/* Of the Internet checksum, RFC 1071; for at most 128 KiB. */
static uint32_t sum(const uint8_t *p, size_t len, uint32_t so_far)
{
	for (; len > 1; p += 2, len -= 2)
		so_far += get16(p);
	return len > 0 ? so_far + (uint32_t)(p[0] << 8) : so_far;
}

static uint16_t fold(uint32_t total)
{
	while (total > 0xffff)
		total = (total & 0xffff) + (total >> 16);
	return (uint16_t)total;
}

static void set_checksum(uint8_t *field, const uint8_t *p, size_t len, uint32_t so_far)
{
	put16(field, 0);
	put16(field, (uint16_t)~fold(sum(p, len, so_far)));
}

/* --- what there is of a packet --- */

struct packet {
	const uint8_t *mac; /* the frame's begin */
	size_t mac_len;
	const uint8_t *ip;
	size_t there; /* bytes from ip to the frame's end, without what follows the packet */
	size_t total; /* bytes that the packet says it has */
	size_t header;
	uint16_t type;
};

static bool is_group(const uint8_t *mac)
{
	return mac[0] & 1;
}

static bool read_mac(const uint8_t *frame, size_t len, struct packet *p)
{
	size_t at = MAC_ADDRESSES;

	while (at + 2 + VLAN_TAG <= len && at < MAC_ADDRESSES + 2 * VLAN_TAG &&
		(get16(frame + at) == TYPE_VLAN || get16(frame + at) == TYPE_QINQ))
		at += VLAN_TAG;
	if (at + 2 > len)
		return false;
	*p = (struct packet){
		.mac = frame,
		.mac_len = at + 2,
		.ip = frame + at + 2,
		.there = len - at - 2,
		.type = get16(frame + at),
	};
	return true;
}

static bool read_ipv4(struct packet *p)
{
	if (p->there < IPV4_HEADER || p->ip[0] >> 4 != 4)
		return false;
	p->header = (size_t)(p->ip[0] & 15) * 4;
	p->total = get16(p->ip + 2);
	/* The answer or the fragments would carry a header that is right, and hide that this one was damaged. */
	return p->header >= IPV4_HEADER && p->header <= p->there && p->header <= p->total &&
		fold(sum(p->ip, p->header, 0)) == 0xffff;
}

static bool read_ipv6(struct packet *p)
{
	if (p->there < IPV6_HEADER || p->ip[0] >> 4 != 6)
		return false;
	p->header = IPV6_HEADER;
	p->total = IPV6_HEADER + (size_t)get16(p->ip + 4);
	return true;
}

static bool read_packet(const uint8_t *frame, size_t len, struct packet *p)
{
	if (!read_mac(frame, len, p))
		return false;
	if (p->type == TYPE_IPV4 ? !read_ipv4(p) : p->type == TYPE_IPV6 ? !read_ipv6(p) : true)
		return false;
	if (p->there > p->total)
		p->there = p->total;
	return true;
}

/* --- who gets an answer --- */

/* Unspecified, loopback, multicast, class E: nobody who could be answered, or answer. */
static bool is_host_ipv4(const uint8_t *a)
{
	return a[0] != 0 && a[0] != 127 && a[0] < 224;
}

static bool is_host_ipv6(const uint8_t *a)
{
	static const uint8_t zeroes[15];

	return a[0] != 0xff && !(memcmp(a, zeroes, sizeof(zeroes)) == 0 && a[15] <= 1);
}

static bool is_icmp_error(uint8_t type)
{
	return type == ICMP_DEST_UNREACH || type == ICMP_SOURCE_QUENCH || type == ICMP_REDIRECT ||
		type == ICMP_TIME_EXCEEDED || type == ICMP_PARAMETERPROB;
}

static bool is_due_ipv4(const struct packet *p, uint32_t mtu)
{
	uint16_t fragment = get16(p->ip + 6);

	if (mtu < MTU_IPV4_MIN || p->total <= mtu || !(fragment & DONT_FRAGMENT) || (fragment & OFFSET))
		return false;
	if (!is_host_ipv4(p->ip + 12) || !is_host_ipv4(p->ip + 16))
		return false;
	return p->ip[9] != IPPROTO_ICMP || (p->there > p->header && !is_icmp_error(p->ip[p->header]));
}

static bool is_extension(uint8_t protocol)
{
	return protocol == IPPROTO_HOPOPTS || protocol == IPPROTO_ROUTING || protocol == IPPROTO_FRAGMENT ||
		protocol == IPPROTO_DSTOPTS || protocol == IPPROTO_AH;
}

static size_t extension_len(uint8_t protocol, const uint8_t *p)
{
	if (protocol == IPPROTO_FRAGMENT)
		return 8;
	return protocol == IPPROTO_AH ? (p[1] + 2U) * 4 : (p[1] + 1U) * 8;
}

/*
 * Down the chain of headers. Of a fragmented packet only the first fragment is answered: the others do not have the
 * ports that the sender finds its socket by.
 */
static bool is_due_payload(const struct packet *p)
{
	uint8_t protocol = p->ip[6];
	size_t at = IPV6_HEADER;

	for (int i = 0; i < MAX_EXTENSIONS && is_extension(protocol); i++) {
		const uint8_t *extension = p->ip + at;

		if (at + 8 > p->there || (protocol == IPPROTO_FRAGMENT && get16(extension + 2) >> 3 != 0))
			return false;
		at += extension_len(protocol, extension);
		protocol = extension[0];
	}
	if (protocol == IPPROTO_ICMPV6)
		return at < p->there && (p->ip[at] & ICMP6_INFOMSG_MASK) && p->ip[at] != ND_REDIRECT;
	return !is_extension(protocol);
}

/* An IPv6 node need not believe less than 1280, and Linux does not (RFC 8200 section 5). */
static bool is_due_ipv6(const struct packet *p, uint32_t mtu)
{
	return mtu >= MTU_IPV6_MIN && p->total > mtu && is_host_ipv6(p->ip + 8) && is_host_ipv6(p->ip + 24) &&
		is_due_payload(p);
}

/* --- answers --- */

/* The MAC header of the frame, with its addresses swapped. */
static uint8_t *begin_answer(const struct packet *p, struct toobig_answer *a)
{
	memcpy(a->frame, p->mac + 6, 6);
	memcpy(a->frame + 6, p->mac, 6);
	memcpy(a->frame + MAC_ADDRESSES, p->mac + MAC_ADDRESSES, p->mac_len - MAC_ADDRESSES);
	return a->frame + p->mac_len;
}

static size_t quoted(const struct packet *p, size_t max)
{
	return p->there < max ? p->there : max;
}

static void answer_ipv4(const struct packet *p, uint32_t mtu, struct toobig_answer *a)
{
	uint8_t *ip = begin_answer(p, a), *icmp = ip + IPV4_HEADER;
	size_t quote = quoted(p, TOOBIG_QUOTE_IPV4), len = IPV4_HEADER + ICMP_HEADER + quote;

	memset(ip, 0, IPV4_HEADER + ICMP_HEADER);
	ip[0] = 0x45;
	ip[1] = INTERNETWORK_CONTROL;
	put16(ip + 2, (uint32_t)len);
	put16(ip + 6, DONT_FRAGMENT);
	ip[8] = TTL;
	ip[9] = IPPROTO_ICMP;
	memcpy(ip + 12, p->ip + 16, 4);
	memcpy(ip + 16, p->ip + 12, 4);
	set_checksum(ip + 10, ip, IPV4_HEADER, 0);
	icmp[0] = ICMP_DEST_UNREACH;
	icmp[1] = ICMP_FRAG_NEEDED;
	put16(icmp + 6, mtu < PACKET_MAX ? mtu : PACKET_MAX);
	memcpy(icmp + ICMP_HEADER, p->ip, quote);
	set_checksum(icmp + 2, icmp, ICMP_HEADER + quote, 0);
	memcpy(a->to, p->ip + 12, 4);
	a->family = AF_INET;
	a->icmp = p->mac_len + IPV4_HEADER;
	a->len = p->mac_len + len;
}

static void answer_ipv6(const struct packet *p, uint32_t mtu, struct toobig_answer *a)
{
	uint8_t *ip = begin_answer(p, a), *icmp = ip + IPV6_HEADER;
	size_t quote = quoted(p, TOOBIG_QUOTE_IPV6), len = ICMP_HEADER + quote;

	memset(ip, 0, IPV6_HEADER + ICMP_HEADER);
	ip[0] = 0x60;
	put16(ip + 4, (uint32_t)len);
	ip[6] = IPPROTO_ICMPV6;
	ip[7] = TTL;
	memcpy(ip + 8, p->ip + 24, 16);
	memcpy(ip + 24, p->ip + 8, 16);
	icmp[0] = ICMP6_PACKET_TOO_BIG;
	put16(icmp + 4, mtu >> 16);
	put16(icmp + 6, mtu);
	memcpy(icmp + ICMP_HEADER, p->ip, quote);
	/* The pseudo-header: both addresses, the length, the protocol. */
	set_checksum(icmp + 2, icmp, len, sum(ip + 8, 32, (uint32_t)len + IPPROTO_ICMPV6));
	memcpy(a->to, p->ip + 8, 16);
	a->family = AF_INET6;
	a->icmp = p->mac_len + IPV6_HEADER;
	a->len = p->mac_len + IPV6_HEADER + len;
}

int toobig_answer(const uint8_t *frame, size_t len, uint32_t mtu, struct toobig_answer *ret)
{
	struct packet p;

	if (!read_packet(frame, len, &p) || is_group(p.mac) || is_group(p.mac + 6))
		return -ENOMSG;
	if (p.type == TYPE_IPV4 ? !is_due_ipv4(&p, mtu) : !is_due_ipv6(&p, mtu))
		return -ENOMSG;
	*ret = (struct toobig_answer){0};
	(p.type == TYPE_IPV4 ? answer_ipv4 : answer_ipv6)(&p, mtu, ret);
	return 0;
}

/* --- fragments --- */

/* The options that every fragment carries, padded to whole words: at most as many bytes as the packet has of them. */
static size_t copied_options(const struct packet *p, uint8_t *ret)
{
	size_t n = 0, len;

	for (size_t at = IPV4_HEADER; at < p->header && p->ip[at] != OPTION_END; at += len) {
		const uint8_t *option = p->ip + at;

		len = 1;
		if (*option == OPTION_NOP)
			continue;
		if (at + 1 >= p->header || option[1] < 2 || option[1] > p->header - at)
			break;
		len = option[1];
		if (*option & OPTION_COPY) {
			memcpy(ret + n, option, len);
			n += len;
		}
	}
	while (n % 4 != 0)
		ret[n++] = OPTION_END;
	return n;
}

/*
 * A sender on this machine (a container's veth, a virtual machine) leaves the UDP checksum to hardware that nobody
 * will ask: then the field holds the sum of the pseudo-header alone, and the rest is done here. A field that happens to
 * hold that and is right comes out the same.
 */
static void complete_udp(const struct packet *p, uint8_t *udp)
{
	size_t len = p->total - p->header;
	uint32_t pseudo;

	if (p->ip[9] != IPPROTO_UDP || len < UDP_HEADER || (get16(p->ip + 6) & (MORE_FRAGMENTS | OFFSET)) ||
		get16(udp + 4) != len)
		return;
	pseudo = sum(p->ip + 12, 8, (uint32_t)len + IPPROTO_UDP);
	if (get16(udp + 6) != fold(pseudo))
		return;
	put16(udp + 6, 0);
	put16(udp + 6, (uint16_t)~fold(sum(p->ip + p->header, 6, sum(p->ip + p->header + 8, len - 8, pseudo))));
	if (get16(udp + 6) == 0)
		put16(udp + 6, 0xffff);
}

static bool may_fragment(const struct packet *p, uint32_t mtu)
{
	uint16_t fragment = get16(p->ip + 6);
	size_t data = p->total - p->header;

	if (p->type != TYPE_IPV4 || (fragment & DONT_FRAGMENT) || p->there < p->total || mtu < p->header + 8)
		return false;
	/* All but the last of a train have whole units of 8 bytes; none reaches beyond the largest packet. */
	if ((fragment & MORE_FRAGMENTS) && data % 8 != 0)
		return false;
	return (size_t)(fragment & OFFSET) * 8 + data <= PACKET_MAX;
}

/* Makes the piece of `n` bytes from `done` on, behind a header that is there but for what differs. */
static void put_piece(const struct packet *p, uint8_t *ip, size_t header, size_t done, size_t n)
{
	uint16_t fragment = get16(p->ip + 6);

	if (done + n < p->total - p->header)
		fragment |= MORE_FRAGMENTS;
	memcpy(ip + header, p->ip + p->header + done, n);
	ip[0] = (uint8_t)(0x40 | header / 4);
	put16(ip + 2, (uint32_t)(header + n));
	put16(ip + 6, fragment + (uint32_t)done / 8);
	set_checksum(ip + 10, ip, header, 0);
}

int toobig_fragment(const uint8_t *frame, size_t len, uint32_t mtu, struct toobig_out *out)
{
	uint8_t *ip;
	size_t data, header, done = 0;
	struct packet p;

	if (!read_packet(frame, len, &p) || !may_fragment(&p, mtu))
		return -ENOMSG;
	ip = out->room + p.mac_len;
	memcpy(out->room, p.mac, p.mac_len + p.header);
	header = p.header;
	data = p.total - p.header;
	do {
		size_t n = data - done <= mtu - header ? data - done : (mtu - header) & ~(size_t)7;

		put_piece(&p, ip, header, done, n);
		if (done == 0)
			complete_udp(&p, ip + header);
		out->emit(out->room, p.mac_len + header + n, out->arg);
		if (done == 0)
			header = IPV4_HEADER + copied_options(&p, ip + IPV4_HEADER);
		done += n;
	} while (done < data);
	return 0;
}
