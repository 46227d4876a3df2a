/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See audit_reader.h. Each turn reads a bounded amount of each kind, so that a dump of a million flows does not keep
 * events waiting, and a flood of denied packets does not keep flows.
 */
#include "gateway/audit/audit_reader.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/netlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "gateway/audit/audit_settings.h"
#include "gateway/audit/audit_sinks.h"
#include "gateway/audit/ct_socket.h"
#include "gateway/audit/deny_record.h"
#include "gateway/audit/flow_json.h"
#include "gateway/audit/json_sink.h"
#include "gateway/audit/tracker.h"
#include "gateway/base/cleanup.h"
#include "gateway/base/str.h"
#include "overlay/procsys.h"

enum { BATCHES_PER_TURN = 32, TICK_MS = 1000, REST_MS = 10 };
static const uint64_t SEC_NS = 1000000000, GRACE_NS = UINT64_C(10) * 1000000000,
		      CHECKPOINT_NS = UINT64_C(60) * 1000000000;
/* How often those are looked for that may end without a word; see tracker.h. */
static const uint64_t UNSURE_NS = UINT64_C(60) * 1000000000;
/* Two dumps are so long apart, so that they do not become all that the thread does. */
static const uint64_t DUMP_PAUSE_NS = UINT64_C(2) * 1000000000;

struct audit_reader {
	struct audit_settings *settings; /* never NULL */
	struct audit_sinks *sinks;
	struct tracker tracker;
	struct deny_record denies;
	void (*on_deny)(const struct deny *deny, void *arg);
	void *on_deny_arg;
	int events, dump, log;
	int error, log_error;
	uint64_t now_ns;	     /* since 1970, of this turn */
	bool rests;		     /* all that was there is read: more may collect for REST_MS */
	uint64_t ticked, checkpoint; /* the same, of the last tick and the last checkpoint */

	bool keeps;	  /* the kernel keeps ends that do not fit */
	uint64_t overrun; /* when the last one was; 0: none that is not told of */
	uint64_t overrun_since, overruns_new;
	bool overrun_unknown; /* while the kernel did not keep them */
	bool wants_dump, dump_whole, has_stale;
	uint64_t dumped; /* when the last dump began */
	uint64_t overruns, dumps, unknown, malformed;

	struct ct_batch batch;
	_Alignas(8) uint8_t room[CT_DUMP_MAX];
};

static uint64_t clock_now(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * SEC_NS + (uint64_t)t.tv_nsec;
}

static void emit(const struct flow *flow, void *arg)
{
	struct audit_reader *r = arg;

	audit_sinks_put(r->sinks, flow, r->now_ns);
}

/* --- how full the kernel's table is --- */

static uint64_t sysctl_number(const char *key)
{
	char text[PROCSYS_VALUE_MAX];

	return procsys_read(key, text) < 0 ? 0 : strtoull(text, NULL, 10);
}

/* While the table fills up, ends that wait for us would take the room of new flows: forwarding comes first. */
static void decide_keeping(struct audit_reader *r)
{
	uint64_t count = sysctl_number("net/netfilter/nf_conntrack_count");
	uint64_t max = sysctl_number("net/netfilter/nf_conntrack_max");
	bool keeps = r->keeps ? count < max / 4 * 3 : count < max / 2;

	if (keeps != r->keeps && ct_socket_keep(r->events, keeps) == 0)
		r->keeps = keeps;
}

/* --- sockets --- */

static void close_flows(struct audit_reader *r)
{
	closep(&r->events);
	closep(&r->dump);
	r->events = r->dump = -1;
	tracker_clear(&r->tracker);
	r->wants_dump = r->has_stale = false;
	r->overrun = 0;
}

static void open_flows(struct audit_reader *r)
{
	r->error = ct_socket_events((size_t)r->settings->buffer, &r->events);
	if (r->error == 0)
		r->error = ct_socket_dump(&r->dump);
	if (r->error < 0) {
		close_flows(r);
		return;
	}
	r->keeps = ct_socket_keep(r->events, true) == 0;
	r->wants_dump = true;
	r->dumped = 0;
}

static void open_log(struct audit_reader *r)
{
	bool wanted = r->settings->on || r->on_deny;

	if (!wanted) {
		closep(&r->log);
		r->log = -1;
	} else if (r->log < 0) {
		r->log_error = ct_socket_log(DENY_GROUP, DENY_COPY, DENY_BUFFER, &r->log);
	}
}

/* Is it another record, in another folder? */
static bool is_other_record(const struct audit_settings *old, const struct audit_settings *new)
{
	return old->on != new->on || !str_eq(old->directory, new->directory);
}

/* The first record of this life, and what is known of the last one. */
static void begin_record(struct audit_reader *r)
{
	char since[FLOW_TIME_LEN + 1];
	static struct flow_clock clock;

	r->checkpoint = r->now_ns;
	r->tracker.started = r->tracker.ended = r->tracker.missing = r->unknown = 0;
	audit_sinks_note(r->sinks, r->now_ns, "begin", ",\"version\":\"" FAIRWAY_VERSION "\"");
	if (r->tracker.recorded_until_ns == 0)
		return;
	flow_time_print(&clock, r->tracker.recorded_until_ns, since);
	audit_sinks_note(r->sinks, r->now_ns, "incomplete",
		",\"reason\":\"not running\",\"since\":\"%s\",\"missing\":null", since);
	r->unknown++;
}

/* A record that begins has what is alive, too; one that goes on with another buffer has it already. */
static void config_flows(struct audit_reader *r, const struct audit_settings *old, bool other)
{
	if (other && r->settings->on)
		begin_record(r);
	if (!other && old->buffer == r->settings->buffer)
		return;
	if (!other)
		r->tracker.recorded_until_ns = r->now_ns;
	close_flows(r);
	if (r->settings->on)
		open_flows(r);
}

void audit_reader_config(struct audit_reader *r, struct audit_settings *settings)
{
	struct audit_settings *old = r->settings;
	bool other = is_other_record(old, settings);

	r->now_ns = clock_now();
	if (other && old->on)
		audit_sinks_note(r->sinks, r->now_ns, "stop", ",\"reason\":\"not configured\"");
	if (other && settings->on)
		r->tracker.recorded_until_ns = json_sink_last_time(settings->directory);
	r->settings = settings;
	audit_sinks_config(r->sinks, old, settings);
	tracker_set_names(&r->tracker, audit_settings_take_names(settings));
	config_flows(r, old, other);
	open_log(r);
	audit_settings_free(old);
}

/* --- flows --- */

static void take_flow(struct audit_reader *r, const void *message, size_t len, bool is_dump)
{
	struct ct_event ct;
	int error = ct_event_parse(message, len, &ct);

	if (error == -EBADMSG)
		r->malformed++;
	if (error < 0)
		return;
	if (is_dump)
		tracker_dump_entry(&r->tracker, &ct, r->now_ns);
	else
		tracker_event(&r->tracker, &ct, r->now_ns);
}

static void take_overrun(struct audit_reader *r)
{
	if (r->overruns_new++ == 0)
		r->overrun_since = r->ticked ? r->ticked : r->now_ns;
	r->overruns++;
	r->overrun = r->now_ns;
	decide_keeping(r);
	r->overrun_unknown |= !r->keeps;
	r->wants_dump = true;
}

static void read_events(struct audit_reader *r)
{
	bool has_rested = r->rests;

	r->rests = false;
	for (size_t i = 0; i < BATCHES_PER_TURN; i++) {
		int n = ct_socket_read(r->events, &r->batch);

		if (n == -ENOBUFS) {
			take_overrun(r);
			continue;
		}
		if (n < 0) {
			r->error = n;
			close_flows(r);
			return;
		}
		r->now_ns = clock_now();
		for (int k = 0; k < n; k++)
			take_flow(r, r->batch.data[k], r->batch.len[k], false);
		if (n < CT_BATCH) {
			/* With nothing at all after a rest, the next event may wake us. */
			r->rests = n > 0 || i > 0 || !has_rested;
			return;
		}
	}
}

/* --- dumps --- */

static void ask_for_dump(struct audit_reader *r)
{
	if (ct_socket_ask(r->dump) < 0)
		return;
	tracker_dump_begin(&r->tracker);
	r->wants_dump = r->has_stale = false;
	r->dump_whole = true;
	r->dumped = r->now_ns;
	r->dumps++;
}

/* The record says what there was: nothing is missing where the kernel kept the ends. */
static void tell_overrun(struct audit_reader *r)
{
	char since[FLOW_TIME_LEN + 1], until[FLOW_TIME_LEN + 1];
	static struct flow_clock clock;

	if (r->overruns_new == 0)
		return;
	flow_time_print(&clock, r->overrun_since, since);
	flow_time_print(&clock, r->overrun, until);
	audit_sinks_note(r->sinks, r->now_ns, r->overrun_unknown ? "incomplete" : "overrun",
		",\"reason\":\"overrun\",\"since\":\"%s\",\"until\":\"%s\",\"overruns\":%" PRIu64 ",\"missing\":%s",
		since, until, r->overruns_new, r->overrun_unknown ? "null" : "0");
	r->unknown += r->overrun_unknown;
	r->overruns_new = 0;
	r->overrun_unknown = false;
}

static void end_dump(struct audit_reader *r)
{
	r->has_stale = tracker_dump_end(&r->tracker, r->dump_whole) > 0;
	if (!r->dump_whole)
		r->wants_dump = true;
	if (!r->wants_dump)
		tell_overrun(r);
}

static void take_dump(struct audit_reader *r, size_t len)
{
	for (size_t at = 0; at + NLMSG_HDRLEN <= len;) {
		struct nlmsghdr h;

		memcpy(&h, r->room + at, sizeof(h));
		if (h.nlmsg_len < NLMSG_HDRLEN || h.nlmsg_len > len - at) {
			r->malformed++;
			return;
		}
		if (h.nlmsg_flags & NLM_F_DUMP_INTR)
			r->dump_whole = false;
		if (h.nlmsg_type == NLMSG_DONE || h.nlmsg_type == NLMSG_ERROR) {
			r->dump_whole &= h.nlmsg_type == NLMSG_DONE;
			end_dump(r);
			return;
		}
		take_flow(r, r->room + at, h.nlmsg_len, true);
		at += NLMSG_ALIGN(h.nlmsg_len);
	}
}

static void read_dump(struct audit_reader *r)
{
	int n = ct_socket_read_dump(r->dump, r->room);

	if (n > 0) {
		take_dump(r, (size_t)n);
	} else if (n < 0) {
		r->dump_whole = false;
		end_dump(r);
	}
}

/* --- denied packets --- */

static void take_denies(struct audit_reader *r, size_t len)
{
	const struct audit_names *names = names_pool_at(&r->tracker.names, r->tracker.names.now);

	for (size_t at = 0; at + NLMSG_HDRLEN <= len;) {
		struct nlmsghdr h;
		struct deny deny;
		struct flow flow;
		int error;

		memcpy(&h, r->room + at, sizeof(h));
		if (h.nlmsg_len < NLMSG_HDRLEN || h.nlmsg_len > len - at) {
			r->malformed++;
			return;
		}
		error = deny_parse(r->room + at, h.nlmsg_len, &deny);
		at += NLMSG_ALIGN(h.nlmsg_len);
		r->malformed += error == -EBADMSG;
		if (error < 0)
			continue;
		if (r->on_deny)
			r->on_deny(&deny, r->on_deny_arg);
		if (r->settings->on &&
			deny_record_take(&r->denies, &deny, names, r->settings->denies_per_second, r->now_ns, &flow))
			audit_sinks_put(r->sinks, &flow, r->now_ns);
	}
}

static void read_log(struct audit_reader *r)
{
	int n = ct_socket_read_dump(r->log, r->room);

	if (n > 0) {
		take_denies(r, (size_t)n);
	} else if (n == -ENOBUFS) {
		r->denies.overruns++;
	} else if (n < 0) {
		r->log_error = n;
		closep(&r->log);
		r->log = -1;
	}
}

static void tell_denies(struct audit_reader *r)
{
	struct deny_omitted omitted;

	if (!deny_record_omitted(&r->denies, &omitted))
		return;
	if (omitted.over_rate > 0)
		audit_sinks_note(r->sinks, r->now_ns, "omitted",
			",\"reason\":\"denies-per-second\",\"denied\":%" PRIu64, omitted.over_rate);
	if (omitted.lost > 0)
		audit_sinks_note(r->sinks, r->now_ns, "incomplete",
			",\"reason\":\"denied packets\",\"missing\":%" PRIu64, omitted.lost);
}

/* --- time --- */

static void tick(struct audit_reader *r)
{
	size_t missing;

	if (r->events < 0)
		open_flows(r);
	open_log(r);
	if (r->events >= 0 && !r->keeps)
		decide_keeping(r);
	/* The ends of those that were in no dump have had their time. */
	if (r->has_stale && r->now_ns >= r->dumped + GRACE_NS && r->now_ns >= r->overrun + GRACE_NS) {
		missing = tracker_drop_stale(&r->tracker);
		r->has_stale = false;
		if (missing > 0)
			audit_sinks_note(r->sinks, r->now_ns, "incomplete",
				",\"reason\":\"ends not told\",\"missing\":%zu", missing);
	}
	if (r->tracker.unsure > 0 && r->now_ns >= r->dumped + UNSURE_NS)
		r->wants_dump = true;
	tell_denies(r);
	if (r->now_ns >= r->checkpoint + CHECKPOINT_NS) {
		r->checkpoint = r->now_ns;
		audit_sinks_note(r->sinks, r->now_ns, "checkpoint",
			",\"started\":%" PRIu64 ",\"ended\":%" PRIu64 ",\"alive\":%zu", r->tracker.started,
			r->tracker.ended, r->tracker.live.n);
	}
	audit_sinks_turn(r->sinks, r->now_ns);
}

int audit_reader_timeout(const struct audit_reader *r)
{
	if (r->rests)
		return REST_MS;
	return r->settings->on || (r->on_deny && r->log < 0) ? TICK_MS : -1;
}

/* To be woken by each event would cost more than to read it: the socket's buffer has room for what comes meanwhile. */
void audit_reader_fds(const struct audit_reader *r, struct pollfd fds[AUDIT_FDS])
{
	fds[0] = (struct pollfd){.fd = r->rests ? -1 : r->events, .events = POLLIN};
	fds[1] = (struct pollfd){.fd = r->dump, .events = POLLIN};
	fds[2] = (struct pollfd){.fd = r->log, .events = POLLIN};
}

void audit_reader_turn(struct audit_reader *r)
{
	r->now_ns = clock_now();
	if (r->events >= 0)
		read_events(r);
	if (r->tracker.dumping)
		read_dump(r);
	else if (r->wants_dump && r->now_ns >= r->dumped + DUMP_PAUSE_NS)
		ask_for_dump(r);
	if (r->log >= 0)
		read_log(r);
	/* A clock that was set back does not stop the ticks. */
	if (r->settings->on && (r->now_ns >= r->ticked + SEC_NS || r->now_ns < r->ticked)) {
		tick(r);
		r->ticked = r->now_ns;
	} else if (r->log < 0) {
		open_log(r);
	}
	audit_sinks_flush(r->sinks);
}

void audit_reader_counts(const struct audit_reader *r, struct audit_counts *ret)
{
	*ret = (struct audit_counts){
		.on = r->settings->on,
		.started = r->tracker.started,
		.ended = r->tracker.ended,
		.alive = r->tracker.live.n,
		.denied = r->denies.seen,
		.denied_omitted = r->denies.omitted,
		.denied_lost = r->denies.lost,
		.overruns = r->overruns,
		.dumps = r->dumps,
		.missing = r->tracker.missing,
		.unknown = r->unknown,
		.malformed = r->malformed,
		.error = r->error ? r->error : r->log_error,
	};
	audit_sinks_counts(r->sinks, ret);
}

/* --- open and close --- */

struct audit_reader *audit_reader_new(void)
{
	struct audit_reader *r = calloc(1, sizeof(*r));
	uint64_t seed = 0;

	if (!r)
		abort();
	(void)!getrandom(&seed, sizeof(seed), GRND_NONBLOCK);
	r->events = r->dump = r->log = -1;
	r->settings = audit_settings_new(NULL);
	r->sinks = audit_sinks_new();
	tracker_init(&r->tracker, seed, emit, r);
	return r;
}

void audit_reader_free(struct audit_reader *r)
{
	r->now_ns = clock_now();
	if (r->settings->on)
		audit_sinks_note(r->sinks, r->now_ns, "stop", ",\"reason\":\"fairwayd ends\"");
	close_flows(r);
	closep(&r->log);
	audit_sinks_free(r->sinks);
	tracker_free(&r->tracker);
	audit_settings_free(r->settings);
	free(r);
}

void audit_reader_on_deny(struct audit_reader *r, void (*fn)(const struct deny *deny, void *arg), void *arg)
{
	r->on_deny = fn;
	r->on_deny_arg = arg;
	open_log(r);
}
