/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Child daemons, with this very program as the daemon: started with "--daemon MODE SOCKET" it is one. The tests are the
 * reaper of what their keepers leave, so a process that is left over cannot hide. As root: the keeper needs privileges.
 */
/* LINK: gateway/service/caps.c gateway/service/keeper.c gateway/service/keeper_call.c gateway/service/program.c gateway/service/services.c */
/* LIBS: libcap */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gateway/base/buf.h"
#include "gateway/base/cleanup.h"
#include "gateway/base/fs.h"
#include "gateway/base/str.h"
#include "gateway/service/backoff.h"
#include "gateway/service/keeper.h"
#include "gateway/service/service.h"

enum { PATIENCE_MSEC = 5000, GRACE_USEC = 5000000, SHORT_USEC = 50000 };

/* --- the daemon --- */

static int listen_on(const char *path, int queue)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	(void)unlink(path);
	return bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0 && listen(fd, queue) == 0 ? fd : -1;
}

static int daemon_main(const char *mode, const char *path)
{
	if (str_eq(mode, "dies"))
		return 3;
	if (str_eq(mode, "stubborn"))
		(void)signal(SIGTERM, SIG_IGN);
	if (!str_eq(mode, "deaf") && listen_on(path, 1) < 0)
		return 1;
	for (;;)
		(void)pause();
}

/* --- the fixture: a folder, a program, a table of one of each kind --- */

struct world {
	char folder[64], self[PATH_MAX], program[PATH_MAX], sockets[6][108];
	const char *argv[6][5];
	struct service_spec specs[6];
};

static const char *const modes[] = {"plain", "stubborn", "deaf", "dies"};
enum { PLAIN, STUBBORN, DEAF, DIES, MISSING, OTHER, N_SPECS };

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	ssize_t n;

	assert_non_null(w);
	(void)snprintf(w->folder, sizeof(w->folder), "/tmp/fairway-services-XXXXXX");
	assert_non_null(mkdtemp(w->folder));
	n = readlink("/proc/self/exe", w->self, sizeof(w->self) - 1);
	assert_true(n > 0);
	memcpy(w->program, w->self, sizeof(w->self));
	for (size_t i = 0; i < N_SPECS; i++) {
		(void)snprintf(w->sockets[i], sizeof(w->sockets[i]), "%s/%zu.vty", w->folder, i);
		w->specs[i] = (struct service_spec){.argv = w->argv[i], .socket = w->sockets[i]};
		if (i < ARRAY_SIZE(modes)) {
			const char *argv[] = {w->program, "--daemon", modes[i], w->sockets[i], NULL};

			memcpy(w->argv[i], argv, sizeof(argv));
			w->specs[i].name = modes[i];
		}
	}
	w->specs[PLAIN].fifo_priority = 7;
	w->specs[STUBBORN].nice = 3;
	w->specs[MISSING].name = "missing";
	w->argv[MISSING][0] = "/nonexistent/program";
	w->specs[OTHER].name = "other";
	w->argv[OTHER][0] = "/bin/sleep";
	*state = w;
	return 0;
}

static void remove_folder(const char *folder)
{
	DIR *d = opendir(folder);
	const struct dirent *e;

	while (d && (e = readdir(d)))
		(void)unlinkat(dirfd(d), e->d_name, 0);
	if (d)
		(void)closedir(d);
	(void)rmdir(folder);
}

/* Ends what is left, and fails if there was anything. */
static int teardown(void **state)
{
	struct world *w = *state;
	int left = 0, status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) >= 0) {
		_cleanup_free_ char *children = NULL;
		size_t len;

		if (pid > 0)
			continue; /* ended in its time */
		assert_int_equal(fs_read("/proc/thread-self/children", 4096, &children, &len), 0);
		print_error("left over: %s\n", children);
		assert_int_equal(kill((pid_t)strtol(children, NULL, 10), SIGKILL), 0);
		(void)waitpid((pid_t)strtol(children, NULL, 10), NULL, 0);
		left++;
	}
	remove_folder(w->folder);
	free(w);
	return left;
}

static struct services *open_services(const struct world *w)
{
	struct services *s = NULL;

	assert_int_equal(services_open(w->specs, N_SPECS, &s), 0);
	return s;
}

static void start(struct services *s, const char *name)
{
	char reason[SERVICE_REASON];
	int r = services_start(s, name, reason);

	if (r < 0)
		fail_msg("%s: %d, %s", name, r, reason);
}

/* Never 0, which kill(2) takes for all of us. */
static pid_t pid_of(struct services *s, const char *name)
{
	pid_t pid = services_pid(s, name);

	assert_true(pid > 0);
	return pid;
}

static bool readable(int fd, int msec)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, msec) > 0;
}

static bool ends(int pidfd)
{
	return readable(pidfd, PATIENCE_MSEC);
}

static bool lives(pid_t pid)
{
	_cleanup_close_ int fd = pidfd_open(pid, 0);

	return fd >= 0 && !readable(fd, 0);
}

static char *proc_file(pid_t pid, const char *file)
{
	char path[64], *text;
	size_t len;

	(void)snprintf(path, sizeof(path), "/proc/%d/%s", pid, file);
	assert_int_equal(fs_read(path, 65536, &text, &len), 0);
	return text;
}

/* "Umask:\t0027" */
static void assert_status(pid_t pid, const char *line)
{
	_cleanup_free_ char *text = proc_file(pid, "status");

	if (!strstr(text, line))
		fail_msg("no '%s' in:\n%s", line, text);
}

/* Signals 32 and 33 are the C library's own: it lets nobody set them, and posix_spawn() in a parent leaves them
 * ignored. */
static const unsigned long long libc_signals = 3ULL << 31;

static unsigned long long ignored_signals(pid_t pid)
{
	_cleanup_free_ char *text = proc_file(pid, "status");

	return strtoull(strstr(text, "SigIgn:") + sizeof("SigIgn:"), NULL, 16);
}

static pid_t parent_of(pid_t pid)
{
	_cleanup_free_ char *text = proc_file(pid, "status");

	return (pid_t)strtol(strstr(text, "PPid:") + sizeof("PPid:"), NULL, 10);
}

static size_t count_fds(pid_t pid)
{
	char path[64];
	size_t n = 0;
	DIR *d;

	(void)snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	d = opendir(path);
	assert_non_null(d);
	while (readdir(d))
		n++;
	(void)closedir(d);
	return n - 2; /* . and .. */
}

/* --- tests --- */

static void starts_and_stops(void **state)
{
	struct services *s = open_services(*state);
	pid_t pid;

	assert_int_equal(services_pid(s, "plain"), 0);
	start(s, "plain");
	pid = pid_of(s, "plain");
	assert_true(lives(pid));
	start(s, "plain"); /* it runs: nothing happens */
	assert_int_equal(services_pid(s, "plain"), pid);
	assert_int_equal(services_stop(s, "plain", GRACE_USEC), 0);
	assert_false(lives(pid));
	assert_int_equal(services_pid(s, "plain"), 0);
	assert_int_equal(services_stop(s, "plain", GRACE_USEC), 0);
	assert_false(readable(services_fd(s), 0)); /* who stops it knows */
	start(s, "plain");			   /* at once */
	assert_int_equal(services_kill(s, "plain"), 0);
	assert_int_equal(services_pid(s, "plain"), 0);
	services_close(s);
}

static void is_born_clean(void **state)
{
	_cleanup_close_ int stray = open("/dev/null", O_RDONLY); /* not to be inherited */
	_cleanup_free_ char *environment = NULL;
	int patience = PATIENCE_MSEC;
	struct services *s;
	sigset_t set;
	pid_t pid;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGTERM);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	(void)signal(SIGPIPE, SIG_IGN);
	s = open_services(*state);
	(void)sigprocmask(SIG_UNBLOCK, &set, NULL);
	start(s, "plain");
	pid = pid_of(s, "plain");
	assert_int_equal(getsid(pid), pid);
	assert_int_equal(count_fds(pid), 4);   /* 0, 1, 2, its socket */
	while (count_fds(parent_of(pid)) != 5) /* 0, 1, 2, the connection, the ends; and a pidfd until it is sent */
		assert_true(patience-- > 0 && poll(NULL, 0, 1) == 0);
	assert_status(pid, "Umask:\t0027");
	assert_status(pid, "SigBlk:\t0000000000000000");
	assert_int_equal(ignored_signals(pid) & ~libc_signals, 0);
	assert_status(pid, "CapEff:\t00000000002034c0");
	assert_status(pid, "CapBnd:\t00000000002034c0");
	assert_status(pid, "NoNewPrivs:\t1");
	environment = proc_file(pid, "environ");
	assert_string_equal(environment, "PATH=/usr/sbin:/usr/bin:/sbin:/bin");
	assert_int_equal(services_stop(s, "plain", GRACE_USEC), 0);
	services_close(s);
}

static void has_its_urgency(void **state)
{
	struct services *s = open_services(*state);
	struct sched_param param;
	pid_t plain, stubborn;

	start(s, "plain");
	start(s, "stubborn");
	plain = pid_of(s, "plain");
	stubborn = pid_of(s, "stubborn");
	assert_int_equal(sched_getscheduler(plain), SCHED_FIFO);
	assert_int_equal(sched_getparam(plain, &param), 0);
	assert_int_equal(param.sched_priority, 7);
	assert_int_equal(getpriority(PRIO_PROCESS, (id_t)plain), getpriority(PRIO_PROCESS, 0));
	assert_int_equal(sched_getscheduler(stubborn), SCHED_OTHER);
	assert_int_equal(getpriority(PRIO_PROCESS, (id_t)stubborn), 3);
	assert_int_equal(sched_getscheduler(parent_of(plain)), SCHED_OTHER);
	assert_int_equal(services_kill(s, "plain"), 0);
	assert_int_equal(services_kill(s, "stubborn"), 0);
	services_close(s);
}

static void tells_a_death(void **state)
{
	struct services *s = open_services(*state);
	pid_t pid;

	start(s, "plain");
	start(s, "stubborn");
	assert_null(services_read(s));
	pid = pid_of(s, "plain");
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_true(readable(services_fd(s), PATIENCE_MSEC));
	assert_int_equal(services_pid(s, "plain"), 0); /* does not take the news away */
	assert_string_equal(services_read(s), "plain");
	assert_null(services_read(s));
	assert_true(services_pid(s, "stubborn") > 0);
	assert_in_range(services_wait_usec(s, "plain"), 1, BACKOFF_FIRST_USEC);
	(void)poll(NULL, 0, (int)(services_wait_usec(s, "plain") / 1000) + 1);
	start(s, "plain");
	assert_int_not_equal(services_pid(s, "plain"), pid);
	assert_int_equal(services_kill(s, "plain"), 0);
	assert_int_equal(services_kill(s, "stubborn"), 0);
	services_close(s);
}

static void stubborn_and_hung_ones_go(void **state)
{
	struct services *s = open_services(*state);
	pid_t pid;

	start(s, "stubborn");
	pid = pid_of(s, "stubborn");
	assert_int_equal(services_stop(s, "stubborn", SHORT_USEC), 0);
	assert_false(lives(pid));
	start(s, "plain");
	pid = pid_of(s, "plain");
	assert_int_equal(kill(pid, SIGSTOP), 0);
	assert_int_equal(services_stop(s, "plain", SHORT_USEC), 0);
	assert_false(lives(pid));
	start(s, "plain");
	pid = pid_of(s, "plain");
	assert_int_equal(kill(pid, SIGSTOP), 0);
	assert_int_equal(services_kill(s, "plain"), 0);
	assert_false(lives(pid));
	services_close(s);
}

static void a_missing_program_is_told(void **state)
{
	struct services *s = open_services(*state);
	char reason[SERVICE_REASON];

	assert_int_equal(services_start(s, "missing", reason), -ENOENT);
	assert_string_equal(reason, "/nonexistent/program: No such file or directory");
	assert_int_equal(services_start(s, "nobody", reason), -EINVAL);
	services_close(s);
}

static void one_that_dies_has_to_wait(void **state)
{
	struct services *s = open_services(*state);
	char reason[SERVICE_REASON];

	assert_int_equal(services_start(s, "dies", reason), -ECHILD);
	assert_non_null(strstr(reason, "dies ended before it listened"));
	assert_int_equal(services_start(s, "dies", reason), -EAGAIN);
	assert_non_null(strstr(reason, "0.1 s"));
	assert_in_range(services_wait_usec(s, "dies"), 1, BACKOFF_FIRST_USEC);
	(void)poll(NULL, 0, (int)(services_wait_usec(s, "dies") / 1000) + 1);
	assert_int_equal(services_start(s, "dies", reason), -ECHILD);
	assert_in_range(services_wait_usec(s, "dies"), BACKOFF_FIRST_USEC, 2 * BACKOFF_FIRST_USEC);
	assert_false(readable(services_fd(s), 0));
	services_close(s);
}

static void waits_double_and_are_forgiven(void **state)
{
	static const uint64_t second = 1000000;
	uint64_t wait = 0;

	(void)state;
	for (int i = 0; i < 8; i++) {
		wait = backoff_after(wait, second);
		assert_int_equal(wait, 100000U << i);
	}
	for (int i = 0; i < 3; i++)
		wait = backoff_after(wait, second);
	assert_int_equal(wait, 30 * second);
	assert_int_equal(backoff_after(wait, 2 * second), 30 * second);
	assert_int_equal(backoff_after(wait, 3 * second), 0);
}

static void one_that_never_listens_is_killed(void **state)
{
	struct services *s = open_services(*state);
	char reason[SERVICE_REASON];

	assert_int_equal(services_start(s, "deaf", reason), -ETIMEDOUT);
	assert_non_null(strstr(reason, "within 5 s"));
	assert_int_equal(services_pid(s, "deaf"), 0);
	services_close(s); /* teardown sees that it is gone */
}

static int connect_to(const char *path)
{
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	return connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ? -1 : steal_fd(&fd);
}

/* What kill -9 of fairwayd does. Returns once it is gone, and its keeper. */
static pid_t start_in_another_life(const struct world *w, const char *name)
{
	_cleanup_close_ int in = -1, out = -1, keeper = -1;
	pid_t owner, pid;
	int ends_of[2];

	assert_int_equal(pipe2(ends_of, O_CLOEXEC), 0);
	in = ends_of[0];
	out = ends_of[1];
	owner = fork();
	if (owner == 0) {
		char reason[SERVICE_REASON];
		struct services *s;

		if (services_open(w->specs, N_SPECS, &s) < 0 || services_start(s, name, reason) < 0)
			_exit(EXIT_FAILURE);
		pid = pid_of(s, name);
		if (write(out, &pid, sizeof(pid)) != sizeof(pid))
			_exit(EXIT_FAILURE);
		for (;;)
			(void)pause();
	}
	assert_true(owner > 0);
	assert_true(readable(in, PATIENCE_MSEC));
	assert_int_equal(read(in, &pid, sizeof(pid)), sizeof(pid));
	keeper = pidfd_open(parent_of(pid), 0);
	assert_true(keeper >= 0);
	assert_false(readable(keeper, 0));
	assert_int_equal(kill(owner, SIGKILL), 0);
	assert_true(ends(keeper));
	assert_true(lives(pid));
	return pid;
}

static void the_next_life_adopts(void **state)
{
	pid_t pid = start_in_another_life(*state, "plain");
	struct services *s = open_services(*state);

	assert_int_equal(services_pid(s, "plain"), pid);
	start(s, "plain");
	assert_int_equal(services_pid(s, "plain"), pid);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_true(readable(services_fd(s), PATIENCE_MSEC));
	assert_string_equal(services_read(s), "plain");
	services_close(s);

	pid = start_in_another_life(*state, "stubborn");
	s = open_services(*state);
	assert_int_equal(services_stop(s, "stubborn", SHORT_USEC), 0);
	assert_false(lives(pid));
	services_close(s);
}

/* Its queue is full, so its socket does not say who it is. */
static void adopts_one_that_hangs(void **state)
{
	const struct world *w = *state;
	pid_t pid = start_in_another_life(w, "plain");
	struct services *s;
	int fd;

	assert_int_equal(kill(pid, SIGSTOP), 0);
	while ((fd = connect_to(w->sockets[PLAIN])) >= 0)
		(void)close(fd);
	assert_int_equal(errno, EAGAIN);
	s = open_services(w);
	assert_int_equal(services_pid(s, "plain"), pid);
	assert_int_equal(services_kill(s, "plain"), 0);
	assert_false(lives(pid));
	services_close(s);
}

static void adopts_one_that_never_listened(void **state)
{
	const struct world *w = *state;
	struct services *s;
	pid_t pid = fork();

	if (pid == 0) {
		(void)execl(w->program, w->argv[DEAF][0], w->argv[DEAF][1], w->argv[DEAF][2], w->argv[DEAF][3], NULL);
		_exit(127);
	}
	for (;;) { /* until it is what it will be */
		_cleanup_free_ char *text = proc_file(pid, "cmdline");

		if (str_eq(text, w->program) && strstr(text + strlen(text) + 1, "--daemon"))
			break;
	}
	s = open_services(w);
	assert_int_equal(services_pid(s, "deaf"), pid);
	assert_int_equal(services_kill(s, "deaf"), 0);
	assert_false(lives(pid));
	services_close(s);
}

static void a_stale_socket_is_nobody(void **state)
{
	const struct world *w = *state;
	struct services *s = open_services(w);
	int fd = listen_on(w->sockets[PLAIN], 1);

	assert_true(fd >= 0);
	(void)close(fd);
	assert_int_equal(access(w->sockets[PLAIN], F_OK), 0);
	assert_int_equal(services_pid(s, "plain"), 0);
	start(s, "plain");
	assert_int_equal(services_kill(s, "plain"), 0);
	services_close(s);
}

static void a_stranger_is_left_alone(void **state)
{
	const struct world *w = *state;
	char reason[SERVICE_REASON], expected[SERVICE_REASON];
	_cleanup_close_ int fd = listen_on(w->sockets[OTHER], 3); /* this process, which is not sleep(1) */
	struct services *s;
	int keeper = -1;
	pid_t keeper_pid, victim = fork();

	if (victim == 0)
		for (;;)
			(void)pause();
	s = open_services(w);
	assert_int_equal(services_pid(s, "other"), 0);
	assert_int_equal(services_start(s, "other", reason), -EBUSY);
	(void)snprintf(expected, sizeof(expected),
		"pid %d listens on %s, which is not /bin/sleep of this network namespace", getpid(), w->sockets[OTHER]);
	assert_string_equal(reason, expected);
	assert_int_equal(services_stop(s, "other", GRACE_USEC), 0);
	assert_int_equal(services_kill(s, "other"), 0);
	assert_int_equal(services_start(s, "other", reason), -EBUSY); /* its queue is full by now */
	assert_non_null(strstr(reason, "a process that does not answer listens on"));
	services_close(s);

	assert_int_equal(keeper_fork(w->specs, N_SPECS, &keeper, &keeper_pid), 0);
	assert_int_equal(keeper_call(keeper, KEEPER_KILL, OTHER, victim, NULL, NULL), -EPERM);
	assert_int_equal(keeper_call(keeper, KEEPER_TERM, OTHER, victim, NULL, NULL), -EPERM);
	assert_int_equal(keeper_call(keeper, KEEPER_KILL, OTHER, 0, NULL, NULL), -ESRCH);
	assert_int_equal(keeper_call(keeper, KEEPER_KILL, OTHER, -1, NULL, NULL), -ESRCH);
	assert_int_equal(keeper_call(keeper, KEEPER_KILL, N_SPECS, victim, NULL, NULL), -EINVAL);
	assert_int_equal(keeper_call(keeper, (enum keeper_op)99, PLAIN, victim, NULL, NULL), -EINVAL);
	assert_true(lives(victim));
	assert_int_equal(
		keeper_call(keeper, KEEPER_KILL, PLAIN, victim, NULL, NULL), 0); /* this program: the control */
	assert_int_equal(waitpid(victim, NULL, 0), victim);
	(void)close(keeper);
	assert_int_equal(waitpid(keeper_pid, NULL, 0), keeper_pid);
}

static void another_network_namespace_is_a_stranger(void **state)
{
	const struct world *w = *state;
	char reason[SERVICE_REASON];
	struct services *s;
	pid_t pid = fork();
	int ready = -1;

	if (pid == 0) {
		if (unshare(CLONE_NEWNET) < 0 || listen_on(w->sockets[PLAIN], 3) < 0)
			_exit(1);
		for (;;)
			(void)pause();
	}
	while (ready < 0) { /* there, and past listen(2) */
		assert_int_equal(waitpid(pid, NULL, WNOHANG), 0);
		ready = connect_to(w->sockets[PLAIN]);
	}
	(void)close(ready);
	s = open_services(w);
	assert_int_equal(services_start(s, "plain", reason), -EBUSY);
	assert_non_null(strstr(reason, "which is not"));
	assert_int_equal(services_kill(s, "plain"), 0);
	assert_true(lives(pid));
	services_close(s);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void one_of_an_upgraded_package_is_ours(void **state)
{
	struct world *w = *state;
	_cleanup_free_ char *program = NULL;
	struct services *s;
	size_t len;
	pid_t pid;

	assert_int_equal(fs_read(w->self, SIZE_MAX, &program, &len), 0);
	(void)snprintf(w->program, sizeof(w->program), "%s/daemon", w->folder);
	assert_int_equal(fs_write_atomic(w->program, program, len, 0700), 0);
	pid = start_in_another_life(w, "plain");
	assert_int_equal(fs_write_atomic(w->program, program, len, 0700), 0); /* another file of this name */
	s = open_services(w);
	assert_int_equal(services_pid(s, "plain"), pid);
	assert_int_equal(services_stop(s, "plain", GRACE_USEC), 0);
	assert_false(lives(pid));
	services_close(s);
}

static void without_a_keeper_services_stay(void **state)
{
	struct services *s = open_services(*state);
	char reason[SERVICE_REASON];
	pid_t pid;

	start(s, "plain");
	pid = pid_of(s, "plain");
	assert_int_equal(kill(parent_of(pid), SIGKILL), 0);
	assert_int_equal(services_start(s, "stubborn", reason), -EPIPE);
	assert_string_equal(reason, "the process that starts services is gone or hangs");
	assert_int_equal(services_kill(s, "plain"), -EPIPE);
	assert_true(lives(pid));
	services_close(s);
	s = open_services(*state);
	assert_int_equal(services_kill(s, "plain"), 0);
	services_close(s);
}

static void a_keeper_ignores_signals(void **state)
{
	static const int signals[] = {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGPIPE};
	struct services *s = open_services(*state);
	pid_t pid;

	start(s, "plain");
	pid = pid_of(s, "plain");
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		assert_int_equal(kill(parent_of(pid), signals[i]), 0);
	start(s, "stubborn");
	assert_int_equal(services_kill(s, "plain"), 0);
	assert_int_equal(services_kill(s, "stubborn"), 0);
	services_close(s);
}

static void too_long_a_path_is_refused(void **state)
{
	struct world *w = *state;
	struct services *s;
	char path[109];

	memset(path, 'x', sizeof(path) - 1);
	path[0] = '/';
	path[sizeof(path) - 1] = '\0';
	w->specs[PLAIN].socket = path;
	assert_int_equal(services_open(w->specs, N_SPECS, &s), -ENAMETOOLONG);
	path[sizeof(path) - 2] = '\0';
	assert_int_equal(services_open(w->specs, N_SPECS, &s), 0);
	services_close(s);
}

int main(int argc, char *argv[])
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(starts_and_stops),
		T(is_born_clean),
		T(has_its_urgency),
		T(tells_a_death),
		T(stubborn_and_hung_ones_go),
		T(a_missing_program_is_told),
		T(one_that_dies_has_to_wait),
		T(waits_double_and_are_forgiven),
		T(one_that_never_listens_is_killed),
		T(the_next_life_adopts),
		T(adopts_one_that_hangs),
		T(adopts_one_that_never_listened),
		T(a_stale_socket_is_nobody),
		T(a_stranger_is_left_alone),
		T(another_network_namespace_is_a_stranger),
		T(one_of_an_upgraded_package_is_ours),
		T(without_a_keeper_services_stay),
		T(a_keeper_ignores_signals),
		T(too_long_a_path_is_refused),
	};

	if (argc == 4 && str_eq(argv[1], "--daemon"))
		return daemon_main(argv[2], argv[3]);
	if (geteuid() != 0) {
		(void)fprintf(stderr, "this takes root\n");
		return EXIT_FAILURE;
	}
	if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
		return EXIT_FAILURE;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
