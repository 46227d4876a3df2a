/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a line asks of its provider, before the provider's published limits (config/preset.h); see routing_check.h.
 * Pure. Refused is what would keep the session down; a limit that can be raised, or a wish that is not met, is warned
 * of.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "config/config.h"
#include "config/preset.h"
#include "routing/policy_eval.h"
#include "routing/routing_check.h"
#include "routing/session.h"

/* NULL preset: nothing is published. */
__attribute__((format(printf, 5, 6))) static void complain(
	struct diag *diag, struct loc loc, const struct line *line, const struct preset *preset, const char *fmt, ...)
{
	void (*say)(struct diag *, struct loc, const char *, ...) =
		preset->weight == PRESET_REFUSE ? diag_error : diag_warning;
	char what[256];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	say(diag, loc, "line %s: %s: %s (%s; %s)", line->name, preset_provider(preset), what, preset->reason,
		preset->source);
}

static void check_mtu(const struct line *line, struct diag *diag)
{
	const struct preset *most = preset_find(line->provider, PRESET_MTU_MAX);

	if (most && line->mtu > most->value)
		complain(diag, CONFIG_AT(line, line, mtu), line, most, "mtu %u is more than %" PRIu64, line->mtu,
			most->value);
}

static void check_bfd(const struct line *line, struct diag *diag)
{
	const struct preset *interval = preset_find(line->provider, PRESET_BFD_INTERVAL_MIN);
	const struct preset *multiplier = preset_find(line->provider, PRESET_BFD_MULTIPLIER_MIN);
	const struct bfd *bfd = line->bfd;

	if (!bfd)
		return;
	if (interval && CONFIG_IS_SET(bfd, bfd, interval) && bfd->interval < interval->value)
		complain(diag, CONFIG_AT(bfd, bfd, interval), line, interval,
			"a bfd interval of %" PRIu64 "ms is less than %" PRIu64 "ms", bfd->interval / 1000,
			interval->value / 1000);
	if (multiplier && CONFIG_IS_SET(bfd, bfd, multiplier) && bfd->multiplier < multiplier->value)
		complain(diag, CONFIG_AT(bfd, bfd, multiplier), line, multiplier,
			"a bfd multiplier of %u is less than %" PRIu64, bfd->multiplier, multiplier->value);
}

/* That it is not too short is the schema's own rule. */
static void check_hold(const struct line *line, struct diag *diag)
{
	const struct preset *most = preset_find(line->provider, PRESET_HOLD_MAX);
	usec_t hold = line->bgp->hold_time;

	if (most && hold > most->value)
		complain(diag, CONFIG_AT(line->bgp, line_bgp, hold_time), line, most,
			"hold-time %" PRIu64 "s is too long", hold / 1000000);
}

static void check_bgp(const struct line *line, struct diag *diag)
{
	const struct preset *ttl = preset_find(line->provider, PRESET_TTL);
	const struct preset *restart = preset_find(line->provider, PRESET_RESTART_WITH_BFD);

	check_hold(line, diag);
	if (ttl && line->bgp->ttl_security)
		complain(diag, CONFIG_AT(line->bgp, line_bgp, ttl_security), line, ttl,
			"no session with ttl-security comes up");
	if (restart && line->bfd && line->bgp->graceful_restart == GRACEFUL_WITH_BFD)
		complain(diag, CONFIG_AT(line->bgp, line_bgp, graceful_restart), line, restart,
			"graceful-restart is used beside bfd");
}

/* --- how many routes it is told --- */

static bool is_told(const struct config *cfg, const struct session *s, const struct ip_prefix *prefix, bool is_vtep)
{
	unsigned family = ip_addr_is_ipv6(&prefix->addr) ? CARRIES_IPV6 : CARRIES_IPV4;

	if (!(s->families & family))
		return false;
	return s->policy_out ? policy_permits(cfg, s->policy_out, prefix) : is_vtep || s->internal;
}

static bool is_told_vtep(const struct config *cfg, const struct session *s, const struct ip_addr *vtep)
{
	struct ip_prefix host = ip_addr_host_prefix(vtep);

	return ip_addr_is_set(vtep) && is_told(cfg, s, &host, true);
}

static bool is_summarized(const struct bgp *bgp, const struct ip_prefix *prefix)
{
	for (size_t i = 0; i < bgp->aggregates.n; i++) {
		const struct aggregate *a = &bgp->aggregates.v[i];

		if (a->summary_only && a->prefix.len < prefix->len && ip_prefix_contains(&a->prefix, &prefix->addr))
			return true;
	}
	return false;
}

/* Of what this file announces; what is passed on from others comes on top. */
static size_t count_told(const struct config *cfg, const struct session *s)
{
	const struct bgp *bgp = cfg->bgp;
	size_t n = 0;

	if (cfg->vtep) {
		n += is_told_vtep(cfg, s, &cfg->vtep->address);
		n += is_told_vtep(cfg, s, &cfg->vtep->address6);
	}
	for (size_t i = 0; i < bgp->networks.n; i++)
		n += !is_summarized(bgp, &bgp->networks.v[i]) && is_told(cfg, s, &bgp->networks.v[i], false);
	for (size_t i = 0; i < bgp->aggregates.n; i++)
		n += is_told(cfg, s, &bgp->aggregates.v[i].prefix, false);
	return n;
}

static void check_routes(const struct config *cfg, const struct session *s, struct diag *diag)
{
	const struct preset *most = s->line ? preset_find(s->line->provider, PRESET_ROUTES_MAX) : NULL;
	size_t n;

	if (!most || cfg->bgp->networks.n + cfg->bgp->aggregates.n + 2 <= most->value)
		return;
	n = count_told(cfg, s);
	if (n > most->value)
		complain(diag, CONFIG_AT(s->line, line, bgp), s->line, most,
			"%zu routes are announced, and above %" PRIu64
			" the session ends; announce aggregates, or have the limit raised",
			n, most->value);
}

void preset_check(const struct config *cfg, const struct sessions *sessions, struct diag *diag)
{
	for (size_t i = 0; i < cfg->lines.n; i++) {
		const struct line *line = &cfg->lines.v[i];

		check_mtu(line, diag);
		check_bfd(line, diag);
		if (line->bgp)
			check_bgp(line, diag);
	}
	for (size_t i = 0; i < sessions->n; i++)
		check_routes(cfg, &sessions->v[i], diag);
}
