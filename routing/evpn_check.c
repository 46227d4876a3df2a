/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What EVPN needs to have something to say, and somebody to say it to; see routing_check.h. Pure. */
#include <stdlib.h>

#include "config/config.h"
#include "gateway/base/arena.h"
#include "gateway/base/cleanup.h"
#include "gateway/base/str.h"
#include "routing/routing_check.h"
#include "routing/session.h"

/* --- VNIs --- */

struct user {
	uint32_t vni;
	const char *object; /* "segment gpu" */
	struct loc loc;
	bool is_segment;
};

/* Of one VNI the segments come first: what is wrong is said of the type 5 routes. */
static int user_cmp(const void *pa, const void *pb)
{
	const struct user *a = pa, *b = pb;
	int c = cmp_u32(a->vni, b->vni);

	if (c == 0)
		c = (int)b->is_segment - (int)a->is_segment;
	return c ? c : loc_cmp(a->loc, b->loc);
}

static void check_vnis(const struct config *cfg, struct arena *scratch, struct diag *diag)
{
	struct user *v = arena_array(scratch, cfg->segments.n + cfg->tenants.n + 1, sizeof(*v));
	size_t n = 0;

	for (size_t i = 0; i < cfg->segments.n; i++)
		v[n++] = (struct user){cfg->segments.v[i].vni,
			arena_printf(scratch, "segment %s", cfg->segments.v[i].name),
			CONFIG_AT(&cfg->segments.v[i], segment, vni), true};
	for (size_t i = 0; i < cfg->tenants.n; i++)
		if (cfg->tenants.v[i].l3_vni)
			v[n++] = (struct user){cfg->tenants.v[i].l3_vni,
				arena_printf(scratch, "tenant %s", cfg->tenants.v[i].name),
				CONFIG_AT(&cfg->tenants.v[i], tenant, l3_vni), false};
	if (cfg->bgp->l3_vni)
		v[n++] = (struct user){cfg->bgp->l3_vni, "bgp", CONFIG_AT(cfg->bgp, bgp, l3_vni), false};
	qsort(v, n, sizeof(*v), user_cmp);
	for (size_t i = 1; i < n; i++)
		if (v[i].vni == v[i - 1].vni && !v[i].is_segment)
			diag_error(diag, v[i].loc, "%s: l3-vni %u is already the VNI of %s (line %u)", v[i].object,
				v[i].vni, v[i - 1].object, v[i - 1].loc.line);
}

static void check_targets(const struct config *cfg, struct diag *diag)
{
	static const char why[] = "are of type 5 routes, which need an l3-vni";

	for (size_t i = 0; i < cfg->tenants.n; i++) {
		const struct tenant *t = &cfg->tenants.v[i];

		if (t->l3_vni)
			continue;
		if (t->networks.n)
			diag_error(diag, CONFIG_AT(t, tenant, networks), "tenant %s: networks %s", t->name, why);
		if (t->route_targets.n)
			diag_error(
				diag, CONFIG_AT(t, tenant, route_targets), "tenant %s: route-targets %s", t->name, why);
		if (t->import_targets.n)
			diag_error(diag, CONFIG_AT(t, tenant, import_targets), "tenant %s: import-targets %s", t->name,
				why);
	}
	if (cfg->bgp->route_targets.n && !cfg->bgp->l3_vni)
		diag_error(diag, CONFIG_AT(cfg->bgp, bgp, route_targets), "bgp: route-targets %s", why);
	for (size_t i = 0; i < cfg->segments.n; i++)
		if (cfg->segments.v[i].route_targets.n && cfg->segments.v[i].mode != MODE_BRIDGED)
			diag_error(diag, CONFIG_AT(&cfg->segments.v[i], segment, route_targets),
				"segment %s: route-targets are of the MACs of a bridged segment; this one is routed",
				cfg->segments.v[i].name);
}

/* --- remotes --- */

static bool has_type_5(const struct config *cfg)
{
	bool has = cfg->bgp->l3_vni != 0;

	for (size_t i = 0; i < cfg->tenants.n; i++)
		has = has || cfg->tenants.v[i].l3_vni;
	return has;
}

static bool is_stretched(const struct config *cfg, const struct remote *r)
{
	for (size_t i = 0; i < cfg->segments.n; i++)
		for (size_t k = 0; k < cfg->segments.v[i].remotes.n; k++)
			if (cfg->segments.v[i].mode == MODE_BRIDGED && str_eq(cfg->segments.v[i].remotes.v[k], r->name))
				return true;
	return false;
}

static bool has_evpn_session(const struct sessions *all)
{
	for (size_t i = 0; i < all->n; i++)
		if (!all->v[i].remote && (all->v[i].families & CARRIES_EVPN))
			return true;
	return false;
}

static void check_remote(
	const struct config *cfg, const struct remote *r, const struct sessions *all, struct diag *diag)
{
	if (r->learn != LEARN_EVPN) {
		if (r->peer_as)
			diag_warning(diag, CONFIG_AT(r, remote, peer_as),
				"remote %s: peer-as is of the session that learn: evpn makes, and does nothing here",
				r->name);
		return;
	}
	if (ip_addr_is_ipv6(&r->vtep))
		diag_error(diag, CONFIG_AT(r, remote, vtep),
			"remote %s: learn: evpn needs an IPv4 vtep: FRR 8.4 has no others in EVPN", r->name);
	if (r->peer_as == 0 && CONFIG_IS_WHOLE(cfg, lines) && CONFIG_IS_WHOLE(cfg, bgp) && !has_evpn_session(all))
		diag_error(diag, CONFIG_AT(r, remote, learn),
			"remote %s: learn: evpn needs its peer-as, or a neighbor whose families have evpn", r->name);
	if (CONFIG_IS_WHOLE(cfg, segments) && CONFIG_IS_WHOLE(cfg, tenants) && !is_stretched(cfg, r) &&
		!has_type_5(cfg))
		diag_error(diag, CONFIG_AT(r, remote, learn),
			"remote %s: learn: evpn, and neither a bridged segment has this remote nor is there an l3-vni: "
			"there "
			"is nothing to learn",
			r->name);
}

void evpn_check(const struct config *cfg, const struct sessions *sessions, struct diag *diag)
{
	_cleanup_(arena_freep) struct arena *scratch = arena_new();

	check_vnis(cfg, scratch, diag);
	check_targets(cfg, diag);
	for (size_t i = 0; i < cfg->remotes.n; i++) {
		const struct remote *r = &cfg->remotes.v[i];

		check_remote(cfg, r, sessions, diag);
		if (r->password_file && (r->learn != LEARN_EVPN || r->peer_as == 0))
			diag_warning(diag, CONFIG_AT(r, remote, password_file),
				"remote %s: password-file is of the session that learn: evpn and peer-as make",
				r->name);
	}
}
