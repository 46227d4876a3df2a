/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the kernel says about nft tables (nfnetlink messages) as a model. Pure, and fuzzed: no byte is believed. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct nft_model;
struct nlmsghdr;

/*
 * Adds what one message of a dump says to m: tables whose name is ours, and the chains, sets, rules and elements of
 * those of them that carry our comment. To be fed in this order; anything else is skipped. 0, or -EPROTO where a
 * message is not well-formed (m may then have a part of it).
 */
int nft_parse(const struct nlmsghdr *nlh, struct nft_model *m);

/* Is this event about a table whose name is ours? */
bool nft_parse_is_ours(const struct nlmsghdr *nlh);

/* "inet" <-> NFPROTO_INET; NULL and 0 (NFPROTO_UNSPEC) for what is not known. */
const char *nft_family_name(uint8_t family);
uint8_t nft_family_number(const char *name);
