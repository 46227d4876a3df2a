/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * udp_blast send ADDRESS PORT SECONDS BYTES: sends UDP datagrams of BYTES payload as fast as it can, and prints how
 * many. udp_blast sink PORT SECONDS [answer]: reads what comes to PORT and prints how many datagrams that were; with
 * "answer" the first is answered, so that connection tracking knows the flow as established. The one idea:
 * sendmmsg() and recvmmsg() in batches, so that the program is not what limits the packet rate.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { BATCH = 64, BYTES_MAX = 1472 };

static double now(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static int die(const char *what)
{
	perror(what);
	return 1;
}

static void fill(struct mmsghdr *msgs, struct iovec *iov, void *data, size_t len)
{
	*iov = (struct iovec){.iov_base = data, .iov_len = len};
	memset(msgs, 0, BATCH * sizeof(*msgs));
	for (size_t i = 0; i < BATCH; i++) {
		msgs[i].msg_hdr.msg_iov = iov;
		msgs[i].msg_hdr.msg_iovlen = 1;
	}
}

static int blast(const char *address, const char *port, double seconds, size_t bytes)
{
	static char data[BYTES_MAX];
	struct addrinfo hints = {.ai_socktype = SOCK_DGRAM, .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV}, *to;
	struct mmsghdr msgs[BATCH];
	struct iovec iov;
	uint64_t sent = 0;
	double end;
	int fd;

	if (getaddrinfo(address, port, &hints, &to) != 0)
		return die("address");
	fd = socket(to->ai_family, SOCK_DGRAM, 0);
	if (fd < 0 || connect(fd, to->ai_addr, to->ai_addrlen) < 0)
		return die("socket");
	fill(msgs, &iov, data, bytes);
	for (end = now() + seconds; now() < end;) {
		int n = sendmmsg(fd, msgs, BATCH, 0);

		if (n < 0 && errno != ENOBUFS && errno != ECONNREFUSED && errno != EINTR)
			return die("sendmmsg");
		sent += n > 0 ? (uint64_t)n : 0;
	}
	printf("%llu\n", (unsigned long long)sent);
	freeaddrinfo(to);
	return close(fd) < 0;
}

/* The first datagram, and a word to who sent it. */
static uint64_t answer_one(int fd)
{
	struct sockaddr_in6 from;
	socklen_t len = sizeof(from);
	char data[BYTES_MAX];
	ssize_t n = recvfrom(fd, data, sizeof(data), 0, (struct sockaddr *)&from, &len);

	return n >= 0 && sendto(fd, data, 1, 0, (struct sockaddr *)&from, len) == 1;
}

static int sink(uint16_t port, double seconds, int answer)
{
	static char data[BYTES_MAX];
	struct sockaddr_in6 any = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
	struct timeval wait = {.tv_usec = 100000};
	int size = 8 << 20, fd = socket(AF_INET6, SOCK_DGRAM, 0);
	struct mmsghdr msgs[BATCH];
	struct iovec iov;
	uint64_t got = 0;

	if (fd < 0 || bind(fd, (struct sockaddr *)&any, sizeof(any)) < 0)
		return die("bind");
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
	fill(msgs, &iov, data, sizeof(data));
	for (double end = now() + seconds; answer && got == 0 && now() < end;)
		got = answer_one(fd);
	for (double end = now() + seconds; now() < end;) {
		int n = recvmmsg(fd, msgs, BATCH, MSG_WAITFORONE, NULL);

		got += n > 0 ? (uint64_t)n : 0;
	}
	printf("%llu\n", (unsigned long long)got);
	return close(fd) < 0;
}

int main(int argc, char **argv)
{
	size_t bytes = argc == 6 ? strtoul(argv[5], NULL, 10) : 0;

	if (argc == 6 && strcmp(argv[1], "send") == 0 && bytes <= BYTES_MAX)
		return blast(argv[2], argv[3], strtod(argv[4], NULL), bytes);
	if ((argc == 4 || (argc == 5 && strcmp(argv[4], "answer") == 0)) && strcmp(argv[1], "sink") == 0)
		return sink((uint16_t)strtoul(argv[2], NULL, 10), strtod(argv[3], NULL), argc == 5);
	(void)fprintf(
		stderr, "usage: udp_blast send ADDRESS PORT SECONDS BYTES | udp_blast sink PORT SECONDS [answer]\n");
	return 2;
}
