/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernel models: order, identity, equality, and wishes for one link that add up in any order. */
/* LINK: overlay/model.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "gateway/base/arena.h"
#include "gateway/base/str.h"
#include "overlay/model.h"

static struct ip_addr addr(const char *text)
{
	struct ip_addr a;

	assert_int_equal(ip_addr_parse(text, &a), 0);
	return a;
}

static struct ip_prefix prefix(const char *text)
{
	struct ip_prefix p;

	assert_int_equal(ip_prefix_parse(text, &p), 0);
	return p;
}

static void test_links(void **state)
{
	struct kernel_model m = {.arena = arena_new()};
	char name[16];

	(void)state;
	assert_null(model_link(&m, "eth0"));
	for (unsigned i = 0; i < 1000; i++) {
		(void)snprintf(name, sizeof(name), "vx%u", (i * 7919) % 1000);
		model_add_link(&m, name)->mtu = i;
	}
	model_seal(&m);
	assert_int_equal(m.n_links, 1000);
	for (size_t i = 1; i < m.n_links; i++)
		assert_true(link_cmp(&m.links[i - 1], &m.links[i]) < 0);
	assert_int_equal(model_link(&m, "vx919")->mtu, 1);
	assert_null(model_link(&m, "vx1000"));
	/* A name that is too long is cut, as the kernel would refuse it. */
	assert_string_equal(model_add_link(&m, "abcdefghijklmnopq")->name, "abcdefghijklmno");
	arena_free(m.arena);
}

static void add_entry(struct kernel_model *m)
{
	struct link *l = model_add_link(m, "eth2");

	l->attrs = LA_UP | LA_MTU;
	l->up = true;
	l->mtu = 9000;
	l->object = "interface eth2";
}

static void add_member(struct kernel_model *m)
{
	struct link *l = model_add_link(m, "eth2");

	l->attrs = LA_UP | LA_MASTER;
	l->up = true;
	(void)snprintf(l->master, sizeof(l->master), "br10");
	l->object = "segment gpu";
}

static void add_down(struct kernel_model *m)
{
	struct link *l = model_add_link(m, "eth2");

	l->attrs = LA_UP;
	l->object = "interface eth2";
}

static void test_merge(void **state)
{
	static void (*const orders[][3])(struct kernel_model *) = {
		{add_entry, add_member, NULL},
		{add_member, add_entry, NULL},
		{add_entry, add_down, add_member},
		{add_member, add_down, add_entry},
		{add_down, add_member, add_entry},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(orders); i++) {
		struct kernel_model m = {.arena = arena_new()};

		for (size_t k = 0; k < 3 && orders[i][k]; k++)
			orders[i][k](&m);
		model_seal(&m);
		assert_int_equal(m.n_links, 1);
		assert_int_equal(m.links[0].attrs, LA_UP | LA_MTU | LA_MASTER);
		assert_int_equal(m.links[0].mtu, 9000);
		assert_string_equal(m.links[0].master, "br10");
		assert_string_equal(m.links[0].object, "segment gpu");
		assert_int_equal(m.links[0].up, !orders[i][2]); /* down wins */
		arena_free(m.arena);
	}
}

/* After a model was cut short, an element that is added is zeroed all the same: observe starts over like that. */
static void test_zeroed(void **state)
{
	struct kernel_model m = {.arena = arena_new()};

	(void)state;
	model_add_link(&m, "eth0")->mtu = 1500;
	model_add_addr(&m)->proto = 7;
	model_add_fdb(&m)->dst = addr("10.0.0.1");
	model_add_route(&m)->metric = 7;
	model_add_sysctl(&m, "a", "1")->optional = true;
	m.n_links = m.n_addrs = m.n_fdbs = m.n_routes = m.n_sysctls = 0;
	assert_int_equal(model_add_link(&m, "eth1")->mtu, 0);
	assert_int_equal(model_add_addr(&m)->proto, 0);
	assert_int_equal(model_add_fdb(&m)->dst.family, AF_UNSPEC);
	assert_int_equal(model_add_route(&m)->metric, 0);
	assert_false(model_add_sysctl(&m, "b", "2")->optional);
	arena_free(m.arena);
}

static void test_identity(void **state)
{
	struct if_addr a = {.link = "eth0", .addr = prefix("10.0.0.1/24")}, b = a;
	struct fdb f = {.link = "vx1", .dst = addr("10.0.0.1")}, g = f;
	struct ip_route r = {.table = 254, .dst = prefix("10.0.0.0/8")}, s = r;

	(void)state;
	a.proto = 1;
	a.nodad = true;
	assert_int_equal(if_addr_cmp(&a, &b), 0); /* what differs is not who it is */
	b.addr.len = 25;
	assert_true(if_addr_cmp(&a, &b) < 0);
	(void)snprintf(b.link, sizeof(b.link), "eth");
	assert_true(if_addr_cmp(&a, &b) > 0);
	g.dst = addr("10.0.0.2");
	assert_true(fdb_cmp(&f, &g) < 0);
	g.mac.bytes[5] = 1;
	f.dst = addr("10.0.0.3");
	assert_true(fdb_cmp(&f, &g) < 0); /* the MAC before the destination */
	s.n_nexthops = 1;
	s.proto = 9;
	assert_int_equal(ip_route_cmp(&r, &s), 0);
	s.metric = 5;
	assert_true(ip_route_cmp(&r, &s) < 0);
	s.dst = prefix("10.0.0.0/7");
	assert_true(ip_route_cmp(&r, &s) > 0);
	r.table = 253;
	assert_true(ip_route_cmp(&r, &s) < 0);
}

static void test_nexthops(void **state)
{
	struct nexthop x[2] = {{addr("10.0.0.1"), "eth0", 1}, {addr("10.0.0.2"), "eth1", 2}};
	struct nexthop y[2] = {{addr("10.0.0.1"), "eth0", 1}, {addr("10.0.0.2"), "eth1", 2}};
	struct ip_route a = {.nexthops = x, .n_nexthops = 2}, b = {.nexthops = y, .n_nexthops = 2};

	(void)state;
	assert_true(ip_route_same_nexthops(&a, &b));
	y[1].weight = 3;
	assert_false(ip_route_same_nexthops(&a, &b));
	y[1].weight = 2;
	(void)snprintf(y[1].link, sizeof(y[1].link), "eth2");
	assert_false(ip_route_same_nexthops(&a, &b));
	y[1].link[0] = '\0'; /* the kernel may choose */
	assert_true(ip_route_same_nexthops(&a, &b));
	y[1].via = addr("10.0.0.3");
	assert_false(ip_route_same_nexthops(&a, &b));
	b.n_nexthops = 1;
	assert_false(ip_route_same_nexthops(&a, &b));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_links),
		cmocka_unit_test(test_merge),
		cmocka_unit_test(test_zeroed),
		cmocka_unit_test(test_identity),
		cmocka_unit_test(test_nexthops),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
