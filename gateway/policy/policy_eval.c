/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See policy_eval.h. */
#include "gateway/policy/policy_eval.h"

#include "gateway/base/buf.h"
#include "gateway/base/str.h"
#include "gateway/policy/policy_peers.h"

enum { DAYS = 7 };

/* --- schedules and services --- */

static bool begins_on(const struct access_schedule *s, unsigned day)
{
	for (size_t i = 0; i < s->days.n; i++)
		if ((unsigned)s->days.v[i] == day)
			return true;
	return s->days.n == 0;
}

bool policy_schedule_holds(const struct access_schedule *s, unsigned day, unsigned minute)
{
	if (!s)
		return true;
	if (s->from < s->to)
		return begins_on(s, day) && minute >= s->from && minute < s->to;
	return (begins_on(s, day) && minute >= s->from) || (begins_on(s, (day + DAYS - 1) % DAYS) && minute < s->to);
}

uint32_t policy_service_number(uint8_t proto, uint16_t port)
{
	return (uint32_t)proto << 16 | (port_proto_has_ports(proto) || port_proto_has_types(proto) ? port : 0U);
}

static bool has_service(const struct policy_rule_of *r, const struct policy_packet *p)
{
	uint32_t number = policy_service_number(p->proto, p->port);

	for (size_t i = 0; i < r->n_spans; i++)
		if (number >= r->spans[i].low && number <= r->spans[i].high)
			return true;
	return false;
}

/* --- endpoints --- */

static bool has_address(const struct ip_prefix *v, size_t n, const struct ip_addr *addr)
{
	for (size_t i = 0; i < n; i++)
		if (ip_prefix_contains(&v[i], addr))
			return true;
	return false;
}

static bool has_device(const uint32_t *v, size_t n, uint32_t device)
{
	for (size_t i = 0; i < n; i++)
		if (device != 0 && v[i] == device)
			return true;
	return false;
}

static bool is_end(
	const struct policy_model *m, const struct policy_end *end, const struct policy_packet *p, bool is_from)
{
	bool own = p->hook == (is_from ? POLICY_OUTPUT : POLICY_INPUT);
	const struct policy_addrs *a;
	const struct policy_zone *z;

	if (end->kind == END_GATEWAY || own)
		return end->kind == END_GATEWAY && own;
	if (end->kind == END_ANY)
		return true;
	if (end->kind == END_ADDRS) {
		a = &m->addrs[end->index];
		return has_address(a->own, a->n_own, is_from ? &p->src : &p->dst) ||
			has_address(a->file, a->n_file, is_from ? &p->src : &p->dst);
	}
	z = &m->zones[end->index];
	return is_from ? has_device(z->in, z->n_in, p->in) || has_device(z->behind, z->n_behind, p->behind)
		       : has_device(z->out, z->n_out, p->out);
}

static bool is_one_of(const struct policy_model *m, const struct policy_end *ends, size_t n,
	const struct policy_packet *p, bool is_from)
{
	for (size_t i = 0; i < n; i++)
		if (is_end(m, &ends[i], p, is_from))
			return true;
	return false;
}

/* --- what no rule decides --- */

static bool is_peer(const struct policy_model *m, const struct policy_packet *p)
{
	for (size_t i = 0; i < m->n_peers && p->hook == POLICY_INPUT; i++) {
		const struct policy_peer *peer = &m->peers[i];

		if (p->proto != peer->proto || p->port != peer->port)
			continue;
		if (peer->interface ? str_eq(m->devices[p->in].name, peer->interface) && ip_addr_is_link_local(&p->src)
				    : ip_addr_cmp(&p->src, &peer->addr) == 0)
			return true;
	}
	return false;
}

static struct policy_verdict by_peer(void)
{
	return (struct policy_verdict){POLICY_PEER, -1, ACCESS_ACCEPT};
}

static struct policy_verdict by_default(const struct policy_model *m, const struct policy_packet *p)
{
	struct policy_verdict v = {.rule = -1, .action = ACCESS_ACCEPT};
	uint32_t from = m->devices[p->in].domain, to = m->devices[p->out].domain;

	if (p->hook == POLICY_OUTPUT) {
		v.reason = POLICY_SENT;
	} else if (p->hook == POLICY_INPUT) {
		v.reason = POLICY_OWN;
		v.action = m->policy->own_addresses == DEFAULT_ACCEPT ? ACCESS_ACCEPT : ACCESS_DROP;
	} else if (from != to) {
		v.reason = POLICY_BETWEEN;
		v.action = ACCESS_DROP;
	} else if (m->devices[p->out].is_bridge && (p->in == p->out || p->behind == p->out)) {
		v.reason = POLICY_INSIDE_SEGMENT;
	} else {
		v.reason = POLICY_BY_DEFAULT;
		v.action = m->policy->otherwise == DEFAULT_ACCEPT ? ACCESS_ACCEPT : ACCESS_DROP;
	}
	return v;
}

struct policy_verdict policy_eval(const struct policy_model *m, const struct policy_packet *p)
{
	if (is_peer(m, p))
		return by_peer();
	for (size_t i = 0; i < m->n_rules; i++) {
		const struct policy_rule_of *r = &m->rules[i];

		if (policy_schedule_holds(r->schedule, p->day, p->minute) && has_service(r, p) &&
			is_one_of(m, r->from, r->n_from, p, true) && is_one_of(m, r->to, r->n_to, p, false))
			return (struct policy_verdict){POLICY_BY_RULE, (int)i, (enum access_action)r->rule->action};
	}
	return by_default(m, p);
}

struct policy_verdict policy_decide(const struct policy_compiled *c, const struct policy_packet *p)
{
	int rule = policy_lookup(c, p);

	if (is_peer(c->model, p))
		return by_peer();
	if (rule < 0)
		return by_default(c->model, p);
	return (struct policy_verdict){POLICY_BY_RULE, rule, (enum access_action)c->model->rules[rule].rule->action};
}

void policy_verdict_print(const struct policy_model *m, const struct policy_verdict *v, struct buf *out)
{
	static const char *const reasons[] = {
		[POLICY_BY_DEFAULT] = "no rule decides; the default",
		[POLICY_BETWEEN] = "no rule decides; between two domains everything",
		[POLICY_INSIDE_SEGMENT] = "no rule decides; inside one segment everything",
		[POLICY_SENT] = "no rule decides; what the gateway itself sends",
		[POLICY_OWN] = "no rule decides; what is for the gateway itself",
		[POLICY_PEER] = "no rule is asked; what a configured peer says to the gateway",
	};
	static const char *const actions[] = {
		[ACCESS_ACCEPT] = "accepts it", [ACCESS_DROP] = "drops it", [ACCESS_REJECT] = "rejects it"};
	const struct access_rule *rule = v->rule >= 0 ? m->rules[v->rule].rule : NULL;

	if (rule)
		buf_printf(out, "rule %u%s%s%s %s", rule->seq, rule->name ? " (" : "", rule->name ? rule->name : "",
			rule->name ? ")" : "", actions[v->action]);
	else if (v->reason == POLICY_BY_DEFAULT)
		buf_printf(out, "%s %s", reasons[v->reason], actions[v->action]);
	else
		buf_printf(out, "%s is %s", reasons[v->reason], v->action == ACCESS_ACCEPT ? "accepted" : "denied");
}
