/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames in pieces of every size, and what counts as a request or an answer. */
/* LINK: gateway/rpc/rpc_frame.c */
/* LIBS: jansson */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "gateway/base/buf.h"
#include "gateway/base/str.h"
#include "gateway/rpc/rpc_frame.h"

static void test_frame_in_pieces(void **state)
{
	struct buf out = {0};

	(void)state;
	rpc_put_request(&out, 7, "apply", json_pack("{s:s}", "text", "a\nb"));
	assert_int_equal(out.data[0], 0);
	assert_int_equal((uint8_t)out.data[3], out.len - RPC_HEADER);
	for (size_t piece = 1; piece <= out.len; piece++) {
		struct rpc_frame f = {0};
		int r = 0;

		for (size_t at = 0; at < out.len;) {
			size_t n = rpc_frame_wants(&f);

			assert_int_equal(r, 0);
			n = n < piece ? n : piece;
			r = rpc_frame_feed(&f, RPC_MAX_READER, out.data + at, n);
			at += n;
		}
		assert_int_equal(r, 1);
		assert_int_equal(rpc_frame_wants(&f), 0);
		assert_memory_equal(f.body.data, out.data + RPC_HEADER, f.body.len);
		rpc_frame_reset(&f);
		assert_int_equal(rpc_frame_wants(&f), RPC_HEADER);
	}
	buf_free(&out);
}

static void test_frame_bounds(void **state)
{
	struct rpc_frame f = {0};

	(void)state;
	assert_int_equal(rpc_frame_feed(&f, 16, "\0\0\0\x10", 4), 0);
	assert_int_equal(rpc_frame_wants(&f), 16);
	assert_int_equal(rpc_frame_feed(&f, 16, "12345678901234567", 17), -EMSGSIZE);
	rpc_frame_reset(&f);
	assert_int_equal(rpc_frame_feed(&f, 16, "\0\0\0\x11", 4), -EMSGSIZE);
	rpc_frame_reset(&f);
	assert_int_equal(rpc_frame_feed(&f, 16, "\0\0\0\0", 4), -EBADMSG);
	rpc_frame_reset(&f);
	assert_int_equal(rpc_frame_feed(&f, RPC_MAX_ADMIN, "\xff\xff\xff\xff", 4), -EMSGSIZE);
	rpc_frame_reset(&f);
}

static const struct {
	const char *body, *why; /* NULL: it is a request */
} requests[] = {
	{"{\"version\":1,\"id\":3,\"method\":\"status\"}", NULL},
	{"{\"version\":1,\"id\":3,\"method\":\"show\",\"params\":{\"what\":\"mtu\"},\"more\":1}", NULL},
	{"[]", "not a JSON object"},
	{"{", "not a JSON object"},
	{"{\"version\":1,\"version\":1,\"id\":3,\"method\":\"x\"}", "not a JSON object"},
	{"{\"version\":2,\"id\":3,\"method\":\"x\"}", "\"version\" has to be 1"},
	{"{\"id\":3,\"method\":\"x\"}", "\"version\" has to be 1"},
	{"{\"version\":1,\"id\":\"3\",\"method\":\"x\"}", "\"id\" has to be a number"},
	{"{\"version\":1,\"id\":3}", "\"method\" has to be a name"},
	{"{\"version\":1,\"id\":3,\"method\":\"x\",\"params\":[]}", "\"params\" has to be an object"},
};

static void test_requests(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(requests); i++) {
		const char *body = requests[i].body, *why = NULL;
		struct rpc_request request;
		int r = rpc_request_parse(body, strlen(body), &request, &why);

		if (requests[i].why) {
			assert_int_equal(r, -EBADMSG);
			assert_string_equal(why, requests[i].why);
			continue;
		}
		assert_int_equal(r, 0);
		assert_int_equal(request.id, 3);
		rpc_request_free(&request);
	}
}

static void test_answers(void **state)
{
	struct buf out = {0};
	struct rpc_answer answer;
	const char *why;

	(void)state;
	rpc_put_result(&out, 9, json_pack("{s:i}", "n", 5));
	assert_int_equal(rpc_answer_parse(out.data + RPC_HEADER, out.len - RPC_HEADER, &answer, &why), 0);
	assert_int_equal(answer.id, 9);
	assert_int_equal(json_integer_value(json_object_get(answer.result, "n")), 5);
	rpc_answer_free(&answer);
	buf_reset(&out);
	rpc_put_error(&out, 9, "refused", "no: \xff", json_pack("{s:[i]}", "diagnostics", 1));
	assert_int_equal(rpc_answer_parse(out.data + RPC_HEADER, out.len - RPC_HEADER, &answer, &why), 0);
	assert_null(answer.result);
	assert_string_equal(answer.code, "refused");
	assert_string_equal(answer.message, "no: ?");
	assert_int_equal(json_array_size(json_object_get(answer.error, "diagnostics")), 1);
	rpc_answer_free(&answer);
	assert_int_equal(rpc_answer_parse("{\"version\":1,\"id\":1}", 20, &answer, &why), -EBADMSG);
	assert_string_equal(why, "neither a result nor an error");
	buf_free(&out);
}

static void test_text_with_nul_survives(void **state)
{
	struct buf out = {0};
	struct rpc_request request;
	const char *why;

	(void)state;
	rpc_put_request(&out, 1, "check", json_pack("{s:o}", "text", rpc_string("a\0b", 3)));
	assert_int_equal(rpc_request_parse(out.data + RPC_HEADER, out.len - RPC_HEADER, &request, &why), 0);
	assert_int_equal(json_string_length(json_object_get(request.params, "text")), 3);
	rpc_request_free(&request);
	buf_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frame_in_pieces),
		cmocka_unit_test(test_frame_bounds),
		cmocka_unit_test(test_requests),
		cmocka_unit_test(test_answers),
		cmocka_unit_test(test_text_with_nul_survives),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
