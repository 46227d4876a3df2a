/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A record of the audit: a flow that starts or ends, or a packet that was denied, with the names that the config has
 * for it. Pure values; what is told of them is flow_json.h and ipfix_sink.h.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gateway/audit/audit_names.h"
#include "gateway/audit/ct_event.h"

enum flow_event { FLOW_START, FLOW_END, FLOW_DENY, FLOW_LIVE };

/* Bits of the conntrack mark: the policy writes them. */
enum { FLOW_MARK_RULE = 0xfffff }; /* 0: a default accepted it */
#define FLOW_MARK_DENIED UINT32_C(0x80000000)

struct flow {
	enum flow_event event;
	struct ct_tuple orig, reply; /* of a deny: reply is unused */
	uint32_t id;
	uint16_t zone;
	const struct audit_place *from, *to; /* NULL: not known, or this gateway itself */
	uint32_t rule;			     /* 0: none */
	const char *rule_name;		     /* NULL: none of this number */
	const char *verdict;		     /* of a deny: what of the policy said so, "rule", "default", "spoof" */
	bool denied;			     /* it was accepted once, and cut when the policy changed */
	bool replied;			     /* it was seen in both directions */
	bool has_counters;
	uint64_t packets[2], bytes[2]; /* [0] from -> to, [1] back; a deny: one packet of bytes[0] */
	uint64_t start_ns, end_ns;     /* since 1970; 0: not known. A deny: start_ns */
};

/* A flow that starts or is alive, from what the kernel says of it. Places and the rule's name are the caller's. */
void flow_from_ct(const struct ct_event *ct, enum flow_event event, struct flow *ret);

/* Were addresses translated on its way? */
bool flow_has_nat(const struct flow *flow);

/* "tcp", "udp", "icmp"; NULL: a number has to do. And back: -1 if it is none. */
/* Of ARP that was denied. As an IP protocol it is NARP (RFC 1735), which nobody speaks. */
enum { FLOW_PROTO_ARP = 54 };
const char *flow_proto_name(uint8_t proto);
int flow_proto_number(const char *name);
/* The tenant of a flow: of the end it comes from, or else of the other. NULL: the default domain. */
const char *flow_tenant(const struct flow *flow);
