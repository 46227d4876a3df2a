/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See diag_json.h. */
#include "gateway/engine/diag_json.h"

#include "config/diag.h"

/* A message may quote what stands in the file; bytes that are no text have no place in JSON. */
static json_t *text_json(const char *text)
{
	json_t *json = json_string(text);

	return json ? json : json_string("a message that quotes bytes which are not valid UTF-8");
}

json_t *diag_to_json(const struct diag *diag)
{
	json_t *list = json_array();

	for (size_t i = 0; i < diag->n; i++) {
		const struct diag_msg *m = &diag->v[i];

		json_array_append_new(list,
			json_pack("{s:I, s:I, s:s, s:o}", "line", (json_int_t)m->loc.line, "column",
				(json_int_t)m->loc.col, "severity", m->severity == SEV_ERROR ? "error" : "warning",
				"text", text_json(m->text)));
	}
	return list;
}
