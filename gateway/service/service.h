/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Child daemons. They are not children of fairwayd but of its keeper: a small process, forked before fairwayd gives up
 * its privileges, that can do two things and no more: start a program of the table that it was born with, and signal
 * one. The daemons outlive fairwayd and are adopted by its next life: who listens on a service's socket is the service.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct service_spec {
	const char *name;	 /* "bgpd" */
	const char *const *argv; /* argv[0] is the program's absolute path; NULL-terminated */
	const char *socket;	 /* Unix stream socket that it listens on once it is ready */
	int fifo_priority;	 /* 1..99: SCHED_FIFO; 0: the usual scheduler */
	int nice;
	bool own_network; /* it gets an empty network namespace, can reach nobody, and ends with the keeper */
};

struct services;

enum { SERVICE_REASON = 256 };

/*
 * Forks the keeper; call this while privileged, and before there is a second thread. The specs and all they point to
 * must live as long as the services. 0; -ENAMETOOLONG: a socket's path does not fit an address; or -errno.
 */
int services_open(const struct service_spec *specs, size_t n, struct services **ret);
void services_close(struct services *s); /* the daemons stay; NULL is fine */

/*
 * Pid of the service, found by who listens on its socket if it is not known yet (adoption); 0: it does not run. Who
 * listens there but is another program is not the service, and is never signalled.
 */
pid_t services_pid(struct services *s, const char *name);

/*
 * Starts it, unless it runs, and waits until its socket answers, up to 5 s. 0; -EAGAIN: it died too often just now and
 * has to wait (back-off, from 0.1 s doubling to 30 s; none after 3 s of life); -ETIMEDOUT (it was killed),
 * -ECHILD: it did not come up; -EBUSY: another program listens on its socket; -EPIPE: the keeper is gone, only a new
 * fairwayd has one; or -errno. `reason` says it in words.
 */
int services_start(struct services *s, const char *name, char reason[SERVICE_REASON]);

/* How long services_start() would still say -EAGAIN; 0: not. */
uint64_t services_wait_usec(struct services *s, const char *name);

/*
 * SIGTERM, and SIGKILL after `grace_usec`; waits until it is gone. It may start again at once. 0, also if it does not
 * run; -ETIMEDOUT: not even SIGKILL ended it; or -errno.
 */
int services_stop(struct services *s, const char *name, uint64_t grace_usec);
/* SIGKILL for one that hangs; it counts as a death. Else the same. */
int services_kill(struct services *s, const char *name);

/*
 * For the event loop: readable when a service has ended that was not stopped or killed here. services_read: its name,
 * and NULL when there are no more.
 */
int services_fd(const struct services *s);
const char *services_read(struct services *s);
