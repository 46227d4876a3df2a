/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The subsystem of all our nft tables (gateway/filter): renders (overlay guard, MSS clamp), observes and changes
 * elements by netlink, makes tables by libnftables. And the events of such tables (nft_monitor.c).
 */
#pragma once

#include <stdint.h>

struct config;
struct facts;
struct nft_model;

extern const struct subsystem nft_subsystem;

/* All tables that cfg wants, sealed. Pure. */
void nft_desired(const struct config *cfg, const struct facts *facts, struct nft_model *m);

/* The epoch of the policy, as it was seen last; 0: there was none. */
uint32_t nft_policy_epoch(void);

/* Events of other people's (or our) nft changes, like overlay/monitor.h. */
struct nft_monitor;
int nft_monitor_open(struct nft_monitor **ret);
void nft_monitor_close(struct nft_monitor *m);
int nft_monitor_fd(const struct nft_monitor *m);
int nft_monitor_read(struct nft_monitor *m); /* 1: our tables or a flush; 0: nothing of ours; -errno */
