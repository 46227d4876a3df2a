/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the kernel hands to fairwayd of ARP and neighbor discovery, and what it counts of it; see snoop.h. Pure.
 *
 * A frame to a group comes by the input hook once, and by the forward hook once for each port that it leaves by; one to
 * a single host by one of them. So the first kind is heard in input, the second in both. Each port has a limit of its
 * own, so that who floods silences no one else; what is left out is said again.
 *
 * The counters of the elements: what members ask, and what of that still goes into the VXLAN device. The difference was
 * suppressed.
 */
#include <stdio.h>

#include "config/config.h"
#include "gateway/nft/nft.h"
#include "overlay/bridge_parts.h"
#include "overlay/overlay.h"
#include "overlay/snoop.h"

enum { HEARD_PER_SECOND = 200, HEARD_AT_ONCE = 1000 };

#define TO_GROUP "ether daddr & 01:00:00:00:00:00 == 01:00:00:00:00:00"

struct sets {
	struct nft_set *layer2, *gateway, *asked, *flooded;
};

bool overlay_suppresses(const struct config *cfg, const struct segment *seg)
{
	return overlay_is_evpn(cfg, seg) && seg->neighbor_suppression;
}

static void add_device(struct nft_model *m, struct nft_set *set, const char *device)
{
	uint8_t key[16];

	nft_key_ifname(device, key);
	nft_add_elem(m, set, key, sizeof(key), "\"%s\"", device);
}

static void add_segment(struct nft_model *m, const struct sets *sets, const struct segment *seg)
{
	char device[16];

	for (size_t i = 0; i < seg->members.n; i++) {
		add_device(m, seg->gateway.n > 0 ? sets->gateway : sets->layer2, seg->members.v[i]);
		add_device(m, sets->asked, seg->members.v[i]);
	}
	overlay_vxlan_name(seg->vni, device);
	add_device(m, sets->flooded, device);
}

static void add_log(struct nft_model *m, struct nft_chain *c, const char *set, const char *prefix)
{
	nft_add_rule(m, c, "iifname @%s log prefix \"%s\" group %d snaplen %d", set, prefix, SNOOP_GROUP, SNOOP_BYTES);
}

static void add_count(struct nft_model *m, struct nft_chain *c, const char *device, const char *set)
{
	nft_add_rule(m, c, TO_GROUP " arp operation request %s @%s", device, set);
	nft_add_rule(m, c, TO_GROUP " icmpv6 type nd-neighbor-solicit %s @%s", device, set);
}

static bool has_snooped(const struct config *cfg)
{
	for (size_t i = 0; i < cfg->segments.n; i++)
		if (overlay_suppresses(cfg, &cfg->segments.v[i]))
			return true;
	return false;
}

bool snoop_bridge_chains(const struct config *cfg, struct nft_model *m, struct nft_table *t)
{
	struct nft_chain *learn, *heard, *passed;
	struct sets sets;
	char limit[80];

	if (!has_snooped(cfg))
		return false;
	(void)snprintf(limit, sizeof(limit), "type ifname; limit rate %d/second burst %d packets", HEARD_PER_SECOND,
		HEARD_AT_ONCE);
	sets.layer2 = nft_add_set(m, t, "snoop_layer2", limit, "whose neighbors are learned");
	sets.gateway = nft_add_set(m, t, "snoop_gateway", limit, "whose neighbors are learned");
	sets.asked = nft_add_set(m, t, NFT_SET_ASKED, "type ifname; counter", "the questions for neighbors");
	sets.flooded = nft_add_set(m, t, NFT_SET_FLOODED, "type ifname; counter", "the questions that are flooded");
	learn = nft_add_chain(m, t, "learn", NULL);
	add_log(m, learn, "snoop_layer2", SNOOP_LAYER2);
	add_log(m, learn, "snoop_gateway", SNOOP_GATEWAY);
	heard = nft_add_chain(m, t, "heard", NULL);
	add_count(m, heard, "iifname", NFT_SET_ASKED);
	nft_add_rule(m, heard, "goto learn");
	passed = nft_add_chain(m, t, "passed", NULL);
	add_count(m, passed, "oifname", NFT_SET_FLOODED);
	nft_add_rule(m, passed, TO_GROUP " return");
	nft_add_rule(m, passed, "goto learn");
	for (size_t i = 0; i < cfg->segments.n; i++)
		if (overlay_suppresses(cfg, &cfg->segments.v[i]))
			add_segment(m, &sets, &cfg->segments.v[i]);
	return true;
}
