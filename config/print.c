/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Canonical YAML and JSON; see print.h.
 *
 * The one idea: every value prints itself as one text (types.h), and how that text stands in YAML is decided by looking
 * at the text alone: bare if every YAML reader would take it for the same value, else in double quotes. A text of the
 * operator's is bare only if it cannot be taken for a number, a truth value or nothing.
 */
#include "config/print.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "config/schema.h"
#include "config/types.h"
#include "gateway/base/buf.h"
#include "gateway/base/str.h"

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define DIGITS "0123456789"

/* --- one scalar --- */

/* One character of valid UTF-8. */
static uint32_t next_char(const char **p)
{
	const unsigned char *s = (const unsigned char *)*p;
	size_t len = *s < 0x80 ? 1 : *s < 0xe0 ? 2 : *s < 0xf0 ? 3 : 4;
	uint32_t c = len == 1 ? *s : *s & (0xffu >> (len + 1));

	for (size_t i = 1; i < len && s[i]; i++)
		c = c << 6 | (s[i] & 0x3f);
	*p += len;
	return c;
}

/* Can it stand in a file only as an escape? Line separators, the byte order mark, and what is no character. */
static bool needs_escape(uint32_t c)
{
	return c == 0x2028 || c == 0x2029 || c == 0xfeff || (c & 0xfffe) == 0xfffe;
}

static bool has_escapes(const char *text)
{
	while (*text)
		if (needs_escape(next_char(&text)))
			return true;
	return false;
}

/* Words that some YAML version reads as something else than a text. */
static bool is_taken(const char *text)
{
	static const char *const words[] = {"null", "true", "false", "yes", "no", "on", "off", "y", "n"};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strcasecmp(text, words[i]) == 0)
			return true;
	return false;
}

/* Outside ASCII everything is as good as a letter, but for what needs an escape. */
static bool is_plain(const char *text)
{
	for (const char *p = text; *p; p++)
		if (!((unsigned char)*p >= 0x80 || strchr(LETTERS DIGITS "._/@%+- ", *p)))
			return false;
	return *text && *text != ' ' && text[strlen(text) - 1] != ' ' && !has_escapes(text);
}

static bool is_bare(const struct type *type, const char *text)
{
	if (!is_plain(text))
		return false;
	if (str_eq(type->json_type, "boolean"))
		return true;
	if (type->text && !((unsigned char)*text >= 0x80 || *text == '/' || strchr(LETTERS, *text)))
		return false;
	return !is_taken(text);
}

static void print_quoted(const char *text, struct buf *out)
{
	buf_putc(out, '"');
	while (*text) {
		const char *from = text;
		uint32_t c = next_char(&text);

		if (needs_escape(c)) {
			buf_printf(out, c > 0xffff ? "\\U%08X" : "\\u%04X", c);
			continue;
		}
		if (c == '"' || c == '\\')
			buf_putc(out, '\\');
		buf_add(out, from, (size_t)(text - from));
	}
	buf_putc(out, '"');
}

static bool is_mapping(const struct type *type, const char *text)
{
	return type->mapping && *text == '{';
}

static void print_scalar(const struct field *field, const void *value, struct buf *out)
{
	struct buf text = {0};

	field->type->print(value, &field->limit, &text);
	if (is_mapping(field->type, buf_str(&text)) || is_bare(field->type, buf_str(&text)))
		buf_add(out, buf_str(&text), text.len);
	else
		print_quoted(buf_str(&text), out);
	buf_free(&text);
}

static const void *item_of(struct vec list, size_t size, size_t i)
{
	return (const char *)list.v + i * size;
}

void print_value(const void *obj, const struct field *field, struct buf *out)
{
	struct vec list;

	if (field->kind == FIELD_LEAF) {
		print_scalar(field, schema_value(obj, field), out);
		return;
	}
	list = schema_vec(obj, field);
	buf_putc(out, '[');
	for (size_t i = 0; i < list.n; i++) {
		buf_puts(out, i ? ", " : "");
		print_scalar(field, item_of(list, field->type->size, i), out);
	}
	buf_putc(out, ']');
}

/* --- what is left out --- */

/* A default stands in the schema as its canonical text (a unit test holds that), so texts are compared. */
static bool is_default(const void *obj, const struct field *field)
{
	struct buf text = {0};
	bool is;

	field->type->print(schema_value(obj, field), &field->limit, &text);
	is = str_eq(buf_str(&text), field->def);
	buf_free(&text);
	return is;
}

bool print_is_said(const void *obj, const struct object_type *type, size_t i)
{
	const struct field *field = &type->fields[i];

	switch (field->kind) {
	case FIELD_LEAF:
		if (field->def)
			return !is_default(obj, field);
		return (((const struct entry *)obj)->set >> i & 1) || !field->type->is_absent(schema_value(obj, field));
	case FIELD_NODE:
		return schema_node(obj, field) != NULL;
	default:
		return schema_vec(obj, field).n > 0;
	}
}

/* --- YAML on one line --- */

static void flow_field(const void *obj, const struct field *field, struct buf *out)
{
	struct vec list;

	if (field->kind == FIELD_NODE) {
		print_flow(schema_node(obj, field), field->object, out);
		return;
	}
	if (field->kind != FIELD_NODES) {
		print_value(obj, field, out);
		return;
	}
	list = schema_vec(obj, field);
	buf_putc(out, '[');
	for (size_t i = 0; i < list.n; i++) {
		buf_puts(out, i ? ", " : "");
		print_flow(item_of(list, field->object->size, i), field->object, out);
	}
	buf_putc(out, ']');
}

void print_flow(const void *obj, const struct object_type *type, struct buf *out)
{
	const char *between = "";

	buf_putc(out, '{');
	for (size_t i = 0; i < type->n_fields; i++) {
		if (!print_is_said(obj, type, i))
			continue;
		buf_printf(out, "%s%s: ", between, type->fields[i].key);
		flow_field(obj, &type->fields[i], out);
		between = ", ";
	}
	buf_putc(out, '}');
}

/* --- YAML in blocks --- */

static void indent(unsigned depth, struct buf *out)
{
	for (unsigned i = 0; i < depth; i++)
		buf_puts(out, "  ");
}

static void block_object(
	const void *obj, const struct object_type *type, unsigned depth, bool in_list, struct buf *out);

static void block_field(const void *obj, const struct field *field, unsigned depth, struct buf *out)
{
	const void *node;
	struct vec list;

	buf_puts(out, field->key);
	buf_putc(out, ':');
	switch (field->kind) {
	case FIELD_NODE:
		node = schema_node(obj, field);
		block_object(node, field->object, depth + 1, false, out);
		return;
	case FIELD_NODES:
		buf_putc(out, '\n');
		list = schema_vec(obj, field);
		for (size_t i = 0; i < list.n; i++)
			block_object(item_of(list, field->object->size, i), field->object, depth + 1, true, out);
		return;
	default:
		buf_putc(out, ' ');
		print_value(obj, field, out);
		buf_putc(out, '\n');
	}
}

/* The rest of the line after "key:", or an entry of a list. */
static void block_object(const void *obj, const struct object_type *type, unsigned depth, bool in_list, struct buf *out)
{
	bool first = true;

	for (size_t i = 0; i < type->n_fields; i++) {
		if (!print_is_said(obj, type, i))
			continue;
		if (first && !in_list && depth > 0)
			buf_putc(out, '\n');
		indent(depth, out);
		if (in_list)
			buf_puts(out, first ? "- " : "  ");
		block_field(obj, &type->fields[i], depth + in_list, out);
		first = false;
	}
	if (first)
		buf_puts(out, depth > 0 ? " {}\n" : "{}\n");
}

void config_print(const struct config *cfg, struct buf *out)
{
	block_object(cfg, schema_root(), 0, false, out);
}

/* --- JSON --- */

static json_t *must(json_t *json)
{
	if (!json)
		abort();
	return json;
}

json_t *print_json_text(const struct type *type, const char *text)
{
	uint64_t number;

	if (str_eq(type->json_type, "boolean"))
		return must(json_boolean(str_eq(text, "true")));
	if (!type->text && str_to_u64(text, &number) == 0)
		return must(json_integer((json_int_t)number));
	return must(json_string(text));
}

/* "{ipv4: 1400, ipv6: 1380}" */
static json_t *json_mapping_text(const struct type *type, char *text)
{
	json_t *json = must(json_object());
	char *save = NULL;

	for (char *key = strtok_r(text, "{}, ", &save); key; key = strtok_r(NULL, "{}, ", &save)) {
		const char *value = strtok_r(NULL, "{}, ", &save);

		key[strcspn(key, ":")] = '\0';
		json_object_set_new(json, key, print_json_text(type, value ? value : ""));
	}
	return json;
}

static json_t *json_scalar(const struct field *field, const void *value)
{
	struct buf text = {0};
	json_t *json;

	field->type->print(value, &field->limit, &text);
	if (is_mapping(field->type, buf_str(&text)))
		json = json_mapping_text(field->type, text.data);
	else
		json = print_json_text(field->type, buf_str(&text));
	buf_free(&text);
	return json;
}

static json_t *json_of_object(const void *obj, const struct object_type *type);

static json_t *json_of_field(const void *obj, const struct field *field)
{
	struct vec list;
	json_t *json;

	if (field->kind == FIELD_LEAF)
		return json_scalar(field, schema_value(obj, field));
	if (field->kind == FIELD_NODE)
		return json_of_object(schema_node(obj, field), field->object);
	list = schema_vec(obj, field);
	json = must(json_array());
	for (size_t i = 0; i < list.n; i++)
		json_array_append_new(json,
			field->kind == FIELD_LIST
				? json_scalar(field, item_of(list, field->type->size, i))
				: json_of_object(item_of(list, field->object->size, i), field->object));
	return json;
}

static json_t *json_of_object(const void *obj, const struct object_type *type)
{
	json_t *json = must(json_object());

	for (size_t i = 0; i < type->n_fields; i++)
		if (print_is_said(obj, type, i))
			json_object_set_new(json, type->fields[i].key, json_of_field(obj, &type->fields[i]));
	return json;
}

json_t *config_to_json(const struct config *cfg)
{
	return json_of_object(cfg, schema_root());
}
