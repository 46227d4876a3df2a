/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A config and the facts as the configuration of each FRR daemon, line by line as FRR itself prints it: so running
 * equals intended can be seen, and a default never shows as a difference. Pure.
 */
#pragma once

#include <stdbool.h>

struct config;
struct facts;
struct frr_conf;

/* Does the config need FRR at all? bgp, or bfd on a line. */
bool frr_is_wanted(const struct config *cfg);

/* Each fills an empty conf; cfg NULL leaves it so. Passwords come from facts (facts_secret()). */
void frr_render_zebra(const struct config *cfg, const struct facts *facts, struct frr_conf *conf);
void frr_render_bfdd(const struct config *cfg, const struct facts *facts, struct frr_conf *conf);
void frr_render_bgpd(const struct config *cfg, const struct facts *facts, struct frr_conf *conf);
