/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The overlay's edge against the real kernel, in a network namespace that this program makes for itself: models built
 * by hand are planned, applied, observed, and planned again to nothing; what the kernel refuses is told in words; the
 * monitor wakes for what matters and for nothing else.
 */
/* LINK: overlay/apply.c overlay/apply_build.c overlay/apply_delete.c overlay/ethtool.c overlay/link_plan.c overlay/model.c overlay/monitor.c overlay/observe.c overlay/observe_parse.c overlay/overlay_plan.c overlay/probe.c overlay/procsys.c overlay/rtsock.c gateway/engine/plan.c gateway/engine/txn.c */
/* LIBS: libnl-3.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <poll.h>
#include <sched.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "config/config.h"
#include "gateway/base/arena.h"
#include "gateway/base/buf.h"
#include "gateway/base/cleanup.h"
#include "gateway/base/str.h"
#include "gateway/engine/plan.h"
#include "gateway/engine/subsystem.h"
#include "gateway/engine/txn.h"
#include "overlay/apply.h"
#include "overlay/apply_build.h"
#include "overlay/model.h"
#include "overlay/monitor.h"
#include "overlay/observe.h"
#include "overlay/overlay.h"
#include "overlay/probe.h"
#include "overlay/rtsock.h"

extern char **environ;

static const struct subsystem test_subsystem = {.name = "overlay"};
static const struct subsystem *const order[] = {&test_subsystem};

/* overlay/desired.c names them; the models here are made by hand. */
static const char *const vx = "vx10010", *const br = "br10010";

/* --- helpers --- */

/* "ip link add ...": split at blanks. */
static int try_run(const char *command)
{
	_cleanup_free_ char *copy = strdup(command);
	char *argv[32] = {0}, *rest = copy;
	size_t n = 0;
	int status;
	pid_t pid;

	while (n < ARRAY_SIZE(argv) - 1 && (argv[n] = strsep(&rest, " ")))
		n++;
	if (!argv[0])
		return -1;
	assert_int_equal(posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void run(const char *command)
{
	if (try_run(command) != 0)
		fail_msg("%s failed", command);
}

static struct ip_addr addr(const char *s)
{
	struct ip_addr a;

	assert_int_equal(ip_addr_parse(s, &a), 0);
	return a;
}

static struct kernel_model *new_model(struct arena *arena)
{
	struct kernel_model *m = arena_new_obj(arena, struct kernel_model);

	m->arena = arena;
	return m;
}

static struct link *want_bridge(struct kernel_model *m, const char *name, uint32_t vni, uint32_t mtu)
{
	struct link *l = model_add_link(m, name);

	l->kind = LINK_BRIDGE;
	l->ours = l->up = true;
	l->ifindex = FAIRWAY_IFINDEX_BRIDGE | vni;
	l->attrs = LA_UP | LA_MTU | LA_MASTER | LA_ALIAS | LA_ADDRGEN | LA_MAC | LA_MCAST_SNOOP;
	l->mtu = mtu;
	l->mac = mac_addr_derive(name, vni);
	l->alias = "fairway: segment test";
	l->object = "segment test";
	return l;
}

static struct link *want_vxlan(struct kernel_model *m, const char *name, uint32_t vni, uint32_t mtu, const char *master)
{
	struct link *l = model_add_link(m, name);

	l->kind = LINK_VXLAN;
	l->ours = l->up = true;
	l->ifindex = FAIRWAY_IFINDEX_VXLAN | vni;
	l->attrs = LA_UP | LA_MTU | LA_MASTER | LA_ALIAS | LA_ADDRGEN | LA_MAC | LA_VXLAN | LA_TX_CSUM;
	l->mtu = mtu;
	l->mac = mac_addr_derive(name, vni);
	l->alias = "fairway: segment test";
	l->object = "segment test";
	l->tx_csum = true;
	l->vxlan = (struct vxlan_attrs){
		.vni = vni,
		.local = addr("10.255.0.1"),
		.port = 4789,
		.df = DF_INHERIT,
		.tos = TOS_INHERIT,
		.ttl = 64,
		.learning = true,
	};
	(void)snprintf(l->master, sizeof(l->master), "%s", master);
	return l;
}

static void want_segment(struct kernel_model *m, uint32_t vni, uint32_t mtu)
{
	char bridge[16], vxlan[16];

	(void)snprintf(bridge, sizeof(bridge), "br%u", vni);
	(void)snprintf(vxlan, sizeof(vxlan), "vx%u", vni);
	(void)want_bridge(m, bridge, vni, mtu);
	(void)want_vxlan(m, vxlan, vni, mtu, bridge);
}

static struct link *want_link(struct kernel_model *m, const char *name)
{
	struct link *l = model_add_link(m, name);

	l->attrs = LA_UP;
	l->up = true;
	l->object = "interface test";
	return l;
}

static void want_addr(struct kernel_model *m, const char *link, const char *text)
{
	struct if_addr *a = model_add_addr(m);

	(void)snprintf(a->link, sizeof(a->link), "%s", link);
	assert_int_equal(ip_prefix_parse(text, &a->addr), 0);
	a->nodad = true;
	a->object = "interface test";
}

static void want_fdb(struct kernel_model *m, const char *link, const char *mac, const char *dst)
{
	struct fdb *f = model_add_fdb(m);

	(void)snprintf(f->link, sizeof(f->link), "%s", link);
	assert_int_equal(mac_addr_parse(mac, &f->mac), 0);
	f->dst = addr(dst);
	f->object = "segment test";
}

/* nexthops: "10.0.0.2 e0 1", up to three of them, in order. */
static struct ip_route *want_route(struct kernel_model *m, const char *dst, size_t n, const char *const nexthops[][2])
{
	struct ip_route *r = model_add_route(m);

	assert_int_equal(ip_prefix_parse(dst, &r->dst), 0);
	r->table = 254;
	r->metric = ip_addr_is_ipv6(&r->dst.addr) ? 1024 : 0;
	r->object = "remote test";
	r->n_nexthops = n;
	r->nexthops = arena_array(m->arena, n, sizeof(*r->nexthops));
	for (size_t i = 0; i < n; i++) {
		r->nexthops[i].via = addr(nexthops[i][0]);
		r->nexthops[i].weight = (uint8_t)(n > 1 ? i + 1 : 1);
		(void)snprintf(r->nexthops[i].link, sizeof(r->nexthops[i].link), "%s", nexthops[i][1]);
	}
	return r;
}

/* Observes and plans; *ret_now outlives the plan. */
static void make_plan(const struct kernel_model *want, struct plan *plan, struct observation **ret_now)
{
	plan_init(plan);
	plan->subsystem = &test_subsystem;
	assert_int_equal(observe(false, ret_now), 0);
	overlay_plan(want, &(*ret_now)->model, plan);
	plan_sort(plan, order, 1);
}

static int apply_plan(const struct plan *plan, struct txn *txn)
{
	const struct step **steps = calloc(plan->n_steps + 1, sizeof(struct step *));
	int r;

	for (size_t i = 0; i < plan->n_steps; i++)
		steps[i] = &plan->steps[i];
	r = overlay_apply(txn, steps, plan->n_steps);
	free(steps);
	return r;
}

static void assert_nothing_to_do(const struct kernel_model *want)
{
	struct observation *now;
	struct plan plan;
	struct buf text = {0};

	make_plan(want, &plan, &now);
	plan_print(&plan, &text);
	assert_string_equal(buf_str(&text), "nothing to do\n");
	buf_free(&text);
	plan_free(&plan);
	observation_free(now);
}

/* Plans, applies, and sees that nothing is left. Returns how many steps it took. */
static size_t converge(const struct kernel_model *want)
{
	struct observation *now;
	struct txn txn = {0};
	struct plan plan;
	size_t n;

	make_plan(want, &plan, &now);
	assert_int_equal(plan.n_conflicts, 0);
	n = plan.n_steps;
	if (apply_plan(&plan, &txn) != 0)
		fail_msg("%s: %s", txn.failed->text, txn.reason);
	plan_free(&plan);
	observation_free(now);
	assert_nothing_to_do(want);
	return n;
}

/* Applies one hand-made step; what it says when it fails goes to reason. */
static int apply_one(struct overlay_step os, char reason[256])
{
	const struct step step = {.subsystem = &test_subsystem, .object = "test", .text = "test", .payload = &os};
	const struct step *const steps[] = {&step};
	struct txn txn = {0};
	int r = overlay_apply(&txn, steps, 1);

	if (r < 0)
		assert_ptr_equal(txn.failed, &step);
	assert_int_equal(r, txn.error);
	(void)snprintf(reason, 256, "%s", txn.reason);
	return r;
}

/* Every test has a namespace of its own: the old one goes with all that is in it. */
static int setup(void **state)
{
	if (unshare(CLONE_NEWNET) < 0)
		return -1;
	run("ip link set lo up");
	run("ip addr add 10.255.0.1/32 dev lo");
	*state = arena_new();
	return 0;
}

static int teardown(void **state)
{
	arena_free(*state);
	return 0;
}

static void add_veth(const char *name)
{
	char command[128];

	(void)snprintf(command, sizeof(command), "ip link add %s type veth peer name %s-far", name, name);
	run(command);
	(void)snprintf(command, sizeof(command), "ip link set %s-far up", name);
	run(command);
}

/* --- observe what was applied --- */

static size_t n_our_addrs(void)
{
	struct observation *now;
	size_t n = 0;

	assert_int_equal(observe(false, &now), 0);
	for (size_t i = 0; i < now->model.n_addrs; i++)
		n += now->model.addrs[i].proto == FAIRWAY_PROTO;
	observation_free(now);
	return n;
}

static void test_everything_at_once(void **state)
{
	struct kernel_model *m = new_model(*state), *none = new_model(*state);

	add_veth("e0");
	add_veth("e1");
	want_segment(m, 10010, 1500);
	want_segment(m, 10020, 9000);
	want_link(m, "e0")->mtu = 1400;
	m->links[m->n_links - 1].attrs |= LA_MTU;
	(void)want_link(m, "e1");
	want_addr(m, "e0", "172.31.0.1/30");
	want_addr(m, "e1", "172.31.0.5/30");
	want_addr(m, "e0", "fd00:31::1/64");
	want_addr(m, "br10010", "10.99.1.1/24");
	want_addr(m, "br10010", "fd00:99::1/64");
	want_fdb(m, vx, "00:00:00:00:00:00", "10.255.1.1");
	want_fdb(m, vx, "00:00:00:00:00:00", "10.255.2.1");
	want_fdb(m, vx, "02:00:00:00:00:01", "10.255.1.1");
	want_route(m, "10.255.1.1/32", 2, (const char *const[][2]){{"172.31.0.2", "e0"}, {"172.31.0.6", "e1"}});
	want_route(m, "10.255.2.1/32", 1, (const char *const[][2]){{"172.31.0.2", "e0"}});
	want_route(m, "fd00:255::/48", 1, (const char *const[][2]){{"fd00:31::2", "e0"}});
	(void)model_add_sysctl(m, "net/ipv4/ip_forward", "1");
	(void)model_add_sysctl(m, "net/ipv4/conf/e0/rp_filter", "2");
	(void)model_add_sysctl(m, "net/ipv4/conf/e0/send_redirects", "0");
	(void)model_add_sysctl(m, "net/ipv4/conf/e0/accept_redirects", "0");
	(void)model_add_sysctl(m, "net/ipv6/conf/e0/accept_redirects", "0");
	model_seal(m);
	assert_true(converge(m) > 15);
	assert_int_equal(n_our_addrs(), 5);
	assert_int_equal(converge(m), 0);
	(void)converge(none);
	assert_int_equal(n_our_addrs(), 0);
}

static void test_vxlan_attributes_come_back_as_written(void **state)
{
	static const uint8_t df[] = {DF_INHERIT, DF_SET, DF_UNSET};
	static const uint16_t tos[] = {TOS_INHERIT, 0, 184};
	struct kernel_model *m = new_model(*state);

	(void)want_vxlan(m, vx, 10010, 1450, "");
	model_seal(m);
	assert_int_equal(converge(m), 1);
	for (size_t i = 0; i < ARRAY_SIZE(df); i++) {
		m->links[0].vxlan.df = df[i];
		m->links[0].vxlan.tos = tos[i];
		m->links[0].vxlan.ttl = (uint8_t)(100 + i);
		m->links[0].vxlan.learning = i % 2;
		m->links[0].mtu = (uint32_t)(1440 - i);
		assert_int_equal(converge(m), 1);
	}
	m->links[0].vxlan.local = addr("10.255.0.2");
	assert_int_equal(converge(m), 1);
}

static void test_ipv6_underlay(void **state)
{
	struct kernel_model *m = new_model(*state);
	struct link *l = want_vxlan(m, vx, 10010, 1430, "");

	l->vxlan.local = addr("fd00:255::1");
	want_fdb(m, vx, "00:00:00:00:00:00", "fd00:255::2");
	want_fdb(m, vx, "00:00:00:00:00:00", "fd00:255::3");
	model_seal(m);
	run("ip addr add fd00:255::1/128 dev lo nodad");
	(void)converge(m);
}

static void test_bridge_keeps_its_mtu_when_a_smaller_port_joins(void **state)
{
	struct kernel_model *m = new_model(*state);
	struct link *port;

	add_veth("e0");
	run("ip link set e0 mtu 1400");
	want_segment(m, 10010, 1500);
	model_seal(m);
	(void)converge(m);
	port = want_link(m, "e0");
	port->attrs |= LA_MASTER;
	(void)snprintf(port->master, sizeof(port->master), "%s", br);
	model_seal(m);
	assert_int_equal(converge(m), 1);
}

static void test_checksum_offload(void **state)
{
	struct kernel_model *m = new_model(*state);
	struct link *l = want_vxlan(m, vx, 10010, 1450, "");

	l->tx_csum = false;
	model_seal(m);
	assert_int_equal(converge(m), 1);
	l->tx_csum = true;
	assert_int_equal(converge(m), 1);
	l->tx_csum = false;
	assert_int_equal(converge(m), 1);
}

static void test_multipath_grows_and_shrinks_in_place(void **state)
{
	static const char *const v4[][2] = {{"172.31.0.2", "e0"}, {"172.31.0.6", "e1"}, {"172.31.0.10", "e2"}};
	static const char *const v6[][2] = {{"fd00:31::2", "e0"}, {"fd00:32::2", "e1"}, {"fd00:33::2", "e2"}};
	static const size_t sizes[] = {1, 2, 3, 2, 1, 3};

	for (int i = 0; i < 3; i++) {
		char command[128], name[8];

		(void)snprintf(name, sizeof(name), "e%d", i);
		add_veth(name);
		(void)snprintf(command, sizeof(command), "ip addr add 172.31.0.%d/30 dev e%d", 4 * i + 1, i);
		run(command);
		(void)snprintf(command, sizeof(command), "ip link set e%d up", i);
		run(command);
		(void)snprintf(command, sizeof(command), "ip addr add fd00:3%d::1/64 dev e%d nodad", i + 1, i);
		run(command);
	}
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct kernel_model *m = new_model(*state);

		for (int k = 0; k < 3; k++)
			(void)want_link(m, v4[k][1]);
		want_route(m, "10.255.1.1/32", sizes[i], v4);
		m->routes[m->n_routes - 1].mtu = i % 2 ? 1400 : 0;
		want_route(m, "fd00:255::1/128", sizes[i], v6);
		m->routes[m->n_routes - 1].mtu = i % 2 ? 1350 : 0;
		want_route(m, "10.9.0.0/16", 0, NULL); /* unreachable */
		want_route(m, "fd00:9::/32", 0, NULL);
		model_seal(m);
		assert_int_equal(converge(m), i == 0 ? 4 : 2);
	}
	assert_int_equal(converge(new_model(*state)), 4);
}

/* --- drift --- */

static void test_ipv6_addresses_return_after_the_link_was_down(void **state)
{
	struct kernel_model *m = new_model(*state);

	add_veth("e0");
	(void)want_link(m, "e0");
	want_addr(m, "e0", "fd00:31::1/64");
	want_addr(m, "e0", "172.31.0.1/30");
	model_seal(m);
	(void)converge(m);
	run("ip link set e0 down");
	run("ip link set e0 up");
	assert_int_equal(converge(m), 1);
	run("ip link set e0 mtu 1200");
	run("ip link set e0 mtu 1500");
	assert_int_equal(converge(m), 1);
}

static void test_other_peoples_objects_stay(void **state)
{
	struct kernel_model *m = new_model(*state), *none = new_model(*state);

	run("ip link add vxother type vxlan id 77 local 10.255.0.1 dstport 4789");
	run("bridge fdb append 00:00:00:00:00:00 dev vxother dst 10.9.9.9");
	run("ip link add brother type bridge");
	run("ip addr add 192.0.2.1/24 dev brother");
	run("ip link set brother up");
	run("ip route add 198.51.100.0/24 via 192.0.2.2");
	want_segment(m, 10010, 1500);
	model_seal(m);
	model_seal(none);
	assert_int_equal(converge(m), 2);
	assert_int_equal(converge(none), 2);
	run("ip link show vxother");
	run("ip link show brother");
	run("ip route get 198.51.100.1");
	assert_int_equal(try_run("bridge fdb append 00:00:00:00:00:00 dev vxother dst 10.9.9.8"), 0);
}

/* Links that a crash left in the doomed group are adopted, and outlive the deletion of others. */
static void test_doomed_links_are_only_those_of_the_plan(void **state)
{
	struct kernel_model *all = new_model(*state), *some = new_model(*state);

	for (uint32_t i = 0; i < 70; i++)
		want_segment(all, 10010 + i, 1500);
	want_segment(some, 10010, 1500);
	model_seal(all);
	model_seal(some);
	assert_int_equal(converge(all), 140);
	run("ip link set vx10010 group 4002");
	run("ip link set br10010 group 4002");
	assert_int_equal(converge(all), 0);
	assert_int_equal(converge(some), 138);
	assert_int_equal(converge(some), 0);
}

/* --- batches --- */

static void begin_fdb(struct rtsock *s, uint32_t i, uint32_t ifindex)
{
	const struct fdb f = {.mac = {{2, 0, 0, 0, (uint8_t)(i >> 8), (uint8_t)i}}, .dst = addr("10.255.1.1")};

	build_fdb(rtsock_begin(s, RTM_NEWNEIGH, NLM_F_CREATE | NLM_F_REPLACE), &f, ifindex);
}

static size_t n_fdbs(void)
{
	struct observation *now;
	size_t n;

	assert_int_equal(observe(false, &now), 0);
	n = now->model.n_fdbs;
	observation_free(now);
	return n;
}

static void test_batches_send_64_at_once(void **state)
{
	static const size_t sizes[] = {1, 63, 64, 65, 128, 200};
	struct kernel_model *m = new_model(*state);

	(void)want_vxlan(m, vx, 10010, 1450, "");
	model_seal(m);
	(void)converge(m);
	for (size_t k = 0; k < ARRAY_SIZE(sizes); k++) {
		_cleanup_(rtsock_closep) struct rtsock *s = NULL;
		struct rtsock_failure failure = {0};
		size_t n = sizes[k];

		run("ip link set vx10010 down");
		run("bridge fdb flush dev vx10010");
		assert_int_equal(n_fdbs(), 0);
		assert_int_equal(rtsock_open(&s), 0);
		for (uint32_t i = 0; i < n; i++) {
			begin_fdb(s, i, FAIRWAY_IFINDEX_VXLAN | 10010);
			assert_int_equal(rtsock_queue(s, &sizes[k], &failure), 0);
		}
		assert_int_equal(rtsock_flush(s, &failure), 0);
		assert_int_equal(rtsock_n_sends(s), (n + 63) / 64);
		assert_int_equal(n_fdbs(), n);
	}
}

/* The failure carries the tag of its own request, wherever that stands in a batch, and the kernel's words. */
static void test_failures_are_told_apart(void **state)
{
	static const size_t positions[] = {0, 1, 62, 63, 64, 65, 127, 128, 199};
	static const char tags[200];
	struct kernel_model *m = new_model(*state);

	(void)want_vxlan(m, vx, 10010, 1450, "");
	model_seal(m);
	(void)converge(m);
	for (size_t k = 0; k < ARRAY_SIZE(positions); k++) {
		_cleanup_(rtsock_closep) struct rtsock *s = NULL;
		struct rtsock_failure failure = {0};
		int r = 0;

		assert_int_equal(rtsock_open(&s), 0);
		for (uint32_t i = 0; i < ARRAY_SIZE(tags) && r == 0; i++) {
			begin_fdb(s, i, i == positions[k] ? 999999 : FAIRWAY_IFINDEX_VXLAN | 10010);
			r = rtsock_queue(s, &tags[i], &failure);
		}
		if (r == 0)
			r = rtsock_flush(s, &failure);
		assert_int_equal(r, -ENODEV);
		assert_ptr_equal(failure.tag, &tags[positions[k]]);
		assert_string_equal(failure.words, "unknown ifindex");
	}
}

static void test_many_steps_cross_batches(void **state)
{
	static const size_t sizes[] = {62, 63, 64, 65, 200};

	for (size_t k = 0; k < ARRAY_SIZE(sizes); k++) {
		struct kernel_model *m = new_model(*state);

		(void)want_vxlan(m, vx, 10010, 1450, "");
		for (uint32_t i = 0; i < sizes[k]; i++) {
			const struct mac_addr mac = {{2, 0, 0, (uint8_t)k, (uint8_t)(i >> 8), (uint8_t)i}};
			char text[MAC_STR_MAX];

			want_fdb(m, vx, mac_addr_str(&mac, text), "10.255.1.1");
		}
		for (uint32_t i = 0; i < sizes[k] / 3; i++)
			want_segment(m, 20000 + i, 1500);
		model_seal(m);
		(void)converge(m);
	}
}

/* --- what the kernel refuses --- */

static void test_words_of_failures(void **state)
{
	struct kernel_model *m = new_model(*state);
	struct link *l = want_vxlan(m, vx, 10010, 1450, ""), *missing = want_link(m, "nosuch0");
	struct overlay_step os = {.op = OP_LINK_CREATE, .link = l, .change = l->attrs, .ifindex = l->ifindex};
	struct ip_route *r = want_route(m, "10.1.0.0/16", 1, (const char *const[][2]){{"203.0.113.1", ""}});
	struct sysctl sysctl = {.key = "net/ipv4/no_such_key", .value = "1"};
	char reason[256];

	run("ip link add other type vxlan id 10010 local 10.255.0.1 dstport 4789");
	assert_int_equal(apply_one(os, reason), -EEXIST);
	assert_string_equal(reason,
		"vx10010: somebody else's device has its name or its VNI and port (kernel: A VXLAN "
		"device with the specified VNI already exists)");
	run("ip link del other");
	run("ip link add vx10010 type bridge");
	assert_int_equal(apply_one(os, reason), -EEXIST);
	assert_true(str_starts(reason, "vx10010: somebody else's device has its name"));
	run("ip link del vx10010");

	os = (struct overlay_step){.op = OP_LINK_CHANGE, .link = missing, .change = LA_UP};
	assert_int_equal(apply_one(os, reason), -ENODEV);
	assert_string_equal(reason, "nosuch0: the interface does not exist");
	(void)snprintf(l->master, sizeof(l->master), "nosuch1");
	os = (struct overlay_step){.op = OP_LINK_CREATE, .link = l, .change = l->attrs, .ifindex = l->ifindex};
	assert_int_equal(apply_one(os, reason), -ENODEV);
	assert_string_equal(reason, "nosuch1: the interface does not exist");

	os = (struct overlay_step){.op = OP_ROUTE_REPLACE, .route = r};
	assert_int_equal(apply_one(os, reason), -ENETUNREACH);
	assert_string_equal(reason, "a next hop is not on a connected network (kernel: Nexthop has invalid gateway)");
	os = (struct overlay_step){.op = OP_SYSCTL_SET, .sysctl = &sysctl};
	assert_int_equal(apply_one(os, reason), -ENOENT);
	assert_string_equal(reason, "this kernel does not have it");
	sysctl.optional = true;
	assert_int_equal(apply_one(os, reason), 0);
}

/* The step that failed is named, not the first or the last of its batch. */
static void test_the_failing_step_is_named(void **state)
{
	struct kernel_model *m = new_model(*state);
	struct observation *now;
	struct txn txn = {0};
	struct plan plan;

	for (uint32_t i = 0; i < 100; i++)
		want_segment(m, 10000 + i, 1500);
	model_seal(m);
	make_plan(m, &plan, &now);
	run("ip link add other type vxlan id 10057 local 10.255.0.1 dstport 4789");
	assert_int_equal(apply_plan(&plan, &txn), -EEXIST);
	assert_string_equal(txn.failed->text, "create vx10057 (VXLAN, VNI 10057, MTU 1500)");
	plan_free(&plan);
	observation_free(now);
	run("ip link del other");
	(void)converge(m);
}

/* To delete what is gone already is no failure. */
static void test_deleting_what_is_gone(void **state)
{
	struct kernel_model *m = new_model(*state);
	struct link *l = want_vxlan(m, vx, 10010, 1450, "");
	struct ip_route *r = want_route(m, "10.1.0.0/16", 1, (const char *const[][2]){{"203.0.113.1", ""}});
	char reason[256];

	want_fdb(m, vx, "00:00:00:00:00:00", "10.255.1.1");
	want_addr(m, vx, "10.99.1.1/24");
	assert_int_equal(
		apply_one((struct overlay_step){.op = OP_LINK_DELETE, .link = l, .ifindex = l->ifindex}, reason), 0);
	assert_int_equal(apply_one((struct overlay_step){.op = OP_LINK_DELETE, .link = l}, reason), 0);
	assert_int_equal(apply_one((struct overlay_step){.op = OP_FDB_DELETE, .fdb = m->fdbs}, reason), 0);
	assert_int_equal(apply_one((struct overlay_step){.op = OP_ADDR_DELETE, .addr = m->addrs}, reason), 0);
	assert_int_equal(apply_one((struct overlay_step){.op = OP_ROUTE_DELETE, .route = r}, reason), 0);
	run("ip link add vx10010 type vxlan id 1 local 10.255.0.1 dstport 4789");
	assert_int_equal(apply_one((struct overlay_step){.op = OP_FDB_DELETE, .fdb = m->fdbs}, reason), 0);
	assert_int_equal(apply_one((struct overlay_step){.op = OP_ADDR_DELETE, .addr = m->addrs}, reason), 0);
}

static void test_probing_leaves_nothing(void **state)
{
	struct observation *before, *after;
	bool has_vrf;

	(void)state;
	assert_int_equal(observe(false, &before), 0);
	has_vrf = overlay_probe_vrf();
	assert_int_equal(observe(false, &after), 0);
	assert_int_equal(after->model.n_links, before->model.n_links);
	observation_free(before);
	observation_free(after);
	/* ip(8) as the second opinion. */
	assert_int_equal(try_run("ip link add v type vrf table 10") == 0, has_vrf);
}

/* --- events --- */

/* The kernel tells of carrier up to a second late: waits until it is silent for longer. */
static void settle(struct monitor *m)
{
	struct pollfd fd = {.fd = monitor_fd(m), .events = POLLIN};

	do
		assert_true(monitor_read(m) >= 0);
	while (poll(&fd, 1, 1500) > 0);
}

/* What the monitor says after a command; waits a moment for the event, if there is one. */
static int event_of(struct monitor *m, const char *command)
{
	struct pollfd fd = {.fd = monitor_fd(m), .events = POLLIN};

	assert_true(monitor_read(m) >= 0);
	run(command);
	(void)poll(&fd, 1, 200);
	return monitor_read(m);
}

/* On a busy machine an earlier event may come in between: only what wakes every time does wake. */
static bool is_slept_through(struct monitor *m, const char *const commands[2])
{
	for (int i = 0; i < 5; i++) {
		int woken = event_of(m, commands[0]);

		woken |= event_of(m, commands[1]);
		if (!woken)
			return true;
	}
	return false;
}

static void test_monitor(void **state)
{
	static const char *const relevant[] = {
		"ip addr add 10.99.1.1/24 dev br10010",
		"ip addr del 10.99.1.1/24 dev br10010",
		"ip addr add fd00:99::1/64 dev br10010 nodad",
		"bridge fdb append 00:00:00:00:00:00 dev vx10010 dst 10.255.9.1",
		"bridge fdb del 00:00:00:00:00:00 dev vx10010 dst 10.255.9.1",
		"bridge fdb replace 02:00:00:00:00:09 dev vx10010 dst 10.255.9.1 self static",
		"bridge fdb del 02:00:00:00:00:09 dev vx10010 dst 10.255.9.1",
		"bridge link set dev vx10010 isolated on",
		"bridge link set dev vx10010 state 0",
		"ip route add 10.9.0.0/16 dev br10010 proto 250",
		"ip route del 10.9.0.0/16 dev br10010 proto 250",
		"ip route add 10.8.0.0/16 dev br10010 proto 250",
		"ip route replace 10.8.0.0/16 dev vx10010 proto static",
		"ip -6 route add fd00:9::/32 dev br10010 proto 250",
		"ip -6 route del fd00:9::/32 dev br10010 proto 250",
		"sysctl -q -w net.ipv4.conf.br10010.rp_filter=1",
		"ip link set vx10010 mtu 1400",
		"ip link del vx10010",
	};
	static const char *const irrelevant[][2] = {
		{"bridge fdb add 02:00:00:00:00:01 dev vx10010 dst 10.255.1.1 dynamic",
			"bridge fdb del 02:00:00:00:00:01 dev vx10010 dst 10.255.1.1"},
		{"ip neigh add 10.77.0.2 lladdr 02:00:00:00:00:02 dev br10010 nud reachable",
			"ip neigh del 10.77.0.2 dev br10010"},
		{"ip neigh add 10.77.0.3 lladdr 02:00:00:00:00:03 dev br10010 nud permanent",
			"ip neigh del 10.77.0.3 dev br10010"},
		{"ip route add 198.51.100.0/24 dev br10010 proto bgp",
			"ip route del 198.51.100.0/24 dev br10010 proto bgp"},
	};
	struct kernel_model *m = new_model(*state);
	struct monitor *monitor;

	want_segment(m, 10010, 1500);
	model_seal(m);
	(void)converge(m);
	assert_int_equal(monitor_open(&monitor), 0);
	settle(monitor);
	for (size_t i = 0; i < ARRAY_SIZE(irrelevant); i++)
		if (!is_slept_through(monitor, irrelevant[i]))
			fail_msg("woken by %s", irrelevant[i][0]);
	for (size_t i = 0; i < ARRAY_SIZE(relevant); i++)
		if (event_of(monitor, relevant[i]) != 1)
			fail_msg("slept through %s", relevant[i]);
	monitor_close(monitor);
}

/* More than the socket holds: an overrun counts as a change, and reading goes on after it. */
static void test_monitor_overrun(void **state)
{
	struct kernel_model *m = new_model(*state);
	struct monitor *monitor;
	int small = 1;

	assert_int_equal(monitor_open(&monitor), 0);
	assert_int_equal(setsockopt(monitor_fd(monitor), SOL_SOCKET, SO_RCVBUF, &small, sizeof(small)), 0);
	for (uint32_t i = 0; i < 20; i++)
		want_segment(m, 10010 + i, 1500);
	model_seal(m);
	(void)converge(m);
	assert_int_equal(monitor_read(monitor), 1);
	settle(monitor);
	assert_int_equal(event_of(monitor, "ip link del vx10010"), 1);
	monitor_close(monitor);
}

/* A stranger's route wakes nobody, and is told when asked; so are many, which the small buffer cannot hold. */
static void test_monitor_routes(void **state)
{
	struct kernel_model *m = new_model(*state);
	struct monitor *monitor;

	want_segment(m, 10010, 1500);
	model_seal(m);
	(void)converge(m);
	assert_int_equal(monitor_open(&monitor), 0);
	settle(monitor);
	(void)monitor_routes(monitor);
	assert_int_equal(monitor_routes(monitor), 0);
	assert_int_equal(event_of(monitor, "ip route add 198.51.100.0/24 dev br10010 proto bgp"), 0);
	assert_int_equal(monitor_routes(monitor), 1);
	assert_int_equal(monitor_routes(monitor), 0);
	assert_int_equal(event_of(monitor, "ip -6 route add fd00:66::/48 dev br10010 proto bgp"), 0);
	assert_int_equal(monitor_routes(monitor), 1);
	for (int i = 0; i < 50; i++) {
		char command[80];

		(void)snprintf(command, sizeof(command), "ip route add 198.18.%d.0/24 dev br10010 proto bgp", i);
		run(command);
	}
	assert_int_equal(monitor_routes(monitor), 1);
	assert_int_equal(monitor_routes(monitor), 0);
	monitor_close(monitor);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(test_everything_at_once),
		TEST(test_vxlan_attributes_come_back_as_written),
		TEST(test_ipv6_underlay),
		TEST(test_bridge_keeps_its_mtu_when_a_smaller_port_joins),
		TEST(test_checksum_offload),
		TEST(test_multipath_grows_and_shrinks_in_place),
		TEST(test_ipv6_addresses_return_after_the_link_was_down),
		TEST(test_other_peoples_objects_stay),
		TEST(test_doomed_links_are_only_those_of_the_plan),
		TEST(test_batches_send_64_at_once),
		TEST(test_failures_are_told_apart),
		TEST(test_many_steps_cross_batches),
		TEST(test_words_of_failures),
		TEST(test_the_failing_step_is_named),
		TEST(test_deleting_what_is_gone),
		TEST(test_probing_leaves_nothing),
		TEST(test_monitor),
		TEST(test_monitor_overrun),
		TEST(test_monitor_routes),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests_name("nl_selftest", tests, NULL, NULL);
}
