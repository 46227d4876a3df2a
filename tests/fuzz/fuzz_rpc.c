/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The RPC's bytes: whatever a peer sends, in whatever pieces, gives requests, answers or an error, within bounds. The
 * first byte of the input is the size of the pieces.
 */
/* LINK: gateway/rpc/rpc_frame.c */
/* LIBS: jansson */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gateway/rpc/rpc_frame.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(int condition)
{
	if (!condition)
		abort();
}

/* What was understood can be said again, and is understood the same. */
static void round_trip(const struct rpc_request *request)
{
	struct rpc_request again;
	struct buf out = {0};
	const char *why;

	rpc_put_request(&out, request->id, request->method, json_incref(request->params));
	expect(rpc_request_parse(out.data + RPC_HEADER, out.len - RPC_HEADER, &again, &why) == 0);
	expect(again.id == request->id && strcmp(again.method, request->method) == 0);
	rpc_request_free(&again);
	buf_free(&out);
}

static void whole_frame(const struct rpc_frame *f)
{
	struct rpc_request request;
	struct rpc_answer answer;
	struct buf out = {0};
	const char *why = NULL;

	expect(f->body.len == f->len);
	if (rpc_request_parse(f->body.data, f->body.len, &request, &why) == 0) {
		round_trip(&request);
		rpc_request_free(&request);
	} else {
		expect(why != NULL);
	}
	if (rpc_answer_parse(f->body.data, f->body.len, &answer, &why) == 0)
		rpc_answer_free(&answer);
	rpc_put_error(&out, 1, "bad-request", buf_str(&f->body), NULL);
	buf_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t piece = size > 0 ? data[0] + 1u : 1;
	struct rpc_frame f = {0};

	for (size_t at = 1; at < size;) {
		size_t n = rpc_frame_wants(&f);
		int r;

		n = n < piece ? n : piece;
		n = n < size - at ? n : size - at;
		r = rpc_frame_feed(&f, RPC_MAX_READER, data + at, n);
		at += n;
		if (r < 0) {
			expect(r == -EMSGSIZE || r == -EBADMSG);
			break;
		}
		if (r == 1) {
			whole_frame(&f);
			rpc_frame_reset(&f);
		}
	}
	rpc_frame_reset(&f);
	return 0;
}
