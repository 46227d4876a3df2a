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
};

struct services;

/*
 * Forks the keeper; call this while privileged. The specs and all they point to must live as long as the services.
 * 0 or -errno. */
int services_open(const struct service_spec *specs, size_t n, struct services **ret);
void services_close(struct services *s); /* the daemons stay; NULL is fine */

/* Pid of the service, found by who listens on its socket if it is not known yet (adoption); 0: it does not run. */
pid_t services_pid(struct services *s, const char *name);

/*
 * Starts it and waits until its socket answers. 0; -EAGAIN: it died too often just now and has to wait (back-off, from
 * 0.1 s doubling to 30 s; back at none after 60 s of life); -ETIMEDOUT, -ECHILD: it did not come up; or -errno.
 * `reason` (256 bytes) says it in words.
 */
int services_start(struct services *s, const char *name, char reason[256]);

/* SIGTERM, and SIGKILL after `grace_usec`; waits until it is gone. 0 if it does not run. */
int services_stop(struct services *s, const char *name, uint64_t grace_usec);
/* SIGKILL for one that hangs. */
int services_kill(struct services *s, const char *name);

/* For the event loop: readable when a service has ended. services_read: its name, and NULL when there are no more. */
int services_fd(const struct services *s);
const char *services_read(struct services *s);
