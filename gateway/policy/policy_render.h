/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The policy as an nft table. The names in it are for people too: chain and counter rule_10 are rule 10's.
 *
 * A flow's conntrack mark says who accepted it, under which policy: bits 0-19 the rule (0: a default), bits 20-30 the
 * epoch, bit 31: it was accepted once, and denied when the policy changed. Another policy is another epoch. A flow of
 * an older one is looked up again, by the next packet from who began it.
 */
#pragma once

#include <stdint.h>

struct config;
struct facts;
struct nft_model;

#define NFT_TABLE_POLICY "fairway_policy" /* inet */
#define POLICY_COUNTER_RULE "rule_"	  /* and its seq: flows that it decided */
#define POLICY_COUNTER_DEFAULT "default"
#define POLICY_COUNTER_BETWEEN "between"
#define POLICY_COUNTER_INVALID "invalid"
#define POLICY_COUNTER_LIMITED "limited"
#define POLICY_COUNTER_CUT "cut"
#define POLICY_COUNTER_OWN "own"

/*
 * The class maps, class4 and class6: one serves both ends of a flow. And recent4, recent6 of the same kind, asked
 * behind them: what a prefix file has changed since the last look, see gateway/filter/policy_quick.h; else empty.
 */
#define POLICY_CLASS4 "typeof ip saddr : meta cpu; flags interval;"
#define POLICY_CLASS6 "typeof ip6 saddr : meta cpu; flags interval;"

enum { POLICY_EPOCH_SHIFT = 20, POLICY_EPOCH_MAX = 2047, POLICY_LOG_GROUP = 18020 };
#define POLICY_MARK_RULE UINT32_C(0xfffff)
#define POLICY_MARK_EPOCH UINT32_C(0x7ff00000)
#define POLICY_MARK_DENIED UINT32_C(0x80000000)

/* Adds to m; the caller seals. Nothing where cfg is NULL or has no policy. m->have: what stands in the kernel now. */
void policy_render(const struct config *cfg, const struct facts *facts, struct nft_model *m);

/* The epoch of the policy that stands in an observed or rendered model; 0: none. */
uint32_t policy_epoch_of(const struct nft_model *m);
