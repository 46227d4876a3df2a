/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Node tree -> structs, by the schema table; see decode.h.
 * The one idea: every value is judged alone. One that is wrong is reported and left out, and nothing that would only
 * follow from it is said again: no "missing" for a key that is there, no unknown reference to an entry that failed.
 */
#include "config/decode.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/node.h"
#include "config/schema.h"
#include "config/types.h"
#include "gateway/base/arena.h"
#include "gateway/base/buf.h"
#include "gateway/base/str.h"

enum { LATER_MAX = 64 };

struct decode {
	struct arena *arena, *scratch;
	struct diag *diag;
	size_t n_faults;		      /* errors here, and values that YAML reported */
	const struct field *later[LATER_MAX]; /* rows that were warned of; once each is enough */
	size_t n_later;
};

static void decode_object(
	struct decode *d, const struct node *node, const struct object_type *type, const struct path *path, void *obj);

__attribute__((format(printf, 4, 5))) static void complain(
	struct decode *d, struct loc loc, const struct path *path, const char *fmt, ...)
{
	va_list ap;
	char *text;

	d->n_faults++;
	if (d->diag->n_errors >= DIAG_MAX) {
		diag_error(d->diag, loc, "left out"); /* is counted only */
		return;
	}
	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		abort();
	va_end(ap);
	if (path)
		diag_error(d->diag, loc, "%s: %s", path_str(path, d->scratch), text);
	else
		diag_error(d->diag, loc, "%s", text);
	free(text);
}

/* Reported already; a fault of what it stands in all the same. */
static bool is_bad(struct decode *d, const struct node *node)
{
	if (node->kind != NODE_BAD)
		return false;
	d->n_faults++;
	return true;
}

static uint64_t row_bit(const struct object_type *type, const struct field *field)
{
	return UINT64_C(1) << schema_field_index(type, field);
}

/* --- what may stand there, in words --- */

static const char *object_keys(struct decode *d, const struct object_type *type)
{
	struct buf b = {0};
	const char *s;

	for (size_t i = 0; i < type->n_fields; i++)
		buf_printf(&b, "%s%s", i ? ", " : "", type->fields[i].key);
	s = arena_strndup(d->scratch, buf_str(&b), b.len);
	buf_free(&b);
	return s;
}

/* What a row wants, in words that complete "X is not ...". */
static const char *wanted(struct decode *d, const struct field *field)
{
	_Alignas(max_align_t) char value[64] = {0};
	const char *want = "a value";

	switch (field->kind) {
	case FIELD_LEAF:
		(void)field->type->parse("\n", &field->limit, d->scratch, value, &want); /* "\n" is never right */
		return want;
	case FIELD_LIST:
		return "a list, such as [a, b]";
	case FIELD_NODE:
		return arena_printf(d->scratch, "a mapping of %s", object_keys(d, field->object));
	default:
		return arena_printf(d->scratch, "a list of mappings of %s", object_keys(d, field->object));
	}
}

static const char *node_shown(struct decode *d, const struct node *node)
{
	if (node->kind == NODE_SCALAR)
		return diag_show(d->scratch, node->text);
	return node->kind == NODE_MAPPING ? "a mapping" : "a list";
}

static bool is_empty(const struct node *node)
{
	return node->kind == NODE_SCALAR && !node->quoted &&
		(!*node->text || str_eq(node->text, "~") || str_eq(node->text, "null"));
}

/* The node is not of the kind that the row wants. */
static void wrong_kind(struct decode *d, const struct node *node, const struct field *field, const struct path *path)
{
	if (is_bad(d, node))
		return;
	if (is_empty(node))
		complain(d, node->loc, path, "has no value; %s %s",
			field->flags & F_REQUIRED ? "it must be" : "leave the key out, or give it", wanted(d, field));
	else
		complain(d, node->loc, path, "%s is not %s", node_shown(d, node), wanted(d, field));
}

static const char *quoted(struct decode *d, const char *text)
{
	const char *shown = diag_show(d->scratch, text);

	return *shown == '"' ? shown : arena_printf(d->scratch, "\"%s\"", shown);
}

/* Returns the row that was probably meant, or NULL. */
static const struct field *unknown_key(
	struct decode *d, const struct node *child, const struct object_type *type, const struct path *path)
{
	struct nearest near = {.word = child->key};
	const char *where, *hint;

	if (!path)
		where = "at the top of the file";
	else if (path->name && !path->up)
		where = arena_printf(d->scratch, "in %s %s", type->name, quoted(d, path->name));
	else
		where = arena_printf(d->scratch, "in %s", path_str(path, d->scratch));
	for (size_t i = 0; i < type->n_fields; i++)
		nearest_try(&near, type->fields[i].key);
	if (near.best)
		hint = arena_printf(d->scratch, "did you mean \"%s\"?", near.best);
	else
		hint = arena_printf(d->scratch, "known are %s", object_keys(d, type));
	complain(d, child->key_loc, NULL, "unknown key %s %s; %s", quoted(d, child->key), where, hint);
	return near.best ? schema_field(type, near.best) : NULL;
}

/* --- values --- */

static bool is_flat(const char *text)
{
	return *text && !strpbrk(text, ",:{} ");
}

/* A mapping of scalars as "{key: value, key: value}", for the types that take one. NULL if it is not so simple. */
static const char *flow_text(struct decode *d, const struct node *node)
{
	struct buf b = {0};
	const char *s;

	buf_putc(&b, '{');
	for (const struct node *c = node->first; c; c = c->next) {
		if (c->kind != NODE_SCALAR || !is_flat(c->text) || !is_flat(c->key)) {
			buf_free(&b);
			return NULL;
		}
		buf_printf(&b, "%s%s: %s", c == node->first ? "" : ", ", c->key, c->text);
	}
	buf_putc(&b, '}');
	s = arena_strndup(d->scratch, buf_str(&b), b.len);
	buf_free(&b);
	return s;
}

static const char *value_text(struct decode *d, const struct node *node, const struct type *type)
{
	if (node->kind == NODE_SCALAR)
		return is_empty(node) || (type->mapping && *node->text == '{') ? NULL : node->text;
	return node->kind == NODE_MAPPING && type->mapping ? flow_text(d, node) : NULL;
}

/* Quotes make a text: right for words and quantities, wrong for a number or a truth value, as in the JSON Schema. */
static bool may_be_quoted(const char *text, const struct type *type)
{
	return type->text || (str_eq(type->json_type, "string") && text[strspn(text, "0123456789")]);
}

/* One value of a leaf, or one item of a list of values. */
static bool decode_value(
	struct decode *d, const struct node *node, const struct field *field, const struct path *path, void *ret)
{
	const struct type *type = field->type;
	const char *text = value_text(d, node, type), *want;

	if (!text) {
		struct field item = *field;

		item.kind = FIELD_LEAF;
		wrong_kind(d, node, &item, path);
		return false;
	}
	if (type->parse(text, &field->limit, d->arena, ret, &want) < 0) {
		complain(d, node->loc, path, "%s is not %s", diag_show(d->scratch, text), want);
		return false;
	}
	if (node->quoted && !may_be_quoted(text, type)) {
		complain(d, node->loc, path, "\"%s\" in quotes is a text; write it without quotes", text);
		return false;
	}
	return true;
}

/* --- lists of values --- */

struct item {
	const void *value;
	struct loc at;
};

static int by_value(const void *a, const void *b, void *user)
{
	const struct item *x = a, *y = b;
	int c = ((const struct type *)user)->compare(x->value, y->value);

	return c ? c : loc_cmp(x->at, y->at);
}

static void check_list_duplicates(struct decode *d, const struct field *field, const struct path *path,
	const char *values, const struct loc *at, size_t n)
{
	struct item *items;
	const struct item *first;

	if (n < 2)
		return;
	items = arena_array(d->scratch, n, sizeof(*items));
	for (size_t i = 0; i < n; i++)
		items[i] = (struct item){values + i * field->type->size, at[i]};
	qsort_r(items, n, sizeof(*items), by_value, (void *)field->type);
	first = items;
	for (size_t i = 1; i < n; i++) {
		struct buf text = {0};

		if (field->type->compare(first->value, items[i].value) != 0) {
			first = &items[i];
			continue;
		}
		field->type->print(items[i].value, &field->limit, &text);
		complain(d, items[i].at, path, "%s is listed twice; the first is on line %u", buf_str(&text),
			first->at.line);
		buf_free(&text);
	}
}

static bool decode_list(
	struct decode *d, const struct node *node, const struct field *field, const struct path *path, void *obj)
{
	struct {
		char *v;
		size_t n;
		struct loc *at;
	} list = {0};

	if (node->kind != NODE_SEQUENCE) {
		wrong_kind(d, node, field, path);
		return false;
	}
	if (node->n == 0 && (field->flags & F_REQUIRED))
		complain(d, node->loc, path, "is empty; at least one is needed");
	list.v = arena_array(d->arena, node->n, field->type->size);
	list.at = arena_array(d->arena, node->n, sizeof(*list.at));
	for (const struct node *c = node->first; c; c = c->next) {
		if (!decode_value(d, c, field, path, list.v + list.n * field->type->size))
			continue;
		list.at[list.n++] = c->loc;
	}
	check_list_duplicates(d, field, path, list.v, list.at, list.n);
	memcpy((char *)obj + field->offset, &list, sizeof(list));
	return true;
}

/* --- lists of entries --- */

struct entries {
	const struct object_type *type;
	const struct field *key;
};

static int by_entry_key(const void *a, const void *b, void *user)
{
	const struct entry *x = *(const struct entry *const *)a, *y = *(const struct entry *const *)b;
	const struct field *key = ((const struct entries *)user)->key;
	int c = key->type->compare(schema_value(x, key), schema_value(y, key));

	return c ? c : loc_cmp(x->loc, y->loc);
}

static const char *entry_name(const struct node *node, const struct field *key)
{
	for (const struct node *c = node->first; node->kind == NODE_MAPPING && c; c = c->next)
		if (c->kind == NODE_SCALAR && !is_empty(c) && str_eq(c->key, key->key))
			return c->text;
	return NULL;
}

/* Copies the sorted entries to their final place; of several with one key the first stays. */
static size_t place_entries(
	struct decode *d, const struct entries *e, const struct path *path, struct entry **sorted, size_t n, char *to)
{
	const struct object_type *type = e->type;
	size_t key_index = schema_field_index(type, e->key), placed = 0;
	const struct entry *first = NULL;

	for (size_t i = 0; i < n; i++) {
		struct buf text = {0};

		if (!first ||
			e->key->type->compare(schema_value(first, e->key), schema_value(sorted[i], e->key)) != 0) {
			first = sorted[i];
			memcpy(to + placed++ * type->size, first, type->size);
			continue;
		}
		e->key->type->print(schema_value(first, e->key), &e->key->limit, &text);
		complain(d, sorted[i]->at[key_index], path, "%s %s is there twice; the first is on line %u",
			e->key->key, buf_str(&text), first->at[key_index].line);
		buf_free(&text);
	}
	return placed;
}

static bool decode_nodes(struct decode *d, const struct node *node, const struct object_type *type,
	const struct field *field, const struct path *up, void *obj)
{
	const struct entries e = {field->object, schema_key(field->object)};
	const struct path here = {.up = up, .key = field->key};
	size_t key_index = schema_field_index(e.type, e.key), n = 0, number = 0;
	struct entry **sorted;
	struct {
		char *v;
		size_t n;
	} list = {0};

	if (node->kind != NODE_SEQUENCE) {
		wrong_kind(d, node, field, &here);
		return false;
	}
	if (node->n == 0 && (field->flags & F_REQUIRED))
		complain(d, node->loc, &here, "is empty; at least one is needed");
	sorted = arena_array(d->scratch, node->n, sizeof(struct entry *));
	for (const struct node *c = node->first; c; c = c->next) {
		const struct path path = {up, field->key, entry_name(c, e.key), ++number};

		sorted[n] = arena_alloc(d->scratch, e.type->size);
		decode_object(d, c, e.type, &path, sorted[n]);
		if (sorted[n]->set >> key_index & 1)
			n++;
	}
	qsort_r(sorted, n, sizeof(struct entry *), by_entry_key, (void *)&e);
	list.v = arena_array(d->arena, n, e.type->size);
	list.n = place_entries(d, &e, &here, sorted, n, list.v);
	memcpy((char *)obj + field->offset, &list, sizeof(list));
	if (n < node->n || node->repeated)
		((struct entry *)obj)->unnamed |= row_bit(type, field);
	return true;
}

/* --- objects --- */

/* Does the value say something that this version does not do? Its default never does. */
static bool asks_for_later(const struct field *field, const void *obj)
{
	_Alignas(max_align_t) char def[64] = {0};
	struct arena *arena;
	const char *want;
	bool asks = true;

	if (field->kind != FIELD_LEAF || !field->def)
		return true;
	arena = arena_new();
	if (field->type->parse(field->def, &field->limit, arena, def, &want) == 0)
		asks = field->type->compare(def, schema_value(obj, field)) != 0;
	arena_free(arena);
	return asks;
}

static void warn_later(
	struct decode *d, const struct node *node, const struct field *field, const struct path *path, const void *obj)
{
	if (!(field->flags & F_LATER) || d->n_later == LATER_MAX)
		return;
	for (size_t i = 0; i < d->n_later; i++)
		if (d->later[i] == field)
			return;
	if (!asks_for_later(field, obj))
		return;
	d->later[d->n_later++] = field;
	diag_warning(d->diag, node->key_loc, "%s: is checked, but this version does not act on it yet",
		path_str(path, d->scratch));
}

/* False if the row's value is not there in the end, because of an error. It may be there with an error inside. */
static bool decode_field(struct decode *d, const struct node *node, const struct object_type *type,
	const struct field *field, const struct path *up, void *obj)
{
	const struct path path = {.up = up, .key = field->key};
	void *child;

	switch (field->kind) {
	case FIELD_LEAF:
		return decode_value(d, node, field, &path, (char *)obj + field->offset);
	case FIELD_LIST:
		return decode_list(d, node, field, &path, obj);
	case FIELD_NODES:
		return decode_nodes(d, node, type, field, up, obj);
	default:
		if (node->kind != NODE_MAPPING) {
			wrong_kind(d, node, field, &path);
			return false;
		}
		child = arena_alloc(d->arena, field->object->size);
		decode_object(d, node, field->object, &path, child);
		memcpy((char *)obj + field->offset, (void *)&child, sizeof(child));
		return true;
	}
}

/* Rows that the file did not give: required ones are missed, the others get their default. */
static void fill_absent(struct decode *d, const struct node *node, const struct object_type *type,
	const struct path *path, uint64_t seen, void *obj)
{
	struct entry *entry = obj;

	for (size_t i = 0; i < type->n_fields; i++) {
		const struct field *field = &type->fields[i];
		const char *want;

		if (seen >> i & 1)
			continue;
		if (field->flags & F_REQUIRED) {
			complain(d, node->loc, path, "\"%s\" is missing (%s)", field->key, field->help);
			entry->unsure |= UINT64_C(1) << i;
		} else if (field->kind == FIELD_LEAF && field->def &&
			field->type->parse(field->def, &field->limit, d->arena, (char *)obj + field->offset, &want) <
				0) {
			abort(); /* a unit test parses every default */
		}
	}
}

/* One key and its value. Returns the bit of the row that it is about; 0 if nobody knows which one was meant. */
static uint64_t decode_pair(struct decode *d, const struct node *node, const struct object_type *type,
	const struct path *path, struct loc *at, void *obj)
{
	const struct field *field = schema_field(type, node->key);
	const struct path here = {.up = path, .key = node->key};
	struct entry *entry = obj;
	size_t n_faults = d->n_faults;
	uint64_t bit;

	if (!field) {
		field = unknown_key(d, node, type, path);
		bit = field ? row_bit(type, field) : 0;
		entry->unsure |= bit;
		return bit;
	}
	bit = row_bit(type, field);
	at[schema_field_index(type, field)] = node->loc;
	if (decode_field(d, node, type, field, path, obj)) {
		entry->set |= bit;
		warn_later(d, node, field, &here, obj);
	}
	d->n_faults += node->repeated;
	if (d->n_faults > n_faults)
		entry->unsure |= bit;
	return bit;
}

static void decode_object(
	struct decode *d, const struct node *node, const struct object_type *type, const struct path *path, void *obj)
{
	struct loc *at = arena_array(d->arena, type->n_fields, sizeof(*at));
	struct entry *entry = obj;
	bool has_stray = node->has_stray;
	uint64_t seen = 0, bit;

	d->n_faults += node->has_stray;
	entry->loc = node->loc;
	entry->at = at;
	for (size_t i = 0; i < type->n_fields; i++)
		at[i] = node->loc;
	if (node->kind != NODE_MAPPING) {
		entry->unsure = UINT64_MAX;
		if (!is_bad(d, node))
			complain(d, node->loc, path, "%s is not a mapping of %s",
				is_empty(node) ? "nothing" : node_shown(d, node), object_keys(d, type));
		return;
	}
	for (const struct node *c = node->first; c; c = c->next) {
		bit = decode_pair(d, c, type, path, at, obj);
		seen |= bit; /* misspelt is not missing too */
		has_stray |= bit == 0;
	}
	/* A key that is none may stand for any row that was not given. */
	if (has_stray)
		entry->unsure |= ~seen;
	fill_absent(d, node, type, path, seen, obj);
}

struct config *config_decode(const struct node *root, struct arena *arena, struct arena *scratch, struct diag *diag)
{
	struct decode d = {.arena = arena, .scratch = scratch, .diag = diag};
	struct config *cfg = arena_new_obj(arena, struct config);

	decode_object(&d, root, schema_root(), NULL, cfg);
	return cfg;
}
