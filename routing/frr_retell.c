/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See frr_retell.h. A changed administrative distance, and back, is what makes bgpd tell its whole table. */
#include "routing/frr_retell.h"

#include <stdio.h>
#include <string.h>

#include "config/config.h"
#include "gateway/base/arena.h"
#include "gateway/base/buf.h"
#include "gateway/base/cleanup.h"
#include "gateway/base/log.h"
#include "gateway/base/str.h"
#include "routing/frr_daemons.h"
#include "routing/frr_vty.h"

static const uint64_t TIMEOUT = 1000000;

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

static bool tell(const char *run_dir, const struct config *cfg)
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
	if (!r->found && bgpd_is_there(run_dir) && tell(run_dir, cfg)) {
		log_notice("bgpd has found the new zebra, and tells it all");
		r->found = true;
	} else if (r->found && now >= r->swept && tell(run_dir, cfg)) {
		r->done = true;
	}
}
