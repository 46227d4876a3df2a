/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The keeper's own life; see keeper.h. It is one loop over two descriptors: the connection, and the ends of those that
 * it started. All signals are blocked: what ends it is the end of fairwayd, however that came.
 */
#include "gateway/service/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gateway/base/cleanup.h"
#include "gateway/base/log.h"
#include "gateway/base/str.h"
#include "gateway/service/caps.h"
#include "gateway/service/keeper_packet.h"
#include "gateway/service/program.h"
#include "gateway/service/service.h"

enum { CONNECTION = STDERR_FILENO + 1, CALL_SECONDS = 5 };

struct keeper {
	const struct service_spec *specs;
	size_t n;
	pid_t *started; /* for each of them, the newest; 0: none */
	int ends;	/* signalfd of SIGCHLD */
};

/* --- the operations --- */

static int start(struct keeper *k, size_t i, pid_t *ret)
{
	int r = program_start(&k->specs[i], ret);

	if (r == 0)
		k->started[i] = *ret;
	return r;
}

/* The descriptor comes first: what is checked then and not true of it any more hits nobody else. */
static int adopt(const struct keeper *k, size_t i, pid_t *pid, int *ret_pidfd)
{
	_cleanup_close_ int pidfd = -1;
	int r = *pid > 0 ? 0 : program_find(&k->specs[i], pid);

	if (r < 0)
		return r;
	pidfd = pidfd_open(*pid, 0);
	if (pidfd < 0)
		return -errno;
	r = program_check(&k->specs[i], *pid);
	if (r == 0)
		*ret_pidfd = steal_fd(&pidfd);
	return r;
}

static int signal_service(const struct keeper *k, size_t i, pid_t pid, int sig)
{
	_cleanup_close_ int pidfd = -1;
	int r = pid > 0 ? adopt(k, i, &pid, &pidfd) : -ESRCH;

	return r < 0 ? r : pidfd_send_signal(pidfd, sig, NULL, 0) < 0 ? -errno : 0;
}

static int operate(struct keeper *k, const struct keeper_request *request, pid_t *pid, int *ret_pidfd)
{
	size_t i = request->service;
	int r;

	if (i >= k->n)
		return -EINVAL;
	switch (request->op) {
	case KEEPER_START:
		r = start(k, i, pid);
		if (r == 0)
			*ret_pidfd = pidfd_open(*pid, 0);
		return r < 0 ? r : *ret_pidfd < 0 ? -errno : 0;
	case KEEPER_ADOPT:
		return adopt(k, i, pid, ret_pidfd);
	case KEEPER_TERM:
		return signal_service(k, i, *pid, SIGTERM);
	case KEEPER_KILL:
		return signal_service(k, i, *pid, SIGKILL);
	default:
		return -EINVAL;
	}
}

/* --- the loop --- */

static bool answer(struct keeper_reply *reply, int pidfd)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {0};
	struct iovec iov = {.iov_base = reply, .iov_len = sizeof(*reply)};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};

	if (pidfd >= 0) {
		control.align =
			(struct cmsghdr){CMSG_LEN(sizeof(pidfd)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
		memcpy(CMSG_DATA(&control.align), &pidfd, sizeof(pidfd));
		msg.msg_control = &control;
		msg.msg_controllen = sizeof(control);
	}
	return sendmsg(CONNECTION, &msg, MSG_NOSIGNAL) == sizeof(*reply);
}

/* False when fairwayd is gone. */
static bool serve(struct keeper *k)
{
	_cleanup_close_ int pidfd = -1;
	struct keeper_request request;
	struct keeper_reply reply;
	pid_t pid;

	if (recv(CONNECTION, &request, sizeof(request), 0) != sizeof(request))
		return false;
	pid = request.pid;
	reply = (struct keeper_reply){.number = request.number, .error = operate(k, &request, &pid, &pidfd)};
	reply.pid = pid;
	return answer(&reply, pidfd);
}

static void tell_end(struct keeper *k, pid_t pid, int status)
{
	for (size_t i = 0; i < k->n; i++) {
		if (k->started[i] != pid)
			continue;
		k->started[i] = 0;
		if (WIFSIGNALED(status))
			log_notice("%s (pid %d) ended by signal %d, %s", k->specs[i].name, pid, WTERMSIG(status),
				strsignal(WTERMSIG(status)));
		else
			log_notice("%s (pid %d) ended with status %d", k->specs[i].name, pid, WEXITSTATUS(status));
	}
}

static void reap(struct keeper *k)
{
	struct signalfd_siginfo info;
	int status;
	pid_t pid;

	if (read(k->ends, &info, sizeof(info)) < 0) {
		/* Only a wake-up: several ends may be one signal. */
	}
	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		tell_end(k, pid, status);
}

static void loop(struct keeper *k)
{
	struct pollfd fds[] = {{.fd = CONNECTION, .events = POLLIN}, {.fd = k->ends, .events = POLLIN}};

	for (;;) {
		if (poll(fds, ARRAY_SIZE(fds), -1) < 0)
			continue; /* stopped and continued */
		if (fds[1].revents)
			reap(k);
		if (fds[0].revents && !serve(k))
			return;
	}
}

/* What can reach nobody is of use to nobody else. */
static void end_own(const struct keeper *k)
{
	for (size_t i = 0; i < k->n; i++)
		if (k->specs[i].own_network && k->started[i] > 0)
			(void)kill(k->started[i], SIGKILL);
}

/* --- birth --- */

/* What services need (program.c), and to start, see and signal them, who are other users by then. */
static const cap_value_t keeper_caps[] = {CAP_NET_ADMIN, CAP_NET_RAW, CAP_NET_BIND_SERVICE, CAP_SYS_ADMIN, CAP_SETUID,
	CAP_SETGID, CAP_SETPCAP, CAP_SYS_NICE, CAP_SYS_PTRACE, CAP_KILL};

/* Nothing of fairwayd's stays open here, least its locks. */
static int move_in(int connection)
{
	int null;

	if (connection != CONNECTION && dup2(connection, CONNECTION) < 0)
		return -errno;
	if (close_range(CONNECTION + 1, ~0U, 0) < 0 || fcntl(CONNECTION, F_SETFD, FD_CLOEXEC) < 0)
		return -errno;
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null < 0 || dup2(null, STDIN_FILENO) < 0 || chdir("/") < 0)
		return -errno;
	(void)close(null);
	return 0;
}

static int block_signals(int *ret_ends)
{
	sigset_t all, child;

	(void)sigfillset(&all);
	(void)sigemptyset(&child);
	(void)sigaddset(&child, SIGCHLD);
	(void)signal(SIGCHLD, SIG_DFL);
	(void)sigprocmask(SIG_SETMASK, &all, NULL);
	*ret_ends = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
	return *ret_ends < 0 ? -errno : 0;
}

/* In the keeper, for its whole life. Its first packet says whether it is ready. */
static void live(const struct service_spec *specs, size_t n, int connection)
{
	struct keeper k = {.specs = specs, .n = n, .started = calloc(n + 1, sizeof(pid_t))};
	struct keeper_reply ready = {0};

	if (!k.started)
		abort();
	(void)prctl(PR_SET_NAME, "fairway-keeper", 0, 0, 0);
	ready.error = move_in(connection);
	if (ready.error == 0)
		ready.error = block_signals(&k.ends);
	if (ready.error == 0)
		ready.error = caps_keep(keeper_caps, ARRAY_SIZE(keeper_caps));
	if (answer(&ready, -1) && ready.error == 0)
		loop(&k);
	end_own(&k);
	free(k.started);
}

static int wait_ready(int keeper)
{
	struct keeper_reply ready;
	ssize_t n = recv(keeper, &ready, sizeof(ready), 0);

	return n == sizeof(ready) ? ready.error : n < 0 ? -errno : -EPIPE;
}

int keeper_fork(const struct service_spec *specs, size_t n, int *ret, pid_t *ret_pid)
{
	static const struct timeval patience = {.tv_sec = CALL_SECONDS};
	_cleanup_close_ int ours = -1, theirs = -1;
	int ends[2], r;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return -errno;
	ours = ends[0];
	theirs = ends[1];
	if (setsockopt(ours, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) < 0 ||
		setsockopt(ours, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) < 0)
		return -errno;
	pid = fork();
	if (pid < 0)
		return -errno;
	if (pid == 0) {
		live(specs, n, theirs);
		_exit(EXIT_SUCCESS);
	}
	closep(&theirs);
	theirs = -1;
	r = wait_ready(ours);
	if (r == 0) {
		*ret = steal_fd(&ours);
		*ret_pid = pid;
	} else {
		(void)waitpid(pid, NULL, 0);
	}
	return r;
}
