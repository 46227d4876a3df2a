/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file under examination. An error must not hide the others, so a check sees what is right in a file that is not.
 * The one idea: nothing that runs can get at it. A config for use comes from config_parse() or engine_load(), which
 * give all or nothing; `make check-layers` keeps this header between the two.
 */
#pragma once

#include <stddef.h>

struct arena;
struct config;
struct diag;

/*
 * Both NULL where the text could not be read at all; the same where it has no error. Of what a list of the file's top
 * says, `sound` has the entries without an error of their own; the same of the lists of a mapping there. A row of the
 * top that lacks something is not whole (CONFIG_IS_WHOLE), and a mapping there with an error elsewhere than in its
 * lists is NULL, also where it is required. A reference in `sound` may lead nowhere: config_line() and its like then
 * give NULL, and the reason was reported.
 */
struct config_draft {
	const struct config *read;  /* every value that was understood: for rules that judge one value alone */
	const struct config *sound; /* for rules that compare */
};

/* As config_parse(), errors or not. */
struct config_draft config_parse_draft(const char *text, size_t len, struct arena *arena, struct diag *diag);
