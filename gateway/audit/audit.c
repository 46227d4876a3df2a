/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The thread of the audit and the loop's side of it; see audit.h. The work itself is audit_reader.c's. */
#include "gateway/audit/audit.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "config/config.h"
#include "gateway/audit/audit_reader.h"
#include "gateway/audit/audit_settings.h"
#include "gateway/base/cleanup.h"
#include "gateway/base/str.h"

struct auditor {
	pthread_t thread;
	int wake;

	/* Both threads'. */
	pthread_mutex_t lock;
	bool stop;
	struct audit_settings *next; /* NULL: no news */
	struct audit_counts counts;
	void (*on_deny)(const struct deny *deny, void *arg); /* NULL: no news */
	void *on_deny_arg;

	struct audit_reader *reader; /* the thread's */
};

static void ring(int fd)
{
	/* Fails only if it is ringing already. */
	(void)!write(fd, &(uint64_t){1}, sizeof(uint64_t));
}

/* --- the thread --- */

/* False: it is to end. */
static bool take_orders(struct auditor *a)
{
	struct audit_settings *next;
	void (*on_deny)(const struct deny *deny, void *arg);
	void *arg;
	bool stop;

	(void)!read(a->wake, &(uint64_t){0}, sizeof(uint64_t));
	(void)pthread_mutex_lock(&a->lock);
	next = a->next;
	a->next = NULL;
	on_deny = a->on_deny;
	a->on_deny = NULL;
	arg = a->on_deny_arg;
	stop = a->stop;
	(void)pthread_mutex_unlock(&a->lock);
	if (on_deny)
		audit_reader_on_deny(a->reader, on_deny, arg);
	if (next)
		audit_reader_config(a->reader, next);
	return !stop;
}

static void publish(struct auditor *a)
{
	struct audit_counts counts;

	audit_reader_counts(a->reader, &counts);
	(void)pthread_mutex_lock(&a->lock);
	a->counts = counts;
	(void)pthread_mutex_unlock(&a->lock);
}

static void *thread_main(void *arg)
{
	struct auditor *a = arg;
	bool goes_on = true;

	while (goes_on) {
		struct pollfd fds[AUDIT_FDS + 1];

		audit_reader_fds(a->reader, fds);
		fds[AUDIT_FDS] = (struct pollfd){.fd = a->wake, .events = POLLIN};
		if (poll(fds, ARRAY_SIZE(fds), audit_reader_timeout(a->reader)) < 0 && errno != EINTR)
			abort();
		if (fds[AUDIT_FDS].revents)
			goes_on = take_orders(a);
		audit_reader_turn(a->reader);
		publish(a);
	}
	audit_reader_free(a->reader);
	return NULL;
}

/* --- the loop's side --- */

static void auditor_free(struct auditor *a)
{
	closep(&a->wake);
	(void)pthread_mutex_destroy(&a->lock);
	audit_settings_free(a->next);
	free(a);
}

/* With all signals blocked: they are the loop's. */
static int start_thread(struct auditor *a)
{
	sigset_t all, old;
	int r;

	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &old);
	r = -pthread_create(&a->thread, NULL, thread_main, a);
	(void)pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (r == 0)
		(void)pthread_setname_np(a->thread, "audit");
	return r;
}

int auditor_open(struct auditor **ret)
{
	struct auditor *a = calloc(1, sizeof(*a));
	int r;

	if (!a)
		abort();
	(void)pthread_mutex_init(&a->lock, NULL);
	a->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r = a->wake < 0 ? -errno : 0;
	if (r == 0) {
		a->reader = audit_reader_new();
		r = start_thread(a);
		if (r < 0)
			audit_reader_free(a->reader);
	}
	if (r < 0) {
		auditor_free(a);
		return r;
	}
	*ret = a;
	return 0;
}

void auditor_close(struct auditor *auditor)
{
	if (!auditor)
		return;
	(void)pthread_mutex_lock(&auditor->lock);
	auditor->stop = true;
	(void)pthread_mutex_unlock(&auditor->lock);
	ring(auditor->wake);
	(void)pthread_join(auditor->thread, NULL);
	auditor_free(auditor);
}

void auditor_config(struct auditor *auditor, const struct config *cfg)
{
	struct audit_settings *next = audit_settings_new(cfg), *overtaken;

	(void)pthread_mutex_lock(&auditor->lock);
	overtaken = auditor->next;
	auditor->next = next;
	(void)pthread_mutex_unlock(&auditor->lock);
	audit_settings_free(overtaken);
	ring(auditor->wake);
}

void auditor_counts(struct auditor *auditor, struct audit_counts *ret)
{
	(void)pthread_mutex_lock(&auditor->lock);
	*ret = auditor->counts;
	(void)pthread_mutex_unlock(&auditor->lock);
}

bool auditor_trouble(struct auditor *auditor, char *ret, size_t size)
{
	struct audit_counts c;

	auditor_counts(auditor, &c);
	if (!c.on)
		return false;
	if (c.error < 0)
		(void)snprintf(
			ret, size, "audit: no events of the kernel's connection tracking: %s", strerror(-c.error));
	else if (c.file_error == -EBUSY)
		(void)snprintf(ret, size, "audit: another gateway writes its record to the same directory");
	else if (c.file_error < 0)
		(void)snprintf(ret, size, "audit: the record cannot be written: %s; %" PRIu64 " records are lost",
			strerror(-c.file_error), c.lost);
	else if (c.syslog_error < 0)
		(void)snprintf(ret, size, "audit: syslog does not take records: %s", strerror(-c.syslog_error));
	else if (c.ipfix_error < 0)
		(void)snprintf(ret, size, "audit: the IPFIX collector is not reached: %s", strerror(-c.ipfix_error));
	else
		return false;
	return true;
}

void audit_on_deny(struct auditor *auditor, void (*fn)(const struct deny *deny, void *arg), void *arg)
{
	(void)pthread_mutex_lock(&auditor->lock);
	auditor->on_deny = fn;
	auditor->on_deny_arg = arg;
	(void)pthread_mutex_unlock(&auditor->lock);
	ring(auditor->wake);
}
