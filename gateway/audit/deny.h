/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A packet that the policy denied, as the kernel logs it (nfnetlink_log): the prefix says who denied it, the first
 * bytes of the packet what it was. Pure.
 *
 * Prefixes: "fw:10" for rule 10, and "fw:WORD" for what is no rule (default, spoof, scan, own, limit, invalid, guard).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "gateway/audit/ct_event.h"

enum {
	DENY_GROUP = 18020, /* of nfnetlink_log: one listener in a network namespace */
	DENY_COPY = 128,    /* so much of a packet is enough */
	DENY_VERDICT_MAX = 16,
};

struct deny {
	uint32_t rule;			/* 0: no rule, but `verdict` */
	char verdict[DENY_VERDICT_MAX]; /* "rule", or the prefix's word: a-z and '-' */
	uint32_t in, out;		/* ifindexes; 0: none */
	uint32_t port;			/* of a bridged frame: the port of `in` that it came by; 0: none */
	struct ct_tuple tuple;		/* ports 0 where the packet has none, or is no first fragment */
	uint32_t bytes;			/* of the packet, by its own header */
	uint64_t time_ns;		/* since 1970; 0: the kernel did not say */
	bool has_seq;
	uint32_t seq; /* of the kernel's messages to us */
};

/* One netlink message of len bytes. 0; -ENOMSG: another kind, or not of ours; -EBADMSG: it is not whole. */
int deny_parse(const void *message, size_t len, struct deny *ret);
