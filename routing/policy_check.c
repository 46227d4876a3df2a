/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prefix lists, aggregates and what refers to nothing useful; see routing_check.h. Pure. */
#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "gateway/base/arena.h"
#include "gateway/base/cleanup.h"
#include "gateway/base/str.h"
#include "routing/routing_check.h"

/* --- prefix lists --- */

static void check_bounds(const struct prefix_list *list, const struct prefix_entry *e, struct diag *diag)
{
	bool has_ge = CONFIG_IS_SET(e, prefix_entry, ge), has_le = CONFIG_IS_SET(e, prefix_entry, le);
	uint32_t most = ip_addr_is_ipv6(&e->prefix.addr) ? 128 : 32;
	char text[IP_STR_MAX];

	(void)ip_prefix_str(&e->prefix, text);
	if (has_ge && (e->ge < e->prefix.len || e->ge > most))
		diag_error(diag, CONFIG_AT(e, prefix_entry, ge),
			"prefix-list %s: entry %u: ge %u must be from %u to %u for %s", list->name, e->seq, e->ge,
			e->prefix.len, most, text);
	if (has_le && (e->le < e->prefix.len || e->le > most))
		diag_error(diag, CONFIG_AT(e, prefix_entry, le),
			"prefix-list %s: entry %u: le %u must be from %u to %u for %s", list->name, e->seq, e->le,
			e->prefix.len, most, text);
	else if (has_ge && has_le && e->ge > e->le)
		diag_error(diag, CONFIG_AT(e, prefix_entry, ge), "prefix-list %s: entry %u: ge %u is more than le %u",
			list->name, e->seq, e->ge, e->le);
}

/* A bound that is not there is 0 for FRR too. */
static int same_entry(const struct prefix_entry *a, const struct prefix_entry *b)
{
	int c = ip_prefix_cmp(&a->prefix, &b->prefix);

	if (c == 0)
		c = a->action - b->action;
	if (c == 0)
		c = cmp_u32(a->ge, b->ge);
	if (c == 0)
		c = cmp_u32(a->le, b->le);
	return c;
}

static int entry_cmp(const void *pa, const void *pb)
{
	const struct prefix_entry *const *a = pa, *const *b = pb;
	int c = same_entry(*a, *b);

	return c ? c : cmp_u32((*a)->seq, (*b)->seq);
}

/* FRR keeps only the first of two entries that say the same. */
static void check_repeated(const struct prefix_list *list, struct arena *scratch, struct diag *diag)
{
	const struct prefix_entry **v = arena_array(scratch, list->entries.n, sizeof(struct prefix_entry *));

	for (size_t i = 0; i < list->entries.n; i++)
		v[i] = &list->entries.v[i];
	qsort(v, list->entries.n, sizeof(struct prefix_entry *), entry_cmp);
	for (size_t i = 1; i < list->entries.n; i++)
		if (same_entry(v[i], v[i - 1]) == 0)
			diag_error(diag, v[i]->entry.loc,
				"prefix-list %s: entry %u says the same as entry %u (line %u)", list->name, v[i]->seq,
				v[i - 1]->seq, v[i - 1]->entry.loc.line);
}

/* --- aggregates --- */

static int prefix_cmp(const void *a, const void *b)
{
	return ip_prefix_cmp(a, b);
}

static void check_aggregates(const struct bgp *bgp, struct arena *scratch, struct diag *diag)
{
	struct ip_prefix *networks = arena_array(scratch, bgp->networks.n, sizeof(*networks));
	char text[IP_STR_MAX];

	for (size_t i = 0; i < bgp->networks.n; i++)
		networks[i] = bgp->networks.v[i];
	qsort(networks, bgp->networks.n, sizeof(*networks), prefix_cmp);
	for (size_t i = 0; i < bgp->aggregates.n; i++) {
		const struct aggregate *a = &bgp->aggregates.v[i];

		if (bsearch(&a->prefix, networks, bgp->networks.n, sizeof(*networks), prefix_cmp))
			diag_warning(diag, CONFIG_AT(a, aggregate, prefix),
				"aggregate %s: it stands under networks too, and so is announced whatever is known",
				ip_prefix_str(&a->prefix, text));
	}
}

/* --- policies --- */

static bool is_mixed(const struct bgp *bgp, const char *name)
{
	bool standard = false, large = false;

	for (size_t i = 0; i < bgp->community_sets.n; i++) {
		const struct community_set *set = &bgp->community_sets.v[i];

		for (size_t k = 0; k < set->communities.n && str_eq(set->name, name); k++) {
			const char *colon = strchr(set->communities.v[k], ':');
			bool three = colon && strchr(colon + 1, ':');

			large |= three;
			standard |= !three;
		}
	}
	return standard && large;
}

/* FRR matches communities and large ones by an entry each: the rule takes the next number too, see add_rule() in
 * frr_render_policy.c. */
static void check_mixed(const struct bgp *bgp, const struct bgp_policy *policy, struct diag *diag)
{
	for (size_t i = 0; i < policy->rules.n; i++) {
		const struct policy_rule *rule = &policy->rules.v[i], *next = rule + 1;
		bool taken = rule->seq == 65535 || (i + 1 < policy->rules.n && next->seq == rule->seq + 1);

		if (taken && rule->community_set && is_mixed(bgp, rule->community_set))
			diag_error(diag, CONFIG_AT(rule, policy_rule, community_set),
				"policy %s: rule %u: %s has communities and large ones, so it takes two numbers: "
				"%u must be free",
				policy->name, rule->seq, rule->community_set, rule->seq + 1);
	}
}

void policy_check(const struct config *cfg, struct diag *diag)
{
	_cleanup_(arena_freep) struct arena *scratch = arena_new();
	const struct bgp *bgp = cfg->bgp;

	for (size_t i = 0; i < bgp->prefix_lists.n; i++) {
		const struct prefix_list *list = &bgp->prefix_lists.v[i];

		for (size_t k = 0; k < list->entries.n; k++)
			check_bounds(list, &list->entries.v[k], diag);
		check_repeated(list, scratch, diag);
	}
	for (size_t i = 0; i < bgp->policies.n; i++) {
		check_mixed(bgp, &bgp->policies.v[i], diag);
		if (bgp->policies.v[i].rules.n == 0)
			diag_warning(diag, bgp->policies.v[i].entry.loc,
				"policy %s: it has no rules, and so denies everything", bgp->policies.v[i].name);
	}
	check_aggregates(bgp, scratch, diag);
}
