/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The RPC's client: one call over one connection, waiting for the answer. */
#pragma once

#include <jansson.h>

struct rpc_answer;

/*
 * Calls method of the daemon that listens at path; params (may be NULL) are taken over. 0: *ret is an answer, a result
 * or an error, to be freed. -errno: there was none; -ENOENT or -ECONNREFUSED: no daemon, -ETIMEDOUT: it said nothing
 * for patience seconds.
 */
int rpc_client_call(const char *path, const char *method, json_t *params, unsigned patience, struct rpc_answer *ret);
