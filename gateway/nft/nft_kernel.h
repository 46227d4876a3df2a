/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's nft tables: what is there, and steps done. Edge. */
#pragma once

#include <stddef.h>

struct nft_model;
struct step;
struct txn;

/* Reads all tables whose name is ours into m (empty, with an arena) and seals it. 0 or -errno. */
int nft_observe(struct nft_model *m);

/* All n steps (payload: struct nft_step) in one transaction: all or nothing. As subsystem.apply. */
int nft_apply(struct txn *txn, const struct step *const *steps, size_t n);
