/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Our own system calls in front of the C library's; see calls.h. */
#include "tests/lib/calls.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "gateway/base/str.h"

enum { UNSYNCED_MAX = 64 };

static enum calls_mode mode;
static unsigned calls, at_call;
static ino_t unsynced[UNSYNCED_MAX];
static size_t n_unsynced;
static const char *disorder; /* what was referred to before it was synced */

/* True: the call has to fail. */
static bool trouble(void)
{
	if (mode == CALLS_PASS || calls++ != at_call)
		return false;
	if (mode == CALLS_CRASH)
		_exit(CALLS_CRASHED);
	errno = EIO;
	return true;
}

static ino_t inode_at(int fd, const char *name)
{
	struct stat st;

	return fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) == 0 ? st.st_ino : 0;
}

static ino_t folder_of(int fd, const char *name)
{
	const char *slash = strrchr(name, '/');
	char folder[PATH_MAX];

	if (!slash)
		return inode_at(fd, "");
	(void)snprintf(folder, sizeof(folder), "%.*s", (int)(slash - name), name);
	return inode_at(fd, folder);
}

static bool is_unsynced(ino_t inode)
{
	for (size_t i = 0; i < n_unsynced; i++)
		if (unsynced[i] == inode)
			return true;
	return false;
}

static void dirty(ino_t inode)
{
	if (!is_unsynced(inode) && n_unsynced < UNSYNCED_MAX)
		unsynced[n_unsynced++] = inode;
}

static void synced(ino_t inode)
{
	for (size_t i = 0; i < n_unsynced; i++)
		if (unsynced[i] == inode)
			unsynced[i--] = unsynced[--n_unsynced];
}

static void refer(int fd, const char *from, int to_fd, const char *to)
{
	if (is_unsynced(inode_at(fd, from)))
		disorder = "a name for a file that is not synced";
	if (str_eq(to, "running") && is_unsynced(inode_at(to_fd, "revisions")))
		disorder = "the link for a revision whose name is not synced";
	dirty(folder_of(fd, from));
	dirty(folder_of(to_fd, to));
}

ssize_t write(int fd, const void *data, size_t len)
{
	if (trouble())
		return -1;
	dirty(inode_at(fd, ""));
	return syscall(SYS_write, fd, data, len);
}

int fsync(int fd)
{
	if (trouble())
		return -1;
	synced(inode_at(fd, ""));
	return (int)syscall(SYS_fsync, fd);
}

int fchmod(int fd, mode_t m)
{
	return trouble() ? -1 : (int)syscall(SYS_fchmod, fd, m);
}

int renameat(int fd, const char *from, int to_fd, const char *to)
{
	if (trouble())
		return -1;
	refer(fd, from, to_fd, to);
	return (int)syscall(SYS_renameat2, fd, from, to_fd, to, 0);
}

int rename(const char *from, const char *to)
{
	return renameat(AT_FDCWD, from, AT_FDCWD, to);
}

int linkat(int fd, const char *from, int to_fd, const char *to, int flags)
{
	if (trouble())
		return -1;
	refer(fd, from, to_fd, to);
	return (int)syscall(SYS_linkat, fd, from, to_fd, to, flags);
}

int symlinkat(const char *target, int fd, const char *name)
{
	if (trouble())
		return -1;
	dirty(inode_at(fd, ""));
	return (int)syscall(SYS_symlinkat, target, fd, name);
}

int unlinkat(int fd, const char *name, int flags)
{
	int r;

	if (trouble())
		return -1;
	r = (int)syscall(SYS_unlinkat, fd, name, flags);
	if (r == 0)
		dirty(folder_of(fd, name));
	return r;
}

int unlink(const char *name)
{
	return unlinkat(AT_FDCWD, name, 0);
}

int mkdirat(int fd, const char *name, mode_t m)
{
	return trouble() ? -1 : (int)syscall(SYS_mkdirat, fd, name, m);
}

void calls_arm(enum calls_mode new_mode, unsigned n)
{
	mode = new_mode;
	calls = 0;
	at_call = n;
}

bool calls_hit(void)
{
	return calls > at_call;
}

size_t calls_unsynced(void)
{
	return n_unsynced;
}

void calls_forget(void)
{
	n_unsynced = 0;
	disorder = NULL;
}

const char *calls_disorder(void)
{
	return disorder;
}
