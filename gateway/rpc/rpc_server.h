/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The RPC's server: a Unix stream socket in an event loop. Who may call what is decided once, by the kernel's word
 * about the peer (SO_PEERCRED, SO_PEERGROUPS) and the role in the method's row. A client costs bounded memory and
 * bounded time: whoever does not finish what it began is cut.
 */
#pragma once

#include <jansson.h>
#include <stddef.h>
#include <sys/types.h>
#include <systemd/sd-event.h>

#include "gateway/base/buf.h"

/* Group "fairway" may look, root and group "fairway-admin" may change. */
enum rpc_role { ROLE_NONE, ROLE_READER, ROLE_ADMIN };

struct rpc_peer {
	pid_t pid;
	uid_t uid;
	char user[64];
	enum rpc_role role;
};

/* One call: a method reads params and sets result, or code and message (then result is dropped). */
struct rpc_call {
	const struct rpc_peer *peer;
	const json_t *params; /* may be NULL: no parameters */
	json_t *result;
	const char *code;
	struct buf message;
	json_t *details; /* members added to an error */
};

/* Sets the error and returns; for `return rpc_error(call, "refused", ...)`. */
void rpc_error(struct rpc_call *call, const char *code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

struct rpc_method {
	const char *name;
	enum rpc_role role;
	void (*call)(void *context, struct rpc_call *call);
};

struct rpc_server;

/* Listens at path, replacing a socket that a dead server left. */
int rpc_server_open(sd_event *event, const char *path, const struct rpc_method *methods, size_t n, void *context,
	struct rpc_server **ret);
void rpc_server_close(struct rpc_server *server);
