/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What stands in family bridge: the chains of each concern, which bridge_render.c hangs into the hooks. For the
 * overlay's renderers only. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct config;
struct facts;
struct nft_chain;
struct nft_model;
struct nft_table;

/* mss_render.c: chain "clamp", for every SYN. False, and no chain, where no bridged segment is clamped. */
bool mss_bridge_chains(const struct config *cfg, const struct facts *facts, struct nft_model *m, struct nft_table *t);

/*
 * toobig_render.c: chains "bridged" and "routed", for packets longer than what it returns. 0, and no chains, where no
 * packet can be too big.
 */
uint32_t toobig_bridge_chains(
	const struct config *cfg, const struct facts *facts, struct nft_model *m, struct nft_table *t);

/*
 * snoop_render.c: chains "heard" and "passed", for ARP and neighbor discovery that this gateway takes in and that it
 * forwards. False, and no chains, where no segment suppresses any.
 */
bool snoop_bridge_chains(const struct config *cfg, struct nft_model *m, struct nft_table *t);

/*
 * inspect_render.c: who lies about addresses. False, and no chains, where no segment is inspected; else the rules go
 * first into the chains of what is forwarded and of what this gateway takes in.
 */
bool inspect_bridge_chains(const struct config *cfg, struct nft_model *m, struct nft_table *t);
void inspect_bridge_rules(const struct config *cfg, struct nft_model *m, struct nft_chain *c);
