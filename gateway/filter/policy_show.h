/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `fairway show policy`: each rule with what it decided. Pure. */
#pragma once

#include <jansson.h>

struct config;
struct facts;
struct nft_model;

/* cfg has a policy. have: counters of our tables. The caller owns the result. */
json_t *policy_show(const struct config *cfg, const struct facts *facts, const struct nft_model *have);
