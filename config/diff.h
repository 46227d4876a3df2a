/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The difference of two configs: a merge walk over the schema table. Each difference knows what it costs. Pure. */
#pragma once

#include <jansson.h>
#include <stddef.h>

#include "config/schema.h"

struct arena;
struct buf;
struct config;

enum diff_kind { DIFF_ADD, DIFF_REMOVE, DIFF_CHANGE };

struct diff_item {
	enum diff_kind kind;
	const char *path;     /* "segments gpu mss" */
	const char *old_text; /* canonical value, NULL for ADD; for an entry or mapping: its text in flow form */
	const char *new_text; /* NULL for REMOVE */
	enum change change;   /* a whole entry more or less is LIVE */
};

struct config_diff {
	struct arena *arena;
	struct diff_item *v; /* in schema order, then by key */
	size_t n, cap;
};

/* old or new may be NULL: nothing. Adds to d, whose arena the caller made. */
void config_diff(const struct config *old_cfg, const struct config *new_cfg, struct config_diff *d);

/*
 * One line each: "+ segments gpu: {...}", "- lines b", "~ segments gpu mss: auto -> 1300 (live)". What is added or
 * removed names its change class only where it costs something: "+ tenants a l3-vni: 5000 (recreate)".
 */
void config_diff_print(const struct config_diff *d, struct buf *out);
json_t *config_diff_to_json(const struct config_diff *d);
