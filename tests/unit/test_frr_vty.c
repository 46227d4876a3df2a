/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The client of a vty socket, against a server in a thread that cuts its replies wherever it likes. */
/* LINK: routing/frr_vty.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "gateway/base/buf.h"
#include "gateway/base/cleanup.h"
#include "routing/frr_vty.h"

enum { SECOND = 1000000, LARGE = 1 << 20 };

static struct server {
	char path[64];
	int listener;
	pthread_t thread;
	size_t piece; /* bytes per send; 0: all at once */
} server;

/* In the server's thread an assertion would end nothing; a lost client ends the connection. */
static bool put(int fd, const char *data, size_t len)
{
	for (size_t at = 0; at < len;) {
		size_t n = server.piece && len - at > server.piece ? server.piece : len - at;

		if (send(fd, data + at, n, MSG_NOSIGNAL) != (ssize_t)n)
			return false;
		at += n;
	}
	return true;
}

static bool reply(int fd, const char *text, char code)
{
	const char trailer[4] = {0, 0, 0, code};

	return put(fd, text, strlen(text)) && put(fd, trailer, sizeof(trailer));
}

static bool answer_large(int fd)
{
	char *text = malloc(LARGE + 1);
	bool ok;

	memset(text, 'x', LARGE);
	text[LARGE] = '\0';
	ok = reply(fd, text, 0);
	free(text);
	return ok;
}

static bool answer(int fd, const char *command)
{
	if (strcmp(command, "large") == 0)
		return answer_large(fd);
	if (strcmp(command, "bad") == 0)
		return reply(fd, "% Unknown command: bad\n", 2);
	if (strcmp(command, "hang") == 0)
		return put(fd, "begun", 5);
	if (strcmp(command, "out of step") == 0)
		return put(fd, "a\0\0\0\0b", 6);
	if (strcmp(command, "no trailer") == 0)
		return put(fd, "a\0b\0\0", 5);
	if (strcmp(command, "die") == 0)
		return false;
	return reply(fd, command, 0);
}

static void serve(int fd)
{
	char command[4096];
	size_t n = 0;

	while (n < sizeof(command) && recv(fd, command + n, 1, 0) == 1) {
		if (command[n++] != '\0')
			continue;
		if (!answer(fd, command))
			break;
		n = 0;
	}
	close(fd);
}

static void *server_main(void *arg)
{
	int fd;

	(void)arg;
	while ((fd = accept(server.listener, NULL, NULL)) >= 0)
		serve(fd);
	return NULL;
}

static int setup(void **state)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};

	(void)state;
	(void)snprintf(server.path, sizeof(server.path), "/tmp/test_frr_vty.%d", getpid());
	memcpy(at.sun_path, server.path, strlen(server.path) + 1);
	server.listener = socket(AF_UNIX, SOCK_STREAM, 0);
	if (bind(server.listener, (struct sockaddr *)&at, sizeof(at)) < 0 || listen(server.listener, 4) < 0)
		return -1;
	return pthread_create(&server.thread, NULL, server_main, NULL);
}

static int teardown(void **state)
{
	(void)state;
	(void)shutdown(server.listener, SHUT_RDWR);
	(void)pthread_join(server.thread, NULL);
	(void)close(server.listener);
	return unlink(server.path);
}

static struct frr_vty *open_vty(size_t piece)
{
	struct frr_vty *vty;

	server.piece = piece;
	assert_int_equal(frr_vty_open(server.path, (uint64_t)5 * SECOND, &vty), 0);
	return vty;
}

static void test_run(void **state)
{
	_cleanup_(buf_free) struct buf text = {0};

	(void)state;
	for (size_t piece = 0; piece < 9; piece++) {
		_cleanup_(frr_vty_closep) struct frr_vty *vty = open_vty(piece);

		assert_int_equal(frr_vty_pid(vty), getpid());
		assert_int_equal(frr_vty_run(vty, "show version", &text), 0);
		assert_string_equal(buf_str(&text), "show version");
		assert_int_equal(frr_vty_run(vty, "bad", &text), 2);
		assert_string_equal(buf_str(&text), "% Unknown command: bad\n");
		assert_int_equal(frr_vty_run(vty, "bad", NULL), 2);
		assert_int_equal(frr_vty_run(vty, "", &text), 0);
		assert_string_equal(buf_str(&text), "");
	}
}

static void test_large(void **state)
{
	_cleanup_(frr_vty_closep) struct frr_vty *vty = open_vty(0);
	_cleanup_(buf_free) struct buf text = {0};

	(void)state;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(frr_vty_run(vty, "large", i == 1 ? NULL : &text), 0);
		assert_int_equal(text.len, LARGE);
		assert_int_equal(strspn(buf_str(&text), "x"), LARGE);
	}
}

static void test_refuses(void **state)
{
	_cleanup_(frr_vty_closep) struct frr_vty *vty = open_vty(0);
	_cleanup_(buf_free) struct buf text = {0};

	(void)state;
	assert_int_equal(frr_vty_run(vty, "a\nb", &text), -EINVAL);
	assert_int_equal(frr_vty_run(vty, "a\r", &text), -EINVAL);
	/* Nothing of it was sent. */
	assert_int_equal(frr_vty_run(vty, "still here", &text), 0);
	assert_string_equal(buf_str(&text), "still here");
}

/* What goes wrong once ends the connection: a late reply is never taken for that of the next command. */
static void test_broken(void **state)
{
	static const struct {
		const char *command;
		int error;
	} cases[] = {
		{"out of step", -EBADMSG},
		{"no trailer", -EBADMSG},
		{"die", -ECONNRESET},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		_cleanup_(frr_vty_closep) struct frr_vty *vty = open_vty(0);

		assert_int_equal(frr_vty_run(vty, cases[i].command, NULL), cases[i].error);
		assert_int_equal(frr_vty_run(vty, "show version", NULL), cases[i].error);
	}
}

static void test_hang(void **state)
{
	_cleanup_(frr_vty_closep) struct frr_vty *vty = NULL;
	_cleanup_(buf_free) struct buf text = {0};

	(void)state;
	server.piece = 0;
	assert_int_equal(frr_vty_open(server.path, SECOND / 10, &vty), 0);
	assert_int_equal(frr_vty_run(vty, "hang", &text), -ETIMEDOUT);
	assert_int_equal(frr_vty_run(vty, "show version", &text), -ETIMEDOUT);
}

static void test_nobody(void **state)
{
	char path[] = "/tmp/test_frr_vty.XXXXXX", longer[200];
	struct frr_vty *vty = NULL;
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(frr_vty_open(path, SECOND, &vty), -ECONNREFUSED);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(frr_vty_open(path, SECOND, &vty), -ENOENT);
	memset(longer, 'x', sizeof(longer));
	longer[sizeof(longer) - 1] = '\0';
	assert_int_equal(frr_vty_open(longer, SECOND, &vty), -ENAMETOOLONG);
	assert_null(vty);
	frr_vty_close(NULL);
	(void)close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_run),
		cmocka_unit_test(test_large),
		cmocka_unit_test(test_refuses),
		cmocka_unit_test(test_broken),
		cmocka_unit_test(test_hang),
		cmocka_unit_test(test_nobody),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
