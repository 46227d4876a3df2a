/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See record_query.h. */
#include "gateway/audit/record_query.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gateway/audit/flow.h"
#include "gateway/audit/flow_json.h"
#include "gateway/base/str.h"

static const uint64_t SEC_NS = 1000000000;
#define HOUR UINT64_C(3600)

/* --- setting --- */

/* An address or a prefix. */
static int parse_prefix(const char *value, struct ip_prefix *ret)
{
	struct ip_addr addr;

	if (ip_addr_parse(value, &addr) == 0) {
		*ret = ip_addr_host_prefix(&addr);
		return 0;
	}
	if (ip_prefix_parse(value, ret) < 0)
		return -EINVAL;
	*ret = ip_prefix_network(ret);
	return 0;
}

/* "90s", "10m", "2h", "7d": so long ago. */
static int parse_ago(const char *value, uint64_t now_ns, uint64_t *ret_ns)
{
	static const struct {
		char unit;
		uint64_t seconds;
	} units[] = {{'s', 1}, {'m', 60}, {'h', HOUR}, {'d', 24 * HOUR}};
	char *end;
	unsigned long long n;

	if (*value < '0' || *value > '9')
		return -EINVAL;
	n = strtoull(value, &end, 10);
	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (*end == units[i].unit && !end[1] && n <= 100000000) {
			uint64_t ago = n * units[i].seconds * SEC_NS;

			*ret_ns = ago < now_ns ? now_ns - ago : 0;
			return 0;
		}
	return -EINVAL;
}

static int parse_time(const char *value, uint64_t now_ns, uint64_t *ret_ns, char text[32])
{
	static struct flow_clock clock;

	if (parse_ago(value, now_ns, ret_ns) < 0 && flow_time_parse(value, ret_ns) < 0)
		return -EINVAL;
	flow_time_print(&clock, *ret_ns, text);
	return 0;
}

static int set_since(struct record_query *q, const char *value, uint64_t now_ns)
{
	return parse_time(value, now_ns, &q->since_ns, q->since);
}

static int set_until(struct record_query *q, const char *value, uint64_t now_ns)
{
	return parse_time(value, now_ns, &q->until_ns, q->until);
}

#define PREFIX_SETTER(member)                                                                                          \
	static int set_##member(struct record_query *q, const char *value, uint64_t now_ns)                            \
	{                                                                                                              \
		(void)now_ns;                                                                                          \
		return parse_prefix(value, &q->member);                                                                \
	}
PREFIX_SETTER(from)
PREFIX_SETTER(to)
PREFIX_SETTER(host)

#define TEXT_SETTER(member, is_good)                                                                                   \
	static int set_##member(struct record_query *q, const char *value, uint64_t now_ns)                            \
	{                                                                                                              \
		(void)now_ns;                                                                                          \
		if (!(is_good))                                                                                        \
			return -EINVAL;                                                                                \
		q->member = value;                                                                                     \
		return 0;                                                                                              \
	}

static bool is_number(const char *value, uint64_t max)
{
	uint64_t n;

	return str_to_u64(value, &n) == 0 && n <= max;
}

TEXT_SETTER(port, is_number(value, 65535))
TEXT_SETTER(proto, flow_proto_number(value) >= 0)
TEXT_SETTER(rule, *value)
TEXT_SETTER(segment, *value)
TEXT_SETTER(tenant, *value)
TEXT_SETTER(line, *value)

const struct record_filter record_filters[] = {
	{"since", "TIME", "from then on: 10m, 2h, 7d ago, or 2026-12-01T10:00 (UTC); 1h without it", set_since},
	{"until", "TIME", "until then", set_until},
	{"from", "ADDRESS", "who began it: an address or a prefix", set_from},
	{"to", "ADDRESS", "to whom", set_to},
	{"host", "ADDRESS", "at either end", set_host},
	{"port", "NUMBER", "at either end", set_port},
	{"proto", "NAME", "tcp, udp, icmp, ..., or a number", set_proto},
	{"rule", "RULE", "the rule that decided: its name or its seq", set_rule},
	{"segment", "NAME", "at either end", set_segment},
	{"tenant", "NAME", "at either end", set_tenant},
	{"line", "NAME", "at either end", set_line},
};
const size_t n_record_filters = ARRAY_SIZE(record_filters);

void record_query_init(struct record_query *q, uint64_t now_ns)
{
	*q = (struct record_query){.until_ns = UINT64_MAX, .until = "9999"};
	(void)set_since(q, "1h", now_ns);
}

int record_query_set(struct record_query *q, const char *name, const char *value, uint64_t now_ns)
{
	for (size_t i = 0; i < n_record_filters; i++)
		if (str_eq(record_filters[i].name, name))
			return record_filters[i].set(q, value, now_ns);
	return -EINVAL;
}

/* --- matching --- */

#define HEAD "{\"time\":\""
#define MIDDLE "\",\"event\":\""

bool record_query_may_match(const struct record_query *q, const char *line, size_t len, const char *event)
{
	const size_t head = sizeof(HEAD) - 1, middle = sizeof(MIDDLE) - 1, n = event ? strlen(event) : 0;
	const char *time = line + head;

	if (len < head + FLOW_TIME_LEN + middle + n + 1 || memcmp(line, HEAD, head) != 0)
		return false;
	if (memcmp(time, q->since, FLOW_TIME_LEN) < 0 || strncmp(time, q->until, FLOW_TIME_LEN) > 0)
		return false;
	return !event ||
		(memcmp(time + FLOW_TIME_LEN + middle, event, n) == 0 && time[FLOW_TIME_LEN + middle + n] == '"');
}

static const char *text(const json_t *record, const char *key)
{
	return json_string_value(json_object_get(record, key));
}

static bool is_in(const struct ip_prefix *prefix, const json_t *record, const char *key, const char *nat)
{
	const char *values[] = {text(record, key), text(record, nat)};
	struct ip_addr addr;

	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		if (values[i] && ip_addr_parse(values[i], &addr) == 0 && ip_prefix_contains(prefix, &addr))
			return true;
	return false;
}

static bool addresses_match(const struct record_query *q, const json_t *record)
{
	bool from = ip_addr_is_set(&q->from.addr), to = ip_addr_is_set(&q->to.addr);

	if (from && !is_in(&q->from, record, "from", "nat-from"))
		return false;
	if (to && !is_in(&q->to, record, "to", "nat-to"))
		return false;
	return !ip_addr_is_set(&q->host.addr) || is_in(&q->host, record, "from", "nat-from") ||
		is_in(&q->host, record, "to", "nat-to");
}

/* A text or a number of the record that is this value. */
static bool is_value(const json_t *record, const char *key, const char *value)
{
	const json_t *member = json_object_get(record, key);
	uint64_t n;

	if (json_is_integer(member))
		return str_to_u64(value, &n) == 0 && json_integer_value(member) == (json_int_t)n;
	return json_is_string(member) && str_eq(json_string_value(member), value);
}

static bool proto_matches(const char *wanted, const json_t *record)
{
	const char *proto = text(record, "proto");

	return !wanted || (proto && flow_proto_number(proto) == flow_proto_number(wanted));
}

static bool either_is(const json_t *record, const char *value, const char *a, const char *b)
{
	return !value || is_value(record, a, value) || is_value(record, b, value);
}

bool record_query_matches(const struct record_query *q, const json_t *record)
{
	return addresses_match(q, record) && proto_matches(q->proto, record) &&
		either_is(record, q->port, "from-port", "to-port") && either_is(record, q->rule, "rule", "rule-name") &&
		either_is(record, q->segment, "from-segment", "to-segment") &&
		either_is(record, q->tenant, "tenant", "to-tenant") &&
		either_is(record, q->line, "from-line", "to-line");
}
