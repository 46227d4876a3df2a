/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /proc/sys: one read or one write a key; procfs takes nothing else. */
#include "overlay/procsys.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "gateway/base/buf.h"
#include "gateway/base/cleanup.h"
#include "gateway/base/str.h"

static int open_key(const char *key, int flags)
{
	_cleanup_close_ int root = open("/proc/sys", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int fd;

	if (root < 0)
		return -errno;
	fd = openat(root, key, flags | O_CLOEXEC | O_NOFOLLOW);
	return fd < 0 ? -errno : fd;
}

int procsys_read(const char *key, char ret[PROCSYS_VALUE_MAX])
{
	_cleanup_close_ int fd = open_key(key, O_RDONLY);
	char value[PROCSYS_VALUE_MAX];
	ssize_t n;

	if (fd < 0)
		return fd;
	n = read(fd, value, sizeof(value) - 1);
	if (n < 0)
		return -errno;
	while (n > 0 && value[n - 1] == '\n')
		n--;
	value[n] = '\0';
	memcpy(ret, value, (size_t)n + 1);
	return 0;
}

int procsys_write(const char *key, const char *value)
{
	_cleanup_close_ int fd = open_key(key, O_WRONLY);
	struct buf line = {0};
	ssize_t n;
	int r;

	if (fd < 0)
		return fd;
	buf_printf(&line, "%s\n", value);
	n = write(fd, line.data, line.len);
	r = n < 0 ? -errno : (size_t)n == line.len ? 0 : -EIO;
	buf_free(&line);
	return r;
}
