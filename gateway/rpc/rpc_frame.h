/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The bytes of the RPC, see docs/rpc.md: a frame is a big-endian 32-bit length and so many bytes of JSON. Pure: bytes
 * in, a request or an answer out, whatever the bytes are.
 */
#pragma once

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "gateway/base/buf.h"

enum { RPC_VERSION = 1, RPC_HEADER = 4, RPC_MAX_READER = 1 << 20, RPC_MAX_ADMIN = 64 << 20 };

/* A frame that is being received. The zero value waits for a new one. */
struct rpc_frame {
	uint8_t header[RPC_HEADER];
	size_t n_header;
	uint32_t len; /* known once the header is whole */
	struct buf body;
};

/* How many bytes the frame can take now without going past its end; 0 when it is whole. */
size_t rpc_frame_wants(const struct rpc_frame *f);
/*
 * Takes n bytes, at most what it wants. 1: whole, the body is there; 0: more is needed; -EMSGSIZE: longer than max;
 * -EBADMSG: empty.
 */
int rpc_frame_feed(struct rpc_frame *f, uint32_t max, const void *data, size_t n);
void rpc_frame_reset(struct rpc_frame *f); /* ready for the next one; storage is given back */

struct rpc_request {
	json_t *root; /* owns what follows */
	json_int_t id;
	const char *method;
	json_t *params; /* an object, or NULL */
};

/* 0; -EBADMSG with *ret_why saying what is wrong with it. */
int rpc_request_parse(const char *body, size_t len, struct rpc_request *ret, const char **ret_why);
void rpc_request_free(struct rpc_request *request);

struct rpc_answer {
	json_t *root;
	json_int_t id;
	json_t *result; /* NULL: an error */
	const char *code, *message;
	json_t *error; /* the whole of it */
};

int rpc_answer_parse(const char *body, size_t len, struct rpc_answer *ret, const char **ret_why);
void rpc_answer_free(struct rpc_answer *answer);

/* A JSON string of any bytes: what is not valid UTF-8 becomes '?'. Never NULL. */
json_t *rpc_string(const char *s, size_t len);

/* Append a whole frame. `params`, `result` and `details` (members added to the error) are taken over; NULL: none. */
void rpc_put_request(struct buf *out, json_int_t id, const char *method, json_t *params);
void rpc_put_result(struct buf *out, json_int_t id, json_t *result);
void rpc_put_error(struct buf *out, json_int_t id, const char *code, const char *message, json_t *details);
