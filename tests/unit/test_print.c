/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Canonical YAML and JSON: exact texts, quoting that comes back as it was, and that every default in the schema is
 * canonical. */
/* LINK: config/print.c config/diff.c config/config.c config/decode.c config/diag.c config/schema.c config/types.c config/types_bgp.c config/types_net.c config/types_policy.c config/endpoint.c config/types_text.c config/text.c config/yaml.c config/text.c tests/lib/config_fixture.c */
/* LIBS: libfyaml jansson */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "config/config.h"
#include "config/diff.h"
#include "config/print.h"
#include "config/schema.h"
#include "config/types.h"
#include "gateway/base/buf.h"
#include "gateway/base/cleanup.h"
#include "gateway/base/str.h"
#include "tests/lib/config_fixture.h"

static const char sample[] =
	"# order, spelling and defaults are the operator's\n"
	"segments:\n"
	"  - {vni: 20, name: b, mode: routed, mss: {ipv6: 1300, ipv4: 1400}, tos: 8, routes: [{via: 'fd00::2', prefix: "
	"'fd00:1::/64'}]}\n"
	"  - name: a\n"
	"    mode: bridged\n"
	"    mtu: 1450\n"
	"    ttl: 64\n"
	"    df: inherit\n"
	"    vni: 10\n"
	"    remotes: [r]\n"
	"    members: [eth9, eth2]\n"
	"    gateway: [10.0.0.1/24, FD00:0::1/64]\n"
	"    macs: [{mac: 02:AA:00:00:00:01, remote: r}]\n"
	"lines: [{name: l, interface: eth1, address: 172.31.0.1/30, peer-address: 172.31.0.2, rate: 10000mbit, bfd: "
	"{},\n"
	"         sla: {loss: 0.10%, latency: 2000us}}]\n"
	"remotes: [{name: r, vtep: 10.255.1.1, lines: [l]}]\n"
	"vtep: {address: 10.255.0.1, assign: false}\n"
	"interfaces: [{name: lo, addresses: []}]\n"
	"system: {hostname: gw, role: gateway, description: 'say \"hi\", \\ 北京'}\n";

static const char sample_yaml[] = "system:\n"
				  "  hostname: gw\n"
				  "  description: \"say \\\"hi\\\", \\\\ 北京\"\n"
				  "interfaces:\n"
				  "  - name: lo\n"
				  "lines:\n"
				  "  - name: l\n"
				  "    interface: eth1\n"
				  "    address: 172.31.0.1/30\n"
				  "    peer-address: 172.31.0.2\n"
				  "    rate: 10gbit\n"
				  "    bfd: {}\n"
				  "    sla:\n"
				  "      latency: 2ms\n"
				  "      loss: 0.1%\n"
				  "vtep:\n"
				  "  address: 10.255.0.1\n"
				  "  assign: false\n"
				  "remotes:\n"
				  "  - name: r\n"
				  "    vtep: 10.255.1.1\n"
				  "    lines: [l]\n"
				  "segments:\n"
				  "  - name: a\n"
				  "    vni: 10\n"
				  "    mode: bridged\n"
				  "    members: [eth9, eth2]\n"
				  "    gateway: [10.0.0.1/24, \"fd00::1/64\"]\n"
				  "    remotes: [r]\n"
				  "    mtu: 1450\n"
				  "    macs:\n"
				  "      - mac: \"02:aa:00:00:00:01\"\n"
				  "        remote: r\n"
				  "  - name: b\n"
				  "    vni: 20\n"
				  "    mode: routed\n"
				  "    mss: {ipv4: 1400, ipv6: 1300}\n"
				  "    tos: 8\n"
				  "    routes:\n"
				  "      - prefix: \"fd00:1::/64\"\n"
				  "        via: \"fd00::2\"\n";

static void test_yaml(void **state)
{
	(void)state;
	assert_string_equal(printed(must_parse(sample)), sample_yaml);
	assert_string_equal(printed(must_parse(sample_yaml)), sample_yaml);
}

static void test_json(void **state)
{
	static const char want[] =
		"{\"system\":{\"hostname\":\"gw\",\"description\":\"say \\\"hi\\\", \\\\ "
		"北京\"},\"interfaces\":[{\"name\":"
		"\"lo\"}],\"lines\":[{\"name\":\"l\",\"interface\":\"eth1\",\"address\":\"172.31.0.1/"
		"30\",\"peer-address\":"
		"\"172.31.0.2\",\"rate\":\"10gbit\",\"bfd\":{},\"sla\":{\"latency\":\"2ms\",\"loss\":\"0.1%\"}}],"
		"\"vtep\":{"
		"\"address\":\"10.255.0.1\",\"assign\":false},\"remotes\":[{\"name\":\"r\",\"vtep\":\"10.255.1.1\","
		"\"lines\":["
		"\"l\"]}],\"segments\":[{\"name\":\"a\",\"vni\":10,\"mode\":\"bridged\",\"members\":[\"eth9\",\"eth2\"]"
		","
		"\"gateway\":[\"10.0.0.1/24\",\"fd00::1/64\"],\"remotes\":[\"r\"],\"mtu\":1450,\"macs\":[{\"mac\":"
		"\"02:aa:00:00:00:01\",\"remote\":\"r\"}]},{\"name\":\"b\",\"vni\":20,\"mode\":\"routed\",\"mss\":{"
		"\"ipv4\":"
		"1400,\"ipv6\":1300},\"tos\":8,\"routes\":[{\"prefix\":\"fd00:1::/64\",\"via\":\"fd00::2\"}]}]}";
	json_t *json = config_to_json(must_parse(sample));
	_cleanup_free_ char *text = json_dumps(json, JSON_COMPACT);

	(void)state;
	assert_string_equal(text, want);
	assert_string_equal(printed(must_parse(text)), sample_yaml); /* JSON is YAML */
	json_decref(json);
}

/* A description for each way in which a text could be taken for something else, and whether it has to be quoted. */
static void test_quoting(void **state)
{
	static const struct {
		const char *text;
		bool bare;
	} cases[] = {{"plain words", true}, {"a-b_c.d/e@f%g+h", true}, {"/path", true}, {"北京 1号", true}, {"", false},
		{" lead", false}, {"trail ", false}, {"~", false}, {"null", false}, {"Null", false}, {"true", false},
		{"False", false}, {"yes", false}, {"NO", false}, {"on", false}, {"off", false}, {"y", false},
		{"n", false}, {"yes sir", true}, {"1", false}, {"1.5", false}, {"0x1f", false}, {"1e3", false},
		{".inf", false}, {"-", false}, {"- a", false}, {"+1", false}, {"a: b", false}, {"a #b", false},
		{"#a", false}, {"a,b", false}, {"[a]", false}, {"{a", false}, {"a}", false}, {"&a", false},
		{"*a", false}, {"!a", false}, {"|", false}, {">", false}, {"'a'", false}, {"\"a\"", false},
		{"a\"b", false}, {"a\\b", false}, {"`a", false}, {"@a", false}, {"%a", false}, {"?", false},
		{"<<", false}, {"=", false}, {"---", false}, {"...", false}, {"2026-12-01", false}, {"12:30:45", false},
		{"\u2028", false}, {"a\u2029b", false}, {"a\uFEFF", false}, {"\U0001FFFE", false}, {"\u00a0", true},
		{"{{x}}", false}};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct config cfg = {0};
		struct system system = {.entry.set = UINT64_MAX, .hostname = "gw", .description = cases[i].text};
		const char *text, *value;

		system.entry.set = 0xb; /* hostname, site, description */
		system.site = "12";	/* a name that looks like a number */
		cfg.system = &system;
		text = printed(&cfg);
		value = strstr(text, "description: ");
		assert_non_null(value);
		value += strlen("description: ");
		if ((*value != '"') != cases[i].bare)
			fail_msg("%s is printed as %s", cases[i].text, value);
		assert_string_equal(must_parse(text)->system->description, cases[i].text);
		assert_string_equal(must_parse(text)->system->site, "12");
		assert_non_null(strstr(text, "site: \"12\"\n"));
	}
}

/* print leaves a value out if its text is the default's, so the schema must spell a default as print does. */
static void test_defaults_are_canonical(void **state)
{
	static const char *const objects[] = {
#define OBJECT(object, help) #object,
#define LEAF(object, member, key, type, limit, flags, change, def, help)
#define LIST(object, member, key, type, limit, flags, change, help)
#define NODE(object, member, key, child, flags, change, help)
#define NODES(object, member, key, child, flags, change, help)
#define END(object)
#include "config/schema/schema.def"
#undef OBJECT
#undef LEAF
#undef LIST
#undef NODE
#undef NODES
#undef END
	};
	size_t n = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(objects); i++) {
		const struct object_type *type = schema_object(objects[i]);

		for (size_t k = 0; k < type->n_fields; k++) {
			const struct field *field = &type->fields[k];
			_Alignas(max_align_t) char value[64] = {0};
			struct buf text = {0};
			const char *want;

			if (!field->def)
				continue;
			assert_int_equal(field->type->parse(field->def, &field->limit, test_arena, value, &want), 0);
			field->type->print(value, &field->limit, &text);
			assert_string_equal(buf_str(&text), field->def);
			buf_free(&text);
			n++;
		}
	}
	assert_true(n > 10);
}

static void test_default_said_is_left_out(void **state)
{
	static const char plain[] = "system: {hostname: gw}\nvtep: {address: 10.0.0.1}\n";
	static const char said[] = "system: {hostname: gw, role: gateway}\nvtep: {address: 10.0.0.1, port: 4789, "
				   "assign: true}\nlines: []\n";
	struct config_diff d = {.arena = test_arena};

	(void)state;
	assert_string_equal(printed(must_parse(said)), printed(must_parse(plain)));
	config_diff(must_parse(said), must_parse(plain), &d);
	assert_int_equal(d.n, 0);
	/* what has no default is kept, also where it is nothing */
	assert_non_null(strstr(
		printed(must_parse("system: {hostname: gw}\nlines: [{name: l, interface: eth1, address: 10.0.0.1/30, "
				   "peer-address: 10.0.0.2, sla: {loss: 0%}}]\n")),
		"loss: 0%\n"));
	assert_non_null(
		strstr(printed(must_parse("system: {hostname: gw, description: ''}\n")), "description: \"\"\n"));
}

static double milliseconds(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* Large configs are printed and compared in linear time. The bound has room for a slow machine and for sanitizers. */
static void test_ten_thousand_segments(void **state)
{
	struct config_diff d = {.arena = test_arena};
	const struct config *a, *b;
	struct buf text = {0}, out = {0};
	double start;

	(void)state;
	buf_puts(&text, "system: {hostname: gw}\nsegments:\n");
	for (unsigned i = 0; i < 10000; i++)
		buf_printf(&text,
			"- {name: s%u, vni: %u, mode: bridged, members: [e%u], gateway: [\"fd00:%x::1/64\"], mss: "
			"%u}\n",
			i, i + 1, i, i, 600 + i % 2);
	a = must_parse(buf_str(&text));
	b = must_parse(buf_str(&text));
	start = milliseconds();
	config_print(a, &out);
	config_diff(a, b, &d);
	print_message("printed and compared in %.0f ms\n", milliseconds() - start);
	assert_true(milliseconds() - start < 2000);
	assert_int_equal(d.n, 0);
	config_diff(a, NULL, &d);
	assert_int_equal(d.n, 10001);
	assert_string_equal(printed(must_parse(buf_str(&out))), buf_str(&out));
	buf_free(&text);
	buf_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CONFIG_TEST(test_yaml),
		CONFIG_TEST(test_json),
		CONFIG_TEST(test_quoting),
		CONFIG_TEST(test_defaults_are_canonical),
		CONFIG_TEST(test_default_said_is_left_out),
		CONFIG_TEST(test_ten_thousand_segments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
