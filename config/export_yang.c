/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The YANG 1.1 module (RFC 7950), docs/fairway.yang: the same schema for tools that know nothing of Fairway, and an
 * independent judge of our own checks.
 * The one idea: a mapping is a container, a list of mappings a list with its key, a reference a leafref. A mapping that
 * may be left out is a presence container, so what it requires is required only where it is given.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include "config/export.h"
#include "config/hint.h"
#include "config/schema.h"
#include "config/types.h"
#include "gateway/base/arena.h"
#include "gateway/base/buf.h"
#include "gateway/base/cleanup.h"
#include "gateway/base/str.h"

static const char head[] =
	"module fairway {\n"
	"  yang-version 1.1;\n"
	"  namespace \"urn:fairway\";\n"
	"  prefix fw;\n"
	"\n"
	"  organization \"Fairway\";\n"
	"  description\n"
	"    \"What an operator may say to a Fairway gateway. Generated from config/schema/*.def by make docs.\n"
	"     Times, rates and percentages are texts with their unit, as in the YAML file.\";\n";

/* One statement on its own line; what it holds is one level deeper. */
__attribute__((format(printf, 3, 4))) static void line(struct buf *out, unsigned depth, const char *fmt, ...)
{
	va_list ap;

	for (unsigned i = 0; i < depth; i++)
		buf_puts(out, "  ");
	va_start(ap, fmt);
	buf_vprintf(out, fmt, ap);
	va_end(ap);
	buf_putc(out, '\n');
}

static void quoted(struct buf *out, const char *text)
{
	buf_putc(out, '"');
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			buf_putc(out, '\\');
		buf_putc(out, *text);
	}
	buf_putc(out, '"');
}

/* keyword "text"; */
static void said(struct buf *out, unsigned depth, const char *keyword, const char *text)
{
	struct buf b = {0};

	quoted(&b, text);
	line(out, depth, "%s %s;", keyword, buf_str(&b));
	buf_free(&b);
}

/* "segment_mode" -> "segment-mode", "MAC" -> "mac" */
static const char *identifier(const char *name, struct arena *arena)
{
	char *id = arena_strdup(arena, name);

	for (char *p = id; *p; p++) {
		if (*p == '_')
			*p = '-';
		else if (*p >= 'A' && *p <= 'Z')
			*p = (char)(*p - 'A' + 'a');
	}
	return id;
}

/* --- typedefs --- */

static void typedef_enum(struct buf *out, const struct words *words, const char *name)
{
	line(out, 1, "typedef %s {", name);
	line(out, 2, "type enumeration {");
	for (size_t i = 0; i < words->n; i++) {
		line(out, 3, "enum %s {", words->v[i].word);
		said(out, 4, "description", words->v[i].help);
		line(out, 3, "}");
	}
	line(out, 2, "}");
	said(out, 2, "description", words->help);
	line(out, 1, "}");
}

static void typedef_type(struct buf *out, const struct field *field, const char *name)
{
	_cleanup_(arena_freep) struct arena *arena = arena_new();

	line(out, 1, "typedef %s {", name);
	line(out, 2, "%s", field->type->yang_type);
	if (!field->limit.has_range)
		said(out, 2, "description", hint_want(field, arena));
	line(out, 1, "}");
}

/* The name of a row's typedef; NULL if its type is made from its limit. */
static const char *typedef_name(const struct field *field, struct arena *arena)
{
	if (field->limit.words)
		return identifier(field->limit.words->name, arena);
	return field->type->yang_type && !field->limit.ref ? identifier(field->type->name, arena) : NULL;
}

enum { TYPEDEFS_MAX = 64 };

struct typedefs {
	struct arena *arena;
	const char *names[TYPEDEFS_MAX];
	size_t n;
};

static bool is_new(struct typedefs *t, const char *name)
{
	for (size_t i = 0; i < t->n; i++)
		if (str_eq(t->names[i], name))
			return false;
	if (t->n < TYPEDEFS_MAX)
		t->names[t->n++] = name;
	return true;
}

static void typedefs(struct buf *out, const struct object_type *type, struct typedefs *t)
{
	for (size_t i = 0; i < type->n_fields; i++) {
		const struct field *field = &type->fields[i];
		const char *name;

		if (field->object) {
			typedefs(out, field->object, t);
			continue;
		}
		name = typedef_name(field, t->arena);
		if (!name || !is_new(t, name))
			continue;
		buf_putc(out, '\n');
		if (field->limit.words)
			typedef_enum(out, field->limit.words, name);
		else
			typedef_type(out, field, name);
	}
}

/* --- nodes --- */

static void type_statement(struct buf *out, unsigned depth, const struct field *field)
{
	_cleanup_(arena_freep) struct arena *arena = arena_new();
	const char *name = typedef_name(field, arena), *pos = NULL;
	const char *range;
	struct hint hint;

	if (field->limit.ref) {
		struct target target = schema_target(field->limit.ref);

		line(out, depth, "type leafref {");
		line(out, depth + 1, "path \"/fw:%s/fw:%s\";", schema_target_str(&target, "/fw:", arena),
			schema_key(target.list->object)->key);
		line(out, depth, "}");
		return;
	}
	if (name) {
		line(out, depth, "type %s;", name);
		return;
	}
	range = field->limit.has_range
		? arena_printf(arena, " { range \"%" PRIu64 "..%" PRIu64 "\"; }", field->limit.min, field->limit.max)
		: ";";
	if (str_eq(field->type->json_type, "integer")) {
		line(out, depth, "type uint32%s", range);
		return;
	}
	line(out, depth, "type union {");
	while (hint_next(field, &pos, &hint)) {
		if (hint.kind == HINT_WORD)
			line(out, depth + 1, "type enumeration { enum %s; }", hint.text);
		else
			line(out, depth + 1, "type uint32%s", range);
	}
	line(out, depth, "}");
}

static void description(struct buf *out, unsigned depth, const struct field *field)
{
	struct buf b = {0};

	buf_printf(&b, "%s. On change: %s.", field->help, change_name(field->change));
	if (field->flags & F_SECRET)
		buf_puts(&b, " Names a file that only its owner may read.");
	if (field->flags & F_LATER)
		buf_puts(&b, " Checked, not acted on yet.");
	said(out, depth, "description", buf_str(&b));
	buf_free(&b);
}

static void nodes(struct buf *out, unsigned depth, const struct object_type *type);

static void node(struct buf *out, unsigned depth, const struct field *field)
{
	static const char *const keywords[] = {
		[FIELD_LEAF] = "leaf", [FIELD_LIST] = "leaf-list", [FIELD_NODE] = "container", [FIELD_NODES] = "list"};
	bool required = field->flags & F_REQUIRED;

	line(out, depth, "%s %s {", keywords[field->kind], field->key);
	if (field->kind == FIELD_NODES)
		said(out, depth + 1, "key", schema_key(field->object)->key);
	if (field->kind == FIELD_NODE && !required)
		said(out, depth + 1, "presence", field->help);
	if (field->type)
		type_statement(out, depth + 1, field);
	if (field->kind == FIELD_LEAF && required && !(field->flags & F_KEY))
		line(out, depth + 1, "mandatory true;");
	if ((field->kind == FIELD_LIST || field->kind == FIELD_NODES) && required)
		line(out, depth + 1, "min-elements 1;");
	if (field->kind == FIELD_LIST)
		line(out, depth + 1, "ordered-by user;");
	if (field->def)
		said(out, depth + 1, "default", field->def);
	description(out, depth + 1, field);
	if (field->object)
		nodes(out, depth + 1, field->object);
	line(out, depth, "}");
}

static void nodes(struct buf *out, unsigned depth, const struct object_type *type)
{
	for (size_t i = 0; i < type->n_fields; i++) {
		if (depth == 1)
			buf_putc(out, '\n');
		node(out, depth, &type->fields[i]);
	}
}

void export_yang(struct buf *out)
{
	_cleanup_(arena_freep) struct arena *arena = arena_new();
	struct typedefs t = {.arena = arena};

	buf_puts(out, head);
	typedefs(out, schema_root(), &t);
	nodes(out, 1, schema_root());
	buf_puts(out, "}\n");
}
