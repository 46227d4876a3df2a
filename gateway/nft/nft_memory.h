/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What large sets have in them, remembered, so that a look need not read them: the kernel takes most of a second to
 * list 100,000 ranges. The kernel numbers its ruleset's generations; a set is as remembered while no other generation
 * came, or only those that we made ourselves, each a transaction that it has acknowledged. Whoever else changes
 * anything of nftables makes the next look read it all. After a start everything is read.
 *
 * There is one ruleset in a network namespace, and one of these in a process. For the loop's thread alone.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nft_model;
struct nft_set;
struct nft_table;

/* Sets of fewer elements are read each time. */
enum { NFT_LARGE = 2000 };

/* Gives s the elements that are remembered for it; false: none are, of this generation. Undone by nft_memory_leave().
 */
bool nft_memory_attach(struct nft_set *s, const struct nft_table *t, uint32_t generation);
/* What is remembered for s, by its name alone, as its elements: to be read before anything else is done here. */
bool nft_memory_look(struct nft_set *s, const struct nft_table *t, uint32_t generation);
/* m is not needed any more: what it took from the memory may go. */
void nft_memory_leave(const struct nft_model *m);

/* All of m, which was read at this generation, or taken from the memory. */
void nft_memory_take(const struct nft_model *m, uint32_t generation);
/* A table is as wanted now. To be followed by nft_memory_moved(). */
void nft_memory_written(const struct nft_table *want);
void nft_memory_deleted(const struct nft_table *t);
/* From one generation to another, by our own transactions alone. */
void nft_memory_moved(uint32_t from, uint32_t to);
void nft_memory_forget(void);
