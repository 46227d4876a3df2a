/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames and what is in them; see rpc_frame.h. Pure. */
#include "gateway/rpc/rpc_frame.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* --- frames --- */

static uint32_t get_u32(const uint8_t b[4])
{
	return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

size_t rpc_frame_wants(const struct rpc_frame *f)
{
	return f->n_header < RPC_HEADER ? RPC_HEADER - f->n_header : f->len - f->body.len;
}

/* The length is only believed as far as bytes arrive: storage grows with them. */
int rpc_frame_feed(struct rpc_frame *f, uint32_t max, const void *data, size_t n)
{
	if (n > rpc_frame_wants(f))
		return -EMSGSIZE;
	if (f->n_header == RPC_HEADER) {
		buf_add(&f->body, data, n);
		return f->body.len == f->len;
	}
	memcpy(f->header + f->n_header, data, n);
	f->n_header += n;
	if (f->n_header < RPC_HEADER)
		return 0;
	f->len = get_u32(f->header);
	if (f->len == 0)
		return -EBADMSG;
	return f->len > max ? -EMSGSIZE : 0;
}

void rpc_frame_reset(struct rpc_frame *f)
{
	buf_free(&f->body);
	*f = (struct rpc_frame){0};
}

/* --- requests and answers --- */

static json_t *must(json_t *json)
{
	if (!json)
		abort();
	return json;
}

/* The object of a frame, with "version" and "id" as they have to be. */
static int message_parse(const char *body, size_t len, json_t **ret, json_int_t *ret_id, const char **ret_why)
{
	json_t *root = json_loadb(body, len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
	const json_t *id = json_object_get(root, "id");

	*ret_why = NULL;
	if (!json_is_object(root))
		*ret_why = "not a JSON object";
	else if (json_integer_value(json_object_get(root, "version")) != RPC_VERSION)
		*ret_why = "\"version\" has to be 1";
	else if (!json_is_integer(id))
		*ret_why = "\"id\" has to be a number";
	if (*ret_why) {
		json_decref(root);
		return -EBADMSG;
	}
	*ret = root;
	*ret_id = json_integer_value(id);
	return 0;
}

int rpc_request_parse(const char *body, size_t len, struct rpc_request *ret, const char **ret_why)
{
	struct rpc_request request = {0};
	int r = message_parse(body, len, &request.root, &request.id, ret_why);

	if (r < 0)
		return r;
	request.method = json_string_value(json_object_get(request.root, "method"));
	request.params = json_object_get(request.root, "params");
	if (!request.method)
		*ret_why = "\"method\" has to be a name";
	else if (request.params && !json_is_object(request.params))
		*ret_why = "\"params\" has to be an object";
	if (*ret_why) {
		rpc_request_free(&request);
		return -EBADMSG;
	}
	*ret = request;
	return 0;
}

void rpc_request_free(struct rpc_request *request)
{
	json_decref(request->root);
	*request = (struct rpc_request){0};
}

int rpc_answer_parse(const char *body, size_t len, struct rpc_answer *ret, const char **ret_why)
{
	struct rpc_answer answer = {0};
	int r = message_parse(body, len, &answer.root, &answer.id, ret_why);

	if (r < 0)
		return r;
	answer.result = json_object_get(answer.root, "result");
	answer.error = json_object_get(answer.root, "error");
	answer.code = json_string_value(json_object_get(answer.error, "code"));
	answer.message = json_string_value(json_object_get(answer.error, "message"));
	if (!answer.result && (!answer.code || !answer.message)) {
		*ret_why = "neither a result nor an error";
		rpc_answer_free(&answer);
		return -EBADMSG;
	}
	*ret = answer;
	return 0;
}

void rpc_answer_free(struct rpc_answer *answer)
{
	json_decref(answer->root);
	*answer = (struct rpc_answer){0};
}

/* --- writing --- */

json_t *rpc_string(const char *s, size_t len)
{
	json_t *json = json_stringn(s, len);
	struct buf ascii = {0};

	if (json)
		return json;
	buf_add(&ascii, s, len);
	for (size_t i = 0; i < ascii.len; i++)
		if ((unsigned char)ascii.data[i] >= 0x80)
			ascii.data[i] = '?';
	json = must(json_stringn(ascii.data, ascii.len));
	buf_free(&ascii);
	return json;
}

static int add_chunk(const char *data, size_t len, void *out)
{
	buf_add(out, data, len);
	return 0;
}

static void put_message(struct buf *out, json_t *message)
{
	size_t start = out->len, len;

	buf_add(out, "\0\0\0\0", RPC_HEADER);
	if (json_dump_callback(must(message), add_chunk, out, JSON_COMPACT) < 0)
		abort();
	len = out->len - start - RPC_HEADER;
	if (len > UINT32_MAX)
		abort();
	for (int i = 0; i < RPC_HEADER; i++)
		out->data[start + (size_t)i] = (char)(len >> (8 * (RPC_HEADER - 1 - i)));
	json_decref(message);
}

void rpc_put_request(struct buf *out, json_int_t id, const char *method, json_t *params)
{
	put_message(out,
		json_pack(
			"{s:i, s:I, s:s, s:o*}", "version", RPC_VERSION, "id", id, "method", method, "params", params));
}

void rpc_put_result(struct buf *out, json_int_t id, json_t *result)
{
	put_message(out,
		json_pack("{s:i, s:I, s:o}", "version", RPC_VERSION, "id", id, "result",
			result ? result : must(json_object())));
}

void rpc_put_error(struct buf *out, json_int_t id, const char *code, const char *message, json_t *details)
{
	json_t *error = must(json_pack("{s:s, s:o}", "code", code, "message", rpc_string(message, strlen(message))));

	if (details && json_object_update(error, details) < 0)
		abort();
	json_decref(details);
	put_message(out, json_pack("{s:i, s:I, s:o}", "version", RPC_VERSION, "id", id, "error", error));
}
