/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See json_sink.h. The queue is two buffers: one is filled while the other is written. */
#include "gateway/audit/json_sink.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "gateway/audit/audit_files.h"
#include "gateway/audit/flow_json.h"
#include "gateway/base/cleanup.h"
#include "gateway/base/fs.h"

enum {
	QUEUE_BYTES = 32 * 1024 * 1024, /* each of the two */
	WRITE_BYTES = 256 * 1024,	/* so much is worth a write by itself; less waits for FLUSH_NS */
	CLOSE_SECONDS = 5,
};
static const long FLUSH_NS = 100000000;
static const uint64_t RETRY_NS = 1000000000;

struct queue {
	char *data;
	size_t len, n_lines;
};

struct json_sink {
	/* Set before the thread starts. */
	char *dir;
	pthread_t thread;

	/* Both threads'. */
	pthread_mutex_t lock;
	pthread_cond_t filled;
	struct queue in;
	uint64_t max_size;
	size_t max_files;
	struct json_sink_counts counts;
	uint64_t lost_new, lost_since; /* not told in the record yet */
	bool stop;

	/* The thread's. */
	struct queue out;
	int dir_fd, fd;
	uint64_t number, size; /* of the file that is written */
	uint64_t retry;	       /* monotonic */
};

static uint64_t clock_ns(clockid_t id)
{
	struct timespec t;

	(void)clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* --- files --- */

static void give_to_group(int fd, mode_t mode)
{
	struct group group, *found = NULL;
	char room[4096];

	if (getgrnam_r("fairway", &group, room, sizeof(room), &found) == 0 && found)
		(void)!fchown(fd, (uid_t)-1, found->gr_gid);
	(void)fchmod(fd, mode);
}

/* One writer for a folder: two gateways would remove each other's files. */
static int open_dir(struct json_sink *s)
{
	_cleanup_close_ int fd = -1;
	int r = fs_mkdir_p(s->dir, 0750);

	if (r < 0)
		return r;
	fd = open(s->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return errno == EWOULDBLOCK ? -EBUSY : -errno;
	give_to_group(fd, 0750);
	s->dir_fd = steal_fd(&fd);
	return 0;
}

/* A line that a crash cut short goes away: the file ends with a newline. Its size, or -errno. */
static int64_t mend(int fd)
{
	struct stat st;
	char block[4096];
	off_t end;

	if (fstat(fd, &st) < 0)
		return -errno;
	for (end = st.st_size; end > 0;) {
		off_t start = end > (off_t)sizeof(block) ? end - (off_t)sizeof(block) : 0;
		ssize_t n = pread(fd, block, (size_t)(end - start), start);
		const char *newline;

		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		newline = memrchr(block, '\n', (size_t)n);
		end = newline ? start + (newline - block) + 1 : start;
		if (newline)
			break;
	}
	return end < st.st_size && ftruncate(fd, end) < 0 ? -errno : end;
}

static int open_file(struct json_sink *s, uint64_t number)
{
	char name[AUDIT_FILE_NAME_MAX];
	_cleanup_close_ int fd = -1;
	int64_t size;

	audit_file_name(number, name);
	fd = openat(s->dir_fd, name, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0640);
	if (fd < 0)
		return -errno;
	give_to_group(fd, 0640);
	size = mend(fd);
	if (size < 0)
		return (int)size;
	closep(&s->fd);
	s->fd = steal_fd(&fd);
	s->number = number;
	s->size = (uint64_t)size;
	return 0;
}

/* Makes room for `more` files beside those that are there. */
static int drop_oldest(struct json_sink *s, size_t more, size_t max_files)
{
	_cleanup_free_ uint64_t *files = NULL;
	size_t n = 0;
	int r = audit_files_list(s->dir_fd, &files, &n);

	for (size_t i = 0; r == 0 && n - i + more > max_files && i < n; i++) {
		char name[AUDIT_FILE_NAME_MAX];

		audit_file_name(files[i], name);
		if (unlinkat(s->dir_fd, name, 0) < 0 && errno != ENOENT)
			r = -errno;
	}
	return r;
}

static int open_all(struct json_sink *s, size_t max_files)
{
	_cleanup_free_ uint64_t *files = NULL;
	size_t n = 0;
	int r = s->dir_fd >= 0 ? 0 : open_dir(s);

	if (r == 0)
		r = audit_files_list(s->dir_fd, &files, &n);
	if (r == 0 && n == 0)
		r = drop_oldest(s, 1, max_files);
	return r < 0 ? r : open_file(s, n > 0 ? files[n - 1] : 1);
}

/* False where somebody has removed the folder or the file: nobody would read what is written there. */
static bool is_there(const struct json_sink *s)
{
	struct stat dir, path, file;

	return fstat(s->dir_fd, &dir) == 0 && stat(s->dir, &path) == 0 && dir.st_dev == path.st_dev &&
		dir.st_ino == path.st_ino && fstat(s->fd, &file) == 0 && file.st_nlink > 0;
}

static int next_file(struct json_sink *s, size_t max_files)
{
	int r = drop_oldest(s, 1, max_files);

	if (r == 0)
		r = open_file(s, s->number + 1);
	if (r == 0) {
		(void)pthread_mutex_lock(&s->lock);
		s->counts.files++;
		(void)pthread_mutex_unlock(&s->lock);
	}
	return r;
}

/* --- writing --- */

static size_t count_lines(const char *data, size_t len)
{
	size_t n = 0;

	for (const char *end = data + len; data < end && (data = memchr(data, '\n', (size_t)(end - data))); data++)
		n++;
	return n;
}

/* All of it or, what could not be written cut off again, an error. */
static int write_whole(struct json_sink *s, const char *data, size_t len)
{
	size_t done = 0;
	int r = 0;

	while (done < len && r == 0) {
		ssize_t n = write(s->fd, data + done, len - done);

		if (n > 0)
			done += (size_t)n;
		else if (n == 0)
			r = -EIO;
		else if (errno != EINTR)
			r = -errno;
	}
	if (r == 0)
		s->size += len;
	else if (done > 0)
		(void)!ftruncate(s->fd, (off_t)s->size);
	return r;
}

/* As much as the file has room for, up to the end of a line. A line always fits an empty file. */
static size_t piece(uint64_t room, const char *data, size_t len)
{
	const char *end;

	if (len <= room)
		return len;
	end = room > 0 ? memrchr(data, '\n', (size_t)room) : NULL;
	return end ? (size_t)(end - data) + 1 : 0;
}

/* What was written of data, whole lines. */
static size_t write_lines(struct json_sink *s, const char *data, size_t len, int *ret_error)
{
	size_t done = 0;
	uint64_t max_size;
	size_t max_files;

	(void)pthread_mutex_lock(&s->lock);
	max_size = s->max_size;
	max_files = s->max_files;
	(void)pthread_mutex_unlock(&s->lock);
	*ret_error = s->fd >= 0 && is_there(s) ? 0 : -EBADF;
	if (*ret_error < 0) {
		closep(&s->fd);
		closep(&s->dir_fd);
		s->fd = s->dir_fd = -1;
		*ret_error = open_all(s, max_files);
	}
	while (*ret_error == 0 && done < len) {
		size_t n = piece(s->size < max_size ? max_size - s->size : 0, data + done, len - done);

		if (n == 0)
			*ret_error = s->size > 0 ? next_file(s, max_files) : -EFBIG;
		else
			*ret_error = write_whole(s, data + done, n);
		if (*ret_error == 0)
			done += n;
	}
	return done;
}

/* {"event":"incomplete"} for what was lost before. */
static void tell_lost(struct json_sink *s)
{
	static struct flow_clock clock;
	char since[FLOW_TIME_LEN + 1], now[FLOW_TIME_LEN + 1], line[256];
	uint64_t lost, from;
	int n, error;

	(void)pthread_mutex_lock(&s->lock);
	lost = s->lost_new;
	from = s->lost_since;
	(void)pthread_mutex_unlock(&s->lock);
	if (lost == 0)
		return;
	flow_time_print(&clock, from, since);
	flow_time_print(&clock, clock_ns(CLOCK_REALTIME), now);
	n = snprintf(line, sizeof(line),
		"{\"time\":\"%s\",\"event\":\"incomplete\",\"reason\":\"disk\",\"since\":\"%s\",\"missing\":%" PRIu64
		"}\n",
		now, since, lost);
	if (write_lines(s, line, (size_t)n, &error) == 0)
		return;
	(void)pthread_mutex_lock(&s->lock);
	s->lost_new -= lost;
	s->lost_since = clock_ns(CLOCK_REALTIME);
	s->counts.lines++;
	s->counts.bytes += (uint64_t)n;
	(void)pthread_mutex_unlock(&s->lock);
}

static void note_lost(struct json_sink *s, size_t n)
{
	if (n > 0 && s->lost_new == 0)
		s->lost_since = clock_ns(CLOCK_REALTIME);
	s->lost_new += n;
	s->counts.lost += n;
}

/* What could not be written stays for the next try. */
static void write_out(struct json_sink *s)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	size_t done, n;
	int error;

	if (now < s->retry)
		return;
	done = write_lines(s, s->out.data, s->out.len, &error);
	n = done == s->out.len ? s->out.n_lines : count_lines(s->out.data, done);
	s->out.len -= done;
	s->out.n_lines -= n;
	memmove(s->out.data, s->out.data + done, s->out.len);
	s->retry = error < 0 ? now + RETRY_NS : 0;
	(void)pthread_mutex_lock(&s->lock);
	s->counts.lines += n;
	s->counts.bytes += done;
	s->counts.error = error;
	(void)pthread_mutex_unlock(&s->lock);
	if (error == 0)
		tell_lost(s);
}

/* --- the thread --- */

static struct timespec in_a_moment(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_nsec += FLUSH_NS;
	if (t.tv_nsec >= 1000000000) {
		t.tv_sec++;
		t.tv_nsec -= 1000000000;
	}
	return t;
}

/* False: it is to end, and there is nothing left. */
static bool wait_for_lines(struct json_sink *s)
{
	struct timespec until;
	bool more;

	(void)pthread_mutex_lock(&s->lock);
	while (!s->stop && s->in.len == 0 && s->out.len == 0 && s->lost_new == 0 && s->fd >= 0)
		(void)pthread_cond_wait(&s->filled, &s->lock);
	until = in_a_moment();
	while (!s->stop && (s->in.len < WRITE_BYTES || s->out.len > 0) &&
		pthread_cond_timedwait(&s->filled, &s->lock, &until) != ETIMEDOUT)
		;
	more = !s->stop || s->in.len > 0 || (s->out.len > 0 && s->counts.error == 0);
	if (s->in.len > 0 && s->out.len == 0) {
		struct queue empty = s->out;

		s->out = s->in;
		s->in = empty;
	}
	(void)pthread_mutex_unlock(&s->lock);
	return more;
}

static bool is_stopping(struct json_sink *s)
{
	bool stop;

	(void)pthread_mutex_lock(&s->lock);
	stop = s->stop;
	(void)pthread_mutex_unlock(&s->lock);
	return stop;
}

static void *thread_main(void *arg)
{
	struct json_sink *s = arg;

	while (wait_for_lines(s)) {
		write_out(s);
		if (s->retry > 0 && is_stopping(s))
			break;
	}
	return NULL;
}

/* --- the reader's side --- */

static void sink_free(struct json_sink *s)
{
	closep(&s->fd);
	closep(&s->dir_fd);
	(void)pthread_mutex_destroy(&s->lock);
	(void)pthread_cond_destroy(&s->filled);
	free(s->in.data);
	free(s->out.data);
	free(s->dir);
	free(s);
}

static int start_thread(struct json_sink *s)
{
	sigset_t all, old;
	int r;

	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &old);
	r = -pthread_create(&s->thread, NULL, thread_main, s);
	(void)pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (r == 0)
		(void)pthread_setname_np(s->thread, "audit-files");
	return r;
}

int json_sink_open(const char *dir, uint64_t max_size, size_t max_files, struct json_sink **ret)
{
	struct json_sink *s = calloc(1, sizeof(*s));
	pthread_condattr_t attr;
	int r;

	if (!s)
		abort();
	s->dir = strdup(dir);
	s->in.data = malloc(QUEUE_BYTES); /* pages that are never filled cost nothing */
	s->out.data = malloc(QUEUE_BYTES);
	if (!s->dir || !s->in.data || !s->out.data)
		abort();
	s->fd = s->dir_fd = -1;
	s->max_size = max_size;
	s->max_files = max_files;
	(void)pthread_mutex_init(&s->lock, NULL);
	(void)pthread_condattr_init(&attr);
	(void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	(void)pthread_cond_init(&s->filled, &attr);
	(void)pthread_condattr_destroy(&attr);
	r = start_thread(s);
	if (r < 0) {
		sink_free(s);
		return r;
	}
	*ret = s;
	return 0;
}

void json_sink_close(struct json_sink *sink)
{
	struct timespec until;

	if (!sink)
		return;
	(void)pthread_mutex_lock(&sink->lock);
	sink->stop = true;
	(void)pthread_cond_signal(&sink->filled);
	(void)pthread_mutex_unlock(&sink->lock);
	(void)clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += CLOSE_SECONDS;
	/* A disk that hangs keeps the thread, and the thread its memory: the process ends without it. */
	if (pthread_timedjoin_np(sink->thread, NULL, &until) == 0)
		sink_free(sink);
}

void json_sink_limits(struct json_sink *sink, uint64_t max_size, size_t max_files)
{
	(void)pthread_mutex_lock(&sink->lock);
	sink->max_size = max_size;
	sink->max_files = max_files;
	(void)pthread_mutex_unlock(&sink->lock);
}

bool json_sink_put(struct json_sink *sink, const char *lines, size_t len, size_t n_lines)
{
	bool fits, wake;

	(void)pthread_mutex_lock(&sink->lock);
	fits = len <= QUEUE_BYTES - sink->in.len;
	wake = sink->in.len == 0;
	if (fits) {
		memcpy(sink->in.data + sink->in.len, lines, len);
		sink->in.len += len;
		sink->in.n_lines += n_lines;
	} else {
		note_lost(sink, n_lines);
	}
	if (wake || sink->in.len >= WRITE_BYTES)
		(void)pthread_cond_signal(&sink->filled);
	(void)pthread_mutex_unlock(&sink->lock);
	return fits;
}

void json_sink_counts(struct json_sink *sink, struct json_sink_counts *ret)
{
	(void)pthread_mutex_lock(&sink->lock);
	*ret = sink->counts;
	(void)pthread_mutex_unlock(&sink->lock);
}

/* --- the life before --- */

static uint64_t time_of_last_line(int fd)
{
	char block[2 * FLOW_JSON_MAX + 1], *line, *end;
	struct stat st;
	uint64_t ns;
	ssize_t n;

	if (fstat(fd, &st) < 0)
		return 0;
	n = pread(fd, block, sizeof(block) - 1,
		st.st_size > (off_t)sizeof(block) - 1 ? st.st_size - (off_t)sizeof(block) + 1 : 0);
	end = n > 0 ? memrchr(block, '\n', (size_t)n) : NULL;
	if (!end)
		return 0;
	line = memrchr(block, '\n', (size_t)(end - block));
	line = line ? line + 1 : block;
	if (end - line < 9 + FLOW_TIME_LEN || memcmp(line, "{\"time\":\"", 9) != 0)
		return 0;
	line[9 + FLOW_TIME_LEN] = '\0';
	return flow_time_parse(line + 9, &ns) == 0 ? ns : 0;
}

uint64_t json_sink_last_time(const char *dir)
{
	_cleanup_close_ int dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_free_ uint64_t *files = NULL;
	uint64_t ns = 0;
	size_t n = 0;

	if (dir_fd < 0 || audit_files_list(dir_fd, &files, &n) < 0)
		return 0;
	for (; n > 0 && ns == 0; n--) {
		char name[AUDIT_FILE_NAME_MAX];
		_cleanup_close_ int fd = -1;

		audit_file_name(files[n - 1], name);
		fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
		ns = fd < 0 ? 0 : time_of_last_line(fd);
	}
	return ns;
}
