/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * JSON Schema (draft 2020-12), docs/fairway.schema.json, for editors.
 * The one idea: an editor helps with what stands in one place. References, keys given twice and rules between values
 * are left to `fairway check`, which has the last word on everything.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "config/export.h"
#include "config/hint.h"
#include "config/print.h"
#include "config/schema.h"
#include "config/types.h"
#include "gateway/base/arena.h"
#include "gateway/base/buf.h"
#include "gateway/base/cleanup.h"
#include "gateway/base/str.h"

static json_t *must(json_t *json)
{
	if (!json)
		abort();
	return json;
}

static void set(json_t *json, const char *key, json_t *value)
{
	if (json_object_set_new(json, key, must(value)) < 0)
		abort();
}

static json_t *of_kind(const char *type)
{
	return must(json_pack("{s:s}", "type", type));
}

static json_t *number(const struct limit *limit)
{
	json_t *json = of_kind("integer");

	set(json, "minimum", json_integer(limit->has_range ? (json_int_t)limit->min : 0));
	if (limit->has_range)
		set(json, "maximum", json_integer((json_int_t)limit->max));
	return json;
}

/* A type that a text may stand for has a pattern. */
static json_t *text(const struct type *type)
{
	json_t *json = of_kind("string");
	struct buf pattern = {0};

	buf_printf(&pattern, "^(?:%s)$", type->pattern);
	set(json, "pattern", json_string(buf_str(&pattern)));
	buf_free(&pattern);
	return json;
}

/* "{ipv4: number, ipv6: number}": each may be a number or auto. */
static json_t *mapping(char *hint)
{
	json_t *properties = must(json_object());
	char *save = NULL;

	for (char *key = strtok_r(hint, "{}, ", &save); key; key = strtok_r(NULL, "{}, ", &save)) {
		(void)strtok_r(NULL, "{}, ", &save);
		key[strcspn(key, ":")] = '\0';
		set(properties, key,
			json_pack(
				"{s:[{s:s}, {s:s, s:i}]}", "anyOf", "const", "auto", "type", "integer", "minimum", 0));
	}
	return must(
		json_pack("{s:s, s:o, s:b}", "type", "object", "properties", properties, "additionalProperties", 0));
}

/* What the type's hint says: words, a number, a mapping, or a text of some pattern. */
static json_t *alternatives(const struct field *field)
{
	json_t *any = must(json_array()), *only;
	const char *pos = NULL;
	struct hint hint;

	while (hint_next(field, &pos, &hint)) {
		json_t *one = hint.kind == HINT_WORD ? must(json_pack("{s:s}", "const", hint.text))
			: hint.kind == HINT_NUMBER   ? number(&field->limit)
			: hint.kind == HINT_MAPPING  ? mapping(hint.text)
						     : text(field->type);

		json_array_append_new(any, one);
	}
	if (json_array_size(any) > 1)
		return must(json_pack("{s:o}", "anyOf", any));
	only = json_incref(json_array_get(any, 0));
	json_decref(any);
	return only;
}

static json_t *enumeration(const struct words *words)
{
	json_t *list = must(json_array());

	for (size_t i = 0; i < words->n; i++)
		json_array_append_new(list, must(json_string(words->v[i].word)));
	return must(json_pack("{s:o}", "enum", list));
}

static json_t *scalar(const struct field *field)
{
	if (field->limit.words)
		return enumeration(field->limit.words);
	if (str_eq(field->type->json_type, "integer"))
		return number(&field->limit);
	if (str_eq(field->type->json_type, "boolean"))
		return of_kind("boolean");
	return alternatives(field);
}

static json_t *reference(const struct object_type *type)
{
	return must(json_pack("{s:s+}", "$ref", "#/$defs/", type->name));
}

static json_t *list_of(const struct field *field, json_t *items)
{
	json_t *json = must(json_pack("{s:s, s:o}", "type", "array", "items", items));

	if (field->flags & F_REQUIRED)
		set(json, "minItems", json_integer(1));
	if (field->kind == FIELD_LIST)
		set(json, "uniqueItems", json_true());
	return json;
}

static void describe(json_t *json, const struct field *field)
{
	_cleanup_(arena_freep) struct arena *arena = arena_new();
	struct buf b = {0};

	buf_puts(&b, field->help);
	if (field->type && !field->limit.words && !field->limit.ref)
		buf_printf(&b, " (%s)", hint_want(field, arena));
	if (field->flags & F_LATER)
		buf_puts(&b, "; not acted on yet");
	set(json, "description", json_string(buf_str(&b)));
	if (field->def)
		set(json, "default", print_json_text(field->type, field->def));
	buf_free(&b);
}

static json_t *property(const struct field *field)
{
	json_t *json;

	switch (field->kind) {
	case FIELD_LEAF:
		json = scalar(field);
		break;
	case FIELD_LIST:
		json = list_of(field, scalar(field));
		break;
	case FIELD_NODE:
		json = reference(field->object);
		break;
	default:
		json = list_of(field, reference(field->object));
	}
	describe(json, field);
	return json;
}

static json_t *object(const struct object_type *type)
{
	json_t *properties = must(json_object()), *required = must(json_array());

	for (size_t i = 0; i < type->n_fields; i++) {
		set(properties, type->fields[i].key, property(&type->fields[i]));
		if (type->fields[i].flags & F_REQUIRED)
			json_array_append_new(required, must(json_string(type->fields[i].key)));
	}
	return must(json_pack("{s:s, s:s, s:o, s:o, s:b}", "description", type->help, "type", "object", "properties",
		properties, "required", required, "additionalProperties", 0));
}

/* Objects that others are made of, each once. */
static void define(json_t *defs, const struct object_type *type)
{
	for (size_t i = 0; i < type->n_fields; i++) {
		const struct object_type *child = type->fields[i].object;

		if (!child || json_object_get(defs, child->name))
			continue;
		set(defs, child->name, object(child));
		define(defs, child);
	}
}

void export_json_schema(struct buf *out)
{
	json_t *schema = must(json_pack("{s:s, s:s, s:s}", "$schema", "https://json-schema.org/draft/2020-12/schema",
		"title", "Fairway configuration", "$comment", "Generated from config/schema/*.def by `make docs`."));
	json_t *defs = must(json_object());
	char *dump;

	if (json_object_update_new(schema, object(schema_root())) < 0)
		abort();
	define(defs, schema_root());
	set(schema, "$defs", defs);
	dump = json_dumps(schema, JSON_INDENT(2) | JSON_ENSURE_ASCII);
	if (!dump)
		abort();
	buf_puts(out, dump);
	buf_putc(out, '\n');
	free(dump);
	json_decref(schema);
}
