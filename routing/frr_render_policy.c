/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What sessions take and give: the lists and route-maps of bgpd. Pure.
 *
 * A policy is one route-map for each family, and each session's own route-maps call it: a policy that many sessions
 * share is there once, and one line of it that changes is one command. FRR does the caller's `set` lines first, so the
 * policy's word goes over what follows from the line. Where FRR misses what it is told to call or to match it goes on,
 * so nothing is ever referred to that is not rendered too.
 */
#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "gateway/base/arena.h"
#include "gateway/base/buf.h"
#include "gateway/base/cleanup.h"
#include "gateway/base/str.h"
#include "routing/frr_conf.h"
#include "routing/frr_render_parts.h"

enum { SEQ_MAX = 65535, PREFERENCE = 100, MED_BASE = 255 };
enum { MBIT = 1000000, BANDWIDTH_MAX = 25600 }; /* of `set extcommunity bandwidth`, in Mbit/s */

uint32_t frr_seq(struct render *r, const char *list, const char *entry, uint32_t max)
{
	uint64_t hash = str_hash(entry);

	/* A number that another entry of the list has is left to it. */
	for (;; hash++) {
		uint32_t seq = 1 + (uint32_t)((hash ^ hash >> 32) % max);
		const char *key = arena_printf(r->conf->arena, "%s %u", list, seq);
		struct frr_node *taken = frr_find(&r->seqs, &r->seqs.root, key);

		if (taken && !str_eq(taken->object, entry))
			continue;
		(void)frr_add(&r->seqs, &r->seqs.root, arena_strdup(r->conf->arena, entry), "%s", key);
		return seq;
	}
}

void frr_permit_host(struct render *r, const char *object, const char *ip, const char *list, const struct ip_addr *addr)
{
	struct ip_prefix host = ip_addr_host_prefix(addr);
	const char *name = arena_printf(r->conf->arena, "%s prefix-list %s", ip, list);
	char text[IP_STR_MAX];

	(void)ip_prefix_str(&host, text);
	(void)frr_add(r->conf, &r->conf->root, object, "%s seq %u permit %s", name, frr_seq(r, name, text, FRR_SEQ_MAX),
		text);
}

/* --- prefix lists --- */

static void render_prefix_list(struct render *r, const struct prefix_list *list)
{
	const char *object = arena_printf(r->conf->arena, "prefix-list %s", list->name);

	for (size_t i = 0; i < list->entries.n; i++) {
		const struct prefix_entry *e = &list->entries.v[i];
		_cleanup_(buf_free) struct buf line = {0};
		char prefix[IP_STR_MAX];

		buf_printf(&line, "%s prefix-list FW-L-%s seq %u %s %s",
			ip_addr_is_ipv6(&e->prefix.addr) ? "ipv6" : "ip", list->name, e->seq,
			e->action == ACTION_PERMIT ? "permit" : "deny", ip_prefix_str(&e->prefix, prefix));
		if (CONFIG_IS_SET(e, prefix_entry, ge))
			buf_printf(&line, " ge %u", e->ge);
		if (CONFIG_IS_SET(e, prefix_entry, le))
			buf_printf(&line, " le %u", e->le);
		(void)frr_add(r->conf, &r->conf->root, object, "%s", buf_str(&line));
	}
}

static bool has_family(const struct prefix_list *list, uint8_t family)
{
	for (size_t i = 0; list && i < list->entries.n; i++)
		if (list->entries.v[i].prefix.addr.family == family)
			return true;
	return false;
}

/* --- communities --- */

static bool is_large(const char *community)
{
	const char *colon = strchr(community, ':');

	return colon && strchr(colon + 1, ':');
}

/* Those with a name, which is how FRR prints them. */
static const struct {
	uint32_t number;
	const char *name;
} well_known[] = {
	{0xffff0000, "graceful-shutdown"},
	{0xffff0001, "accept-own"},
	{0xffff0002, "route-filter-translated-v4"},
	{0xffff0003, "route-filter-v4"},
	{0xffff0004, "route-filter-translated-v6"},
	{0xffff0005, "route-filter-v6"},
	{0xffff0006, "llgr-stale"},
	{0xffff0007, "no-llgr"},
	{0xffff0008, "accept-own-nexthop"},
	{0xffff029a, "blackhole"},
	{0xffffff01, "no-export"},
	{0xffffff02, "no-advertise"},
	{0xffffff03, "local-AS"},
	{0xffffff04, "no-peer"},
};

static uint32_t community_number(const char *text)
{
	char *rest;
	unsigned long high;

	for (size_t i = 0; i < ARRAY_SIZE(well_known); i++)
		if (str_eq(text, well_known[i].name))
			return well_known[i].number;
	high = strtoul(text, &rest, 10);
	return (uint32_t)(high << 16 | (*rest == ':' ? strtoul(rest + 1, NULL, 10) : 0));
}

static const char *community_text(struct arena *arena, uint32_t number)
{
	for (size_t i = 0; i < ARRAY_SIZE(well_known); i++)
		if (number == well_known[i].number)
			return well_known[i].name;
	return arena_printf(arena, "%u:%u", number >> 16, number & 0xffff);
}

static const struct community_set *find_set(const struct config *cfg, const char *name)
{
	for (size_t i = 0; i < cfg->bgp->community_sets.n; i++)
		if (str_eq(cfg->bgp->community_sets.v[i].name, name))
			return &cfg->bgp->community_sets.v[i];
	return NULL;
}

static bool has_kind(const struct community_set *set, bool large)
{
	for (size_t i = 0; set && i < set->communities.n; i++)
		if (is_large(set->communities.v[i]) == large)
			return true;
	return false;
}

static void render_community_set(struct render *r, const struct community_set *set)
{
	const char *object = arena_printf(r->conf->arena, "community-set %s", set->name);

	for (size_t i = 0; i < set->communities.n; i++) {
		const char *text = set->communities.v[i];
		const char *list;

		if (!is_large(text))
			text = community_text(r->conf->arena, community_number(text));
		list = arena_printf(r->conf->arena, "bgp %scommunity-list standard FW-C-%s",
			is_large(text) ? "large-" : "", set->name);
		(void)frr_add(r->conf, &r->conf->root, object, "%s seq %u permit %s", list,
			frr_seq(r, list, text, FRR_SEQ_MAX), text);
	}
}

static int by_number(const void *a, const void *b)
{
	return cmp_u32(*(const uint32_t *)a, *(const uint32_t *)b);
}

/* `set community`: FRR sorts them, and has each once. */
static void set_communities(struct render *r, struct frr_node *node, const char *object, const struct policy_rule *rule)
{
	size_t n = 0, max = rule->set_communities.n + rule->add_communities.n;
	uint32_t *numbers = arena_array(r->conf->arena, max, sizeof(*numbers));
	_cleanup_(buf_free) struct buf line = {0};
	bool replace = false;

	for (size_t i = 0; i < max; i++) {
		bool set = i < rule->set_communities.n;
		const char *text =
			set ? rule->set_communities.v[i] : rule->add_communities.v[i - rule->set_communities.n];

		if (is_large(text))
			continue;
		replace |= set;
		numbers[n++] = community_number(text);
	}
	if (n == 0)
		return;
	qsort(numbers, n, sizeof(*numbers), by_number);
	buf_puts(&line, "set community");
	for (size_t i = 0; i < n; i++)
		if (i == 0 || numbers[i] != numbers[i - 1])
			buf_printf(&line, " %s", community_text(r->conf->arena, numbers[i]));
	(void)frr_add(r->conf, node, object, "%s%s", buf_str(&line), replace ? "" : " additive");
}

/* `set large-community`: FRR keeps what it is given. */
static void set_large(struct render *r, struct frr_node *node, const char *object, const struct policy_rule *rule)
{
	_cleanup_(buf_free) struct buf line = {0};
	bool replace = false;

	for (size_t i = 0; i < rule->set_communities.n; i++)
		if (is_large(rule->set_communities.v[i])) {
			buf_printf(&line, " %s", rule->set_communities.v[i]);
			replace = true;
		}
	for (size_t i = 0; i < rule->add_communities.n; i++)
		if (is_large(rule->add_communities.v[i]))
			buf_printf(&line, " %s", rule->add_communities.v[i]);
	if (line.len)
		(void)frr_add(
			r->conf, node, object, "set large-community%s%s", buf_str(&line), replace ? "" : " additive");
}

/* --- policies --- */

static void add_sets(struct render *r, struct frr_node *node, const char *object, const struct policy_rule *rule)
{
	_cleanup_(buf_free) struct buf prepend = {0};

	if (CONFIG_IS_SET(rule, policy_rule, local_pref))
		(void)frr_add(r->conf, node, object, "set local-preference %u", rule->local_pref);
	if (CONFIG_IS_SET(rule, policy_rule, med))
		(void)frr_add(r->conf, node, object, "set metric %u", rule->med);
	for (uint32_t i = 0; i < rule->prepend; i++)
		buf_printf(&prepend, " %u", r->cfg->bgp->as);
	if (prepend.len)
		(void)frr_add(r->conf, node, object, "set as-path prepend%s", buf_str(&prepend));
	set_communities(r, node, object, rule);
	set_large(r, node, object, rule);
}

/* One entry of a policy's route-map. match: "community", "large-community" or NULL. */
static void add_entry(struct render *r, const char *map, const char *object, const struct policy_rule *rule,
	const struct frr_family *f, uint32_t seq, const char *match)
{
	struct frr_node *node = frr_block(r->conf, &r->conf->root, object, "route-map %s %s %u", map,
		rule->action == ACTION_PERMIT ? "permit" : "deny", seq);

	if (rule->prefix_list)
		(void)frr_add(r->conf, node, object, "match %s address prefix-list FW-L-%s", f->ip, rule->prefix_list);
	if (match)
		(void)frr_add(r->conf, node, object, "match %s FW-C-%s", match, rule->community_set);
	if (rule->action == ACTION_PERMIT)
		add_sets(r, node, object, rule);
}

static const struct prefix_list *find_list(const struct config *cfg, const char *name)
{
	for (size_t i = 0; i < cfg->bgp->prefix_lists.n; i++)
		if (str_eq(cfg->bgp->prefix_lists.v[i].name, name))
			return &cfg->bgp->prefix_lists.v[i];
	return NULL;
}

/*
 * A rule that can match nothing of a family has no entry there. One whose set has communities of both kinds has two
 * entries, as FRR has no "or" within one; the second takes the next number, which the checks keep free.
 */
static bool add_rule(struct render *r, const char *map, const char *object, const struct policy_rule *rule,
	const struct frr_family *f)
{
	const struct community_set *set;
	bool standard, large;

	if (rule->prefix_list && !has_family(find_list(r->cfg, rule->prefix_list), f->family))
		return false;
	if (!rule->community_set) {
		add_entry(r, map, object, rule, f, rule->seq, NULL);
		return true;
	}
	set = find_set(r->cfg, rule->community_set);
	standard = has_kind(set, false);
	large = has_kind(set, true);
	if (standard)
		add_entry(r, map, object, rule, f, rule->seq, "community");
	if (large)
		add_entry(r, map, object, rule, f, rule->seq + (standard ? 1 : 0), "large-community");
	return standard || large;
}

static bool is_used(const struct render *r, const char *policy, const struct frr_family *f)
{
	for (size_t i = 0; i < r->sessions.n; i++) {
		const struct session *s = &r->sessions.v[i];

		if ((s->families & f->carries) && (str_eq(s->policy_in, policy) || str_eq(s->policy_out, policy)))
			return true;
	}
	return false;
}

static void render_policy(struct render *r, const struct bgp_policy *policy, const struct frr_family *f)
{
	const char *object = arena_printf(r->conf->arena, "policy %s", policy->name);
	const char *map = arena_printf(r->conf->arena, "FW-P-%s-%s", policy->name, f->suffix);
	bool any = false;

	for (size_t i = 0; i < policy->rules.n; i++)
		any |= add_rule(r, map, object, &policy->rules.v[i], f);
	/* A route-map without entries would not be there, and what calls it would let all pass. */
	if (!any)
		(void)frr_block(r->conf, &r->conf->root, object, "route-map %s deny %d", map, SEQ_MAX);
}

/* --- sessions --- */

/* Mbit/s of a line, scaled so that the fastest of all fits into what FRR takes. 0: unknown. */
static uint32_t bandwidth_of(const struct render *r, const struct session *s)
{
	bitrate_t max = 0, mbit = s->rate / MBIT;

	for (size_t i = 0; i < r->sessions.n; i++)
		if (r->sessions.v[i].rate > max)
			max = r->sessions.v[i].rate;
	max /= MBIT;
	if (max > BANDWIDTH_MAX)
		mbit = mbit * BANDWIDTH_MAX / max;
	return s->rate && mbit == 0 ? 1 : (uint32_t)mbit;
}

static bool reaches(const struct session *s, const struct remote *remote)
{
	if (!s->line)
		return true;
	for (size_t i = 0; i < remote->lines.n; i++)
		if (str_eq(remote->lines.v[i], s->line->name))
			return true;
	return false;
}

/* The vteps of remotes that the session may announce, as a prefix list. False if there are none. */
static bool add_far_vteps(struct render *r, const struct session *s, const struct frr_family *f, const char *list)
{
	bool any = false;

	for (size_t i = 0; i < r->cfg->remotes.n; i++) {
		const struct remote *remote = &r->cfg->remotes.v[i];

		if (remote->vtep.family != f->family || !reaches(s, remote))
			continue;
		frr_permit_host(r, s->object, f->ip, list, &remote->vtep);
		any = true;
	}
	return any;
}

static bool add_own_vtep(struct render *r, const struct frr_family *f, const char *list)
{
	struct ip_addr own = frr_own_vtep(r->cfg, f->family);

	if (ip_addr_is_set(&own))
		frr_permit_host(r, NULL, f->ip, list, &own);
	return ip_addr_is_set(&own);
}

/*
 * The beginning of a session's route-map: what it lets pass. Without a policy another AS is believed the vteps in
 * `list`, and our own AS everything. NULL: nothing passes.
 */
static struct frr_node *open_map(struct render *r, const struct session *s, const struct frr_family *f, const char *map,
	const char *policy, const char *list)
{
	struct frr_node *node;

	if (!policy && !s->internal && !list) {
		/* Not 10: an entry that comes never takes the place of the one that goes. */
		(void)frr_block(r->conf, &r->conf->root, s->object, "route-map %s deny 20", map);
		return NULL;
	}
	node = frr_block(r->conf, &r->conf->root, s->object, "route-map %s permit 10", map);
	if (policy)
		(void)frr_add(r->conf, node, s->object, "call FW-P-%s-%s", policy, f->suffix);
	else if (!s->internal)
		(void)frr_add(r->conf, node, s->object, "match %s address prefix-list %s", f->ip, list);
	return node;
}

/* On the way out alone: FRR weights by what the far side says, and not by what is set on the way in. */
static void add_bandwidth(struct render *r, struct frr_node *node, const struct session *s)
{
	uint32_t mbit = bandwidth_of(r, s);

	if (mbit)
		(void)frr_add(r->conf, node, s->object, "set extcommunity bandwidth %u", mbit);
}

void frr_render_session_maps(struct render *r, const struct session *s, const struct frr_family *f)
{
	const char *in = arena_printf(r->conf->arena, "FW-IN-%s-%s", s->peer, f->suffix);
	const char *out = arena_printf(r->conf->arena, "FW-OUT-%s-%s", s->peer, f->suffix);
	bool far = !s->policy_in && !s->internal && add_far_vteps(r, s, f, in);
	bool own = !s->policy_out && !s->internal && add_own_vtep(r, f, "FW-OWN");
	struct frr_node *node = open_map(r, s, f, in, s->policy_in, far ? in : NULL);

	if (node && s->priority != PREFERENCE)
		(void)frr_add(r->conf, node, s->object, "set local-preference %u", s->priority);
	node = open_map(r, s, f, out, s->policy_out, own ? "FW-OWN" : NULL);
	if (node) {
		add_bandwidth(r, node, s);
		/* Of every line: a route without MED is better than any that has one, RFC 4271 section 9.1.2.2. */
		if (s->line)
			(void)frr_add(r->conf, node, s->object, "set metric %u", MED_BASE - s->priority);
	}
}

void frr_render_policies(struct render *r)
{
	const struct bgp *bgp = r->cfg->bgp;

	for (size_t i = 0; i < bgp->prefix_lists.n; i++)
		render_prefix_list(r, &bgp->prefix_lists.v[i]);
	for (size_t i = 0; i < bgp->community_sets.n; i++)
		render_community_set(r, &bgp->community_sets.v[i]);
	for (size_t k = 0; k < FRR_N_UNICAST; k++)
		for (size_t i = 0; i < bgp->policies.n; i++)
			if (is_used(r, bgp->policies.v[i].name, &frr_families[k]))
				render_policy(r, &bgp->policies.v[i], &frr_families[k]);
	for (size_t i = 0; i < r->sessions.n; i++) {
		const struct session *s = &r->sessions.v[i];

		for (size_t k = 0; k < FRR_N_UNICAST; k++)
			if (s->families & frr_families[k].carries)
				frr_render_session_maps(r, s, &frr_families[k]);
		if (s->families & CARRIES_EVPN)
			frr_render_evpn_maps(r, s);
	}
}
