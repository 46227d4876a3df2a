/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From events to records: each flow once, with its names, whatever was lost or came twice; and the line that it is. */
/* LINK: tests/lib/audit_fixture.c tests/lib/config_fixture.c gateway/audit/audit_names.c gateway/audit/ct_event.c gateway/audit/flow.c gateway/audit/flow_json.c gateway/audit/flow_table.c gateway/audit/names_pool.c gateway/audit/totals.c gateway/audit/tracker.c overlay/desired.c overlay/model.c overlay/mtu.c gateway/engine/facts.c config/print.c config/hint.c config/config.c config/decode.c config/diag.c config/schema.c config/text.c config/types.c config/types_bgp.c config/types_net.c config/types_policy.c config/endpoint.c config/types_text.c config/yaml.c */
/* LIBS: libfyaml jansson libmnl */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <jansson.h>
#include <netinet/in.h>

#include "gateway/audit/audit_names.h"
#include "gateway/audit/flow_json.h"
#include "gateway/audit/totals.h"
#include "gateway/audit/tracker.h"
#include "gateway/base/str.h"
#include "tests/lib/audit_fixture.h"
#include "tests/lib/config_fixture.h"

static const uint64_t T0 = UINT64_C(1764583200123456789), SEC = 1000000000;

static const char gateway[] =
	"system: {hostname: gw}\n"
	"interfaces: [{name: eth0, addresses: [10.20.0.2/24, \"fd00:20::2/64\"]}]\n"
	"lines:\n"
	"  - {name: ali-a, interface: eth1, address: 172.31.0.1/30, peer-address: 172.31.0.2}\n"
	"  - {name: ali-b, interface: eth2, address: 172.31.1.1/30, peer-address: 172.31.1.2}\n"
	"vtep: {address: 10.255.0.1}\n"
	"remotes: [{name: bj, vtep: 10.255.1.1, lines: [ali-a]}, {name: sh, vtep: 10.255.2.1, lines: [ali-a, ali-b]}]\n"
	"tenants: [{name: training, table: 1001}, {name: web, table: 1002}]\n"
	"segments:\n"
	"  - {name: gpu, vni: 10010, mode: bridged, tenant: training, gateway: [10.99.1.1/24], remotes: [bj]}\n"
	"  - {name: storage, vni: 10020, mode: routed, tenant: training, remotes: [bj],\n"
	"     routes: [{prefix: 10.98.0.0/16, via: 10.98.0.1}]}\n"
	"  - {name: both, vni: 10030, mode: routed, remotes: [sh]}\n"
	"  - {name: web, vni: 10040, mode: bridged, tenant: web, gateway: [10.50.0.1/24]}\n"
	"  - {name: web2, vni: 10050, mode: bridged, gateway: [10.50.0.1/24]}\n"
	"routes: [{prefix: 10.77.0.0/16, via: 10.20.0.9}]\n";

/* --- names --- */

static const struct audit_place *at(const struct audit_names *names, const char *address)
{
	struct ct_tuple t = tuple_of(address, 0, address, 0, 0);

	return audit_names_at_address(names, t.family, t.src);
}

static void test_names(void **state)
{
	struct audit_names *n = audit_names_new(must_parse(gateway));

	(void)state;
	assert_string_equal(at(n, "10.99.1.200")->segment, "gpu");
	assert_string_equal(at(n, "10.99.1.200")->tenant, "training");
	assert_string_equal(at(n, "172.31.0.2")->line, "ali-a");
	assert_string_equal(at(n, "fd00:20::77")->interface, "eth0");
	assert_string_equal(at(n, "10.77.3.4")->interface, "eth0");
	assert_string_equal(at(n, "10.98.3.4")->segment, "storage");
	/* Two segments have it: the address does not tell. */
	assert_null(at(n, "10.50.0.9"));
	assert_null(at(n, "192.0.2.1"));
	assert_string_equal(audit_names_at_interface(n, "br10040")->tenant, "web");
	assert_string_equal(audit_names_at_interface(n, "vx10020")->line, "ali-a");
	assert_null(audit_names_at_interface(n, "vx10030")->line);
	assert_null(audit_names_at_interface(n, "vx10010")->line);
	assert_string_equal(audit_names_at_interface(n, "vrf-web")->tenant, "web");
	assert_null(audit_names_at_interface(n, "eth7"));
	assert_string_equal(audit_names_at_label(n, audit_label_of("eth2"))->line, "ali-b");
	assert_null(audit_names_at_label(n, 0));
	audit_names_free(n);
}

/* --- the tracker --- */

struct seen {
	unsigned starts, ends;
	struct flow last; /* its names are good until the tracker is told more */
	char segment[64];
	char line[FLOW_JSON_MAX + 1];
};

static void take(const struct flow *flow, void *arg)
{
	struct flow_clock clock = {0};
	struct seen *s = arg;

	s->starts += flow->event == FLOW_START;
	s->ends += flow->event == FLOW_END;
	s->last = *flow;
	(void)snprintf(
		s->segment, sizeof(s->segment), "%s", flow->from && flow->from->segment ? flow->from->segment : "");
	s->line[flow_json(&clock, flow, s->line)] = '\0';
}

static struct ct_event event(enum ct_kind kind, unsigned i)
{
	return (struct ct_event){
		.kind = kind,
		.orig = tuple_of("10.99.1.2", 1024 + i, "10.98.0.2", 443, IPPROTO_TCP),
		.reply = tuple_of("10.98.0.2", 443, "10.99.1.2", 1024 + i, IPPROTO_TCP),
		.id = i,
		.mark = 10,
		.has_counters = kind == CT_END,
		.packets = {kind == CT_END ? 5 : 0, kind == CT_END ? 4 : 0},
		.bytes = {kind == CT_END ? 500 : 0, kind == CT_END ? 4000 : 0},
		.start_ns = T0,
		.stop_ns = kind == CT_END ? T0 + 3 * SEC / 2 : 0,
	};
}

static void setup(struct tracker *t, struct seen *seen)
{
	*seen = (struct seen){0};
	tracker_init(t, 42, take, seen);
	tracker_set_names(t, audit_names_new(must_parse(gateway)));
}

static void feed(struct tracker *t, enum ct_kind kind, unsigned i)
{
	struct ct_event ct = event(kind, i);

	tracker_event(t, &ct, T0 + SEC);
}

static void dump(struct tracker *t, unsigned i)
{
	struct ct_event ct = event(CT_NEW, i);

	tracker_dump_entry(t, &ct, T0 + SEC);
}

static void test_start_and_end(void **state)
{
	struct tracker t;
	struct seen seen;

	(void)state;
	setup(&t, &seen);
	feed(&t, CT_NEW, 1);
	assert_string_equal(seen.line,
		"{\"time\":\"2025-12-01T10:00:00.123456Z\",\"event\":\"start\",\"id\":1,\"proto\":\"tcp\","
		"\"from\":\"10.99.1.2\",\"from-port\":1025,\"to\":\"10.98.0.2\",\"to-port\":443,\"tenant\":"
		"\"training\","
		"\"from-segment\":\"gpu\",\"to-segment\":\"storage\",\"to-line\":\"ali-a\",\"from-interface\":"
		"\"br10010\","
		"\"to-interface\":\"vx10020\",\"rule\":10}\n");
	feed(&t, CT_NEW, 1);
	assert_int_equal(seen.starts, 1);
	feed(&t, CT_END, 1);
	assert_int_equal(seen.ends, 1);
	assert_string_equal(strstr(seen.line, ",\"start\""),
		",\"start\":\"2025-12-01T10:00:00.123456Z\",\"duration\":1.500000,\"packets\":5,\"bytes\":500,"
		"\"reply-packets\":4,\"reply-bytes\":4000}\n");
	assert_int_equal(t.live.n, 0);
	tracker_free(&t);
}

/* What nobody told of at its start has a start and an end all the same. */
static void test_lost_start(void **state)
{
	struct tracker t;
	struct seen seen;

	(void)state;
	setup(&t, &seen);
	feed(&t, CT_END, 1);
	assert_int_equal(seen.starts, 1);
	assert_int_equal(seen.ends, 1);
	assert_int_equal(seen.last.packets[1], 4);
	/* Of an earlier life: its start is in the record. */
	t.recorded_until_ns = T0 + 1;
	feed(&t, CT_END, 2);
	assert_int_equal(seen.starts, 1);
	assert_int_equal(seen.ends, 2);
	tracker_free(&t);
}

static void test_dump(void **state)
{
	struct tracker t;
	struct seen seen;

	(void)state;
	setup(&t, &seen);
	for (unsigned i = 1; i <= 5; i++)
		feed(&t, CT_NEW, i);
	/* 1 ended and nobody told, 2 lives, 3 ends while the dump runs and is in it, 6 began and nobody told; 4 ended,
	 * and its end comes late; 7 begins while the dump runs. */
	tracker_dump_begin(&t);
	feed(&t, CT_END, 3);
	feed(&t, CT_NEW, 7);
	dump(&t, 2);
	dump(&t, 3);
	dump(&t, 5);
	dump(&t, 6);
	assert_int_equal(tracker_dump_end(&t, true), 2);
	assert_int_equal(seen.starts, 7);
	assert_int_equal(seen.ends, 1);
	feed(&t, CT_END, 4);
	assert_int_equal(t.unsure, 1);
	assert_int_equal(tracker_drop_stale(&t), 1);
	assert_int_equal(t.missing, 1);
	assert_int_equal(t.live.n, 4);
	for (unsigned i = 2; i <= 7; i += i == 2 ? 3 : 1)
		feed(&t, CT_END, i);
	assert_int_equal(seen.starts, 7);
	assert_int_equal(seen.ends, 6);
	assert_int_equal(t.live.n, 0);
	assert_int_equal(t.unsure, 0);
	tracker_free(&t);
}

/* A dump that may lack some ends nothing. */
static void test_interrupted_dump(void **state)
{
	struct tracker t;
	struct seen seen;

	(void)state;
	setup(&t, &seen);
	feed(&t, CT_NEW, 1);
	tracker_dump_begin(&t);
	assert_int_equal(tracker_dump_end(&t, false), 0);
	assert_int_equal(tracker_drop_stale(&t), 0);
	assert_int_equal(t.live.n, 1);
	tracker_free(&t);
}

/* A flow keeps the names of its start. */
static void test_names_of_the_start(void **state)
{
	struct tracker t;
	struct seen seen;

	(void)state;
	setup(&t, &seen);
	feed(&t, CT_NEW, 1);
	for (unsigned i = 0; i < 100; i++)
		tracker_set_names(&t, audit_names_new(must_parse("system: {hostname: gw}\n")));
	assert_true(t.names.n <= 3);
	feed(&t, CT_NEW, 2);
	assert_null(seen.last.from);
	feed(&t, CT_END, 1);
	assert_string_equal(seen.segment, "gpu");
	tracker_free(&t);
}

/* The label decides, also against the addresses; an end that it does not name is this gateway. */
static void test_label(void **state)
{
	struct ct_event ct = event(CT_NEW, 1);
	uint64_t in = audit_label_of("br10040"), out = audit_label_of("eth2");
	struct tracker t;
	struct seen seen;

	(void)state;
	setup(&t, &seen);
	ct.has_label = true;
	memcpy(ct.label, &in, 8);
	memcpy(ct.label + 8, &out, 8);
	tracker_event(&t, &ct, T0);
	assert_string_equal(seen.last.from->segment, "web");
	assert_string_equal(seen.last.to->line, "ali-b");
	ct.id = 2;
	memset(ct.label + 8, 0, 8);
	tracker_event(&t, &ct, T0);
	assert_string_equal(seen.last.from->tenant, "web");
	assert_null(seen.last.to);
	tracker_free(&t);
}

static uint64_t rolls;

static unsigned roll(unsigned n)
{
	rolls = rolls * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned)(rolls >> 33) % n;
}

/*
 * A kernel of some flows whose events get lost, with dumps between: after the last end, starts and ends are equal but
 * for the missing, and no flow started twice.
 */
static void test_random(void **state)
{
	enum { FLOWS = 300, STEPS = 20000 };
	static struct {
		bool alive, told;
		unsigned generation;
	} k[FLOWS];
	struct tracker t;
	struct seen seen;
	unsigned began = 0, lost_ends = 0;

	(void)state;
	setup(&t, &seen);
	for (unsigned s = 0; s < STEPS; s++) {
		unsigned i = roll(FLOWS);
		bool lost = roll(10) == 0;

		k[i].alive = !k[i].alive;
		if (k[i].alive) {
			k[i].generation++;
			k[i].told = !lost;
			began++;
		}
		if (!lost)
			feed(&t, k[i].alive ? CT_NEW : CT_END, i + FLOWS * k[i].generation);
		else if (!k[i].alive)
			lost_ends++;
		if (s % 1000 == 999 || s + 1 == STEPS) {
			tracker_dump_begin(&t);
			for (unsigned f = 0; f < FLOWS; f++)
				if (k[f].alive)
					dump(&t, f + FLOWS * k[f].generation);
			(void)tracker_dump_end(&t, true);
			(void)tracker_drop_stale(&t);
		}
	}
	for (unsigned f = 0; f < FLOWS; f++)
		if (k[f].alive)
			feed(&t, CT_END, f + FLOWS * k[f].generation);
	assert_int_equal(t.live.n, 0);
	assert_int_equal(t.unsure, 0);
	assert_int_equal(seen.starts, seen.ends + t.missing);
	/* Flows of which both events were lost between two dumps are the only ones without a record. */
	assert_true(seen.starts <= began && seen.starts + lost_ends >= began);
	tracker_free(&t);
}

/* --- the table against a plain array --- */

static void test_table(void **state)
{
	enum { KEYS = 4000 };
	static bool has[KEYS];
	struct flow_table t = {.seed = 7};
	size_t n = 0;

	(void)state;
	for (unsigned s = 0; s < 200000; s++) {
		unsigned i = roll(s < 100000 ? KEYS : KEYS / 50);
		uint64_t key = ((uint64_t)(i % 64) << 40 | i) + 1; /* many with the same home */
		struct flow_entry *e = flow_table_find(&t, key);
		bool added;

		assert_int_equal(e != NULL, has[i]);
		if (e) {
			assert_int_equal(e->rule, i);
			flow_table_remove(&t, e);
		} else {
			flow_table_add(&t, key, &added)->rule = i;
			assert_true(added);
		}
		has[i] = !has[i];
		n += has[i] ? 1 : (size_t)-1;
		assert_int_equal(t.n, n);
	}
	flow_table_free(&t);
}

/* --- the line --- */

static void test_lines_are_json(void **state)
{
	static const char *const names[] = {
		"a", "training-cluster.with_the-longest-name-that-a-config-may-give-0123456"};
	struct flow_clock clock = {0};
	char line[FLOW_JSON_MAX];

	(void)state;
	for (unsigned i = 0; i < 20000; i++) {
		const char *name = names[roll(2)];
		struct audit_place place = {name, name, name, "eth0.100@x"};
		bool v6 = roll(2);
		const char *a = v6 ? "fd00:1111:2222:3333:4444:5555:6666:7777" : "255.255.255.255";
		const char *b = v6 ? "fd00::1" : "0.0.0.0";
		uint8_t proto = roll(2) ? (uint8_t)roll(256) : v6 ? IPPROTO_ICMPV6 : IPPROTO_TCP;
		struct flow f = {
			.event = (enum flow_event)roll(4),
			.orig = tuple_of(a, roll(65536), b, roll(65536), proto),
			.reply = tuple_of(roll(2) ? a : b, roll(65536), a, roll(65536), proto),
			.id = UINT32_MAX,
			.from = roll(2) ? &place : NULL,
			.to = roll(2) ? &place : NULL,
			.rule = roll(3) * 500000,
			.rule_name = roll(2) ? name : NULL,
			.verdict = roll(2) ? "default" : NULL,
			.denied = roll(2),
			.has_counters = roll(2),
			.packets = {INT64_MAX, INT64_MAX},
			.bytes = {INT64_MAX, INT64_MAX},
			.start_ns = roll(2) ? UINT64_MAX
				: roll(2)   ? T0
					    : 0,
			.end_ns = T0,
		};
		size_t len = flow_json(&clock, &f, line);
		json_error_t error;
		json_t *json;

		assert_true(len <= FLOW_JSON_MAX && line[len - 1] == '\n');
		json = json_loadb(line, len - 1, JSON_REJECT_DUPLICATES, &error);
		if (!json)
			print_error("%.*s: %s\n", (int)len, line, error.text);
		assert_non_null(json);
		assert_string_equal(json_string_value(json_object_get(json, "from")), a);
		json_decref(json);
	}
}

static void test_time(void **state)
{
	struct flow_clock clock = {0};
	char text[FLOW_TIME_LEN + 1];
	uint64_t ns;

	(void)state;
	flow_time_print(&clock, T0, text);
	assert_string_equal(text, "2025-12-01T10:00:00.123456Z");
	assert_int_equal(flow_time_parse(text, &ns), 0);
	assert_true(ns == T0 / 1000 * 1000);
	assert_int_equal(flow_time_parse("2025-12-01", &ns), 0);
	assert_true(ns == (T0 / SEC - 36000) * SEC);
	assert_int_equal(flow_time_parse("2025-12-01T10:00", &ns), 0);
	assert_true(ns == T0 / SEC * SEC);
	assert_int_equal(flow_time_parse("2025-12-01T10:00:00.5", &ns), 0);
	assert_true(ns == T0 / SEC * SEC + SEC / 2);
	assert_int_equal(flow_time_parse("yesterday", &ns), -EINVAL);
	assert_int_equal(flow_time_parse("2025-12-01 10:00", &ns), -EINVAL);
	assert_int_equal(flow_time_parse("", &ns), -EINVAL);
}

static void test_totals(void **state)
{
	struct totals t = {0};
	struct total **sorted;
	char key[16];

	(void)state;
	for (unsigned i = 0; i < 1000; i++) {
		(void)snprintf(key, sizeof(key), "k%u", i % 100);
		totals_at(&t, key)->bytes += i % 100;
		totals_at(&t, key)->flows++;
	}
	assert_int_equal(t.n, 100);
	sorted = totals_sorted(&t);
	assert_string_equal(sorted[0]->key, "k99");
	assert_int_equal(sorted[0]->bytes, 990);
	assert_int_equal(sorted[99]->bytes, 0);
	free(sorted);
	totals_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CONFIG_TEST(test_names),
		CONFIG_TEST(test_start_and_end),
		CONFIG_TEST(test_lost_start),
		CONFIG_TEST(test_dump),
		CONFIG_TEST(test_interrupted_dump),
		CONFIG_TEST(test_names_of_the_start),
		CONFIG_TEST(test_label),
		CONFIG_TEST(test_random),
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_lines_are_json),
		cmocka_unit_test(test_time),
		cmocka_unit_test(test_totals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
