/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See policy_flows.h. */
#include "gateway/daemon/policy_flows.h"

#include <arpa/inet.h>
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "config/config.h"
#include "gateway/audit/audit_names.h"
#include "gateway/audit/ct_event.h"
#include "gateway/audit/ct_socket.h"
#include "gateway/audit/flow.h"
#include "gateway/base/arena.h"
#include "gateway/base/buf.h"
#include "gateway/base/cleanup.h"
#include "gateway/policy/policy_eval.h"
#include "gateway/policy/policy_place.h"
#include "gateway/policy/policy_render.h"

enum { NAMED_MAX = 10, PATIENCE_MS = 5000, ROOM = 512, SECONDS_DAY = 86400, THURSDAY = 4 };

/* A policy that flows are held against. */
struct judge {
	struct arena *arena;
	const struct config *cfg;
	struct policy_compiled compiled;
	struct policy_places *places;
	const uint32_t *zones;
	unsigned day, minute;
	void (*each)(struct judge *j, const struct ct_event *ct);
	struct policy_cut cut;
	uint32_t epoch;
	bool all; /* those of this epoch too */
	int fd;	  /* for marks */
	int n_ended;
};

static void judge_open(struct judge *j, const struct config *cfg, const struct facts *facts)
{
	time_t now = time(NULL);

	j->arena = arena_new();
	j->cfg = cfg;
	policy_compile(policy_model_new(cfg, facts, j->arena), POLICY_WIDE, &j->compiled);
	j->places = policy_places_new(cfg, j->compiled.model);
	j->zones = policy_zones(cfg, j->arena);
	j->day = (unsigned)((now / SECONDS_DAY + THURSDAY) % 7);
	j->minute = (unsigned)(now % SECONDS_DAY / 60);
}

/* --- one flow --- */

static uint32_t domain_of(const struct judge *j, uint16_t zone)
{
	for (uint32_t i = 1; zone > 0 && i <= j->cfg->tenants.n; i++)
		if (j->zones[i] == zone)
			return i;
	return 0;
}

static struct ip_addr addr_of(const struct ct_tuple *t, const uint8_t bytes[16])
{
	struct ip_addr a = {.family = t->family};

	memcpy(a.bytes, bytes, sizeof(a.bytes));
	return a;
}

/* Of two ways to know: the label that the audit gave the flow, else its address. */
static struct policy_place place_of(const struct judge *j, uint32_t domain, const struct ip_addr *addr, uint64_t label)
{
	const struct policy_model *m = j->compiled.model;
	struct policy_place place = policy_place_of(j->places, domain, addr);

	for (size_t i = 1; label && !place.own && i < m->n_devices; i++)
		if (!m->devices[i].is_vrf && audit_label_of(m->devices[i].name) == label)
			place.device = (uint32_t)i;
	return place;
}

static uint16_t port_of(const struct ct_tuple *t)
{
	return port_proto_has_types(t->proto) ? t->dport >> 8 : t->dport;
}

/* False: where it comes from, or goes to, is not known. */
static bool decide(const struct judge *j, const struct ct_event *ct, struct policy_verdict *ret)
{
	uint32_t domain = domain_of(j, ct->zone);
	struct policy_packet p = {.src = addr_of(&ct->orig, ct->orig.src),
		.dst = addr_of(&ct->orig, ct->orig.dst),
		.proto = ct->orig.proto,
		.port = port_of(&ct->orig),
		.day = j->day,
		.minute = j->minute};
	struct policy_place from, to;
	uint64_t in = 0, out = 0;

	if (ct->has_label)
		audit_label_read(ct->label, &in, &out);
	from = place_of(j, domain, &p.src, in);
	to = place_of(j, domain, &p.dst, out);
	if ((from.device == 0 && !from.own) || (to.device == 0 && !to.own))
		return false;
	policy_place_packet(j->compiled.model, from, to, &p);
	*ret = policy_decide(&j->compiled, &p);
	return true;
}

static void print_end(const struct ct_tuple *t, const uint8_t bytes[16], uint16_t port, struct buf *out)
{
	struct ip_addr a = addr_of(t, bytes);
	char text[IP_STR_MAX];
	bool six = ip_addr_is_ipv6(&a);

	if (!port_proto_has_ports(t->proto))
		buf_puts(out, ip_addr_str(&a, text));
	else
		buf_printf(out, "%s%s%s:%u", six ? "[" : "", ip_addr_str(&a, text), six ? "]" : "", port);
}

static void name_flow(struct judge *j, const struct ct_event *ct, const struct policy_verdict *v)
{
	const struct ct_tuple *t = &ct->orig;
	struct buf flow = {0}, verdict = {0};

	if (flow_proto_name(t->proto))
		buf_printf(&flow, "%s ", flow_proto_name(t->proto));
	else
		buf_printf(&flow, "%u ", t->proto);
	print_end(t, t->src, t->sport, &flow);
	buf_puts(&flow, " -> ");
	print_end(t, t->dst, t->dport, &flow);
	policy_verdict_print(j->compiled.model, v, &verdict);
	json_array_append_new(
		j->cut.named, json_pack("{s:s, s:s}", "flow", buf_str(&flow), "verdict", buf_str(&verdict)));
	buf_free(&flow);
	buf_free(&verdict);
}

static void count(struct judge *j, const struct ct_event *ct)
{
	struct policy_verdict v;

	if (ct->mark & POLICY_MARK_DENIED)
		return;
	j->cut.flows++;
	if (!decide(j, ct, &v)) {
		j->cut.unknown++;
	} else if (v.action != ACCESS_ACCEPT) {
		j->cut.denied++;
		if (json_array_size(j->cut.named) < NAMED_MAX)
			name_flow(j, ct, &v);
	}
}

/* --- denying flows --- */

static void put_tuple(struct nlmsghdr *h, const struct ct_tuple *t)
{
	struct nlattr *tuple = mnl_attr_nest_start(h, CTA_TUPLE_ORIG), *nest;
	bool six = t->family == AF_INET6;

	nest = mnl_attr_nest_start(h, CTA_TUPLE_IP);
	mnl_attr_put(h, six ? CTA_IP_V6_SRC : CTA_IP_V4_SRC, six ? 16 : 4, t->src);
	mnl_attr_put(h, six ? CTA_IP_V6_DST : CTA_IP_V4_DST, six ? 16 : 4, t->dst);
	mnl_attr_nest_end(h, nest);
	nest = mnl_attr_nest_start(h, CTA_TUPLE_PROTO);
	mnl_attr_put_u8(h, CTA_PROTO_NUM, t->proto);
	if (port_proto_has_types(t->proto)) {
		bool icmp6 = t->proto == IPPROTO_ICMPV6;

		mnl_attr_put_u16(h, icmp6 ? CTA_PROTO_ICMPV6_ID : CTA_PROTO_ICMP_ID, htons(t->sport));
		mnl_attr_put_u8(h, icmp6 ? CTA_PROTO_ICMPV6_TYPE : CTA_PROTO_ICMP_TYPE, (uint8_t)(t->dport >> 8));
		mnl_attr_put_u8(h, icmp6 ? CTA_PROTO_ICMPV6_CODE : CTA_PROTO_ICMP_CODE, (uint8_t)t->dport);
	} else {
		mnl_attr_put_u16(h, CTA_PROTO_SRC_PORT, htons(t->sport));
		mnl_attr_put_u16(h, CTA_PROTO_DST_PORT, htons(t->dport));
	}
	mnl_attr_nest_end(h, nest);
	mnl_attr_nest_end(h, tuple);
}

/*
 * Marked, as the kernel's own rules mark it, and not deleted: what answers would begin a flow of its own, in the other
 * direction, which the policy may well accept. Without an answer: one that is gone by itself is as good. The number is
 * the kernel's own of this very flow.
 */
static bool mark_flow(const struct judge *j, const struct ct_event *ct, uint32_t mark)
{
	_Alignas(struct nlmsghdr) char room[ROOM];
	struct nlmsghdr *h = mnl_nlmsg_put_header(room);
	struct nfgenmsg *nfg = mnl_nlmsg_put_extra_header(h, sizeof(*nfg));

	h->nlmsg_type = NFNL_SUBSYS_CTNETLINK << 8 | IPCTNL_MSG_CT_NEW;
	h->nlmsg_flags = NLM_F_REQUEST;
	nfg->nfgen_family = ct->orig.family;
	nfg->version = NFNETLINK_V0;
	put_tuple(h, &ct->orig);
	if (ct->zone)
		mnl_attr_put_u16(h, CTA_ZONE, htons(ct->zone));
	mnl_attr_put_u32(h, CTA_ID, htonl(ct->id));
	mnl_attr_put_u32(h, CTA_MARK, htonl(mark));
	return send(j->fd, h, h->nlmsg_len, 0) >= 0;
}

/*
 * Of this epoch are flows that the same policy judged when its prefix files had something else in them: those that are
 * accepted again are looked up by their next packet.
 */
static void sweep(struct judge *j, const struct ct_event *ct)
{
	const uint32_t denied = POLICY_MARK_DENIED | j->epoch << POLICY_EPOCH_SHIFT;
	bool known = (ct->mark & POLICY_MARK_EPOCH) >> POLICY_EPOCH_SHIFT == j->epoch;
	struct policy_verdict v;

	if ((known && !j->all) || !decide(j, ct, &v))
		return;
	if (v.action != ACCESS_ACCEPT && !(known && ct->mark & POLICY_MARK_DENIED))
		j->n_ended += mark_flow(j, ct, denied);
	else if (v.action == ACCESS_ACCEPT && known && ct->mark & POLICY_MARK_DENIED)
		(void)mark_flow(j, ct, 0);
}

/* --- all flows --- */

/* 1: the end of the dump; 0: more; or -errno. */
static int take(struct judge *j, const uint8_t *room, size_t len)
{
	for (size_t at = 0; at + NLMSG_HDRLEN <= len;) {
		struct nlmsghdr h;
		struct ct_event ct;

		memcpy(&h, room + at, sizeof(h));
		if (h.nlmsg_len < NLMSG_HDRLEN || h.nlmsg_len > len - at)
			return -EBADMSG;
		if (h.nlmsg_type == NLMSG_ERROR)
			return -EBADMSG;
		if (h.nlmsg_type == NLMSG_DONE)
			return 1;
		if (ct_event_parse(room + at, h.nlmsg_len, &ct) == 0)
			j->each(j, &ct);
		at += NLMSG_ALIGN(h.nlmsg_len);
	}
	return 0;
}

static int each_flow(struct judge *j)
{
	_cleanup_(arena_freep) struct arena *arena = arena_new();
	uint8_t *room = arena_alloc(arena, CT_DUMP_MAX);
	_cleanup_close_ int fd = -1;
	int r = ct_socket_dump(&fd);

	if (r == 0)
		r = ct_socket_ask(fd);
	while (r == 0) {
		struct pollfd p = {.fd = fd, .events = POLLIN};
		int n;

		if (poll(&p, 1, PATIENCE_MS) <= 0)
			return -ETIMEDOUT;
		n = ct_socket_read_dump(fd, room);
		r = n < 0 ? n : take(j, room, (size_t)n);
	}
	return r < 0 ? r : 0;
}

int policy_flows_preview(const struct config *cfg, const struct facts *facts, struct policy_cut *ret)
{
	struct judge j = {.each = count, .cut.named = json_array(), .fd = -1};
	int r = 0;

	if (cfg && cfg->policy) {
		judge_open(&j, cfg, facts);
		r = each_flow(&j);
		arena_free(j.arena);
	}
	*ret = j.cut;
	return r;
}

int policy_flows_sweep(const struct config *cfg, const struct facts *facts, uint32_t epoch, bool all)
{
	struct judge j = {.each = sweep, .epoch = epoch, .all = all, .fd = -1};
	_cleanup_close_ int fd = -1;
	int r;

	if (!cfg || !cfg->policy)
		return 0;
	r = ct_socket_dump(&fd);
	if (r < 0)
		return r;
	j.fd = fd;
	judge_open(&j, cfg, facts);
	r = each_flow(&j);
	arena_free(j.arena);
	return r < 0 ? r : j.n_ended;
}
