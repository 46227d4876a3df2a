/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Each interface of the machine has one job: a line's end, an interface of the gateway, or a segment's member; see
 * check_parts.h. Pure. All uses in one list, sorted by name: two of one name are neighbours.
 */
#include "overlay/check_parts.h"

#include <stdlib.h>

#include "config/config.h"
#include "gateway/base/arena.h"
#include "gateway/base/str.h"
#include "overlay/mtu.h"
#include "overlay/overlay.h"

enum use_kind { USE_INTERFACE, USE_LINE, USE_MEMBER };

struct use {
	const char *interface;
	enum use_kind kind;
	struct loc loc;
	const char *owner;
	const struct interface *entry;
	const struct segment *segment;
};

static int use_cmp(const void *pa, const void *pb)
{
	const struct use *a = pa, *b = pb;
	int c = str_cmp(a->interface, b->interface);

	if (c == 0)
		c = (int)a->kind - (int)b->kind;
	return c ? c : loc_cmp(a->loc, b->loc);
}

static struct use *find_uses(const struct config *cfg, struct arena *scratch, size_t *ret_n)
{
	size_t n = cfg->interfaces.n + cfg->lines.n, at = 0;
	struct use *v;

	for (size_t i = 0; i < cfg->segments.n; i++)
		n += cfg->segments.v[i].members.n;
	v = arena_array(scratch, n, sizeof(*v));
	for (size_t i = 0; i < cfg->interfaces.n; i++) {
		const struct interface *e = &cfg->interfaces.v[i];

		v[at++] = (struct use){e->name, USE_INTERFACE, CONFIG_AT(e, interface, name), e->name, e, NULL};
	}
	for (size_t i = 0; i < cfg->lines.n; i++) {
		const struct line *line = &cfg->lines.v[i];

		v[at++] = (struct use){
			line->interface, USE_LINE, CONFIG_AT(line, line, interface), line->name, NULL, NULL};
	}
	for (size_t i = 0; i < cfg->segments.n; i++) {
		const struct segment *seg = &cfg->segments.v[i];

		for (size_t k = 0; k < seg->members.n; k++)
			v[at++] = (struct use){seg->members.v[k], USE_MEMBER, seg->members.at[k], seg->name, NULL, seg};
	}
	*ret_n = n;
	if (n > 1)
		qsort(v, n, sizeof(*v), use_cmp);
	return v;
}

/* A member's entry under `interfaces` may say its MTU, and nothing that a bridge port does not have. */
static void check_member_entry(const struct use *entry, const struct use *member, struct diag *diag)
{
	const struct interface *e = entry->entry;
	const struct segment *seg = member->segment;

	if (e->addresses.n > 0)
		diag_error(diag, member->loc,
			"segment %s: member %s has addresses (line %u); a bridged interface has none, give them to the "
			"segment as its gateway",
			seg->name, member->interface, e->addresses.at[0].line);
	if (e->mtu > 0 && seg->mtu > 0 && e->mtu != seg->mtu)
		diag_error(diag, member->loc, "segment %s: member %s has the MTU %u (line %u), the segment %u",
			seg->name, member->interface, e->mtu, CONFIG_AT(e, interface, mtu).line, seg->mtu);
}

static void check_pair(const struct use *first, const struct use *second, struct diag *diag)
{
	if (second->kind == USE_LINE && first->kind == USE_LINE)
		diag_error(diag, second->loc, "line %s: %s already ends line %s (line %u)", second->owner,
			second->interface, first->owner, first->loc.line);
	else if (second->kind == USE_LINE)
		diag_error(diag, second->loc,
			"line %s: %s stands under interfaces too (line %u); a line's interface stands there alone",
			second->owner, second->interface, first->loc.line);
	else if (second->kind == USE_MEMBER && first->kind == USE_LINE)
		diag_error(diag, second->loc, "segment %s: member %s ends line %s (line %u)", second->owner,
			second->interface, first->owner, first->loc.line);
	else if (second->kind == USE_MEMBER && first->kind == USE_MEMBER)
		diag_error(diag, second->loc, "segment %s: %s is already a member of segment %s (line %u)",
			second->owner, second->interface, first->owner, first->loc.line);
	else if (second->kind == USE_MEMBER)
		check_member_entry(first, second, diag);
}

static void check_loopback(const struct config *cfg, const struct use *use, struct diag *diag)
{
	if (!str_eq(use->interface, "lo"))
		return;
	if (use->kind != USE_INTERFACE)
		diag_error(diag, use->loc, "%s %s: lo is the loopback interface",
			use->kind == USE_LINE ? "line" : "segment", use->owner);
	else if (!use->entry->enabled && cfg->vtep)
		diag_error(diag, CONFIG_AT(use->entry, interface, enabled), "interface lo: the vtep needs it");
}

static int name_cmp(const void *a, const void *b)
{
	return str_cmp(a, b);
}

/* The names of all devices that we would make, sorted. */
static char (*own_names(const struct config *cfg, struct arena *scratch, size_t *ret_n))[16]
{
	/* One more: a tenant's name that is too long is written before it is refused. */
	char(*v)[16] = arena_array(scratch, 2 * cfg->segments.n + cfg->tenants.n + 1, sizeof(*v));
	size_t n = 0;

	for (size_t i = 0; i < cfg->segments.n; i++) {
		overlay_vxlan_name(cfg->segments.v[i].vni, v[n++]);
		if (cfg->segments.v[i].mode == MODE_BRIDGED)
			overlay_bridge_name(cfg->segments.v[i].vni, v[n++]);
	}
	for (size_t i = 0; i < cfg->tenants.n; i++)
		n += overlay_vrf_name(cfg->tenants.v[i].name, v[n]);
	qsort(v, n, sizeof(*v), name_cmp);
	*ret_n = n;
	return v;
}

static void check_interface_mtu(const struct interface *e, struct diag *diag)
{
	if (e->mtu == 0 || e->mtu >= MTU_IPV6_MIN)
		return;
	for (size_t i = 0; i < e->addresses.n; i++)
		if (ip_addr_is_ipv6(&e->addresses.v[i].addr)) {
			diag_error(diag, CONFIG_AT(e, interface, mtu), "interface %s: IPv6 needs an MTU of %d, not %u",
				e->name, MTU_IPV6_MIN, e->mtu);
			return;
		}
}

void interface_check(const struct config *cfg, struct arena *scratch, struct diag *diag)
{
	size_t n, n_own, first = 0;
	const struct use *v = find_uses(cfg, scratch, &n);
	char(*own)[16] = own_names(cfg, scratch, &n_own);

	for (size_t i = 0; i < cfg->interfaces.n; i++)
		check_interface_mtu(&cfg->interfaces.v[i], diag);
	for (size_t i = 0; i < n; i++) {
		check_loopback(cfg, &v[i], diag);
		if (bsearch(v[i].interface, own, n_own, sizeof(*own), name_cmp))
			diag_error(diag, v[i].loc, "%s is the name of a device that Fairway makes from this file",
				v[i].interface);
		if (!str_eq(v[i].interface, v[first].interface))
			first = i;
		/* Each against the first of its name: one mistake, one message. */
		if (i > first && !str_eq(v[i].interface, "lo"))
			check_pair(&v[first], &v[i], diag);
	}
}
