/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Completion; see complete.h.
 * The one idea: a path is walked through the schema and, as far as it goes there, through the config; what may come
 * next depends only on where the walk ends.
 */
#include "config/complete.h"

#include <inttypes.h>
#include <string.h>

#include "config/hint.h"
#include "config/schema.h"
#include "config/types.h"
#include "gateway/base/arena.h"
#include "gateway/base/buf.h"
#include "gateway/base/str.h"

/* Where the walk is. */
struct place {
	enum { IN_OBJECT, IN_NODES, IN_VALUE, NOWHERE } kind;
	const struct object_type *type; /* of the object that we are in, or whose row we are at */
	const void *obj;		/* that object; NULL if the config does not have it */
	const struct field *field;	/* the row, if not IN_OBJECT */
	const char *const *given;	/* items of a list that the path has already */
	size_t n_given;
};

struct words_found {
	struct arena *arena;
	const char *prefix;
	struct completion *v;
	size_t n, cap;
};

static void offer_always(struct words_found *f, const char *word, const char *help)
{
	if (f->n == f->cap) {
		size_t cap = f->cap ? 2 * f->cap : 16;
		struct completion *v = arena_array(f->arena, cap, sizeof(*v));

		if (f->n)
			memcpy(v, f->v, f->n * sizeof(*v));
		f->v = v;
		f->cap = cap;
	}
	f->v[f->n++] = (struct completion){word, help};
}

static void offer(struct words_found *f, const char *word, const char *help)
{
	if (str_starts(word, f->prefix))
		offer_always(f, word, help);
}

/* --- entries of a list --- */

static const char *key_text(const void *entry, const struct field *key, struct arena *arena)
{
	struct buf b = {0};
	const char *text;

	key->type->print(schema_value(entry, key), &key->limit, &b);
	text = arena_strndup(arena, buf_str(&b), b.len);
	buf_free(&b);
	return text;
}

/* What an operator knows an entry by: its description, if it has one. */
static const char *entry_help(const void *entry, const struct object_type *type)
{
	const struct field *field = schema_field(type, "description");
	const char *const *text = field ? schema_value(entry, field) : NULL;

	return text && *text && **text ? *text : type->help;
}

static void offer_entries(struct words_found *f, struct vec list, const struct object_type *type)
{
	const struct field *key = schema_key(type);

	for (size_t i = 0; i < list.n; i++) {
		const void *entry = (const char *)list.v + i * type->size;

		offer(f, key_text(entry, key, f->arena), entry_help(entry, type));
	}
}

/* --- the walk --- */

static void step_into_row(struct place *p, const char *word)
{
	const struct field *field = schema_field(p->type, word);

	if (!field) {
		p->kind = NOWHERE;
	} else if (field->kind == FIELD_NODE) {
		p->obj = p->obj ? schema_node(p->obj, field) : NULL;
		p->type = field->object;
	} else {
		p->kind = field->kind == FIELD_NODES ? IN_NODES : IN_VALUE;
		p->field = field;
	}
}

/* The word may spell a key in another way than the config prints it, so values are compared. */
static void step_into_entry(struct place *p, const char *word, struct arena *arena)
{
	const struct object_type *type = p->field->object;
	const struct field *key = schema_key(type);
	_Alignas(max_align_t) char value[64] = {0};
	const void *entry = NULL;
	struct vec list = {0};
	const char *want;

	if (key->type->parse(word, &key->limit, arena, value, &want) < 0) {
		p->kind = NOWHERE;
		return;
	}
	if (p->obj)
		list = schema_vec(p->obj, p->field);
	for (size_t i = 0; i < list.n && !entry; i++) {
		const char *one = (const char *)list.v + i * type->size;

		if (key->type->compare(schema_value(one, key), value) == 0)
			entry = one;
	}
	*p = (struct place){.kind = IN_OBJECT, .type = type, .obj = entry};
}

static struct place walk(const struct config *cfg, const char *const *path, size_t n, struct arena *arena)
{
	struct place p = {.kind = IN_OBJECT, .type = schema_root(), .obj = cfg};

	for (size_t i = 0; i < n && p.kind != NOWHERE; i++) {
		if (p.kind == IN_OBJECT)
			step_into_row(&p, path[i]);
		else if (p.kind == IN_NODES)
			step_into_entry(&p, path[i], arena);
		else if (p.field->kind == FIELD_LIST)
			p = (struct place){IN_VALUE, p.type, p.obj, p.field, &path[i - p.n_given], p.n_given + 1};
		else
			p.kind = NOWHERE; /* nothing follows a value */
	}
	return p;
}

/* --- what may come --- */

static const char *free_word(const struct field *field, const struct hint *hint, struct arena *arena)
{
	if (hint->kind == HINT_NUMBER && field->limit.has_range)
		return arena_printf(arena, "<%" PRIu64 "-%" PRIu64 ">", field->limit.min, field->limit.max);
	if (hint->kind == HINT_MAPPING)
		return arena_printf(arena, "<%s>", hint->text);
	return arena_printf(arena, "<%.*s>", (int)strcspn(hint->text, ","), hint->text);
}

static void offer_hints(struct words_found *f, const struct field *field)
{
	const char *pos = NULL;
	struct hint hint;

	while (hint_next(field, &pos, &hint)) {
		if (hint.kind == HINT_WORD)
			offer(f, arena_strdup(f->arena, hint.text), field->help);
		else
			offer_always(f, free_word(field, &hint, f->arena), hint_want(field, f->arena));
	}
}

static void offer_rows(struct words_found *f, const struct object_type *type)
{
	for (size_t i = 0; i < type->n_fields; i++)
		if (!(type->fields[i].flags & F_KEY)) /* the path has it */
			offer(f, type->fields[i].key, type->fields[i].help);
}

static void offer_targets(struct words_found *f, const struct config *cfg, const char *ref)
{
	struct target target = schema_target(ref);

	if (cfg)
		offer_entries(f, schema_target_list(cfg, &target), target.list->object);
	offer_hints(f, schema_key(target.list->object));
}

static void drop_given(struct words_found *f, const struct place *p)
{
	size_t kept = 0;

	for (size_t i = 0; i < f->n; i++) {
		bool given = false;

		for (size_t k = 0; k < p->n_given; k++)
			given = given || str_eq(f->v[i].word, p->given[k]);
		if (!given)
			f->v[kept++] = f->v[i];
	}
	f->n = kept;
}

static void offer_values(struct words_found *f, const struct config *cfg, const struct place *p)
{
	const struct words *words = p->field->limit.words;

	if (p->field->limit.ref)
		offer_targets(f, cfg, p->field->limit.ref);
	else if (!words)
		offer_hints(f, p->field);
	for (size_t i = 0; words && i < words->n; i++)
		offer(f, words->v[i].word, words->v[i].help);
	drop_given(f, p);
}

size_t config_complete(const struct config *cfg, const char *const *path, size_t n, const char *prefix,
	struct arena *arena, struct completion **ret)
{
	struct words_found found = {.arena = arena, .prefix = prefix};
	struct place p = walk(cfg, path, n, arena);

	if (p.kind == IN_OBJECT)
		offer_rows(&found, p.type);
	else if (p.kind == IN_VALUE)
		offer_values(&found, cfg, &p);
	if (p.kind == IN_NODES) {
		if (p.obj)
			offer_entries(&found, schema_vec(p.obj, p.field), p.field->object);
		offer_hints(&found, schema_key(p.field->object)); /* a new one */
	}
	*ret = found.v;
	return found.n;
}
