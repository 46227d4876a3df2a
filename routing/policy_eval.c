/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Routing policies, evaluated; see policy_eval.h. */
#include "routing/policy_eval.h"

#include "config/config.h"
#include "gateway/base/str.h"

static bool entry_matches(const struct prefix_entry *e, const struct ip_prefix *prefix)
{
	bool has_ge = CONFIG_IS_SET(e, prefix_entry, ge), has_le = CONFIG_IS_SET(e, prefix_entry, le);
	uint32_t low = has_ge ? e->ge : e->prefix.len, high = has_le ? e->le : has_ge ? 128 : e->prefix.len;

	return ip_prefix_contains(&e->prefix, &prefix->addr) && prefix->len >= low && prefix->len <= high;
}

bool prefix_list_permits(const struct prefix_list *list, const struct ip_prefix *prefix)
{
	for (size_t i = 0; i < list->entries.n; i++)
		if (entry_matches(&list->entries.v[i], prefix))
			return list->entries.v[i].action == ACTION_PERMIT;
	return false;
}

static const struct prefix_list *list_named(const struct config *cfg, const char *name)
{
	for (size_t i = 0; i < cfg->bgp->prefix_lists.n; i++)
		if (str_eq(cfg->bgp->prefix_lists.v[i].name, name))
			return &cfg->bgp->prefix_lists.v[i];
	return NULL;
}

static bool rule_matches(const struct config *cfg, const struct policy_rule *rule, const struct ip_prefix *prefix)
{
	const struct prefix_list *list = rule->prefix_list ? list_named(cfg, rule->prefix_list) : NULL;

	if (rule->community_set || (rule->prefix_list && !list))
		return false;
	return !list || prefix_list_permits(list, prefix);
}

bool policy_permits(const struct config *cfg, const char *policy, const struct ip_prefix *prefix)
{
	const struct bgp_policy *p = NULL;

	for (size_t i = 0; cfg->bgp && i < cfg->bgp->policies.n; i++)
		if (str_eq(cfg->bgp->policies.v[i].name, policy))
			p = &cfg->bgp->policies.v[i];
	for (size_t i = 0; p && i < p->rules.n; i++)
		if (rule_matches(cfg, &p->rules.v[i], prefix))
			return p->rules.v[i].action == ACTION_PERMIT;
	return false;
}
