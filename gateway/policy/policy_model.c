/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See policy_model.h. */
#include "gateway/policy/policy_model.h"

#include <stdlib.h>
#include <string.h>

#include "gateway/base/arena.h"
#include "gateway/base/buf.h"
#include "gateway/base/str.h"
#include "gateway/engine/facts.h"
#include "gateway/policy/policy_peers.h"
#include "gateway/policy/policy_table.h"
#include "overlay/overlay.h"

struct making {
	struct policy_model *m;
	const struct config *cfg;
	const struct facts *facts;
	struct policy_table ends;    /* hash of an endpoint's text -> index in `known` + 1 */
	struct policy_table devices; /* hash of a name -> device */
	struct policy_end *known;
	size_t n_known, cap_known;
};

/* 64 bits of hash, and the length: texts of one config do not meet. */
static struct policy_key text_key(const char *text)
{
	uint64_t h = str_hash(text);

	return (struct policy_key){(uint32_t)h, (uint32_t)(h >> 32), (uint32_t)strlen(text)};
}

/* --- devices --- */

static uint32_t device(struct making *mk, const char *name, uint32_t domain)
{
	uint32_t *at = policy_table_at(&mk->devices, text_key(name)), known = *at;
	struct policy_model *m = mk->m;

	if (known)
		return known;
	m->devices = arena_grow(m->arena, m->devices, m->n_devices, &m->cap_devices, sizeof(*m->devices));
	m->devices[m->n_devices] =
		(struct policy_device){arena_strdup(m->arena, name), domain, str_starts(name, "vrf-"), false};
	*at = (uint32_t)m->n_devices++;
	return *at;
}

/* A tenant's place in the config, from 1. */
static uint32_t domain_of(const struct config *cfg, const char *tenant)
{
	const struct tenant *t = tenant ? config_tenant(cfg, tenant) : NULL;

	return t ? (uint32_t)(t - cfg->tenants.v) + 1 : 0;
}

static void segment_device(const struct segment *seg, char ret[16])
{
	if (seg->mode == MODE_BRIDGED)
		overlay_bridge_name(seg->vni, ret);
	else
		overlay_vxlan_name(seg->vni, ret);
}

/* Every device of a tenant has its number, used by a rule or not: the domains are made of them. */
static void add_domains(struct making *mk)
{
	const struct config *cfg = mk->cfg;
	char name[16];

	for (size_t i = 0; i < cfg->tenants.n; i++) {
		const struct tenant *t = &cfg->tenants.v[i];
		uint32_t domain = (uint32_t)i + 1;

		if (overlay_vrf_name(t->name, name))
			(void)device(mk, name, domain);
		if (t->l3_vni == 0)
			continue;
		overlay_bridge_name(t->l3_vni, name);
		(void)device(mk, name, domain);
		overlay_vxlan_name(t->l3_vni, name);
		(void)device(mk, name, domain);
	}
	for (size_t i = 0; i < cfg->segments.n; i++) {
		uint32_t dev;

		segment_device(&cfg->segments.v[i], name);
		dev = device(mk, name, domain_of(cfg, cfg->segments.v[i].tenant));
		mk->m->devices[dev].is_bridge = cfg->segments.v[i].mode == MODE_BRIDGED;
	}
}

uint32_t policy_model_device(const struct policy_model *m, const char *name)
{
	for (size_t i = 1; i < m->n_devices; i++)
		if (str_eq(m->devices[i].name, name))
			return (uint32_t)i;
	return 0;
}

/* --- zones --- */

static void push(struct arena *arena, uint32_t **v, size_t *n, size_t *cap, uint32_t value)
{
	*v = arena_grow(arena, *v, *n, cap, sizeof(**v));
	(*v)[(*n)++] = value;
}

static void zone_in(struct making *mk, struct policy_zone *z, uint32_t dev)
{
	push(mk->m->arena, &z->in, &z->n_in, &z->cap_in, dev);
}

static void zone_out(struct making *mk, struct policy_zone *z, uint32_t dev)
{
	push(mk->m->arena, &z->out, &z->n_out, &z->cap_out, dev);
}

static void add_segment(struct making *mk, struct policy_zone *z, const struct segment *seg)
{
	uint32_t dev;
	char name[16];

	segment_device(seg, name);
	dev = device(mk, name, domain_of(mk->cfg, seg->tenant));
	if (!seg->tenant || (seg->mode == MODE_BRIDGED && seg->filter))
		zone_in(mk, z, dev);
	if (seg->tenant)
		push(mk->m->arena, &z->behind, &z->n_behind, &z->cap_behind, dev);
	zone_out(mk, z, dev);
}

static void add_tenant(struct making *mk, struct policy_zone *z, const struct tenant *t)
{
	const struct config *cfg = mk->cfg;
	uint32_t domain = domain_of(cfg, t->name);

	for (size_t i = 1; i < mk->m->n_devices; i++) {
		const struct policy_device *d = &mk->m->devices[i];

		if (d->domain != domain)
			continue;
		if (d->is_vrf)
			zone_in(mk, z, (uint32_t)i);
		zone_out(mk, z, (uint32_t)i);
	}
	for (size_t i = 0; i < cfg->segments.n; i++) {
		const struct segment *seg = &cfg->segments.v[i];
		char name[16];

		if (!str_eq(seg->tenant, t->name) || seg->mode != MODE_BRIDGED || !seg->filter)
			continue;
		segment_device(seg, name);
		zone_in(mk, z, device(mk, name, domain));
	}
}

static struct policy_zone *new_zone(struct making *mk, enum endpoint_kind kind, const char *name)
{
	struct policy_model *m = mk->m;
	struct policy_zone *z;

	m->zones = arena_grow(m->arena, m->zones, m->n_zones, &m->cap_zones, sizeof(*m->zones));
	z = &m->zones[m->n_zones++];
	z->what = arena_printf(m->arena, "%s %s", endpoint_kind_word(kind), name);
	return z;
}

static void fill_zone(struct making *mk, struct policy_zone *z, enum endpoint_kind kind, const char *name)
{
	const char *interface = name;

	if (kind == ENDPOINT_SEGMENT) {
		add_segment(mk, z, config_segment(mk->cfg, name));
		return;
	}
	if (kind == ENDPOINT_TENANT) {
		add_tenant(mk, z, config_tenant(mk->cfg, name));
		return;
	}
	if (kind == ENDPOINT_LINE)
		interface = config_line(mk->cfg, name)->interface;
	zone_in(mk, z, device(mk, interface, 0));
	zone_out(mk, z, device(mk, interface, 0));
}

/* --- addresses --- */

static const struct access_group *find_group(const struct policy *policy, const char *name)
{
	size_t low = 0, high = policy->groups.n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		int c = str_cmp(name, policy->groups.v[mid].name);

		if (c == 0)
			return &policy->groups.v[mid];
		if (c < 0)
			high = mid;
		else
			low = mid + 1;
	}
	return NULL;
}

static uint32_t add_addrs(struct making *mk, struct policy_addrs addrs)
{
	struct policy_model *m = mk->m;

	m->addrs = arena_grow(m->arena, m->addrs, m->n_addrs, &m->cap_addrs, sizeof(*m->addrs));
	m->addrs[m->n_addrs] = addrs;
	return (uint32_t)m->n_addrs++;
}

static uint32_t add_group(struct making *mk, const struct access_group *g)
{
	struct policy_addrs a = {
		.what = arena_printf(mk->m->arena, "group %s", g->name), .own = g->prefixes.v, .n_own = g->prefixes.n};
	const struct prefix_fact *file = g->file && mk->facts ? facts_prefixes(mk->facts, g->file) : NULL;

	/* "storage" and "group:storage" are one set: classes are told apart by what sets are called. */
	for (size_t i = 0; i < mk->m->n_addrs; i++)
		if (str_eq(mk->m->addrs[i].what, a.what))
			return (uint32_t)i;

	if (file) {
		a.file = file->v;
		a.n_file = file->n;
	}
	return add_addrs(mk, a);
}

/* --- endpoints --- */

unsigned policy_kinds_of(const struct config *cfg, const struct endpoint *e)
{
	unsigned kinds = 0;

	kinds |= (unsigned)(config_segment(cfg, e->name) != NULL) << ENDPOINT_SEGMENT;
	kinds |= (unsigned)(config_tenant(cfg, e->name) != NULL) << ENDPOINT_TENANT;
	kinds |= (unsigned)(cfg->policy && find_group(cfg->policy, e->name)) << ENDPOINT_GROUP;
	kinds |= (unsigned)(config_line(cfg, e->name) != NULL) << ENDPOINT_LINE;
	kinds |= (unsigned)(config_interface(cfg, e->name) != NULL) << ENDPOINT_INTERFACE;
	return e->kind == ENDPOINT_NAME ? kinds : kinds & 1U << e->kind;
}

/* False: it leads nowhere. */
static bool resolve_name(struct making *mk, const struct endpoint *e, struct policy_end *ret)
{
	unsigned kinds = policy_kinds_of(mk->cfg, e);
	enum endpoint_kind kind;

	if (kinds == 0 || (kinds & (kinds - 1)))
		return false;
	kind = (enum endpoint_kind)__builtin_ctz(kinds);
	if (kind == ENDPOINT_GROUP) {
		*ret = (struct policy_end){END_ADDRS, add_group(mk, find_group(mk->cfg->policy, e->name))};
		return true;
	}
	fill_zone(mk, new_zone(mk, kind, e->name), kind, e->name);
	*ret = (struct policy_end){END_ZONE, (uint32_t)mk->m->n_zones - 1};
	return true;
}

static bool resolve(struct making *mk, const char *text, struct policy_end *ret)
{
	struct arena *arena = mk->m->arena;
	struct ip_prefix *prefix;
	struct endpoint e;

	if (endpoint_parse(text, &e) < 0)
		return false;
	switch (e.kind) {
	case ENDPOINT_ANY:
	case ENDPOINT_GATEWAY:
		*ret = (struct policy_end){.kind = e.kind == ENDPOINT_ANY ? END_ANY : END_GATEWAY};
		return true;
	case ENDPOINT_PREFIX:
		prefix = arena_memdup(arena, &e.prefix, sizeof(e.prefix));
		*ret = (struct policy_end){END_ADDRS, add_addrs(mk, (struct policy_addrs){text, prefix, NULL, 1, 0})};
		return true;
	default:
		return resolve_name(mk, &e, ret);
	}
}

/* Each text is resolved once. */
static bool known_end(struct making *mk, const char *text, struct policy_end *ret)
{
	uint32_t *at = policy_table_at(&mk->ends, text_key(text));

	if (*at == 0) {
		struct policy_end end;
		bool found;

		*at = UINT32_MAX;
		found = resolve(mk, text, &end);
		if (!found)
			return false;
		mk->known = arena_grow(mk->m->arena, mk->known, mk->n_known, &mk->cap_known, sizeof(*mk->known));
		mk->known[mk->n_known++] = end;
		*policy_table_at(&mk->ends, text_key(text)) = (uint32_t)mk->n_known;
		*ret = end;
		return true;
	}
	if (*at == UINT32_MAX)
		return false;
	*ret = mk->known[*at - 1];
	return true;
}

static const struct policy_end *resolve_list(struct making *mk, const char *const *texts, size_t n, size_t *ret_n)
{
	struct policy_end *v = arena_array(mk->m->arena, n ? n : 1, sizeof(*v));

	*ret_n = 0;
	if (n == 0)
		v[(*ret_n)++].kind = END_ANY;
	for (size_t i = 0; i < n; i++)
		*ret_n += known_end(mk, texts[i], &v[*ret_n]);
	return v;
}

/* --- services --- */

static struct policy_span span_of(const struct port_range *port)
{
	uint32_t base = (uint32_t)port->proto << 16;

	return port->whole ? (struct policy_span){base, base | 0xffff}
			   : (struct policy_span){base | port->low, base | port->high};
}

static int span_cmp(const void *a, const void *b)
{
	const struct policy_span *x = a, *y = b;
	int c = cmp_u32(x->low, y->low);

	return c ? c : cmp_u32(x->high, y->high);
}

static size_t unite(struct policy_span *v, size_t n)
{
	size_t kept = 0;

	if (n > 1)
		qsort(v, n, sizeof(*v), span_cmp);
	for (size_t i = 0; i < n; i++) {
		/* Spans of two protocols stay apart, however near. */
		if (kept > 0 && v[i].low <= v[kept - 1].high + 1 && v[i].low >> 16 == v[kept - 1].low >> 16) {
			if (v[i].high > v[kept - 1].high)
				v[kept - 1].high = v[i].high;
			continue;
		}
		v[kept++] = v[i];
	}
	return kept;
}

static const struct access_service *find_service(const struct policy *policy, const char *name)
{
	for (size_t i = 0; i < policy->services.n; i++)
		if (str_eq(policy->services.v[i].name, name))
			return &policy->services.v[i];
	return NULL;
}

const struct policy_span *policy_spans_of(
	const struct policy *policy, const struct access_rule *rule, struct arena *arena, size_t *ret_n)
{
	struct policy_span *v = NULL;
	size_t n = 0, cap = 0;

	if (rule->services.n == 0) {
		v = arena_new_obj(arena, struct policy_span);
		*v = (struct policy_span){0, SERVICE_MAX};
		*ret_n = 1;
		return v;
	}
	for (size_t i = 0; i < rule->services.n; i++) {
		const char *text = rule->services.v[i];
		bool own = port_is_meant(text);
		const struct access_service *s = own ? NULL : find_service(policy, text);

		for (size_t k = 0; k < (own ? 1 : s ? s->ports.n : 0); k++) {
			struct port_range port;

			if (port_parse(own ? text : s->ports.v[k], &port) < 0)
				continue;
			v = arena_grow(arena, v, n, &cap, sizeof(*v));
			v[n++] = span_of(&port);
		}
	}
	*ret_n = unite(v, n);
	return v;
}

/* --- all of it --- */

static const struct access_schedule *find_schedule(const struct policy *policy, const char *name)
{
	for (size_t i = 0; name && i < policy->schedules.n; i++)
		if (str_eq(policy->schedules.v[i].name, name))
			return &policy->schedules.v[i];
	return NULL;
}

struct policy_model *policy_model_new(const struct config *cfg, const struct facts *facts, struct arena *arena)
{
	struct policy_model *m = arena_new_obj(arena, struct policy_model);
	struct making mk = {.m = m, .cfg = cfg, .facts = facts};

	m->arena = mk.ends.arena = mk.devices.arena = arena;
	m->policy = cfg->policy;
	m->facts = facts;
	m->n_rules = cfg->policy->rules.n;
	m->rules = arena_array(arena, m->n_rules, sizeof(*m->rules));
	m->n_devices = 1;
	m->devices = arena_grow(arena, NULL, 0, &m->cap_devices, sizeof(*m->devices));
	add_domains(&mk);
	m->peers = policy_peers_of(cfg, arena, &m->n_peers);
	for (size_t i = 0; i < m->n_rules; i++) {
		const struct access_rule *rule = &cfg->policy->rules.v[i];
		struct policy_rule_of *r = &m->rules[i];

		r->rule = rule;
		r->from = resolve_list(&mk, rule->from.v, rule->from.n, &r->n_from);
		r->to = resolve_list(&mk, rule->to.v, rule->to.n, &r->n_to);
		r->spans = policy_spans_of(cfg->policy, rule, arena, &r->n_spans);
		r->schedule = find_schedule(cfg->policy, rule->schedule);
	}
	return m;
}

bool policy_model_end(struct policy_model *m, const struct config *cfg, const char *text, struct policy_end *ret)
{
	struct making mk = {.m = m, .cfg = cfg, .facts = m->facts};

	mk.ends.arena = mk.devices.arena = m->arena;
	for (size_t i = 1; i < m->n_devices; i++)
		*policy_table_at(&mk.devices, text_key(m->devices[i].name)) = (uint32_t)i;
	return resolve(&mk, text, ret);
}
