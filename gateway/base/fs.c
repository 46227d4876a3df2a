/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files whole and atomic; see fs.h. */
#include "gateway/base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gateway/base/buf.h"
#include "gateway/base/cleanup.h"

static int read_whole(int fd, size_t max, char **ret, size_t *ret_len)
{
	struct buf b = {0};
	char chunk[65536];
	ssize_t n;

	while ((n = read(fd, chunk, sizeof(chunk))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 || b.len + (size_t)n > max) {
			int r = n < 0 ? -errno : -EFBIG;

			buf_free(&b);
			return r;
		}
		buf_add(&b, chunk, (size_t)n);
	}
	*ret_len = b.len;
	*ret = buf_steal(&b);
	return 0;
}

int fs_read(const char *path, size_t max, char **ret, size_t *ret_len)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

	return fd < 0 ? -errno : read_whole(fd, max, ret, ret_len);
}

/* Without O_NONBLOCK, the open itself would wait for the writer of a pipe. */
int fs_read_regular(const char *path, size_t max, char **ret, size_t *ret_len)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	return S_ISREG(st.st_mode) ? read_whole(fd, max, ret, ret_len) : -EINVAL;
}

const char *fs_read_error(int error)
{
	return error == -EINVAL ? "not a regular file" : strerror(-error);
}

static int write_all(int fd, const char *data, size_t len)
{
	while (len > 0) {
		ssize_t n = write(fd, data, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		data += n;
		len -= (size_t)n;
	}
	return 0;
}

/* A rename is only safe on disk once its folder is. */
static int sync_folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	char folder[PATH_MAX] = ".";
	_cleanup_close_ int fd = -1;

	if (slash && (size_t)(slash - path) >= sizeof(folder))
		return -ENAMETOOLONG;
	if (slash) /* "/file" is in "/" */
		(void)snprintf(folder, sizeof(folder), "%.*s", slash == path ? 1 : (int)(slash - path), path);
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 || fsync(fd) < 0 ? -errno : 0;
}

static int write_temporary(char *name, const void *data, size_t len, mode_t mode)
{
	_cleanup_close_ int fd = mkostemp(name, O_CLOEXEC);
	int r;

	if (fd < 0)
		return -errno;
	r = write_all(fd, data, len);
	if (r == 0 && (fchmod(fd, mode) < 0 || fsync(fd) < 0))
		r = -errno;
	if (r < 0)
		(void)unlink(name);
	return r;
}

int fs_write_atomic(const char *path, const void *data, size_t len, mode_t mode)
{
	struct buf name = {0};
	int r;

	buf_printf(&name, "%s.tmp.XXXXXX", path);
	r = write_temporary(name.data, data, len, mode);
	if (r == 0 && rename(name.data, path) < 0) {
		r = -errno;
		(void)unlink(name.data);
	}
	buf_free(&name);
	return r < 0 ? r : sync_folder_of(path);
}

int fs_mkdir_p(const char *path, mode_t mode)
{
	char part[PATH_MAX];
	size_t len = strlen(path);

	if (len == 0 || len >= sizeof(part))
		return -ENAMETOOLONG;
	memcpy(part, path, len + 1);
	for (size_t i = 1; i <= len; i++) {
		if (part[i] != '/' && part[i] != '\0')
			continue;
		part[i] = '\0';
		if (mkdir(part, mode) < 0 && errno != EEXIST)
			return -errno;
		part[i] = path[i];
	}
	return 0;
}

bool fs_finish_stdout(void)
{
	return fflush(stdout) == 0 && !ferror(stdout);
}
