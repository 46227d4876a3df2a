/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bgpd's configuration: the speaker, its neighbors and its unicast families; see frr_render.h. */
#include "routing/frr_render.h"

#include "config/config.h"
#include "gateway/base/arena.h"
#include "gateway/base/str.h"
#include "gateway/engine/facts.h"
#include "routing/frr_conf.h"
#include "routing/frr_render_parts.h"

enum { WARNING_PERCENT = 75 }; /* FRR's own */

const struct frr_family frr_families[FRR_N_FAMILIES] = {
	{CARRIES_IPV4, AF_INET, "ipv4 unicast", "ip", "v4"},
	{CARRIES_IPV6, AF_INET6, "ipv6 unicast", "ipv6", "v6"},
	{CARRIES_EVPN, AF_UNSPEC, "l2vpn evpn", NULL, "evpn"},
};

struct ip_addr frr_own_vtep(const struct config *cfg, uint8_t family)
{
	if (cfg->vtep && cfg->vtep->address.family == family)
		return cfg->vtep->address;
	if (cfg->vtep && cfg->vtep->address6.family == family)
		return cfg->vtep->address6;
	return (struct ip_addr){0};
}

struct ip_addr frr_router_id(const struct config *cfg)
{
	return ip_addr_is_set(&cfg->bgp->router_id) ? cfg->bgp->router_id : frr_own_vtep(cfg, AF_INET);
}

/* --- a neighbor, as all families have it --- */

#define ADD(...) ((void)frr_add(r->conf, node, s->object, __VA_ARGS__))

static void add_reach(struct render *r, struct frr_node *node, const struct session *s)
{
	char source[IP_STR_MAX];

	if (s->unnumbered)
		ADD("neighbor %s interface remote-as %u", s->peer, s->peer_as);
	else
		ADD("neighbor %s remote-as %u", s->peer, s->peer_as);
	ADD("neighbor %s description %s", s->peer, s->object);
	if (!s->unnumbered && ip_addr_is_link_local(&s->address) && s->interface)
		ADD("neighbor %s interface %s", s->peer, s->interface);
	else if (ip_addr_is_set(&s->source))
		ADD("neighbor %s update-source %s", s->peer, ip_addr_str(&s->source, source));
	if (s->ttl_security)
		ADD("neighbor %s ttl-security hops %u", s->peer, s->hops);
	else if (!s->internal && s->hops > 1)
		ADD("neighbor %s ebgp-multihop %u", s->peer, s->hops);
	/*
	 * One hop away, but not on a subnet of ours: from loopback to loopback. And more hops away: when both ends call
	 * each other at the same time, FRR 8.4 forgets the hops for the call that it takes, wants the next hop to be
	 * connected, and all routes of the session that lives stay invalid.
	 */
	if (!s->ttl_security && !s->internal && (s->hops > 1 || (s->neighbor && s->neighbor->multihop == 1)))
		ADD("neighbor %s disable-connected-check", s->peer);
	/* Over an interface it is always so. */
	if (s->extended_next_hop && !s->unnumbered)
		ADD("neighbor %s capability extended-nexthop", s->peer);
}

static void add_bfd(struct render *r, struct frr_node *node, const struct session *s)
{
	if (s->bfd.interval_ms == 0)
		return;
	ADD("neighbor %s bfd", s->peer);
	if (frr_bfd_has_profile(s))
		ADD("neighbor %s bfd profile FW-%s", s->peer, s->peer);
}

static void add_neighbor(struct render *r, struct frr_node *node, const struct session *s)
{
	const char *password = s->password_file ? facts_secret(r->facts, s->password_file) : NULL;

	add_reach(r, node, s);
	add_bfd(r, node, s);
	if (password)
		ADD("neighbor %s password %s", s->peer, password);
	ADD("neighbor %s timers %u %u", s->peer, s->keepalive, s->hold);
	ADD("neighbor %s timers connect %u", s->peer, s->connect);
	if (s->passive)
		ADD("neighbor %s passive", s->peer);
	if (s->tcp_mss)
		ADD("neighbor %s tcp-mss %u", s->peer, s->tcp_mss);
	/* To help is what FRR does unasked. */
	if (s->graceful_restart == GRACEFUL_OFF)
		ADD("neighbor %s graceful-restart-disable", s->peer);
	else if (s->graceful_restart != GRACEFUL_HELPER)
		ADD("neighbor %s graceful-restart", s->peer);
}

/* --- a neighbor in a family --- */

static void add_maximum(struct render *r, struct frr_node *node, const struct session *s)
{
	if (s->max_prefixes == 0)
		return;
	if (s->max_prefixes_warning == WARNING_PERCENT)
		ADD("neighbor %s maximum-prefix %u", s->peer, s->max_prefixes);
	else
		ADD("neighbor %s maximum-prefix %u %u", s->peer, s->max_prefixes, s->max_prefixes_warning);
}

static void activate(struct render *r, struct frr_node *node, const struct session *s, const struct frr_family *f)
{
	ADD("neighbor %s activate", s->peer);
	if (s->route_reflector_client && s->internal)
		ADD("neighbor %s route-reflector-client", s->peer);
	ADD("neighbor %s route-map FW-IN-%s-%s in", s->peer, s->peer, f->suffix);
	ADD("neighbor %s route-map FW-OUT-%s-%s out", s->peer, s->peer, f->suffix);
	if (f->carries == CARRIES_EVPN)
		return;
	/* Within the AS also for what is reflected: that is what the operator's word says. */
	if (s->next_hop_self)
		ADD("neighbor %s next-hop-self%s", s->peer, s->internal ? " force" : "");
	if (s->default_originate)
		ADD("neighbor %s default-originate", s->peer);
	/* What was received is kept: it can be shown, and a changed policy asks no peer for anything. */
	ADD("neighbor %s soft-reconfiguration inbound", s->peer);
	add_maximum(r, node, s);
}

#undef ADD

static void activate_all(struct render *r, struct frr_node *node, const struct frr_family *f)
{
	for (size_t i = 0; i < r->sessions.n; i++)
		if (r->sessions.v[i].families & f->carries)
			activate(r, node, &r->sessions.v[i], f);
}

/* --- families --- */

static void add_network(struct render *r, struct frr_node *node, const struct ip_prefix *prefix)
{
	char text[IP_STR_MAX];

	(void)frr_add(r->conf, node, NULL, "network %s", ip_prefix_str(prefix, text));
}

static void add_origins(struct render *r, struct frr_node *node, const struct frr_family *f)
{
	const struct bgp *bgp = r->cfg->bgp;
	struct ip_addr vtep = frr_own_vtep(r->cfg, f->family);
	struct ip_prefix host = ip_addr_host_prefix(&vtep);
	char text[IP_STR_MAX];

	if (ip_addr_is_set(&vtep))
		add_network(r, node, &host);
	for (size_t i = 0; i < bgp->networks.n; i++)
		if (bgp->networks.v[i].addr.family == f->family)
			add_network(r, node, &bgp->networks.v[i]);
	for (size_t i = 0; i < bgp->aggregates.n; i++)
		if (bgp->aggregates.v[i].prefix.addr.family == f->family)
			(void)frr_add(r->conf, node, NULL, "aggregate-address %s%s",
				ip_prefix_str(&bgp->aggregates.v[i].prefix, text),
				bgp->aggregates.v[i].summary_only ? " summary-only" : "");
}

void frr_add_max_paths(struct render *r, struct frr_node *family, const char *object)
{
	(void)frr_add(r->conf, family, object, "maximum-paths %u", r->cfg->bgp->max_paths);
	(void)frr_add(r->conf, family, object, "maximum-paths ibgp %u", r->cfg->bgp->max_paths);
}

static void render_family(struct render *r, struct frr_node *bgp, const struct frr_family *f)
{
	struct frr_node *node = frr_block(r->conf, bgp, NULL, "address-family %s", f->node);

	if (f->carries == CARRIES_EVPN) {
		frr_render_evpn_family(r, node);
	} else {
		add_origins(r, node, f);
		frr_add_max_paths(r, node, NULL);
	}
	activate_all(r, node, f);
}

/* --- the speaker --- */

void frr_add_router_id(struct render *r, struct frr_node *bgp, const char *object)
{
	struct ip_addr id = frr_router_id(r->cfg);
	char text[IP_STR_MAX];

	if (ip_addr_is_set(&id))
		(void)frr_add(r->conf, bgp, object, "bgp router-id %s", ip_addr_str(&id, text));
}

static void add_speaker(struct render *r, struct frr_node *bgp)
{
	static const char *const options[] = {
		"no bgp default ipv4-unicast", /* a session carries what the file says */
		"no bgp network import-check", /* what the file announces needs no route */
		"bgp deterministic-med",       /* which path came first decides nothing */
		"bgp bestpath as-path multipath-relax",
	};

	frr_add_router_id(r, bgp, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(options); i++)
		(void)frr_add(r->conf, bgp, NULL, "%s", options[i]);
	for (size_t i = 0; i < r->sessions.n; i++)
		if (r->sessions.v[i].graceful_restart == GRACEFUL_FULL ||
			r->sessions.v[i].graceful_restart == GRACEFUL_WITH_BFD)
			(void)frr_add(r->conf, bgp, NULL, "bgp graceful-restart preserve-fw-state");
}

void frr_render_bgpd(const struct config *cfg, const struct facts *facts, struct frr_conf *conf)
{
	struct render r;
	struct frr_node *bgp;

	if (!cfg || !cfg->bgp)
		return;
	frr_render_init(&r, cfg, facts, conf);
	/* A policy that changes works a second later, all its changes at once; FRR's own is five. */
	(void)frr_add(conf, &conf->root, NULL, "bgp route-map delay-timer 1");
	frr_render_policies(&r);
	bgp = frr_block(conf, &conf->root, NULL, "router bgp %u", cfg->bgp->as);
	add_speaker(&r, bgp);
	for (size_t i = 0; i < r.sessions.n; i++)
		add_neighbor(&r, bgp, &r.sessions.v[i]);
	for (size_t i = 0; i < FRR_N_UNICAST; i++)
		render_family(&r, bgp, &frr_families[i]);
	if (!frr_has_evpn(&r))
		return;
	render_family(&r, bgp, &frr_families[FRR_N_UNICAST]);
	frr_render_tenants(&r);
}
