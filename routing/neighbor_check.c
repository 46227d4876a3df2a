/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where a neighbor is, and what only one within the AS can be; see routing_check.h. Pure. */
#include "config/config.h"
#include "routing/routing_check.h"

/* Our own, where the file says so. */
static bool is_own(const struct config *cfg, const struct ip_addr *addr)
{
	for (size_t i = 0; i < cfg->interfaces.n; i++)
		for (size_t k = 0; k < cfg->interfaces.v[i].addresses.n; k++)
			if (ip_addr_cmp(&cfg->interfaces.v[i].addresses.v[k].addr, addr) == 0)
				return true;
	for (size_t i = 0; i < cfg->lines.n; i++)
		if (ip_addr_cmp(&cfg->lines.v[i].address.addr, addr) == 0 ||
			ip_addr_cmp(&cfg->lines.v[i].address6.addr, addr) == 0)
			return true;
	return cfg->vtep &&
		(ip_addr_cmp(&cfg->vtep->address, addr) == 0 || ip_addr_cmp(&cfg->vtep->address6, addr) == 0);
}

static void check_unnumbered(const struct bgp_neighbor *n, struct diag *diag)
{
	if (!n->interface)
		diag_error(diag, n->entry.loc, "neighbor %s: it needs an address, or the interface that it is on",
			n->name);
	if (n->multihop)
		diag_error(diag, CONFIG_AT(n, bgp_neighbor, multihop),
			"neighbor %s: multihop needs an address; on an interface it is directly connected", n->name);
	if (ip_addr_is_set(&n->source))
		diag_error(diag, CONFIG_AT(n, bgp_neighbor, source),
			"neighbor %s: source needs an address; on an interface its own link-local one is used",
			n->name);
}

static void check_numbered(const struct config *cfg, const struct bgp_neighbor *n, struct diag *diag)
{
	bool local = ip_addr_is_link_local(&n->address);
	char text[IP_STR_MAX];

	(void)ip_addr_str(&n->address, text);
	if (local && !n->interface)
		diag_error(diag, CONFIG_AT(n, bgp_neighbor, address),
			"neighbor %s: %s is link-local; say the interface that it is on", n->name, text);
	else if (!local && n->interface)
		diag_error(diag, CONFIG_AT(n, bgp_neighbor, interface),
			"neighbor %s: interface is for a neighbor without an address, or with a link-local one",
			n->name);
	if (local && n->multihop)
		diag_error(diag, CONFIG_AT(n, bgp_neighbor, multihop),
			"neighbor %s: a link-local address is one hop away; leave multihop out", n->name);
	if (is_own(cfg, &n->address))
		diag_error(diag, CONFIG_AT(n, bgp_neighbor, address), "neighbor %s: %s is this gateway's own address",
			n->name, text);
	if (ip_addr_is_set(&n->source) && n->source.family != n->address.family)
		diag_error(diag, CONFIG_AT(n, bgp_neighbor, source),
			"neighbor %s: source and address must be of one family", n->name);
	else if (ip_addr_is_set(&n->source) && ip_addr_cmp(&n->source, &n->address) == 0)
		diag_error(diag, CONFIG_AT(n, bgp_neighbor, source), "neighbor %s: source is its own address, not ours",
			n->name);
}

void neighbor_check(const struct config *cfg, struct diag *diag)
{
	for (size_t i = 0; i < cfg->bgp->neighbors.n; i++) {
		const struct bgp_neighbor *n = &cfg->bgp->neighbors.v[i];

		if (ip_addr_is_set(&n->address))
			check_numbered(cfg, n, diag);
		else
			check_unnumbered(n, diag);
		if (n->route_reflector_client && n->peer_as != cfg->bgp->as)
			diag_error(diag, CONFIG_AT(n, bgp_neighbor, route_reflector_client),
				"neighbor %s: a route-reflector-client is of our own AS %u, not of %u", n->name,
				cfg->bgp->as, n->peer_as);
	}
}
