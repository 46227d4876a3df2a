/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of bridged segments; see overlay.h. Pure. The clamp and the answers to packets that are too big share one
 * chain a hook: each chain there costs about two percent of the packet rate, whatever is in it.
 *
 * TCP is clamped, and so nothing of it is too big but its trains (GSO), which are most of the large packets: they are
 * let go by the second comparison.
 *
 * Priority 200: after whoever may drop a packet; what is not forwarded is neither clamped nor answered.
 */
#include "overlay/overlay.h"

#include <stdio.h>

#include "config/config.h"
#include "gateway/base/str.h"
#include "gateway/nft/nft.h"
#include "overlay/bridge_parts.h"

static bool has_bridged(const struct config *cfg)
{
	for (size_t i = 0; cfg && cfg->vtep && i < cfg->segments.n; i++)
		if (cfg->segments.v[i].mode == MODE_BRIDGED)
			return true;
	return false;
}

void bridge_render(const struct config *cfg, const struct facts *facts, struct nft_model *m)
{
	/* The hook, what is too big there (all that this gateway takes in itself fits), who is snooped on. */
	static const char *const hooks[][3] = {
		{"forward", "bridged", "passed"}, {"input", NULL, "heard"}, {"output", "routed", NULL}};
	struct nft_table *t;
	uint32_t above;
	bool clamps, snoops, inspects;

	if (!has_bridged(cfg))
		return;
	t = nft_add_table(m, "bridge", NFT_TABLE_BRIDGE);
	clamps = mss_bridge_chains(cfg, facts, m, t);
	snoops = snoop_bridge_chains(cfg, m, t);
	inspects = inspect_bridge_chains(cfg, m, t);
	above = toobig_bridge_chains(cfg, facts, m, t);
	for (size_t i = 0; i < ARRAY_SIZE(hooks); i++) {
		bool answers = above > 0 && hooks[i][1], learns = snoops && hooks[i][2];
		bool judges = inspects && i < 2; /* what this gateway says itself is true */
		struct nft_chain *c;
		char hook[80];

		if (!clamps && !answers && !learns && !judges)
			continue;
		(void)snprintf(hook, sizeof(hook), "type filter hook %s priority 200; policy accept;", hooks[i][0]);
		c = nft_add_chain(m, t, hooks[i][0], hook);
		if (judges)
			inspect_bridge_rules(cfg, m, c);
		if (clamps)
			nft_add_rule(m, c, "tcp flags & (syn | rst) == syn jump clamp");
		if (learns) {
			nft_add_rule(m, c, "ether type arp jump %s", hooks[i][2]);
			nft_add_rule(m, c, "icmpv6 type { 135, 136 } jump %s", hooks[i][2]);
		}
		if (answers)
			nft_add_rule(m, c, "meta length > %u meta l4proto != tcp jump %s", above, hooks[i][1]);
	}
}
