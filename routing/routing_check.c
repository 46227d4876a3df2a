/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rules of BGP sessions, from whichever object they come, and of BFD; see routing_check.h. Pure. */
#include "routing/routing_check.h"

#include <inttypes.h>
#include <stdlib.h>

#include "config/config.h"
#include "gateway/base/arena.h"
#include "gateway/base/cleanup.h"
#include "gateway/base/str.h"
#include "routing/session.h"

enum { MILLISECOND = 1000, SECOND = 1000000 };

/* Where a row that all sessions have stands. */
#define ROW_AT(s, member)                                                                                              \
	((s)->line			? CONFIG_AT((s)->line->bgp, line_bgp, member)                                  \
			: (s)->neighbor ? CONFIG_AT((s)->neighbor, bgp_neighbor, member)                               \
					: (s)->remote->entry.loc)

/* The second session of a line, whose rows were judged with the first. */
static bool is_second(const struct session *s)
{
	const struct line_bgp *bgp = s->line ? s->line->bgp : NULL;

	if (!bgp || ip_addr_cmp(&s->address, &s->line->peer_address6) != 0)
		return false;
	for (size_t i = 0; i < bgp->families.n; i++)
		if (bgp->families.v[i] != FAMILY_IPV6)
			return true;
	return bgp->families.n == 0;
}

/* --- what needs the bgp section --- */

static void check_bgp_missing(const struct config *cfg, struct diag *diag)
{
	static const char why[] = "needs the top-level bgp section, with this gateway's AS number";

	if (!CONFIG_IS_WHOLE(cfg, bgp))
		return;
	for (size_t i = 0; i < cfg->lines.n; i++)
		if (cfg->lines.v[i].bgp)
			diag_error(diag, CONFIG_AT(&cfg->lines.v[i], line, bgp), "line %s: bgp %s",
				cfg->lines.v[i].name, why);
	for (size_t i = 0; i < cfg->remotes.n; i++)
		if (cfg->remotes.v[i].learn != LEARN_STATIC)
			diag_error(diag, CONFIG_AT(&cfg->remotes.v[i], remote, learn), "remote %s: learn: %s %s",
				cfg->remotes.v[i].name, cfg->remotes.v[i].learn == LEARN_EVPN ? "evpn" : "bgp", why);
	for (size_t i = 0; i < cfg->tenants.n; i++)
		if (cfg->tenants.v[i].l3_vni)
			diag_error(diag, CONFIG_AT(&cfg->tenants.v[i], tenant, l3_vni), "tenant %s: l3-vni %s",
				cfg->tenants.v[i].name, why);
}

static void check_router_id(const struct config *cfg, struct diag *diag)
{
	const struct bgp *bgp = cfg->bgp;

	if (ip_addr_is_ipv6(&bgp->router_id))
		diag_error(
			diag, CONFIG_AT(bgp, bgp, router_id), "bgp: router-id must have the form of an IPv4 address");
	else if (!ip_addr_is_set(&bgp->router_id) && CONFIG_IS_WHOLE(cfg, vtep) &&
		(!cfg->vtep || ip_addr_is_ipv6(&cfg->vtep->address)))
		diag_error(diag, bgp->entry.loc,
			"bgp: router-id is missing; it can be left out only where the vtep has "
			"an IPv4 address to take it from");
}

/* --- BFD --- */

static void check_bfd(const char *object, const struct bfd *bfd, struct diag *diag)
{
	if (bfd && bfd->interval % MILLISECOND)
		diag_error(diag, CONFIG_AT(bfd, bfd, interval),
			"%s: bfd counts in whole milliseconds, not %" PRIu64 "us", object, bfd->interval);
}

static void check_bfds(const struct config *cfg, struct arena *scratch, struct diag *diag)
{
	for (size_t i = 0; i < cfg->lines.n; i++)
		check_bfd(arena_printf(scratch, "line %s", cfg->lines.v[i].name), cfg->lines.v[i].bfd, diag);
	for (size_t i = 0; cfg->bgp && i < cfg->bgp->neighbors.n; i++)
		check_bfd(arena_printf(scratch, "neighbor %s", cfg->bgp->neighbors.v[i].name),
			cfg->bgp->neighbors.v[i].bfd, diag);
}

/* --- sessions --- */

static void check_times(const struct session *s, struct diag *diag)
{
	usec_t hold = s->line ? s->line->bgp->hold_time : s->neighbor ? s->neighbor->hold_time : 0;
	usec_t connect = s->line ? s->line->bgp->connect_time : s->neighbor ? s->neighbor->connect_time : 0;

	if (hold % SECOND)
		diag_error(diag, ROW_AT(s, hold_time), "%s: hold-time must be whole seconds, RFC 4271", s->object);
	if (connect % SECOND)
		diag_error(diag, ROW_AT(s, connect_time), "%s: connect-time must be whole seconds", s->object);
}

static void check_restart(const struct session *s, struct diag *diag)
{
	if (s->bfd.interval_ms && s->graceful_restart == GRACEFUL_FULL)
		diag_error(diag, ROW_AT(s, graceful_restart),
			"%s: graceful-restart: full keeps a way in use that bfd has found dead; say helper, or "
			"full-with-bfd "
			"if that is wanted",
			s->object);
}

static void check_families(const struct config *cfg, const struct session *s, struct diag *diag)
{
	if ((s->families & CARRIES_EVPN) && !cfg->vtep && CONFIG_IS_WHOLE(cfg, vtep))
		diag_error(diag, ROW_AT(s, families),
			"%s: evpn needs the vtep section: what it announces is reached there", s->object);
	if (s->line && (s->families & CARRIES_IPV6) && !ip_addr_is_ipv6(&s->address))
		diag_error(diag, ROW_AT(s, families),
			"%s: ipv6 needs address6 and peer-address6 on the line: IPv6 prefixes have no IPv4 next hop",
			s->object);
}

static void check_security(const struct session *s, struct diag *diag)
{
	if (s->ttl_security && s->internal && s->hops > 1)
		diag_error(diag, ROW_AT(s, ttl_security),
			"%s: ttl-security within the AS is for direct neighbors, and multihop is %u", s->object,
			s->hops);
}

static int by_place(const void *pa, const void *pb)
{
	const struct session *const *a = pa, *const *b = pb;
	int c = ip_addr_cmp(&(*a)->address, &(*b)->address);

	if (c == 0 && (!ip_addr_is_set(&(*a)->address) || ip_addr_is_link_local(&(*a)->address)))
		c = str_cmp((*a)->interface, (*b)->interface);
	return c ? c : loc_cmp(ROW_AT(*a, peer_as), ROW_AT(*b, peer_as));
}

/* FRR knows a session by its address alone, or by its interface. */
static void check_duplicates(const struct sessions *all, struct arena *scratch, struct diag *diag)
{
	const struct session **v = arena_array(scratch, all->n, sizeof(struct session *));

	for (size_t i = 0; i < all->n; i++)
		v[i] = &all->v[i];
	qsort(v, all->n, sizeof(struct session *), by_place);
	for (size_t i = 1; i < all->n; i++)
		if (str_eq(v[i]->peer, v[i - 1]->peer))
			diag_error(diag, ROW_AT(v[i], peer_as),
				"%s: there is already a session with %s, that of %s (line %u)", v[i]->object,
				v[i]->peer, v[i - 1]->object, ROW_AT(v[i - 1], peer_as).line);
}

static void check_session(const struct config *cfg, const struct session *s, struct diag *diag)
{
	check_families(cfg, s, diag);
	if (is_second(s))
		return;
	check_times(s, diag);
	check_restart(s, diag);
	check_security(s, diag);
}

/* --- remotes that are learned by BGP --- */

static bool is_of_remote(const struct remote *r, const struct session *s)
{
	for (size_t i = 0; i < r->lines.n; i++)
		if (s->line && str_eq(s->line->name, r->lines.v[i]))
			return true;
	return s->neighbor != NULL;
}

static void check_learned(
	const struct config *cfg, const struct remote *r, const struct sessions *all, struct diag *diag)
{
	unsigned family = ip_addr_is_ipv6(&r->vtep) ? CARRIES_IPV6 : CARRIES_IPV4;

	if (r->learn != LEARN_BGP || !CONFIG_IS_WHOLE(cfg, lines) || !CONFIG_IS_WHOLE(cfg, bgp))
		return;
	for (size_t i = 0; i < all->n; i++)
		if ((all->v[i].families & family) && is_of_remote(r, &all->v[i]))
			return;
	diag_error(diag, CONFIG_AT(r, remote, learn),
		"remote %s: learn: bgp, and neither a line of it nor a neighbor has a session that carries %s", r->name,
		family == CARRIES_IPV6 ? "ipv6" : "ipv4");
}

void routing_check(const struct config *cfg, struct diag *diag)
{
	_cleanup_(arena_freep) struct arena *scratch = arena_new();
	struct sessions all;

	check_bfds(cfg, scratch, diag);
	if (!cfg->bgp)
		check_bgp_missing(cfg, diag);
	sessions_of(cfg, scratch, &all);
	preset_check(cfg, &all, diag);
	if (!cfg->bgp)
		return;
	check_router_id(cfg, diag);
	for (size_t i = 0; i < all.n; i++)
		check_session(cfg, &all.v[i], diag);
	for (size_t i = 0; i < cfg->remotes.n; i++)
		check_learned(cfg, &cfg->remotes.v[i], &all, diag);
	check_duplicates(&all, scratch, diag);
	neighbor_check(cfg, diag);
	policy_check(cfg, diag);
	evpn_check(cfg, &all, diag);
}
