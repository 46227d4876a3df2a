/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Golden renderings: every good example, and each tests/golden/frr/NAME.yaml, as the configuration of the three FRR
 * daemons in tests/golden/frr/NAME.conf. UPDATE=1 writes them; tests/net/test_frr_render.py gives the same texts to
 * FRR itself. Beside them, what a golden text would not show: what changes when one thing does, and what never may be.
 */
/* LINK: tests/lib/config_fixture.c routing/frr_conf.c routing/frr_render.c routing/frr_render_bgp.c routing/frr_render_evpn.c routing/frr_render_policy.c routing/session.c overlay/mtu.c config/config.c config/decode.c config/diag.c config/hint.c config/preset.c config/print.c config/schema.c config/text.c config/types.c config/types_bgp.c config/types_net.c config/types_policy.c config/endpoint.c config/types_text.c config/yaml.c gateway/engine/facts.c */
/* LIBS: libfyaml jansson */
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "config/config.h"
#include "gateway/base/arena.h"
#include "gateway/base/buf.h"
#include "gateway/base/cleanup.h"
#include "gateway/base/fs.h"
#include "gateway/base/str.h"
#include "gateway/engine/facts.h"
#include "routing/frr_conf.h"
#include "routing/frr_render.h"
#include "tests/lib/config_fixture.h"

#define FOLDER "tests/golden/frr/"

typedef void render_fn(const struct config *cfg, const struct facts *facts, struct frr_conf *conf);

/* In the running test's arena. */
static struct frr_conf *render(render_fn *fn, const struct config *cfg)
{
	struct frr_conf *conf = arena_new_obj(test_arena, struct frr_conf);
	struct facts facts;

	facts_init(&facts);
	facts_set_secret(&facts, "/etc/fairway/secrets/ali-a.md5", "secret");
	frr_conf_init(conf, test_arena);
	fn(cfg, &facts, conf);
	facts_free(&facts);
	return conf;
}

static const char *text_of(render_fn *fn, const char *yaml)
{
	struct frr_conf *conf = render(fn, must_parse(yaml));
	_cleanup_(buf_free) struct buf out = {0};

	frr_conf_print(conf, false, &out);
	return arena_strdup(test_arena, buf_str(&out));
}

/* --- golden texts --- */

static char *read_file(const char *path)
{
	char *text;
	size_t len;

	return fs_read(path, 1 << 20, &text, &len) < 0 ? NULL : text;
}

static size_t compare(const char *path, const char *is)
{
	_cleanup_free_ char *golden = NULL;

	if (getenv("UPDATE")) {
		assert_int_equal(fs_write_atomic(path, is, strlen(is), 0644), 0);
		return 0;
	}
	golden = read_file(path);
	if (str_eq(golden, is))
		return 0;
	print_error("%s should be\n%s\nbut is\n%s\n", path, golden ? golden : "(there)", is);
	return 1;
}

static size_t check_golden(const char *path)
{
	static const struct {
		const char *name;
		render_fn *fn;
	} daemons[] = {{"zebra", frr_render_zebra}, {"bfdd", frr_render_bfdd}, {"bgpd", frr_render_bgpd}};
	_cleanup_free_ char *yaml = read_file(path);
	const char *base = strrchr(path, '/') + 1;
	_cleanup_(buf_free) struct buf out = {0};

	assert_non_null(yaml);
	for (size_t i = 0; i < ARRAY_SIZE(daemons); i++)
		buf_printf(&out, "%s! %s\n%s", i ? "\n" : "", daemons[i].name, text_of(daemons[i].fn, yaml));
	return compare(
		arena_printf(test_arena, FOLDER "%.*s.conf", (int)(strrchr(base, '.') - base), base), buf_str(&out));
}

static void test_golden(void **state)
{
	size_t wrong = 0;
	glob_t files;

	(void)state;
	assert_int_equal(glob("config/examples/good/*.yaml", 0, NULL, &files), 0);
	assert_int_equal(glob(FOLDER "*.yaml", GLOB_APPEND, NULL, &files), 0);
	for (size_t i = 0; i < files.gl_pathc; i++)
		wrong += check_golden(files.gl_pathv[i]);
	assert_true(files.gl_pathc > 1);
	globfree(&files);
	assert_int_equal(wrong, 0);
}

/* --- what one change changes --- */

/* Lines of one that the other lacks, wherever they stand. */
static size_t lacking(const struct frr_conf *in, const struct frr_node *in_node, const struct frr_conf *of,
	const struct frr_node *of_node)
{
	size_t n = 0;

	for (const struct frr_node *node = of_node->first; node; node = node->next) {
		const struct frr_node *same = frr_find(in, in_node, node->line);

		n += same ? lacking(in, same, of, node) : 1;
	}
	return n;
}

/* (lines that come, lines that go) of bgpd's */
static void assert_changes(const char *before, const char *after, size_t come, size_t go)
{
	struct frr_conf *a = render(frr_render_bgpd, must_parse(before));
	struct frr_conf *b = render(frr_render_bgpd, must_parse(after));

	assert_int_equal(lacking(a, &a->root, b, &b->root), come);
	assert_int_equal(lacking(b, &b->root, a, &a->root), go);
}

#define LINE(name, if, n, more)                                                                                        \
	"  - {name: " name ", interface: " if ", address: 172.31.0." n "/31, peer-address: 172.31.0.1" n               \
					      ", bgp: {peer-as: 65101" more "}}\n"
#define HEAD "system: {hostname: a}\nvtep: {address: 10.255.0.1}\n"
#define POLICED ", policy-in: p, policy-out: p"

static void test_shared_policy_is_one_line(void **state)
{
	static const char lines[] = HEAD "lines:\n" LINE("a", "eth1", "1", POLICED) LINE("b", "eth2", "2", POLICED);
	const char *before, *after;

	(void)state;
	before = arena_printf(
		test_arena, "%sbgp: {as: 65001, policies: [{name: p, rules: [{seq: 10, local-pref: 50}]}]}\n", lines);
	after = arena_printf(
		test_arena, "%sbgp: {as: 65001, policies: [{name: p, rules: [{seq: 10, local-pref: 60}]}]}\n", lines);
	assert_changes(before, after, 1, 1);
}

static void test_entry_moves_no_other(void **state)
{
	static const char set[] = HEAD "lines:\n" LINE("a", "eth1", "1",
		POLICED) "bgp: {as: 65001, policies: [{name: p, rules: [{seq: 10, community-set: s}]}],"
			 " community-sets: [{name: s, communities: [%s]}]}\n";

	(void)state;
	assert_changes(arena_printf(test_arena, set, "\"65001:2\", \"65001:3\""),
		arena_printf(test_arena, set, "\"65001:1\", \"65001:3\", \"65001:2\""), 1, 0);
}

static void test_remote_comes_alone(void **state)
{
	static const char remotes[] = HEAD "lines:\n" LINE("a", "eth1", "1", "") LINE(
		"b", "eth2", "2", "") "bgp: {as: 65001}\nremotes:\n  - {name: z, vtep: 10.255.9.1, lines: [a]}\n%s";

	(void)state;
	/* One entry for the one line that reaches it. */
	assert_changes(arena_printf(test_arena, remotes, ""),
		arena_printf(test_arena, remotes, "  - {name: m, vtep: 10.255.5.1, lines: [a]}\n"), 1, 0);
	assert_changes(arena_printf(test_arena, remotes, ""),
		arena_printf(test_arena, remotes, "  - {name: m, vtep: 10.255.5.1, lines: [a, b]}\n"), 3, 1);
}

/* --- default deny --- */

static void assert_has(const char *text, const char *what)
{
	if (!strstr(text, what))
		fail_msg("no \"%s\" in\n%s", what, text);
}

static void assert_lacks(const char *text, const char *what)
{
	if (strstr(text, what))
		fail_msg("\"%s\" in\n%s", what, text);
}

static void test_nothing_is_open(void **state)
{
	const char *text = text_of(frr_render_bgpd,
		"system: {hostname: a}\nlines:\n" LINE("a", "eth1", "1", "") "bgp: {as: 65001, router-id: 10.0.0.1}\n");

	(void)state;
	assert_has(text, "route-map FW-IN-172.31.0.11-v4 deny 20\n");
	assert_has(text, "route-map FW-OUT-172.31.0.11-v4 deny 20\n");
	assert_lacks(text, "permit");
}

/* What FRR is told to call or to match and does not find, it lets pass. */
static void test_referred_to_is_there(void **state)
{
	const char *text = text_of(frr_render_bgpd,
		HEAD "lines:\n" LINE("a", "eth1", "1",
			", families: [ipv4, ipv6]" POLICED) "bgp: {as: 65001, prefix-lists: [{name: six, entries: "
							    "[{seq: 1, prefix: \"fd00::/8\"}]}],"
							    " policies: [{name: p, rules: [{seq: 10, prefix-list: "
							    "six}]}]}\n");

	(void)state;
	assert_has(text, "call FW-P-p-v4\n");
	assert_has(text, "route-map FW-P-p-v4 deny 65535\n");
	assert_lacks(text, "match ip address");
	assert_has(text, "route-map FW-P-p-v6 permit 10\n match ipv6 address prefix-list FW-L-six\n");
	assert_lacks(text, "route-map FW-P-p-v6 deny");
}

/* --- what is rendered at all --- */

static void test_password(void **state)
{
	const char *yaml = HEAD
		"lines:\n" LINE("a", "eth1", "1", ", password-file: /etc/fairway/secrets/ali-a.md5") "bgp: {as: 1}\n";
	const char *unknown = HEAD
		"lines:\n" LINE("a", "eth1", "1", ", password-file: /etc/fairway/secrets/other.md5") "bgp: {as: 1}\n";

	(void)state;
	assert_has(text_of(frr_render_bgpd, yaml), " neighbor 172.31.0.11 password secret\n");
	assert_lacks(text_of(frr_render_bgpd, unknown), "password");
}

static void test_wanted(void **state)
{
	(void)state;
	assert_false(frr_is_wanted(NULL));
	assert_false(frr_is_wanted(must_parse("system: {hostname: a}\n")));
	assert_true(frr_is_wanted(must_parse("system: {hostname: a}\nbgp: {as: 1, router-id: 10.0.0.1}\n")));
	assert_true(frr_is_wanted(must_parse("system: {hostname: a}\nlines:\n"
					     "  - {name: a, interface: eth1, address: 10.0.0.1/30, peer-address: "
					     "10.0.0.2, bfd: {}}\n")));
	assert_false(frr_is_wanted(must_parse("system: {hostname: a}\nlines:\n"
					      "  - {name: a, interface: eth1, address: 10.0.0.1/30, peer-address: "
					      "10.0.0.2, enabled: false, bfd: {}}\n")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CONFIG_TEST(test_golden),
		CONFIG_TEST(test_shared_policy_is_one_line),
		CONFIG_TEST(test_entry_moves_no_other),
		CONFIG_TEST(test_remote_comes_alone),
		CONFIG_TEST(test_nothing_is_open),
		CONFIG_TEST(test_referred_to_is_there),
		CONFIG_TEST(test_password),
		CONFIG_TEST(test_wanted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
