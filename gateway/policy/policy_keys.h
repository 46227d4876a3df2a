/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How a run's elements are written: the spec of its map, the words before it, and each key. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gateway/base/buf.h"
#include "gateway/policy/policy_compile.h"

enum { POLICY_KEY_MAX = 48 };

struct policy_run_key {
	uint8_t low[POLICY_KEY_MAX], high[POLICY_KEY_MAX];
	size_t len;
	struct buf text;
};

/* Ranges of ports: the map has intervals, and its numbers are in network order. */
bool policy_run_has_ranges(const struct policy_run *run);
/* No part at all: everything matches. */
bool policy_run_is_everything(const struct policy_run *run);
/* "iifname . oifname . meta l4proto . th dport" */
void policy_run_parts(const struct policy_run *run, struct buf *out);
/*
 * The name of its map: by hook, level, shape, and the layout (policy_layout.c). One of ranges is made anew whenever it
 * changes, under another name: see nft.h.
 */
void policy_run_name(const struct policy_model *m, const struct policy_run *run, unsigned layout, struct buf *out);
/* The same without level and layout. */
void policy_shape_name(const struct policy_model *m, const struct policy_shape *s, struct buf *out);
/* A name as an identifier may have it. */
void policy_put_clean(const char *text, struct buf *out);
/* Of a set of addresses that is WIDE, as a side: "wide_src_group_storage". */
void policy_wide_name(const struct policy_model *m, uint32_t set, bool is_from, struct buf *out);
/* key->text is reset first; the caller frees it in the end. */
void policy_run_key(const struct policy_model *m, const struct policy_run *run, const struct policy_elem *e,
	struct policy_run_key *key);
