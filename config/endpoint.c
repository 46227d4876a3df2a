/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See endpoint.h. */
#include "config/endpoint.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "gateway/base/buf.h"
#include "gateway/base/str.h"

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define DIGITS "0123456789"

/* --- endpoints --- */

static const char *const kind_words[] = {
	[ENDPOINT_SEGMENT] = "segment",
	[ENDPOINT_TENANT] = "tenant",
	[ENDPOINT_GROUP] = "group",
	[ENDPOINT_LINE] = "line",
	[ENDPOINT_INTERFACE] = "interface",
};

const char *endpoint_kind_word(enum endpoint_kind kind)
{
	return kind < ARRAY_SIZE(kind_words) ? kind_words[kind] : NULL;
}

static bool is_name(const char *text)
{
	size_t len = strlen(text);

	return len >= 1 && len <= 63 && strspn(text, LETTERS DIGITS "._@-") == len;
}

static int parse_prefix(const char *text, struct endpoint *ret)
{
	struct ip_prefix prefix, network;

	if (ip_prefix_parse(text, &prefix) < 0)
		return -EINVAL;
	network = ip_prefix_network(&prefix);
	if (ip_prefix_cmp(&network, &prefix) != 0)
		return -EDOM;
	*ret = (struct endpoint){.kind = ENDPOINT_PREFIX, .prefix = prefix};
	return 0;
}

int endpoint_parse(const char *text, struct endpoint *ret)
{
	const char *colon = strchr(text, ':');
	struct ip_addr addr;

	if (strchr(text, '/'))
		return parse_prefix(text, ret);
	if (ip_addr_parse(text, &addr) == 0)
		return -EINVAL; /* a prefix says how much is meant */
	if (str_eq(text, "any") || str_eq(text, "gateway")) {
		*ret = (struct endpoint){.kind = *text == 'a' ? ENDPOINT_ANY : ENDPOINT_GATEWAY};
		return 0;
	}
	for (size_t i = 0; colon && i < ARRAY_SIZE(kind_words); i++) {
		size_t len = (size_t)(colon - text);

		if (!kind_words[i] || strlen(kind_words[i]) != len || strncmp(kind_words[i], text, len) != 0)
			continue;
		if (!is_name(colon + 1))
			return -EINVAL;
		*ret = (struct endpoint){.kind = (enum endpoint_kind)i, .name = colon + 1};
		return 0;
	}
	if (!is_name(text))
		return -EINVAL;
	*ret = (struct endpoint){.kind = ENDPOINT_NAME, .name = text};
	return 0;
}

/* --- ports --- */

struct number_name {
	const char *name;
	uint8_t number;
};

/* IANA's names, as nftables has them. */
static const struct number_name protos[] = {
	{"tcp", IPPROTO_TCP},
	{"udp", IPPROTO_UDP},
	{"sctp", IPPROTO_SCTP},
	{"icmp", IPPROTO_ICMP},
	{"icmpv6", IPPROTO_ICMPV6},
	{"gre", IPPROTO_GRE},
	{"esp", IPPROTO_ESP},
	{"ah", IPPROTO_AH},
	{"ipip", IPPROTO_IPIP},
	{"ipv6", IPPROTO_IPV6},
	{"igmp", IPPROTO_IGMP},
	{"ospf", 89},
	{"pim", IPPROTO_PIM},
	{"vrrp", 112},
	{"dccp", IPPROTO_DCCP},
	{"udplite", IPPROTO_UDPLITE},
};

static const struct number_name icmp_types[] = {
	{"echo-reply", 0},
	{"destination-unreachable", 3},
	{"redirect", 5},
	{"echo-request", 8},
	{"router-advertisement", 9},
	{"router-solicitation", 10},
	{"time-exceeded", 11},
	{"parameter-problem", 12},
	{"timestamp-request", 13},
	{"timestamp-reply", 14},
};

static const struct number_name icmpv6_types[] = {
	{"destination-unreachable", 1},
	{"packet-too-big", 2},
	{"time-exceeded", 3},
	{"parameter-problem", 4},
	{"echo-request", 128},
	{"echo-reply", 129},
	{"mld-listener-query", 130},
	{"mld-listener-report", 131},
	{"mld-listener-done", 132},
	{"nd-router-solicit", 133},
	{"nd-router-advert", 134},
	{"nd-neighbor-solicit", 135},
	{"nd-neighbor-advert", 136},
	{"nd-redirect", 137},
	{"mld2-listener-report", 143},
};

static const struct number_name *find_name(const struct number_name *v, size_t n, const char *name, size_t len)
{
	for (size_t i = 0; i < n; i++)
		if (strlen(v[i].name) == len && strncmp(v[i].name, name, len) == 0)
			return &v[i];
	return NULL;
}

static const char *find_number(const struct number_name *v, size_t n, uint8_t number)
{
	for (size_t i = 0; i < n; i++)
		if (v[i].number == number)
			return v[i].name;
	return NULL;
}

bool port_proto_has_ports(uint8_t proto)
{
	return proto == IPPROTO_TCP || proto == IPPROTO_UDP || proto == IPPROTO_SCTP;
}

bool port_proto_has_types(uint8_t proto)
{
	return proto == IPPROTO_ICMP || proto == IPPROTO_ICMPV6;
}

/* Decimal without leading zeros, of len digits. */
static bool number_of(const char *text, size_t len, uint64_t min, uint64_t max, uint16_t *ret)
{
	char digits[8];
	uint64_t value;

	if (len == 0 || len >= sizeof(digits) || (len > 1 && *text == '0') || strspn(text, DIGITS) < len)
		return false;
	memcpy(digits, text, len);
	digits[len] = '\0';
	if (str_to_u64(digits, &value) < 0 || value < min || value > max)
		return false;
	*ret = (uint16_t)value;
	return true;
}

static bool parse_ports(const char *text, struct port_range *port)
{
	const char *dash = strchr(text, '-');
	size_t len = dash ? (size_t)(dash - text) : strlen(text);

	if (!number_of(text, len, 0, 65535, &port->low))
		return false;
	port->high = port->low;
	if (dash && !number_of(dash + 1, strlen(dash + 1), 0, 65535, &port->high))
		return false;
	port->whole = port->low == 0 && port->high == 65535;
	return port->low <= port->high;
}

static bool parse_type(const char *text, struct port_range *port)
{
	bool four = port->proto == IPPROTO_ICMP;
	const struct number_name *found = find_name(four ? icmp_types : icmpv6_types,
		four ? ARRAY_SIZE(icmp_types) : ARRAY_SIZE(icmpv6_types), text, strlen(text));

	if (found)
		port->low = found->number;
	else if (!number_of(text, strlen(text), 0, 255, &port->low))
		return false;
	port->high = port->low;
	return true;
}

static uint16_t port_max(uint8_t proto)
{
	return port_proto_has_ports(proto) ? 65535 : port_proto_has_types(proto) ? 255 : 0;
}

int port_parse(const char *text, struct port_range *ret)
{
	size_t len = strcspn(text, "/");
	const struct number_name *proto = find_name(protos, ARRAY_SIZE(protos), text, len);
	struct port_range port = {0};
	uint16_t number;
	bool good;

	if (!proto && len == 5 && strncmp(text, "proto", 5) == 0 && text[len]) {
		if (!number_of(text + 6, strlen(text + 6), 0, 255, &number))
			return -EINVAL;
		*ret = (struct port_range){(uint8_t)number, true, 0, port_max((uint8_t)number)};
		return 0;
	}
	if (!proto)
		return -EINVAL;
	port.proto = proto->number;
	port.high = port_max(port.proto);
	port.whole = text[len] == '\0';
	if (port.whole)
		good = true;
	else if (port_proto_has_ports(port.proto))
		good = parse_ports(text + len + 1, &port);
	else
		good = port_proto_has_types(port.proto) && parse_type(text + len + 1, &port);
	if (good)
		*ret = port;
	return good ? 0 : -EINVAL;
}

void port_print(const struct port_range *port, struct buf *out)
{
	const char *proto = find_number(protos, ARRAY_SIZE(protos), port->proto), *type;

	if (proto)
		buf_puts(out, proto);
	else
		buf_printf(out, "proto/%u", port->proto);
	if (port->whole)
		return;
	if (port_proto_has_ports(port->proto)) {
		buf_printf(out, "/%u", port->low);
		if (port->high != port->low)
			buf_printf(out, "-%u", port->high);
		return;
	}
	type = port->proto == IPPROTO_ICMP ? find_number(icmp_types, ARRAY_SIZE(icmp_types), (uint8_t)port->low)
					   : find_number(icmpv6_types, ARRAY_SIZE(icmpv6_types), (uint8_t)port->low);
	if (type)
		buf_printf(out, "/%s", type);
	else
		buf_printf(out, "/%u", port->low);
}

bool port_is_meant(const char *text)
{
	return strchr(text, '/') || find_name(protos, ARRAY_SIZE(protos), text, strlen(text));
}
