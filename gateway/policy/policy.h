/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The policy: what may talk to what.
 *
 *   policy_check.c     its own rules, with file:line:col                        pure
 *   policy_model.c     names resolved                                           pure
 *   policy_peers.c     who reaches the gateway without a rule                   pure
 *   policy_class.c     addresses into classes                                   pure
 *   policy_compile.c   rules into look-ups                                      pure
 *   policy_delta.c     a few prefixes more or less                              pure
 *   policy_eval.c      what becomes of a flow, by the words of the config       pure
 *   policy_render.c    look-ups into an nft model; _base, _input: what is fixed pure
 *   protect_render.c   forged sources, fragments, floods, who scans             pure
 *
 * Prefix files, live flows and scans are the daemon's: prefix_watch.c, policy_flows.c, scan_watch.c in gateway/daemon.
 */
#pragma once

struct config;
struct diag;
struct facts;
struct nft_model;

/* The rules of `policy` beyond the schema's. */
void policy_rules_check(const struct config *cfg, struct diag *diag);
