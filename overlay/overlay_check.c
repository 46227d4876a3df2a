/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The overlay's own rules, beyond the schema's: vtep, lines, remotes and tenants here, the rest in the parts; see
 * check_parts.h. Pure. What the kernel would refuse, or take and then lose packets over, is refused here, with its
 * place in the file and before anything is touched. They see the sound part of a file with errors too, see
 * check_parts.h.
 */
#include "overlay/overlay.h"

#include <stdlib.h>

#include "config/config.h"
#include "gateway/base/arena.h"
#include "gateway/base/cleanup.h"
#include "gateway/base/str.h"
#include "gateway/engine/facts.h"
#include "gateway/engine/plan.h"
#include "overlay/check_parts.h"
#include "overlay/model.h"
#include "overlay/mtu.h"

static const char *family_name(uint8_t family)
{
	return family == AF_INET6 ? "IPv6" : "IPv4";
}

/* --- vtep --- */

static bool is_local(const struct config *cfg, const struct ip_addr *addr)
{
	for (size_t i = 0; i < cfg->interfaces.n; i++)
		for (size_t k = 0; k < cfg->interfaces.v[i].addresses.n; k++)
			if (ip_addr_cmp(&cfg->interfaces.v[i].addresses.v[k].addr, addr) == 0)
				return true;
	for (size_t i = 0; i < cfg->lines.n; i++)
		if (ip_addr_cmp(&cfg->lines.v[i].address.addr, addr) == 0 ||
			ip_addr_cmp(&cfg->lines.v[i].address6.addr, addr) == 0)
			return true;
	return false;
}

static void check_vtep_address(const struct config *cfg, const struct ip_addr *addr, struct loc loc, struct diag *diag)
{
	char text[IP_STR_MAX];

	if (!ip_addr_is_set(addr))
		return;
	(void)ip_addr_str(addr, text);
	if (ip_addr_is_link_local(addr))
		diag_error(diag, loc, "vtep: %s is link-local and cannot be reached through a router", text);
	else if (!cfg->vtep->assign && CONFIG_IS_WHOLE(cfg, interfaces) && CONFIG_IS_WHOLE(cfg, lines) &&
		!is_local(cfg, addr))
		diag_error(diag, loc,
			"vtep: with assign: false, %s must be an address of an interface or line of this file", text);
}

static void check_vtep(const struct config *cfg, struct diag *diag)
{
	const struct vtep *vtep = cfg->vtep;

	check_vtep_address(cfg, &vtep->address, CONFIG_AT(vtep, vtep, address), diag);
	check_vtep_address(cfg, &vtep->address6, CONFIG_AT(vtep, vtep, address6), diag);
	if (!ip_addr_is_set(&vtep->address6))
		return;
	if (!ip_addr_is_ipv6(&vtep->address6))
		diag_error(diag, CONFIG_AT(vtep, vtep, address6), "vtep: address6 must be an IPv6 address");
	else if (ip_addr_is_ipv6(&vtep->address))
		diag_error(diag, CONFIG_AT(vtep, vtep, address6),
			"vtep: address is an IPv6 address already; address6 stands beside an IPv4 one");
}

/* --- lines --- */

static void check_ends(const struct line *line, const struct ip_prefix *own, const struct ip_addr *peer, struct loc loc,
	struct diag *diag)
{
	struct ip_prefix network = ip_prefix_network(own);
	char net[IP_STR_MAX], text[IP_STR_MAX];

	(void)ip_addr_str(peer, text);
	(void)ip_prefix_str(&network, net);
	if (peer->family != own->addr.family)
		diag_error(diag, loc, "line %s: the two ends must be of one family", line->name);
	else if (ip_addr_cmp(peer, &own->addr) == 0)
		diag_error(diag, loc, "line %s: %s is this end's own address", line->name, text);
	else if (!ip_prefix_contains(own, peer))
		diag_error(diag, loc, "line %s: %s is not in the line's subnet %s", line->name, text, net);
	else if (ip_prefix_is_edge(own, peer))
		diag_error(diag, loc, "line %s: %s is not a host's address in %s", line->name, text, net);
}

static void check_second_family(const struct line *line, struct diag *diag)
{
	bool own = ip_addr_is_set(&line->address6.addr), peer = ip_addr_is_set(&line->peer_address6);

	if (!own && !peer)
		return;
	if (own != peer)
		diag_error(diag, own ? CONFIG_AT(line, line, address6) : CONFIG_AT(line, line, peer_address6),
			"line %s: address6 and peer-address6 belong together, %s is missing", line->name,
			own ? "peer-address6" : "address6");
	else if (!ip_addr_is_ipv6(&line->address6.addr))
		diag_error(
			diag, CONFIG_AT(line, line, address6), "line %s: address6 must be an IPv6 address", line->name);
	else if (ip_addr_is_ipv6(&line->address.addr))
		diag_error(diag, CONFIG_AT(line, line, address6),
			"line %s: address is an IPv6 address already; address6 stands beside an IPv4 one", line->name);
	else
		check_ends(line, &line->address6, &line->peer_address6, CONFIG_AT(line, line, peer_address6), diag);
}

static bool line_has_family(const struct line *line, uint8_t family)
{
	return line->address.addr.family == family || line->address6.addr.family == family;
}

static void check_line_mtu(const struct line *line, struct diag *diag)
{
	if (line_has_family(line, AF_INET6) && line->mtu < MTU_IPV6_MIN)
		diag_error(diag, CONFIG_AT(line, line, mtu), "line %s: IPv6 needs an MTU of %d, not %u", line->name,
			MTU_IPV6_MIN, line->mtu);
	if (line->path_mtu > line->mtu)
		diag_error(diag, CONFIG_AT(line, line, path_mtu), "line %s: path-mtu %u is more than the line's mtu %u",
			line->name, line->path_mtu, line->mtu);
	else if (line->path_mtu > 0 && line_has_family(line, AF_INET6) && line->path_mtu < MTU_IPV6_MIN)
		diag_error(diag, CONFIG_AT(line, line, path_mtu), "line %s: IPv6 needs a path MTU of %d, not %u",
			line->name, MTU_IPV6_MIN, line->path_mtu);
}

static void check_line(const struct line *line, struct diag *diag)
{
	check_ends(line, &line->address, &line->peer_address, CONFIG_AT(line, line, peer_address), diag);
	check_second_family(line, diag);
	check_line_mtu(line, diag);
	/* To accept the word and send in clear would be a lie about security. */
	if (line->encrypt == ENCRYPT_REQUIRED)
		diag_error(diag, CONFIG_AT(line, line, encrypt),
			"line %s: encryption is not available in this version; traffic would go in clear", line->name);
	else if (line->tier == TIER_INTERNET)
		diag_warning(diag, CONFIG_AT(line, line, tier), "line %s: traffic crosses the Internet in clear",
			line->name);
}

/* --- remotes --- */

static void check_remote_lines(const struct config *cfg, const struct remote *remote, struct diag *diag)
{
	if (remote->lines.n > ROUTE_MAX_NEXTHOPS)
		diag_error(diag, CONFIG_AT(remote, remote, lines),
			"remote %s: %zu lines, at most %d can share a remote", remote->name, remote->lines.n,
			ROUTE_MAX_NEXTHOPS);
	for (size_t i = 0; i < remote->lines.n; i++) {
		const struct line *line = config_line(cfg, remote->lines.v[i]);

		if (line && !line_has_family(line, remote->vtep.family))
			diag_error(diag, remote->lines.at[i], "remote %s: its vtep is %s, line %s has no %s address",
				remote->name, family_name(remote->vtep.family), line->name,
				family_name(remote->vtep.family));
	}
}

static void check_remote(const struct config *cfg, const struct remote *remote, struct diag *diag)
{
	const struct vtep *vtep = cfg->vtep;
	struct loc loc = CONFIG_AT(remote, remote, vtep);
	char text[IP_STR_MAX];

	(void)ip_addr_str(&remote->vtep, text);
	check_remote_lines(cfg, remote, diag);
	if (ip_addr_is_link_local(&remote->vtep))
		diag_error(diag, loc, "remote %s: %s is link-local and cannot be reached through a router",
			remote->name, text);
	if (!vtep)
		return;
	if (ip_addr_cmp(&remote->vtep, &vtep->address) == 0 || ip_addr_cmp(&remote->vtep, &vtep->address6) == 0)
		diag_error(diag, loc, "remote %s: %s is this gateway's own vtep", remote->name, text);
	else if (remote->vtep.family != vtep->address.family && remote->vtep.family != vtep->address6.family)
		diag_error(diag, loc, "remote %s: its vtep is %s, and this gateway's vtep has no %s address",
			remote->name, family_name(remote->vtep.family), family_name(remote->vtep.family));
}

static int remote_vtep_cmp(const void *pa, const void *pb)
{
	const struct remote *const *a = pa, *const *b = pb;
	int c = ip_addr_cmp(&(*a)->vtep, &(*b)->vtep);

	return c ? c : loc_cmp((*a)->entry.loc, (*b)->entry.loc);
}

static void check_remotes(const struct config *cfg, struct arena *scratch, struct diag *diag)
{
	const struct remote **v = arena_array(scratch, cfg->remotes.n, sizeof(struct remote *));
	char text[IP_STR_MAX];

	for (size_t i = 0; i < cfg->remotes.n; i++) {
		v[i] = &cfg->remotes.v[i];
		check_remote(cfg, v[i], diag);
	}
	qsort(v, cfg->remotes.n, sizeof(struct remote *), remote_vtep_cmp);
	for (size_t i = 1; i < cfg->remotes.n; i++)
		if (ip_addr_cmp(&v[i]->vtep, &v[i - 1]->vtep) == 0)
			diag_error(diag, CONFIG_AT(v[i], remote, vtep),
				"remote %s: %s is already the vtep of remote %s (line %u)", v[i]->name,
				ip_addr_str(&v[i]->vtep, text), v[i - 1]->name, CONFIG_AT(v[i - 1], remote, vtep).line);
}

/* --- tenants --- */

/* The devices' ifindexes are made from this much of the table. */
static uint32_t table_key(const struct tenant *t)
{
	return t->table & 0xffffff;
}

static int tenant_table_cmp(const void *pa, const void *pb)
{
	const struct tenant *const *a = pa, *const *b = pb;
	int c = cmp_u32(table_key(*a), table_key(*b));

	return c ? c : loc_cmp((*a)->entry.loc, (*b)->entry.loc);
}

static void check_tenants(const struct config *cfg, struct arena *scratch, struct diag *diag)
{
	const struct tenant **v = arena_array(scratch, cfg->tenants.n, sizeof(struct tenant *));
	char name[16];

	for (size_t i = 0; i < cfg->tenants.n; i++) {
		v[i] = &cfg->tenants.v[i];
		if (!overlay_vrf_name(v[i]->name, name))
			diag_error(diag, CONFIG_AT(v[i], tenant, name),
				"tenant %s: its VRF is called vrf-%s, which is more than the 15 characters that an "
				"interface name may have",
				v[i]->name, v[i]->name);
	}
	qsort(v, cfg->tenants.n, sizeof(struct tenant *), tenant_table_cmp);
	for (size_t i = 1; i < cfg->tenants.n; i++) {
		if (table_key(v[i]) != table_key(v[i - 1]))
			continue;
		if (v[i]->table == v[i - 1]->table)
			diag_error(diag, CONFIG_AT(v[i], tenant, table),
				"tenant %s: table %u is already that of tenant %s (line %u)", v[i]->name, v[i]->table,
				v[i - 1]->name, CONFIG_AT(v[i - 1], tenant, table).line);
		else
			diag_error(diag, CONFIG_AT(v[i], tenant, table),
				"tenant %s: tables %u and %u (tenant %s, line %u) agree in their last 24 bits; choose "
				"another",
				v[i]->name, v[i]->table, v[i - 1]->table, v[i - 1]->name,
				CONFIG_AT(v[i - 1], tenant, table).line);
	}
}

static void check_vtep_missing(const struct config *cfg, struct diag *diag)
{
	if (!CONFIG_IS_WHOLE(cfg, vtep))
		return;
	if (cfg->remotes.n > 0)
		diag_error(
			diag, cfg->remotes.v[0].entry.loc, "remotes need a vtep section: this gateway's own endpoint");
	else if (cfg->segments.n > 0)
		diag_error(diag, cfg->segments.v[0].entry.loc,
			"segments need a vtep section: this gateway's own endpoint");
}

void overlay_check(const struct config *cfg, struct diag *diag)
{
	_cleanup_(arena_freep) struct arena *scratch = arena_new();

	if (cfg->vtep)
		check_vtep(cfg, diag);
	else
		check_vtep_missing(cfg, diag);
	for (size_t i = 0; i < cfg->lines.n; i++)
		check_line(&cfg->lines.v[i], diag);
	check_remotes(cfg, scratch, diag);
	check_tenants(cfg, scratch, diag);
	interface_check(cfg, scratch, diag);
	segment_check(cfg, scratch, diag);
	address_check(cfg, scratch, diag);
}

/* What is asked to be filtered and is not would pass. */
static void check_bridge_filter(const struct config *cfg, struct plan *plan)
{
	for (size_t i = 0; cfg->policy && i < cfg->segments.n; i++)
		if (cfg->segments.v[i].filter)
			plan_conflict(plan, arena_printf(plan->arena, "segment %s", cfg->segments.v[i].name),
				"segment %s: filter needs the kernel's module br_netfilter; load it (modprobe "
				"br_netfilter)",
				cfg->segments.v[i].name);
}

static void check_vrf(const struct config *cfg, struct plan *plan)
{
	for (size_t i = 0; i < cfg->tenants.n; i++)
		for (size_t k = 0; k < cfg->segments.n; k++)
			if (str_eq(cfg->segments.v[k].tenant, cfg->tenants.v[i].name)) {
				plan_conflict(plan, arena_printf(plan->arena, "tenant %s", cfg->tenants.v[i].name),
					"tenant %s needs a VRF (CONFIG_NET_VRF), which this kernel lacks",
					cfg->tenants.v[i].name);
				break;
			}
}

void overlay_check_facts(const struct config *cfg, const struct facts *facts, struct plan *plan)
{
	if (!cfg)
		return;
	if (!facts->has_vrf)
		check_vrf(cfg, plan);
	if (facts->lacks_bridge_filter)
		check_bridge_filter(cfg, plan);
}
