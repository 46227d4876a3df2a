/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See audit_sinks.h. A record's line is made once, for files and syslog. */
#include "gateway/audit/audit_sinks.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "gateway/audit/audit.h"
#include "gateway/audit/audit_settings.h"
#include "gateway/audit/flow_json.h"
#include "gateway/audit/ipfix_sink.h"
#include "gateway/audit/json_sink.h"
#include "gateway/audit/syslog_sink.h"
#include "gateway/base/str.h"

enum { BATCH = 128 * 1024 };

struct audit_sinks {
	struct json_sink *json;	  /* NULL: none */
	struct ipfix_sink *ipfix; /* NULL: none */
	bool has_syslog;
	struct syslog_sink syslog;
	int json_error, ipfix_error; /* of opening */
	struct flow_clock clock;
	size_t len, n_lines;
	char lines[BATCH]; /* for the files */
};

struct audit_sinks *audit_sinks_new(void)
{
	struct audit_sinks *s = calloc(1, sizeof(*s));

	if (!s)
		abort();
	syslog_sink_open(&s->syslog, SYSLOG_SOCKET);
	return s;
}

void audit_sinks_free(struct audit_sinks *sinks)
{
	if (!sinks)
		return;
	audit_sinks_flush(sinks);
	json_sink_close(sinks->json);
	ipfix_sink_close(sinks->ipfix);
	syslog_sink_close(&sinks->syslog);
	free(sinks);
}

static void config_json(struct audit_sinks *s, const struct audit_settings *old, const struct audit_settings *new)
{
	if (s->json && (!new->on || !str_eq(old->directory, new->directory))) {
		json_sink_close(s->json);
		s->json = NULL;
	}
	s->json_error = 0;
	if (s->json)
		json_sink_limits(s->json, new->max_size, new->max_files);
	else if (new->on)
		s->json_error = json_sink_open(new->directory, new->max_size, new->max_files, &s->json);
}

static void config_ipfix(struct audit_sinks *s, const struct audit_settings *old, const struct audit_settings *new)
{
	if (s->ipfix && !audit_settings_same_ipfix(old, new)) {
		ipfix_sink_close(s->ipfix);
		s->ipfix = NULL;
	}
	s->ipfix_error = 0;
	if (!s->ipfix && new->ipfix)
		s->ipfix_error = ipfix_sink_open(&new->target, &s->ipfix);
}

void audit_sinks_config(
	struct audit_sinks *sinks, const struct audit_settings *old, const struct audit_settings *settings)
{
	audit_sinks_flush(sinks);
	config_json(sinks, old, settings);
	config_ipfix(sinks, old, settings);
	sinks->has_syslog = settings->syslog;
	if (!sinks->has_syslog)
		syslog_sink_close(&sinks->syslog);
}

/* --- records --- */

/* The line that stands at the end of what was collected, one byte of it the newline. */
static void take_line(struct audit_sinks *s, size_t len, uint64_t now_ns)
{
	if (s->has_syslog)
		syslog_sink_put(&s->syslog, s->lines + s->len, len - 1, now_ns);
	s->len += len;
	s->n_lines++;
	if (s->len > BATCH - FLOW_JSON_MAX)
		audit_sinks_flush(s);
}

void audit_sinks_put(struct audit_sinks *sinks, const struct flow *flow, uint64_t now_ns)
{
	take_line(sinks, flow_json(&sinks->clock, flow, sinks->lines + sinks->len), now_ns);
	if (sinks->ipfix)
		ipfix_sink_put(sinks->ipfix, flow);
}

void audit_sinks_note(struct audit_sinks *sinks, uint64_t now_ns, const char *event, const char *fmt, ...)
{
	char time[FLOW_TIME_LEN + 1], rest[FLOW_JSON_MAX / 2];
	va_list ap;
	int n;

	va_start(ap, fmt);
	(void)vsnprintf(rest, sizeof(rest), fmt, ap);
	va_end(ap);
	flow_time_print(&sinks->clock, now_ns, time);
	n = snprintf(
		sinks->lines + sinks->len, FLOW_JSON_MAX, "{\"time\":\"%s\",\"event\":\"%s\"%s}\n", time, event, rest);
	take_line(sinks, (size_t)n, now_ns);
}

void audit_sinks_flush(struct audit_sinks *sinks)
{
	if (sinks->len > 0 && sinks->json)
		(void)json_sink_put(sinks->json, sinks->lines, sinks->len, sinks->n_lines);
	sinks->len = sinks->n_lines = 0;
}

void audit_sinks_turn(struct audit_sinks *sinks, uint64_t now_ns)
{
	if (sinks->ipfix)
		ipfix_sink_turn(sinks->ipfix, now_ns);
}

void audit_sinks_counts(const struct audit_sinks *sinks, struct audit_counts *ret)
{
	ret->file_error = sinks->json_error;
	ret->ipfix_error = sinks->ipfix_error;
	if (sinks->json) {
		struct json_sink_counts c;

		json_sink_counts(sinks->json, &c);
		ret->lines = c.lines;
		ret->bytes = c.bytes;
		ret->lost = c.lost;
		ret->files = c.files;
		ret->file_error = c.error;
	}
	if (sinks->ipfix) {
		const struct ipfix_counts *c = ipfix_sink_counts(sinks->ipfix);

		ret->ipfix = c->records;
		ret->ipfix_lost = c->lost;
		ret->ipfix_error = c->error ? c->error : ipfix_sink_refused(sinks->ipfix) ? -ECONNREFUSED : 0;
	}
	ret->syslog = sinks->syslog.sent;
	ret->syslog_lost = sinks->syslog.lost;
	ret->syslog_error = sinks->has_syslog ? sinks->syslog.error : 0;
}
