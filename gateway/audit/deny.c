/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See deny.h. */
#include "gateway/audit/deny.h"

#include <errno.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_log.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "gateway/audit/flow.h"
#include "gateway/audit/nlattrs.h"
#include "gateway/base/str.h"

#define PREFIX "fw:"

enum { IPV4_HEADER = 20, IPV6_HEADER = 40, EXTENSIONS_MAX = 8, ARP_LEN = 28 };

/* --- the packet --- */

static uint16_t be16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static bool has_ports(uint8_t proto)
{
	return proto == IPPROTO_TCP || proto == IPPROTO_UDP || proto == IPPROTO_SCTP || proto == IPPROTO_UDPLITE ||
		proto == IPPROTO_DCCP;
}

static void take_transport(const uint8_t *p, size_t len, struct ct_tuple *t)
{
	if (has_ports(t->proto) && len >= 4) {
		t->sport = be16(p);
		t->dport = be16(p + 2);
	} else if ((t->proto == IPPROTO_ICMP || t->proto == IPPROTO_ICMPV6) && len >= 2) {
		t->dport = be16(p);
		/* Echo and its answer have an identifier there. */
		if (len >= 6 && (p[0] == 8 || p[0] == 0 || p[0] == 128 || p[0] == 129))
			t->sport = be16(p + 4);
	}
}

static bool take_ipv4(const uint8_t *p, size_t len, struct deny *d)
{
	size_t header = len > 0 ? (size_t)(p[0] & 15) * 4 : 0;

	if (len < IPV4_HEADER || p[0] >> 4 != 4 || header < IPV4_HEADER)
		return false;
	d->bytes = be16(p + 2);
	d->tuple.family = AF_INET;
	d->tuple.proto = p[9];
	memcpy(d->tuple.src, p + 12, 4);
	memcpy(d->tuple.dst, p + 16, 4);
	if ((be16(p + 6) & 0x1fff) == 0 && header <= len)
		take_transport(p + header, len - header, &d->tuple);
	return true;
}

/* Over the extension headers, RFC 8200 section 4, as far as there is something of them. */
static void take_ipv6_payload(const uint8_t *p, size_t len, struct ct_tuple *t)
{
	for (size_t i = 0; i < EXTENSIONS_MAX && len >= 8; i++) {
		size_t step = (size_t)(p[1] + 1) * 8;

		if (t->proto == IPPROTO_FRAGMENT) {
			step = 8;
			if (be16(p + 2) >> 3 != 0) {
				t->proto = p[0];
				return; /* not the first */
			}
		} else if (t->proto == IPPROTO_AH) {
			step = (size_t)(p[1] + 2) * 4;
		} else if (t->proto != IPPROTO_HOPOPTS && t->proto != IPPROTO_ROUTING && t->proto != IPPROTO_DSTOPTS) {
			break;
		}
		if (step > len)
			return;
		t->proto = p[0];
		p += step;
		len -= step;
	}
	take_transport(p, len, t);
}

static bool take_ipv6(const uint8_t *p, size_t len, struct deny *d)
{
	if (len < IPV6_HEADER || p[0] >> 4 != 6)
		return false;
	d->bytes = (uint32_t)be16(p + 4) + IPV6_HEADER;
	d->tuple.family = AF_INET6;
	d->tuple.proto = p[6];
	memcpy(d->tuple.src, p + 8, 16);
	memcpy(d->tuple.dst, p + 24, 16);
	take_ipv6_payload(p + IPV6_HEADER, len - IPV6_HEADER, &d->tuple);
	return true;
}

/* ARP for IPv4 over Ethernet, RFC 826: from whose address to whose. */
static bool take_arp(const uint8_t *p, size_t len, struct deny *d)
{
	static const uint8_t ethernet[] = {0, 1, 8, 0, 6, 4};

	if (len < ARP_LEN || memcmp(p, ethernet, sizeof(ethernet)) != 0)
		return false;
	d->bytes = ARP_LEN;
	d->tuple.family = AF_INET;
	d->tuple.proto = FLOW_PROTO_ARP;
	memcpy(d->tuple.src, p + 14, 4);
	memcpy(d->tuple.dst, p + 24, 4);
	return true;
}

static bool take_packet(const struct nlattr_view *a, struct deny *d)
{
	if (a->len == 0)
		return false;
	if (a->data[0] >> 4 == 0)
		return take_arp(a->data, a->len, d);
	return a->data[0] >> 4 == 6 ? take_ipv6(a->data, a->len, d) : take_ipv4(a->data, a->len, d);
}

/* --- the prefix --- */

static bool take_word(const char *word, size_t len, struct deny *d)
{
	if (len == 0 || len >= DENY_VERDICT_MAX)
		return false;
	for (size_t i = 0; i < len; i++)
		if (!(word[i] >= 'a' && word[i] <= 'z') && word[i] != '-')
			return false;
	memcpy(d->verdict, word, len);
	d->verdict[len] = '\0';
	return true;
}

/* False: not of ours. A blank ends it. */
static bool take_prefix(const struct nlattr_view *a, struct deny *d)
{
	const char *text = (const char *)a->data;
	size_t start = sizeof(PREFIX) - 1, len = strnlen(text, a->len);
	uint64_t rule = 0;

	if (len < start || memcmp(text, PREFIX, start) != 0)
		return false;
	text += start;
	len -= start;
	for (size_t i = 0; i < len; i++)
		if (text[i] == ' ')
			len = i;
	if (len == 0 || len > 10 || text[0] < '0' || text[0] > '9')
		return take_word(text, len, d);
	for (size_t i = 0; i < len; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		rule = rule * 10 + (uint64_t)(text[i] - '0');
	}
	if (rule == 0 || rule > UINT32_MAX)
		return false;
	d->rule = (uint32_t)rule;
	(void)take_word("rule", 4, d);
	return true;
}

static bool take_time(const struct nlattr_view *a, struct deny *d)
{
	uint64_t sec, usec;

	if (a->len != 16)
		return false;
	memcpy(&sec, a->data, 8);
	memcpy(&usec, a->data + 8, 8);
	sec = __builtin_bswap64(sec);
	usec = __builtin_bswap64(usec);
	if (sec > UINT64_MAX / 1000000000 - 1 || usec >= 1000000)
		return false;
	d->time_ns = sec * 1000000000 + usec * 1000;
	return true;
}

/* --- the message --- */

struct found {
	bool prefix, packet;
};

static bool take_attr(const struct nlattr_view *a, struct deny *d, struct found *found)
{
	switch (a->type) {
	case NFULA_PREFIX:
		found->prefix = take_prefix(a, d);
		return true;
	case NFULA_PAYLOAD:
		found->packet = take_packet(a, d);
		return true;
	case NFULA_IFINDEX_INDEV:
		return nlattr_be32(a, &d->in);
	case NFULA_IFINDEX_PHYSINDEV:
		return nlattr_be32(a, &d->port);
	case NFULA_IFINDEX_OUTDEV:
		return nlattr_be32(a, &d->out);
	case NFULA_TIMESTAMP:
		return take_time(a, d);
	case NFULA_SEQ:
		d->has_seq = nlattr_be32(a, &d->seq);
		return d->has_seq;
	default:
		return true;
	}
}

int deny_parse(const void *message, size_t len, struct deny *ret)
{
	const size_t start = NLMSG_HDRLEN + NLMSG_ALIGN(sizeof(struct nfgenmsg));
	const uint8_t *bytes = message;
	struct found found = {0};
	struct nlattr_view a;
	struct nlmsghdr h;
	struct nlattrs w;

	if (len < NLMSG_HDRLEN)
		return -EBADMSG;
	memcpy(&h, bytes, sizeof(h));
	if (h.nlmsg_type != (NFNL_SUBSYS_ULOG << 8 | NFULNL_MSG_PACKET))
		return -ENOMSG;
	if (h.nlmsg_len < start || h.nlmsg_len > len)
		return -EBADMSG;
	memset(ret, 0, sizeof(*ret));
	w = (struct nlattrs){.p = bytes + start, .left = h.nlmsg_len - start};
	while (nlattrs_next(&w, &a))
		if (!take_attr(&a, ret, &found))
			return -EBADMSG;
	if (w.bad)
		return -EBADMSG;
	return found.prefix && found.packet ? 0 : -ENOMSG;
}
