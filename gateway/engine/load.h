/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From text to a config that may run: parsed, and checked by the schema, the secret files and every subsystem. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct config;
struct diag;
struct engine;

/* NULL if diag has an error. `secrets`: look at the files that it names too, secrets and prefixes. Everything is in
 * `arena`. */
const struct config *engine_load(
	const struct engine *e, const char *text, size_t len, bool secrets, struct arena *arena, struct diag *diag);
