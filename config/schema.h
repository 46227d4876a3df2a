/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The schema table as data: everything that walks a config (decode, print, diff, completion, exports) walks these.
 * Nothing outside config/ needs it; code that means one keyword uses the struct member.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/config.h"

struct arena;
struct buf;
struct type;

enum change { LIVE, RESTART, RECREATE };

enum { F_KEY = 1 << 0, F_REQUIRED = 1 << 1, F_SECRET = 1 << 2, F_LATER = 1 << 3 };

enum field_kind { FIELD_LEAF, FIELD_LIST, FIELD_NODE, FIELD_NODES };

struct word {
	const char *word;
	const char *help;
};

struct words {
	const char *name;
	const char *help;
	const struct word *v; /* index is the enum's value */
	size_t n;
};

struct limit {
	bool has_range;
	uint64_t min, max;
	const struct words *words;
	const char *ref; /* "/lines": see schema_target() */
};

struct field {
	const char *key;
	enum field_kind kind;
	const struct type *type; /* leaf and list */
	struct limit limit;
	unsigned flags;
	enum change change;
	const char *def; /* text of the default, or NULL */
	const char *help;
	size_t offset;
	const struct object_type *object; /* node and nodes */
};

struct object_type {
	const char *name;
	const char *help;
	size_t size;
	const struct field *fields;
	size_t n_fields;
};

/* The root, `struct config`; and any object by name (NULL if unknown). */
const struct object_type *schema_root(void);
const struct object_type *schema_object(const char *name);
const struct words *schema_words(const char *name);

const struct field *schema_field(const struct object_type *type, const char *key); /* NULL if unknown */
const struct field *schema_key(const struct object_type *type);			   /* the F_KEY leaf, or NULL */
size_t schema_field_index(const struct object_type *type, const struct field *field);
const char *change_name(enum change change); /* "live", "restart", "recreate" */

/* A list member seen without its element type: LIST and NODES begin with these two. */
struct vec {
	const void *v;
	size_t n;
};
struct vec schema_vec(const void *obj, const struct field *field);
const void *schema_value(const void *obj, const struct field *field); /* address of a leaf's value */
const void *schema_node(const void *obj, const struct field *field);  /* NULL when absent */

/*
 * Where a reference leads: the rows from the root to a NODES row, "/lines" or "/bgp/policies". All on the way are
 * mappings.
 */
enum { TARGET_DEPTH = 4 };
struct target {
	const struct field *rows[TARGET_DEPTH];
	size_t n;
	const struct field *list; /* the last of them */
};
struct target schema_target(const char *ref);
struct vec schema_target_list(const struct config *cfg, const struct target *target); /* empty where it is absent */
const char *schema_target_str(const struct target *target, const char *separator, struct arena *arena);

/* Where a value stands: "segments[gpu].macs[02:00:00:00:00:01].remote". A chain on the walker's stack, root last. */
struct path {
	const struct path *up;
	const char *key;  /* of the row */
	const char *name; /* entry of a list: its key's text; or NULL */
	size_t number;	  /* entry of a list without a usable key: its place from 1; or 0 */
};
const char *path_str(const struct path *path, struct arena *arena);

/* Calls visit for every leaf and every item of a list of values that the file gave. */
struct visit {
	const struct field *field;
	const void *value;
	struct loc loc;
	const struct path *path;
};
typedef void (*visit_fn)(const struct visit *v, void *user);
void schema_walk(const struct config *cfg, visit_fn visit, void *user);
