/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `show filter`: what the observed nft tables count, by segment. Pure. */
#pragma once

#include <jansson.h>

struct config;
struct nft_model;

/*
 * {"tables": [{"family", "name", "chains", "rules", "sets", "elements"}], "guard": {"dropped-packets",
 * "dropped-bytes"}, "clamp": [{"segment", "packets", "bytes"}], "too-big": [likewise]}; cfg NULL: no segments. The
 * caller owns it.
 */
json_t *nft_show(const struct config *cfg, const struct nft_model *have);
