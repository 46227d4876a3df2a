/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A message of the kernel's connection tracking (nf_conntrack over nfnetlink, linux/netfilter/nfnetlink_conntrack.h) as
 * plain values. Pure; our own decoding, because it is asked for twice for each flow of the gateway.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ct_kind { CT_NEW, CT_UPDATE, CT_END };

/* One direction of a flow. Ports in host order. Of ICMP: `sport` is its identifier, `dport` type << 8 | code. */
struct ct_tuple {
	uint8_t family; /* AF_INET, AF_INET6 */
	uint8_t proto;
	uint16_t sport, dport;
	uint8_t src[16], dst[16]; /* network order; IPv4 in the first four, the rest zero */
};

enum { CT_LABEL_LEN = 16 };

struct ct_event {
	enum ct_kind kind;
	struct ct_tuple orig, reply;
	uint32_t id; /* of the kernel; another flow may have it later */
	uint32_t mark, status;
	uint16_t zone;
	bool has_counters;	    /* the kernel counted (nf_conntrack_acct) */
	uint64_t packets[2];	    /* [0] original direction, [1] replies */
	uint64_t bytes[2];	    /* of IP packets */
	uint64_t start_ns, stop_ns; /* since 1970; 0: not known (nf_conntrack_timestamp) */
	bool has_label;
	uint8_t label[CT_LABEL_LEN];
};

/*
 * One netlink message, header included, of len bytes; in a dump each entry is a CT_NEW. 0; -ENOMSG: a message of
 * another kind; -EBADMSG: it is not whole, or not what the kernel would say. *ret is undefined then.
 */
int ct_event_parse(const void *message, size_t len, struct ct_event *ret);

/* Same addresses, ports and protocol? */
bool ct_tuple_eq(const struct ct_tuple *a, const struct ct_tuple *b);
/* b is the same flow seen from the other end: no address translation in between. Of ICMP only addresses are compared.
 */
bool ct_tuple_is_reverse(const struct ct_tuple *a, const struct ct_tuple *b);
