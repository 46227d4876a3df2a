/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prefix lists, aggregates and what refers to nothing useful; see routing_check.h. Pure. */
#include <stdlib.h>

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

/* A bound that is not there is less than all others. */
static int bound_cmp(bool has_a, uint32_t a, bool has_b, uint32_t b)
{
	return has_a != has_b ? (int)has_a - (int)has_b : has_a ? cmp_u32(a, b) : 0;
}

static int same_entry(const struct prefix_entry *a, const struct prefix_entry *b)
{
	int c = ip_prefix_cmp(&a->prefix, &b->prefix);

	if (c == 0)
		c = a->action - b->action;
	if (c == 0)
		c = bound_cmp(CONFIG_IS_SET(a, prefix_entry, ge), a->ge, CONFIG_IS_SET(b, prefix_entry, ge), b->ge);
	if (c == 0)
		c = bound_cmp(CONFIG_IS_SET(a, prefix_entry, le), a->le, CONFIG_IS_SET(b, prefix_entry, le), b->le);
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
	for (size_t i = 0; i < bgp->policies.n; i++)
		if (bgp->policies.v[i].rules.n == 0)
			diag_warning(diag, bgp->policies.v[i].entry.loc,
				"policy %s: it has no rules, and so denies everything", bgp->policies.v[i].name);
	check_aggregates(bgp, scratch, diag);
}
