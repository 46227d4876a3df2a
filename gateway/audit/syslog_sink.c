/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See syslog_sink.h. The form is RFC 3164's, as syslog(3) has it: what listens at /dev/log expects that. */
#include "gateway/audit/syslog_sink.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include "gateway/base/cleanup.h"

static int open_socket(const char *path)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -errno;
	if (strlen(path) >= sizeof(a.sun_path))
		return -ENAMETOOLONG;
	(void)strcpy(a.sun_path, path);
	return connect(fd, (struct sockaddr *)&a, sizeof(a)) < 0 ? -errno : steal_fd(&fd);
}

void syslog_sink_open(struct syslog_sink *sink, const char *path)
{
	*sink = (struct syslog_sink){.path = path, .fd = -1, .second = UINT64_MAX};
}

void syslog_sink_close(struct syslog_sink *sink)
{
	closep(&sink->fd);
	sink->fd = -1;
}

/* Once a second: the time's text, and a socket where there is none. */
static void new_second(struct syslog_sink *s, uint64_t second)
{
	time_t t = (time_t)second;
	struct tm tm;

	s->second = second;
	if (!localtime_r(&t, &tm) || strftime(s->stamp, sizeof(s->stamp), "%b %e %H:%M:%S", &tm) == 0)
		s->stamp[0] = '\0';
	if (s->fd >= 0)
		return;
	s->fd = open_socket(s->path);
	s->error = s->fd < 0 ? s->fd : 0;
}

void syslog_sink_put(struct syslog_sink *sink, const char *line, size_t len, uint64_t now_ns)
{
	char head[64];
	struct iovec v[2];
	struct msghdr m = {.msg_iov = v, .msg_iovlen = 2};
	int n;

	if (sink->second != now_ns / 1000000000)
		new_second(sink, now_ns / 1000000000);
	n = snprintf(
		head, sizeof(head), "<%d>%s fairway-audit[%d]: ", LOG_LOCAL0 | LOG_INFO, sink->stamp, (int)getpid());
	v[0] = (struct iovec){head, (size_t)n};
	v[1] = (struct iovec){(char *)line, len};
	if (sink->fd >= 0 && sendmsg(sink->fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0) {
		sink->sent++;
		return;
	}
	sink->lost++;
	if (sink->fd < 0 || errno == EAGAIN || errno == EMSGSIZE)
		return;
	sink->error = -errno; /* syslogd has gone */
	closep(&sink->fd);
	sink->fd = -1;
}
