/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Spreading a remote's flows over its lines; see overlay.h. Pure. A VXLAN device keeps the route of its last packet to
 * a remote (a dst cache, per CPU) and all flows follow it: with two lines, one stays idle whatever the multipath route
 * says (seen on 6.18: 200 flows, 0 against 200). A packet with a mark is routed by itself, by the hash of its outer
 * ports: 99 against 101. So what goes into a segment with several lines gets a mark, where it has none.
 *
 * The mark costs a route look-up per packet; segments with one line do not pay it.
 */
#include "overlay/overlay.h"

#include "config/config.h"
#include "gateway/nft/nft.h"
#include "overlay/model.h"

static bool has_choice(const struct config *cfg, const struct segment *seg)
{
	for (size_t i = 0; i < seg->remotes.n; i++) {
		const struct remote *remote = config_remote(cfg, seg->remotes.v[i]);

		if (remote && overlay_has_choice(cfg, remote))
			return true;
	}
	return false;
}

static struct nft_set *add_table(struct nft_model *m, const char *family, const char *name)
{
	struct nft_table *t = nft_add_table(m, family, name);
	/* Late: a mark that somebody else sets is one too. */
	struct nft_chain *c =
		nft_add_chain(m, t, "spread", "type filter hook postrouting priority 300; policy accept;");

	nft_add_rule(m, c, "meta mark 0 oifname @multiline meta mark set 0x%x", FAIRWAY_SPREAD_MARK);
	return nft_add_set(m, t, "multiline", "type ifname", "the spreading over lines");
}

void spread_render(const struct config *cfg, struct nft_model *m)
{
	struct nft_set *bridged = NULL, *routed = NULL;

	for (size_t i = 0; cfg && cfg->vtep && i < cfg->segments.n; i++) {
		const struct segment *seg = &cfg->segments.v[i];
		struct nft_set **set = seg->mode == MODE_BRIDGED ? &bridged : &routed;
		char device[16];
		uint8_t key[16];

		if (!has_choice(cfg, seg))
			continue;
		if (!*set)
			*set = seg->mode == MODE_BRIDGED ? add_table(m, "bridge", "fairway_spread_bridge")
							 : add_table(m, "inet", "fairway_spread");
		overlay_vxlan_name(seg->vni, device);
		nft_key_ifname(device, key);
		nft_add_elem(m, *set, key, sizeof(key), "\"%s\"", device);
	}
}
