/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Revisions on disk: what ran, who made it so, when and why. The edge of config/.
 *
 *   DIR/revisions/000042.yaml   text as it was applied, comments and all (0600)
 *   DIR/revisions/000042.json   {"number", "time", "user", "comment", "source"}
 *   DIR/pending.yaml, .json     written before the first step of a commit, gone after its end: a crash in between is
 * seen DIR/running                 symbolic link to the revision that runs, replaced by rename
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <time.h>

enum { STORE_KEEP_DEFAULT = 50 };

struct revision {
	uint64_t number;
	time_t time;
	char user[64];
	char comment[256];
	char source[256]; /* the file it came from, or "boot" */
};

struct store;

/* Opens (makes, 0700) the folder; leftovers of a torn write are cleaned. 0 or -errno. */
int store_open(const char *dir, unsigned keep, struct store **ret);
void store_close(struct store *s);
void store_closep(struct store **s);

/* Writes the pending revision, synced, before anything is touched. `meta->number` is chosen by the store. */
int store_begin(struct store *s, const char *text, size_t len, const struct revision *meta);
/* The pending revision ran and was verified: it becomes the running one; the oldest beyond `keep` go. */
int store_commit(struct store *s, uint64_t *ret_number);
/* The pending revision is forgotten. Fine if there is none. */
int store_abort(struct store *s);
/* Was a commit cut short by a crash? 1 yes (ret filled), 0 no, -errno. */
int store_pending(struct store *s, struct revision *ret);

/* Newest first; caller frees *ret. */
int store_list(struct store *s, struct revision **ret, size_t *ret_n);
/* Text of a revision (caller frees); number 0: the running one. -ENOENT if there is none. */
int store_read(struct store *s, uint64_t number, char **ret, size_t *ret_len, struct revision *ret_meta);
