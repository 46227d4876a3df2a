/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The texts of a policy taken apart: endpoints ("segment:gpu", "10.1.0.0/16"), ports ("tcp/2049", "icmp/echo-request")
 * and services. Pure. The types of the schema (types_policy.c) take only what these understand.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gateway/base/addr.h"

struct buf;

enum endpoint_kind {
	ENDPOINT_ANY,
	ENDPOINT_GATEWAY,
	ENDPOINT_PREFIX,
	ENDPOINT_NAME, /* of whatever has it, see endpoint_kinds */
	ENDPOINT_SEGMENT,
	ENDPOINT_TENANT,
	ENDPOINT_GROUP,
	ENDPOINT_LINE,
	ENDPOINT_INTERFACE,
};

struct endpoint {
	enum endpoint_kind kind;
	struct ip_prefix prefix; /* PREFIX */
	const char *name;	 /* NAME and what follows; a part of the parsed text */
};

/* 0; -EINVAL: no endpoint; -EDOM: a prefix with bits behind its length. *ret untouched then. */
int endpoint_parse(const char *text, struct endpoint *ret);
/* "segment"; NULL for kinds without a word. */
const char *endpoint_kind_word(enum endpoint_kind kind);

/* A port: a protocol, and of TCP, UDP and SCTP destination ports, of ICMP types. */
struct port_range {
	uint8_t proto;
	bool whole; /* all of the protocol; low and high are then its limits */
	uint16_t low, high;
};

/* Has the protocol ports? Has it types? */
bool port_proto_has_ports(uint8_t proto);
bool port_proto_has_types(uint8_t proto);

/* 0; -EINVAL. *ret untouched then. */
int port_parse(const char *text, struct port_range *ret);
/* In canonical words: "tcp/5000-6000", "icmp/echo-request", "gre", "proto/99". */
void port_print(const struct port_range *port, struct buf *out);
/* Does a text mean a port, and not the name of a service? Right or wrong. */
bool port_is_meant(const char *text);
