/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See program.h. A program is known by its file, not by its name; where a package was upgraded under a running one, by
 * the path of the file that it was.
 */
#include "gateway/service/program.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gateway/base/cleanup.h"
#include "gateway/base/fs.h"
#include "gateway/base/log.h"
#include "gateway/base/str.h"
#include "gateway/service/caps.h"
#include "gateway/service/service.h"

enum { CMDLINE_MAX = 65536 };

/* --- start --- */

/* FRR gives up all but the first four by itself, once it is no longer root. */
static const cap_value_t service_caps[] = {
	CAP_NET_ADMIN, CAP_NET_RAW, CAP_NET_BIND_SERVICE, CAP_SYS_ADMIN, CAP_SETUID, CAP_SETGID};

static void reset_signals(void)
{
	sigset_t none;

	for (int sig = 1; sig < NSIG; sig++)
		(void)signal(sig, SIG_DFL);
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}

/* A service that is less urgent than it should be is better than none. */
static void set_urgency(const struct service_spec *spec)
{
	const struct sched_param param = {.sched_priority = spec->fifo_priority};

	if (spec->nice && setpriority(PRIO_PROCESS, 0, spec->nice) < 0)
		log_warning("%s runs without nice %d: %s", spec->name, spec->nice, strerror(errno));
	if (spec->fifo_priority && sched_setscheduler(0, SCHED_FIFO, &param) < 0)
		log_warning("%s runs without real-time priority: %s", spec->name, strerror(errno));
}

/* In the child; returns only if the program cannot be executed. Of the descriptors, 0, 1, 2 and `report` stay. */
static int execute(const struct service_spec *spec, int report)
{
	static char path[] = "PATH=/usr/sbin:/usr/bin:/sbin:/bin";
	char *const environment[] = {path, NULL};
	char *const *argv;
	int r;

	if ((spec->own_network && unshare(CLONE_NEWNET) < 0) ||
		close_range(STDERR_FILENO + 1, (unsigned int)report - 1, 0) < 0 ||
		close_range((unsigned int)report + 1, ~0U, 0) < 0 || setsid() < 0 || chdir("/") < 0)
		return -errno;
	reset_signals();
	(void)umask(027);
	set_urgency(spec);
	r = caps_keep(service_caps, ARRAY_SIZE(service_caps));
	if (r < 0)
		return r;
	memcpy(&argv, &spec->argv, sizeof(argv)); /* execve(2) is older than const */
	(void)execve(spec->argv[0], argv, environment);
	return -errno;
}

/* The pipe closes by itself when the program is executed; else it says why not. */
static int wait_executed(pid_t pid, int report)
{
	int error = 0;
	ssize_t n;

	do
		n = read(report, &error, sizeof(error));
	while (n < 0 && errno == EINTR);
	if (n == 0)
		return 0;
	(void)waitpid(pid, NULL, 0);
	return n == sizeof(error) ? error : -EIO;
}

int program_start(const struct service_spec *spec, pid_t *ret)
{
	_cleanup_close_ int in = -1, out = -1;
	int ends[2], r;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	in = ends[0];
	out = ends[1];
	pid = fork();
	if (pid < 0)
		return -errno;
	if (pid == 0) {
		r = execute(spec, out);
		_exit(write(out, &r, sizeof(r)) == sizeof(r) ? 127 : 126);
	}
	closep(&out);
	out = -1;
	r = wait_executed(pid, in);
	if (r == 0)
		*ret = pid;
	return r;
}

/* --- who is it --- */

/* Same inode; a path in /proc may be a link to what no path leads to. */
static bool is_same_file(const char *a, const char *b)
{
	struct stat sa, sb;

	return stat(a, &sa) == 0 && stat(b, &sb) == 0 && sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino;
}

static bool was_file(const char *link, const char *program)
{
	static const char deleted[] = " (deleted)";
	char path[PATH_MAX];
	ssize_t n = readlink(link, path, sizeof(path) - 1);
	size_t len = strlen(program);

	if (n < 0)
		return false;
	path[n] = '\0';
	return strncmp(path, program, len) == 0 && strcmp(path + len, deleted) == 0;
}

int program_check(const struct service_spec *spec, pid_t pid)
{
	char exe[64], net[64];

	(void)snprintf(exe, sizeof(exe), "/proc/%d/exe", pid);
	(void)snprintf(net, sizeof(net), "/proc/%d/ns/net", pid);
	if (access(exe, F_OK) < 0 && errno == ENOENT && kill(pid, 0) < 0 && errno == ESRCH)
		return -ESRCH;
	if (!is_same_file(exe, spec->argv[0]) && !was_file(exe, spec->argv[0]))
		return -EPERM;
	return is_same_file(net, "/proc/self/ns/net") != spec->own_network ? 0 : -EPERM;
}

static bool has_arguments(const struct service_spec *spec, pid_t pid)
{
	_cleanup_free_ char *text = NULL;
	const char *p, *end;
	char path[64];
	size_t len;

	(void)snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	if (fs_read(path, CMDLINE_MAX, &text, &len) < 0 || len == 0)
		return false;
	p = text;
	end = text + len;
	for (size_t i = 0; spec->argv[i]; i++) {
		if (p >= end || strcmp(p, spec->argv[i]) != 0)
			return false;
		p += strlen(p) + 1;
	}
	return p == end;
}

int program_find(const struct service_spec *spec, pid_t *ret)
{
	DIR *proc = opendir("/proc");
	const struct dirent *entry;
	int r = -ESRCH;

	while (r < 0 && proc && (entry = readdir(proc))) {
		uint64_t pid;

		if (str_to_u64(entry->d_name, &pid) < 0 || pid > INT32_MAX || !has_arguments(spec, (pid_t)pid) ||
			program_check(spec, (pid_t)pid) < 0)
			continue;
		*ret = (pid_t)pid;
		r = 0;
	}
	if (proc)
		(void)closedir(proc);
	return r;
}
