/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What may stand in a row, in words for people and in pieces for completion and exports. Pure. */
#pragma once

#include <stdbool.h>

struct arena;
struct field;

/* Of a leaf or an item of a list: "a number from 1 to 16777215". In `arena`. */
const char *hint_want(const struct field *field, struct arena *arena);

/* The alternatives of a type's yaml_hint, such as "auto|number|{ipv4: number, ipv6: number}". */
enum hint_kind {
	HINT_WORD,    /* "auto": stands for itself */
	HINT_NUMBER,  /* a plain number, in the row's range if it has one */
	HINT_MAPPING, /* "{ipv4: number, ipv6: number}" */
	HINT_FREE,    /* "ADDRESS": a name for what may stand there */
};
struct hint {
	enum hint_kind kind;
	char text[64];
};
/* Next piece from *pos, which starts as NULL; false at the end. */
bool hint_next(const struct field *field, const char **pos, struct hint *ret);
