/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See frr_retell.h. A changed administrative distance, and back, is what makes bgpd tell its whole table; of a VNI,
 * one more route target to import, and back: it takes all back, of which the new zebra knows nothing, and tells it
 * anew.
 */
#include "routing/frr_retell.h"

#include <stdio.h>
#include <string.h>

#include "config/config.h"
#include "gateway/base/arena.h"
#include "gateway/base/buf.h"
#include "gateway/base/cleanup.h"
#include "gateway/base/log.h"
#include "gateway/base/str.h"
#include "overlay/overlay.h"
#include "routing/frr_daemons.h"
#include "routing/frr_vty.h"

static const uint64_t TIMEOUT = 1000000;

#define NOBODYS "65535:0" /* an AS that nobody has: RFC 7300 */

static bool bgpd_is_there(const char *run_dir)
{
	_cleanup_(arena_freep) struct arena *arena = arena_new();
	_cleanup_(frr_vty_closep) struct frr_vty *vty = NULL;
	struct buf clients = {0};
	bool there = frr_vty_open(frr_vty_path(run_dir, FRR_ZEBRA, arena), TIMEOUT, &vty) == 0 &&
		frr_vty_run(vty, "show zebra client summary", &clients) == 0 && strstr(buf_str(&clients), "\nbgp");

	buf_free(&clients);
	return there;
}

/* `router`: of the default routing domain, or of a tenant's. */
static int tell_router(struct frr_vty *vty, const char *router)
{
	static const char *const lines[] = {"address-family ipv4 unicast", "distance bgp 20 200 201", "no distance bgp",
		"exit", "address-family ipv6 unicast", "distance bgp 20 200 201", "no distance bgp", "exit", "exit"};
	int r = frr_vty_run(vty, router, NULL);

	for (size_t i = 0; i < ARRAY_SIZE(lines) && r == 0; i++)
		r = frr_vty_run(vty, lines[i], NULL);
	return r;
}

/* The MACs, their addresses and the flood lists of bridged segments. */
static int tell_vnis(struct frr_vty *vty, const struct config *cfg, struct arena *arena)
{
	static const char *const lines[] = {
		"route-target import " NOBODYS, "no route-target import " NOBODYS, "exit-vni"};
	int r = frr_vty_run(vty, arena_printf(arena, "router bgp %u", cfg->bgp->as), NULL);

	if (r == 0)
		r = frr_vty_run(vty, "address-family l2vpn evpn", NULL);
	for (size_t i = 0; i < cfg->segments.n && r == 0; i++) {
		if (!overlay_is_evpn(cfg, &cfg->segments.v[i]))
			continue;
		r = frr_vty_run(vty, arena_printf(arena, "vni %u", cfg->segments.v[i].vni), NULL);
		for (size_t k = 0; k < ARRAY_SIZE(lines) && r == 0; k++)
			r = frr_vty_run(vty, lines[k], NULL);
	}
	for (int i = 0; i < 2 && r == 0; i++)
		r = frr_vty_run(vty, "exit", NULL);
	return r;
}

static bool tell(const char *run_dir, const struct config *cfg, bool vnis)
{
	_cleanup_(arena_freep) struct arena *arena = arena_new();
	_cleanup_(frr_vty_closep) struct frr_vty *vty = NULL;
	const uint32_t as = cfg->bgp->as;
	int r = frr_vty_open(frr_vty_path(run_dir, FRR_BGPD, arena), TIMEOUT, &vty);

	if (r == 0)
		r = frr_vty_run(vty, "enable", NULL);
	if (r == 0)
		r = frr_vty_run(vty, "configure terminal", NULL);
	if (r == 0)
		r = tell_router(vty, arena_printf(arena, "router bgp %u", as));
	for (size_t i = 0; i < cfg->tenants.n && r == 0; i++)
		if (cfg->tenants.v[i].l3_vni)
			r = tell_router(
				vty, arena_printf(arena, "router bgp %u vrf vrf-%s", as, cfg->tenants.v[i].name));
	if (r == 0 && vnis)
		r = tell_vnis(vty, cfg, arena);
	return r == 0;
}

static void note_zebra(struct frr_retell *r, pid_t zebra, uint64_t now)
{
	bool first = r->zebra == 0;

	r->zebra = zebra;
	r->swept = now + (ZEBRA_KEEPS + 1) * 1000000ULL;
	r->found = r->done = first;
}

void frr_retell_turn(struct frr_retell *r, const char *run_dir, pid_t zebra, const struct config *cfg, uint64_t now)
{
	if (zebra > 0 && zebra != r->zebra)
		note_zebra(r, zebra, now);
	if (zebra == 0 || (r->found && r->done))
		return;
	if (!r->found && bgpd_is_there(run_dir) && tell(run_dir, cfg, true)) {
		log_notice("bgpd has found the new zebra, and tells it all");
		r->found = true;
	} else if (r->found && now >= r->swept && tell(run_dir, cfg, false)) {
		r->done = true;
	}
}
