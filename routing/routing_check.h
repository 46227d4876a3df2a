/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rules of BGP, BFD and EVPN beyond the schema's: what FRR or a provider would refuse, or take and then do
 * something else with. Pure. As all checks it may see the sound part of a file with errors (config/draft.h), so what is
 * absent is concluded from only where CONFIG_IS_WHOLE says that nothing is missing.
 */
#pragma once

struct config;
struct diag;
struct sessions;

void routing_check(const struct config *cfg, struct diag *diag);

/* Its parts. */
void neighbor_check(const struct config *cfg, struct diag *diag);
void policy_check(const struct config *cfg, struct diag *diag); /* prefix lists, aggregates */
void preset_check(const struct config *cfg, const struct sessions *sessions, struct diag *diag);
void evpn_check(const struct config *cfg, const struct sessions *sessions, struct diag *diag);
