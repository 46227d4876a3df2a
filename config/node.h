/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The node tree between YAML and the structs: scalars, mappings and sequences, each with its place. A scalar is a text;
 * the schema alone says what it means, so `no` may be a site's name and 010 is never eight.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "config/diag.h"

struct arena;

enum node_kind {
	NODE_SCALAR,
	NODE_MAPPING,
	NODE_SEQUENCE,
	NODE_BAD, /* already reported; whoever meets it stays silent */
};

struct node {
	enum node_kind kind;
	bool quoted; /* a scalar in quotes, or a block of text */
	struct loc loc;
	const char *text; /* of a scalar */

	const char *key; /* in a mapping */
	struct loc key_loc;

	bool repeated;	/* its key is given again further down */
	bool has_stray; /* a mapping: something stood there as a key that is none */

	struct node *next;	   /* in the same mapping or sequence */
	struct node *first, *last; /* children, in the file's order */
	size_t n;		   /* children */
};

enum { YAML_DEPTH_MAX = 32, YAML_NODES_MAX = 2000000, YAML_SCALAR_MAX = 4096 };

/* Text -> tree in `arena`. NULL if the text is no YAML document that we take; diag then says why. */
struct node *yaml_parse(const char *text, size_t len, struct arena *arena, struct diag *diag);
