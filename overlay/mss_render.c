/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The TCP MSS clamp; see overlay.h. Pure. Every SYN and SYN-ACK that enters or leaves a VXLAN device is seen: bridged
 * or routed, forwarded or the gateway's own, and in a tenant's VRF.
 *
 *   bridged segments: family bridge, where the device is a port; forward, input and output see it as such.
 *   routed segments: family inet; prerouting and postrouting are the only hooks that see the VXLAN device itself for
 *   forwarded packets, the gateway's own and those of a VRF alike (the hooks between show the VRF device).
 *
 * The rules are few: one per family, direction and value. Which devices a value is for stands in sets, whose elements
 * count, so each segment has its counters and a new one is a new element. The size is compared before the look-up: only
 * real clamps are counted, and a smaller MSS is never raised.
 */
#include "overlay/overlay.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "gateway/base/arena.h"
#include "gateway/base/str.h"
#include "gateway/nft/nft.h"
#include "overlay/bridge_parts.h"
#include "overlay/mtu.h"

/* A SYN or SYN-ACK, as the only packets with the option. */
#define IS_SYN "tcp flags & (syn | rst) == syn"

struct clamp {
	bool bridged;
	unsigned version; /* 4 or 6 */
	uint32_t mss;
	char device[16];
};

static int clamp_cmp(const void *pa, const void *pb)
{
	const struct clamp *a = pa, *b = pb;

	if (a->bridged != b->bridged)
		return a->bridged ? -1 : 1;
	if (a->version != b->version)
		return a->version < b->version ? -1 : 1;
	if (a->mss != b->mss)
		return cmp_u32(a->mss, b->mss);
	return strcmp(a->device, b->device);
}

/* All of a config, bridged before routed, then by version and value. */
static struct clamp *find_clamps(
	const struct config *cfg, const struct facts *facts, struct arena *arena, size_t *ret_n, size_t *ret_bridged)
{
	size_t n = 0, bridged = 0, n_l3_vnis;
	const struct segment *l3_vnis = segment_of_l3_vnis(cfg, arena, &n_l3_vnis);
	struct clamp *v = arena_array(arena, 2 * (cfg->segments.n + n_l3_vnis), sizeof(*v));

	for (size_t i = 0; i < cfg->segments.n + n_l3_vnis; i++) {
		bool is_l3_vni = i >= cfg->segments.n;
		const struct segment *seg = is_l3_vni ? &l3_vnis[i - cfg->segments.n] : &cfg->segments.v[i];
		struct clamp clamp = {.bridged = seg->mode == MODE_BRIDGED};
		struct segment_mtu mtu;

		mtu_of_segment(cfg, facts, seg, &mtu);
		/* What is routed comes and goes by the bridge of an L3 VNI. */
		if (is_l3_vni)
			overlay_bridge_name(seg->vni, clamp.device);
		else
			overlay_vxlan_name(seg->vni, clamp.device);
		for (unsigned version = 4; version <= 6; version += 2) {
			clamp.version = version;
			clamp.mss = version == 4 ? mtu.mss_ipv4 : mtu.mss_ipv6;
			if (clamp.mss == 0)
				continue;
			bridged += clamp.bridged;
			v[n++] = clamp;
		}
	}
	if (n > 1)
		qsort(v, n, sizeof(*v), clamp_cmp);
	*ret_n = n;
	*ret_bridged = bridged;
	return v;
}

/* A direction: where the chain with its rules hangs, and what names the device there. */
struct direction {
	const char *name; /* of the sets: "in" */
	const char *device;
	struct nft_chain *chain;
};

static struct nft_set *add_value(
	struct nft_model *m, struct nft_table *t, const struct direction *d, const struct clamp *c)
{
	static const char *const versions[2][2] = {
		{"meta nfproto ipv4", "meta nfproto ipv6"}, {"meta protocol ip", "meta protocol ip6"}};
	char name[32], object[48];

	(void)snprintf(name, sizeof(name), NFT_SETS_CLAMP "%s%u_%u", d->name, c->version, c->mss);
	(void)snprintf(object, sizeof(object), "the MSS clamp (IPv%u to %u, %s)", c->version, c->mss, d->name);
	nft_add_rule(m, d->chain, "%s tcp option maxseg size > %u %s @%s tcp option maxseg size set %u",
		versions[c->bridged][c->version == 6], c->mss, d->device, name, c->mss);
	return nft_add_set(m, t, name, "type ifname; counter", object);
}

static void add_device(struct nft_model *m, struct nft_set *set, const char *device)
{
	uint8_t key[16];

	nft_key_ifname(device, key);
	nft_add_elem(m, set, key, sizeof(key), "\"%s\"", device);
}

static void add_clamps(
	struct nft_model *m, struct nft_table *t, const struct direction dirs[2], const struct clamp *v, size_t n)
{
	struct nft_set *sets[2] = {NULL, NULL};

	for (size_t i = 0; i < n; i++) {
		bool another = i == 0 || v[i].version != v[i - 1].version || v[i].mss != v[i - 1].mss;

		for (size_t d = 0; d < 2; d++) {
			if (another)
				sets[d] = add_value(m, t, &dirs[d], &v[i]);
			add_device(m, sets[d], v[i].device);
		}
	}
}

bool mss_bridge_chains(const struct config *cfg, const struct facts *facts, struct nft_model *m, struct nft_table *t)
{
	size_t n, bridged;
	const struct clamp *v = find_clamps(cfg, facts, m->arena, &n, &bridged);
	struct nft_chain *clamp;

	if (bridged == 0)
		return false;
	clamp = nft_add_chain(m, t, "clamp", NULL);
	add_clamps(m, t, (struct direction[]){{"in", "iifname", clamp}, {"out", "oifname", clamp}}, v, bridged);
	return true;
}

static void render_routed(struct nft_model *m, const struct clamp *v, size_t n)
{
	struct nft_table *t = nft_add_table(m, "inet", "fairway_mss");
	struct direction dirs[] = {
		{"in", "iifname", nft_add_chain(m, t, "clamp_in", NULL)},
		{"out", "oifname", nft_add_chain(m, t, "clamp_out", NULL)},
	};

	add_clamps(m, t, dirs, v, n);
	nft_add_rule(m, nft_add_chain(m, t, "prerouting", "type filter hook prerouting priority -150; policy accept;"),
		IS_SYN " jump clamp_in");
	nft_add_rule(m,
		nft_add_chain(m, t, "postrouting", "type filter hook postrouting priority -150; policy accept;"),
		IS_SYN " jump clamp_out");
}

void mss_render(const struct config *cfg, const struct facts *facts, struct nft_model *m)
{
	size_t n, bridged;
	const struct clamp *v;

	if (!cfg || !cfg->vtep)
		return;
	v = find_clamps(cfg, facts, m->arena, &n, &bridged);
	if (n > bridged)
		render_routed(m, v + bridged, n - bridged);
}
