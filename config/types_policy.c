/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Value types of the policy: endpoints, ports, services, rates of events, times of the day; see types.h. The first
 * three are kept as canonical text, because that is how they are compared, printed and looked up; endpoint.h takes them
 * apart.
 */
#include "config/types.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "config/endpoint.h"
#include "config/schema.h"
#include "gateway/base/arena.h"
#include "gateway/base/buf.h"
#include "gateway/base/str.h"

#define DIGITS "0123456789"

static int text_compare(const void *a, const void *b)
{
	return str_cmp(*(const char *const *)a, *(const char *const *)b);
}

static void text_print(const void *value, const struct limit *limit, struct buf *out)
{
	const char *text = *(const char *const *)value;

	(void)limit;
	buf_puts(out, text ? text : "");
}

static bool text_is_absent(const void *value)
{
	return *(const char *const *)value == NULL;
}

static bool never_absent(const void *value)
{
	(void)value;
	return false;
}

/* --- endpoints --- */

static const char *want_endpoint(const char *text, int error, struct arena *arena)
{
	struct ip_prefix prefix;
	struct ip_addr addr;
	char right[IP_STR_MAX];

	if (error == -EDOM && ip_prefix_parse(text, &prefix) == 0) {
		prefix = ip_prefix_network(&prefix);
		return arena_printf(
			arena, "a network, bits behind the length are set; write %s", ip_prefix_str(&prefix, right));
	}
	if (ip_addr_parse(text, &addr) == 0) {
		prefix = ip_addr_host_prefix(&addr);
		return arena_printf(arena, "a network; write %s", ip_prefix_str(&prefix, right));
	}
	return "any, gateway, a network, or a name, with its kind where several have it, such as segment:gpu (segment, "
	       "tenant, group, line, interface)";
}

static int endpoint_value_parse(
	const char *text, const struct limit *limit, struct arena *arena, void *ret, const char **ret_want)
{
	struct endpoint e;
	char prefix[IP_STR_MAX];
	int r = endpoint_parse(text, &e);

	(void)limit;
	if (r < 0) {
		*ret_want = want_endpoint(text, r, arena);
		return -EINVAL;
	}
	*(const char **)ret = arena_strdup(arena, e.kind == ENDPOINT_PREFIX ? ip_prefix_str(&e.prefix, prefix) : text);
	return 0;
}

#define ENDPOINT_PATTERN "((segment|tenant|group|line|interface):)?[A-Za-z0-9._@\\-]{1,63}|[0-9a-fA-F:.]+/[0-9]{1,3}"

const struct type type_ENDPOINT = {
	.name = "ENDPOINT",
	.size = sizeof(const char *),
	.parse = endpoint_value_parse,
	.print = text_print,
	.compare = text_compare,
	.is_absent = text_is_absent,
	.yaml_hint = "NAME|KIND:NAME|ADDRESS/LEN",
	.yang_type = "type string { pattern '" ENDPOINT_PATTERN "'; }",
	.json_type = "string",
	.text = true,
	.pattern = "((segment|tenant|group|line|interface):)?[A-Za-z0-9._@-]{1,63}|[0-9a-fA-F:.]+/[0-9]{1,3}",
};

/* --- ports and services --- */

#define WANT_PORT                                                                                                      \
	"a port, such as tcp/2049, udp/5000-6000, icmp/echo-request or gre: tcp, udp and sctp take ports, icmp and "   \
	"icmpv6 types, and a protocol of another number is proto/NUMBER"

static const char *canonical_port(const struct port_range *port, struct arena *arena)
{
	struct buf text = {0};
	const char *copy;

	port_print(port, &text);
	copy = arena_strndup(arena, buf_str(&text), text.len);
	buf_free(&text);
	return copy;
}

static int port_value_parse(
	const char *text, const struct limit *limit, struct arena *arena, void *ret, const char **ret_want)
{
	struct port_range port;

	(void)limit;
	if (port_parse(text, &port) < 0) {
		*ret_want = WANT_PORT;
		return -EINVAL;
	}
	*(const char **)ret = canonical_port(&port, arena);
	return 0;
}

static int service_parse(
	const char *text, const struct limit *limit, struct arena *arena, void *ret, const char **ret_want)
{
	if (port_is_meant(text))
		return port_value_parse(text, limit, arena, ret, ret_want);
	if (type_NAME.parse(text, limit, arena, ret, ret_want) == 0)
		return 0;
	*ret_want = "the name of a service, or " WANT_PORT;
	return -EINVAL;
}

#define PORT_PATTERN                                                                                                   \
	"(tcp|udp|sctp)(/[0-9]{1,5}(-[0-9]{1,5})?)?|icmp(v6)?(/[a-z0-9\\-]+)?|proto/[0-9]{1,3}|"                       \
	"gre|esp|ah|ipip|ipv6|igmp|ospf|pim|vrrp|dccp|udplite"
#define JSON_PORT_PATTERN                                                                                              \
	"(tcp|udp|sctp)(/[0-9]{1,5}(-[0-9]{1,5})?)?|icmp(v6)?(/[a-z0-9-]+)?|proto/[0-9]{1,3}|"                         \
	"gre|esp|ah|ipip|ipv6|igmp|ospf|pim|vrrp|dccp|udplite"

const struct type type_PORT = {
	.name = "PORT",
	.size = sizeof(const char *),
	.parse = port_value_parse,
	.print = text_print,
	.compare = text_compare,
	.is_absent = text_is_absent,
	.yaml_hint = "PROTOCOL/PORT",
	.yang_type = "type string { pattern '" PORT_PATTERN "'; }",
	.json_type = "string",
	.text = true,
	.pattern = JSON_PORT_PATTERN,
};

const struct type type_SERVICE = {
	.name = "SERVICE",
	.size = sizeof(const char *),
	.parse = service_parse,
	.print = text_print,
	.compare = text_compare,
	.is_absent = text_is_absent,
	.yaml_hint = "NAME|PROTOCOL/PORT",
	.yang_type = "type string { pattern '" PORT_PATTERN "|[A-Za-z0-9][A-Za-z0-9._\\-]*'; }",
	.json_type = "string",
	.text = true,
	.pattern = JSON_PORT_PATTERN "|[A-Za-z0-9][A-Za-z0-9._-]{0,62}",
};

/* --- rates of events --- */

static const struct rate_unit {
	char letter;
	uint32_t seconds;
} rate_units[] = {{'s', 1}, {'m', 60}, {'h', 3600}};

static int event_rate_parse(
	const char *text, const struct limit *limit, struct arena *arena, void *ret, const char **ret_want)
{
	size_t n = strspn(text, DIGITS);
	uint64_t low = limit->has_range ? limit->min : 1, high = limit->has_range ? limit->max : UINT32_MAX, events;
	char digits[12];

	if (n > 0 && n < sizeof(digits) && *text != '0' && text[n] == '/' && text[n + 1] && !text[n + 2]) {
		memcpy(digits, text, n);
		digits[n] = '\0';
		for (size_t i = 0; i < ARRAY_SIZE(rate_units); i++)
			if (rate_units[i].letter == text[n + 1] && str_to_u64(digits, &events) == 0 && events >= low &&
				events <= high) {
				*(struct event_rate *)ret =
					(struct event_rate){(uint32_t)events, rate_units[i].seconds};
				return 0;
			}
	}
	*ret_want = arena_printf(arena,
		"a number from %" PRIu64 " to %" PRIu64 " per second, minute or hour, such as 100/s, 600/m or 10/h",
		low, high);
	return -EINVAL;
}

static void event_rate_print(const void *value, const struct limit *limit, struct buf *out)
{
	const struct event_rate *rate = value;

	(void)limit;
	for (size_t i = 0; i < ARRAY_SIZE(rate_units); i++)
		if (rate_units[i].seconds == rate->seconds)
			buf_printf(out, "%u/%c", rate->events, rate_units[i].letter);
}

static int event_rate_compare(const void *a, const void *b)
{
	const struct event_rate *x = a, *y = b;
	int c = cmp_u32(x->seconds, y->seconds);

	return c ? c : cmp_u32(x->events, y->events);
}

static bool event_rate_is_absent(const void *value)
{
	return ((const struct event_rate *)value)->events == 0;
}

const struct type type_EVENT_RATE = {
	.name = "EVENT_RATE",
	.size = sizeof(struct event_rate),
	.parse = event_rate_parse,
	.print = event_rate_print,
	.compare = event_rate_compare,
	.is_absent = event_rate_is_absent,
	.yaml_hint = "NUMBER/s, such as 100/s",
	.yang_type = "type string { pattern '[1-9][0-9]*/[smh]'; }",
	.json_type = "string",
	.pattern = "[1-9][0-9]*/[smh]",
};

/* --- times of the day --- */

static bool two_digits(const char *text, uint32_t *ret)
{
	if (!strchr(DIGITS, text[0]) || !text[0] || !strchr(DIGITS, text[1]) || !text[1])
		return false;
	*ret = (uint32_t)(text[0] - '0') * 10 + (uint32_t)(text[1] - '0');
	return true;
}

static int clock_parse(
	const char *text, const struct limit *limit, struct arena *arena, void *ret, const char **ret_want)
{
	uint32_t hours, minutes;

	(void)limit;
	(void)arena;
	if (strlen(text) != 5 || text[2] != ':' || !two_digits(text, &hours) || !two_digits(text + 3, &minutes) ||
		minutes > 59 || hours * 60 + minutes > 1440) {
		*ret_want = "a time of the day in UTC, from \"00:00\" to \"24:00\"";
		return -EINVAL;
	}
	*(uint32_t *)ret = hours * 60 + minutes;
	return 0;
}

static void clock_print(const void *value, const struct limit *limit, struct buf *out)
{
	uint32_t minutes = *(const uint32_t *)value;

	(void)limit;
	buf_printf(out, "%02u:%02u", minutes / 60, minutes % 60);
}

static int clock_compare(const void *a, const void *b)
{
	return cmp_u32(*(const uint32_t *)a, *(const uint32_t *)b);
}

const struct type type_CLOCK = {
	.name = "CLOCK",
	.size = sizeof(uint32_t),
	.parse = clock_parse,
	.print = clock_print,
	.compare = clock_compare,
	.is_absent = never_absent,
	.yaml_hint = "\"HH:MM\"",
	.yang_type = "type string { pattern '([01][0-9]|2[0-3]):[0-5][0-9]|24:00'; }",
	.json_type = "string",
	.text = true,
	.pattern = "([01][0-9]|2[0-3]):[0-5][0-9]|24:00",
};
