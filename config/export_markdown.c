/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The reference for operators, docs/reference.md: one section for each mapping of the file, one line for each key. */
#include <string.h>

#include "config/export.h"
#include "config/hint.h"
#include "config/preset.h"
#include "config/schema.h"
#include "config/types.h"
#include "gateway/base/arena.h"
#include "gateway/base/buf.h"
#include "gateway/base/cleanup.h"
#include "gateway/base/str.h"

static const char intro[] =
	"# Reference of the configuration file\n"
	"\n"
	"This page is generated from the schema (`config/schema/*.def`) by `make docs`. Do not edit it.\n"
	"\n"
	"The file is `/etc/fairway/fairway.yaml`: YAML 1.2, of which JSON is a part. Anchors, aliases, tags and keys "
	"given\n"
	"twice are errors. A section below is one mapping of the file; its title is the path to it, `[]` stands for "
	"each entry\n"
	"of a list. The columns:\n"
	"\n"
	"| column | meaning |\n"
	"|---|---|\n"
	"| Key | the keyword |\n"
	"| Value | what may stand there. Times, rates and percentages carry their unit: `50ms`, `10gbit`, `0.1%` |\n"
	"| Default | what a key that is left out means; empty: nothing |\n"
	"| Required | `yes`: it must be given. `key`: it must be given, and names the entry: no other of the list has "
	"it |\n"
	"| On change | what changing it costs while the gateway runs, see below |\n"
	"| Meaning | what it is for |\n"
	"\n"
	"| On change | cost |\n"
	"|---|---|\n"
	"| live | changed in place; nothing is interrupted |\n"
	"| restart | the session that it belongs to is made anew |\n"
	"| recreate | the object is removed and made again; what runs over it is interrupted |\n"
	"\n"
	"`fairway diff FILE` and the plan name this cost before anything is done. Adding or removing a whole entry "
	"touches no\n"
	"other entry. *Not acted on yet* means that the value is checked and kept, and that using it gives a "
	"warning.\n"
	"\n"
	"`fairway check FILE` checks all of it. An editor with a YAML language server checks keys and values while you "
	"type, if\n"
	"the file begins with:\n"
	"\n"
	"```yaml\n"
	"# yaml-language-server: $schema=/usr/share/doc/fairway/fairway.schema.json\n"
	"```\n";

/* In a cell a bar would end it. */
static void cell(struct buf *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '|')
			buf_putc(out, '\\');
		buf_putc(out, *text);
	}
}

/* Title and anchor of the section of a mapping: "lines[].bfd", "lines-bfd". */
struct section {
	const struct section *up;
	const struct field *field;
};

static void section_title(const struct section *s, struct buf *out)
{
	if (s->up) {
		section_title(s->up, out);
		buf_putc(out, '.');
	}
	buf_puts(out, s->field->key);
	if (s->field->kind == FIELD_NODES)
		buf_puts(out, "[]");
}

static void section_anchor(const struct section *s, struct buf *out)
{
	if (s->up) {
		section_anchor(s->up, out);
		buf_putc(out, '-');
	}
	buf_puts(out, s->field->key);
}

static void value_cell(const struct section *up, const struct field *field, struct buf *out)
{
	_cleanup_(arena_freep) struct arena *arena = arena_new();
	const struct section child = {up, field};

	switch (field->kind) {
	case FIELD_NODE:
	case FIELD_NODES:
		buf_puts(out, field->kind == FIELD_NODE ? "a mapping, see [`" : "a list of mappings, see [`");
		section_title(&child, out);
		buf_puts(out, "`](#");
		section_anchor(&child, out);
		buf_putc(out, ')');
		return;
	case FIELD_LIST:
		buf_puts(out, "a list; each item ");
		break;
	default:
		break;
	}
	if (field->limit.ref) {
		struct target target = schema_target(field->limit.ref);

		buf_printf(out, "a name under [`%s`](#%s)", schema_target_str(&target, ".", arena),
			schema_target_str(&target, "-", arena));
	} else {
		cell(out, hint_want(field, arena));
	}
}

static void row(const struct section *up, const struct field *field, struct buf *out)
{
	buf_printf(out, "| `%s` | ", field->key);
	value_cell(up, field, out);
	buf_puts(out, " | ");
	if (field->def)
		buf_printf(out, "`%s`", field->def);
	buf_printf(out, " | %s", field->flags & F_KEY ? "key" : field->flags & F_REQUIRED ? "yes" : "");
	buf_printf(out, " | %s | ", change_name(field->change));
	cell(out, field->help);
	if (field->flags & F_SECRET)
		buf_puts(out, "; readable by its owner only");
	if (field->flags & F_LATER)
		buf_puts(out, ". *Not acted on yet*");
	buf_puts(out, " |\n");
}

static void table(const struct section *up, const struct object_type *type, struct buf *out)
{
	buf_puts(out, "| Key | Value | Default | Required | On change | Meaning |\n|---|---|---|---|---|---|\n");
	for (size_t i = 0; i < type->n_fields; i++)
		row(up, &type->fields[i], out);
}

static void words(const struct field *field, struct buf *out)
{
	buf_printf(out, "\n`%s` is one of:\n\n", field->key);
	for (size_t i = 0; i < field->limit.words->n; i++)
		buf_printf(out, "- `%s`: %s\n", field->limit.words->v[i].word, field->limit.words->v[i].help);
}

static void sections(const struct section *up, const struct object_type *type, struct buf *out)
{
	for (size_t i = 0; i < type->n_fields; i++) {
		const struct field *field = &type->fields[i];
		const struct section here = {up, field};

		if (!field->object)
			continue;
		buf_puts(out, "\n<a id=\"");
		section_anchor(&here, out);
		buf_puts(out, "\"></a>\n\n## `");
		section_title(&here, out);
		buf_printf(out, "`\n\n%c%s.\n\n", field->object->help[0] & ~0x20, field->object->help + 1);
		table(&here, field->object, out);
		for (size_t k = 0; k < field->object->n_fields; k++)
			if (field->object->fields[k].limit.words)
				words(&field->object->fields[k], out);
		sections(&here, field->object, out);
	}
}

static const char presets_intro[] =
	"\n<a id=\"presets\"></a>\n\n## Provider presets\n"
	"\n"
	"What is published about the far end of a line with this `provider`. A *default* is used where the file says "
	"nothing\n"
	"else. What is *refused* would keep the session down; what is *warned of* can be raised by the account, or is "
	"less "
	"than\n"
	"what was asked for. `generic`, and every value that a provider does not publish, has no rule. `max-prefixes` "
	"has no "
	"default\n"
	"from here: how much we take is the operator's word.\n"
	"\n"
	"The routes that this file announces (networks, aggregates and the vtep, as far as `policy-out` lets them "
	"pass) are "
	"counted\n"
	"by `fairway check`. What is passed on from other sessions is known only while the gateway runs: `fairway show "
	"bgp` "
	"warns\n"
	"where a session was told 75 % of what its provider takes, or more.\n"
	"\n"
	"| Provider | What | Value | Beyond it | Why | Source |\n|---|---|---|---|---|---|\n";

static void presets(struct buf *out)
{
	static const char *const beyond[] = {
		[PRESET_NOTE] = "", [PRESET_WARN] = "warned of", [PRESET_REFUSE] = "refused"};
	const struct preset *p;
	char value[32];

	buf_puts(out, presets_intro);
	for (size_t i = 0; (p = preset_at(i)) != NULL; i++)
		buf_printf(out, "| `%s` | %s | %s | %s | %s | %s |\n", preset_provider(p), preset_name(p),
			preset_value(p, value), beyond[p->weight], p->reason, p->source);
}

void export_markdown(struct buf *out)
{
	buf_puts(out, intro);
	buf_puts(out, "\n## The file\n\n");
	table(NULL, schema_root(), out);
	sections(NULL, schema_root(), out);
	presets(out);
}
