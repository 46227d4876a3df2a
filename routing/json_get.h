/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Members of JSON that somebody else wrote: what is absent, or of another type, is "", 0, false or NULL. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

static inline const char *get_text(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

/* Never negative. */
static inline int64_t get_number(const json_t *object, const char *key)
{
	int64_t n = json_integer_value(json_object_get(object, key));

	return n < 0 ? 0 : n;
}

static inline bool get_flag(const json_t *object, const char *key)
{
	return json_is_true(json_object_get(object, key));
}

static inline json_t *text_or_null_json(const char *text)
{
	return text && *text ? json_string(text) : json_null();
}
