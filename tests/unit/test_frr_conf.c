/* SPDX-License-Identifier: GPL-2.0-or-later */
/* FRR's configuration as a tree: built, read as FRR 8.4 prints it, printed. */
/* LINK: routing/frr_conf.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>

#include "gateway/base/arena.h"
#include "gateway/base/buf.h"
#include "gateway/base/cleanup.h"
#include "gateway/base/str.h"
#include "routing/frr_conf.h"

/* What `show running-config` printed, cut down. */
static const char running[] = "frr version 8.4.4\n"
			      "frr defaults traditional\n"
			      "!\n"
			      "hostname vm\n"
			      "! \"log stdout notifications\" enabled by \"--log\" startup option\n"
			      "!\n"
			      "!\n"
			      "router bgp 65001\n"
			      " no bgp default ipv4-unicast\n"
			      " neighbor 10.0.1.2 remote-as 65002\n"
			      " neighbor 10.0.1.2 password s3cret\n"
			      " !\n"
			      " address-family l2vpn evpn\n"
			      "  advertise-all-vni\n"
			      "  vni 100\n"
			      "   rd 10.255.0.1:100\n"
			      "  exit-vni\n"
			      "  vni 200\n"
			      "  exit-vni\n"
			      "  advertise-svi-ip\n"
			      " exit-address-family\n"
			      "!\n"
			      "exit\n"
			      "!\n"
			      "ip prefix-list L seq 5 permit 10.0.0.0/8\n"
			      "!\n"
			      "route-map EMPTY deny 30\n"
			      "exit\n"
			      "!\n";

static const char printed[] = "router bgp 65001\n"
			      " no bgp default ipv4-unicast\n"
			      " neighbor 10.0.1.2 remote-as 65002\n"
			      " neighbor 10.0.1.2 password ********\n"
			      " address-family l2vpn evpn\n"
			      "  advertise-all-vni\n"
			      "  vni 100\n"
			      "   rd 10.255.0.1:100\n"
			      "  exit-vni\n"
			      "  vni 200\n"
			      "  exit-vni\n"
			      "  advertise-svi-ip\n"
			      " exit-address-family\n"
			      "exit\n"
			      "!\n"
			      "ip prefix-list L seq 5 permit 10.0.0.0/8\n"
			      "route-map EMPTY deny 30\n"
			      "exit\n"
			      "!\n";

static void assert_prints(const struct frr_conf *conf, bool mask, const char *want)
{
	_cleanup_(buf_free) struct buf out = {0};

	frr_conf_print(conf, mask, &out);
	assert_string_equal(buf_str(&out), want);
}

static void test_parse(void **state)
{
	_cleanup_(arena_freep) struct arena *arena = arena_new();
	_cleanup_(buf_free) struct buf again = {0};
	const struct frr_node *router, *family;
	struct frr_conf conf, copy;

	(void)state;
	frr_conf_init(&conf, arena);
	assert_int_equal(frr_conf_parse(running, strlen(running), &conf), 0);
	assert_prints(&conf, true, printed);
	router = frr_find(&conf, &conf.root, "router bgp 65001");
	assert_non_null(router);
	assert_true(router->block);
	assert_non_null(frr_find(&conf, router, "neighbor 10.0.1.2 password s3cret"));
	assert_null(frr_find(&conf, &conf.root, "neighbor 10.0.1.2 password s3cret"));
	family = frr_find(&conf, router, "address-family l2vpn evpn");
	assert_true(frr_find(&conf, family, "vni 200")->block);
	assert_false(frr_find(&conf, family, "advertise-svi-ip")->block);
	assert_true(frr_find(&conf, &conf.root, "route-map EMPTY deny 30")->block);

	frr_conf_print(&conf, false, &again);
	frr_conf_init(&copy, arena);
	assert_int_equal(frr_conf_parse(buf_str(&again), again.len, &copy), 0);
	assert_prints(&copy, true, printed);
	assert_prints(&copy, false, buf_str(&again));
}

static void test_build(void **state)
{
	_cleanup_(arena_freep) struct arena *arena = arena_new();
	struct frr_node *router, *one;
	struct frr_conf conf;

	(void)state;
	frr_conf_init(&conf, arena);
	assert_null(frr_find(&conf, &conf.root, "router bgp 1"));
	router = frr_block(&conf, &conf.root, NULL, "router bgp %u", 1u);
	one = frr_add(&conf, router, "line a", "neighbor %s remote-as %u", "10.0.0.2", 2u);
	assert_ptr_equal(frr_add(&conf, router, "line b", "neighbor 10.0.0.2 remote-as 2"), one);
	assert_string_equal(one->object, "line a");
	assert_ptr_equal(frr_block(&conf, &conf.root, NULL, "router bgp 1"), router);
	(void)frr_block(&conf, &conf.root, NULL, "bfd");
	(void)frr_add(&conf, &conf.root, NULL, "neighbor 10.0.0.2 remote-as 2");
	assert_prints(&conf, false,
		"router bgp 1\n neighbor 10.0.0.2 remote-as 2\nexit\n!\nbfd\nexit\n!\n"
		"neighbor 10.0.0.2 remote-as 2\n");
}

static void test_many(void **state)
{
	enum { N = 20000 };
	_cleanup_(arena_freep) struct arena *arena = arena_new();
	struct frr_conf conf;
	size_t n = 0;

	(void)state;
	frr_conf_init(&conf, arena);
	for (int round = 0; round < 2; round++)
		for (int i = 0; i < N; i++)
			(void)frr_add(&conf, &conf.root, NULL, "ip prefix-list L seq %d permit 10.0.0.0/8", i);
	for (const struct frr_node *node = conf.root.first; node; node = node->next)
		n++;
	assert_int_equal(n, N);
}

static void test_refuses(void **state)
{
	static const char *const bad[] = {
		"router bgp 1\n no bgp default ipv4-unicast\n",						 /* cut off */
		"router bgp 1\n address-family l2vpn evpn\n  advertise-all-vni\n exit-address-family\n", /* the same */
		" router bgp 1\nexit\n",			       /* in nothing */
		"exit\n",					       /* of nothing */
		"router bgp 1\nexit\nexit\n",			       /* twice */
		"router bgp 1\nexit\n neighbor x remote-as 2\nexit\n", /* after its end */
		"router bgp 1\n a\nb\nexit\n",			       /* without an end */
		"% Unknown command.\n",
		"router bgp 1\n\tx\nexit\n",
		"a\n b\n  c\n   d\n    e\n     f\n      g\n       h\n        i\n",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		_cleanup_(arena_freep) struct arena *arena = arena_new();
		struct frr_conf conf;

		frr_conf_init(&conf, arena);
		if (frr_conf_parse(bad[i], strlen(bad[i]), &conf) != -EINVAL)
			fail_msg("taken for a configuration: %s", bad[i]);
	}
}

static void test_nul_and_nothing(void **state)
{
	_cleanup_(arena_freep) struct arena *arena = arena_new();
	struct frr_conf conf;

	(void)state;
	frr_conf_init(&conf, arena);
	assert_int_equal(frr_conf_parse("bfd\nexit\0\n", 10, &conf), -EINVAL);
	frr_conf_init(&conf, arena);
	assert_int_equal(frr_conf_parse(NULL, 0, &conf), 0);
	assert_null(conf.root.first);
	assert_int_equal(frr_conf_parse("\r\n!\nbfd  \r\nexit", 15, &conf), 0);
	assert_prints(&conf, false, "bfd\nexit\n!\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_build),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_refuses),
		cmocka_unit_test(test_nul_and_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
