/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A call to a server that listens and never answers, as a stopped one does: the client's patience ends. */
/* LINK: gateway/rpc/rpc_client.c gateway/rpc/rpc_frame.c */
/* LIBS: jansson */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "gateway/rpc/rpc_client.h"
#include "gateway/rpc/rpc_frame.h"

enum { LARGE = 8 << 20 /* more than a socket holds */ };

static int listen_at(const char *path)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	(void)snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", path);
	assert_int_equal(bind(fd, (const struct sockaddr *)&addr, sizeof(addr)), 0);
	assert_int_equal(listen(fd, 4), 0);
	return fd;
}

static void test_patience(void **state)
{
	char folder[] = "/tmp/fairway-test.XXXXXX", path[64];
	struct rpc_answer answer;
	char *text = calloc(1, LARGE);
	int fd;

	(void)state;
	assert_non_null(text);
	assert_non_null(mkdtemp(folder));
	(void)snprintf(path, sizeof(path), "%s/socket", folder);
	assert_int_equal(rpc_client_call(path, "status", NULL, 1, &answer), -ENOENT);
	fd = listen_at(path);
	assert_int_equal(rpc_client_call(path, "status", NULL, 1, &answer), -ETIMEDOUT);
	memset(text, 'x', LARGE - 1);
	assert_int_equal(rpc_client_call(path, "check", json_pack("{s:s}", "text", text), 1, &answer), -ETIMEDOUT);
	(void)close(fd);
	assert_int_equal(rpc_client_call(path, "status", NULL, 1, &answer), -ECONNREFUSED);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(folder), 0);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_patience),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
