/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any pair of generated configs (a, b): plan(nothing -> a) applied on the fake kernel, then nothing is left; plan(a ->
 * b) applied, then nothing is left; and plan(a -> b) has no step about a segment that is the same in both. With a step
 * that fails in between, the next plan still leads to a or to b; back at a, all MTUs are what they were.
 */
/* LINK: tests/lib/overlay_fixture.c tests/lib/fake_kernel.c overlay/mtu.c overlay/model.c overlay/desired.c overlay/overlay_plan.c overlay/link_plan.c overlay/overlay_check.c overlay/interface_check.c overlay/segment_check.c overlay/address_check.c config/config.c config/decode.c config/diag.c config/hint.c config/schema.c config/text.c config/types.c config/types_bgp.c config/types_net.c config/types_policy.c config/endpoint.c config/types_text.c config/yaml.c gateway/engine/facts.c gateway/engine/plan.c */
/* LIBS: libfyaml jansson */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "config/config.h"
#include "gateway/base/arena.h"
#include "gateway/base/str.h"
#include "overlay/overlay.h"
#include "tests/lib/overlay_fixture.h"

enum { N_PAIRS = 400, MAX_SEGMENTS = 6 };

/* --- generating --- */

static uint64_t seed;

/* xorshift: the same pairs on every machine; a failure names its seed. */
static unsigned any(unsigned below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (unsigned)(seed >> 33) % below;
}

/* One segment as text, or none. Each has numbers and interfaces of its own, so that every mixture is right. */
struct world {
	bool tenants;
	unsigned port;
	unsigned line_mtu;
	bool second_line; /* in service */
	bool v6_vtep;
	unsigned vtep;
	char segments[MAX_SEGMENTS][512];
	unsigned order[MAX_SEGMENTS]; /* their place in the file */
};

static void generate_segment(const struct world *w, unsigned i, char ret[512])
{
	static const char *const dfs[] = {"inherit", "set", "unset"};
	bool bridged = any(2), v6 = any(3) == 0;
	struct buf b = {0};

	ret[0] = '\0';
	if (any(4) == 0)
		return;
	buf_printf(&b, "  - {name: s%u, vni: %u, mode: %s", i, 100 * (i + 1) + any(2), bridged ? "bridged" : "routed");
	if (w->tenants && any(2))
		buf_printf(&b, ", tenant: t%u", any(2));
	if (bridged && any(3))
		buf_printf(&b, ", members: [p%u, q%u]", i, any(2) ? i : i + 10);
	if (bridged && any(3) == 0)
		buf_printf(&b, ", mtu: %u", 1400 + 100 * any(3));
	buf_printf(&b, ", gateway: [10.%u.0.%u/24, \"fd00:%u::%u/64\"]", i + 1, 1 + any(2), i + 1, 1 + any(2));
	if (any(2))
		buf_printf(&b,
			", routes: [{prefix: 172.%u.0.0/16, via: 10.%u.0.9}, {prefix: \"fd01:%u::/48\", via: "
			"\"fd00:%u::9\"}]",
			20 + i, i + 1, i + 1, i + 1);
	if (w->v6_vtep && v6)
		buf_printf(&b, ", remotes: [x6]");
	else
		buf_printf(&b, ", remotes: [%s]", any(3) == 0 ? "x, y" : any(2) ? "x" : "y");
	if (!(w->v6_vtep && v6) && b.len > 0 && strstr(buf_str(&b), "[x, y]") && any(2))
		buf_printf(&b, ", macs: [{mac: \"02:00:00:00:00:0%u\", remote: %s}]", any(2), any(2) ? "x" : "y");
	buf_printf(&b, ", df: %s, ttl: %u, tos: %s}\n", dfs[any(3)], 1 + any(255), any(2) ? "inherit" : "16");
	(void)snprintf(ret, 512, "%s", buf_str(&b));
	buf_free(&b);
}

static void generate(struct world *w)
{
	*w = (struct world){.tenants = any(2),
		.port = any(4) ? 4789 : 8472,
		.line_mtu = any(4) ? 1500 : 9000,
		.second_line = any(3) != 0,
		.v6_vtep = any(2),
		.vtep = any(4) ? 1 : 2};
	for (unsigned i = 0; i < MAX_SEGMENTS; i++) {
		generate_segment(w, i, w->segments[i]);
		w->order[i] = i;
	}
}

/* Some of what a says, and some of its own. */
static void mutate(const struct world *a, struct world *b)
{
	if (any(3)) {
		*b = *a;
		for (unsigned i = 0; i < MAX_SEGMENTS; i++)
			if (any(3) == 0)
				generate_segment(b, i, b->segments[i]);
	} else {
		generate(b);
	}
	for (unsigned i = MAX_SEGMENTS; i > 1; i--) {
		unsigned k = any(i), swap = b->order[i - 1];

		b->order[i - 1] = b->order[k];
		b->order[k] = swap;
	}
}

static bool same_underlay(const struct world *a, const struct world *b)
{
	return a->tenants == b->tenants && a->port == b->port && a->line_mtu == b->line_mtu &&
		a->second_line == b->second_line && a->v6_vtep == b->v6_vtep && a->vtep == b->vtep;
}

static const struct config *config_of(struct overlay_fixture *f, const struct world *w)
{
	const struct config *cfg;
	struct buf b = {0};

	buf_printf(&b,
		"system: {hostname: h}\nlines:\n"
		"  - {name: a, interface: e1, address: 192.168.1.1/30, peer-address: 192.168.1.2, mtu: %u, rate: "
		"2gbit, "
		"address6: \"fd00:a::1/64\", peer-address6: \"fd00:a::2\"}\n"
		"  - {name: b, interface: e2, address: 192.168.2.1/30, peer-address: 192.168.2.2, rate: 1gbit, "
		"enabled: %s}\n"
		"vtep: {address: 10.255.0.%u, port: %u%s}\nremotes:\n"
		"  - {name: x, vtep: 10.255.1.1, lines: [a, b]}\n  - {name: y, vtep: 10.255.2.1, lines: [b]}\n",
		w->line_mtu, w->second_line ? "true" : "false", w->vtep, w->port,
		w->v6_vtep ? ", address6: \"fd00:ff::1\"" : "");
	if (w->v6_vtep)
		buf_puts(&b, "  - {name: x6, vtep: \"fd00:ff::2\", lines: [a]}\n");
	if (w->tenants)
		buf_puts(&b, "tenants:\n  - {name: t0, table: 1001}\n  - {name: t1, table: 1002}\n");
	buf_puts(&b, "segments:\n");
	for (unsigned i = 0; i < MAX_SEGMENTS; i++)
		buf_puts(&b, w->segments[w->order[i]]);
	buf_puts(&b, "  - {name: last, vni: 9, mode: bridged}\n");
	cfg = fixture_config(f, buf_str(&b));
	buf_free(&b);
	return cfg;
}

/* --- the properties --- */

static void assert_untouched(const struct overlay_fixture *f, const struct world *a, const struct world *b)
{
	for (unsigned i = 0; i < MAX_SEGMENTS; i++) {
		char object[32];

		if (!a->segments[i][0] || !str_eq(a->segments[i], b->segments[i]))
			continue;
		(void)snprintf(object, sizeof(object), "segment s%u", i);
		assert_false(fixture_has_step(f, object, ""));
	}
}

/* Steps of the plan until one is told to fail; it and all after it are not done. */
static void apply_until_failure(struct overlay_fixture *f, size_t n)
{
	f->kernel.n_applied = 0;
	f->kernel.fail_at = n;
	for (size_t i = 0; i < f->plan.n_steps; i++)
		if (fake_kernel_apply(&f->kernel, f->plan.steps[i].payload) < 0)
			break;
	f->kernel.fail_at = 0;
}

/* The MTU of each device of ours and of each member. */
static void mtus(const struct overlay_fixture *f, struct buf *out)
{
	struct kernel_model have = {.arena = f->arena};

	fake_kernel_observe(&f->kernel, &have);
	for (size_t i = 0; i < have.n_links; i++)
		if (have.links[i].ours || have.links[i].master[0])
			buf_printf(out, "%s %u\n", have.links[i].name, have.links[i].mtu);
}

static void check_pair(struct overlay_fixture *f)
{
	struct buf first = {0}, last = {0};
	const struct config *ca, *cb;
	struct world a, b;

	generate(&a);
	mutate(&a, &b);
	ca = config_of(f, &a);
	cb = config_of(f, &b);
	fixture_add_interfaces(f, ca);
	fixture_add_interfaces(f, cb);
	fixture_converge(f, ca);
	mtus(f, &first);
	(void)fixture_plan(f, cb);
	if (same_underlay(&a, &b))
		assert_untouched(f, &a, &b);
	fixture_converge(f, cb);
	/* Back half of the way, then forward again; half of the way again, then back. */
	(void)fixture_plan(f, ca);
	if (f->plan.n_steps > 0)
		apply_until_failure(f, 1 + any((unsigned)f->plan.n_steps));
	fixture_converge(f, cb);
	(void)fixture_plan(f, ca);
	if (f->plan.n_steps > 0)
		apply_until_failure(f, 1 + any((unsigned)f->plan.n_steps));
	fixture_converge(f, ca);
	mtus(f, &last);
	assert_string_equal(buf_str(&first), buf_str(&last));
	buf_free(&first);
	buf_free(&last);
	fixture_converge(f, NULL);
	for (size_t i = 0; i < f->kernel.m.n_links; i++)
		assert_false(f->kernel.m.links[i].ours);
	assert_int_equal(f->kernel.m.n_addrs, 0);
	assert_int_equal(f->kernel.m.n_routes, 0);
}

static uint64_t running; /* the pair's number; 0 once all are done */

static int say_seed(void **state)
{
	(void)state;
	if (running)
		print_error("again with SEED=%llu\n", (unsigned long long)running);
	return 0;
}

static void test_pairs(void **state)
{
	const char *only = getenv("SEED");

	(void)state;
	for (uint64_t i = 1; i <= N_PAIRS; i++) {
		struct overlay_fixture f;
		uint64_t number = only ? strtoull(only, NULL, 10) : i;

		seed = number * 0x9e3779b97f4a7c15u;
		fixture_open(&f);
		f.facts.has_vrf = true;
		running = number;
		check_pair(&f);
		fixture_close(&f);
		if (only)
			break;
	}
	running = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_pairs, say_seed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
