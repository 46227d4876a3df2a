/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Protection against what no policy has a rule for: sources that are not where they say, fragments, and who begins more
 * than he may. An nft table of its own, whose base chains stand before the policy's. Pure.
 */
#pragma once

struct config;
struct nft_model;

#define NFT_TABLE_PROTECT "fairway_protect" /* inet */
/* What it dropped: named counters. */
#define PROTECT_COUNTER_SPOOFED "spoofed"
#define PROTECT_COUNTER_FRAGMENT "fragment"
#define PROTECT_COUNTER_FLOOD "flood"
#define PROTECT_COUNTER_BLOCKED "blocked"
/* Sets of addresses of who scans, each with its time: what they are is not part of the config. */
#define PROTECT_SET_BLOCKED4 "blocked4"
#define PROTECT_SET_BLOCKED6 "blocked6"

/* Adds to m; the caller seals. Nothing where cfg is NULL or has no policy. */
void protect_render(const struct config *cfg, struct nft_model *m);
