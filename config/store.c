/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Revisions on disk; see store.h.
 *
 * The one idea: one rename decides. A commit links the pending files under their number, then replaces the link
 * `running`; only that makes it the running revision. Whatever a crash leaves on either side of the rename is known by
 * its name, and store_open() removes it.
 *
 * Everything is synced before it is referred to: a file before its name, a name before the next step. The record of a
 * revision has the size and hash of its text, so that a text spoilt on disk is refused and never applied by half.
 */
#include "config/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/config.h"
#include "config/store_record.h"
#include "config/store_scan.h"
#include "gateway/base/cleanup.h"
#include "gateway/base/fs.h"
#include "gateway/base/str.h"

#define REVISIONS "revisions"
#define PENDING_TEXT "pending.yaml"
#define PENDING_META "pending.json"
#define RUNNING "running"
#define RUNNING_NEW "running.tmp"

enum { META_MAX = 16384 };

struct store {
	char *dir;     /* absolute */
	int fd;	       /* of dir, locked: one process uses a store */
	int revisions; /* folder */
	unsigned keep;
};

/* --- names --- */

static char *path_of(const struct store *s, const char *folder, const char *name)
{
	char *path;

	if (asprintf(&path, "%s%s/%s", s->dir, folder, name) < 0)
		abort();
	return path;
}

/* --- records --- */

/* -ENOENT if there is none, -EBADMSG if it is spoilt. */
static int record_read(const struct store *s, const char *folder, const char *name, struct record *ret)
{
	_cleanup_free_ char *path = path_of(s, folder, name), *text = NULL;
	size_t len;
	int r = fs_read(path, META_MAX, &text, &len);

	if (r < 0)
		return r == -EFBIG ? -EBADMSG : r;
	return record_parse(text, len, ret) ? 0 : -EBADMSG;
}

static int revision_read(const struct store *s, uint64_t number, struct record *ret)
{
	char name[REVISION_NAME_SIZE];
	struct record record;
	int r;

	if (number < 1 || number > RECORD_NUMBER_MAX)
		return -ENOENT;
	revision_name(number, ".json", name);
	r = record_read(s, "/" REVISIONS, name, &record);
	if (r < 0)
		return r;
	if (record.meta.number != number)
		return -EBADMSG;
	*ret = record;
	return 0;
}

static int text_read(const struct store *s, const struct record *record, char **ret)
{
	_cleanup_free_ char *path = NULL, *text = NULL;
	char name[REVISION_NAME_SIZE];
	size_t len;
	int r;

	revision_name(record->meta.number, ".yaml", name);
	path = path_of(s, "/" REVISIONS, name);
	r = fs_read(path, CONFIG_FILE_MAX, &text, &len);
	if (r < 0)
		return r == -EFBIG ? -EBADMSG : r;
	if (len != record->bytes || strlen(text) != len || str_hash(text) != record->hash)
		return -EBADMSG;
	*ret = text;
	text = NULL;
	return 0;
}

/* --- the link --- */

/* 0 if there is no link, or none that we made. */
static uint64_t running_number(const struct store *s)
{
	char target[sizeof(REVISIONS) + REVISION_NAME_SIZE + 1];
	ssize_t len = readlinkat(s->fd, RUNNING, target, sizeof(target) - 1);
	uint64_t number;

	if (len < 0)
		return 0;
	target[len] = '\0';
	return str_starts(target, REVISIONS "/") && revision_name_parse(target + sizeof(REVISIONS), ".yaml", &number)
		? number
		: 0;
}

/* --- steps --- */

static int sync_folder(int fd)
{
	return fsync(fd) < 0 ? -errno : 0;
}

static int remove_name(int fd, const char *name)
{
	return unlinkat(fd, name, 0) < 0 && errno != ENOENT ? -errno : 0;
}

/* The record first: a text without one is nothing. */
static int remove_revision(const struct store *s, uint64_t number)
{
	char name[REVISION_NAME_SIZE];
	int r;

	revision_name(number, ".json", name);
	r = remove_name(s->revisions, name);
	if (r < 0)
		return r;
	revision_name(number, ".yaml", name);
	return remove_name(s->revisions, name);
}

static int remove_pending(const struct store *s)
{
	int r = remove_name(s->fd, PENDING_META);

	return r < 0 ? r : remove_name(s->fd, PENDING_TEXT);
}

static int link_as(const struct store *s, const char *from, uint64_t number, const char *suffix)
{
	char name[REVISION_NAME_SIZE];

	revision_name(number, suffix, name);
	return linkat(s->fd, from, s->revisions, name, 0) < 0 ? -errno : 0;
}

/* The rename that decides. */
static int point_running(const struct store *s, uint64_t number)
{
	char name[REVISION_NAME_SIZE], target[sizeof(REVISIONS) + REVISION_NAME_SIZE];
	int r = remove_name(s->fd, RUNNING_NEW);

	if (r < 0)
		return r;
	revision_name(number, ".yaml", name);
	(void)snprintf(target, sizeof(target), "%s/%s", REVISIONS, name);
	if (symlinkat(target, s->fd, RUNNING_NEW) < 0 || renameat(s->fd, RUNNING_NEW, s->fd, RUNNING) < 0)
		return -errno;
	return 0;
}

static int number_revision(const struct store *s, uint64_t number)
{
	int r = remove_revision(s, number);

	if (r == 0)
		r = link_as(s, PENDING_TEXT, number, ".yaml");
	if (r == 0)
		r = link_as(s, PENDING_META, number, ".json");
	if (r == 0)
		r = sync_folder(s->revisions);
	if (r == 0)
		r = point_running(s, number);
	if (r < 0)
		(void)remove_revision(s, number);
	return r;
}

/* Not an error when it fails: the next commit tries again. */
static void prune(const struct store *s)
{
	_cleanup_free_ struct found *v = NULL;
	uint64_t running = running_number(s);
	size_t n;

	if (store_scan(s->revisions, &v, &n) < 0)
		return;
	for (size_t i = s->keep; i < n; i++)
		if (v[i].number != running)
			(void)remove_revision(s, v[i].number);
}

/* --- opening --- */

static int open_private(int at, const char *name)
{
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0 || ((st.st_mode & 077) && fchmod(fd, 0700) < 0)) {
		int r = -errno;

		(void)close(fd);
		return r;
	}
	return fd;
}

static int open_folders(struct store *s, const char *dir)
{
	int r = fs_mkdir_p(dir, 0700);

	if (r < 0)
		return r;
	s->dir = realpath(dir, NULL);
	if (!s->dir)
		return -errno;
	s->fd = open_private(AT_FDCWD, s->dir);
	if (s->fd < 0)
		return s->fd;
	if (flock(s->fd, LOCK_EX | LOCK_NB) < 0)
		return errno == EWOULDBLOCK ? -EBUSY : -errno;
	if (mkdirat(s->fd, REVISIONS, 0700) < 0 && errno != EEXIST)
		return -errno;
	s->revisions = open_private(s->fd, REVISIONS);
	return s->revisions < 0 ? s->revisions : 0;
}

static bool is_temporary(const char *name)
{
	return str_starts(name, PENDING_TEXT ".tmp.") || str_starts(name, PENDING_META ".tmp.") ||
		str_eq(name, RUNNING_NEW);
}

static int clean_temporaries(const struct store *s)
{
	_cleanup_(store_closedirp) DIR *dir = store_opendir(s->fd);
	struct dirent *e;
	int r = 0;

	if (!dir)
		return -errno;
	while (r == 0 && (errno = 0, (e = readdir(dir))))
		if (is_temporary(e->d_name))
			r = remove_name(s->fd, e->d_name);
	return r < 0 ? r : -errno;
}

/* A pending revision that is not whole was never begun; one that runs was ended; else its number is not taken yet. */
static int clean_pending(const struct store *s)
{
	struct record pending;
	int r = record_read(s, "", PENDING_META, &pending);

	if (r < 0)
		return r == -ENOENT || r == -EBADMSG ? remove_pending(s) : r;
	return pending.meta.number > running_number(s) ? remove_revision(s, pending.meta.number) : remove_pending(s);
}

/* Halves of a revision, which a torn commit or prune leaves. */
static int clean_halves(const struct store *s)
{
	_cleanup_free_ struct found *v = NULL;
	size_t n;
	int r = store_scan(s->revisions, &v, &n);

	for (size_t i = 0; r == 0 && i < n; i++)
		if (v[i].parts != PART_BOTH)
			r = remove_revision(s, v[i].number);
	return r;
}

static bool is_sound(const struct store *s, uint64_t number)
{
	_cleanup_free_ char *text = NULL;
	struct record record;

	return revision_read(s, number, &record) == 0 && text_read(s, &record, &text) == 0;
}

/* The link, should it lead to nothing of use, is led to the newest revision that is sound. */
static int mend_running(const struct store *s)
{
	_cleanup_free_ struct found *v = NULL;
	size_t n;
	int r;

	if (is_sound(s, running_number(s)))
		return 0;
	r = store_scan(s->revisions, &v, &n);
	for (size_t i = 0; r == 0 && i < n; i++)
		if (is_sound(s, v[i].number))
			return point_running(s, v[i].number);
	return r < 0 ? r : remove_name(s->fd, RUNNING);
}

static int clean(const struct store *s)
{
	int r = clean_temporaries(s);

	if (r == 0)
		r = clean_pending(s);
	if (r == 0)
		r = clean_halves(s);
	if (r == 0)
		r = mend_running(s);
	if (r == 0)
		r = sync_folder(s->revisions);
	return r < 0 ? r : sync_folder(s->fd);
}

int store_open(const char *dir, unsigned keep, struct store **ret)
{
	struct store *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		abort();
	*s = (struct store){.fd = -1, .revisions = -1, .keep = keep ? keep : 1};
	r = open_folders(s, dir);
	if (r == 0)
		r = clean(s);
	if (r < 0) {
		store_close(s);
		return r;
	}
	*ret = s;
	return 0;
}

void store_close(struct store *s)
{
	if (!s)
		return;
	closep(&s->revisions);
	closep(&s->fd);
	free(s->dir);
	free(s);
}

void store_closep(struct store **s)
{
	store_close(*s);
}

/* --- a commit --- */

static int next_number(const struct store *s, uint64_t *ret)
{
	_cleanup_free_ struct found *v = NULL;
	uint64_t last = running_number(s);
	size_t n;
	int r = store_scan(s->revisions, &v, &n);

	if (r < 0)
		return r;
	if (n > 0 && v[0].number > last)
		last = v[0].number;
	if (last >= RECORD_NUMBER_MAX)
		return -EOVERFLOW;
	*ret = last + 1;
	return 0;
}

static int write_file(const struct store *s, const char *name, const char *data, size_t len)
{
	_cleanup_free_ char *path = path_of(s, "", name);

	return fs_write_atomic(path, data, len, 0600);
}

/* The text comes with a length, its hash wants an end. */
static uint64_t hash_of(const char *text, size_t len)
{
	char *copy = strndup(text, len);
	uint64_t hash;

	if (!copy)
		abort();
	hash = str_hash(copy);
	free(copy);
	return hash;
}

int store_begin(struct store *s, const char *text, size_t len, const struct revision *meta)
{
	struct record record = {.meta = *meta, .bytes = len};
	_cleanup_free_ char *json = NULL;
	int r;

	if (len > CONFIG_FILE_MAX)
		return -EFBIG;
	if (!record_meta_ok(meta) || memchr(text, '\0', len))
		return -EINVAL;
	r = next_number(s, &record.meta.number);
	if (r == 0)
		r = store_abort(s);
	if (r < 0)
		return r;
	record.hash = hash_of(text, len);
	json = record_print(&record);
	r = write_file(s, PENDING_TEXT, text, len);
	if (r == 0)
		r = write_file(s, PENDING_META, json, strlen(json));
	if (r < 0)
		(void)remove_pending(s);
	return r;
}

int store_commit(struct store *s, uint64_t *ret_number)
{
	struct record pending;
	int r = record_read(s, "", PENDING_META, &pending);

	if (r == 0 && pending.meta.number != running_number(s))
		r = number_revision(s, pending.meta.number);
	if (r == 0)
		r = sync_folder(s->fd);
	if (r < 0)
		return r;
	/* It runs. What is left to do, the next start does too. */
	(void)store_abort(s);
	prune(s);
	*ret_number = pending.meta.number;
	return 0;
}

int store_abort(struct store *s)
{
	int r = remove_pending(s);

	return r < 0 ? r : sync_folder(s->fd);
}

int store_pending(struct store *s, struct revision *ret)
{
	struct record pending;
	int r = record_read(s, "", PENDING_META, &pending);

	if (r == -ENOENT || (r == 0 && pending.meta.number == running_number(s)))
		return 0;
	if (r < 0)
		return r;
	*ret = pending.meta;
	return 1;
}

/* --- reading --- */

int store_list(struct store *s, struct revision **ret, size_t *ret_n)
{
	_cleanup_free_ struct found *v = NULL;
	struct revision *list;
	size_t n, whole = 0;
	int r = store_scan(s->revisions, &v, &n);

	if (r < 0)
		return r;
	list = calloc(n + 1, sizeof(*list));
	if (!list)
		abort();
	for (size_t i = 0; i < n; i++) {
		struct record record;

		if (v[i].parts == PART_BOTH && revision_read(s, v[i].number, &record) == 0)
			list[whole++] = record.meta;
	}
	*ret = list;
	*ret_n = whole;
	return 0;
}

int store_read(struct store *s, uint64_t number, char **ret, size_t *ret_len, struct revision *ret_meta)
{
	struct record record;
	char *text;
	int r = revision_read(s, number ? number : running_number(s), &record);

	if (r == 0)
		r = text_read(s, &record, &text);
	if (r < 0)
		return r;
	*ret = text;
	*ret_len = record.bytes;
	if (ret_meta)
		*ret_meta = record.meta;
	return 0;
}
