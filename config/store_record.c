/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records of revisions as JSON; see store_record.h. Pure. */
#include "config/store_record.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "gateway/base/cleanup.h"
#include "gateway/base/str.h"

static const int64_t time_max = INT64_C(253402300799); /* the end of the year 9999 */

static bool line_ok(const char *text, size_t size)
{
	return memchr(text, '\0', size) && str_is_printable(text);
}

bool record_meta_ok(const struct revision *m)
{
	return m->time >= 0 && (int64_t)m->time <= time_max && line_ok(m->user, sizeof(m->user)) &&
		line_ok(m->comment, sizeof(m->comment)) && line_ok(m->source, sizeof(m->source));
}

char *record_print(const struct record *r)
{
	const struct revision *m = &r->meta;
	char hash[17];
	_cleanup_(json_decrefp) json_t *json = NULL;
	char *text;

	(void)snprintf(hash, sizeof(hash), "%016" PRIx64, r->hash);
	json = json_pack("{s:I, s:I, s:s, s:s, s:s, s:I, s:s}", "number", (json_int_t)m->number, "time",
		(json_int_t)m->time, "user", m->user, "comment", m->comment, "source", m->source, "bytes",
		(json_int_t)r->bytes, "hash", hash);
	text = json ? json_dumps(json, JSON_INDENT(2)) : NULL;
	if (!text)
		abort();
	return text;
}

static bool copy_line(char *to, size_t size, const char *from)
{
	size_t len = strlen(from);

	if (len >= size || !str_is_printable(from))
		return false;
	memcpy(to, from, len + 1);
	return true;
}

static bool hash_parse(const char *text, uint64_t *ret)
{
	if (strlen(text) != 16 || strspn(text, "0123456789abcdef") != 16)
		return false;
	*ret = strtoull(text, NULL, 16);
	return true;
}

bool record_parse(const char *text, size_t len, struct record *ret)
{
	_cleanup_(json_decrefp) json_t *json = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);
	const char *user, *comment, *source, *hash;
	json_int_t number, when, bytes;
	struct record r = {0};

	if (!json ||
		json_unpack(json, "{s:I, s:I, s:s, s:s, s:s, s:I, s:s}", "number", &number, "time", &when, "user",
			&user, "comment", &comment, "source", &source, "bytes", &bytes, "hash", &hash) < 0)
		return false;
	if (number < 1 || (uint64_t)number > RECORD_NUMBER_MAX || when < 0 || when > time_max || bytes < 0 ||
		bytes > CONFIG_FILE_MAX)
		return false;
	r.meta.number = (uint64_t)number;
	r.meta.time = (time_t)when;
	r.bytes = (uint64_t)bytes;
	if (!copy_line(r.meta.user, sizeof(r.meta.user), user) ||
		!copy_line(r.meta.comment, sizeof(r.meta.comment), comment) ||
		!copy_line(r.meta.source, sizeof(r.meta.source), source) || !hash_parse(hash, &r.hash))
		return false;
	*ret = r;
	return true;
}
