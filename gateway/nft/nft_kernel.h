/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's nft tables: what is there, and steps done. Edge. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct mnl_socket;
struct nft_model;
struct step;
struct txn;

/* Reads all tables whose name is ours into m (empty, with an arena) and seals it. 0 or -errno. To be left by
 * nft_memory_leave(). */
int nft_observe(struct nft_model *m);

/* The number of the kernel's ruleset. 0 or -errno. */
int nft_generation(uint32_t *ret);

/* The same of tables and named counters alone: quick, however large the sets are. */
int nft_observe_counters(struct nft_model *m);

/*
 * As subsystem.apply; payload: struct nft_step. Each run of element steps is one kernel transaction, and each run of
 * table steps: all or nothing.
 */
int nft_apply(struct txn *txn, const struct step *const *steps, size_t n);

/* The same for element steps only. */
int nft_apply_elems(struct txn *txn, const struct step *const *steps, size_t n);

/* Switches the monitor's events (nft_subsystem.h) off and on; what happens in between, the next look sees. */
void nft_monitor_listen(bool on);

/* Commands as one transaction, for what is no model's; false: *ret_why has nft's words. */
bool nft_run(const char *commands, struct buf *ret_why);

void nft_socket_closep(struct mnl_socket **s);
