/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Each client is in one of two states: its request is being read, or its answer is being written; it is asked for one
 * at a time. A deadline is set when a state begins and never moved while it lasts.
 */
#include "gateway/rpc/rpc_server.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "gateway/base/cleanup.h"
#include "gateway/base/log.h"
#include "gateway/base/str.h"
#include "gateway/rpc/rpc_frame.h"
#include "gateway/rpc/rpc_peer.h"

enum { MAX_CLIENTS = 64, BACKLOG = 64, CHUNK = 65536 };
static const uint64_t PATIENCE = 10000000; /* microseconds: to finish a request, to take an answer, to be idle */

struct client {
	struct rpc_server *server;
	struct client *next;
	int fd;
	sd_event_source *io, *timer;
	struct rpc_peer peer;
	struct rpc_frame in;
	struct buf out;
	size_t sent;
	bool last; /* close once the answer is out */
};

struct rpc_server {
	sd_event *event;
	char *path;
	int fd;
	sd_event_source *io;
	const struct rpc_method *methods;
	size_t n_methods;
	void *context;
	struct rpc_groups groups;
	struct client *clients;
	size_t n_clients;
};

void rpc_error(struct rpc_call *call, const char *code, const char *fmt, ...)
{
	va_list ap;

	call->code = code;
	buf_reset(&call->message);
	va_start(ap, fmt);
	buf_vprintf(&call->message, fmt, ap);
	va_end(ap);
}

/* --- clients --- */

static void client_destroy(struct client *c)
{
	sd_event_source_disable_unref(c->io);
	sd_event_source_disable_unref(c->timer);
	rpc_frame_reset(&c->in);
	buf_free(&c->out);
	(void)close(c->fd);
	free(c);
}

static void client_free(struct client *c)
{
	struct client **at = &c->server->clients;

	while (*at != c)
		at = &(*at)->next;
	*at = c->next;
	c->server->n_clients--;
	client_destroy(c);
}

/*
 * Begins a state: what is waited for, and until when. By the clock itself: the loop's own "now" is when this turn of it
 * began, and a large apply may have taken longer since then than a client is given.
 */
static int client_wait(struct client *c, uint32_t events)
{
	int r = sd_event_source_set_io_events(c->io, events);
	struct timespec now;

	if (r < 0 || clock_gettime(CLOCK_MONOTONIC, &now) < 0)
		return r < 0 ? r : -errno;
	return sd_event_source_set_time(
		c->timer, (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000 + PATIENCE);
}

static const struct rpc_method *find_method(const struct rpc_server *s, const char *name)
{
	for (size_t i = 0; i < s->n_methods; i++)
		if (str_eq(s->methods[i].name, name))
			return &s->methods[i];
	return NULL;
}

static void call_method(struct client *c, const struct rpc_request *request, struct rpc_call *call)
{
	const struct rpc_method *m = find_method(c->server, request->method);

	if (!m)
		rpc_error(call, "unknown-method", "there is no method of this name");
	else if (c->peer.role < m->role)
		rpc_error(call, "permission", "%s may not call %s: it takes group %s", c->peer.user, m->name,
			m->role == ROLE_ADMIN ? "fairway-admin" : "fairway");
	else
		m->call(c->server->context, call);
}

static void answer(struct client *c)
{
	struct rpc_call call = {.peer = &c->peer};
	struct rpc_request request;
	const char *why;

	if (rpc_request_parse(c->in.body.data, c->in.body.len, &request, &why) < 0) {
		rpc_put_error(&c->out, 0, "bad-request", why, NULL);
		c->last = true;
		return;
	}
	call.params = request.params;
	call_method(c, &request, &call);
	if (call.code) {
		rpc_put_error(&c->out, request.id, call.code, buf_str(&call.message), call.details);
		json_decref(call.result);
	} else {
		rpc_put_result(&c->out, request.id, call.result);
		json_decref(call.details);
	}
	buf_free(&call.message);
	rpc_request_free(&request);
}

/* 0: go on; negative: the client is done for. */
static int client_send(struct client *c)
{
	while (c->sent < c->out.len) {
		ssize_t n = send(c->fd, c->out.data + c->sent, c->out.len - c->sent, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0)
			return errno == EAGAIN || errno == EINTR ? 0 : -errno;
		c->sent += (size_t)n;
	}
	if (c->last)
		return -ESHUTDOWN;
	buf_free(&c->out);
	c->sent = 0;
	return client_wait(c, EPOLLIN);
}

static int client_answer(struct client *c)
{
	int r;

	answer(c);
	rpc_frame_reset(&c->in);
	r = client_wait(c, EPOLLOUT);
	return r < 0 ? r : client_send(c);
}

static int client_refuse(struct client *c, const char *code, const char *why)
{
	int r;

	rpc_put_error(&c->out, 0, code, why, NULL);
	c->last = true;
	r = client_wait(c, EPOLLOUT);
	return r < 0 ? r : client_send(c);
}

static int client_receive(struct client *c)
{
	uint32_t max = c->peer.role == ROLE_ADMIN ? RPC_MAX_ADMIN : RPC_MAX_READER;
	size_t wants = rpc_frame_wants(&c->in);
	char chunk[CHUNK];
	ssize_t n = recv(c->fd, chunk, wants < sizeof(chunk) ? wants : sizeof(chunk), MSG_DONTWAIT);
	int r;

	if (n == 0)
		return -ESHUTDOWN;
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	r = rpc_frame_feed(&c->in, max, chunk, (size_t)n);
	if (r == 1)
		return client_answer(c);
	if (r == -EMSGSIZE)
		return client_refuse(c, "too-large", "the request is larger than this peer may send");
	return r;
}

static int on_client(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	struct client *c = userdata;
	int r;

	(void)source;
	(void)fd;
	if (c->out.len > 0)
		r = revents & (EPOLLERR | EPOLLHUP) ? -ESHUTDOWN : client_send(c);
	else
		r = client_receive(c);
	if (r < 0)
		client_free(c);
	return 0;
}

static int on_deadline(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct client *c = userdata;

	(void)source;
	(void)usec;
	log_debug("rpc: %s (pid %d) was too slow and is cut", c->peer.user, c->peer.pid);
	client_free(c);
	return 0;
}

/* Takes fd over. */
static int client_new(struct rpc_server *s, int fd, const struct rpc_peer *peer, struct client **ret)
{
	struct client *c = calloc(1, sizeof(*c));
	int r;

	if (!c)
		abort();
	*c = (struct client){.server = s, .fd = fd, .peer = *peer, .next = s->clients};
	s->clients = c;
	s->n_clients++;
	r = sd_event_add_io(s->event, &c->io, fd, EPOLLIN, on_client, c);
	if (r >= 0)
		r = sd_event_add_time_relative(s->event, &c->timer, CLOCK_MONOTONIC, PATIENCE, 0, on_deadline, c);
	/* A client that we kept waiting ourselves is served before its deadline is looked at. */
	if (r >= 0)
		r = sd_event_source_set_priority(c->timer, SD_EVENT_PRIORITY_IDLE);
	if (r < 0) {
		client_free(c);
		return r;
	}
	*ret = c;
	return 0;
}

/* --- the listening socket --- */

static int on_connection(sd_event_source *source, int listener, uint32_t revents, void *userdata)
{
	struct rpc_server *s = userdata;
	struct rpc_peer peer;
	struct client *c;
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK), r;

	(void)source;
	(void)revents;
	if (fd < 0)
		return 0;
	r = rpc_peer_identify(fd, &s->groups, &peer);
	if (r < 0 || s->n_clients >= MAX_CLIENTS) {
		log_debug("rpc: a connection is refused: %s", r < 0 ? strerror(-r) : "too many clients");
		(void)close(fd);
		return 0;
	}
	if (client_new(s, fd, &peer, &c) < 0)
		return 0;
	if (peer.role == ROLE_NONE && client_refuse(c, "permission", "this takes root, or group fairway") < 0)
		client_free(c);
	return 0;
}

/* The umask makes the socket ours alone; it is opened to the group only once it is bound. */
static int open_to_group(const char *path, const struct rpc_groups *groups)
{
	gid_t gid = groups->reader != (gid_t)-1 ? groups->reader : groups->admin;

	if (gid == (gid_t)-1)
		return 0;
	return chown(path, (uid_t)-1, gid) < 0 || chmod(path, 0660) < 0 ? -errno : 0;
}

static int bind_socket(const char *path, int *ret)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -errno;
	if (strlen(path) >= sizeof(addr.sun_path))
		return -ENAMETOOLONG;
	memcpy(addr.sun_path, path, strlen(path));
	if (unlink(path) < 0 && errno != ENOENT)
		return -errno;
	if (bind(fd, (const struct sockaddr *)&addr, sizeof(addr)) < 0 || chmod(path, 0600) < 0)
		return -errno;
	if (listen(fd, BACKLOG) < 0)
		return -errno;
	*ret = steal_fd(&fd);
	return 0;
}

int rpc_server_open(sd_event *event, const char *path, const struct rpc_method *methods, size_t n, void *context,
	struct rpc_server **ret)
{
	struct rpc_server *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		abort();
	*s = (struct rpc_server){
		.event = sd_event_ref(event), .fd = -1, .methods = methods, .n_methods = n, .context = context};
	s->path = strdup(path);
	if (!s->path)
		abort();
	rpc_groups_find(&s->groups);
	r = bind_socket(path, &s->fd);
	if (r >= 0)
		r = open_to_group(path, &s->groups);
	if (r >= 0)
		r = sd_event_add_io(event, &s->io, s->fd, EPOLLIN, on_connection, s);
	if (r < 0) {
		rpc_server_close(s);
		return r;
	}
	*ret = s;
	return 0;
}

void rpc_server_close(struct rpc_server *s)
{
	if (!s)
		return;
	for (struct client *c = s->clients, *next; c; c = next) {
		next = c->next;
		client_destroy(c);
	}
	sd_event_source_disable_unref(s->io);
	if (s->fd >= 0) {
		(void)unlink(s->path);
		(void)close(s->fd);
	}
	sd_event_unref(s->event);
	free(s->path);
	free(s);
}
