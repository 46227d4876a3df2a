/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames as bfdd 8.4.4 sent them, and what is no frame. */
/* LINK: routing/bfd_event.c */
/* LIBS: jansson */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>

#include "routing/bfd_event.h"

#define PEER_V4                                                                                                        \
	"\"ipv6\":false,\"multihop\":false,\"peer-address\":\"10.0.1.2\",\"local-address\":\"10.0.1.1\","              \
	"\"local-interface\":\"l1\","
#define IDS "\"id\":1000306134,\"remote-id\":1000306134,"
#define TIMERS                                                                                                         \
	"\"detect-multiplier\":3,\"receive-interval\":10,\"transmit-interval\":10,\"echo-receive-interval\":50,"       \
	"\"echo-transmit-interval\":50,\"remote-detect-multiplier\":3,\"remote-receive-interval\":10,"                 \
	"\"remote-transmit-interval\":10,\"remote-echo-receive-interval\":50,\"echo-mode\":false,\"shutdown\":false}"

static int parse_type(uint8_t type, const char *json, struct bfd_event *ret)
{
	uint8_t frame[1024];
	size_t len = strlen(json);

	assert_true(len + BFD_FRAME_HEADER < sizeof(frame));
	memcpy(frame, (uint8_t[]){0, 0, (uint8_t)(len >> 8), (uint8_t)len, 0, 0, type, 1}, BFD_FRAME_HEADER);
	(void)snprintf((char *)frame + BFD_FRAME_HEADER, sizeof(frame) - BFD_FRAME_HEADER, "%s", json);
	return bfd_event_parse(frame, len + BFD_FRAME_HEADER, ret);
}

static int parse(const char *json, struct bfd_event *ret)
{
	return parse_type(4, json, ret);
}

static void assert_addr(const struct ip_addr *a, const char *text)
{
	char buf[IP_STR_MAX];

	assert_string_equal(ip_addr_str(a, buf), text);
}

static void test_status(void **state)
{
	struct bfd_event e;

	(void)state;
	assert_int_equal(parse("{\"op\":\"status\"," PEER_V4 IDS
			       "\"state\":\"down\",\"downtime\":0,\"diagnostics\":1,\"remote-diagnostics\":0}",
				 &e),
		1);
	assert_addr(&e.peer, "10.0.1.2");
	assert_addr(&e.local, "10.0.1.1");
	assert_string_equal(e.interface, "l1");
	assert_false(e.multihop);
	assert_false(e.removed);
	assert_int_equal(e.state, BFD_DOWN);
	assert_int_equal(e.diagnostic, 1);
	assert_int_equal(e.remote_diagnostic, 0);
	assert_string_equal(bfd_diagnostic(e.diagnostic), "control detection time expired");
	assert_string_equal(bfd_diagnostic(31), "unknown diagnostic");

	assert_int_equal(parse("{\"op\":\"status\"," PEER_V4 IDS
			       "\"state\":\"up\",\"uptime\":0,\"diagnostics\":0,\"remote-diagnostics\":3}",
				 &e),
		1);
	assert_int_equal(e.state, BFD_UP);
	assert_int_equal(e.remote_diagnostic, 3);
	assert_int_equal(parse("{\"op\":\"status\"," PEER_V4 IDS
			       "\"state\":\"adm-down\",\"diagnostics\":0,\"remote-diagnostics\":0}",
				 &e),
		1);
	assert_int_equal(e.state, BFD_ADMIN_DOWN);
}

static void test_ipv6_and_multihop(void **state)
{
	struct bfd_event e;

	(void)state;
	assert_int_equal(parse("{\"op\":\"status\",\"ipv6\":true,\"multihop\":false,\"peer-address\":\"fd01::2\","
			       "\"local-address\":\"fd01::1\",\"local-interface\":\"l1\",\"id\":2829772913,"
			       "\"remote-id\":2829772913,\"state\":\"up\",\"uptime\":0,\"diagnostics\":0,"
			       "\"remote-diagnostics\":0}",
				 &e),
		1);
	assert_addr(&e.peer, "fd01::2");
	assert_int_equal(
		parse("{\"op\":\"status\",\"ipv6\":false,\"multihop\":true,\"peer-address\":\"10.255.1.1\","
		      "\"local-address\":\"10.255.0.1\",\"vrf-name\":\"default\",\"id\":2973228076,"
		      "\"remote-id\":2973228076,\"state\":\"init\",\"diagnostics\":1,\"remote-diagnostics\":1}",
			&e),
		1);
	assert_true(e.multihop);
	assert_string_equal(e.interface, "");
	assert_int_equal(e.state, BFD_INIT);
	/* Neither our end nor an interface. */
	assert_int_equal(parse("{\"op\":\"status\",\"peer-address\":\"10.0.1.2\",\"state\":\"down\"}", &e), 1);
	assert_false(ip_addr_is_set(&e.local));
	assert_string_equal(e.interface, "");
}

static void test_other_frames(void **state)
{
	struct bfd_event e = {.diagnostic = 77};

	(void)state;
	assert_int_equal(parse_type(1, "{\"status\":\"ok\"}", &e), 0);
	assert_int_equal(
		parse_type(1, "{\"status\":\"error\",\"error\":\"failed to parse notify data\"}", &e), -EBADMSG);
	assert_int_equal(parse("{\"op\":\"add\"," PEER_V4 TIMERS, &e), 0);
	assert_int_equal(parse("{\"op\":\"update\"," PEER_V4 TIMERS, &e), 0);
	assert_int_equal(parse_type(9, "{}", &e), 0);
	assert_int_equal(e.diagnostic, 77);
	assert_int_equal(parse("{\"op\":\"delete\"," PEER_V4 TIMERS, &e), 1);
	assert_true(e.removed);
	assert_addr(&e.peer, "10.0.1.2");
}

static void test_bad(void **state)
{
	static const char *const bad[] = {
		"",
		"[]",
		"{",
		"{}",
		"{\"op\":\"status\"}",
		"{\"op\":7,\"peer-address\":\"10.0.1.2\",\"state\":\"up\"}",
		"{\"op\":\"status\",\"peer-address\":\"10.0.1\",\"state\":\"up\"}",
		"{\"op\":\"status\",\"peer-address\":7,\"state\":\"up\"}",
		"{\"op\":\"status\",\"peer-address\":\"10.0.1.2\",\"local-address\":\"x\",\"state\":\"up\"}",
		"{\"op\":\"status\",\"peer-address\":\"10.0.1.2\",\"state\":\"sideways\"}",
		"{\"op\":\"status\",\"peer-address\":\"10.0.1.2\"}",
		"{\"op\":\"delete\",\"peer-address\":\"10.0.1.2\",\"local-interface\":\"0123456789abcdef\"}",
	};
	struct bfd_event e = {.diagnostic = 77};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(parse(bad[i], &e), -EBADMSG);
	assert_int_equal(e.diagnostic, 77);
	assert_int_equal(
		parse("{\"op\":\"status\",\"peer-address\":\"10.0.1.2\",\"state\":\"up\",\"diagnostics\":-1}", &e), 1);
	assert_int_equal(e.diagnostic, 31);
}

static void test_frames(void **state)
{
	uint8_t buf[BFD_SUBSCRIBE_MAX];
	uint8_t two[] = {0, 0, 0, 2, 0, 0, 4, 1, '{', '}', 0, 0};

	(void)state;
	/* As bfdd took it: all ones for all news. */
	assert_int_equal(bfd_subscribe(buf), 16);
	assert_memory_equal(buf, ((uint8_t[]){0, 0, 0, 8, 0, 1, 4, 1, 255, 255, 255, 255, 255, 255, 255, 255}), 16);
	assert_int_equal(bfd_frame_length(buf, 16), 16);
	for (size_t n = 0; n < 10; n++)
		assert_int_equal(bfd_frame_length(two, n), 0);
	assert_int_equal(bfd_frame_length(two, sizeof(two)), 10);
	two[7] = 2;
	assert_int_equal(bfd_frame_length(two, sizeof(two)), -EBADMSG);
	two[7] = 1;
	two[0] = 1;
	assert_int_equal(bfd_frame_length(two, sizeof(two)), -EBADMSG);
	assert_int_equal(bfd_event_parse(two, 0, NULL), -EBADMSG);
	assert_int_equal(bfd_event_parse(two, 4, NULL), -EBADMSG);
}

static void test_verdict(void **state)
{
	static const struct {
		struct bfd_event event;
		enum bfd_verdict verdict;
	} rows[] = {
		{{.state = BFD_UP}, BFD_ALIVE},
		{{.state = BFD_UP, .remote_diagnostic = 1}, BFD_ALIVE},
		{{.state = BFD_ADMIN_DOWN}, BFD_ALIVE},
		{{.state = BFD_DOWN, .diagnostic = 1}, BFD_DEAD},
		{{.state = BFD_INIT, .diagnostic = 1}, BFD_DEAD},
		/* The far end does not hear us. */
		{{.state = BFD_DOWN, .diagnostic = 3, .remote_diagnostic = 1}, BFD_DEAD},
		/* As bfdd told of `shutdown` there, and as RFC 5880 has it. */
		{{.state = BFD_DOWN, .diagnostic = 3}, BFD_ALIVE},
		{{.state = BFD_DOWN, .diagnostic = 3, .remote_diagnostic = 7}, BFD_ALIVE},
		/* Never up in this life of bfdd. */
		{{.state = BFD_DOWN}, BFD_UNKNOWN},
		{{.state = BFD_INIT}, BFD_UNKNOWN},
		{{.removed = true, .diagnostic = 1}, BFD_ALIVE},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(bfd_verdict(&rows[i].event), rows[i].verdict);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_status),
		cmocka_unit_test(test_ipv6_and_multihop),
		cmocka_unit_test(test_other_frames),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_frames),
		cmocka_unit_test(test_verdict),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
