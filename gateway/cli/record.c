/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `show flows`, `show denies` and `show top`: the record of the audit. The command reads the files itself, and not
 * through fairwayd: they may be gigabytes, and the loop that keeps the gateway as it should be has no time for that. It
 * prints as it reads, so its memory does not grow with the record; who may read it, the files' mode says. fairwayd is
 * only asked where they are. Flows that are alive come from the kernel, which takes root.
 */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "config/config.h"
#include "gateway/audit/record_query.h"
#include "gateway/audit/record_read.h"
#include "gateway/audit/totals.h"
#include "gateway/base/arena.h"
#include "gateway/base/buf.h"
#include "gateway/base/cleanup.h"
#include "gateway/base/str.h"
#include "gateway/cli/args.h"
#include "gateway/cli/command.h"
#include "gateway/cli/output.h"

/* What is being shown. */
struct viewing {
	const struct args *args;
	struct record_query query;
	bool json;
	const char *event; /* of the records that count */
	const char *by;	   /* of top; NULL: of the others */
	uint64_t shown;
	struct totals totals;
	uint64_t omitted;   /* denied packets that were only counted */
	json_t *incomplete; /* notes of the record about itself */
};

/* --- one record for people --- */

static const char *text(const json_t *record, const char *key)
{
	return json_string_value(json_object_get(record, key));
}

static uint64_t number(const json_t *record, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(record, key));
}

/* "10.1.0.2:443", "[fd00::1]:443" */
static void put_end(const json_t *record, const char *address, const char *port, struct buf *out)
{
	const char *a = text(record, address);
	bool v6 = a && strchr(a, ':'), has_port = json_object_get(record, port) != NULL;

	buf_printf(out, v6 && has_port ? "[%s]" : "%s", a ? a : "-");
	if (has_port)
		buf_printf(out, ":%" PRIu64, number(record, port));
}

/* Of an end the most that is known: segment, line, interface. */
static void put_place(const json_t *record, const char *const keys[3], struct buf *out)
{
	const char *place = NULL;

	for (size_t i = 0; i < 3 && !place; i++)
		place = text(record, keys[i]);
	buf_puts(out, place ? place : "-");
}

static void put_rule(const json_t *record, struct buf *out)
{
	const char *name = text(record, "rule-name"), *verdict = text(record, "verdict");

	if (name)
		buf_puts(out, name);
	else if (json_object_get(record, "rule"))
		buf_printf(out, "%" PRIu64, number(record, "rule"));
	else
		buf_puts(out, verdict ? verdict : "-");
}

/* Filled up to a width; what is longer is never cut. */
static void print_cell(const struct buf *cell, int width)
{
	printf("%-*s ", width, buf_str(cell));
}

enum { WIDTH_END = 24, WIDTH_PLACE = 14 };

static void print_head(const struct viewing *v)
{
	printf("%-27s %-6s %-*s %-*s %-*s %-*s %-12s %-14s", "TIME", "PROTO", WIDTH_END, "FROM", WIDTH_END, "TO",
		WIDTH_PLACE, "IN", WIDTH_PLACE, "OUT", "TENANT", "RULE");
	if (str_eq(v->event, "deny"))
		puts("");
	else
		printf(" %10s %8s %14s %8s %14s\n", "SECONDS", "PACKETS", "BYTES", "R-PACKETS", "R-BYTES");
}

static void print_ends(const json_t *record)
{
	static const char *const in[] = {"from-segment", "from-line", "from-interface"};
	static const char *const out[] = {"to-segment", "to-line", "to-interface"};
	struct buf cell = {0};

	put_end(record, "from", "from-port", &cell);
	print_cell(&cell, WIDTH_END);
	buf_reset(&cell);
	put_end(record, "to", "to-port", &cell);
	print_cell(&cell, WIDTH_END);
	buf_reset(&cell);
	put_place(record, in, &cell);
	print_cell(&cell, WIDTH_PLACE);
	buf_reset(&cell);
	put_place(record, out, &cell);
	print_cell(&cell, WIDTH_PLACE);
	buf_free(&cell);
}

static void print_record(const struct viewing *v, const json_t *record)
{
	const char *proto = text(record, "proto"), *tenant = text(record, "tenant");
	struct buf rule = {0};

	printf("%-27s %-6s ", text(record, "time"), proto ? proto : "-");
	print_ends(record);
	put_rule(record, &rule);
	printf("%-12s %-14s", tenant ? tenant : "-", buf_str(&rule));
	buf_free(&rule);
	if (str_eq(v->event, "deny"))
		puts("");
	else
		printf(" %10.3f %8" PRIu64 " %14" PRIu64 " %8" PRIu64 " %14" PRIu64 "\n",
			json_number_value(json_object_get(record, "duration")), number(record, "packets"),
			number(record, "bytes"), number(record, "reply-packets"), number(record, "reply-bytes"));
}

/* --- sums --- */

/* The members of a record that a sum may go by; the second where a flow has two ends, and counts for both. */
static const struct {
	const char *by, *member, *other;
} keys[] = {
	{"tenant", "tenant", "to-tenant"},
	{"segment", "from-segment", "to-segment"},
	{"line", "from-line", "to-line"},
	{"interface", "from-interface", "to-interface"},
	{"from", "from", NULL},
	{"to", "to", NULL},
	{"port", "to-port", NULL},
	{"proto", "proto", NULL},
	{"rule", "rule-name", NULL},
};

static void add_to(struct totals *totals, const char *key, const json_t *record)
{
	struct total *t = totals_at(totals, key);

	if (str_eq(text(record, "event"), "deny")) {
		t->denied++;
		return;
	}
	t->flows++;
	t->packets += number(record, "packets") + number(record, "reply-packets");
	t->bytes += number(record, "bytes") + number(record, "reply-bytes");
}

/* NULL: the record has no such member. */
static const char *key_of(const json_t *record, const char *member, char room[32])
{
	const json_t *value = member ? json_object_get(record, member) : NULL;

	if (json_is_integer(value)) {
		(void)snprintf(room, 32, "%lld", (long long)json_integer_value(value));
		return room;
	}
	return json_string_value(value);
}

static void add_up(struct viewing *v, const json_t *record)
{
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		char room[2][32];
		const char *one, *other;

		if (!str_eq(keys[i].by, v->by))
			continue;
		one = key_of(record, keys[i].member, room[0]);
		other = key_of(record, keys[i].other, room[1]);
		if (!one && !other)
			one = "-";
		if (one)
			add_to(&v->totals, one, record);
		if (other && !str_eq(one, other))
			add_to(&v->totals, other, record);
	}
}

static json_t *totals_json(const struct viewing *v)
{
	_cleanup_free_ struct total **sorted = totals_sorted(&v->totals);
	json_t *list = json_array();

	for (size_t i = 0; i < v->totals.n; i++)
		json_array_append_new(list,
			json_pack("{s:s, s:I, s:I, s:I, s:I}", v->by, sorted[i]->key, "flows",
				(json_int_t)sorted[i]->flows, "packets", (json_int_t)sorted[i]->packets, "bytes",
				(json_int_t)sorted[i]->bytes, "denied", (json_int_t)sorted[i]->denied));
	return list;
}

/* --- reading --- */

static void show_record(struct viewing *v, const char *line, size_t len, const json_t *record)
{
	if (v->by) {
		add_up(v, record);
	} else if (v->json) {
		printf("%s\n    ", v->shown ? "," : "");
		(void)fwrite(line, 1, len, stdout);
	} else {
		if (v->shown == 0)
			print_head(v);
		print_record(v, record);
	}
	v->shown++;
}

static json_t *decode(const char *line, size_t len)
{
	return json_loadb(line, len, 0, NULL);
}

/* What the record says of itself. */
static void take_note(struct viewing *v, const char *line, size_t len)
{
	json_t *note = decode(line, len);

	v->omitted += number(note, "denied");
	if (str_eq(text(note, "event"), "incomplete"))
		json_array_append(v->incomplete, note);
	json_decref(note);
}

static bool is_wanted(const struct viewing *v, const char *line, size_t len)
{
	if (v->by)
		return record_query_may_match(&v->query, line, len, "end") ||
			record_query_may_match(&v->query, line, len, "deny") ||
			record_query_may_match(&v->query, line, len, "live");
	return record_query_may_match(&v->query, line, len, v->event);
}

static bool take_line(const char *line, size_t len, void *arg)
{
	struct viewing *v = arg;
	json_t *record;

	if (record_query_may_match(&v->query, line, len, "incomplete") ||
		record_query_may_match(&v->query, line, len, "omitted")) {
		take_note(v, line, len);
		return true;
	}
	if (!is_wanted(v, line, len))
		return true;
	record = decode(line, len);
	if (record && record_query_matches(&v->query, record))
		show_record(v, line, len, record);
	json_decref(record);
	return ferror(stdout) == 0; /* nobody listens any more */
}

/* Where the record is; the running config and fairwayd's process for live flows. */
struct gateway {
	json_t *audit, *status, *config;
	const char *directory;
};

static enum exit_status ask_show(const struct args *args, const struct output *output, const char *what, json_t **ret)
{
	return ask(args, output, "show", json_pack("{s:s}", "what", what), ret);
}

static enum exit_status ask_gateway(const struct args *args, const struct output *output, struct gateway *g)
{
	enum exit_status status = EXIT_OK;

	if (args->live) {
		status = ask_show(args, output, "status", &g->status);
		return status == EXIT_OK ? ask_show(args, output, "config", &g->config) : status;
	}
	g->directory = args->directory;
	if (g->directory)
		return EXIT_OK;
	status = ask_show(args, output, "audit", &g->audit);
	if (status != EXIT_OK)
		return status;
	g->directory = text(g->audit, "directory");
	if (g->directory)
		return EXIT_OK;
	(void)fprintf(stderr, "fairway: this gateway keeps no record; see `audit` in fairway.yaml(5)\n");
	return EXIT_REFUSED;
}

static int read_live(struct viewing *v, const struct gateway *g)
{
	_cleanup_(arena_freep) struct arena *arena = arena_new();
	const char *yaml = text(g->config, "text");
	const struct config *cfg;
	struct diag diag;
	int r;

	diag_init(&diag, "running");
	cfg = config_parse(yaml, strlen(yaml), arena, &diag);
	r = record_read_live((int)number(g->status, "pid"), cfg, take_line, v);
	diag_free(&diag);
	return r;
}

static enum exit_status read_record(struct viewing *v, const struct gateway *g)
{
	int r = v->args->live ? read_live(v, g) : record_read(g->directory, &v->query, take_line, v);

	if (r == 0)
		return EXIT_OK;
	if (v->args->live)
		(void)fprintf(stderr, "fairway: the kernel's connections cannot be read: %s\n", strerror(-r));
	else
		(void)fprintf(stderr, "fairway: the record in %s cannot be read: %s\n", g->directory, strerror(-r));
	return EXIT_REFUSED;
}

/* --- the end --- */

static void print_notes(const struct viewing *v)
{
	size_t i;
	json_t *note;

	if (v->omitted > 0)
		(void)fprintf(stderr, "%" PRIu64 " more denied packets were counted and not recorded one by one\n",
			v->omitted);
	json_array_foreach(v->incomplete, i, note)
	{
		const char *since = text(note, "since"), *reason = text(note, "reason");

		(void)fprintf(stderr, "the record is incomplete before %s%s%s (%s): ", text(note, "time"),
			since ? ", since " : "", since ? since : "", reason ? reason : "-");
		if (json_object_get(note, "missing") && !json_is_null(json_object_get(note, "missing")))
			(void)fprintf(stderr, "%" PRIu64 " missing\n", number(note, "missing"));
		else
			(void)fprintf(stderr, "it is not known how many are missing\n");
	}
}

static void finish(struct viewing *v, const struct output *output)
{
	json_t *list = v->by ? totals_json(v) : NULL;
	_cleanup_free_ char *notes = json_dumps(v->incomplete, 0);

	if (v->by && v->json) {
		list = json_pack(
			"{s:o, s:O, s:I}", "top", list, "incomplete", v->incomplete, "omitted", (json_int_t)v->omitted);
		emit(output, list);
	} else if (v->by) {
		if (json_array_size(list) > 0)
			emit(output, list);
		print_notes(v);
	} else if (v->json) {
		printf("%s],\n  \"incomplete\": %s,\n  \"omitted\": %" PRIu64 "\n}\n", v->shown ? "\n  " : "", notes,
			v->omitted);
	} else {
		print_notes(v);
	}
	json_decref(list);
}

static bool set_filters(struct viewing *v)
{
	struct timespec now;
	uint64_t now_ns;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	now_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	record_query_init(&v->query, now_ns);
	for (size_t i = 0; i < v->args->n_filters; i++) {
		const char *name = v->args->filters[i].name, *value = v->args->filters[i].value;

		if (record_query_set(&v->query, name, value, now_ns) == 0)
			continue;
		(void)fprintf(stderr, "fairway: --%s cannot be %s; see fairway show --help\n", name, value);
		return false;
	}
	return true;
}

static bool set_topic(struct viewing *v)
{
	const char *what = v->args->operands[0], *by = v->args->n_operands > 1 ? v->args->operands[1] : "tenant";

	v->event = str_eq(what, "denies") ? "deny" : v->args->live ? "live" : "end";
	if (!str_eq(what, "top") && v->args->n_operands > 1) {
		(void)fprintf(stderr, "fairway: show %s takes no name\n", what);
		return false;
	}
	if (str_eq(what, "denies") && v->args->live) {
		(void)fprintf(stderr, "fairway: --live is for flows and top\n");
		return false;
	}
	if (!str_eq(what, "top"))
		return true;
	v->by = by;
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (str_eq(keys[i].by, by))
			return true;
	(void)fprintf(stderr, "fairway: there is no top %s; see fairway show --help\n", by);
	return false;
}

bool is_record_topic(const char *what)
{
	return str_eq(what, "flows") || str_eq(what, "denies") || str_eq(what, "top");
}

enum exit_status command_record(const struct args *args, const struct output *output)
{
	struct viewing v = {.args = args, .json = args->json};
	struct gateway g = {0};
	enum exit_status status;

	if (!set_topic(&v) || !set_filters(&v))
		return EXIT_USAGE;
	v.incomplete = json_array();
	status = ask_gateway(args, output, &g);
	if (status == EXIT_OK && v.json && !v.by)
		printf("{\n  \"%s\": [", args->operands[0]);
	if (status == EXIT_OK)
		status = read_record(&v, &g);
	if (status == EXIT_OK || (v.json && !v.by && g.directory))
		finish(&v, output);
	totals_free(&v.totals);
	json_decref(v.incomplete);
	json_decref(g.audit);
	json_decref(g.status);
	json_decref(g.config);
	return status;
}
