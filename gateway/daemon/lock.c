/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See lock.h. The pid in the file is only for the message; the lock itself is the kernel's.
 *
 * A network namespace is locked by an abstract Unix address, for these are each namespace's own. Anybody may bind one:
 * that of another user is no fairwayd, and does not keep this one from its work.
 */
#include "gateway/daemon/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/un.h>
#include <unistd.h>

#include "gateway/base/buf.h"
#include "gateway/base/cleanup.h"
#include "gateway/base/fs.h"
#include "gateway/base/log.h"
#include "gateway/base/str.h"

static pid_t read_pid(int fd)
{
	char text[32];
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
	uint64_t pid;

	if (n <= 0)
		return 0;
	text[n] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return str_to_u64(text, &pid) == 0 && pid <= INT32_MAX ? (pid_t)pid : 0;
}

static int write_pid(int fd)
{
	char text[32];
	int len = snprintf(text, sizeof(text), "%d\n", getpid());

	return ftruncate(fd, 0) < 0 || pwrite(fd, text, (size_t)len, 0) != len ? -EIO : 0;
}

static int open_lock(const char *run_dir)
{
	struct buf path = {0};
	int fd;

	buf_printf(&path, "%s/fairwayd.lock", run_dir);
	fd = open(path.data, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
	buf_free(&path);
	return fd < 0 ? -errno : fd;
}

static int lock_take(const char *run_dir, int *ret, pid_t *ret_pid)
{
	_cleanup_close_ int fd = open_lock(run_dir);
	int r;

	if (fd < 0)
		return fd;
	if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK)
			return -errno;
		*ret_pid = read_pid(fd);
		return -EBUSY;
	}
	r = write_pid(fd);
	if (r < 0)
		return r;
	*ret = steal_fd(&fd);
	return 0;
}

bool lock_instance(const char *instance, const char *run_dir, int *ret)
{
	mode_t mask = umask(022); /* who may use the socket has to reach it */
	pid_t pid = 0;
	int r = fs_mkdir_p(run_dir, 0755);

	(void)umask(mask);
	if (r == 0)
		r = lock_take(run_dir, ret, &pid);
	if (r == -EBUSY)
		log_error("instance %s is run by pid %d already", instance, pid);
	else if (r < 0)
		log_error("%s: %s", run_dir, strerror(-r));
	return r == 0;
}

/* --- the network namespace --- */

static const struct sockaddr_un network_address = {.sun_family = AF_UNIX, .sun_path = "\0fairwayd"};
static const socklen_t network_address_len = offsetof(struct sockaddr_un, sun_path) + sizeof("\0fairwayd") - 1;

/* Nobody accepts: that there is a listener, and who, is all that a connection is for. */
static int network_holder(struct ucred *ret)
{
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	socklen_t len = sizeof(*ret);

	if (fd < 0 || connect(fd, (const struct sockaddr *)&network_address, network_address_len) < 0 ||
		getsockopt(fd, SOL_SOCKET, SO_PEERCRED, ret, &len) < 0)
		return -errno;
	return 0;
}

/* False after saying so, unless it is somebody who cannot be a fairwayd. */
static bool tolerate_holder(void)
{
	struct ucred holder = {0};
	int r = network_holder(&holder);

	if (r == 0 && holder.uid != geteuid()) {
		log_warning("user %u, pid %d, holds the name @fairwayd of this network namespace and is no fairwayd",
			holder.uid, holder.pid);
		return true;
	}
	if (r == 0)
		log_error("this network namespace is in the hands of pid %d, another fairwayd, already", holder.pid);
	else
		log_error("this network namespace is in the hands of another fairwayd already (@fairwayd: %s)",
			strerror(-r));
	return false;
}

bool lock_network(int *ret)
{
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int r = 0;

	if (fd < 0 || bind(fd, (const struct sockaddr *)&network_address, network_address_len) < 0 ||
		listen(fd, SOMAXCONN) < 0)
		r = -errno;
	if (r == -EADDRINUSE)
		return tolerate_holder();
	if (r < 0)
		log_error("the network namespace cannot be locked: %s", strerror(-r));
	else
		*ret = steal_fd(&fd);
	return r == 0;
}
