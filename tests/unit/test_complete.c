/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Completion: what may follow a path, with and without a config. */
/* LINK: config/complete.c config/hint.c config/print.c config/config.c config/decode.c config/diag.c config/schema.c config/types.c config/types_bgp.c config/types_net.c config/types_policy.c config/endpoint.c config/types_text.c config/yaml.c config/text.c tests/lib/config_fixture.c */
/* LIBS: libfyaml jansson */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "config/complete.h"
#include "config/config.h"
#include "gateway/base/arena.h"
#include "gateway/base/buf.h"
#include "gateway/base/str.h"
#include "tests/lib/config_fixture.h"

static const char sample[] =
	"system: {hostname: gw}\n"
	"lines:\n"
	"- {name: ali-b, interface: eth2, address: 172.31.0.5/30, peer-address: 172.31.0.6}\n"
	"- {name: ali-a, description: to Beijing, interface: eth1, address: 172.31.0.1/30, peer-address: 172.31.0.2}\n"
	"- {name: hw, interface: eth3, address: 172.31.0.9/30, peer-address: 172.31.0.10}\n"
	"remotes: [{name: r1, vtep: 10.255.1.1, lines: [ali-a]}]\n"
	"segments: [{name: gpu, vni: 1, mode: routed, macs: [{mac: '02:00:00:00:00:0a', remote: r1}],\n"
	"            routes: [{prefix: 10.1.0.0/16, via: 10.0.0.1}]}]\n";

/* "segments gpu mss" -> "auto <number> ..."; the last word of the path is the prefix, "" after a space. */
static const char *after(const struct config *cfg, const char *typed)
{
	const char *path[16];
	struct completion *v = NULL;
	struct buf b = {0};
	const char *text, *prefix = "";
	char *words = arena_strdup(test_arena, typed), *save = NULL, *word;
	size_t n = 0, found;

	for (word = strtok_r(words, " ", &save); word; word = strtok_r(NULL, " ", &save))
		path[n++] = word;
	if (n > 0 && typed[strlen(typed) - 1] != ' ')
		prefix = path[--n];
	found = config_complete(cfg, path, n, prefix, test_arena, &v);
	for (size_t i = 0; i < found; i++) {
		assert_non_null(v[i].help);
		assert_true(*v[i].help);
		buf_printf(&b, "%s%s", i ? " " : "", v[i].word);
	}
	text = arena_strdup(test_arena, buf_str(&b));
	buf_free(&b);
	return text;
}

static const char *help_of(const struct config *cfg, const char *list, const char *word)
{
	struct completion *v = NULL;
	size_t n = config_complete(cfg, &list, 1, "", test_arena, &v);

	for (size_t i = 0; i < n; i++)
		if (str_eq(v[i].word, word))
			return v[i].help;
	return NULL;
}

static void test_keys(void **state)
{
	(void)state;
	assert_string_equal(
		after(NULL, ""), "system interfaces lines vtep remotes tenants segments routes bgp policy audit");
	assert_string_equal(after(NULL, "s"), "system segments");
	assert_string_equal(after(NULL, "system "), "hostname site role description");
	assert_string_equal(after(NULL, "lines new b"), "bfd bgp");
	assert_string_equal(after(NULL, "lines new bfd "), "interval multiplier");
	assert_string_equal(after(NULL, "segments gpu macs 02:00:00:00:00:01 "), "remote");
}

static void test_nowhere(void **state)
{
	(void)state;
	assert_string_equal(after(NULL, "sistem "), "");
	assert_string_equal(after(NULL, "system hostname gw "), "");
	assert_string_equal(after(NULL, "system role gateway x "), "");
	assert_string_equal(after(NULL, "lines -bad-name "), "");
	assert_string_equal(after(NULL, "segments gpu macs zz "), "");
	assert_string_equal(after(NULL, "lines new zz"), "");
}

static void test_values(void **state)
{
	(void)state;
	assert_string_equal(after(NULL, "system role "), "gateway border");
	assert_string_equal(after(NULL, "system role b"), "border");
	assert_string_equal(after(NULL, "vtep assign "), "true false");
	assert_string_equal(after(NULL, "vtep assign f"), "false");
	assert_string_equal(after(NULL, "vtep address "), "<ADDRESS>");
	assert_string_equal(after(NULL, "vtep port "), "<1-65535>");
	assert_string_equal(after(NULL, "vtep port 4"), "<1-65535>");
	assert_string_equal(after(NULL, "segments gpu mtu "), "auto <576-65485>");
	assert_string_equal(after(NULL, "segments gpu mtu 9"), "<576-65485>");
	assert_string_equal(after(NULL, "segments gpu tos "), "inherit <0-255>");
	assert_string_equal(after(NULL, "segments gpu mss "), "auto <number> <{ipv4: number, ipv6: number}>");
	assert_string_equal(after(NULL, "segments gpu df "), "inherit set unset");
	assert_string_equal(after(NULL, "lines a rate "), "<RATE>");
	assert_string_equal(after(NULL, "lines a bfd interval "), "<TIME>");
	assert_string_equal(after(NULL, "lines a description "), "<text>");
	assert_string_equal(after(NULL, "interfaces eth0 addresses "), "<ADDRESS/LEN>");
	assert_string_equal(after(NULL, "interfaces eth0 addresses 10.0.0.1/24 "), "<ADDRESS/LEN>");
}

static void test_entries(void **state)
{
	const struct config *cfg = must_parse(sample);

	(void)state;
	assert_string_equal(after(cfg, "lines "), "ali-a ali-b hw <NAME>");
	assert_string_equal(after(cfg, "lines ali"), "ali-a ali-b <NAME>");
	assert_string_equal(after(NULL, "lines "), "<NAME>");
	assert_string_equal(after(cfg, "segments gpu macs "), "02:00:00:00:00:0a <MAC>");
	assert_string_equal(after(cfg, "segments other macs "), "<MAC>");
	assert_string_equal(after(cfg, "segments gpu routes "), "10.1.0.0/16 <NETWORK/LEN>");
	assert_string_equal(after(cfg, "routes "), "<NETWORK/LEN>");
	assert_string_equal(help_of(cfg, "lines", "ali-a"), "to Beijing");
	assert_string_equal(help_of(cfg, "lines", "ali-b"), "an underlay circuit");
}

static void test_references(void **state)
{
	const struct config *cfg = must_parse(sample);

	(void)state;
	assert_string_equal(after(cfg, "remotes r1 lines "), "ali-a ali-b hw <NAME>");
	assert_string_equal(after(cfg, "remotes r1 lines ali-b "), "ali-a hw <NAME>");
	assert_string_equal(after(cfg, "remotes r1 lines ali-b hw a"), "ali-a <NAME>");
	assert_string_equal(after(cfg, "segments gpu macs 02:00:00:00:00:0A remote "), "r1 <NAME>");
	assert_string_equal(after(NULL, "segments gpu remotes "), "<NAME>");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CONFIG_TEST(test_keys),
		CONFIG_TEST(test_nowhere),
		CONFIG_TEST(test_values),
		CONFIG_TEST(test_entries),
		CONFIG_TEST(test_references),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
