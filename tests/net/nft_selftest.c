/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The nft edge against a real kernel, driven by test_nft_edge.py in a namespace of its own:
 *
 *   nft_selftest apply|plan|text SEGMENTS MSS   make the model so; print the plan to it; print the commands of that
 * plan nft_selftest down                           take all tables of ours away nft_selftest keys SEGMENTS MSS every
 * observed key is the wanted one, byte for byte nft_selftest refuse                         a transaction whose second
 * step the kernel refuses nft_selftest watch MILLISECONDS             "ready", then "ours" or "other" for what the
 * monitor says meanwhile nft_selftest bench SEGMENTS                 milliseconds of load, observe, one more element
 *
 * The model has the shape of the real ones: VXLAN sources of both families, and interfaces with counters.
 */
/* LINK: gateway/nft/nft_model.c gateway/nft/nft_memory.c gateway/nft/nft_plan.c gateway/nft/nft_change.c gateway/nft/nft_parse.c gateway/nft/nft_observe.c gateway/nft/nft_apply.c gateway/nft/nft_elems.c gateway/nft/nft_monitor.c gateway/engine/plan.c gateway/engine/txn.c */
/* LIBS: libnftables libmnl jansson */
#include <arpa/inet.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gateway/base/arena.h"
#include "gateway/base/buf.h"
#include "gateway/base/cleanup.h"
#include "gateway/base/str.h"
#include "gateway/engine/plan.h"
#include "gateway/engine/subsystem.h"
#include "gateway/engine/txn.h"
#include "gateway/nft/nft.h"
#include "gateway/nft/nft_kernel.h"
#include "gateway/nft/nft_memory.h"
#include "gateway/nft/nft_subsystem.h"

enum { REMOTES = 2, FIRST_VNI = 10001 };

static const struct subsystem test_subsystem = {.name = "nft"};

/* --- the model --- */

static void add_source(struct nft_model *m, struct nft_set *set, int family, const char *text, uint32_t vni)
{
	uint8_t key[20];
	size_t len = family == AF_INET6 ? 16 : 4;

	(void)inet_pton(family, text, key);
	nft_key_u24(vni, key + len);
	nft_add_elem(m, set, key, len + 4, "%s . %u", text, vni);
}

static void add_interface(struct nft_model *m, struct nft_set *set, const char *name)
{
	uint8_t key[16];

	nft_key_ifname(name, key);
	nft_add_elem(m, set, key, sizeof(key), "\"%s\"", name);
}

static void add_guard(struct nft_model *m, unsigned segments)
{
	struct nft_table *t = nft_add_table(m, "inet", "fairway_guard");
	struct nft_set *s4 = nft_add_set(m, t, "sources4", "typeof ip saddr . @th,96,24", "the VXLAN sources");
	struct nft_set *s6 = nft_add_set(m, t, "sources6", "typeof ip6 saddr . @th,96,24", "the VXLAN sources");
	struct nft_chain *c = nft_add_chain(m, t, "input", "type filter hook input priority -10; policy accept;");

	nft_add_rule(m, c, "udp dport 4789 ip saddr . @th,96,24 != @sources4 counter drop");
	nft_add_rule(m, c, "udp dport 4789 ip6 saddr . @th,96,24 != @sources6 counter drop");
	for (unsigned i = 0; i < segments; i++) {
		for (unsigned r = 1; r <= REMOTES; r++) {
			char addr[32];

			(void)snprintf(addr, sizeof(addr), "10.255.%u.1", r);
			add_source(m, s4, AF_INET, addr, FIRST_VNI + i);
		}
		if (i == 0)
			add_source(m, s6, AF_INET6, "fd00:255::1:1", FIRST_VNI);
	}
}

static void add_clamp(struct nft_model *m, const char *family, unsigned segments, unsigned mss)
{
	struct nft_table *t = nft_add_table(m, family, "fairway_mss");
	struct nft_chain *c = nft_add_chain(m, t, "forward", "type filter hook forward priority -10; policy accept;");
	struct nft_set *in, *out;
	char name[32];

	/* One set per MSS: a segment whose MSS changes moves from one to another. */
	for (unsigned v = 1390; v <= 1410; v += 20) {
		(void)snprintf(name, sizeof(name), "in_%u", v);
		in = nft_add_set(m, t, name, "type ifname; counter", "the MSS clamp");
		(void)snprintf(name, sizeof(name), "out_%u", v);
		out = nft_add_set(m, t, name, "type ifname; counter", "the MSS clamp");
		nft_add_rule(m, c,
			"tcp flags & (syn | rst) == syn tcp option maxseg size > %u iifname @in_%u "
			"tcp option maxseg size set %u",
			v, v, v);
		nft_add_rule(m, c,
			"tcp flags & (syn | rst) == syn tcp option maxseg size > %u oifname @out_%u "
			"tcp option maxseg size set %u",
			v, v, v);
		for (unsigned i = 0; i < segments && v == mss; i++) {
			(void)snprintf(name, sizeof(name), "vx%u", FIRST_VNI + i);
			add_interface(m, in, name);
			add_interface(m, out, name);
		}
		if (v == 1390)
			add_interface(m, in, "abcdefghijklmno"); /* 15 characters, the longest */
	}
}

static void add_all(struct nft_model *m, unsigned segments, unsigned mss)
{
	add_guard(m, segments);
	add_clamp(m, "bridge", segments, mss);
	add_clamp(m, "inet", 0, mss);
}

/* --- a turn of the loop --- */

struct turn {
	struct arena *arena;
	struct nft_model want, have;
	struct plan plan;
};

static void turn_free(struct turn *t)
{
	plan_free(&t->plan);
	nft_memory_leave(&t->have);
	arena_free(t->arena);
}

/* segments 0: nothing is wanted. */
static int turn_plan(struct turn *t, unsigned segments, unsigned mss)
{
	static const struct subsystem *const order[] = {&test_subsystem};
	int error;

	t->arena = arena_new();
	t->want.arena = t->have.arena = t->arena;
	plan_init(&t->plan);
	t->plan.subsystem = &test_subsystem;
	if (segments > 0)
		add_all(&t->want, segments, mss);
	nft_model_seal(&t->want);
	error = nft_observe(&t->have);
	if (error < 0) {
		(void)fprintf(stderr, "observe: %s\n", strerror(-error));
		return error;
	}
	nft_plan(&t->want, &t->have, &t->plan);
	plan_sort(&t->plan, order, 1);
	return 0;
}

static int turn_apply(struct turn *t)
{
	_cleanup_free_ const struct step **steps = reallocarray(NULL, t->plan.n_steps + 1, sizeof(void *));
	struct txn txn = {0};

	for (size_t i = 0; i < t->plan.n_steps; i++)
		steps[i] = &t->plan.steps[i];
	if (t->plan.n_conflicts > 0 || t->plan.n_steps == 0)
		return t->plan.n_conflicts > 0 ? -1 : 0;
	if (nft_apply(&txn, steps, t->plan.n_steps) == 0)
		return 0;
	(void)printf("failed: %s: %s: %s\n", txn.failed->object, txn.failed->text, txn.reason);
	return -1;
}

static void print_plan(const struct turn *t)
{
	struct buf out = {0};

	plan_print(&t->plan, &out);
	(void)fputs(buf_str(&out), stdout);
	buf_free(&out);
}

/* --- commands --- */

static int cmd_plan(unsigned segments, unsigned mss)
{
	_cleanup_(turn_free) struct turn t = {0};

	if (turn_plan(&t, segments, mss) < 0)
		return 1;
	print_plan(&t);
	return 0;
}

static int cmd_apply(unsigned segments, unsigned mss)
{
	_cleanup_(turn_free) struct turn t = {0};

	if (turn_plan(&t, segments, mss) < 0)
		return 1;
	print_plan(&t);
	return turn_apply(&t) < 0 ? 1 : 0;
}

static int cmd_text(unsigned segments, unsigned mss)
{
	_cleanup_(turn_free) struct turn t = {0};
	_cleanup_(buf_free) struct buf out = {0};

	if (turn_plan(&t, segments, mss) < 0)
		return 1;
	for (size_t i = 0; i < t.plan.n_steps; i++)
		nft_step_print(t.plan.steps[i].payload, &out);
	(void)fputs(buf_str(&out), stdout);
	return 0;
}

static unsigned compare_set(const struct nft_set *want, const struct nft_set *have)
{
	unsigned bad = 0;
	struct buf text = {0};

	if (!have || have->n_elems != want->n_elems) {
		(void)printf("set %s: %zu elements wanted, %zu there\n", want->name, want->n_elems,
			have ? have->n_elems : 0);
		return 1;
	}
	for (size_t i = 0; i < want->n_elems; i++) {
		const struct nft_elem *w = &want->elems[i], *h = &have->elems[i];

		buf_reset(&text);
		if (w->key_len != h->key_len || memcmp(w->key, h->key, sizeof(w->key)) != 0 ||
			!nft_elem_print(want->spec, h, &text) || !str_eq(buf_str(&text), w->text)) {
			(void)printf("set %s: %s is not %s\n", want->name, w->text, buf_str(&text));
			bad++;
		}
	}
	buf_free(&text);
	return bad;
}

static int cmd_keys(unsigned segments, unsigned mss)
{
	_cleanup_(turn_free) struct turn t = {0};
	size_t n = 0;
	unsigned bad = 0;

	if (turn_plan(&t, segments, mss) < 0)
		return 1;
	for (size_t i = 0; i < t.want.n_tables; i++) {
		const struct nft_table *w = t.want.tables[i], *h = nft_model_table(&t.have, w->family, w->name);

		for (size_t k = 0; k < w->n_sets; k++, n += w->sets[k - 1]->n_elems)
			bad += compare_set(w->sets[k], h ? nft_table_set(h, w->sets[k]->name) : NULL);
	}
	(void)printf("%zu keys, %u differ\n", n, bad);
	return bad > 0 ? 1 : 0;
}

/* The first new table is fine, the second has a rule that jumps nowhere: neither may be there afterwards. */
static int cmd_refuse(unsigned segments, unsigned mss)
{
	_cleanup_(turn_free) struct turn t = {0};
	struct nft_table *bad;

	if (turn_plan(&t, segments, mss) < 0 || t.plan.n_steps > 0)
		return 1;
	(void)nft_add_table(&t.want, "inet", "fairway_a");
	bad = nft_add_table(&t.want, "inet", "fairway_b");
	nft_add_rule(&t.want, nft_add_chain(&t.want, bad, "c", NULL), "jump nowhere");
	nft_plan(&t.want, &t.have, &t.plan);
	return turn_apply(&t) < 0 ? 0 : 1;
}

/* One more segment, but the last of its elements is to be removed, and is not there: nothing of it may be done. */
static int cmd_refuse_elems(unsigned segments, unsigned mss)
{
	_cleanup_(turn_free) struct turn t = {0};
	struct nft_step gone;
	struct step *last;

	if (turn_plan(&t, segments + 1, mss) < 0 || t.plan.n_steps < 2)
		return 1;
	last = &t.plan.steps[t.plan.n_steps - 1];
	gone = *(const struct nft_step *)last->payload;
	gone.op = NFT_DEL_ELEMS;
	last->payload = &gone;
	return turn_apply(&t) < 0 ? 0 : 1;
}

static int cmd_watch(unsigned milliseconds)
{
	struct nft_monitor *m;
	struct pollfd fd = {.events = POLLIN};
	int r = nft_monitor_open(&m);

	if (r < 0)
		return 1;
	fd.fd = nft_monitor_fd(m);
	(void)printf("ready\n");
	(void)fflush(stdout);
	if (poll(&fd, 1, (int)milliseconds) == 1) {
		r = nft_monitor_read(m);
		(void)printf("%s\n", r == 1 ? "ours" : r == 0 ? "other" : "error");
	} else {
		(void)printf("silence\n");
	}
	nft_monitor_close(m);
	return 0;
}

static double now_ms(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

/* One plan and apply, timed apart. */
static int bench_turn(const char *name, unsigned segments, unsigned mss)
{
	_cleanup_(turn_free) struct turn t = {0};
	double start = now_ms(), planned, applied;

	if (turn_plan(&t, segments, mss) < 0)
		return -1;
	planned = now_ms();
	if (turn_apply(&t) < 0)
		return -1;
	applied = now_ms();
	(void)printf("%s observe+plan=%.2f apply=%.2f steps=%zu\n", name, planned - start, applied - planned,
		t.plan.n_steps);
	return 0;
}

static int cmd_bench(unsigned segments)
{
	if (bench_turn("load", segments, 1410) < 0 || bench_turn("again", segments, 1410) < 0 ||
		bench_turn("one-more", segments + 1, 1410) < 0 || bench_turn("one-less", segments, 1410) < 0 ||
		bench_turn("move-all", segments, 1390) < 0 || bench_turn("down", 0, 0) < 0)
		return 1;
	return 0;
}

int main(int argc, char **argv)
{
	const char *cmd = argc > 1 ? argv[1] : "";
	unsigned a = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
	unsigned b = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 0;

	if (str_eq(cmd, "plan"))
		return cmd_plan(a, b);
	if (str_eq(cmd, "apply") && a > 0)
		return cmd_apply(a, b);
	if (str_eq(cmd, "text"))
		return cmd_text(a, b);
	if (str_eq(cmd, "down"))
		return cmd_apply(0, 0);
	if (str_eq(cmd, "keys"))
		return cmd_keys(a, b);
	if (str_eq(cmd, "refuse"))
		return cmd_refuse(a, b);
	if (str_eq(cmd, "refuse-elems"))
		return cmd_refuse_elems(a, b);
	if (str_eq(cmd, "watch"))
		return cmd_watch(a);
	if (str_eq(cmd, "bench"))
		return cmd_bench(a);
	(void)fprintf(stderr, "see the top of nft_selftest.c\n");
	return 2;
}
