/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See flow.h. */
#include "gateway/audit/flow.h"

#include <linux/netfilter/nf_conntrack_common.h>
#include <netinet/in.h>
#include <string.h>

#include "gateway/base/str.h"

static const struct {
	uint8_t number;
	const char *name;
} protos[] = {
	{FLOW_PROTO_ARP, "arp"},
	{IPPROTO_TCP, "tcp"},
	{IPPROTO_UDP, "udp"},
	{IPPROTO_ICMP, "icmp"},
	{IPPROTO_ICMPV6, "icmpv6"},
	{IPPROTO_GRE, "gre"},
	{IPPROTO_ESP, "esp"},
	{IPPROTO_AH, "ah"},
	{IPPROTO_SCTP, "sctp"},
	{IPPROTO_UDPLITE, "udplite"},
	{IPPROTO_IPIP, "ipip"},
	{89, "ospf"},
	{112, "vrrp"},
};

const char *flow_proto_name(uint8_t proto)
{
	for (size_t i = 0; i < ARRAY_SIZE(protos); i++)
		if (protos[i].number == proto)
			return protos[i].name;
	return NULL;
}

int flow_proto_number(const char *name)
{
	uint64_t number;

	for (size_t i = 0; i < ARRAY_SIZE(protos); i++)
		if (str_eq(protos[i].name, name))
			return protos[i].number;
	return str_to_u64(name, &number) == 0 && number <= 255 ? (int)number : -1;
}

void flow_from_ct(const struct ct_event *ct, enum flow_event event, struct flow *ret)
{
	*ret = (struct flow){
		.event = event,
		.orig = ct->orig,
		.reply = ct->reply,
		.id = ct->id,
		.zone = ct->zone,
		.rule = ct->mark & FLOW_MARK_RULE,
		.denied = (ct->mark & FLOW_MARK_DENIED) != 0,
		.replied = (ct->status & IPS_SEEN_REPLY) != 0,
		.has_counters = ct->has_counters,
		.packets = {ct->packets[0], ct->packets[1]},
		.bytes = {ct->bytes[0], ct->bytes[1]},
		.start_ns = ct->start_ns,
		.end_ns = ct->stop_ns,
	};
}

bool flow_has_nat(const struct flow *flow)
{
	return flow->event != FLOW_DENY && !ct_tuple_is_reverse(&flow->orig, &flow->reply);
}

const char *flow_tenant(const struct flow *flow)
{
	if (flow->from && flow->from->tenant)
		return flow->from->tenant;
	return flow->to ? flow->to->tenant : NULL;
}
