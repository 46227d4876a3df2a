/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Flows to an IPFIX collector (RFC 7011) over UDP, by libfixbuf, with IANA's information elements alone. A flow is one
 * record for each direction that had packets, told when it has ended; a denied packet is one with firewallEvent 3. The
 * sink owns its socket, which never waits: what does not fit is counted. Edge.
 */
#pragma once

#include <stdint.h>

#include "gateway/audit/flow.h"
#include "gateway/base/addr.h"

struct ipfix_sink;

struct ipfix_target {
	struct ip_addr collector, source; /* source: AF_UNSPEC is the kernel's choice */
	uint16_t port;
	uint32_t domain;
};

struct ipfix_counts {
	uint64_t records, lost;
	int error; /* -errno of the last send; 0: all is well */
};

/* 0 or -errno. */
int ipfix_sink_open(const struct ipfix_target *target, struct ipfix_sink **ret);
void ipfix_sink_close(struct ipfix_sink *sink); /* sends what it has; NULL is fine */

void ipfix_sink_put(struct ipfix_sink *sink, const struct flow *flow);
/* Once a second or so: sends what it has, and the templates again where that is due. */
void ipfix_sink_turn(struct ipfix_sink *sink, uint64_t now_ns);
/* Nobody listened there since the templates were sent last: they are sent again soon. */
bool ipfix_sink_refused(const struct ipfix_sink *sink);
const struct ipfix_counts *ipfix_sink_counts(const struct ipfix_sink *sink);
