/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the RPC can do: one row per method. An answer is data; its member "text", where it has one, is the same for
 * people. docs/rpc.md is the description.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "config/config.h"
#include "config/diff.h"
#include "config/print.h"
#include "config/store.h"
#include "gateway/audit/audit.h"
#include "gateway/base/arena.h"
#include "gateway/base/cleanup.h"
#include "gateway/base/log.h"
#include "gateway/base/str.h"
#include "gateway/daemon/daemon.h"
#include "gateway/daemon/netstat.h"
#include "gateway/daemon/scan_watch.h"
#include "gateway/engine/diag_json.h"
#include "gateway/engine/load.h"
#include "gateway/engine/subsystem.h"
#include "gateway/rpc/rpc_frame.h"
#include "gateway/rpc/rpc_server.h"
#include "overlay/snoop_watch.h"
#include "overlay/toobig_watch.h"
#include "routing/fib_check.h"

/* --- small pieces --- */

static json_t *text_json(const char *s)
{
	return rpc_string(s, strlen(s));
}

static json_t *text_or_null(const char *s)
{
	return s ? text_json(s) : json_null();
}

json_t *daemon_time_json(time_t t)
{
	struct tm tm;
	char text[32];

	if (t == 0 || !gmtime_r(&t, &tm))
		return json_null();
	(void)strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
	return json_string(text);
}

static json_t *buf_json(struct buf *b)
{
	json_t *json = rpc_string(buf_str(b), b->len);

	buf_free(b);
	return json;
}

static const char *string_param(const struct rpc_call *call, const char *name, size_t *ret_len)
{
	const json_t *value = json_object_get(call->params, name);

	if (ret_len)
		*ret_len = json_string_length(value);
	return json_string_value(value);
}

/* A text of the caller's for the log and the revision's record: one printable line that fits. */
static bool line_param(struct rpc_call *call, const char *name, const char *otherwise, char *ret, size_t size)
{
	size_t len;
	const char *value = string_param(call, name, &len);

	if (!value) {
		(void)snprintf(ret, size, "%s", otherwise);
		return true;
	}
	if (strlen(value) != len || len >= size || !str_is_printable(value)) {
		rpc_error(call, "bad-request", "\"%s\" has to be one printable line of at most %zu bytes", name,
			size - 1);
		return false;
	}
	memcpy(ret, value, len + 1);
	return true;
}

/* --- a config in a call --- */

/* What a call brought, parsed and checked, with its diagnostics. */
struct candidate {
	const char *text;
	size_t len;
	char source[256];
	struct arena *arena;
	const struct config *cfg;
	json_t *diagnostics;
	json_t *messages; /* the same for people */
};

static void candidate_free(struct candidate *c)
{
	arena_free(c->arena);
	json_decref(c->diagnostics);
	json_decref(c->messages);
}

static void candidate_load(struct daemon *d, struct rpc_call *call, struct candidate *c)
{
	struct buf messages = {0};
	struct diag diag;

	diag_init(&diag, c->source);
	c->arena = arena_new();
	/* Whether a secret file is there is nothing that a reader gets to ask. */
	c->cfg = engine_load(&d->engine, c->text, c->len, call->peer->role == ROLE_ADMIN, c->arena, &diag);
	c->diagnostics = diag_to_json(&diag);
	diag_print(&diag, &messages);
	c->messages = buf_json(&messages);
	diag_free(&diag);
}

/* False: the call has its error. */
static bool candidate_take(struct daemon *d, struct rpc_call *call, struct candidate *ret)
{
	ret->text = string_param(call, "text", &ret->len);
	if (!ret->text) {
		rpc_error(call, "bad-request", "\"text\" has to be the text of a configuration");
		return false;
	}
	if (!line_param(call, "source", "-", ret->source, sizeof(ret->source)))
		return false;
	candidate_load(d, call, ret);
	if (ret->cfg)
		return true;
	rpc_error(call, "invalid", "the configuration is not valid");
	call->details = json_pack("{s:O, s:O}", "diagnostics", ret->diagnostics, "text", ret->messages);
	return false;
}

/* --- methods --- */

static void put_plan(json_t *into, json_t *plan)
{
	if (plan)
		json_object_update(into, plan);
	else
		json_object_update_new(into, json_pack("{s:[], s:[]}", "steps", "conflicts"));
}

/* "applied revision 7: 5 steps, verified" */
static void print_outcome(const struct daemon *d, const struct applied *a, bool stored, struct buf *out)
{
	if (a->result == COMMIT_OK || stored)
		buf_printf(out, "applied revision %llu: ", (unsigned long long)d->revision);
	buf_puts(out, buf_str(&a->report));
	if (d->file_trouble)
		buf_printf(out, "warning: %s\n", d->file_trouble);
}

static void answer_applied(
	struct daemon *d, struct rpc_call *call, struct applied *a, const struct candidate *c, bool stored)
{
	struct buf text = {0};
	json_t *data = json_object();

	json_object_set_new(data, "result", json_string(commit_result_name(a->result)));
	put_plan(data, a->plan);
	json_object_set(data, "diagnostics", c->diagnostics);
	json_object_set(data, "messages", c->messages);
	if (a->result != COMMIT_REFUSED) /* what would have been done is of no interest to people then */
		buf_puts(&text, buf_str(&a->text));
	if (applied_is_good(a)) {
		print_outcome(d, a, stored, &text);
		json_object_set_new(data, "revision", json_integer((json_int_t)d->revision));
		json_object_set_new(data, "report", text_json(buf_str(&a->report)));
		call->result = data;
	} else {
		rpc_error(call, commit_result_name(a->result), "%s", buf_str(&a->report));
		call->details = data;
	}
	json_object_set_new(data, "text", buf_json(&text));
}

static void log_applied(const struct daemon *d, const struct revision *meta, const struct applied *a)
{
	if (applied_is_good(a))
		log_notice("%s applied %s, revision %llu: %s", meta->user, meta->source,
			(unsigned long long)d->revision, buf_str(&a->report));
	else
		log_warning("%s could not apply %s (%s): %s", meta->user, meta->source, commit_result_name(a->result),
			buf_str(&a->report));
}

static void method_apply(void *context, struct rpc_call *call)
{
	struct daemon *d = context;
	struct revision meta = {.time = time(NULL)};
	struct applied applied = {0};
	struct candidate c = {0};
	uint64_t before = d->revision;

	if (line_param(call, "comment", "", meta.comment, sizeof(meta.comment)) && candidate_take(d, call, &c)) {
		memcpy(meta.user, call->peer->user, sizeof(meta.user));
		memcpy(meta.source, c.source, sizeof(meta.source));
		daemon_commit(d, c.cfg, c.arena, c.text, c.len, &meta, &applied);
		c.arena = NULL;
		log_applied(d, &meta, &applied);
		answer_applied(d, call, &applied, &c, d->revision != before);
	}
	applied_free(&applied);
	candidate_free(&c);
}

static void method_check(void *context, struct rpc_call *call)
{
	struct candidate c = {0};

	if (candidate_take(context, call, &c))
		call->result =
			json_pack("{s:b, s:O, s:O}", "valid", 1, "diagnostics", c.diagnostics, "messages", c.messages);
	candidate_free(&c);
}

static void method_diff(void *context, struct rpc_call *call)
{
	struct daemon *d = context;
	struct candidate c = {0};

	if (candidate_take(d, call, &c)) {
		struct config_diff diff = {.arena = c.arena};
		struct buf text = {0};

		config_diff(d->engine.running, c.cfg, &diff);
		config_diff_print(&diff, &text);
		call->result = json_pack("{s:o, s:o, s:O}", "differences", config_diff_to_json(&diff), "text",
			buf_json(&text), "messages", c.messages);
	}
	candidate_free(&c);
}

static void answer_plan(struct daemon *d, struct rpc_call *call, const struct config *cfg)
{
	struct buf text = {0};
	struct plan plan;
	json_t *cut;

	plan_init(&plan);
	if (engine_plan(&d->engine, cfg, &plan, &text) < 0) {
		rpc_error(call, "failed", "%s", buf_str(&text));
		buf_free(&text);
	} else {
		plan_print(&plan, &text);
		/* Who talks to whom is nothing that a reader gets to ask. */
		cut = call->peer->role == ROLE_ADMIN ? daemon_cut_json(d, cfg, &text) : NULL;
		call->result = plan_to_json(&plan);
		if (cut)
			json_object_set_new(call->result, "cuts", cut);
		json_object_set_new(call->result, "text", buf_json(&text));
	}
	plan_free(&plan);
}

static bool need_running(const struct daemon *d, struct rpc_call *call)
{
	if (!d->engine.running)
		rpc_error(call, "not-configured", "nothing is configured; see `fairway show status`");
	return d->engine.running != NULL;
}

static void method_plan(void *context, struct rpc_call *call)
{
	struct daemon *d = context;
	struct candidate c = {0};

	if (!json_object_get(call->params, "text")) {
		if (need_running(d, call))
			answer_plan(d, call, d->engine.running);
		return;
	}
	if (candidate_take(d, call, &c)) {
		if (call->peer->role == ROLE_ADMIN)
			daemon_take_prefixes(d, c.cfg);
		answer_plan(d, call, c.cfg);
	}
	candidate_free(&c);
}

static void add_lines(json_t *list, const char *text)
{
	while (text && *text) {
		size_t len = strcspn(text, "\n");

		if (len > 0)
			json_array_append_new(list, rpc_string(text, len));
		text += len + (text[len] == '\n');
	}
}

static json_t *trouble_json(const struct daemon *d)
{
	json_t *list = json_array();
	char audit[256];

	add_lines(list, d->boot_trouble);
	add_lines(list, d->file_trouble);
	add_lines(list, d->engine.trouble);
	add_lines(list, d->prefix_trouble);
	if (auditor_trouble(d->auditor, audit, sizeof(audit)))
		add_lines(list, audit);
	return list;
}

/* What became of packets too big for bridged segments that the kernel loses. */
static json_t *too_big_json(const struct daemon *d)
{
	const struct toobig_counts *n = d->toobig ? toobig_watch_counts(d->toobig) : NULL;

	if (!n)
		return json_null();
	return json_pack("{s:I, s:I, s:I, s:I}", "answered", (json_int_t)n->answered, "fragmented",
		(json_int_t)n->fragmented, "ignored", (json_int_t)n->ignored, "overruns", (json_int_t)n->overruns);
}

/* Neighbors of bridged segments, as their hosts say. */
static json_t *neighbors_json(const struct daemon *d)
{
	const struct snoop_counts *n = d->snoop ? snoop_watch_counts(d->snoop) : NULL;

	if (!n)
		return json_null();
	return json_pack("{s:I, s:I, s:I, s:I, s:I}", "learned", (json_int_t)n->learned, "refused",
		(json_int_t)n->refused, "ignored", (json_int_t)n->ignored, "expired", (json_int_t)n->expired,
		"overruns", (json_int_t)n->overruns);
}

/* Drift that was put back: by the loop, and routes and MACs of FRR's by themselves. */
struct repairs {
	uint64_t n;
	const char *last; /* NULL: none */
	time_t time;
};

static struct repairs repairs_of(const struct daemon *d)
{
	const struct engine *e = &d->engine;
	const struct fib_report *fib = fib_check_report(d->fib);
	struct repairs r = {e->n_repairs + fib->repairs, e->last_repair_text, e->last_repair};

	if (fib->last_time > r.time) {
		r.last = fib->last;
		r.time = (time_t)fib->last_time;
	}
	if (r.n == 0)
		r.last = NULL;
	return r;
}

static void method_status(void *context, struct rpc_call *call)
{
	const struct daemon *d = context;
	const struct engine *e = &d->engine;
	const struct repairs repairs = repairs_of(d);

	call->result = json_pack(
		"{s:s, s:s, s:i, s:o, s:o, s:b, s:b, s:o, s:I, s:s, s:I, s:o, s:I, s:o, s:o, s:I, s:o, s:o}",
		"instance", d->options->instance, "version", FAIRWAY_VERSION, "pid", (int)getpid(), "started",
		daemon_time_json(d->started), "hostname",
		text_or_null(e->running ? e->running->system->hostname : NULL), "configured", e->running != NULL,
		"converged", e->running && e->converged, "trouble", trouble_json(d), "revision",
		(json_int_t)d->revision, "config", d->options->config, "commits", (json_int_t)e->n_commits,
		"last_commit", daemon_time_json(e->last_commit), "repairs", (json_int_t)repairs.n, "last_repair",
		text_or_null(repairs.last), "last_repair_time", daemon_time_json(repairs.time), "adaptations",
		(json_int_t)e->n_adaptations, "too_big", too_big_json(d), "neighbors", neighbors_json(d));
}

static void method_version(void *context, struct rpc_call *call)
{
	const struct daemon *d = context;

	call->result = json_pack(
		"{s:s, s:i, s:s}", "version", FAIRWAY_VERSION, "rpc", RPC_VERSION, "instance", d->options->instance);
}

/* --- show --- */

static void show_config(struct daemon *d, struct rpc_call *call)
{
	struct buf text = {0};

	if (!need_running(d, call))
		return;
	config_print(d->engine.running, &text);
	call->result = json_pack("{s:o, s:o}", "config", config_to_json(d->engine.running), "text", buf_json(&text));
}

static void show_plan(struct daemon *d, struct rpc_call *call)
{
	if (need_running(d, call))
		answer_plan(d, call, d->engine.running);
}

static void show_status(struct daemon *d, struct rpc_call *call)
{
	method_status(d, call);
}

static void show_revisions(struct daemon *d, struct rpc_call *call)
{
	_cleanup_free_ struct revision *v = NULL;
	json_t *list;
	size_t n = 0;
	int r = store_list(d->store, &v, &n);

	if (r < 0) {
		rpc_error(call, "failed", "the revisions cannot be read: %s", strerror(-r));
		return;
	}
	list = json_array();
	for (size_t i = 0; i < n; i++)
		json_array_append_new(list,
			json_pack("{s:I, s:b, s:o, s:o, s:o, s:o}", "revision", (json_int_t)v[i].number, "running",
				v[i].number == d->revision, "time", daemon_time_json(v[i].time), "user",
				text_json(v[i].user), "source", text_json(v[i].source), "comment",
				text_json(v[i].comment)));
	call->result = json_pack("{s:o}", "revisions", list);
}

static void add_count(json_t *object, const char *key, uint64_t n)
{
	json_object_set_new(object, key, json_integer((json_int_t)n));
}

static void show_audit(struct daemon *d, struct rpc_call *call)
{
	const struct config *cfg = d->engine.running;
	struct audit_counts c;
	json_t *data;

	if (!need_running(d, call))
		return;
	auditor_counts(d->auditor, &c);
	data = json_pack("{s:b, s:o}", "on", cfg->audit != NULL, "directory",
		text_or_null(cfg->audit ? cfg->audit->directory : NULL));
	add_count(data, "alive", c.alive);
	add_count(data, "started", c.started);
	add_count(data, "ended", c.ended);
	add_count(data, "denied", c.denied);
	add_count(data, "denied-not-recorded", c.denied_omitted);
	add_count(data, "denied-lost", c.denied_lost);
	add_count(data, "overruns", c.overruns);
	add_count(data, "dumps", c.dumps);
	add_count(data, "missing", c.missing);
	add_count(data, "missing-unknown", c.unknown);
	add_count(data, "lines", c.lines);
	add_count(data, "lines-lost", c.lost);
	add_count(data, "bytes", c.bytes);
	add_count(data, "files", c.files);
	add_count(data, "syslog", c.syslog);
	add_count(data, "syslog-lost", c.syslog_lost);
	add_count(data, "ipfix", c.ipfix);
	add_count(data, "ipfix-lost", c.ipfix_lost);
	add_count(data, "malformed", c.malformed);
	call->result = data;
}

static void show_subsystem(struct daemon *d, struct rpc_call *call, const char *what);

static void show_policy(struct daemon *d, struct rpc_call *call)
{
	show_subsystem(d, call, "policy");
	if (!call->result || !d->engine.running->policy)
		return;
	/* The kernel drops these itself, and of IPv6 says nothing. */
	json_object_set_new(call->result, "dropped-overlapping-fragments",
		json_integer((json_int_t)netstat_count("IpExt", "ReasmOverlaps")));
	json_object_set_new(call->result, "scans", scan_watch_json(d->scans));
}

static const struct {
	const char *what;
	void (*show)(struct daemon *d, struct rpc_call *call);
} own_shows[] = {
	{"status", show_status},
	{"config", show_config},
	{"plan", show_plan},
	{"revisions", show_revisions},
	{"audit", show_audit},
	{"policy", show_policy},
};

/* What is not the daemon's own is asked of each subsystem, the last first: it may add to what one before it shows. */
static void show_subsystem(struct daemon *d, struct rpc_call *call, const char *what)
{
	const struct engine *e = &d->engine;
	int r = -ENOENT;

	if (!need_running(d, call))
		return;
	for (size_t i = e->n_subsystems; i-- > 0 && r == -ENOENT;)
		r = e->subsystems[i]->show(what, e->running, &e->facts, &call->result);
	if (r == -ENOENT)
		rpc_error(call, "bad-request", "there is nothing of this name to show");
	else if (r < 0)
		rpc_error(call, "failed", "%s", strerror(-r));
}

static void method_show(void *context, struct rpc_call *call)
{
	const char *what = string_param(call, "what", NULL);

	if (!what) {
		rpc_error(call, "bad-request", "\"what\" has to be a name");
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(own_shows); i++)
		if (str_eq(own_shows[i].what, what)) {
			own_shows[i].show(context, call);
			return;
		}
	show_subsystem(context, call, what);
}

static void method_policy_test(void *context, struct rpc_call *call)
{
	policy_test_answer(context, call);
}

static const struct rpc_method methods[] = {
	{"apply", ROLE_ADMIN, method_apply},
	{"check", ROLE_READER, method_check},
	{"diff", ROLE_READER, method_diff},
	{"plan", ROLE_READER, method_plan},
	{"policy-test", ROLE_READER, method_policy_test},
	{"show", ROLE_READER, method_show},
	{"status", ROLE_READER, method_status},
	{"version", ROLE_READER, method_version},
};

int methods_open(struct daemon *d)
{
	struct buf path = {0};
	int r;

	buf_printf(&path, "%s/fairwayd.sock", d->options->run_dir);
	r = rpc_server_open(d->event, path.data, methods, ARRAY_SIZE(methods), d, &d->rpc);
	buf_free(&path);
	return r;
}
