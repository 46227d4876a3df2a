/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Output: a command makes data, one of these prints it; no command asks which. In data, the members "text" and
 * "messages" are what people get to read; programs get all the others.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

struct buf;

struct output {
	void (*print)(const json_t *data, struct buf *out);
	bool prints_errors; /* as data, beside the message on standard error */
};

extern const struct output output_text; /* "text" where there is one, else lists as tables */
extern const struct output output_json;
