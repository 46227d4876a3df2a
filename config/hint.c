/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What may stand in a row; see hint.h.
 * The one idea: nothing is described twice. The words for people are those of the parser's own refusal.
 */
#include "config/hint.h"

#include <stddef.h>
#include <string.h>

#include "config/schema.h"
#include "config/types.h"
#include "gateway/base/arena.h"
#include "gateway/base/str.h"

/* Room for a value of any type. */
struct value {
	_Alignas(max_align_t) char bytes[64];
};

const char *hint_want(const struct field *field, struct arena *arena)
{
	struct value value = {0};
	const char *want = NULL;

	(void)field->type->parse("\n", &field->limit, arena, &value, &want); /* "\n" is never right */
	return want;
}

/* A piece that is a value of the type stands for itself; any word is a text, so a text has none. */
static bool is_word(const struct field *field, const char *piece)
{
	struct arena *arena;
	struct value value = {0};
	const char *want;
	bool is;

	if (field->type->text)
		return false;
	arena = arena_new();
	is = field->type->parse(piece, &field->limit, arena, &value, &want) == 0;
	arena_free(arena);
	return is;
}

bool hint_next(const struct field *field, const char **pos, struct hint *ret)
{
	const char *from = *pos ? *pos : field->type->yaml_hint;
	size_t len = strcspn(from, "|");

	if (!*from)
		return false;
	*pos = from[len] ? from + len + 1 : from + len;
	if (len >= sizeof(ret->text))
		len = sizeof(ret->text) - 1;
	memcpy(ret->text, from, len);
	ret->text[len] = '\0';
	ret->kind = str_eq(ret->text, "number") ? HINT_NUMBER
		: *ret->text == '{'		? HINT_MAPPING
		: is_word(field, ret->text)	? HINT_WORD
						: HINT_FREE;
	return true;
}
