/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rules of `policy` that need more than one value; see policy.h. Pure. */
#include <string.h>

#include "config/config.h"
#include "gateway/base/arena.h"
#include "gateway/base/buf.h"
#include "gateway/base/cleanup.h"
#include "gateway/base/str.h"
#include "gateway/engine/facts.h"
#include "gateway/policy/policy.h"
#include "gateway/policy/policy_compile.h"

/* --- names --- */

static void print_kinds(unsigned kinds, const char *name, const char *between, struct buf *out)
{
	bool first = true;

	for (enum endpoint_kind k = ENDPOINT_SEGMENT; k <= ENDPOINT_INTERFACE; k++) {
		if (!(kinds >> k & 1))
			continue;
		buf_printf(out, "%s%s%s%s", first ? "" : between, endpoint_kind_word(k), name ? ":" : "",
			name ? name : "");
		first = false;
	}
}

static void try_names(const struct config *cfg, enum endpoint_kind kind, struct nearest *near)
{
	bool all = kind == ENDPOINT_NAME;

	for (size_t i = 0; i < cfg->segments.n && (all || kind == ENDPOINT_SEGMENT); i++)
		nearest_try(near, cfg->segments.v[i].name);
	for (size_t i = 0; i < cfg->tenants.n && (all || kind == ENDPOINT_TENANT); i++)
		nearest_try(near, cfg->tenants.v[i].name);
	for (size_t i = 0; i < cfg->policy->groups.n && (all || kind == ENDPOINT_GROUP); i++)
		nearest_try(near, cfg->policy->groups.v[i].name);
	for (size_t i = 0; i < cfg->lines.n && (all || kind == ENDPOINT_LINE); i++)
		nearest_try(near, cfg->lines.v[i].name);
	for (size_t i = 0; i < cfg->interfaces.n && (all || kind == ENDPOINT_INTERFACE); i++)
		nearest_try(near, cfg->interfaces.v[i].name);
}

/* Is all known that an endpoint could name? */
static bool names_are_whole(const struct config *cfg)
{
	return CONFIG_IS_WHOLE(cfg, segments) && CONFIG_IS_WHOLE(cfg, tenants) && CONFIG_IS_WHOLE(cfg, lines) &&
		CONFIG_IS_WHOLE(cfg, interfaces) && CONFIG_IS_WHOLE(cfg, policy);
}

static void unknown_name(
	const struct config *cfg, const struct endpoint *e, const char *what, struct loc at, struct diag *diag)
{
	struct nearest near = {.word = e->name};

	try_names(cfg, e->kind, &near);
	diag_error(diag, at, "%s: there is no %s %s%s%s%s", what,
		e->kind == ENDPOINT_NAME ? "segment, tenant, group, line or interface" : endpoint_kind_word(e->kind),
		e->name, near.best ? "; did you mean " : "", near.best ? near.best : "", near.best ? "?" : "");
}

/* A port of a segment's bridge is not seen: what it sends comes by the bridge. */
static const struct segment *segment_of_member(const struct config *cfg, const char *interface)
{
	for (size_t i = 0; i < cfg->segments.n; i++)
		for (size_t k = 0; k < cfg->segments.v[i].members.n; k++)
			if (str_eq(cfg->segments.v[i].members.v[k], interface))
				return &cfg->segments.v[i];
	return NULL;
}

static void check_name(
	const struct config *cfg, const struct endpoint *e, const char *what, struct loc at, struct diag *diag)
{
	unsigned kinds = policy_kinds_of(cfg, e);
	struct buf are = {0}, write = {0};

	if (kinds == 0) {
		if (names_are_whole(cfg))
			unknown_name(cfg, e, what, at, diag);
		return;
	}
	if (kinds & (kinds - 1)) {
		print_kinds(kinds, NULL, " and of a ", &are);
		print_kinds(kinds, e->name, " or ", &write);
		diag_error(diag, at, "%s: %s is the name of a %s; write %s", what, e->name, buf_str(&are),
			buf_str(&write));
	} else if (kinds == 1U << ENDPOINT_INTERFACE && segment_of_member(cfg, e->name)) {
		diag_error(diag, at,
			"%s: interface %s is a member of segment %s: name the segment, or a group of addresses", what,
			e->name, segment_of_member(cfg, e->name)->name);
	}
	buf_free(&are);
	buf_free(&write);
}

/* --- one rule --- */

static void check_ends(const struct config *cfg, const char *what, const char *const *v, const struct loc *at, size_t n,
	struct diag *diag)
{
	for (size_t i = 0; i < n; i++) {
		struct endpoint e;

		if (endpoint_parse(v[i], &e) < 0)
			continue;
		if (e.kind == ENDPOINT_ANY && n > 1)
			diag_error(diag, at[i],
				"%s: any stands beside others, and means them all; leave one or the others out", what);
		else if (e.kind >= ENDPOINT_NAME)
			check_name(cfg, &e, what, at[i], diag);
	}
}

static bool has_service(const struct policy *policy, const char *name, struct nearest *near)
{
	for (size_t i = 0; i < policy->services.n; i++) {
		if (str_eq(policy->services.v[i].name, name))
			return true;
		nearest_try(near, policy->services.v[i].name);
	}
	return false;
}

static void check_services(
	const struct config *cfg, const struct access_rule *rule, const char *what, struct diag *diag)
{
	for (size_t i = 0; i < rule->services.n; i++) {
		struct nearest near = {.word = rule->services.v[i]};

		if (port_is_meant(rule->services.v[i]) || has_service(cfg->policy, rule->services.v[i], &near) ||
			!CONFIG_IS_WHOLE(cfg, policy))
			continue;
		diag_error(diag, rule->services.at[i], "%s: there is no service %s%s%s%s", what, rule->services.v[i],
			near.best ? "; did you mean " : "; a port is PROTOCOL/PORT, such as tcp/443",
			near.best ? near.best : "", near.best ? "?" : "");
	}
}

static bool is_only_gateway(const char *const *v, size_t n)
{
	return n == 1 && str_eq(v[0], "gateway");
}

static void check_limits(const struct access_rule *rule, const char *what, struct diag *diag)
{
	if (rule->action == ACCESS_ACCEPT) {
		if (rule->log)
			diag_warning(diag, CONFIG_AT(rule, access_rule, log),
				"%s: log is about what is denied; what is accepted is in the record of flows, see "
				"audit",
				what);
		return;
	}
	if (rule->rate_limit.events)
		diag_error(diag, CONFIG_AT(rule, access_rule, rate_limit),
			"%s: rate-limit is for rules that accept: what is over it is denied", what);
	if (rule->connection_limit)
		diag_error(diag, CONFIG_AT(rule, access_rule, connection_limit),
			"%s: connection-limit is for rules that accept: what is over it is denied", what);
}

static void check_rule(
	const struct config *cfg, const struct access_rule *rule, struct arena *scratch, struct diag *diag)
{
	const char *what = arena_printf(scratch, "rule %u", rule->seq);

	check_ends(cfg, what, rule->from.v, rule->from.at, rule->from.n, diag);
	check_ends(cfg, what, rule->to.v, rule->to.at, rule->to.n, diag);
	check_services(cfg, rule, what, diag);
	check_limits(rule, what, diag);
	if (is_only_gateway(rule->from.v, rule->from.n) && is_only_gateway(rule->to.v, rule->to.n))
		diag_error(diag, CONFIG_AT(rule, access_rule, to),
			"%s: from the gateway to the gateway nothing is filtered", what);
}

static int same_name(const void *a, const void *b)
{
	return str_cmp((*(const struct access_rule *const *)a)->name, (*(const struct access_rule *const *)b)->name);
}

/* Two rules of one name cannot be told apart in a record. */
static void check_rule_names(const struct policy *policy, struct arena *scratch, struct diag *diag)
{
	const struct access_rule **v = arena_array(scratch, policy->rules.n, sizeof(const struct access_rule *));
	size_t n = 0;

	for (size_t i = 0; i < policy->rules.n; i++)
		if (policy->rules.v[i].name)
			v[n++] = &policy->rules.v[i];
	if (n > 1)
		qsort(v, n, sizeof(const struct access_rule *), same_name);
	for (size_t i = 1; i < n; i++)
		if (str_eq(v[i]->name, v[i - 1]->name))
			diag_error(diag, CONFIG_AT(v[i], access_rule, name),
				"rule %u: the name %s is that of rule %u too (line %u)", v[i]->seq, v[i]->name,
				v[i - 1]->seq, v[i - 1]->entry.loc.line);
}

/* --- what rules name --- */

static void check_named(const struct policy *policy, struct diag *diag)
{
	for (size_t i = 0; i < policy->groups.n; i++) {
		const struct access_group *g = &policy->groups.v[i];

		if (g->prefixes.n == 0 && !g->file && !CONFIG_IS_SET(g, access_group, prefixes))
			diag_error(diag, g->entry.loc, "group %s: it has neither prefixes nor a file", g->name);
	}
	for (size_t i = 0; i < policy->services.n; i++)
		if (port_is_meant(policy->services.v[i].name))
			diag_error(diag, CONFIG_AT(&policy->services.v[i], access_service, name),
				"service %s: that is a protocol, and already means itself; take another name",
				policy->services.v[i].name);
	for (size_t i = 0; i < policy->schedules.n; i++) {
		const struct access_schedule *s = &policy->schedules.v[i];

		if (s->from % 1440 == s->to % 1440)
			diag_error(diag, CONFIG_AT(s, access_schedule, to),
				"schedule %s: it ends when it begins; a whole day is no schedule, but the days alone "
				"are from "
				"\"00:00\" to \"23:59\"",
				s->name);
	}
}

/* A gateway that nobody can manage is a mistake more often than not. */
static void check_own(const struct config *cfg, struct diag *diag)
{
	const struct policy *policy = cfg->policy;

	if (policy->own_addresses == DEFAULT_ACCEPT || !CONFIG_IS_WHOLE(cfg, policy))
		return;
	for (size_t i = 0; i < policy->rules.n; i++)
		for (size_t k = 0; k < policy->rules.v[i].to.n && policy->rules.v[i].action == ACCESS_ACCEPT; k++)
			if (str_eq(policy->rules.v[i].to.v[k], "gateway"))
				return;
	diag_warning(diag, policy->entry.loc,
		"policy: no rule accepts anything to the gateway itself, so it is managed from its console alone; say "
		"who may with to: [gateway], or own-addresses: accept");
}

static void check_protection(const struct policy *policy, struct diag *diag)
{
	const struct source_limits *l = policy->source_limits;

	if (l && l->syn.events == 0 && l->flows.events == 0 && l->connections == 0 &&
		!CONFIG_IS_SET(l, source_limits, syn) && !CONFIG_IS_SET(l, source_limits, flows) &&
		!CONFIG_IS_SET(l, source_limits, connections))
		diag_error(diag, l->entry.loc, "source-limits: it has none of syn, flows and connections");
	if (policy->scan && !policy->log_denied)
		diag_error(diag, policy->scan->entry.loc,
			"scan: who scans is seen by what is denied and logged; it needs log-denied: true");
}

static void check_filter(const struct config *cfg, struct diag *diag)
{
	for (size_t i = 0; i < cfg->segments.n; i++) {
		const struct segment *seg = &cfg->segments.v[i];

		if (!seg->filter)
			continue;
		if (seg->mode != MODE_BRIDGED)
			diag_error(diag, CONFIG_AT(seg, segment, filter),
				"segment %s: filter is for bridged segments; what is routed is filtered anyway",
				seg->name);
		else if (!cfg->policy && CONFIG_IS_WHOLE(cfg, policy))
			diag_warning(diag, CONFIG_AT(seg, segment, filter),
				"segment %s: filter does nothing without a policy", seg->name);
	}
}

/* --- all rules together --- */

static bool uses_file(const struct policy_model *m, const struct policy_end *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *what = v[i].kind == END_ADDRS ? m->addrs[v[i].index].what : "";

		for (size_t k = 0; k < m->policy->groups.n && str_starts(what, "group "); k++)
			if (m->policy->groups.v[k].file && str_eq(m->policy->groups.v[k].name, what + strlen("group ")))
				return true;
	}
	return false;
}

static bool ends_cover(const struct policy_end *a, size_t n, const struct policy_end *b, size_t m)
{
	for (size_t i = 0; i < m; i++) {
		bool found = false;

		for (size_t k = 0; k < n && !found; k++)
			found = (a[k].kind == END_ANY && b[i].kind != END_GATEWAY) ||
				(a[k].kind == b[i].kind && a[k].index == b[i].index);
		if (!found)
			return false;
	}
	return true;
}

static bool spans_cover(const struct policy_rule_of *a, const struct policy_rule_of *b)
{
	for (size_t i = 0; i < b->n_spans; i++) {
		bool found = false;

		for (size_t k = 0; k < a->n_spans && !found; k++)
			found = a->spans[k].low <= b->spans[i].low && a->spans[k].high >= b->spans[i].high;
		if (!found)
			return false;
	}
	return true;
}

/* One rule before it that says all of it; NULL: it takes several. */
static const struct access_rule *one_before(const struct policy_model *m, size_t rule)
{
	const struct policy_rule_of *b = &m->rules[rule];

	for (size_t i = 0; i < rule; i++) {
		const struct policy_rule_of *a = &m->rules[i];

		if (!a->schedule && spans_cover(a, b) && ends_cover(a->from, a->n_from, b->from, b->n_from) &&
			ends_cover(a->to, a->n_to, b->to, b->n_to))
			return a->rule;
	}
	return NULL;
}

static void warn_shadowed(const struct policy_model *m, size_t rule, struct diag *diag)
{
	const struct access_rule *r = m->rules[rule].rule, *before = one_before(m, rule);

	if (before)
		diag_warning(diag, r->entry.loc, "rule %u: it never decides: rule %u (line %u) says all that it says",
			r->seq, before->seq, before->entry.loc.line);
	else
		diag_warning(
			diag, r->entry.loc, "rule %u: it never decides: rules before it say all that it says", r->seq);
}

static void check_shadows(const struct config *cfg, struct arena *scratch, struct diag *diag)
{
	struct policy_model *m = policy_model_new(cfg, NULL, scratch);
	struct policy_compiled c;

	policy_compile_shadows(m, POLICY_WIDE, &c);
	for (size_t i = 0; i < m->n_rules; i++) {
		const struct policy_rule_of *r = &m->rules[i];

		if (uses_file(m, r->from, r->n_from) || uses_file(m, r->to, r->n_to))
			continue; /* what is in a file is not known here */
		if (!c.can_match[i])
			diag_warning(diag, r->rule->entry.loc,
				"rule %u: it can never match: nothing is behind its from, or its to", r->rule->seq);
		else if (!c.decides[i])
			warn_shadowed(m, i, diag);
	}
}

void policy_rules_check(const struct config *cfg, struct diag *diag)
{
	_cleanup_(arena_freep) struct arena *scratch = arena_new();

	check_filter(cfg, diag);
	if (!cfg->policy)
		return;
	check_named(cfg->policy, diag);
	check_own(cfg, diag);
	check_protection(cfg->policy, diag);
	for (size_t i = 0; i < cfg->policy->rules.n; i++)
		check_rule(cfg, &cfg->policy->rules.v[i], scratch, diag);
	check_rule_names(cfg->policy, scratch, diag);
	if (diag->n_errors == 0)
		check_shadows(cfg, scratch, diag);
}
