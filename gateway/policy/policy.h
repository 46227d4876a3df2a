/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The policy: what may talk to what.
 *
 *   policy_check.c     its own rules, with file:line:col                        pure
 *   prefix_parse.c     prefix files                                             pure
 *   policy_model.c     names resolved                                           pure
 *   policy_class.c     addresses into classes                                   pure
 *   policy_compile.c   rules into look-ups                                      pure
 *   policy_eval.c      what becomes of a flow, by the words of the config       pure
 *   policy_render.c    look-ups into an nft model                               pure
 *   prefix_files.c, policy_flows.c                                              edge
 */
#pragma once

struct config;
struct diag;
struct facts;
struct nft_model;

/* The rules of `policy` beyond the schema's. */
void policy_rules_check(const struct config *cfg, struct diag *diag);
