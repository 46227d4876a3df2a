/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See ipfix_sink.h. libfixbuf makes the messages, in a buffer of ours, and we send them: its own exporter would wait
 * for the socket, and cannot have a source address.
 */
#include "gateway/audit/ipfix_sink.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fixbuf/public.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "gateway/base/cleanup.h"

enum {
	MESSAGE_MAX = 1232, /* RFC 7011 10.3.3: no fragments; what any IPv6 path carries */
	TEMPLATE_IPV4 = 256,
	TEMPLATE_IPV6 = 257,
	EVENT_DELETED = 2, /* firewallEvent */
	EVENT_DENIED = 3,
	REASON_END = 3, /* flowEndReason: the end of the flow was seen */
	INITIATOR = 1,	/* biflowDirection */
	RESPONDER = 2,
	INTERNAL = 1, /* a spec row that is in our memory only */
	SEND_BUFFER = 4 * 1024 * 1024,
};
static const uint64_t TEMPLATES_NS = UINT64_C(10) * 1000000000, TEMPLATES_SOON_NS = 1000000000, MS_NS = 1000000;

/* What both families have, around their addresses; natural alignment, no holes. */
#define HEAD uint64_t start_ms, end_ms, octets, packets, flow_id;
#define TAIL                                                                                                           \
	uint16_t sport, dport, nat_sport, nat_dport, icmp;                                                             \
	uint8_t proto, reason, event, direction;                                                                       \
	uint8_t padding[2];                                                                                            \
	fbVarfield_t vrf;

struct record4 {
	HEAD;
	uint32_t src, dst, nat_src, nat_dst;
	TAIL;
};
struct record6 {
	HEAD;
	uint8_t src[16], dst[16], nat_src[16], nat_dst[16];
	TAIL;
};
_Static_assert(sizeof(struct record4) == 72 + sizeof(fbVarfield_t), "no holes");
_Static_assert(sizeof(struct record6) == 120 + sizeof(fbVarfield_t), "no holes");

#define SPEC_HEAD                                                                                                      \
	{(char *)"flowStartMilliseconds", 8, 0}, {(char *)"flowEndMilliseconds", 8, 0},                                \
		{(char *)"octetDeltaCount", 8, 0}, {(char *)"packetDeltaCount", 8, 0},                                 \
	{                                                                                                              \
		(char *)"flowId", 8, 0                                                                                 \
	}
#define SPEC_TAIL                                                                                                      \
	{(char *)"sourceTransportPort", 2, 0}, {(char *)"destinationTransportPort", 2, 0},                             \
		{(char *)"postNAPTSourceTransportPort", 2, 0},                                                         \
	{                                                                                                              \
		(char *)"postNAPTDestinationTransportPort", 2, 0                                                       \
	}
#define SPEC_END                                                                                                       \
	{(char *)"protocolIdentifier", 1, 0}, {(char *)"flowEndReason", 1, 0}, {(char *)"firewallEvent", 1, 0},        \
		{(char *)"biflowDirection", 1, 0}, {(char *)"paddingOctets", 2, INTERNAL}, {(char *)"VRFname", 0, 0},  \
		FB_IESPEC_NULL

static fbInfoElementSpec_t spec4[] = {SPEC_HEAD, {(char *)"sourceIPv4Address", 4, 0},
	{(char *)"destinationIPv4Address", 4, 0}, {(char *)"postNATSourceIPv4Address", 4, 0},
	{(char *)"postNATDestinationIPv4Address", 4, 0}, SPEC_TAIL, {(char *)"icmpTypeCodeIPv4", 2, 0}, SPEC_END};
static fbInfoElementSpec_t spec6[] = {SPEC_HEAD, {(char *)"sourceIPv6Address", 16, 0},
	{(char *)"destinationIPv6Address", 16, 0}, {(char *)"postNATSourceIPv6Address", 16, 0},
	{(char *)"postNATDestinationIPv6Address", 16, 0}, SPEC_TAIL, {(char *)"icmpTypeCodeIPv6", 2, 0}, SPEC_END};

struct ipfix_sink {
	int fd;
	fbInfoModel_t *model;
	fbSession_t *session;	/* the buffer's */
	fbExporter_t *exporter; /* the buffer's */
	fBuf_t *buf;
	uint16_t template; /* that the buffer has now; 0: none */
	bool refused;	   /* somebody is not there */
	uint64_t told;	   /* when the templates were sent; 0: never */
	size_t pending;	   /* records in the message that is being made */
	struct ipfix_counts counts;
	uint8_t message[MESSAGE_MAX];
};

/* --- sending --- */

/*
 * A refusal that comes now is of a message before: this one was not tried. And who refused it knows no templates when
 * it is there again.
 */
static bool try_to_send(struct ipfix_sink *s, size_t len)
{
	if (send(s->fd, s->message, len, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)len)
		return true;
	if (errno != ECONNREFUSED)
		return false;
	s->refused = true;
	return send(s->fd, s->message, len, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)len;
}

static void send_message(struct ipfix_sink *s)
{
	size_t len = fbExporterGetMsgLen(s->exporter);

	if (len == 0)
		return;
	if (try_to_send(s, len)) {
		s->counts.records += s->pending;
		s->counts.error = 0;
	} else {
		s->counts.lost += s->pending;
		s->counts.error = -errno;
	}
	s->pending = 0;
}

static void emit(struct ipfix_sink *s)
{
	GError *error = NULL;

	if (fBufEmit(s->buf, &error)) {
		send_message(s);
		return;
	}
	g_clear_error(&error);
	s->counts.lost += s->pending;
	s->pending = 0;
}

static void tell_templates(struct ipfix_sink *s, uint64_t now_ns)
{
	GError *error = NULL;

	if (s->pending > 0)
		emit(s);
	/* Without it, templates cannot begin a message; both fit one, so that none is sent behind our back. */
	fBufSetAutomaticMode(s->buf, TRUE);
	if (!fbSessionExportTemplates(s->session, &error))
		g_clear_error(&error);
	fBufSetAutomaticMode(s->buf, FALSE);
	emit(s);
	s->told = now_ns;
}

static bool use_template(struct ipfix_sink *s, uint16_t id)
{
	GError *error = NULL;

	if (s->template == id)
		return true;
	s->template = fBufSetInternalTemplate(s->buf, id, &error) && fBufSetExportTemplate(s->buf, id, &error) ? id : 0;
	g_clear_error(&error);
	return s->template == id;
}

/* A message that is full is sent, and the record goes into the next. */
static void append(struct ipfix_sink *s, uint16_t id, void *record, size_t size)
{
	for (unsigned try = 0; try < 2; try++) {
		GError *error = NULL;

		if (use_template(s, id) && fBufAppend(s->buf, record, size, &error)) {
			s->pending++;
			return;
		}
		g_clear_error(&error);
		if (s->pending > 0)
			emit(s);
	}
	s->counts.lost++;
}

/* --- records --- */

/* The members that both families have, for one direction of f. */
#define FILL(r, f, t, seen, d)                                                                                         \
	do {                                                                                                           \
		bool icmp_ = (t)->proto == IPPROTO_ICMP || (t)->proto == IPPROTO_ICMPV6;                               \
		const char *tenant_ = flow_tenant(f);                                                                  \
		(r)->start_ms = (f)->start_ns / MS_NS;                                                                 \
		(r)->end_ms = ((f)->event == FLOW_DENY ? (f)->start_ns : (f)->end_ns) / MS_NS;                         \
		(r)->octets = (f)->bytes[d];                                                                           \
		(r)->packets = (f)->packets[d];                                                                        \
		(r)->flow_id = (f)->id;                                                                                \
		(r)->sport = icmp_ ? 0 : (t)->sport;                                                                   \
		(r)->dport = icmp_ ? 0 : (t)->dport;                                                                   \
		(r)->nat_sport = icmp_ ? 0 : (seen)->dport;                                                            \
		(r)->nat_dport = icmp_ ? 0 : (seen)->sport;                                                            \
		(r)->icmp = icmp_ ? (t)->dport : 0;                                                                    \
		(r)->proto = (t)->proto;                                                                               \
		(r)->reason = REASON_END;                                                                              \
		(r)->event = (f)->event == FLOW_DENY ? EVENT_DENIED : EVENT_DELETED;                                   \
		(r)->direction = (d) == 0 ? INITIATOR : RESPONDER;                                                     \
		(r)->vrf.buf = (uint8_t *)tenant_;                                                                     \
		(r)->vrf.len = tenant_ ? strlen(tenant_) : 0;                                                          \
	} while (0)

static uint32_t address4(const uint8_t *bytes)
{
	uint32_t v;

	memcpy(&v, bytes, sizeof(v));
	return ntohl(v);
}

/* t: this direction as it came; seen: the other one, of which the ends are what this became. */
static void put_direction(
	struct ipfix_sink *s, const struct flow *f, const struct ct_tuple *t, const struct ct_tuple *seen, unsigned d)
{
	struct record4 r4 = {0};
	struct record6 r6 = {0};

	if (t->family == AF_INET) {
		FILL(&r4, f, t, seen, d);
		r4.src = address4(t->src);
		r4.dst = address4(t->dst);
		r4.nat_src = address4(seen->dst);
		r4.nat_dst = address4(seen->src);
		append(s, TEMPLATE_IPV4, &r4, sizeof(r4));
		return;
	}
	FILL(&r6, f, t, seen, d);
	memcpy(r6.src, t->src, 16);
	memcpy(r6.dst, t->dst, 16);
	memcpy(r6.nat_src, seen->dst, 16);
	memcpy(r6.nat_dst, seen->src, 16);
	append(s, TEMPLATE_IPV6, &r6, sizeof(r6));
}

static struct ct_tuple reverse_of(const struct ct_tuple *t)
{
	struct ct_tuple r = *t;

	memcpy(r.src, t->dst, 16);
	memcpy(r.dst, t->src, 16);
	r.sport = t->dport;
	r.dport = t->sport;
	return r;
}

void ipfix_sink_put(struct ipfix_sink *sink, const struct flow *flow)
{
	struct ct_tuple seen = reverse_of(&flow->orig);

	if (flow->event == FLOW_DENY) {
		put_direction(sink, flow, &flow->orig, &seen, 0);
	} else if (flow->event == FLOW_END) {
		put_direction(sink, flow, &flow->orig, &flow->reply, 0);
		if (flow->packets[1] > 0)
			put_direction(sink, flow, &flow->reply, &flow->orig, 1);
	}
}

void ipfix_sink_turn(struct ipfix_sink *sink, uint64_t now_ns)
{
	if (sink->told == 0 || now_ns - sink->told >= (sink->refused ? TEMPLATES_SOON_NS : TEMPLATES_NS)) {
		sink->refused = false;
		tell_templates(sink, now_ns);
	} else if (sink->pending > 0) {
		emit(sink);
	}
}

bool ipfix_sink_refused(const struct ipfix_sink *sink)
{
	return sink->refused;
}

const struct ipfix_counts *ipfix_sink_counts(const struct ipfix_sink *sink)
{
	return &sink->counts;
}

/* --- open and close --- */

static socklen_t address_of(const struct ip_addr *addr, uint16_t port, struct sockaddr_storage *ret)
{
	struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(port)};
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(port)};

	memcpy(&v4.sin_addr, addr->bytes, sizeof(v4.sin_addr));
	memcpy(&v6.sin6_addr, addr->bytes, sizeof(v6.sin6_addr));
	if (ip_addr_is_ipv6(addr)) {
		memcpy(ret, &v6, sizeof(v6));
		return sizeof(v6);
	}
	memcpy(ret, &v4, sizeof(v4));
	return sizeof(v4);
}

/* An address that is not there yet (an interface that is late) is taken all the same. */
static int open_socket(const struct ipfix_target *t, int *ret_fd)
{
	_cleanup_close_ int fd = socket(t->collector.family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int size = SEND_BUFFER, on = 1;
	struct sockaddr_storage a;
	socklen_t len;

	if (fd < 0)
		return -errno;
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size));
	if (ip_addr_is_set(&t->source)) {
		(void)setsockopt(fd, t->source.family == AF_INET6 ? IPPROTO_IPV6 : IPPROTO_IP,
			t->source.family == AF_INET6 ? IPV6_FREEBIND : IP_FREEBIND, &on, sizeof(on));
		len = address_of(&t->source, 0, &a);
		if (bind(fd, (struct sockaddr *)&a, len) < 0)
			return -errno;
	}
	len = address_of(&t->collector, t->port, &a);
	if (connect(fd, (struct sockaddr *)&a, len) < 0)
		return -errno;
	*ret_fd = steal_fd(&fd);
	return 0;
}

/* The same elements in memory and on the wire, without the padding. Its errors cannot be ignored by passing NULL. */
static bool add_template(struct ipfix_sink *s, fbInfoElementSpec_t *spec, uint16_t id)
{
	fbTemplate_t *inside = fbTemplateAlloc(s->model), *outside = fbTemplateAlloc(s->model);
	GError *error = NULL;
	bool good = fbTemplateAppendSpecArray(inside, spec, INTERNAL, &error) &&
		fbTemplateAppendSpecArray(outside, spec, 0, &error) &&
		fbSessionAddTemplate(s->session, TRUE, id, inside, &error) == id &&
		fbSessionAddTemplate(s->session, FALSE, id, outside, &error) == id;

	g_clear_error(&error);
	return good;
}

int ipfix_sink_open(const struct ipfix_target *target, struct ipfix_sink **ret)
{
	struct ipfix_sink *s = calloc(1, sizeof(*s));
	bool has_templates;
	int r;

	if (!s)
		abort();
	s->fd = -1;
	r = open_socket(target, &s->fd);
	if (r < 0) {
		free(s);
		return r;
	}
	s->model = fbInfoModelAlloc();
	s->session = fbSessionAlloc(s->model);
	fbSessionSetDomain(s->session, target->domain);
	has_templates = add_template(s, spec4, TEMPLATE_IPV4) && add_template(s, spec6, TEMPLATE_IPV6);
	s->exporter = fbExporterAllocBuffer(s->message, sizeof(s->message));
	s->buf = fBufAllocForExport(s->session, s->exporter);
	fBufSetAutomaticMode(s->buf, FALSE);
	if (!has_templates) {
		ipfix_sink_close(s);
		return -ENOTSUP;
	}
	tell_templates(s, 0); /* before any record; and again soon, where this one waits for a neighbor */
	*ret = s;
	return 0;
}

void ipfix_sink_close(struct ipfix_sink *sink)
{
	if (!sink)
		return;
	if (sink->pending > 0)
		emit(sink);
	fBufFree(sink->buf);
	fbInfoModelFree(sink->model);
	closep(&sink->fd);
	free(sink);
}
