/* SPDX-License-Identifier: GPL-2.0-or-later */
/* struct config: making one from text, and finding things in it; see config.h. */
#include "config/config.h"

#include <stdlib.h>
#include <string.h>

#include "config/decode.h"
#include "config/draft.h"
#include "config/node.h"
#include "config/schema.h"
#include "config/types.h"
#include "gateway/base/arena.h"
#include "gateway/base/cleanup.h"
#include "gateway/base/str.h"

/* --- access --- */

static const struct object_type *the_object(const char *name)
{
	const struct object_type *type = schema_object(name);

	if (!type)
		abort(); /* the CONFIG_ macros name a struct, and every one has its table */
	return type;
}

static size_t index_of(const struct object_type *type, size_t offset)
{
	for (size_t i = 0; i < type->n_fields; i++)
		if (type->fields[i].offset == offset)
			return i;
	abort();
}

struct loc config_at(const char *object, const struct entry *entry, size_t offset)
{
	return entry->at[index_of(the_object(object), offset)];
}

bool config_is_set(const char *object, const struct entry *entry, size_t offset)
{
	return entry->set >> index_of(the_object(object), offset) & 1;
}

bool config_is_whole(const struct config *cfg, size_t offset)
{
	return !(cfg->entry.unsure >> index_of(schema_root(), offset) & 1);
}

/* Binary search among entries that are sorted by a text. */
static const void *find(struct vec list, size_t size, size_t key_offset, const char *name)
{
	size_t low = 0, high = list.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const char *entry = (const char *)list.v + middle * size;
		int c = str_cmp(name, *(const char *const *)(const void *)(entry + key_offset));

		if (c == 0)
			return entry;
		if (c < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

#define LOOKUP(object, list)                                                                                           \
	const struct object *config_##object(const struct config *cfg, const char *name)                               \
	{                                                                                                              \
		struct vec vec = {cfg->list.v, cfg->list.n};                                                           \
                                                                                                                       \
		return find(vec, sizeof(struct object), offsetof(struct object, name), name);                          \
	}
LOOKUP(interface, interfaces)
LOOKUP(line, lines)
LOOKUP(remote, remotes)
LOOKUP(tenant, tenants)
LOOKUP(segment, segments)
#undef LOOKUP

/* --- references --- */

struct refs {
	const struct config *cfg;
	struct arena *scratch;
	struct diag *diag;
};

enum { SUGGEST_MAX = 100 }; /* errors that get a suggestion: each looks at the whole list */

/* "bgp_policy" -> "bgp policy" */
static const char *spoken(const char *name, struct arena *arena)
{
	char *text = arena_strdup(arena, name);

	for (char *p = text; *p; p++)
		if (*p == '_')
			*p = ' ';
	return text;
}

static void report_unknown(
	const struct refs *r, const struct visit *v, const struct target *target, struct vec list, const char *name)
{
	const struct object_type *type = target->list->object;
	const struct field *key = schema_key(type);
	struct nearest near = {.word = name};
	const char *path = path_str(v->path, r->scratch), *what = spoken(type->name, r->scratch);

	for (size_t i = 0; i < list.n && r->diag->n_errors < SUGGEST_MAX; i++)
		nearest_try(&near, *(const char *const *)schema_value((const char *)list.v + i * type->size, key));
	if (near.best)
		diag_error(r->diag, v->loc, "%s: there is no %s \"%s\"; did you mean \"%s\"?", path, what, name,
			near.best);
	else
		diag_error(r->diag, v->loc, "%s: there is no %s \"%s\"; define it under %s", path, what, name,
			schema_target_str(target, ".", r->scratch));
}

/* May the list have entries that an error keeps from us? */
static bool may_have_more(const struct config *cfg, const struct target *target)
{
	const struct object_type *type = schema_root();
	const struct entry *entry = &cfg->entry;

	for (size_t i = 0; i < target->n && entry; i++) {
		const struct field *row = target->rows[i];

		if ((entry->unnamed | (entry->unsure & ~entry->set)) >> schema_field_index(type, row) & 1)
			return true;
		entry = row->kind == FIELD_NODE ? schema_node(entry, row) : NULL;
		type = row->object;
	}
	return false;
}

static void check_ref(const struct visit *v, void *user)
{
	const struct refs *r = user;
	struct target target;
	struct vec list;
	const char *name;

	if (!v->field->limit.ref)
		return;
	target = schema_target(v->field->limit.ref);
	list = schema_target_list(r->cfg, &target);
	name = *(const char *const *)v->value;
	if (!find(list, target.list->object->size, schema_key(target.list->object)->offset, name) &&
		!may_have_more(r->cfg, &target))
		report_unknown(r, v, &target, list, name);
}

/* --- the sound part --- */

/* Of a list in obj, the entries without an error. */
static void keep_sound(void *obj, const struct field *field, struct arena *arena)
{
	struct vec all = schema_vec(obj, field);
	struct {
		char *v;
		size_t n;
	} sound = {arena_array(arena, all.n, field->object->size), 0};

	for (size_t i = 0; i < all.n; i++) {
		const struct entry *entry = (const void *)((const char *)all.v + i * field->object->size);

		if (!entry->unsure)
			memcpy(sound.v + sound.n++ * field->object->size, entry, field->object->size);
	}
	memcpy((char *)obj + field->offset, &sound, sizeof(sound));
}

static void keep_sound_lists(void *obj, const struct object_type *type, struct arena *arena)
{
	const struct entry *entry = obj;

	for (size_t i = 0; i < type->n_fields; i++)
		if ((entry->unsure & entry->set) >> i & 1 && type->fields[i].kind == FIELD_NODES)
			keep_sound(obj, &type->fields[i], arena);
}

/* Are all errors of a mapping within lists of it? Then what is left of those is sound. */
static bool has_sound_rows(const struct entry *entry, const struct object_type *type)
{
	for (size_t i = 0; i < type->n_fields; i++)
		if (entry->unsure >> i & 1 && (!(entry->set >> i & 1) || type->fields[i].kind != FIELD_NODES))
			return false;
	return true;
}

/* A mapping of the root. */
static void keep_sound_mapping(struct config *cfg, const struct field *field, struct arena *arena)
{
	const struct entry *entry = schema_node(cfg, field);
	void *sound = NULL;

	if (entry && has_sound_rows(entry, field->object)) {
		sound = arena_memdup(arena, entry, field->object->size);
		keep_sound_lists(sound, field->object, arena);
	}
	memcpy((char *)cfg + field->offset, (void *)&sound, sizeof(sound));
}

static const struct config *sound_part(const struct config *cfg, struct arena *arena)
{
	const struct object_type *root = schema_root();
	struct config *sound = arena_new_obj(arena, struct config);

	*sound = *cfg;
	keep_sound_lists(sound, root, arena);
	for (size_t i = 0; i < root->n_fields; i++)
		if (cfg->entry.unsure >> i & 1 && root->fields[i].kind == FIELD_NODE)
			keep_sound_mapping(sound, &root->fields[i], arena);
	return sound;
}

/* --- parse --- */

struct config_draft config_parse_draft(const char *text, size_t len, struct arena *arena, struct diag *diag)
{
	_cleanup_(arena_freep) struct arena *scratch = arena_new();
	struct refs refs = {.scratch = scratch, .diag = diag};
	const struct node *root = yaml_parse(text, len, scratch, diag);

	if (!root)
		return (struct config_draft){0};
	refs.cfg = config_decode(root, arena, scratch, diag);
	schema_walk(refs.cfg, check_ref, &refs);
	return (struct config_draft){refs.cfg, refs.cfg->entry.unsure ? sound_part(refs.cfg, arena) : refs.cfg};
}

const struct config *config_parse(const char *text, size_t len, struct arena *arena, struct diag *diag)
{
	struct config_draft draft = config_parse_draft(text, len, arena, diag);

	return diag->n_errors ? NULL : draft.sound;
}
