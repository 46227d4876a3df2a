/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See audit_names.h. Everything is a sorted array that is searched by halves; prefixes length by length. */
#include "gateway/audit/audit_names.h"

#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "gateway/base/arena.h"
#include "gateway/base/str.h"
#include "overlay/overlay.h"

struct prefix_place {
	struct ip_prefix prefix; /* its network */
	const struct audit_place *place;
};

struct interface_place {
	uint64_t label;
	const struct audit_place *place;
};

struct rule_name {
	uint32_t rule;
	const char *name;
};

/* Prefixes of one family and length: a slice of the sorted array. */
struct slice {
	uint8_t family, len;
	size_t start, n;
};

struct audit_names {
	struct arena *arena;
	struct audit_place *places;
	struct interface_place *interfaces;
	struct prefix_place *prefixes;
	struct slice *slices; /* the longest prefixes first */
	struct rule_name *rules;
	size_t n_places, cap_places, n_interfaces, cap_interfaces, n_prefixes, cap_prefixes, n_slices, n_rules;
};

/* --- the interfaces of a config --- */

/* What a routed segment carries goes over its remotes' lines: of several, the flow does not say which. */
static const char *only_line(const struct config *cfg, const struct segment *seg)
{
	const char *only = NULL;

	if (seg->mode != MODE_ROUTED)
		return NULL;
	for (size_t i = 0; i < seg->remotes.n; i++) {
		const struct remote *remote = config_remote(cfg, seg->remotes.v[i]);

		for (size_t k = 0; remote && k < remote->lines.n; k++) {
			if (only && !str_eq(only, remote->lines.v[k]))
				return NULL;
			only = remote->lines.v[k];
		}
	}
	return only;
}

static void each_segment(const struct config *cfg, const struct segment *seg,
	void (*fn)(const struct audit_place *place, void *arg), void *arg)
{
	char name[16];
	struct audit_place place = {
		.tenant = seg->tenant, .segment = seg->name, .line = only_line(cfg, seg), .interface = name};

	overlay_vxlan_name(seg->vni, name);
	fn(&place, arg);
	if (seg->mode != MODE_BRIDGED)
		return;
	overlay_bridge_name(seg->vni, name);
	fn(&place, arg);
}

static void each_tenant(const struct tenant *tenant, void (*fn)(const struct audit_place *place, void *arg), void *arg)
{
	char name[16];
	struct audit_place place = {.tenant = tenant->name, .interface = name};

	if (overlay_vrf_name(tenant->name, name))
		fn(&place, arg);
	if (tenant->l3_vni == 0)
		return;
	overlay_vxlan_name(tenant->l3_vni, name);
	fn(&place, arg);
	overlay_bridge_name(tenant->l3_vni, name);
	fn(&place, arg);
}

void audit_each_interface(const struct config *cfg, void (*fn)(const struct audit_place *place, void *arg), void *arg)
{
	for (size_t i = 0; i < cfg->interfaces.n; i++)
		fn(&(struct audit_place){.interface = cfg->interfaces.v[i].name}, arg);
	for (size_t i = 0; i < cfg->lines.n; i++)
		fn(&(struct audit_place){.line = cfg->lines.v[i].name, .interface = cfg->lines.v[i].interface}, arg);
	for (size_t i = 0; i < cfg->segments.n; i++)
		each_segment(cfg, &cfg->segments.v[i], fn, arg);
	for (size_t i = 0; i < cfg->tenants.n; i++)
		each_tenant(&cfg->tenants.v[i], fn, arg);
}

/* --- labels --- */

uint64_t audit_label_of(const char *interface)
{
	uint64_t hash = str_hash(interface);

	hash = (hash ^ hash >> 48) & ((UINT64_C(1) << AUDIT_LABEL_BITS) - 1);
	return hash ? hash : 1;
}

void audit_label_read(const uint8_t label[CT_LABEL_LEN], uint64_t *ret_in, uint64_t *ret_out)
{
	const uint64_t mask = (UINT64_C(1) << AUDIT_LABEL_BITS) - 1;
	uint64_t words[2];

	memcpy(words, label, sizeof(words));
	*ret_in = words[0] & mask;
	*ret_out = words[AUDIT_LABEL_OUT / 64] & mask;
}

/* --- making --- */

static const char *copy(struct audit_names *n, const char *text)
{
	return text ? arena_strdup(n->arena, text) : NULL;
}

/* Its index: the array moves while it grows. */
static size_t add_place(struct audit_names *n, const struct audit_place *place)
{
	n->places = arena_grow(n->arena, n->places, n->n_places, &n->cap_places, sizeof(*n->places));
	n->places[n->n_places] = (struct audit_place){
		copy(n, place->tenant), copy(n, place->segment), copy(n, place->line), copy(n, place->interface)};
	return n->n_places++;
}

static void add_interface(const struct audit_place *place, void *arg)
{
	struct audit_names *n = arg;

	(void)add_place(n, place);
}

static int label_cmp(const void *a, const void *b)
{
	const struct interface_place *x = a, *y = b;

	return x->label < y->label ? -1 : x->label > y->label;
}

static void index_interfaces(struct audit_names *n)
{
	n->interfaces = arena_array(n->arena, n->n_places, sizeof(*n->interfaces));
	for (size_t i = 0; i < n->n_places; i++)
		n->interfaces[i] = (struct interface_place){audit_label_of(n->places[i].interface), &n->places[i]};
	n->n_interfaces = n->n_places;
	if (n->n_interfaces > 0)
		qsort(n->interfaces, n->n_interfaces, sizeof(*n->interfaces), label_cmp);
}

static const struct audit_place *find_label(const struct audit_names *n, uint64_t label)
{
	struct interface_place key = {.label = label};
	const struct interface_place *found =
		n->n_interfaces ? bsearch(&key, n->interfaces, n->n_interfaces, sizeof(key), label_cmp) : NULL;

	return found ? found->place : NULL;
}

static void add_prefix(struct audit_names *n, const struct ip_prefix *prefix, const struct audit_place *place)
{
	if (!ip_addr_is_set(&prefix->addr) || !place)
		return;
	n->prefixes = arena_grow(n->arena, n->prefixes, n->n_prefixes, &n->cap_prefixes, sizeof(*n->prefixes));
	n->prefixes[n->n_prefixes++] = (struct prefix_place){ip_prefix_network(prefix), place};
}

static void add_segment_prefixes(struct audit_names *n, const struct segment *seg)
{
	const struct audit_place *place;
	char name[16];

	overlay_vxlan_name(seg->vni, name);
	if (seg->mode == MODE_BRIDGED)
		overlay_bridge_name(seg->vni, name);
	place = audit_names_at_interface(n, name);
	for (size_t i = 0; i < seg->gateway.n; i++)
		add_prefix(n, &seg->gateway.v[i], place);
	for (size_t i = 0; i < seg->routes.n; i++)
		add_prefix(n, &seg->routes.v[i].prefix, place);
}

static void add_interface_prefixes(struct audit_names *n, const struct config *cfg)
{
	for (size_t i = 0; i < cfg->interfaces.n; i++)
		for (size_t k = 0; k < cfg->interfaces.v[i].addresses.n; k++)
			add_prefix(n, &cfg->interfaces.v[i].addresses.v[k],
				audit_names_at_interface(n, cfg->interfaces.v[i].name));
	for (size_t i = 0; i < cfg->lines.n; i++) {
		const struct line *line = &cfg->lines.v[i];

		add_prefix(n, &line->address, audit_names_at_interface(n, line->interface));
		add_prefix(n, &line->address6, audit_names_at_interface(n, line->interface));
	}
}

/* The longest first; where there are equal ones, they come together. */
static int prefix_cmp(const void *a, const void *b)
{
	const struct ip_prefix *x = &((const struct prefix_place *)a)->prefix;
	const struct ip_prefix *y = &((const struct prefix_place *)b)->prefix;

	if (x->addr.family != y->addr.family)
		return x->addr.family < y->addr.family ? -1 : 1;
	if (x->len != y->len)
		return x->len > y->len ? -1 : 1;
	return memcmp(x->addr.bytes, y->addr.bytes, sizeof(x->addr.bytes));
}

/* One that stands for two places says nothing. */
static void unite_prefixes(struct audit_names *n)
{
	size_t kept = 0;

	if (n->n_prefixes > 0)
		qsort(n->prefixes, n->n_prefixes, sizeof(*n->prefixes), prefix_cmp);
	for (size_t i = 0; i < n->n_prefixes; i++) {
		if (kept == 0 || prefix_cmp(&n->prefixes[kept - 1], &n->prefixes[i]) != 0)
			n->prefixes[kept++] = n->prefixes[i];
		else if (n->prefixes[kept - 1].place != n->prefixes[i].place)
			n->prefixes[kept - 1].place = NULL;
	}
	n->n_prefixes = kept;
}

static void slice_prefixes(struct audit_names *n)
{
	struct slice *slices = arena_array(n->arena, n->n_prefixes + 1, sizeof(*slices)), *last = slices;

	for (size_t i = 0; i < n->n_prefixes; i++) {
		const struct ip_prefix *p = &n->prefixes[i].prefix;

		if (i > 0 && last->family == p->addr.family && last->len == p->len) {
			last->n++;
			continue;
		}
		last = &slices[n->n_slices++];
		*last = (struct slice){p->addr.family, p->len, i, 1};
	}
	n->slices = slices;
}

/* What is routed to a neighbour is where the neighbour is. By its own prefixes only, and so before these are added. */
static void add_routes(struct audit_names *n, const struct config *cfg)
{
	size_t n_before = n->n_prefixes;

	for (size_t i = 0; i < cfg->routes.n; i++) {
		const struct ip_addr *via = &cfg->routes.v[i].via;

		for (size_t k = 0; k < n_before; k++)
			if (ip_prefix_contains(&n->prefixes[k].prefix, via)) {
				add_prefix(n, &cfg->routes.v[i].prefix, n->prefixes[k].place);
				break;
			}
	}
}

/* The policy's rules, which are sorted by number already. */
static void add_rules(struct audit_names *n, const struct policy *policy)
{
	n->rules = arena_array(n->arena, policy->rules.n, sizeof(*n->rules));
	for (size_t i = 0; i < policy->rules.n; i++)
		if (policy->rules.v[i].name)
			n->rules[n->n_rules++] =
				(struct rule_name){policy->rules.v[i].seq, copy(n, policy->rules.v[i].name)};
}

struct audit_names *audit_names_new(const struct config *cfg)
{
	struct arena *arena = arena_new();
	struct audit_names *n = arena_new_obj(arena, struct audit_names);

	n->arena = arena;
	if (!cfg)
		return n;
	audit_each_interface(cfg, add_interface, n);
	index_interfaces(n);
	add_interface_prefixes(n, cfg);
	add_routes(n, cfg);
	for (size_t i = 0; i < cfg->segments.n; i++)
		add_segment_prefixes(n, &cfg->segments.v[i]);
	unite_prefixes(n);
	slice_prefixes(n);
	if (cfg->policy)
		add_rules(n, cfg->policy);
	return n;
}

void audit_names_free(struct audit_names *names)
{
	if (names)
		arena_free(names->arena);
}

/* --- asking --- */

static const struct prefix_place *find_in(
	const struct audit_names *n, const struct slice *slice, const struct ip_prefix *network)
{
	struct prefix_place key = {.prefix = *network};

	return bsearch(&key, n->prefixes + slice->start, slice->n, sizeof(key), prefix_cmp);
}

const struct audit_place *audit_names_at_address(
	const struct audit_names *names, uint8_t family, const uint8_t address[16])
{
	struct ip_prefix p = {.addr = {.family = family}};

	memcpy(p.addr.bytes, address, family == AF_INET6 ? 16 : 4);
	for (size_t i = 0; i < names->n_slices; i++) {
		const struct prefix_place *found;
		struct ip_prefix network;

		if (names->slices[i].family != family)
			continue;
		p.len = names->slices[i].len;
		network = ip_prefix_network(&p);
		found = find_in(names, &names->slices[i], &network);
		if (found)
			return found->place;
	}
	return NULL;
}

const struct audit_place *audit_names_at_label(const struct audit_names *names, uint64_t label)
{
	return label ? find_label(names, label) : NULL;
}

const struct audit_place *audit_names_at_interface(const struct audit_names *names, const char *interface)
{
	const struct audit_place *place = find_label(names, audit_label_of(interface));

	return place && str_eq(place->interface, interface) ? place : NULL;
}

const char *audit_names_rule(const struct audit_names *names, uint32_t rule)
{
	for (size_t low = 0, high = names->n_rules; low < high;) {
		size_t middle = low + (high - low) / 2;

		if (names->rules[middle].rule == rule)
			return names->rules[middle].name;
		if (names->rules[middle].rule < rule)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

const struct audit_place *audit_names_places(const struct audit_names *names, size_t *ret_n)
{
	*ret_n = names->n_places;
	return names->places;
}
