/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Diagnostics: what is wrong with an operator's file, all of it at once, each with its place.
 *     FILE:LINE:COL: error: what is wrong, and what would be right
 * An operator's mistake comes here and never to the log.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct buf;

struct loc {
	uint32_t line; /* from 1; 0 means "the file as a whole" */
	uint32_t col;  /* from 1, in characters */
};

enum severity { SEV_ERROR, SEV_WARNING };

struct diag_msg {
	struct loc loc;
	enum severity severity;
	char *text;
};

enum { DIAG_MAX = 1000 }; /* messages kept; above it a last line says how many were left out */

struct diag {
	const char *file; /* borrowed; "-" for standard input */
	struct diag_msg *v;
	size_t n;
	size_t n_errors; /* all of them, also those above DIAG_MAX */
	size_t n_left_out;
};

void diag_init(struct diag *d, const char *file);
void diag_free(struct diag *d);

void diag_error(struct diag *d, struct loc loc, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void diag_warning(struct diag *d, struct loc loc, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Sorts by place (stable), for print and JSON. */
void diag_sort(struct diag *d);
/* Appends "FILE:LINE:COL: error: text\n" for each message; without a line, "FILE: error: text\n". */
void diag_print(const struct diag *d, struct buf *out);

/* The order of places in a file. */
int loc_cmp(struct loc a, struct loc b);

/* A foreign text as a message may show it: bare if it is one plain word, else quoted; shortened, nothing unprintable.
 */
const char *diag_show(struct arena *arena, const char *text);

/* "did you mean": offer the known words one by one, then look at best (NULL: none is near). */
struct nearest {
	const char *word;
	const char *best;
	size_t distance;
};
void nearest_try(struct nearest *n, const char *candidate);
