/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The difference of two configs: exact lines for each kind of change and its price. */
/* LINK: config/print.c config/diff.c config/config.c config/decode.c config/diag.c config/schema.c config/types.c config/types_bgp.c config/types_net.c config/types_policy.c config/endpoint.c config/types_text.c config/yaml.c config/text.c tests/lib/config_fixture.c */
/* LIBS: libfyaml jansson */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "config/config.h"
#include "config/diff.h"
#include "gateway/base/arena.h"
#include "gateway/base/buf.h"
#include "gateway/base/cleanup.h"
#include "gateway/base/str.h"
#include "tests/lib/config_fixture.h"

#define LINE_A "{name: a, interface: eth1, address: 172.31.0.1/30, peer-address: 172.31.0.2}"
#define BASE                                                                                                           \
	"system: {hostname: gw}\n"                                                                                     \
	"vtep: {address: 10.255.0.1}\n"                                                                                \
	"remotes: [{name: r, vtep: 10.255.1.1, lines: [a]}]\n"

static const char *difference(const struct config *a, const struct config *b)
{
	struct config_diff d = {.arena = test_arena};
	struct buf out = {0};
	const char *text;

	config_diff(a, b, &d);
	config_diff_print(&d, &out);
	text = arena_strdup(test_arena, buf_str(&out));
	buf_free(&out);
	return text;
}

static void assert_difference(const char *a, const char *b, const char *want)
{
	assert_string_equal(difference(must_parse(a), must_parse(b)), want);
}

static void test_same(void **state)
{
	(void)state;
	assert_difference(BASE "lines: [" LINE_A "]\n", "lines: [" LINE_A "]\n" BASE, "");
	assert_string_equal(difference(NULL, NULL), "");
}

static void test_entries(void **state)
{
	static const char old_text[] = BASE "lines: [" LINE_A "]\n"
					    "segments:\n"
					    "- {name: m, vni: 5, mode: routed}\n"
					    "- {name: b, vni: 2, mode: bridged, mss: 1300}\n"
					    "- {name: k, vni: 4, mode: bridged}\n";
	static const char new_text[] =
		BASE "lines: [" LINE_A "]\n"
		     "segments:\n"
		     "- {name: z, vni: 9, mode: routed, routes: [{prefix: 10.1.0.0/16, via: 10.0.0.1}]}\n"
		     "- {name: k, vni: 4, mode: bridged, mss: 1300}\n"
		     "- {name: a, vni: 1, mode: bridged, description: 'x: y'}\n"
		     "- {name: m, vni: 6, mode: routed}\n";

	(void)state;
	assert_difference(old_text, new_text,
		"+ segments a: {name: a, description: \"x: y\", vni: 1, mode: bridged}\n"
		"- segments b\n"
		"~ segments k mss: auto -> 1300 (live)\n"
		"~ segments m vni: 5 -> 6 (recreate)\n"
		"+ segments z: {name: z, vni: 9, mode: routed, routes: [{prefix: 10.1.0.0/16, via: 10.0.0.1}]}\n");
	assert_difference(new_text, old_text,
		"- segments a\n"
		"+ segments b: {name: b, vni: 2, mode: bridged, mss: 1300}\n"
		"~ segments k mss: 1300 -> auto (live)\n"
		"~ segments m vni: 6 -> 5 (recreate)\n"
		"- segments z\n");
}

static void test_rows(void **state)
{
	static const char head[] = BASE "lines: [{name: a, interface: eth1, address: 172.31.0.1/30, peer-address: ";
	char old_text[512], new_text[512];

	(void)state;
	(void)snprintf(old_text, sizeof(old_text), "%s%s", head,
		"172.31.0.2, rate: 1gbit, bgp: {peer-as: 65000}, bfd: {}, sla: {loss: 0%}}]\n"
		"tenants: [{name: t, table: 1000}]\ninterfaces: [{name: e, addresses: [10.0.0.1/24, 10.1.0.1/24]}]\n");
	(void)snprintf(new_text, sizeof(new_text), "%s%s", head,
		"172.31.0.2, tier: internet, bgp: {peer-as: 65001}, sla: {}}]\n"
		"tenants: [{name: t, table: 1000, l3-vni: 7}]\ninterfaces: [{name: e, addresses: [10.1.0.1/24, "
		"10.0.0.1/24]}]\n");
	assert_difference(old_text, new_text,
		"~ interfaces e addresses: [10.0.0.1/24, 10.1.0.1/24] -> [10.1.0.1/24, 10.0.0.1/24] (live)\n"
		"~ lines a tier: dedicated -> internet (live)\n"
		"- lines a rate\n"
		"- lines a bfd\n"
		"~ lines a bgp peer-as: 65000 -> 65001 (restart)\n"
		"- lines a sla loss\n"
		"+ tenants t l3-vni: 7 (recreate)\n");
	assert_difference(new_text, old_text,
		"~ interfaces e addresses: [10.1.0.1/24, 10.0.0.1/24] -> [10.0.0.1/24, 10.1.0.1/24] (live)\n"
		"~ lines a tier: internet -> dedicated (live)\n"
		"+ lines a rate: 1gbit\n"
		"+ lines a bfd: {}\n"
		"~ lines a bgp peer-as: 65001 -> 65000 (restart)\n"
		"+ lines a sla loss: 0%\n"
		"- tenants t l3-vni (recreate)\n");
}

static void test_from_nothing(void **state)
{
	const struct config *cfg = must_parse(BASE "lines: [" LINE_A "]\n");

	(void)state;
	assert_string_equal(difference(NULL, cfg),
		"+ system: {hostname: gw}\n"
		"+ lines a: " LINE_A "\n"
		"+ vtep: {address: 10.255.0.1}\n"
		"+ remotes r: {name: r, vtep: 10.255.1.1, lines: [a]}\n");
	assert_string_equal(difference(cfg, NULL), "- system\n- lines a\n- vtep\n- remotes r\n");
}

static void test_json(void **state)
{
	struct config_diff d = {.arena = test_arena};
	json_t *json;
	_cleanup_free_ char *text = NULL;

	(void)state;
	config_diff(must_parse("system: {hostname: a, site: x}\n"),
		must_parse("system: {hostname: b}\ninterfaces: [{name: e}]\n"), &d);
	json = config_diff_to_json(&d);
	text = json_dumps(json, JSON_COMPACT);
	json_decref(json);
	assert_string_equal(text,
		"[{\"kind\":\"change\",\"path\":\"system hostname\",\"old\":\"a\",\"new\":\"b\",\"change\":\"live\"},"
		"{\"kind\":\"remove\",\"path\":\"system site\",\"old\":\"x\",\"new\":null,\"change\":\"live\"},"
		"{\"kind\":\"add\",\"path\":\"interfaces e\",\"old\":null,\"new\":\"{name: e}\",\"change\":\"live\"}]");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CONFIG_TEST(test_same),
		CONFIG_TEST(test_entries),
		CONFIG_TEST(test_rows),
		CONFIG_TEST(test_from_nothing),
		CONFIG_TEST(test_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
