/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * EVPN: what is announced to whom, and what is believed of whom. Pure.
 *
 * The filters go by route target, because FRR's `match evpn vni` knows no type 3 routes. Of each remote only those
 * segments are believed that list it, and only with its own vtep as the next hop; type 5 routes are for all.
 */
#include "config/config.h"
#include "gateway/base/arena.h"
#include "gateway/base/str.h"
#include "routing/frr_conf.h"
#include "routing/frr_render_parts.h"

enum { TARGET_AS = 65000, RD_MAX = 65535 };
enum { MAP_SEQ_MAX = 65534, MAP_SEQ_LAST = 65535 }; /* of a route-map */

bool frr_has_evpn(const struct render *r)
{
	for (size_t i = 0; i < r->sessions.n; i++)
		if (r->sessions.v[i].families & CARRIES_EVPN)
			return true;
	return false;
}

/* --- who is concerned --- */

static bool lists(const struct segment *seg, const struct remote *remote)
{
	for (size_t i = 0; i < seg->remotes.n; i++)
		if (str_eq(seg->remotes.v[i], remote->name))
			return true;
	return false;
}

/* Is it a segment whose MACs are learned by EVPN? */
static bool is_learned(const struct config *cfg, const struct segment *seg)
{
	if (seg->mode != MODE_BRIDGED)
		return false;
	for (size_t i = 0; i < cfg->remotes.n; i++)
		if (cfg->remotes.v[i].learn == LEARN_EVPN && lists(seg, &cfg->remotes.v[i]))
			return true;
	return false;
}

/* --- route distinguishers and targets --- */

/*
 * ROUTER-ID:VNI while the VNI fits 16 bits. One that does not goes into the 32 bits of the other form, with what of
 * the router-id still has room: apart for any two VNIs, and for any two gateways whose router-ids have the same first
 * octet.
 */
static void add_rd(struct render *r, struct frr_node *node, const char *object, uint32_t vni)
{
	struct ip_addr id = frr_router_id(r->cfg);
	char text[IP_STR_MAX];

	if (!ip_addr_is_set(&id))
		return;
	if (vni <= RD_MAX)
		(void)frr_add(r->conf, node, object, "rd %s:%u", ip_addr_str(&id, text), vni);
	else
		(void)frr_add(r->conf, node, object, "rd %u:%u", id.bytes[2] * 256u + id.bytes[3],
			(uint32_t)id.bytes[1] << 24 | vni);
}

/* As the file lists them, or else the one that follows from the VNI. */
struct targets {
	const char **v;
	size_t n;
};

#define TARGETS_OF(r, list, vni) targets_of((r), (list).v, (list).n, (vni))
static struct targets targets_of(struct render *r, const char **v, size_t n, uint32_t vni)
{
	struct targets t = {v, n};

	if (n == 0) {
		t.v = arena_alloc(r->conf->arena, sizeof(*t.v));
		t.v[t.n++] = arena_printf(r->conf->arena, "%d:%u", TARGET_AS, vni);
	}
	return t;
}

static void add_targets(
	struct render *r, struct frr_node *node, const char *object, const char *what, const struct targets *t)
{
	for (size_t i = 0; i < t->n; i++)
		(void)frr_add(r->conf, node, object, "route-target %s %s", what, t->v[i]);
}

static const char *object_of(struct render *r, const char *kind, const char *name)
{
	return arena_printf(r->conf->arena, "%s %s", kind, name);
}

/* --- filters --- */

static void permit_targets(struct render *r, const struct remote *remote, const struct targets *t)
{
	const char *list = arena_printf(r->conf->arena, "bgp extcommunity-list standard FW-E-%s", remote->name);
	const char *object = object_of(r, "remote", remote->name);

	for (size_t i = 0; i < t->n; i++)
		(void)frr_add(r->conf, &r->conf->root, object, "%s seq %u permit rt %s", list,
			frr_seq(r, list, t->v[i], FRR_SEQ_MAX), t->v[i]);
}

/* The route targets that a remote has a part in, as the list FW-E-<remote>. False if there are none. */
static bool add_list(struct render *r, const struct remote *remote)
{
	const struct config *cfg = r->cfg;
	struct targets t;
	bool any = false;

	for (size_t i = 0; i < cfg->segments.n; i++) {
		const struct segment *seg = &cfg->segments.v[i];

		if (seg->mode != MODE_BRIDGED || !lists(seg, remote))
			continue;
		t = TARGETS_OF(r, seg->route_targets, seg->vni);
		permit_targets(r, remote, &t);
		any = true;
	}
	for (size_t i = 0; i < cfg->tenants.n; i++) {
		const struct tenant *tenant = &cfg->tenants.v[i];

		if (tenant->l3_vni == 0)
			continue;
		t = TARGETS_OF(r, tenant->route_targets, tenant->l3_vni);
		permit_targets(r, remote, &t);
		t = (struct targets){tenant->import_targets.v, tenant->import_targets.n};
		permit_targets(r, remote, &t);
		any = true;
	}
	if (cfg->bgp->l3_vni) {
		t = TARGETS_OF(r, cfg->bgp->route_targets, cfg->bgp->l3_vni);
		permit_targets(r, remote, &t);
		any = true;
	}
	return any;
}

/* What the remote may say, or be told: one entry of a session's route-map. */
static void permit_remote(
	struct render *r, const struct session *s, const char *map, const struct remote *remote, bool in)
{
	struct frr_node *node = frr_block(r->conf, &r->conf->root, s->object, "route-map %s permit %u", map,
		frr_seq(r, map, remote->name, MAP_SEQ_MAX));
	char vtep[IP_STR_MAX];

	(void)frr_add(r->conf, node, s->object, "match extcommunity FW-E-%s", remote->name);
	if (in)
		(void)frr_add(r->conf, node, s->object, "match %s next-hop address %s",
			ip_addr_is_ipv6(&remote->vtep) ? "ipv6" : "ip", ip_addr_str(&remote->vtep, vtep));
}

void frr_render_evpn_maps(struct render *r, const struct session *s)
{
	const char *in = arena_printf(r->conf->arena, "FW-IN-%s-evpn", s->peer);
	const char *out = arena_printf(r->conf->arena, "FW-OUT-%s-evpn", s->peer);
	/* We pass on what its clients say, segments that we have no part in too. */
	const char *action = s->route_reflector_client ? "permit" : "deny";

	for (size_t i = 0; i < r->cfg->remotes.n && !s->route_reflector_client; i++) {
		const struct remote *remote = &r->cfg->remotes.v[i];

		if (remote->learn != LEARN_EVPN || (s->remote && s->remote != remote) || !add_list(r, remote))
			continue;
		permit_remote(r, s, in, remote, true);
		permit_remote(r, s, out, remote, false);
	}
	(void)frr_block(r->conf, &r->conf->root, s->object, "route-map %s %s %u", in, action, MAP_SEQ_LAST);
	(void)frr_block(r->conf, &r->conf->root, s->object, "route-map %s %s %u", out, action, MAP_SEQ_LAST);
}

/* --- type 5 --- */

/*
 * The default domain's prefixes, without the vteps: a remote that learned our vtep by a route through our vtep would
 * send to itself.
 */
static const char *type5_map(struct render *r, const struct frr_family *f)
{
	const char *map = arena_printf(r->conf->arena, "FW-TYPE5-%s", f->suffix);
	struct ip_addr own = frr_own_vtep(r->cfg, f->family);
	struct frr_node *node = NULL;

	for (size_t i = 0; i <= r->cfg->remotes.n; i++) {
		const struct ip_addr *vtep = i < r->cfg->remotes.n ? &r->cfg->remotes.v[i].vtep : &own;

		if (vtep->family != f->family)
			continue;
		frr_permit_host(r, NULL, f->ip, "FW-VTEPS", vtep);
		node = frr_block(r->conf, &r->conf->root, NULL, "route-map %s deny 10", map);
		(void)frr_add(r->conf, node, NULL, "match %s address prefix-list FW-VTEPS", f->ip);
	}
	(void)frr_block(r->conf, &r->conf->root, NULL, "route-map %s permit 20", map);
	return map;
}

static void add_default_domain(struct render *r, struct frr_node *family)
{
	const struct bgp *bgp = r->cfg->bgp;
	struct targets t = TARGETS_OF(r, bgp->route_targets, bgp->l3_vni);

	for (size_t i = 0; i < FRR_N_UNICAST; i++)
		(void)frr_add(r->conf, family, NULL, "advertise %s route-map %s", frr_families[i].node,
			type5_map(r, &frr_families[i]));
	add_rd(r, family, NULL, bgp->l3_vni);
	add_targets(r, family, NULL, "import", &t);
	add_targets(r, family, NULL, "export", &t);
}

static void add_vni(struct render *r, struct frr_node *family, const struct segment *seg)
{
	const char *object = object_of(r, "segment", seg->name);
	struct frr_node *vni = frr_block(r->conf, family, object, "vni %u", seg->vni);
	struct targets t = TARGETS_OF(r, seg->route_targets, seg->vni);

	add_rd(r, vni, object, seg->vni);
	add_targets(r, vni, object, "import", &t);
	add_targets(r, vni, object, "export", &t);
}

void frr_render_evpn_family(struct render *r, struct frr_node *family)
{
	(void)frr_add(r->conf, family, NULL, "advertise-all-vni");
	for (size_t i = 0; i < r->cfg->segments.n; i++)
		if (is_learned(r->cfg, &r->cfg->segments.v[i]))
			add_vni(r, family, &r->cfg->segments.v[i]);
	if (r->cfg->bgp->l3_vni)
		add_default_domain(r, family);
}

static void add_tenant_family(
	struct render *r, struct frr_node *bgp, const struct tenant *tenant, const struct frr_family *f)
{
	const char *object = object_of(r, "tenant", tenant->name);
	struct frr_node *family = frr_block(r->conf, bgp, object, "address-family %s", f->node);
	char prefix[IP_STR_MAX];

	for (size_t i = 0; i < tenant->networks.n; i++)
		if (tenant->networks.v[i].addr.family == f->family)
			(void)frr_add(
				r->conf, family, object, "network %s", ip_prefix_str(&tenant->networks.v[i], prefix));
	frr_add_max_paths(r, family, object);
}

static void render_tenant(struct render *r, const struct tenant *tenant)
{
	const char *object = object_of(r, "tenant", tenant->name);
	struct targets t = TARGETS_OF(r, tenant->route_targets, tenant->l3_vni);
	struct targets more = {tenant->import_targets.v, tenant->import_targets.n};
	struct frr_node *evpn,
		*bgp = frr_block(
			r->conf, &r->conf->root, object, "router bgp %u vrf vrf-%s", r->cfg->bgp->as, tenant->name);

	frr_add_router_id(r, bgp, object);
	(void)frr_add(r->conf, bgp, object, "no bgp network import-check");
	(void)frr_add(r->conf, bgp, object, "bgp bestpath as-path multipath-relax");
	for (size_t i = 0; i < FRR_N_UNICAST; i++)
		add_tenant_family(r, bgp, tenant, &frr_families[i]);
	evpn = frr_block(r->conf, bgp, object, "address-family l2vpn evpn");
	for (size_t i = 0; i < FRR_N_UNICAST; i++)
		(void)frr_add(r->conf, evpn, object, "advertise %s", frr_families[i].node);
	add_rd(r, evpn, object, tenant->l3_vni);
	add_targets(r, evpn, object, "import", &t);
	add_targets(r, evpn, object, "import", &more);
	add_targets(r, evpn, object, "export", &t);
}

void frr_render_tenants(struct render *r)
{
	for (size_t i = 0; i < r->cfg->tenants.n; i++)
		if (r->cfg->tenants.v[i].l3_vni)
			render_tenant(r, &r->cfg->tenants.v[i]);
}

/* --- zebra --- */

/*
 * Without the last word every host of a bridged segment that has told its address would become a route of the routing
 * domain everywhere: whoever speaks in a segment could draw any address to itself.
 */
#define VNI_LINE "vni %u prefix-routes-only"

void frr_render_l3_vnis(struct render *r)
{
	if (r->cfg->bgp->l3_vni)
		(void)frr_add(r->conf, &r->conf->root, NULL, VNI_LINE, r->cfg->bgp->l3_vni);
	for (size_t i = 0; i < r->cfg->tenants.n; i++) {
		const struct tenant *tenant = &r->cfg->tenants.v[i];
		const char *object = object_of(r, "tenant", tenant->name);

		if (tenant->l3_vni)
			(void)frr_add(r->conf, frr_block(r->conf, &r->conf->root, object, "vrf vrf-%s", tenant->name),
				object, VNI_LINE, tenant->l3_vni);
	}
}
