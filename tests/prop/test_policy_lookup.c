/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The compiled policy decides as its words say: random rules, groups and services, random packets; the look-ups against
 * the evaluator, which knows nothing of them. Prints its seed; FAIRWAY_SEED=N runs one again.
 */
/* LINK: gateway/policy/policy_class.c gateway/policy/policy_compile.c gateway/policy/policy_cover.c gateway/policy/policy_eval.c gateway/policy/policy_lookup.c gateway/policy/policy_model.c gateway/policy/policy_peers.c routing/session.c config/preset.c gateway/policy/policy_table.c gateway/engine/facts.c overlay/mtu.c overlay/model.c overlay/desired.c config/config.c config/decode.c config/diag.c config/hint.c config/schema.c config/text.c config/types.c config/types_bgp.c config/types_net.c config/types_policy.c config/endpoint.c config/types_text.c config/yaml.c */
/* LIBS: libfyaml jansson */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "gateway/base/arena.h"
#include "gateway/base/buf.h"
#include "gateway/base/str.h"
#include "gateway/engine/facts.h"
#include "gateway/policy/policy_eval.h"

enum { CONFIGS = 400, PACKETS = 2000, GROUPS = 12 };

static uint64_t state;

static uint32_t rnd(uint32_t n)
{
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(state >> 33) % n;
}

/* --- a config --- */

static const char head[] = "system: {hostname: gw}\n"
			   "interfaces: [{name: eth0}, {name: eth1}]\n"
			   "vtep: {address: 10.255.0.1}\n"
			   "tenants: [{name: red, table: 1001}, {name: blue, table: 1002}]\n"
			   "segments:\n"
			   "  - {name: a, vni: 1, mode: bridged}\n"
			   "  - {name: b, vni: 2, mode: bridged, tenant: red}\n"
			   "  - {name: c, vni: 3, mode: bridged, tenant: red, filter: true}\n"
			   "  - {name: d, vni: 4, mode: routed, tenant: blue}\n";

static void put_prefix(struct buf *out)
{
	/* Few bits, so that they meet: 10.x.y.z and fd00::xyz, of any length. */
	if (rnd(2)) {
		uint32_t len = 8 + rnd(25), a = 10U << 24 | rnd(4) << 16 | rnd(4) << 8 | rnd(4);

		a &= len == 32 ? ~0U : ~(~0U >> len);
		buf_printf(out, "%u.%u.%u.%u/%u", a >> 24, a >> 16 & 255, a >> 8 & 255, a & 255, len);
	} else if (rnd(20) == 0) {
		buf_puts(out, "\"::/0\"");
	} else {
		uint32_t len = 112 + rnd(17), a = rnd(64);

		a &= ~((1U << (128 - len)) - 1);
		buf_printf(out, "\"fd00::%x/%u\"", a, len);
	}
}

static void put_groups(struct buf *out)
{
	buf_puts(out, "  groups:\n");
	for (int i = 0; i < GROUPS; i++) {
		uint32_t n = rnd(4) == 0 ? 1 + rnd(60) : 1 + rnd(5);
		struct buf list = {0};

		for (uint32_t k = 0; k < n; k++) {
			struct buf one = {0};

			put_prefix(&one);
			if (!strstr(buf_str(&list), buf_str(&one)))
				buf_printf(&list, "%s%s", list.len ? ", " : "", buf_str(&one));
			buf_free(&one);
		}
		buf_printf(out, "    - {name: g%d, prefixes: [%s]}\n", i, buf_str(&list));
		buf_free(&list);
	}
}

static void put_ends(const char *key, struct buf *out)
{
	static const char *const names[] = {"segment:a", "b", "c", "d", "tenant:red", "blue", "eth0", "eth1"};
	uint32_t n = 1 + rnd(3), seen = 0;

	if (rnd(5) == 0) {
		buf_printf(out, ", %s: [%s]", key, rnd(4) ? "any" : "gateway");
		return;
	}
	buf_printf(out, ", %s: [", key);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t which = rnd(ARRAY_SIZE(names) + GROUPS);

		if (seen >> which & 1)
			continue;
		seen |= 1U << which;
		buf_puts(out, i ? ", " : "");
		if (which < ARRAY_SIZE(names))
			buf_puts(out, names[which]);
		else
			buf_printf(out, "%sg%u", rnd(2) ? "group:" : "", which - (uint32_t)ARRAY_SIZE(names));
	}
	buf_putc(out, ']');
}

static void put_services(struct buf *out)
{
	static const char *const some[] = {"tcp/1", "tcp/2", "tcp/1-3", "tcp/0-65535", "tcp", "udp/2-9", "udp/5", "udp",
		"icmp", "icmp/echo-request", "icmpv6/echo-request", "icmp/echo-reply", "gre", "proto/0", "sctp/3",
		"svc", "proto/255", "tcp/65535"};
	uint32_t n = 1 + rnd(3), seen = 0;

	if (rnd(4) == 0)
		return;
	buf_puts(out, ", services: [");
	for (uint32_t i = 0; i < n; i++) {
		uint32_t which = rnd(ARRAY_SIZE(some));

		if (seen >> which & 1 || (which == 3 && seen >> 4 & 1) || (which == 4 && seen >> 3 & 1))
			continue;
		seen |= 1U << which;
		buf_printf(out, "%s%s", i ? ", " : "", some[which]);
	}
	buf_putc(out, ']');
}

static void put_policy(struct buf *out)
{
	static const char *const actions[] = {"accept", "drop", "reject"};
	uint32_t n = 1 + rnd(40);

	buf_printf(out, "policy:\n  default: %s\n", rnd(2) ? "accept" : "drop");
	put_groups(out);
	buf_puts(out,
		"  services: [{name: svc, ports: [tcp/2-4, tcp/9, icmpv6]}]\n"
		"  schedules: [{name: night, from: \"22:00\", to: \"06:00\", days: [mon, sat]}]\n  rules:\n");
	for (uint32_t i = 0; i < n; i++) {
		buf_printf(out, "    - {seq: %u, action: %s", 10 * (i + 1), actions[rnd(3)]);
		put_ends("from", out);
		put_ends("to", out);
		put_services(out);
		if (rnd(6) == 0)
			buf_puts(out, ", schedule: night");
		buf_puts(out, "}\n");
	}
}

/* --- packets --- */

static struct ip_addr random_addr(uint8_t family)
{
	struct ip_addr a = {.family = family};

	if (family == AF_INET) {
		a.bytes[0] = rnd(8) ? 10 : (uint8_t)rnd(256);
		a.bytes[1] = (uint8_t)rnd(5);
		a.bytes[2] = (uint8_t)rnd(5);
		a.bytes[3] = (uint8_t)rnd(6);
	} else {
		a.bytes[0] = rnd(8) ? 0xfd : (uint8_t)rnd(256);
		a.bytes[15] = (uint8_t)rnd(70);
	}
	return a;
}

static struct policy_packet random_packet(const struct policy_model *m)
{
	static const uint8_t protos[] = {6, 6, 6, 17, 17, 1, 58, 47, 0, 132, 255, 99};
	uint8_t family = rnd(2) ? AF_INET : AF_INET6;
	struct policy_packet p = {
		.hook = rnd(6) ? POLICY_FORWARD : 1 + rnd(2),
		.in = rnd((uint32_t)m->n_devices),
		.out = rnd((uint32_t)m->n_devices),
		.src = random_addr(family),
		.dst = random_addr(family),
		.proto = protos[rnd(ARRAY_SIZE(protos))],
		.port = (uint16_t)(rnd(8) ? rnd(12)
				: rnd(2)  ? 65535
					  : rnd(65536)),
		.day = rnd(7),
		.minute = rnd(1440),
	};

	if (m->devices[p.in].is_vrf)
		for (uint32_t i = 1; i < m->n_devices; i++)
			if (!m->devices[i].is_vrf && m->devices[i].domain == m->devices[p.in].domain && rnd(2))
				p.behind = i;
	if (p.proto == 1 || p.proto == 58)
		p.port = (uint16_t)(rnd(2) ? 8 : rnd(2) ? 128 : rnd(256));
	if (p.hook == POLICY_INPUT)
		p.out = 0;
	if (p.hook == POLICY_OUTPUT)
		p.in = p.behind = 0;
	return p;
}

/* --- the comparison --- */

/* The kernel takes no elements that overlap. */
static void check_disjoint(const struct policy_compiled *c)
{
	for (size_t i = 0; i < c->n_runs; i++)
		for (size_t k = 1; k < c->runs[i].n_elems; k++) {
			const struct policy_elem *a = &c->runs[i].elems[k - 1], *b = a + 1;

			assert_false(a->from == b->from && a->to == b->to && a->high >= b->low);
		}
}

static void check_config(uint64_t seed)
{
	struct arena *arena = arena_new();
	struct policy_compiled compiled;
	const struct config *cfg;
	struct policy_model *m;
	struct facts facts;
	struct buf text = {0}, why = {0};
	struct diag diag;

	state = seed;
	buf_puts(&text, head);
	put_policy(&text);
	diag_init(&diag, "random");
	cfg = config_parse(buf_str(&text), text.len, arena, &diag);
	diag_print(&diag, &why);
	if (!cfg)
		fail_msg("seed %llu: %s\n%s", (unsigned long long)seed, buf_str(&why), buf_str(&text));
	facts_init(&facts);
	m = policy_model_new(cfg, &facts, arena);
	policy_compile_shadows(m, 1 + rnd(40), &compiled);
	check_disjoint(&compiled);
	for (int i = 0; i < PACKETS; i++) {
		struct policy_packet p = random_packet(m);
		int wanted = policy_eval(m, &p).rule, is = policy_lookup(&compiled, &p);

		if (wanted != is)
			fail_msg("seed %llu: packet %d (hook %d in %s behind %s out %s proto %u port %u day %u minute "
				 "%u): rule %d, but the look-ups say %d\n%s",
				(unsigned long long)seed, i, p.hook, m->devices[p.in].name, m->devices[p.behind].name,
				m->devices[p.out].name, p.proto, p.port, p.day, p.minute,
				wanted < 0 ? -1 : (int)m->rules[wanted].rule->seq,
				is < 0 ? -1 : (int)m->rules[is].rule->seq, buf_str(&text));
	}
	buf_free(&text);
	buf_free(&why);
	diag_free(&diag);
	facts_free(&facts);
	arena_free(arena);
}

static void test_lookups(void **unused)
{
	const char *given = getenv("FAIRWAY_SEED");
	uint64_t seed = given ? strtoull(given, NULL, 10) : (uint64_t)time(NULL) << 16;

	(void)unused;
	print_message("seed %llu\n", (unsigned long long)seed);
	for (int i = 0; i < (given ? 1 : CONFIGS); i++)
		check_config(seed + (uint64_t)i);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_lookups)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
