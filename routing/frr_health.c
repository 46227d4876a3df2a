/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See frr_health.h: a connection for each daemon, kept; the question is `enable`, whose answer is a code alone. */
#include "routing/frr_health.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "gateway/base/arena.h"
#include "routing/frr_daemons.h"
#include "routing/frr_plan.h"

static const char question[] = "enable"; /* sent with its NUL */
static const uint64_t patience[N_FRR_DAEMONS] = {
	[DAEMON_ZEBRA] = 3000000,
	[DAEMON_BFDD] = 1000000,
	[DAEMON_BGPD] = 3000000,
};

struct pulse {
	int fd;		/* -1: no connection */
	uint64_t asked; /* 0: nothing is owed */
};

struct frr_health {
	struct arena *arena;
	const char *paths[N_FRR_DAEMONS];
	struct pulse pulses[N_FRR_DAEMONS];
};

struct frr_health *frr_health_new(const char *run_dir)
{
	struct frr_health *h = calloc(1, sizeof(*h));

	if (!h)
		abort();
	h->arena = arena_new();
	for (enum frr_daemon i = 0; i < N_FRR_DAEMONS; i++) {
		h->paths[i] = frr_vty_path(run_dir, frr_daemon_name(i), h->arena);
		h->pulses[i].fd = -1;
	}
	return h;
}

static void hang_up(struct pulse *p)
{
	if (p->fd >= 0)
		(void)close(p->fd);
	*p = (struct pulse){.fd = -1};
}

void frr_health_free(struct frr_health *h)
{
	for (size_t i = 0; h && i < N_FRR_DAEMONS; i++)
		hang_up(&h->pulses[i]);
	if (h)
		arena_free(h->arena);
	free(h);
}

/* A listener whose process is stopped still takes connections, so this says nothing about it. */
static void call(struct frr_health *h, enum frr_daemon daemon)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	struct pulse *p = &h->pulses[daemon];

	if (strlen(h->paths[daemon]) >= sizeof(addr.sun_path))
		return;
	memcpy(addr.sun_path, h->paths[daemon], strlen(h->paths[daemon]));
	p->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (p->fd >= 0 && connect(p->fd, (const struct sockaddr *)&addr, sizeof(addr)) < 0)
		hang_up(p);
}

/* Takes what has come. False if the other end is gone. */
static bool listen_to(struct pulse *p)
{
	char reply[256];
	ssize_t n;

	while ((n = recv(p->fd, reply, sizeof(reply), 0)) > 0)
		p->asked = 0;
	return n < 0 && errno == EAGAIN;
}

static bool hangs(struct frr_health *h, enum frr_daemon daemon, uint64_t now)
{
	struct pulse *p = &h->pulses[daemon];

	if (p->fd >= 0 && !listen_to(p))
		hang_up(p);
	if (p->fd < 0)
		call(h, daemon);
	if (p->fd < 0)
		return false;
	if (p->asked == 0 && send(p->fd, question, sizeof(question), MSG_NOSIGNAL) == sizeof(question))
		p->asked = now;
	if (p->asked == 0 || now - p->asked < patience[daemon])
		return false;
	hang_up(p);
	return true;
}

const char *frr_health_ask(struct frr_health *h, uint64_t now)
{
	for (enum frr_daemon daemon = 0; daemon < N_FRR_DAEMONS; daemon++)
		if (hangs(h, daemon, now))
			return frr_daemon_name(daemon);
	return NULL;
}
