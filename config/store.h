/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Revisions on disk: what ran, who made it so, when and why. The edge of config/.
 *
 *   DIR/revisions/000042.yaml   text as it was applied, comments and all (0600)
 *   DIR/revisions/000042.json   number, time, user, comment, source; size and hash of the text
 *   DIR/pending.yaml, .json     from before the first step of a commit to its end; a crash leaves them
 *   DIR/running                 symbolic link to the revision that runs, replaced by rename
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <time.h>

enum { STORE_KEEP_DEFAULT = 50 };

struct revision {
	uint64_t number;
	time_t time;
	char user[64]; /* this and the next: UTF-8 of one line, no control characters */
	char comment[256];
	char source[256]; /* the file it came from, or "boot" */
};

struct store;

/*
 * Opens (makes, 0700) the folder and locks it; leftovers of a torn write are cleaned. A link `running` that leads
 * to nothing of use is led to the newest revision that is sound. 0 or -errno; -EBUSY: another process has it.
 */
int store_open(const char *dir, unsigned keep, struct store **ret);
void store_close(struct store *s);
void store_closep(struct store **s);

/*
 * Writes the pending revision, synced, before anything is touched. The store chooses its number, not `meta`.
 * -EINVAL: a control character in meta's texts, an impossible time, or a NUL in the text; -EFBIG: too long.
 */
int store_begin(struct store *s, const char *text, size_t len, const struct revision *meta);
/* The pending revision ran and was verified: it becomes the running one; the oldest beyond `keep` go. */
int store_commit(struct store *s, uint64_t *ret_number);
/* The pending revision is forgotten. Fine if there is none. */
int store_abort(struct store *s);
/* Was a commit cut short by a crash? 1 yes (ret filled), 0 no, -errno. */
int store_pending(struct store *s, struct revision *ret);

/* Newest first; caller frees *ret. */
int store_list(struct store *s, struct revision **ret, size_t *ret_n);
/*
 * Text of a revision (caller frees); number 0: the running one. -ENOENT if there is none, -EBADMSG if it is no longer
 * what was stored. ret_meta may be NULL.
 */
int store_read(struct store *s, uint64_t number, char **ret, size_t *ret_len, struct revision *ret_meta);
