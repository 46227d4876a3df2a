/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Routing's plan: which daemons start, change and stop, in which order, what is said of it, and what never is. */
/* LINK: tests/lib/config_fixture.c routing/frr_plan.c routing/frr_conf.c routing/frr_delta.c routing/frr_impact.c routing/frr_render.c routing/frr_render_bgp.c routing/frr_render_evpn.c routing/frr_render_policy.c routing/session.c overlay/mtu.c config/config.c config/decode.c config/diag.c config/hint.c config/preset.c config/print.c config/schema.c config/text.c config/types.c config/types_bgp.c config/types_net.c config/types_policy.c config/endpoint.c config/types_text.c config/yaml.c gateway/engine/facts.c gateway/engine/plan.c */
/* LIBS: libfyaml jansson */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "config/config.h"
#include "gateway/base/arena.h"
#include "gateway/base/buf.h"
#include "gateway/base/cleanup.h"
#include "gateway/base/str.h"
#include "gateway/engine/facts.h"
#include "gateway/engine/plan.h"
#include "routing/frr_plan.h"
#include "routing/frr_render.h"
#include "tests/lib/config_fixture.h"

#define HEAD "system: {hostname: gw}\nvtep: {address: 10.255.0.1}\nremotes: [{name: r, vtep: 10.255.1.1, lines: [a]}]\n"
#define LINE "{name: a, interface: eth1, address: 172.31.0.1/30, peer-address: 172.31.0.2"
#define BGP "bgp: {as: 65001}\n"

static const char static_only[] = HEAD "lines: [" LINE "}]\n";
static const char with_bgp[] = HEAD "lines: [" LINE ", bgp: {peer-as: 65101, hold-time: 9s}}]\n" BGP;
static const char with_password[] =
	HEAD "lines: [" LINE ", bgp: {peer-as: 65101, hold-time: 9s, password-file: /s/a.md5}}]\n" BGP;
static const char with_bfd[] = HEAD "lines: [" LINE ", bfd: {interval: 50ms}}]\n";

struct fixture {
	struct facts facts;
	struct frr_observed observed;
	struct plan plan;
};

static void begin(struct fixture *f)
{
	*f = (struct fixture){.observed.arena = test_arena};
	facts_init(&f->facts);
	facts_set_secret(&f->facts, "/s/a.md5", "open-sesame");
	plan_init(&f->plan);
	for (enum frr_daemon d = 0; d < N_FRR_DAEMONS; d++)
		frr_conf_init(&f->observed.daemons[d].conf, test_arena);
}

static void end(struct fixture *f)
{
	plan_free(&f->plan);
	facts_free(&f->facts);
}

/* All daemons run what this config means. */
static void run(struct fixture *f, const char *yaml)
{
	const struct config *cfg = must_parse(yaml);

	frr_render_zebra(cfg, &f->facts, &f->observed.daemons[DAEMON_ZEBRA].conf);
	frr_render_bfdd(cfg, &f->facts, &f->observed.daemons[DAEMON_BFDD].conf);
	frr_render_bgpd(cfg, &f->facts, &f->observed.daemons[DAEMON_BGPD].conf);
	for (enum frr_daemon d = 0; d < N_FRR_DAEMONS; d++)
		f->observed.daemons[d].running = true;
}

static const char *plan_text(struct fixture *f, const char *yaml)
{
	struct buf out = {0};
	const char *copy;

	frr_plan(yaml ? must_parse(yaml) : NULL, &f->facts, &f->observed, &f->plan);
	plan_sort(&f->plan, NULL, 0);
	plan_print(&f->plan, &out);
	copy = arena_strdup(test_arena, buf_str(&out));
	buf_free(&out);
	return copy;
}

static bool before(const char *text, const char *a, const char *b)
{
	const char *at_a = strstr(text, a), *at_b = strstr(text, b);

	return at_a && at_b && at_a < at_b;
}

static void what_needs_no_routing_starts_nothing(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	assert_string_equal(plan_text(&f, static_only), "nothing to do\n");
	end(&f);
}

static void daemons_start_before_they_are_told(void **state)
{
	struct fixture f;
	const char *text;

	(void)state;
	begin(&f);
	text = plan_text(&f, with_bgp);
	assert_true(before(text, "zebra: start", "bfdd: start") && before(text, "bfdd: start", "bgpd: start"));
	assert_true(before(text, "bgpd: start", "neighbor 172.31.0.2 remote-as 65101"));
	assert_non_null(strstr(text, "none interrupts traffic"));
	end(&f);
}

static void bfd_alone_is_a_reason(void **state)
{
	struct fixture f;
	const char *text;

	(void)state;
	begin(&f);
	text = plan_text(&f, with_bfd);
	assert_non_null(strstr(text, "bfdd: start"));
	assert_non_null(strstr(text, "peer 172.31.0.2 local-address 172.31.0.1 interface eth1"));
	end(&f);
}

static void what_runs_as_wanted_is_left_alone(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	run(&f, with_password);
	assert_string_equal(plan_text(&f, with_password), "nothing to do\n");
	end(&f);
}

static void a_dead_daemon_is_a_difference(void **state)
{
	struct fixture f;
	const char *text;

	(void)state;
	begin(&f);
	run(&f, with_bgp);
	f.observed.daemons[DAEMON_BGPD].running = false;
	frr_conf_init(&f.observed.daemons[DAEMON_BGPD].conf, test_arena);
	text = plan_text(&f, with_bgp);
	assert_true(before(text, "bgpd: start", "router bgp 65001"));
	assert_null(strstr(text, "zebra:"));
	end(&f);
}

static void a_password_is_never_said(void **state)
{
	struct fixture f;
	const char *text;

	(void)state;
	begin(&f);
	run(&f, with_bgp);
	text = plan_text(&f, with_password);
	assert_null(strstr(text, "open-sesame"));
	assert_non_null(strstr(text, "neighbor 172.31.0.2 password ***"));
	assert_non_null(strstr(text, "[resets BGP 172.31.0.2]"));
	end(&f);
}

static void only_the_first_change_of_bgpd_is_rehearsed(void **state)
{
	struct fixture f;
	size_t rehearsed = 0, changes = 0;

	(void)state;
	begin(&f);
	(void)plan_text(&f, with_bgp);
	for (size_t i = 0; i < f.plan.n_steps; i++) {
		const struct frr_step *s = f.plan.steps[i].payload;
		bool of_bgpd = s->op == FRR_CHANGE && s->daemon == DAEMON_BGPD;

		assert_true(of_bgpd || !s->rehearse);
		assert_true(changes > 0 || !of_bgpd || s->rehearse);
		changes += of_bgpd;
		rehearsed += s->rehearse != NULL;
	}
	assert_int_equal(rehearsed, 1);
	assert_true(changes > 1);
	end(&f);
}

static void stopping_goes_backwards_and_says_what_ends(void **state)
{
	const char *const wanted[] = {static_only, NULL};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		struct fixture f;
		const char *text;

		begin(&f);
		run(&f, with_bgp);
		f.observed.rehearsal = true;
		text = plan_text(&f, wanted[i]);
		assert_true(before(text, "rehearsal: stop", "bgpd: stop") && before(text, "bgpd: stop", "bfdd: stop") &&
			before(text, "bfdd: stop", "zebra: stop"));
		assert_non_null(strstr(text, "[ends all BGP sessions]"));
		end(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {

		CONFIG_TEST(what_needs_no_routing_starts_nothing),
		CONFIG_TEST(daemons_start_before_they_are_told),
		CONFIG_TEST(bfd_alone_is_a_reason),
		CONFIG_TEST(what_runs_as_wanted_is_left_alone),
		CONFIG_TEST(a_dead_daemon_is_a_difference),
		CONFIG_TEST(a_password_is_never_said),
		CONFIG_TEST(only_the_first_change_of_bgpd_is_rehearsed),
		CONFIG_TEST(stopping_goes_backwards_and_says_what_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
