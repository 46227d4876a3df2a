/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Completion and help from the schema: what may follow a path. Pure.
 * A path is words as the shell has them: "segments gpu mss".
 */
#pragma once

#include <stddef.h>

struct arena;
struct config;

struct completion {
	const char *word; /* what may stand next; "<1-16777215>" style for free values */
	const char *help;
};

/*
 * Candidates for the word after path[0..n-1] that begin with `prefix`; the "<...>" of a free value always, as any
 * prefix may be the beginning of one. cfg (may be NULL) gives keys of lists and targets of references. Returns their
 * number and *ret in arena; 0 if the path leads nowhere.
 */
size_t config_complete(const struct config *cfg, const char *const *path, size_t n, const char *prefix,
	struct arena *arena, struct completion **ret);
