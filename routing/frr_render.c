/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * zebra's and bfdd's configuration, and whether there is any; see frr_render.h.
 * The one idea of all these files: what FRR would not print is not rendered, so a default never shows as a difference.
 */
#include "routing/frr_render.h"

#include "config/config.h"
#include "gateway/base/arena.h"
#include "gateway/base/str.h"
#include "gateway/engine/facts.h"
#include "routing/frr_conf.h"
#include "routing/frr_render_parts.h"
#include "routing/session.h"

/* FRR's own. */
enum { BFD_MULTIPLIER = 3, BFD_INTERVAL = 300 };

bool frr_is_wanted(const struct config *cfg)
{
	if (!cfg)
		return false;
	for (size_t i = 0; i < cfg->lines.n; i++)
		if (cfg->lines.v[i].enabled && cfg->lines.v[i].bfd)
			return true;
	return cfg->bgp != NULL;
}

void frr_render_init(struct render *r, const struct config *cfg, const struct facts *facts, struct frr_conf *conf)
{
	*r = (struct render){.cfg = cfg, .facts = facts, .conf = conf};
	frr_conf_init(&r->seqs, conf->arena);
	sessions_of(cfg, conf->arena, &r->sessions);
}

/* --- zebra --- */

void frr_render_zebra(const struct config *cfg, const struct facts *facts, struct frr_conf *conf)
{
	struct render r;

	if (!frr_is_wanted(cfg))
		return;
	/* Kernel next hop objects go stale when a link comes back. */
	(void)frr_add(conf, &conf->root, NULL, "no zebra nexthop kernel enable");
	frr_render_init(&r, cfg, facts, conf);
	/* A far neighbor may be reached by the default route alone; to a vtep there is always a route of its own. */
	for (size_t i = 0; i < r.sessions.n; i++)
		if (r.sessions.v[i].neighbor && r.sessions.v[i].hops > 1)
			(void)frr_add(conf, &conf->root, NULL, "%s nht resolve-via-default",
				ip_addr_is_ipv6(&r.sessions.v[i].address) ? "ipv6" : "ip");
	if (frr_has_evpn(&r))
		frr_render_l3_vnis(&r);
}

/* --- bfdd --- */

static void add_timers(struct frr_conf *conf, struct frr_node *peer, const char *object, const struct bfd_timers *t)
{
	if (t->multiplier != BFD_MULTIPLIER)
		(void)frr_add(conf, peer, object, "detect-multiplier %u", t->multiplier);
	if (t->interval_ms == BFD_INTERVAL)
		return;
	(void)frr_add(conf, peer, object, "transmit-interval %u", t->interval_ms);
	(void)frr_add(conf, peer, object, "receive-interval %u", t->interval_ms);
}

static void render_line(struct frr_conf *conf, struct frr_node *bfd, const struct line_bfd *b)
{
	const char *object = arena_printf(conf->arena, "line %s", b->line->name);
	char peer[IP_STR_MAX], local[IP_STR_MAX];

	add_timers(conf,
		frr_block(conf, bfd, object, "peer %s local-address %s interface %s", ip_addr_str(&b->peer, peer),
			ip_addr_str(&b->local, local), b->line->interface),
		object, &b->timers);
}

bool frr_bfd_has_profile(const struct session *s)
{
	return s->unnumbered || ip_addr_is_link_local(&s->address) || (s->bfd.multihop && !ip_addr_is_set(&s->source));
}

/*
 * Of a neighbor: a peer of its own, so that it goes on while bgpd restarts; or, where bgpd has to ask for the session,
 * the timers as a profile.
 */
static void render_neighbor(struct frr_conf *conf, struct frr_node *bfd, const struct session *s)
{
	struct frr_node *peer;
	char local[IP_STR_MAX];

	if (frr_bfd_has_profile(s))
		peer = frr_block(conf, bfd, s->object, "profile FW-%s", s->peer);
	else if (s->bfd.multihop)
		peer = frr_block(conf, bfd, s->object, "peer %s multihop local-address %s", s->peer,
			ip_addr_str(&s->source, local));
	else
		peer = frr_block(conf, bfd, s->object, "peer %s%s%s%s%s", s->peer,
			ip_addr_is_set(&s->source) ? " local-address " : "",
			ip_addr_is_set(&s->source) ? ip_addr_str(&s->source, local) : "",
			s->interface ? " interface " : "", s->interface ? s->interface : "");
	add_timers(conf, peer, s->object, &s->bfd);
}

void frr_render_bfdd(const struct config *cfg, const struct facts *facts, struct frr_conf *conf)
{
	struct sessions sessions;
	struct line_bfd *lines;
	struct frr_node *bfd = NULL;
	size_t n;

	(void)facts;
	if (!cfg)
		return;
	lines = arena_array(conf->arena, 2 * cfg->lines.n, sizeof(*lines));
	n = line_bfds_of(cfg, lines);
	for (size_t i = 0; i < n; i++) {
		bfd = frr_block(conf, &conf->root, NULL, "bfd");
		render_line(conf, bfd, &lines[i]);
	}
	sessions_of(cfg, conf->arena, &sessions);
	for (size_t i = 0; i < sessions.n; i++) {
		if (!sessions.v[i].neighbor || sessions.v[i].bfd.interval_ms == 0)
			continue;
		bfd = frr_block(conf, &conf->root, NULL, "bfd");
		render_neighbor(conf, bfd, &sessions.v[i]);
	}
}
