/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * conn_rate serve PORT: accepts TCP connections and closes each once its one byte has come. conn_rate connect ADDRESS
 * PORT SECONDS PARALLEL: opens connections as fast as PARALLEL at a time allow, sends a byte on each, waits for the
 * other side's close, and prints how many were done. Closing with a reset on the client's side leaves no port behind
 * that has to wait.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { EVENTS = 256, BACKLOG = 4096 };

static double now(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void watch(int epoll, int fd, uint32_t events)
{
	struct epoll_event e = {.events = events, .data.fd = fd};

	if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e) < 0)
		die("epoll_ctl");
}

/* --- the server --- */

static void accept_all(int epoll, int listener)
{
	int fd;

	while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0)
		watch(epoll, fd, EPOLLIN);
}

static void serve(int port)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), epoll = epoll_create1(0);
	struct epoll_event events[EVENTS];
	char byte[16];

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int)) < 0 ||
		bind(fd, (struct sockaddr *)&a, sizeof(a)) < 0 || listen(fd, BACKLOG) < 0)
		die("listen");
	watch(epoll, fd, EPOLLIN);
	puts("ready");
	(void)fflush(stdout);
	for (;;) {
		int n = epoll_wait(epoll, events, EVENTS, -1);

		for (int i = 0; i < n; i++) {
			if (events[i].data.fd == fd) {
				accept_all(epoll, fd);
			} else {
				(void)!read(events[i].data.fd, byte, sizeof(byte));
				(void)close(events[i].data.fd);
			}
		}
	}
}

/* --- the client --- */

static void begin(int epoll, const struct sockaddr_in *to)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	struct linger reset = {1, 0};

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset)) < 0)
		die("socket");
	if (connect(fd, (const struct sockaddr *)to, sizeof(*to)) < 0 && errno != EINPROGRESS)
		die("connect");
	watch(epoll, fd, EPOLLOUT);
}

/* 1: the connection is over. */
static int step(int epoll, const struct epoll_event *e)
{
	struct epoll_event read_next = {.events = EPOLLIN, .data = e->data};

	if (e->events & EPOLLOUT && !(e->events & (EPOLLERR | EPOLLHUP))) {
		if (send(e->data.fd, "x", 1, MSG_NOSIGNAL) == 1 &&
			epoll_ctl(epoll, EPOLL_CTL_MOD, e->data.fd, &read_next) == 0)
			return 0;
	}
	(void)close(e->data.fd);
	return 1;
}

static void run(const char *address, int port, double seconds, int parallel)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	struct epoll_event events[EVENTS];
	int epoll = epoll_create1(0);
	double start = now(), end = start + seconds, t;
	long done = 0;

	if (inet_pton(AF_INET, address, &to.sin_addr) != 1)
		die("address");
	for (int i = 0; i < parallel; i++)
		begin(epoll, &to);
	while ((t = now()) < end) {
		int n = epoll_wait(epoll, events, EVENTS, 100);

		for (int i = 0; i < n; i++)
			if (step(epoll, &events[i])) {
				done++;
				begin(epoll, &to);
			}
	}
	printf("%.1f\n", (double)done / (t - start));
}

int main(int argc, char *argv[])
{
	struct rlimit files = {65536, 65536};

	(void)setrlimit(RLIMIT_NOFILE, &files);
	if (argc == 3 && strcmp(argv[1], "serve") == 0)
		serve((int)strtol(argv[2], NULL, 10));
	if (argc != 6 || strcmp(argv[1], "connect") != 0)
		return 2;
	run(argv[2], (int)strtol(argv[3], NULL, 10), strtod(argv[4], NULL), (int)strtol(argv[5], NULL, 10));
	return 0;
}
