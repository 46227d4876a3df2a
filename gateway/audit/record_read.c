/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See record_read.h. */
#include "gateway/audit/record_read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gateway/audit/audit_files.h"
#include "gateway/audit/flow_json.h"
#include "gateway/audit/record_query.h"
#include "gateway/base/arena.h"
#include "gateway/base/cleanup.h"

enum { READ_BYTES = 1024 * 1024 };
/* A record's time is the kernel's, and it may be written a little after younger ones. */
static const uint64_t SLACK_NS = UINT64_C(60) * 1000000000;

/* -ENOENT: it was the oldest, and is gone. */
static int open_file(int dir_fd, uint64_t number)
{
	char name[AUDIT_FILE_NAME_MAX];
	int fd;

	audit_file_name(number, name);
	fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	return fd < 0 ? -errno : fd;
}

/* When its first record was made; 0: it has none, or is gone. */
static uint64_t first_time(int dir_fd, uint64_t number)
{
	char head[9 + FLOW_TIME_LEN + 1];
	_cleanup_close_ int fd = open_file(dir_fd, number);
	uint64_t ns;

	if (fd < 0 || pread(fd, head, sizeof(head) - 1, 0) != sizeof(head) - 1)
		return 0;
	head[sizeof(head) - 1] = '\0';
	return flow_time_parse(head + 9, &ns) == 0 ? ns : 0;
}

/* A file is over when the next one begins. */
static bool is_too_old(int dir_fd, const uint64_t *files, size_t n, size_t i, const struct record_query *q)
{
	uint64_t next = i + 1 < n ? first_time(dir_fd, files[i + 1]) : 0;

	return next > 0 && next + SLACK_NS < q->since_ns;
}

static bool is_too_new(int dir_fd, uint64_t number, const struct record_query *q)
{
	uint64_t first = q->until_ns < UINT64_MAX - SLACK_NS ? first_time(dir_fd, number) : 0;

	return first > q->until_ns + SLACK_NS;
}

/* Gives the whole lines in room; what is left over is moved to its start, and its length returned. */
static size_t give_lines(char *room, size_t len, record_line_fn fn, void *arg, bool *ret_go_on)
{
	char *line = room, *end = room + len;

	for (char *newline; *ret_go_on && (newline = memchr(line, '\n', (size_t)(end - line))); line = newline + 1)
		*ret_go_on = fn(line, (size_t)(newline - line), arg);
	memmove(room, line, (size_t)(end - line));
	return (size_t)(end - line);
}

static int read_file(int dir_fd, uint64_t number, char *room, record_line_fn fn, void *arg, bool *ret_go_on)
{
	_cleanup_close_ int fd = open_file(dir_fd, number);
	size_t len = 0;
	ssize_t n;

	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	while (*ret_go_on && (n = read(fd, room + len, READ_BYTES - len)) != 0) {
		if (n < 0)
			return -errno;
		len = give_lines(room, len + (size_t)n, fn, arg, ret_go_on);
		if (len == READ_BYTES)
			return -EBADMSG; /* no line of ours */
	}
	return 0;
}

int record_read(const char *dir, const struct record_query *q, record_line_fn fn, void *arg)
{
	_cleanup_close_ int dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_free_ uint64_t *files = NULL;
	_cleanup_(arena_freep) struct arena *arena = arena_new();
	char *room = arena_alloc(arena, READ_BYTES);
	bool go_on = true;
	size_t n = 0;
	int r;

	if (dir_fd < 0)
		return -errno;
	r = audit_files_list(dir_fd, &files, &n);
	for (size_t i = 0; r == 0 && go_on && i < n; i++) {
		if (is_too_old(dir_fd, files, n, i, q))
			continue;
		if (is_too_new(dir_fd, files[i], q))
			break;
		r = read_file(dir_fd, files[i], room, fn, arg, &go_on);
	}
	return r;
}
