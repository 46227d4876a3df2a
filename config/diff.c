/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The difference of two configs; see diff.h.
 * The one idea: lists are sorted by key, so two of them are compared by walking both at once, like a merge. What is the
 * same on both sides costs one comparison and no text.
 */
#include "config/diff.h"

#include <stdlib.h>
#include <string.h>

#include "config/print.h"
#include "config/types.h"
#include "gateway/base/arena.h"
#include "gateway/base/buf.h"

/* --- where --- */

/* A place in both configs, as a chain on the walker's stack: a row, or an entry of the row above it. */
struct where {
	const struct where *up;
	const struct field *field; /* or NULL */
	const void *entry;	   /* or NULL */
	const struct field *key;   /* of the entry */
};

static void where_print(const struct where *w, struct buf *out)
{
	if (!w)
		return;
	where_print(w->up, out);
	buf_puts(out, out->len ? " " : "");
	if (w->field)
		buf_puts(out, w->field->key);
	else
		w->key->type->print(schema_value(w->entry, w->key), &w->key->limit, out);
}

/* --- items --- */

static const char *keep(struct config_diff *d, struct buf *text)
{
	const char *kept = arena_strndup(d->arena, buf_str(text), text->len);

	buf_free(text);
	return kept;
}

static void add(struct config_diff *d, struct diff_item item)
{
	if (d->n == d->cap) {
		size_t cap = d->cap ? 2 * d->cap : 16;
		struct diff_item *v = arena_array(d->arena, cap, sizeof(*v));

		if (d->n)
			memcpy(v, d->v, d->n * sizeof(*v));
		d->v = v;
		d->cap = cap;
	}
	d->v[d->n++] = item;
}

/* One side may be NULL. */
static void add_texts(
	struct config_diff *d, const struct where *where, enum change change, const char *was, const char *is)
{
	enum diff_kind kind = !was ? DIFF_ADD : !is ? DIFF_REMOVE : DIFF_CHANGE;
	struct buf path = {0};

	where_print(where, &path);
	add(d, (struct diff_item){kind, keep(d, &path), was, is, change});
}

static const char *flow_text(struct config_diff *d, const void *obj, const struct object_type *type)
{
	struct buf text = {0};

	if (!obj)
		return NULL;
	print_flow(obj, type, &text);
	return keep(d, &text);
}

static const char *value_text(struct config_diff *d, const void *obj, const struct field *field)
{
	struct buf text = {0};

	print_value(obj, field, &text);
	return keep(d, &text);
}

/* --- values --- */

static bool same_items(const struct field *field, struct vec a, struct vec b)
{
	size_t size = field->type->size;

	if (a.n != b.n)
		return false;
	for (size_t i = 0; i < a.n; i++)
		if (field->type->compare((const char *)a.v + i * size, (const char *)b.v + i * size) != 0)
			return false;
	return true;
}

/* A leaf with a default always has a value; other rows have one if they are said. */
static bool has_value(const void *obj, const struct object_type *type, size_t i)
{
	return type->fields[i].def || print_is_said(obj, type, i);
}

static void diff_value(struct config_diff *d, const struct where *up, const void *a, const void *b,
	const struct object_type *type, size_t i)
{
	const struct field *field = &type->fields[i];
	const struct where here = {.up = up, .field = field};
	bool had = has_value(a, type, i), has = has_value(b, type, i);

	if (!had && !has)
		return;
	if (had && has &&
		(field->kind == FIELD_LEAF ? field->type->compare(schema_value(a, field), schema_value(b, field)) == 0
					   : same_items(field, schema_vec(a, field), schema_vec(b, field))))
		return;
	add_texts(d, &here, field->change, had ? value_text(d, a, field) : NULL, has ? value_text(d, b, field) : NULL);
}

/* --- objects --- */

static void diff_objects(
	struct config_diff *d, const struct where *up, const void *a, const void *b, const struct object_type *type);

static void diff_node(
	struct config_diff *d, const struct where *up, const void *a, const void *b, const struct field *field)
{
	const struct where here = {.up = up, .field = field};

	a = schema_node(a, field);
	b = schema_node(b, field);
	if (a && b)
		diff_objects(d, &here, a, b, field->object);
	else if (a || b)
		add_texts(d, &here, field->change, flow_text(d, a, field->object), flow_text(d, b, field->object));
}

static const void *entry_at(struct vec list, const struct object_type *type, size_t i)
{
	return i < list.n ? (const char *)list.v + i * type->size : NULL;
}

/* Which comes first; the end of a list comes last. */
static int entry_cmp(const void *a, const void *b, const struct field *key)
{
	if (!a || !b)
		return !a - !b;
	return key->type->compare(schema_value(a, key), schema_value(b, key));
}

static void diff_nodes(
	struct config_diff *d, const struct where *up, const void *a, const void *b, const struct field *field)
{
	const struct object_type *type = field->object;
	const struct field *key = schema_key(type);
	struct vec old_list = schema_vec(a, field), new_list = schema_vec(b, field);
	const struct where list = {.up = up, .field = field};

	for (size_t i = 0, j = 0; i < old_list.n || j < new_list.n;) {
		const void *x = entry_at(old_list, type, i), *y = entry_at(new_list, type, j);
		int c = entry_cmp(x, y, key);
		const struct where here = {.up = &list, .entry = c <= 0 ? x : y, .key = key};

		i += c <= 0;
		j += c >= 0;
		if (c == 0)
			diff_objects(d, &here, x, y, type);
		else
			add_texts(d, &here, field->change, flow_text(d, c < 0 ? x : NULL, type),
				flow_text(d, c > 0 ? y : NULL, type));
	}
}

static void diff_objects(
	struct config_diff *d, const struct where *up, const void *a, const void *b, const struct object_type *type)
{
	for (size_t i = 0; i < type->n_fields; i++) {
		const struct field *field = &type->fields[i];

		if (field->kind == FIELD_NODE)
			diff_node(d, up, a, b, field);
		else if (field->kind == FIELD_NODES)
			diff_nodes(d, up, a, b, field);
		else
			diff_value(d, up, a, b, type, i);
	}
}

void config_diff(const struct config *old_cfg, const struct config *new_cfg, struct config_diff *d)
{
	static const struct config nothing;

	diff_objects(d, NULL, old_cfg ? old_cfg : &nothing, new_cfg ? new_cfg : &nothing, schema_root());
}

/* --- shown --- */

static void print_item(const struct diff_item *item, struct buf *out)
{
	switch (item->kind) {
	case DIFF_ADD:
		buf_printf(out, "+ %s: %s", item->path, item->new_text);
		break;
	case DIFF_REMOVE:
		buf_printf(out, "- %s", item->path);
		break;
	default:
		buf_printf(out, "~ %s: %s -> %s", item->path, item->old_text, item->new_text);
	}
	if (item->kind == DIFF_CHANGE || item->change != LIVE)
		buf_printf(out, " (%s)", change_name(item->change));
	buf_putc(out, '\n');
}

void config_diff_print(const struct config_diff *d, struct buf *out)
{
	for (size_t i = 0; i < d->n; i++)
		print_item(&d->v[i], out);
}

json_t *config_diff_to_json(const struct config_diff *d)
{
	static const char *const kinds[] = {[DIFF_ADD] = "add", [DIFF_REMOVE] = "remove", [DIFF_CHANGE] = "change"};
	json_t *list = json_array();

	for (size_t i = 0; i < d->n; i++) {
		const struct diff_item *item = &d->v[i];
		json_t *json = json_pack("{s:s, s:s, s:s?, s:s?, s:s}", "kind", kinds[item->kind], "path", item->path,
			"old", item->old_text, "new", item->new_text, "change", change_name(item->change));

		if (!json || json_array_append_new(list, json) < 0)
			abort();
	}
	if (!list)
		abort();
	return list;
}
