/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See snoop_show.h. */
#include "overlay/snoop_show.h"

#include <stdio.h>
#include <stdlib.h>

#include "config/config.h"
#include "gateway/base/arena.h"
#include "gateway/base/cleanup.h"
#include "gateway/nft/nft.h"
#include "gateway/nft/nft_kernel.h"
#include "overlay/overlay.h"

static int elem_cmp(const void *a, const void *b)
{
	return nft_key_cmp(a, b);
}

static uint64_t packets_of(const struct nft_table *t, const char *name, const char *device)
{
	const struct nft_set *set = t ? nft_table_set(t, name) : NULL;
	struct nft_elem wanted = {.key_len = 16};
	const struct nft_elem *e = NULL;

	nft_key_ifname(device, wanted.key);
	if (set && set->n_elems > 0)
		e = bsearch(&wanted, set->elems, set->n_elems, sizeof(*set->elems), elem_cmp);
	return e ? e->packets : 0;
}

static json_t *segment_json(const struct nft_table *t, const struct segment *seg)
{
	uint64_t asked = 0, flooded;
	char device[16];

	for (size_t i = 0; i < seg->members.n; i++)
		asked += packets_of(t, NFT_SET_ASKED, seg->members.v[i]);
	overlay_vxlan_name(seg->vni, device);
	flooded = packets_of(t, NFT_SET_FLOODED, device);
	return json_pack("{s:I, s:I, s:I}", "asked", (json_int_t)asked, "flooded", (json_int_t)flooded, "suppressed",
		(json_int_t)(asked > flooded ? asked - flooded : 0));
}

json_t *snoop_show(const struct config *cfg)
{
	_cleanup_(arena_freep) struct arena *arena = arena_new();
	struct nft_model have = {.arena = arena};
	const struct nft_table *t;
	json_t *all;
	char vni[12];

	if (nft_observe(&have) < 0)
		return NULL;
	t = nft_model_table(&have, "bridge", NFT_TABLE_BRIDGE);
	all = json_object();
	for (size_t i = 0; i < cfg->segments.n; i++) {
		if (!overlay_suppresses(cfg, &cfg->segments.v[i]))
			continue;
		(void)snprintf(vni, sizeof(vni), "%u", cfg->segments.v[i].vni);
		json_object_set_new(all, vni, segment_json(t, &cfg->segments.v[i]));
	}
	return all;
}
