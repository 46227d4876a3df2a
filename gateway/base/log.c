/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One write(2) a line, so that lines of several processes on one stderr do not mix. */
#include "gateway/base/log.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "gateway/base/buf.h"

static const char *log_ident = "fairway";
static int log_max = LOG_INFO;
static bool log_plain = true; /* a person reads it: no "<6>" */

void log_open(const char *ident, int max_priority)
{
	log_ident = ident;
	log_max = max_priority;
	log_plain = isatty(STDERR_FILENO);
}

/* What came from outside must not start a line of its own or move the terminal's cursor. */
static void make_one_line(struct buf *line, size_t from)
{
	for (size_t i = from; i < line->len; i++)
		if ((unsigned char)line->data[i] < 0x20 || line->data[i] == 0x7f)
			line->data[i] = ' ';
}

void log_msg(int priority, const char *fmt, ...)
{
	struct buf line = {0};
	va_list ap;

	if (priority > log_max)
		return;
	if (!log_plain)
		buf_printf(&line, "<%d>", priority);
	buf_printf(&line, "%s: ", log_ident);
	va_start(ap, fmt);
	buf_vprintf(&line, fmt, ap);
	va_end(ap);
	while (line.len > 0 && line.data[line.len - 1] == '\n')
		line.data[--line.len] = '\0';
	make_one_line(&line, 0);
	buf_putc(&line, '\n');
	if (write(STDERR_FILENO, line.data, line.len) < 0) {
		/* Nobody listens; the log must not stop the gateway. */
	}
	buf_free(&line);
}
