/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The delta of two configurations: its rules one by one, and random pairs on a model of FRR that takes commands as the
 * daemon does. That the real one does so is seen by tests/net/test_frr_delta.py.
 */
/* LINK: routing/frr_conf.c routing/frr_delta.c routing/frr_impact.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gateway/base/arena.h"
#include "gateway/base/buf.h"
#include "gateway/base/cleanup.h"
#include "gateway/base/str.h"
#include "routing/frr_conf.h"
#include "routing/frr_impact.h"

static void parse(const char *text, struct arena *arena, struct frr_conf *conf)
{
	frr_conf_init(conf, arena);
	assert_int_equal(frr_conf_parse(text, strlen(text), conf), 0);
}

/* The commands with what is around them: "router bgp 1 > address-family ipv4 unicast > network ...", one a line. */
static void print_delta(const struct frr_delta *d, struct arena *arena, struct buf *out)
{
	for (size_t i = 0; i < d->n; i++) {
		const char *impact = frr_impact(&d->v[i], arena);

		for (const char *const *up = d->v[i].context; *up; up++)
			buf_printf(out, "%s > ", *up);
		buf_printf(out, "%s", d->v[i].command);
		if (impact)
			buf_printf(out, " [%s]", impact);
		buf_putc(out, '\n');
	}
}

static void assert_delta(const char *have_text, const char *want_text, const char *expected)
{
	_cleanup_(arena_freep) struct arena *arena = arena_new();
	_cleanup_(buf_free) struct buf out = {0};
	struct frr_conf have, want;
	struct frr_delta d;

	parse(have_text, arena, &have);
	parse(want_text, arena, &want);
	frr_delta(&want, &have, arena, &d);
	print_delta(&d, arena, &out);
	assert_string_equal(buf_str(&out), expected);
}

#define BGP(lines) "router bgp 1\n" lines "exit\n"
#define IPV4(lines) BGP(" address-family ipv4 unicast\n" lines " exit-address-family\n")
#define MAP(header, lines) "route-map " header "\n" lines "exit\n"

static void test_values(void **state)
{
	(void)state;
	assert_delta("", "", "");
	assert_delta(BGP(" neighbor a remote-as 2\n"), BGP(" neighbor a remote-as 2\n"), "");
	/* The order of lines means nothing. */
	assert_delta(BGP(" neighbor a remote-as 2\n neighbor b remote-as 2\n"),
		BGP(" neighbor b remote-as 2\n neighbor a remote-as 2\n"), "");
	assert_delta(BGP(" neighbor a timers 3 9\n neighbor a timers connect 1\n"),
		BGP(" neighbor a timers connect 2\n neighbor a timers 4 12\n"),
		"router bgp 1 > neighbor a timers connect 2\n"
		"router bgp 1 > neighbor a timers 4 12 [BGP a uses it from its next session]\n");
	assert_delta(IPV4("  neighbor a route-map X in\n  neighbor a route-map X out\n"),
		IPV4("  neighbor a route-map Y in\n  neighbor a route-map X out\n"),
		"router bgp 1 > address-family ipv4 unicast > neighbor a route-map Y in\n");
	assert_delta(BGP(" no bgp network import-check\n"), BGP(" bgp log-neighbor-changes\n"),
		"router bgp 1 > bgp network import-check\n"
		"router bgp 1 > bgp log-neighbor-changes\n");
	assert_delta("bfd\n peer a\n  detect-multiplier 5\n  transmit-interval 50\n exit\nexit\n",
		"bfd\n peer a\n  transmit-interval 60\n exit\nexit\n",
		"bfd > peer a > detect-multiplier 3\n"
		"bfd > peer a > transmit-interval 60\n");
}

static void test_sessions(void **state)
{
	static const char two[] = BGP(" neighbor a remote-as 2\n neighbor a password x\n neighbor b remote-as 2\n"
				      " address-family ipv4 unicast\n  neighbor a activate\n  neighbor b activate\n"
				      " exit-address-family\n");
	static const char one[] = BGP(" neighbor b remote-as 2\n"
				      " address-family ipv4 unicast\n  neighbor b activate\n exit-address-family\n");

	(void)state;
	/* One command; and what comes with a new session resets none. */
	assert_delta(two, one, "router bgp 1 > no neighbor a [ends BGP a]\n");
	assert_delta(one, two,
		"router bgp 1 > neighbor a remote-as 2\n"
		"router bgp 1 > neighbor a password x\n"
		"router bgp 1 > address-family ipv4 unicast > neighbor a activate\n");
	/* `a` is no prefix of `ab`. */
	assert_delta(BGP(" neighbor a remote-as 2\n neighbor ab remote-as 2\n neighbor ab bfd\n"),
		BGP(" neighbor ab remote-as 2\n"),
		"router bgp 1 > no neighbor ab bfd\nrouter bgp 1 > no neighbor a [ends BGP a]\n");
	/* Another kind of session with the same name is another session. */
	assert_delta(BGP(" neighbor a interface remote-as 2\n neighbor a bfd\n"),
		BGP(" neighbor a remote-as 2\n neighbor a bfd\n"),
		"router bgp 1 > no neighbor a [ends BGP a]\n"
		"router bgp 1 > neighbor a remote-as 2\nrouter bgp 1 > neighbor a bfd\n");
	assert_delta(BGP(" neighbor a remote-as 2\n"), BGP(" neighbor a remote-as 3\n neighbor a password x\n"),
		"router bgp 1 > neighbor a remote-as 3 [resets BGP a]\n"
		"router bgp 1 > neighbor a password x [resets BGP a]\n");
}

static void test_nodes(void **state)
{
	(void)state;
	assert_delta("", "bfd\nexit\n", "bfd\n");
	assert_delta("bfd\n peer a\n exit\nexit\n", "", "no bfd [ends all BFD sessions]\n");
	assert_delta(
		"bfd\n peer a\n  transmit-interval 50\n exit\nexit\n", "bfd\nexit\n", "bfd > no peer a [ends BFD a]\n");
	/* Another AS is another speaker: all is new. */
	assert_delta(BGP(" neighbor a remote-as 2\n"), "router bgp 9\n neighbor a remote-as 2\nexit\n",
		"no router bgp 1 [ends all BGP sessions]\n"
		"router bgp 9\n"
		"router bgp 9 > neighbor a remote-as 2\n");
	/* An address family cannot be removed, and a session's `activate` goes last. */
	assert_delta(BGP(" neighbor a remote-as 2\n address-family ipv6 unicast\n  neighbor a activate\n"
			 "  neighbor a route-map X in\n exit-address-family\n"),
		BGP(" neighbor a remote-as 2\n"),
		"router bgp 1 > address-family ipv6 unicast > no neighbor a route-map X in\n"
		"router bgp 1 > address-family ipv6 unicast > no neighbor a activate [resets BGP a]\n");
	assert_delta(MAP("X permit 10", " set metric 5\n"), MAP("X deny 10", " set metric 6\n"),
		"route-map X deny 10\nroute-map X deny 10 > set metric 6\n");
	assert_delta(MAP("X permit 10", " set as-path prepend 1 1\n description a\n on-match goto 20\n"),
		MAP("X permit 10", ""),
		"route-map X permit 10 > no on-match next\n"
		"route-map X permit 10 > no description\n"
		"route-map X permit 10 > no set as-path prepend\n");
}

static void test_order(void **state)
{
	static const char users[] = IPV4("  neighbor a route-map X in\n")
		MAP("X permit 10", " match community C\n") "bgp community-list standard C seq 5 permit 1:1\n";

	(void)state;
	assert_delta("", users,
		"bgp community-list standard C seq 5 permit 1:1\n"
		"route-map X permit 10\n"
		"route-map X permit 10 > match community C\n"
		"router bgp 1\n"
		"router bgp 1 > address-family ipv4 unicast\n"
		"router bgp 1 > address-family ipv4 unicast > neighbor a route-map X in\n");
	assert_delta(users, "",
		"no router bgp 1 [ends all BGP sessions]\n"
		"no route-map X permit 10\n"
		"no bgp community-list standard C seq 5 permit 1:1\n");
	/* What excludes each other: the old one goes first. In a route map the new match comes first. */
	assert_delta(BGP(" neighbor a ebgp-multihop 4\n"), BGP(" neighbor a ttl-security hops 2\n"),
		"router bgp 1 > no neighbor a ebgp-multihop 4 [resets BGP a]\n"
		"router bgp 1 > neighbor a ttl-security hops 2 [resets BGP a]\n");
	assert_delta(MAP("X permit 10", " match community C\n"), MAP("X permit 10", " match as-path A\n"),
		"route-map X permit 10 > match as-path A\n"
		"route-map X permit 10 > no match community C\n");
}

static void test_lists(void **state)
{
	(void)state;
	assert_delta("ip prefix-list L seq 5 permit 10.0.0.0/8\n", "ip prefix-list L seq 5 deny 11.0.0.0/8 le 24\n",
		"ip prefix-list L seq 5 deny 11.0.0.0/8 le 24\n");
	/* FRR ignores an entry that the list has in another place: that one goes first. */
	assert_delta("ip prefix-list L seq 5 permit 10.0.0.0/8\nip prefix-list L seq 10 permit 11.0.0.0/8\n",
		"ip prefix-list L seq 5 permit 11.0.0.0/8\nip prefix-list L seq 10 permit 10.0.0.0/8\n",
		"no ip prefix-list L seq 10 permit 11.0.0.0/8\n"
		"no ip prefix-list L seq 5 permit 10.0.0.0/8\n"
		"ip prefix-list L seq 5 permit 11.0.0.0/8\n"
		"ip prefix-list L seq 10 permit 10.0.0.0/8\n");
	/* In another list it is no trouble. */
	assert_delta("ip prefix-list L seq 5 permit 10.0.0.0/8\n", "ip prefix-list M seq 10 permit 10.0.0.0/8\n",
		"ip prefix-list M seq 10 permit 10.0.0.0/8\nno ip prefix-list L seq 5 permit 10.0.0.0/8\n");
}

/* ---- random pairs -------------------------------------------------------------------------------------------------
 */

/* The model: a set of settings by key. FRR takes a line as the new value of its key, and `no` and the line ends it. */
enum { SEQS = 4, PREFIXES = 4, PEERS = 3, MAPS = 3 };

struct model {
	int list[SEQS]; /* prefix of the entry; 0: none */
	int remote_as[PEERS], timers[PEERS], active[PEERS];
	int map[MAPS], metric[MAPS]; /* map: 0 none, 1 permit, 2 deny */
};

static struct model random_model(void)
{
	struct model m = {0};

	for (int p = 1; p <= PREFIXES; p++) { /* no prefix twice: FRR would not have it */
		int seq = rand() % (2 * SEQS);

		if (seq < SEQS)
			m.list[seq] = p;
	}
	for (int i = 0; i < PEERS; i++) {
		m.remote_as[i] = rand() % 3;
		m.timers[i] = m.remote_as[i] ? rand() % 3 : 0;
		m.active[i] = m.remote_as[i] ? rand() % 2 : 0;
	}
	for (int i = 0; i < MAPS; i++) {
		m.map[i] = rand() % 3;
		m.metric[i] = m.map[i] ? rand() % 3 : 0;
	}
	return m;
}

static void render(const struct model *m, struct frr_conf *conf)
{
	struct frr_node *bgp = frr_block(conf, &conf->root, NULL, "router bgp 1"), *family = NULL;

	for (int i = 0; i < PEERS; i++) {
		if (m->remote_as[i])
			(void)frr_add(conf, bgp, NULL, "neighbor p%d remote-as %d", i, m->remote_as[i]);
		if (m->timers[i])
			(void)frr_add(conf, bgp, NULL, "neighbor p%d timers %d 9", i, m->timers[i]);
	}
	for (int i = 0; i < PEERS; i++) {
		if (m->active[i] && !family)
			family = frr_block(conf, bgp, NULL, "address-family ipv4 unicast");
		if (m->active[i])
			(void)frr_add(conf, family, NULL, "neighbor p%d activate", i);
	}
	for (int i = 0; i < SEQS; i++)
		if (m->list[i])
			(void)frr_add(
				conf, &conf->root, NULL, "ip prefix-list L seq %d permit 10.%d.0.0/16", i, m->list[i]);
	for (int i = 0; i < MAPS; i++) {
		struct frr_node *map;

		if (!m->map[i])
			continue;
		map = frr_block(conf, &conf->root, NULL, "route-map X %s %d", m->map[i] == 1 ? "permit" : "deny", i);
		if (m->metric[i])
			(void)frr_add(conf, map, NULL, "set metric %d", m->metric[i]);
	}
}

/* The delta's own words: their numbers are small. */
__attribute__((format(scanf, 2, 3))) static int scan(const char *text, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsscanf(text, fmt, ap);
	va_end(ap);
	return n;
}

static void apply_list(struct model *m, bool no, int seq, int prefix)
{
	if (no) {
		assert_int_equal(m->list[seq], prefix);
		m->list[seq] = 0;
		return;
	}
	for (int i = 0; i < SEQS; i++)
		if (m->list[i] == prefix)
			return; /* silently ignored */
	m->list[seq] = prefix;
}

static void apply_map(struct model *m, const struct frr_change *c, bool no, const char *command)
{
	char action[8];
	int seq, value;

	if (scan(c->context[0] ? c->context[0] : command, "route-map X %7s %d", action, &seq) != 2)
		fail_msg("not a command of the model: %s", c->command);
	m->map[seq] = strcmp(action, "permit") == 0 ? 1 : 2;
	if (!c->context[0] && no)
		m->map[seq] = m->metric[seq] = 0;
	else if (c->context[0] && scan(command, "set metric %d", &value) == 1)
		m->metric[seq] = no ? 0 : value;
}

static void apply_bgp(struct model *m, bool no, const char *command)
{
	int peer, value, end = 0;

	if (scan(command, "neighbor p%d%n", &peer, &end) < 1)
		return; /* a node */
	command += end;
	if (no && *command == '\0') {
		m->remote_as[peer] = m->timers[peer] = m->active[peer] = 0;
	} else if (scan(command, " remote-as %d", &value) == 1) {
		m->remote_as[peer] = value;
	} else {
		assert_true(m->remote_as[peer] != 0); /* FRR refuses the rest of a session that is none */
		if (scan(command, " timers %d", &value) == 1)
			m->timers[peer] = no ? 0 : value;
		else
			m->active[peer] = !no;
	}
}

static void apply(struct model *m, const struct frr_change *c)
{
	bool no = str_starts(c->command, "no ");
	const char *command = c->command + (no ? strlen("no ") : 0);
	int seq, prefix;

	if (scan(command, "ip prefix-list L seq %d permit 10.%d.", &seq, &prefix) == 2)
		apply_list(m, no, seq, prefix);
	else if (str_starts(c->context[0] ? c->context[0] : command, "route-map "))
		apply_map(m, c, no, command);
	else
		apply_bgp(m, no, command);
}

static void test_random_pairs(void **state)
{
	(void)state;
	srand(11);
	for (int round = 0; round < 3000; round++) {
		_cleanup_(arena_freep) struct arena *arena = arena_new();
		struct model have = random_model(), want = random_model();
		struct frr_conf have_conf, want_conf;
		struct frr_delta d;

		frr_conf_init(&have_conf, arena);
		frr_conf_init(&want_conf, arena);
		render(&have, &have_conf);
		render(&want, &want_conf);
		frr_delta(&want_conf, &have_conf, arena, &d);
		for (size_t i = 0; i < d.n; i++)
			apply(&have, &d.v[i]);
		if (memcmp(&have, &want, sizeof(have)) != 0) {
			_cleanup_(buf_free) struct buf out = {0};

			print_delta(&d, arena, &out);
			fail_msg("round %d:\n%s", round, buf_str(&out));
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_sessions),
		cmocka_unit_test(test_nodes),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_random_pairs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
