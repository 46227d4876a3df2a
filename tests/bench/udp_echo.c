/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * udp_echo serve ADDRESS PORT: sends back what comes. udp_echo probe SOURCE TARGET PORT FLOWS: a probe each millisecond
 * in each of FLOWS flows, which differ by their source port; reads commands from standard input: `begin` opens a
 * window, `end` closes it and prints what happened in it as JSON. The one idea: a probe is lost if no echo of it has
 * come 300 ms after the window was closed, and an outage is the time between sending the first of a row of lost probes
 * and sending the next that was answered. So neither a late echo nor a pause of this program itself counts as an
 * outage.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { FLOWS_MAX = 16, PROBES_MAX = 1 << 20, FIRST_PORT = 20000, INTERVAL_NS = 1000000, LATE_NS = 300000000 };

struct flow {
	int fd;
	uint64_t *sent; /* when; by number of the probe */
	bool *answered;
};

struct prober {
	struct flow flows[FLOWS_MAX];
	unsigned n;
	struct sockaddr_storage to;
	socklen_t to_len;
	uint32_t next;	/* number of the next probe */
	uint32_t begin; /* first of the window */
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static int die(const char *what)
{
	perror(what);
	return 1;
}

static int resolve(const char *address, const char *port, struct sockaddr_storage *ret, socklen_t *ret_len)
{
	struct addrinfo hints = {.ai_socktype = SOCK_DGRAM, .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV}, *found;

	if (getaddrinfo(address, port, &hints, &found) != 0)
		return -EINVAL;
	memcpy(ret, found->ai_addr, found->ai_addrlen);
	*ret_len = found->ai_addrlen;
	freeaddrinfo(found);
	return 0;
}

/* A UDP socket of that address and port, with room for what comes while this program has to wait. -1 with errno. */
static int udp_socket(const char *address, const char *port)
{
	struct sockaddr_storage local;
	socklen_t len;
	int fd, size = 8 << 20;

	errno = EINVAL;
	if (resolve(address, port, &local, &len) < 0)
		return -1;
	fd = socket(local.ss_family, SOCK_DGRAM, 0);
	if (fd < 0)
		return -1;
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
	return bind(fd, (struct sockaddr *)&local, len) < 0 ? -1 : fd;
}

static int serve(const char *address, const char *port)
{
	int fd = udp_socket(address, port);

	if (fd < 0)
		return die("bind");
	(void)printf("ready\n");
	(void)fflush(stdout);
	for (;;) {
		struct sockaddr_storage from;
		socklen_t len = sizeof(from);
		uint8_t data[64];
		ssize_t n = recvfrom(fd, data, sizeof(data), 0, (struct sockaddr *)&from, &len);

		/* An error of an earlier echo, or no way back: the prober sees that by itself. */
		if (n >= 0)
			(void)sendto(fd, data, (size_t)n, 0, (struct sockaddr *)&from, len);
	}
}

static int prober_open(struct prober *p, const char *source, const char *target, const char *port, unsigned flows)
{
	if (resolve(target, port, &p->to, &p->to_len) < 0)
		return -EINVAL;
	for (unsigned i = 0; i < flows; i++) {
		struct flow *f = &p->flows[i];
		char text[8];

		(void)snprintf(text, sizeof(text), "%u", FIRST_PORT + i);
		f->fd = udp_socket(source, text);
		f->sent = calloc(PROBES_MAX, sizeof(*f->sent));
		f->answered = calloc(PROBES_MAX, sizeof(*f->answered));
		if (f->fd < 0 || !f->sent || !f->answered)
			return -errno;
	}
	p->n = flows;
	return 0;
}

static void send_probes(struct prober *p)
{
	uint32_t at = p->next % PROBES_MAX;

	for (unsigned i = 0; i < p->n; i++) {
		struct flow *f = &p->flows[i];

		f->answered[at] = false;
		f->sent[at] = now_ns();
		/* No way there: lost, as it is. */
		(void)sendto(f->fd, &p->next, sizeof(p->next), MSG_DONTWAIT, (struct sockaddr *)&p->to, p->to_len);
	}
	p->next++;
}

static void take_echoes(struct prober *p, struct flow *f)
{
	uint32_t number;
	ssize_t n;

	/* An error that is reported once, such as "no route", is not the end of what waits. */
	while ((n = recv(f->fd, &number, sizeof(number), MSG_DONTWAIT)) >= 0 || (errno != EAGAIN && errno != EINTR))
		if (n == sizeof(number) && p->next - number <= PROBES_MAX)
			f->answered[number % PROBES_MAX] = true;
}

static void print_flow(const struct prober *p, const struct flow *f, uint32_t end, uint64_t end_ns)
{
	uint64_t longest = 0, since = 0;
	unsigned lost = 0;

	for (uint32_t i = p->begin; i <= end; i++) {
		bool answered = i == end || f->answered[i % PROBES_MAX];
		uint64_t at = i == end ? end_ns : f->sent[i % PROBES_MAX];

		if (answered && since) {
			longest = at - since > longest ? at - since : longest;
			since = 0;
		} else if (!answered) {
			since = since ? since : at;
			lost++;
		}
	}
	(void)printf("{\"lost\": %u, \"outage_ms\": %.3f}", lost, (double)longest / 1e6);
}

static void print_window(const struct prober *p, uint32_t end, uint64_t end_ns)
{
	(void)printf("{\"sent\": %u, \"flows\": [", end - p->begin);
	for (unsigned i = 0; i < p->n; i++) {
		(void)printf("%s", i ? ", " : "");
		print_flow(p, &p->flows[i], end, end_ns);
	}
	(void)printf("]}\n");
	(void)fflush(stdout);
}

/* One round of sending and receiving, at most until the next tick. Returns poll()'s answer for standard input. */
static short round_trip(struct prober *p, int timer, bool listen)
{
	struct pollfd fds[FLOWS_MAX + 2] = {{.fd = timer, .events = POLLIN}, {.fd = listen ? 0 : -1, .events = POLLIN}};
	uint64_t ticks;

	for (unsigned i = 0; i < p->n; i++)
		fds[i + 2] = (struct pollfd){.fd = p->flows[i].fd, .events = POLLIN};
	if (poll(fds, p->n + 2, -1) < 0)
		return 0;
	if (fds[0].revents && read(timer, &ticks, sizeof(ticks)) == sizeof(ticks))
		send_probes(p);
	for (unsigned i = 0; i < p->n; i++)
		if (fds[i + 2].revents)
			take_echoes(p, &p->flows[i]);
	return fds[1].revents;
}

static void close_window(struct prober *p, int timer)
{
	uint32_t end = p->next;
	uint64_t end_ns = now_ns();

	while (now_ns() < end_ns + LATE_NS)
		(void)round_trip(p, timer, false);
	print_window(p, end, end_ns);
}

static int probe(const char *source, const char *target, const char *port, unsigned flows)
{
	struct itimerspec each = {.it_interval.tv_nsec = INTERVAL_NS, .it_value.tv_nsec = INTERVAL_NS};
	int timer = timerfd_create(CLOCK_MONOTONIC, 0), err;
	static struct prober p;

	err = prober_open(&p, source, target, port, flows);
	if (err < 0 || timer < 0 || timerfd_settime(timer, 0, &each, NULL) < 0)
		return die("probe");
	(void)mlockall(MCL_CURRENT);
	for (;;) {
		char line[16];
		ssize_t n;

		if (!round_trip(&p, timer, true))
			continue;
		n = read(0, line, sizeof(line) - 1);
		if (n <= 0)
			return 0;
		line[n] = '\0';
		if (strcmp(line, "begin\n") == 0)
			p.begin = p.next;
		else if (strcmp(line, "end\n") == 0)
			close_window(&p, timer);
	}
}

int main(int argc, char **argv)
{
	unsigned long flows = argc == 6 ? strtoul(argv[5], NULL, 10) : 0;

	if (argc == 4 && strcmp(argv[1], "serve") == 0)
		return serve(argv[2], argv[3]);
	if (argc == 6 && strcmp(argv[1], "probe") == 0 && flows >= 1 && flows <= FLOWS_MAX)
		return probe(argv[2], argv[3], argv[4], (unsigned)flows);
	(void)fprintf(stderr, "usage: udp_echo serve ADDRESS PORT | udp_echo probe SOURCE TARGET PORT FLOWS\n");
	return 2;
}
