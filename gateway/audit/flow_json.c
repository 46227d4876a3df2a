/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See flow_json.h. Names have no character that JSON would escape: config/types_text.c sees to that. */
#include "gateway/audit/flow_json.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <time.h>

#include "gateway/base/str.h"

static const uint64_t SEC_NS = 1000000000;

/* Where the next byte goes; FLOW_JSON_MAX has room for every member at its longest. */
struct line {
	char *p;
};

static void put(struct line *l, const char *text, size_t len)
{
	memcpy(l->p, text, len);
	l->p += len;
}

#define PUT(l, literal) put(l, literal, sizeof(literal) - 1)

static void put_str(struct line *l, const char *text)
{
	put(l, text, strlen(text));
}

static void put_u64(struct line *l, uint64_t v)
{
	char digits[20];
	size_t n = sizeof(digits);

	do {
		digits[--n] = (char)('0' + v % 10);
		v /= 10;
	} while (v > 0);
	put(l, digits + n, sizeof(digits) - n);
}

/* Six digits. */
static void put_micros(struct line *l, uint32_t v)
{
	for (size_t i = 6; i-- > 0; v /= 10)
		l->p[i] = (char)('0' + v % 10);
	l->p += 6;
}

/* --- time --- */

static const char *second_text(struct flow_clock *clock, uint64_t second)
{
	size_t i = second % FLOW_CLOCK_SECONDS;
	time_t t = (time_t)second;
	struct tm tm;

	if (clock->v[i].text[0] && clock->v[i].second == second)
		return clock->v[i].text;
	clock->v[i].second = second;
	if (!gmtime_r(&t, &tm) || tm.tm_year > 9999 - 1900)
		(void)strcpy(clock->v[i].text, "9999-12-31T23:59:59.");
	else
		(void)strftime(clock->v[i].text, sizeof(clock->v[i].text), "%Y-%m-%dT%H:%M:%S.", &tm);
	return clock->v[i].text;
}

void flow_time_print(struct flow_clock *clock, uint64_t ns, char out[FLOW_TIME_LEN + 1])
{
	struct line l = {out + 20};

	memcpy(out, second_text(clock, ns / SEC_NS), 20);
	put_micros(&l, (uint32_t)(ns % SEC_NS / 1000));
	out[26] = 'Z';
	out[27] = '\0';
}

/* The fraction of a second: '.' and digits, then 'Z' or nothing. */
static int parse_fraction(const char *text, uint64_t *ret_ns)
{
	uint64_t ns = 0, unit = SEC_NS / 10;

	if (*text == '.')
		for (text++; *text >= '0' && *text <= '9'; text++, unit /= 10)
			ns += (uint64_t)(*text - '0') * unit;
	if (*text == 'Z')
		text++;
	*ret_ns = ns;
	return *text ? -EINVAL : 0;
}

int flow_time_parse(const char *text, uint64_t *ret_ns)
{
	static const char *const formats[] = {"%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H", "%Y-%m-%d"};

	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		struct tm tm = {.tm_mday = 1};
		const char *end = strptime(text, formats[i], &tm);
		uint64_t ns;
		time_t t;

		if (!end || parse_fraction(end, &ns) < 0)
			continue;
		t = timegm(&tm);
		if (t < 0)
			return -EINVAL;
		*ret_ns = (uint64_t)t * SEC_NS + ns;
		return 0;
	}
	return -EINVAL;
}

static void put_time(struct line *l, struct flow_clock *clock, uint64_t ns)
{
	flow_time_print(clock, ns, l->p);
	l->p += FLOW_TIME_LEN;
}

/* --- members --- */

static void put_u8(struct line *l, uint8_t v)
{
	if (v >= 100)
		*l->p++ = (char)('0' + v / 100);
	if (v >= 10)
		*l->p++ = (char)('0' + v / 10 % 10);
	*l->p++ = (char)('0' + v % 10);
}

static void put_addr(struct line *l, uint8_t family, const uint8_t bytes[16])
{
	struct ip_addr a = {.family = AF_INET6};
	char text[IP_STR_MAX];

	if (family != AF_INET6) {
		for (size_t i = 0; i < 4; i++) {
			put_u8(l, bytes[i]);
			*l->p++ = '.';
		}
		l->p--;
		return;
	}
	memcpy(a.bytes, bytes, sizeof(a.bytes));
	put_str(l, ip_addr_str(&a, text));
}

/* `,"key":"name"`, nothing without a name. */
#define PUT_NAME(l, key, name)                                                                                         \
	do {                                                                                                           \
		if (name) {                                                                                            \
			PUT(l, ",\"" key "\":\"");                                                                     \
			put_str(l, name);                                                                              \
			PUT(l, "\"");                                                                                  \
		}                                                                                                      \
	} while (0)

#define PUT_NUMBER(l, key, number)                                                                                     \
	do {                                                                                                           \
		PUT(l, ",\"" key "\":");                                                                               \
		put_u64(l, number);                                                                                    \
	} while (0)

#define PUT_ADDR(l, key, family, bytes)                                                                                \
	do {                                                                                                           \
		PUT(l, ",\"" key "\":\"");                                                                             \
		put_addr(l, family, bytes);                                                                            \
		PUT(l, "\"");                                                                                          \
	} while (0)

static bool has_ports(uint8_t proto)
{
	return proto == IPPROTO_TCP || proto == IPPROTO_UDP || proto == IPPROTO_SCTP || proto == IPPROTO_UDPLITE ||
		proto == IPPROTO_DCCP;
}

static void put_proto(struct line *l, uint8_t proto)
{
	const char *name = flow_proto_name(proto);

	PUT(l, ",\"proto\":\"");
	if (name)
		put_str(l, name);
	else
		put_u64(l, proto);
	PUT(l, "\"");
}

static void put_tuple(struct line *l, const struct ct_tuple *t)
{
	bool ports = has_ports(t->proto);

	put_proto(l, t->proto);
	PUT_ADDR(l, "from", t->family, t->src);
	if (ports)
		PUT_NUMBER(l, "from-port", t->sport);
	PUT_ADDR(l, "to", t->family, t->dst);
	if (ports)
		PUT_NUMBER(l, "to-port", t->dport);
	if (t->proto == IPPROTO_ICMP || t->proto == IPPROTO_ICMPV6) {
		PUT_NUMBER(l, "icmp-type", t->dport >> 8);
		PUT_NUMBER(l, "icmp-code", t->dport & 0xff);
		PUT_NUMBER(l, "icmp-id", t->sport);
	}
}

/* What the far end saw: the replies go to where they come from. */
static void put_nat(struct line *l, const struct flow *f)
{
	const struct ct_tuple *r = &f->reply;
	bool ports = has_ports(r->proto);

	if (!flow_has_nat(f))
		return;
	PUT_ADDR(l, "nat-from", r->family, r->dst);
	if (ports)
		PUT_NUMBER(l, "nat-from-port", r->dport);
	PUT_ADDR(l, "nat-to", r->family, r->src);
	if (ports)
		PUT_NUMBER(l, "nat-to-port", r->sport);
}

static void put_places(struct line *l, const struct flow *f)
{
	static const struct audit_place nowhere;
	const struct audit_place *from = f->from ? f->from : &nowhere, *to = f->to ? f->to : &nowhere;

	PUT_NAME(l, "tenant", flow_tenant(f));
	if (from->tenant && to->tenant && !str_eq(from->tenant, to->tenant))
		PUT_NAME(l, "to-tenant", to->tenant);
	PUT_NAME(l, "from-segment", from->segment);
	PUT_NAME(l, "to-segment", to->segment);
	PUT_NAME(l, "from-line", from->line);
	PUT_NAME(l, "to-line", to->line);
	PUT_NAME(l, "from-interface", from->interface);
	PUT_NAME(l, "to-interface", to->interface);
}

static void put_rule(struct line *l, const struct flow *f)
{
	PUT_NAME(l, "verdict", f->verdict);
	if (f->rule > 0)
		PUT_NUMBER(l, "rule", f->rule);
	PUT_NAME(l, "rule-name", f->rule_name);
	if (f->denied)
		PUT(l, ",\"cut\":true");
}

static void put_duration(struct line *l, uint64_t ns)
{
	PUT(l, ",\"duration\":");
	put_u64(l, ns / SEC_NS);
	PUT(l, ".");
	put_micros(l, (uint32_t)(ns % SEC_NS / 1000));
}

static void put_counters(struct line *l, struct flow_clock *clock, const struct flow *f)
{
	if (f->start_ns > 0) {
		PUT(l, ",\"start\":\"");
		put_time(l, clock, f->start_ns);
		PUT(l, "\"");
		put_duration(l, f->end_ns > f->start_ns ? f->end_ns - f->start_ns : 0);
	}
	if (!f->has_counters)
		return;
	PUT_NUMBER(l, "packets", f->packets[0]);
	PUT_NUMBER(l, "bytes", f->bytes[0]);
	PUT_NUMBER(l, "reply-packets", f->packets[1]);
	PUT_NUMBER(l, "reply-bytes", f->bytes[1]);
}

size_t flow_json(struct flow_clock *clock, const struct flow *f, char out[FLOW_JSON_MAX])
{
	static const char *const names[] = {
		[FLOW_START] = "start", [FLOW_END] = "end", [FLOW_DENY] = "deny", [FLOW_LIVE] = "live"};
	bool is_over = f->event == FLOW_END || f->event == FLOW_LIVE;
	struct line l = {out};

	PUT(&l, "{\"time\":\"");
	put_time(&l, clock, is_over ? f->end_ns : f->start_ns);
	PUT(&l, "\",\"event\":\"");
	put_str(&l, names[f->event]);
	PUT(&l, "\"");
	if (f->event != FLOW_DENY)
		PUT_NUMBER(&l, "id", f->id);
	put_tuple(&l, &f->orig);
	put_nat(&l, f);
	put_places(&l, f);
	put_rule(&l, f);
	if (is_over)
		put_counters(&l, clock, f);
	else if (f->event == FLOW_DENY)
		PUT_NUMBER(&l, "bytes", f->bytes[0]);
	PUT(&l, "}\n");
	return (size_t)(l.p - out);
}
