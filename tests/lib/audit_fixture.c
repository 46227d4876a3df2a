/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See audit_fixture.h. */
#include "tests/lib/audit_fixture.h"

#include <arpa/inet.h>
#include <endian.h>
#include <libmnl/libmnl.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <linux/netfilter/nfnetlink_log.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

struct ct_tuple tuple_of(const char *src, unsigned sport, const char *dst, unsigned dport, uint8_t proto)
{
	struct ct_tuple t = {.proto = proto, .sport = (uint16_t)sport, .dport = (uint16_t)dport};

	t.family = strchr(src, ':') ? AF_INET6 : AF_INET;
	if (inet_pton(t.family, src, t.src) != 1 || inet_pton(t.family, dst, t.dst) != 1)
		abort();
	return t;
}

static void put_ports(struct nlmsghdr *h, const struct ct_tuple *t)
{
	bool icmp = t->proto == IPPROTO_ICMP, icmp6 = t->proto == IPPROTO_ICMPV6;

	mnl_attr_put_u8(h, CTA_PROTO_NUM, t->proto);
	if (icmp || icmp6) {
		mnl_attr_put_u16(h, icmp ? CTA_PROTO_ICMP_ID : CTA_PROTO_ICMPV6_ID, htons(t->sport));
		mnl_attr_put_u8(h, icmp ? CTA_PROTO_ICMP_TYPE : CTA_PROTO_ICMPV6_TYPE, (uint8_t)(t->dport >> 8));
		mnl_attr_put_u8(h, icmp ? CTA_PROTO_ICMP_CODE : CTA_PROTO_ICMPV6_CODE, (uint8_t)t->dport);
		return;
	}
	mnl_attr_put_u16(h, CTA_PROTO_SRC_PORT, htons(t->sport));
	mnl_attr_put_u16(h, CTA_PROTO_DST_PORT, htons(t->dport));
}

static void put_tuple(struct nlmsghdr *h, uint16_t type, const struct ct_tuple *t)
{
	bool v6 = t->family == AF_INET6;
	struct nlattr *tuple = mnl_attr_nest_start(h, type), *inner = mnl_attr_nest_start(h, CTA_TUPLE_IP);

	mnl_attr_put(h, v6 ? CTA_IP_V6_SRC : CTA_IP_V4_SRC, v6 ? 16 : 4, t->src);
	mnl_attr_put(h, v6 ? CTA_IP_V6_DST : CTA_IP_V4_DST, v6 ? 16 : 4, t->dst);
	mnl_attr_nest_end(h, inner);
	inner = mnl_attr_nest_start(h, CTA_TUPLE_PROTO);
	put_ports(h, t);
	mnl_attr_nest_end(h, inner);
	mnl_attr_nest_end(h, tuple);
}

static void put_counters(struct nlmsghdr *h, uint16_t type, uint64_t packets, uint64_t bytes)
{
	struct nlattr *nest = mnl_attr_nest_start(h, type);

	mnl_attr_put_u64(h, CTA_COUNTERS_PACKETS, htobe64(packets));
	mnl_attr_put_u64(h, CTA_COUNTERS_BYTES, htobe64(bytes));
	mnl_attr_nest_end(h, nest);
}

static void put_times(struct nlmsghdr *h, const struct ct_event *ct)
{
	struct nlattr *nest = mnl_attr_nest_start(h, CTA_TIMESTAMP);

	mnl_attr_put_u64(h, CTA_TIMESTAMP_START, htobe64(ct->start_ns));
	if (ct->stop_ns)
		mnl_attr_put_u64(h, CTA_TIMESTAMP_STOP, htobe64(ct->stop_ns));
	mnl_attr_nest_end(h, nest);
}

size_t put_ct(const struct ct_event *ct, uint8_t out[AUDIT_MESSAGE_MAX])
{
	_Alignas(8) uint8_t room[AUDIT_MESSAGE_MAX] = {0};
	struct nlmsghdr *h = mnl_nlmsg_put_header(room);
	struct nfgenmsg *nfg = mnl_nlmsg_put_extra_header(h, sizeof(*nfg));

	h->nlmsg_type = NFNL_SUBSYS_CTNETLINK << 8 | (ct->kind == CT_END ? IPCTNL_MSG_CT_DELETE : IPCTNL_MSG_CT_NEW);
	h->nlmsg_flags = ct->kind == CT_NEW ? NLM_F_CREATE | NLM_F_EXCL : 0;
	nfg->nfgen_family = ct->orig.family;
	put_tuple(h, CTA_TUPLE_ORIG, &ct->orig);
	put_tuple(h, CTA_TUPLE_REPLY, &ct->reply);
	if (ct->zone)
		mnl_attr_put_u16(h, CTA_ZONE, htons(ct->zone));
	mnl_attr_put_u32(h, CTA_ID, htonl(ct->id));
	mnl_attr_put_u32(h, CTA_STATUS, htonl(ct->status));
	mnl_attr_put_u32(h, CTA_TIMEOUT, htonl(30));
	if (ct->has_counters) {
		put_counters(h, CTA_COUNTERS_ORIG, ct->packets[0], ct->bytes[0]);
		put_counters(h, CTA_COUNTERS_REPLY, ct->packets[1], ct->bytes[1]);
	}
	if (ct->start_ns)
		put_times(h, ct);
	if (ct->mark)
		mnl_attr_put_u32(h, CTA_MARK, htonl(ct->mark));
	if (ct->has_label)
		mnl_attr_put(h, CTA_LABELS, CT_LABEL_LEN, ct->label);
	memcpy(out, room, h->nlmsg_len);
	return h->nlmsg_len;
}

size_t put_log(const char *prefix, const void *packet, size_t len, uint32_t in, uint32_t out_if, uint32_t seq,
	uint8_t out[AUDIT_MESSAGE_MAX])
{
	_Alignas(8) uint8_t room[AUDIT_MESSAGE_MAX] = {0};
	struct nlmsghdr *h = mnl_nlmsg_put_header(room);
	struct nfgenmsg *nfg = mnl_nlmsg_put_extra_header(h, sizeof(*nfg));
	uint64_t time[2] = {htobe64(1764583200), htobe64(123456)};

	h->nlmsg_type = NFNL_SUBSYS_ULOG << 8 | NFULNL_MSG_PACKET;
	nfg->nfgen_family = AF_INET;
	mnl_attr_put_strz(h, NFULA_PREFIX, prefix);
	if (in)
		mnl_attr_put_u32(h, NFULA_IFINDEX_INDEV, htonl(in));
	if (out_if)
		mnl_attr_put_u32(h, NFULA_IFINDEX_OUTDEV, htonl(out_if));
	mnl_attr_put(h, NFULA_TIMESTAMP, sizeof(time), time);
	if (seq != UINT32_MAX)
		mnl_attr_put_u32(h, NFULA_SEQ, htonl(seq));
	mnl_attr_put(h, NFULA_PAYLOAD, len, packet);
	memcpy(out, room, h->nlmsg_len);
	return h->nlmsg_len;
}
