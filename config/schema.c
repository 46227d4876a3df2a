/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The schema as data; see schema.h.
 * The one idea: schema.def is read once per table (declarations, rows, objects), so that a row is written once only.
 */
#include "config/schema.h"

#include <stdlib.h>
#include <string.h>

#include "config/types.h"
#include "gateway/base/arena.h"
#include "gateway/base/buf.h"
#include "gateway/base/str.h"

/* --- the words of enums --- */

#define ENUM(name, help) static const struct word word_list_##name[] = {
#define VALUE(name, constant, text, help) [constant] = {text, help},
#define ENUM_END(name)                                                                                                 \
	}                                                                                                              \
	;
#include "config/schema/enums.def"
#undef ENUM
#undef VALUE
#undef ENUM_END

#define ENUM(name, help)                                                                                               \
	static const struct words words_##name = {#name, help, word_list_##name, ARRAY_SIZE(word_list_##name)};
#define VALUE(name, constant, text, help)
#define ENUM_END(name)
#include "config/schema/enums.def"
#undef ENUM
#undef VALUE
#undef ENUM_END

static const struct words *const all_words[] = {
#define ENUM(name, help) &words_##name,
#define VALUE(name, constant, text, help)
#define ENUM_END(name)
#include "config/schema/enums.def"
#undef ENUM
#undef VALUE
#undef ENUM_END
};

/* --- objects: declared, so that a row may name one that comes later --- */

#define OBJECT(object, help) static const struct object_type object_##object;
#define LEAF(object, member, key, type, limit, flags, change, def, help)
#define LIST(object, member, key, type, limit, flags, change, help)
#define NODE(object, member, key, child, flags, change, help)
#define NODES(object, member, key, child, flags, change, help)
#define END(object)
#include "config/schema/schema.def"
#undef OBJECT
#undef LEAF
#undef LIST
#undef NODE
#undef NODES
#undef END

/* --- rows --- */

#define NO_LIMIT                                                                                                       \
	{                                                                                                              \
		0                                                                                                      \
	}
#define RANGE(low, high)                                                                                               \
	{                                                                                                              \
		.has_range = true, .min = (low), .max = (high)                                                         \
	}
#define WORDS(enumeration)                                                                                             \
	{                                                                                                              \
		.words = &words_##enumeration                                                                          \
	}
#define REF(list)                                                                                                      \
	{                                                                                                              \
		.ref = (list)                                                                                          \
	}

#define OBJECT(object, help) static const struct field fields_##object[] = {
#define LEAF(o, m, key, type, limit, flags, change, def, help)                                                         \
	{key, FIELD_LEAF, &type_##type, limit, flags, change, def, help, offsetof(struct o, m), NULL},
#define LIST(o, m, key, type, limit, flags, change, help)                                                              \
	{key, FIELD_LIST, &type_##type, limit, flags, change, NULL, help, offsetof(struct o, m), NULL},
#define NODE(o, m, key, child, flags, change, help)                                                                    \
	{key, FIELD_NODE, NULL, NO_LIMIT, flags, change, NULL, help, offsetof(struct o, m), &object_##child},
#define NODES(o, m, key, child, flags, change, help)                                                                   \
	{key, FIELD_NODES, NULL, NO_LIMIT, flags, change, NULL, help, offsetof(struct o, m), &object_##child},
#define END(object)                                                                                                    \
	}                                                                                                              \
	;
#include "config/schema/schema.def"
#undef OBJECT
#undef LEAF
#undef LIST
#undef NODE
#undef NODES
#undef END

/* --- the objects themselves --- */

#define OBJECT(object, help)                                                                                           \
	static const struct object_type object_##object = {                                                            \
		#object, help, sizeof(struct object), fields_##object, ARRAY_SIZE(fields_##object)};                   \
	_Static_assert(ARRAY_SIZE(fields_##object) <= 64, "entry.set has 64 bits");
#define LEAF(object, member, key, type, limit, flags, change, def, help)
#define LIST(object, member, key, type, limit, flags, change, help)
#define NODE(object, member, key, child, flags, change, help)
#define NODES(object, member, key, child, flags, change, help)
#define END(object)
#include "config/schema/schema.def"
#undef OBJECT

static const struct object_type *const all_objects[] = {
#define OBJECT(object, help) &object_##object,
#include "config/schema/schema.def"
#undef OBJECT
#undef LEAF
#undef LIST
#undef NODE
#undef NODES
#undef END
};

/* --- looking things up --- */

const struct object_type *schema_root(void)
{
	return &object_config;
}

const struct object_type *schema_object(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(all_objects); i++)
		if (str_eq(all_objects[i]->name, name))
			return all_objects[i];
	return NULL;
}

const struct words *schema_words(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(all_words); i++)
		if (str_eq(all_words[i]->name, name))
			return all_words[i];
	return NULL;
}

const struct field *schema_field(const struct object_type *type, const char *key)
{
	for (size_t i = 0; i < type->n_fields; i++)
		if (str_eq(type->fields[i].key, key))
			return &type->fields[i];
	return NULL;
}

const struct field *schema_key(const struct object_type *type)
{
	for (size_t i = 0; i < type->n_fields; i++)
		if (type->fields[i].flags & F_KEY)
			return &type->fields[i];
	return NULL;
}

size_t schema_field_index(const struct object_type *type, const struct field *field)
{
	return (size_t)(field - type->fields);
}

const char *change_name(enum change change)
{
	static const char *const names[] = {[LIVE] = "live", [RESTART] = "restart", [RECREATE] = "recreate"};

	return names[change];
}

const void *schema_value(const void *obj, const struct field *field)
{
	return (const char *)obj + field->offset;
}

struct vec schema_vec(const void *obj, const struct field *field)
{
	struct vec vec;

	memcpy(&vec, schema_value(obj, field), sizeof(vec));
	return vec;
}

const void *schema_node(const void *obj, const struct field *field)
{
	const void *node;

	memcpy((void *)&node, schema_value(obj, field), sizeof(node));
	return node;
}

/* --- references --- */

struct target schema_target(const char *ref)
{
	const struct object_type *type = schema_root();
	struct target target = {0};

	while (*ref == '/' && type && target.n < TARGET_DEPTH) {
		size_t len = strcspn(++ref, "/");

		target.list = NULL;
		for (size_t i = 0; i < type->n_fields; i++)
			if (strlen(type->fields[i].key) == len && strncmp(type->fields[i].key, ref, len) == 0)
				target.list = &type->fields[i];
		if (!target.list)
			abort(); /* a unit test looks at every REF of the table */
		target.rows[target.n++] = target.list;
		type = target.list->object;
		ref += len;
	}
	return target;
}

struct vec schema_target_list(const struct config *cfg, const struct target *target)
{
	const void *obj = cfg;

	for (size_t i = 0; i + 1 < target->n && obj; i++)
		obj = schema_node(obj, target->rows[i]);
	return obj ? schema_vec(obj, target->list) : (struct vec){0};
}

const char *schema_target_str(const struct target *target, const char *separator, struct arena *arena)
{
	const char *text = target->rows[0]->key;

	for (size_t i = 1; i < target->n; i++)
		text = arena_printf(arena, "%s%s%s", text, separator, target->rows[i]->key);
	return text;
}

/* --- paths and the walk --- */

static void path_add(const struct path *path, struct arena *arena, struct buf *b)
{
	if (path->up) {
		path_add(path->up, arena, b);
		buf_putc(b, '.');
	}
	buf_puts(b, path->key);
	if (path->name)
		buf_printf(b, "[%s]", diag_show(arena, path->name));
	else if (path->number)
		buf_printf(b, "[#%zu]", path->number);
}

const char *path_str(const struct path *path, struct arena *arena)
{
	struct buf b = {0};
	const char *s;

	path_add(path, arena, &b);
	s = arena_strndup(arena, buf_str(&b), b.len);
	buf_free(&b);
	return s;
}

struct walk {
	visit_fn visit;
	void *user;
};

static void walk_object(const struct walk *w, const void *obj, const struct object_type *type, const struct path *up);

static void walk_list(const struct walk *w, const void *obj, const struct field *field, const struct path *path)
{
	struct {
		const char *v;
		size_t n;
		const struct loc *at;
	} list;

	memcpy(&list, schema_value(obj, field), sizeof(list));
	for (size_t i = 0; i < list.n; i++) {
		struct visit v = {field, list.v + i * field->type->size, list.at[i], path};

		w->visit(&v, w->user);
	}
}

static void walk_nodes(const struct walk *w, const void *obj, const struct field *field, const struct path *up)
{
	const struct field *key = schema_key(field->object);
	struct vec vec = schema_vec(obj, field);
	struct buf name = {0};

	for (size_t i = 0; i < vec.n; i++) {
		const void *entry = (const char *)vec.v + i * field->object->size;
		struct path path = {.up = up, .key = field->key};

		buf_reset(&name);
		key->type->print(schema_value(entry, key), &key->limit, &name);
		path.name = buf_str(&name);
		walk_object(w, entry, field->object, &path);
	}
	buf_free(&name);
}

static void walk_object(const struct walk *w, const void *obj, const struct object_type *type, const struct path *up)
{
	const struct entry *entry = obj;

	for (size_t i = 0; i < type->n_fields; i++) {
		const struct field *field = &type->fields[i];
		struct path path = {.up = up, .key = field->key};
		struct visit v = {field, schema_value(obj, field), entry->at[i], &path};

		if (!(entry->set >> i & 1))
			continue;
		if (field->kind == FIELD_LEAF)
			w->visit(&v, w->user);
		else if (field->kind == FIELD_LIST)
			walk_list(w, obj, field, &path);
		else if (field->kind == FIELD_NODES)
			walk_nodes(w, obj, field, up);
		else
			walk_object(w, schema_node(obj, field), field->object, &path);
	}
}

void schema_walk(const struct config *cfg, visit_fn visit, void *user)
{
	struct walk w = {visit, user};

	walk_object(&w, cfg, schema_root(), NULL);
}
