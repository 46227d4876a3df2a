/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The supervisor in fairwayd; see service.h. A service is a pidfd: while that is not readable it runs, whoever started
 * it. So one of this life and one of the last are the same to all that follows.
 */
#include "gateway/service/service.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "gateway/base/cleanup.h"
#include "gateway/base/str.h"
#include "gateway/service/backoff.h"
#include "gateway/service/keeper.h"

enum { MSEC = 1000, START_USEC = 5 * 1000 * 1000, KILL_USEC = 5 * 1000 * 1000, PROBE_MSEC = 2, KEEPER_END_MSEC = 1000 };

struct service {
	const struct service_spec *spec;
	pid_t pid;	   /* 0: none is known */
	int pidfd;	   /* -1: none is known */
	uint64_t since;	   /* when it was started or found */
	uint64_t backoff;  /* the wait before the life that is or comes */
	uint64_t earliest; /* when it may start */
};

struct services {
	int keeper, epoll;
	pid_t keeper_pid;
	size_t n;
	struct service v[];
};

static uint64_t now_usec(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 * MSEC + (uint64_t)t.tv_nsec / 1000;
}

static struct service *service_find(struct services *s, const char *name)
{
	for (size_t i = 0; i < s->n; i++)
		if (str_eq(s->v[i].spec->name, name))
			return &s->v[i];
	return NULL;
}

static size_t service_index(const struct services *s, const struct service *sv)
{
	return (size_t)(sv - s->v);
}

/* --- the socket --- */

/* Who listens there. 0; -ENOENT, -ECONNREFUSED: nobody; -EAGAIN: somebody whose queue is full; or another -errno. */
static int socket_owner(const char *path, pid_t *ret)
{
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct ucred owner;
	socklen_t len = sizeof(owner);

	memcpy(address.sun_path, path, strlen(path) + 1); /* services_open() looked at its length */
	if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 ||
		getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &owner, &len) < 0)
		return -errno;
	*ret = owner.pid;
	return 0;
}

/* --- what is known of a service --- */

/* Waits up to timeout_msec for its end. */
static bool service_ended(const struct service *sv, int timeout_msec)
{
	struct pollfd p = {.fd = sv->pidfd, .events = POLLIN};

	return poll(&p, 1, timeout_msec) > 0;
}

static bool service_runs(const struct service *sv)
{
	return sv->pidfd >= 0 && !service_ended(sv, 0);
}

static int service_know(struct services *s, struct service *sv, pid_t pid, int pidfd)
{
	struct epoll_event event = {.events = EPOLLIN, .data.u64 = service_index(s, sv)};

	if (epoll_ctl(s->epoll, EPOLL_CTL_ADD, pidfd, &event) < 0)
		return -errno;
	sv->pid = pid;
	sv->pidfd = pidfd;
	sv->since = now_usec();
	return 0;
}

static void service_forget(struct services *s, struct service *sv)
{
	(void)epoll_ctl(s->epoll, EPOLL_CTL_DEL, sv->pidfd, NULL);
	closep(&sv->pidfd);
	sv->pidfd = -1;
	sv->pid = 0;
}

/* It is gone, or never came; that has its price. */
static void service_died(struct services *s, struct service *sv)
{
	uint64_t now = now_usec();

	sv->backoff = backoff_after(sv->backoff, sv->pidfd >= 0 ? now - sv->since : 0);
	sv->earliest = now + sv->backoff;
	if (sv->pidfd >= 0)
		service_forget(s, sv);
}

/* --- adoption --- */

static int adopt_pid(struct services *s, struct service *sv, pid_t pid)
{
	_cleanup_close_ int pidfd = -1;
	int r = keeper_call(s->keeper, KEEPER_ADOPT, service_index(s, sv), pid, &pid, &pidfd);

	if (r == 0 && pidfd < 0)
		r = -EBADF;
	if (r == 0)
		r = service_know(s, sv, pid, pidfd);
	if (r == 0)
		(void)steal_fd(&pidfd);
	return r;
}

/*
 * 0: it runs and is known now. -ESRCH: nobody is there. -EBUSY: *ret_other (0: unknown) listens, and is another
 * program. A socket whose queue is full (its owner hangs, and others tried before) does not tell its owner; then it is
 * looked for by its arguments.
 */
static int service_adopt(struct services *s, struct service *sv, pid_t *ret_other)
{
	pid_t pid = 0;
	int r = socket_owner(sv->spec->socket, &pid);

	if (r == -ENOENT || r == -ECONNREFUSED)
		return -ESRCH;
	if (r < 0 && r != -EAGAIN)
		return r;
	r = adopt_pid(s, sv, pid);
	if (r == -EPERM || (r == -ESRCH && pid == 0)) {
		*ret_other = pid;
		return -EBUSY;
	}
	return r;
}

/* Also those that do not listen: what hung while it started would else be in the way for ever. */
static void adopt_all(struct services *s)
{
	for (size_t i = 0; i < s->n; i++) {
		pid_t other;

		if (service_adopt(s, &s->v[i], &other) == -ESRCH)
			(void)adopt_pid(s, &s->v[i], 0);
	}
}

/* --- open and close --- */

static bool sockets_fit(const struct service_spec *specs, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strlen(specs[i].socket) >= sizeof(((struct sockaddr_un *)NULL)->sun_path))
			return false;
	return true;
}

int services_open(const struct service_spec *specs, size_t n, struct services **ret)
{
	struct services *s;
	int r;

	if (!sockets_fit(specs, n))
		return -ENAMETOOLONG;
	s = calloc(1, sizeof(*s) + n * sizeof(s->v[0]));
	if (!s)
		abort();
	s->n = n;
	s->keeper = -1;
	for (size_t i = 0; i < n; i++)
		s->v[i] = (struct service){.spec = &specs[i], .pidfd = -1};
	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	r = s->epoll < 0 ? -errno : keeper_fork(specs, n, &s->keeper, &s->keeper_pid);
	if (r < 0) {
		services_close(s);
		return r;
	}
	adopt_all(s);
	*ret = s;
	return 0;
}

/* One that is stopped would keep fairwayd from ending. */
static void keeper_wait(pid_t pid)
{
	_cleanup_close_ int pidfd = pidfd_open(pid, 0);
	struct pollfd p = {.fd = pidfd, .events = POLLIN};

	(void)poll(&p, 1, KEEPER_END_MSEC);
	(void)waitpid(pid, NULL, WNOHANG);
}

void services_close(struct services *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n; i++)
		closep(&s->v[i].pidfd);
	closep(&s->keeper);
	closep(&s->epoll);
	if (s->keeper_pid > 0)
		keeper_wait(s->keeper_pid);
	free(s);
}

/* --- the public functions --- */

pid_t services_pid(struct services *s, const char *name)
{
	struct service *sv = service_find(s, name);
	pid_t other;

	if (!sv)
		return 0;
	if (sv->pidfd < 0)
		(void)service_adopt(s, sv, &other);
	return service_runs(sv) ? sv->pid : 0; /* one that ended is still to be told by services_read() */
}

/* Until the socket is answered by this very process. */
static int wait_until_ready(const struct service *sv)
{
	uint64_t deadline = now_usec() + START_USEC;
	pid_t owner = 0;

	do {
		if (socket_owner(sv->spec->socket, &owner) == 0 && owner == sv->pid)
			return 0;
		if (service_ended(sv, PROBE_MSEC))
			return -ECHILD;
	} while (now_usec() < deadline);
	return -ETIMEDOUT;
}

static int start_process(struct services *s, struct service *sv)
{
	_cleanup_close_ int pidfd = -1;
	pid_t pid;
	int r = keeper_call(s->keeper, KEEPER_START, service_index(s, sv), 0, &pid, &pidfd);

	if (r == 0 && pidfd < 0)
		r = -EBADF;
	if (r == 0)
		r = service_know(s, sv, pid, pidfd);
	if (r == 0)
		(void)steal_fd(&pidfd);
	return r;
}

static int end_by_kill(struct services *s, const struct service *sv)
{
	int r = keeper_call(s->keeper, KEEPER_KILL, service_index(s, sv), sv->pid, NULL, NULL);

	if (r < 0 && r != -ESRCH && !service_ended(sv, 0))
		return r;
	return service_ended(sv, KILL_USEC / MSEC) ? 0 : -ETIMEDOUT;
}

static void explain(const struct service *sv, int r, pid_t other, char *reason)
{
	const char *name = sv->spec->name, *program = sv->spec->argv[0], *path = sv->spec->socket;

	if (r == -EAGAIN)
		(void)snprintf(reason, SERVICE_REASON, "%s died too often; it has to wait for %.1f s", name,
			(double)sv->backoff / 1e6);
	else if (r == -EBUSY && other == 0)
		(void)snprintf(reason, SERVICE_REASON, "a process that does not answer listens on %s, and is not %s",
			path, program);
	else if (r == -EBUSY)
		(void)snprintf(reason, SERVICE_REASON,
			"pid %d listens on %s, which is not %s of this network namespace", other, path, program);
	else if (r == -ECHILD)
		(void)snprintf(reason, SERVICE_REASON, "%s ended before it listened on %s; the log has what it said",
			name, path);
	else if (r == -ETIMEDOUT)
		(void)snprintf(reason, SERVICE_REASON, "%s did not listen on %s within %d s", name, path,
			START_USEC / (1000 * MSEC));
	else if (r == -EPIPE)
		(void)snprintf(reason, SERVICE_REASON, "the process that starts services is gone or hangs");
	else
		(void)snprintf(reason, SERVICE_REASON, "%s: %s", program, strerror(-r));
}

/* 0: it runs already. -ESRCH: it has to be started, and may. */
static int before_start(struct services *s, struct service *sv, pid_t *ret_other)
{
	int r;

	if (service_runs(sv))
		return 0;
	if (sv->pidfd >= 0)
		service_died(s, sv);
	r = service_adopt(s, sv, ret_other);
	return r == -ESRCH && now_usec() < sv->earliest ? -EAGAIN : r;
}

int services_start(struct services *s, const char *name, char reason[SERVICE_REASON])
{
	struct service *sv = service_find(s, name);
	pid_t other = 0;
	int r;

	reason[0] = '\0';
	if (!sv)
		return -EINVAL;
	r = before_start(s, sv, &other);
	if (r == -ESRCH) {
		r = start_process(s, sv);
		if (r == 0)
			r = wait_until_ready(sv);
		if (r == -ETIMEDOUT && sv->pidfd >= 0)
			(void)end_by_kill(s, sv);
		if (r < 0)
			service_died(s, sv);
	}
	if (r < 0)
		explain(sv, r, other, reason);
	return r;
}

uint64_t services_wait_usec(struct services *s, const char *name)
{
	const struct service *sv = service_find(s, name);
	uint64_t now = now_usec();

	return sv && now < sv->earliest ? sv->earliest - now : 0;
}

int services_stop(struct services *s, const char *name, uint64_t grace_usec)
{
	struct service *sv = service_find(s, name);
	int r = 0;

	if (!sv || services_pid(s, name) == 0)
		return 0;
	(void)keeper_call(s->keeper, KEEPER_TERM, service_index(s, sv), sv->pid, NULL, NULL);
	if (!service_ended(sv, (int)(grace_usec / MSEC)))
		r = end_by_kill(s, sv);
	if (r < 0)
		return r;
	service_forget(s, sv);
	sv->backoff = sv->earliest = 0;
	return 0;
}

int services_kill(struct services *s, const char *name)
{
	struct service *sv = service_find(s, name);
	int r;

	if (!sv || services_pid(s, name) == 0)
		return 0;
	r = end_by_kill(s, sv);
	if (r == 0)
		service_died(s, sv);
	return r;
}

int services_fd(const struct services *s)
{
	return s->epoll;
}

const char *services_read(struct services *s)
{
	struct epoll_event event;
	struct service *sv;

	if (epoll_wait(s->epoll, &event, 1, 0) <= 0)
		return NULL;
	sv = &s->v[event.data.u64];
	service_died(s, sv);
	return sv->spec->name;
}
