/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See policy_render.h. Pure. What is fixed is in policy_base.c: the base chains, what is accepted and denied, defaults.
 * Here is what follows from the rules: classes, runs, and a chain for each rule.
 */
#include "gateway/policy/policy_render.h"

#include <arpa/inet.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "gateway/base/arena.h"
#include "gateway/base/str.h"
#include "gateway/policy/policy_keys.h"
#include "gateway/policy/policy_rendering.h"

/* --- everything that is added is part of what the policy is --- */

static void note(struct rendering *r, const void *bytes, size_t len)
{
	const uint8_t *p = bytes;

	for (size_t i = 0; i < len; i++)
		r->identity = (r->identity ^ p[i]) * UINT64_C(0x100000001b3);
}

void rendering_note(struct rendering *r, const char *text)
{
	note(r, text, strlen(text) + 1);
}

struct nft_chain *rendering_chain(struct rendering *r, const char *name)
{
	rendering_note(r, name);
	return nft_add_chain(r->m, r->t, name, NULL);
}

void rendering_rule(struct rendering *r, struct nft_chain *c, const char *fmt, ...)
{
	struct buf text = {0};
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(&text, fmt, ap);
	va_end(ap);
	rendering_note(r, buf_str(&text));
	nft_add_rule(r->m, c, "%s", buf_str(&text));
	buf_free(&text);
}

struct nft_set *rendering_set(struct rendering *r, const char *name, const char *spec, const char *object)
{
	rendering_note(r, name);
	rendering_note(r, spec);
	return nft_add_set(r->m, r->t, name, spec, object);
}

void rendering_elem(struct rendering *r, struct nft_set *s, const void *key, size_t len, const void *key_end,
	const char *data, const char *text)
{
	note(r, key, len);
	if (key_end)
		note(r, key_end, len);
	if (data)
		rendering_note(r, data);
	nft_add_map_elem(r->m, s, key, len, key_end, data, "%s", text);
}

/* --- classes --- */

static void add_class4(struct rendering *r, struct nft_set *s, const struct policy_atom4 *atom)
{
	uint32_t low = htonl(atom->low), high = htonl(atom->high);
	char a[INET_ADDRSTRLEN], b[INET_ADDRSTRLEN], text[2 * INET_ADDRSTRLEN + 2], data[16];

	(void)inet_ntop(AF_INET, &low, a, sizeof(a));
	(void)inet_ntop(AF_INET, &high, b, sizeof(b));
	(void)snprintf(text, sizeof(text), "%s%s%s", a, low == high ? "" : "-", low == high ? "" : b);
	(void)snprintf(data, sizeof(data), "%u", atom->class_id);
	nft_add_map_elem(r->m, s, &low, sizeof(low), &high, data, "%s", text);
}

static void add_class6(struct rendering *r, struct nft_set *s, const struct policy_atom6 *atom)
{
	bool one = memcmp(atom->low, atom->high, sizeof(atom->low)) == 0;
	char a[INET6_ADDRSTRLEN], b[INET6_ADDRSTRLEN], text[2 * INET6_ADDRSTRLEN + 2], data[16];

	(void)inet_ntop(AF_INET6, atom->low, a, sizeof(a));
	(void)inet_ntop(AF_INET6, atom->high, b, sizeof(b));
	(void)snprintf(text, sizeof(text), "%s%s%s", a, one ? "" : "-", one ? "" : b);
	(void)snprintf(data, sizeof(data), "%u", atom->class_id);
	nft_add_map_elem(r->m, s, atom->low, sizeof(atom->low), atom->high, data, "%s", text);
}

/*
 * One map serves both ends of a flow: a plain number, so that it can go into either. The config's own prefixes are part
 * of what the policy is; what is in files is not, so that a change there is no other epoch: the daemon looks at all
 * flows after it (policy_watch.c).
 */
static void add_classes(struct rendering *r)
{
	const struct policy_classes *c = &r->c.classes;
	struct nft_set *s;

	for (size_t i = 0; i < r->c.model->n_addrs; i++)
		note(r, r->c.model->addrs[i].own, r->c.model->addrs[i].n_own * sizeof(*r->c.model->addrs[i].own));

	if (c->n_atoms4 > 0) {
		s = rendering_set(r, "class4", POLICY_CLASS4, "the policy's IPv4 addresses");
		for (size_t i = 0; i < c->n_atoms4; i++)
			add_class4(r, s, &c->atoms4[i]);
		(void)rendering_set(r, "recent4", POLICY_CLASS4, "the policy's IPv4 addresses, lately");
	}
	if (c->n_atoms6 > 0) {
		s = rendering_set(r, "class6", POLICY_CLASS6, "the policy's IPv6 addresses");
		for (size_t i = 0; i < c->n_atoms6; i++)
			add_class6(r, s, &c->atoms6[i]);
		(void)rendering_set(r, "recent6", POLICY_CLASS6, "the policy's IPv6 addresses, lately");
	}
}

static void add_wide(struct rendering *r, uint32_t set, bool is_from)
{
	const struct policy_class_list *l = &r->c.classes.sets[set];
	struct buf name = {0};
	struct nft_set *s;

	policy_wide_name(r->c.model, set, is_from, &name);
	if (!nft_table_set(r->t, buf_str(&name))) {
		s = rendering_set(
			r, buf_str(&name), is_from ? "typeof ct mark" : "typeof meta priority", "classes of addresses");
		for (size_t i = 0; i < l->n; i++) {
			char text[24];

			if (is_from)
				(void)snprintf(text, sizeof(text), "%u", l->v[i]);
			else
				(void)snprintf(text, sizeof(text), "%x:%x", l->v[i] >> 16, l->v[i] & 0xffff);
			rendering_elem(r, s, &l->v[i], sizeof(l->v[i]), NULL, NULL, text);
		}
	}
	buf_free(&name);
}

/* --- runs --- */

static void rule_chain_name(const struct rendering *r, uint32_t rule, char ret[32])
{
	(void)snprintf(ret, 32, "goto " POLICY_COUNTER_RULE "%u", r->c.model->rules[rule].rule->seq);
}

static void add_run(struct rendering *r, const struct policy_run *run)
{
	struct buf name = {0}, spec = {0};
	struct policy_run_key key = {.len = 0};
	struct nft_set *s;
	char data[32];

	if (run->shape.from == SIDE_WIDE)
		add_wide(r, run->shape.wide_from, true);
	if (run->shape.to == SIDE_WIDE)
		add_wide(r, run->shape.wide_to, false);
	if (policy_run_is_everything(run))
		return;
	policy_run_name(r->c.model, run, r->layout, &name);
	policy_run_parts(run, &spec);
	s = rendering_set(r, buf_str(&name),
		arena_printf(r->m->arena, "typeof %s : verdict;%s", buf_str(&spec),
			policy_run_has_ranges(run) ? " flags interval;" : ""),
		arena_printf(r->m->arena, "policy %s", buf_str(&name)));
	for (size_t i = 0; i < run->n_elems; i++) {
		policy_run_key(r->c.model, run, &run->elems[i], &key);
		rule_chain_name(r, run->elems[i].rule, data);
		rendering_elem(
			r, s, key.low, key.len, policy_run_has_ranges(run) ? key.high : NULL, data, buf_str(&key.text));
	}
	buf_free(&name);
	buf_free(&spec);
	buf_free(&key.text);
}

/* The days as a named set: see add_dispatch(). */
static void add_days(struct rendering *r, const struct access_schedule *s, unsigned shift, const char *name)
{
	struct nft_set *set;

	if (nft_table_set(r->t, name))
		return;
	set = rendering_set(r, name, "typeof meta day;", "days of schedules");
	for (size_t i = 0; i < s->days.n; i++) {
		uint8_t day = (uint8_t)(((unsigned)s->days.v[i] + shift) % 7);
		char text[8];

		(void)snprintf(text, sizeof(text), "%u", day);
		rendering_elem(r, set, &day, sizeof(day), NULL, NULL, text);
	}
}

/* What of a schedule is one condition of days and seconds, in UTC as the kernel counts. */
static void print_when(struct rendering *r, const struct access_schedule *s, unsigned shift, uint32_t from, uint32_t to,
	struct buf *out)
{
	struct buf name = {0};

	if (s->days.n > 0) {
		buf_puts(&name, shift ? "days_after_" : "days_");
		policy_put_clean(s->name, &name);
		add_days(r, s, shift, buf_str(&name));
		buf_printf(out, "meta day @%s ", buf_str(&name));
	}
	buf_printf(out, "meta hour %u-%u ", from * 60, to * 60 - 1);
	buf_free(&name);
}

static void add_lookup_at(struct rendering *r, struct nft_chain *c, const struct policy_run *run, const char *when)
{
	struct buf text = {0}, name = {0}, parts = {0};
	char data[32];

	buf_puts(&text, when);
	if (run->shape.from == SIDE_WIDE) {
		policy_wide_name(r->c.model, run->shape.wide_from, true, &name);
		buf_printf(&text, "ct mark @%s ", buf_str(&name));
		buf_reset(&name);
	}
	if (run->shape.to == SIDE_WIDE) {
		policy_wide_name(r->c.model, run->shape.wide_to, false, &name);
		buf_printf(&text, "meta priority @%s ", buf_str(&name));
		buf_reset(&name);
	}
	policy_run_parts(run, &parts);
	policy_run_name(r->c.model, run, r->layout, &name);
	rule_chain_name(r, run->elems[0].rule, data);
	if (policy_run_is_everything(run))
		buf_puts(&text, data);
	else
		buf_printf(&text, "%s vmap @%s", buf_str(&parts), buf_str(&name));
	rendering_rule(r, c, "%s", buf_str(&text));
	buf_free(&text);
	buf_free(&name);
	buf_free(&parts);
}

static void add_lookup(struct rendering *r, struct nft_chain *c, const struct policy_run *run)
{
	const struct access_schedule *s =
		run->shape.schedule ? &r->c.model->policy->schedules.v[run->shape.schedule - 1] : NULL;
	struct buf when = {0};

	if (!s) {
		add_lookup_at(r, c, run, "");
		return;
	}
	print_when(r, s, 0, s->from, s->from < s->to ? s->to : 1440, &when);
	add_lookup_at(r, c, run, buf_str(&when));
	if (s->from > s->to && s->to > 0) {
		buf_reset(&when);
		print_when(r, s, 1, 0, s->to, &when);
		add_lookup_at(r, c, run, buf_str(&when));
	}
	buf_free(&when);
}

/* Which look-ups a packet can need: of one with ports, with types, and of all others. */
enum packet_kind { WITH_PORTS, WITH_TYPES, OTHERS };

static bool is_for(const struct policy_run *run, enum packet_kind kind)
{
	switch (run->shape.service) {
	case SERVICE_PORT:
	case SERVICE_RANGE:
		return kind == WITH_PORTS;
	case SERVICE_TYPE:
		return kind == WITH_TYPES;
	default:
		return true;
	}
}

static void add_lookups(struct rendering *r, enum policy_hook hook, enum packet_kind kind, struct nft_chain *c)
{
	for (size_t i = 0; i < r->c.n_runs; i++)
		if (r->c.runs[i].shape.hook == hook && r->c.runs[i].n_elems > 0 && is_for(&r->c.runs[i], kind))
			add_lookup(r, c, &r->c.runs[i]);
	rendering_rule(r, c, "goto otherwise_%s", policy_hook_name(hook));
}

/*
 * The classes of both ends, and then the look-ups. The chain with the anonymous map never changes: with its rule the
 * map would go too, and a packet that has just come to the rule would find nothing in it.
 */
static void add_dispatch(struct rendering *r, enum policy_hook hook)
{
	const char *name = policy_hook_name(hook);
	struct nft_chain *ports = rendering_chain(r, arena_printf(r->m->arena, "ports_%s", name));
	struct nft_chain *types = rendering_chain(r, arena_printf(r->m->arena, "types_%s", name));
	struct nft_chain *others = rendering_chain(r, arena_printf(r->m->arena, "others_%s", name));
	struct nft_chain *classes = rendering_chain(r, arena_printf(r->m->arena, "classes_%s", name));
	struct nft_chain *c = rendering_chain(r, arena_printf(r->m->arena, "new_%s", name));

	if (r->c.classes.n_atoms4 > 0) {
		rendering_rule(r, classes, "ct mark set ip saddr map @class4");
		rendering_rule(r, classes, "meta priority set ip daddr map @class4");
		rendering_rule(r, classes, "ct mark set ip saddr map @recent4");
		rendering_rule(r, classes, "meta priority set ip daddr map @recent4");
	}
	if (r->c.classes.n_atoms6 > 0) {
		rendering_rule(r, classes, "ct mark set ip6 saddr map @class6");
		rendering_rule(r, classes, "meta priority set ip6 daddr map @class6");
		rendering_rule(r, classes, "ct mark set ip6 saddr map @recent6");
		rendering_rule(r, classes, "meta priority set ip6 daddr map @recent6");
	}
	rendering_rule(r, c, "ct mark set 0 meta priority set 0 jump classes_%s", name);
	rendering_rule(r, c,
		"meta l4proto vmap { tcp : goto ports_%s, udp : goto ports_%s, sctp : goto ports_%s, icmp : goto "
		"types_%s, icmpv6 : goto types_%s }",
		name, name, name, name, name);
	rendering_rule(r, c, "goto others_%s", name);
	add_lookups(r, hook, OTHERS, others);
	add_lookups(r, hook, WITH_PORTS, ports);
	add_lookups(r, hook, WITH_TYPES, types);
}

/* --- one chain for each rule --- */

const char *policy_rate_unit(const struct event_rate *rate)
{
	return rate->seconds == 1 ? "second" : rate->seconds == 60 ? "minute" : "hour";
}

/* What is over a limit is new: a flow that is there already is not cut by the rate of others. */
static void add_limits(struct rendering *r, struct nft_chain *c, const struct access_rule *rule)
{
	if (rule->rate_limit.events)
		rendering_rule(r, c, "ct state new limit rate over %u/%s burst %u packets goto limited",
			rule->rate_limit.events, policy_rate_unit(&rule->rate_limit), rule->rate_limit.events);
	if (rule->connection_limit)
		rendering_rule(r, c, "ct count over %u goto limited", rule->connection_limit);
}

static void add_rule(struct rendering *r, const struct access_rule *rule)
{
	const char *name = arena_printf(r->m->arena, POLICY_COUNTER_RULE "%u", rule->seq);
	struct nft_chain *c;

	(void)nft_add_counter(r->m, r->t, name);
	c = rendering_chain(r, name);
	if (rule->action == ACCESS_ACCEPT) {
		add_limits(r, c, rule);
		rendering_rule(r, c, "counter name %s ct mark set %u goto accepted", name, rule->seq);
		return;
	}
	rendering_rule(r, c, "counter name %s", name);
	if (rule->log || r->c.model->policy->log_denied)
		rendering_log(r, c, arena_printf(r->m->arena, "%u", rule->seq));
	rendering_rule(r, c, "goto %s", rule->action == ACCESS_DROP ? "denied" : "refused");
}

/* A rule without an element has a counter all the same: that it is unused is to be seen. */
static void add_rules(struct rendering *r)
{
	for (size_t i = 0; i < r->c.model->n_rules; i++)
		add_rule(r, r->c.model->rules[i].rule);
}

bool policy_is_closed(const struct policy *policy)
{
	return policy->own_addresses == DEFAULT_DROP;
}

static bool has_hook(const struct rendering *r, enum policy_hook hook)
{
	if (hook == POLICY_INPUT && policy_is_closed(r->c.model->policy))
		return true;
	for (size_t i = 0; i < r->c.n_runs; i++)
		if (r->c.runs[i].shape.hook == hook)
			return true;
	return hook == POLICY_FORWARD;
}

void policy_render(const struct config *cfg, const struct facts *facts, struct nft_model *m)
{
	struct rendering r = {.m = m, .identity = UINT64_C(0xcbf29ce484222325)};

	if (!cfg || !cfg->policy)
		return;
	policy_compile(policy_model_new(cfg, facts, m->arena), POLICY_WIDE, &r.c);
	r.t = nft_add_table(m, "inet", NFT_TABLE_POLICY);
	policy_base_ends(&r);
	policy_layout(&r);
	add_classes(&r);
	add_rules(&r);
	for (size_t i = 0; i < r.c.n_runs; i++)
		if (r.c.runs[i].n_elems > 0)
			add_run(&r, &r.c.runs[i]);
	for (enum policy_hook hook = POLICY_FORWARD; hook < POLICY_HOOKS; hook++) {
		if (!has_hook(&r, hook))
			continue;
		policy_base_otherwise(&r, hook);
		add_dispatch(&r, hook);
		policy_base_hook(&r, cfg, hook);
	}
	policy_base_zones(&r, cfg);
	policy_base_epoch(&r);
}
