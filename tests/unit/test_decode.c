/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text to struct config: values, defaults, places, order; errors of several kinds in one run, and none that only
 * follow. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "config/config.h"
#include "config/draft.h"
#include "gateway/base/arena.h"
#include "gateway/base/buf.h"
#include "gateway/base/str.h"

/* LINK: config/config.c config/decode.c config/diag.c config/schema.c config/text.c config/types.c config/types_bgp.c config/types_net.c config/types_policy.c config/endpoint.c config/types_text.c config/yaml.c */
/* LIBS: libfyaml */

#define HEAD "system: {hostname: gw}\n"
#define LINE "lines: [{name: a, interface: e1, address: 10.0.0.1/30, peer-address: 10.0.0.2}]\n"
#define REMOTE "remotes: [{name: r, vtep: 10.1.0.1, lines: [a]}]\n"

struct parsed {
	struct arena *arena;
	const struct config *cfg;
	struct buf messages;
};

static struct parsed parse(const char *text)
{
	struct parsed p = {.arena = arena_new()};
	struct diag diag;

	diag_init(&diag, "f");
	p.cfg = config_parse(text, strlen(text), p.arena, &diag);
	diag_sort(&diag);
	diag_print(&diag, &p.messages);
	assert_int_equal(p.cfg == NULL, diag.n_errors > 0);
	diag_free(&diag);
	return p;
}

static void done(struct parsed *p)
{
	buf_free(&p->messages);
	arena_free(p->arena);
}

static void assert_messages(const char *text, const char *want)
{
	struct parsed p = parse(text);

	assert_string_equal(buf_str(&p.messages), want);
	done(&p);
}

static void test_values(void **state)
{
	struct parsed p = parse(
		HEAD LINE REMOTE "segments:\n"
				 "  - {name: s, vni: 7, mode: routed, remotes: [r], mss: {ipv6: 1380, ipv4: 1400},\n"
				 "     gateway: [10.2.0.1/24, fd00::1/64], ttl: 9}\n");
	const struct segment *s;
	char text[IP_STR_MAX];

	(void)state;
	assert_string_equal(buf_str(&p.messages), "");
	s = config_segment(p.cfg, "s");
	assert_non_null(s);
	assert_int_equal(s->vni, 7);
	assert_int_equal(s->mode, MODE_ROUTED);
	assert_int_equal(s->mss.kind, MSS_FIXED);
	assert_int_equal(s->mss.ipv4, 1400);
	assert_int_equal(s->mss.ipv6, 1380);
	assert_int_equal(s->gateway.n, 2);
	assert_string_equal(ip_prefix_str(&s->gateway.v[1], text), "fd00::1/64");
	assert_string_equal(s->remotes.v[0], "r");
	assert_null(s->tenant);
	/* defaults */
	assert_int_equal(s->df, DF_INHERIT);
	assert_int_equal(s->tos, TOS_INHERIT);
	assert_int_equal(s->mtu, 0);
	assert_int_equal(p.cfg->lines.v[0].mtu, 1500);
	assert_true(p.cfg->lines.v[0].enabled);
	assert_int_equal(s->members.n, 0);
	assert_null(p.cfg->vtep);
	done(&p);
}

static void test_places(void **state)
{
	struct parsed p = parse(HEAD LINE REMOTE "segments:\n"
						 "  - name: s\n"
						 "    vni: 7\n"
						 "    mode: routed\n"
						 "    gateway: [10.2.0.1/24, fd00::1/64]\n");
	const struct segment *s = config_segment(p.cfg, "s");

	(void)state;
	assert_int_equal(CONFIG_AT(s, segment, vni).line, 6);
	assert_int_equal(CONFIG_AT(s, segment, vni).col, 10);
	assert_int_equal(CONFIG_AT(s, segment, mss).line, 5); /* not given: the entry's */
	assert_int_equal(CONFIG_AT(s, segment, mss).col, 5);
	assert_int_equal(s->gateway.at[1].col, 28);
	assert_true(CONFIG_IS_SET(s, segment, vni));
	assert_false(CONFIG_IS_SET(s, segment, ttl));
	assert_int_equal(p.cfg->entry.loc.line, 1);
	done(&p);
}

static void test_sorted(void **state)
{
	struct parsed p =
		parse(HEAD "interfaces: [{name: c}, {name: a}, {name: b, addresses: [10.0.9.1/24, 10.0.1.1/24]}]\n"
			   "routes: [{prefix: 10.9.0.0/16, via: 10.0.9.2}, {prefix: 10.8.0.0/16, via: 10.0.9.2}]\n");

	(void)state;
	assert_int_equal(p.cfg->interfaces.n, 3);
	assert_string_equal(p.cfg->interfaces.v[0].name, "a");
	assert_string_equal(p.cfg->interfaces.v[2].name, "c");
	assert_int_equal(p.cfg->routes.v[0].prefix.addr.bytes[1], 8);
	/* values keep the file's order */
	assert_int_equal(p.cfg->interfaces.v[1].addresses.v[0].addr.bytes[2], 9);
	assert_ptr_equal(config_interface(p.cfg, "b"), &p.cfg->interfaces.v[1]);
	assert_null(config_interface(p.cfg, "bb"));
	assert_null(config_line(p.cfg, "a"));
	done(&p);
}

static void test_unknown_and_missing(void **state)
{
	(void)state;
	assert_messages("sistem: {hostname: gw}\n",
		"f:1:1: error: unknown key \"sistem\" at the top of the file; did you mean \"system\"?\n");
	assert_messages("interfaces: []\n", "f:1:1: error: \"system\" is missing (this gateway)\n");
	assert_messages(HEAD "vtep: {}\n",
		"f:2:7: error: vtep: \"address\" is missing (outer source address, of either family)\n");
	assert_messages(HEAD "line: []\n" REMOTE,
		"f:2:1: error: unknown key \"line\" at the top of the file; did you mean \"lines\"?\n");
	assert_messages(HEAD "segments: [{name: gpu, vni: 5, mode: bridged, memebers: [e]}]\n",
		"f:2:47: error: unknown key \"memebers\" in segment \"gpu\"; did you mean \"members\"?\n");
	assert_messages(HEAD "vtep: {adress: 10.0.0.1, zz: 1}\n",
		"f:2:8: error: unknown key \"adress\" in vtep; did you mean \"address\"?\n"
		"f:2:26: error: unknown key \"zz\" in vtep; known are address, address6, assign, port, "
		"checksum-offload\n");
}

static void test_wrong_kind(void **state)
{
	(void)state;
	assert_messages("- a\n",
		"f:1:1: error: a list is not a mapping of system, interfaces, lines, vtep, remotes, tenants, segments, "
		"routes, bgp, policy, audit\n");
	assert_messages(
		"system: gw\n", "f:1:9: error: system: gw is not a mapping of hostname, site, role, description\n");
	assert_messages(HEAD "routes: {prefix: 10.0.0.0/8}\n",
		"f:2:9: error: routes: a mapping is not a list of mappings of prefix, via, description\n");
	assert_messages(HEAD "routes: [10.0.0.0/8]\n",
		"f:2:10: error: routes[#1]: 10.0.0.0/8 is not a mapping of prefix, via, description\n");
	assert_messages(HEAD "interfaces: [{name: e, mtu: [1], addresses: 10.0.0.1/8, enabled:}]\n",
		"f:2:29: error: interfaces[e].mtu: a list is not a number from 576 to 65535\n"
		"f:2:45: error: interfaces[e].addresses: 10.0.0.1/8 is not a list, such as [a, b]\n"
		"f:2:57: error: interfaces[e].enabled: has no value; leave the key out, or give it true or false\n");
	assert_messages("system: {hostname: ~}\n",
		"f:1:20: error: system.hostname: has no value; it must be a name: 1 to 63 of letters, digits, '.', '_' "
		"and '-', beginning with a letter or digit\n");
}

static void test_quotes(void **state)
{
	(void)state;
	assert_messages(
		"{\"system\": {\"hostname\": \"gw\"}, \"interfaces\": [{\"name\": \"e\", \"mtu\": 1500}]}\n", "");
	assert_messages("system: {hostname: \"5\", description: 5}\nvtep: {address: \"10.0.0.1\", port: 4789}\n", "");
	assert_messages("system: {hostname: gw}\nvtep: {address: 10.0.0.1, port: \"4789\", assign: 'true'}\n",
		"f:2:33: error: vtep.port: \"4789\" in quotes is a text; write it without quotes\n"
		"f:2:49: error: vtep.assign: \"true\" in quotes is a text; write it without quotes\n");
	assert_messages(HEAD "segments: [{name: s, vni: 1, mode: routed, mss: \"{ipv4: 1400}\", mtu: \"1400\"}]\n",
		"f:2:49: error: segments[s].mss: \"{ipv4: 1400}\" is not auto, 0, a number from 536 to 65475, or "
		"{ipv4: "
		"536 to 65495, ipv6: 1220 to 65475}\n"
		"f:2:70: error: segments[s].mtu: \"1400\" in quotes is a text; write it without quotes\n");
}

static void test_mss_mapping(void **state)
{
	(void)state;
	assert_messages(HEAD "segments: [{name: s, vni: 1, mode: routed, mss: {ipv4: [1], ipv6: 1380}}]\n",
		"f:2:49: error: segments[s].mss: a mapping is not auto, 0, a number from 536 to 65475, or {ipv4: 536 "
		"to "
		"65495, ipv6: 1220 to 65475}\n");
	assert_messages(HEAD "segments: [{name: s, vni: 1, mode: routed, mss: {ipv4: \"1400, ipv6: 1380\"}}]\n",
		"f:2:49: error: segments[s].mss: a mapping is not auto, 0, a number from 536 to 65475, or {ipv4: 536 "
		"to "
		"65495, ipv6: 1220 to 65475}\n");
}

static void test_duplicates(void **state)
{
	(void)state;
	assert_messages(HEAD "interfaces:\n"
			     "  - {name: b, addresses: [10.0.0.1/24, 10.1.0.1/24, 10.0.0.1/24, 10.0.0.1/24]}\n"
			     "  - name: a\n"
			     "  - name: b\n",
		"f:3:53: error: interfaces[b].addresses: 10.0.0.1/24 is listed twice; the first is on line 3\n"
		"f:3:66: error: interfaces[b].addresses: 10.0.0.1/24 is listed twice; the first is on line 3\n"
		"f:5:11: error: interfaces: name b is there twice; the first is on line 3\n");
	/* the same network written in another way is the same key */
	assert_messages(HEAD "routes:\n"
			     "  - {prefix: \"fd00::/16\", via: \"fd00::1\"}\n"
			     "  - {prefix: \"FD00:0::/16\", via: \"fd00::1\"}\n",
		"f:4:14: error: routes: prefix fd00::/16 is there twice; the first is on line 3\n");
}

static void test_refs(void **state)
{
	(void)state;
	assert_messages(HEAD LINE "remotes: [{name: r, vtep: 10.1.0.1, lines: [b, zzzz]}]\n",
		"f:3:45: error: remotes[r].lines: there is no line \"b\"; did you mean \"a\"?\n"
		"f:3:48: error: remotes[r].lines: there is no line \"zzzz\"; define it under lines\n");
	assert_messages(HEAD LINE REMOTE "segments: [{name: s, vni: 1, mode: bridged, macs: [{mac: 02:00:00:00:00:01, "
					 "remote: q}]}]\n",
		"f:4:85: error: segments[s].macs[02:00:00:00:00:01].remote: there is no remote \"q\"; did you mean "
		"\"r\"?\n");
}

/* What only follows from an error that was reported is not said. */
static void test_no_noise(void **state)
{
	(void)state;
	/* the line is there, though its address is wrong */
	assert_messages(HEAD "lines: [{name: a, interface: e1, address: 10.0.0.1, peer-address: 10.0.0.2}]\n" REMOTE,
		"f:2:43: error: lines[a].address: 10.0.0.1 is not an address with its prefix length, such as "
		"10.0.0.1/24\n");
	/* nobody knows which lines there are */
	assert_messages(HEAD "lines: {name: a}\n" REMOTE,
		"f:2:8: error: lines: a mapping is not a list of mappings of name, description, provider, circuit-id, "
		"enabled, interface, address, peer-address, address6, peer-address6, tier, rate, priority, mtu, "
		"path-mtu, "
		"encrypt, anti-spoofing, "
		"bfd, bgp, sla\n");
	assert_messages(HEAD "lines: [{interface: e1, address: 10.0.0.1/30, peer-address: 10.0.0.2}]\n" REMOTE,
		"f:2:9: error: lines[#1]: \"name\" is missing (the line's name)\n");
	/* a bad value is not missing, and an alias was reported by YAML */
	assert_messages(HEAD "segments: [{name: s, vni: 0, mode: *a}]\n",
		"f:2:27: error: segments[s].vni: 0 is not a number from 1 to 16777215\n"
		"f:2:36: error: an alias; write the value out, anchors and aliases are not used here\n");
	/* other references are checked all the same */
	assert_messages(HEAD "segments:\n"
			     "  - {name: s, vni: 0, mode: bridged, tenant: blue}\n"
			     "  - {vni: 1, mode: bridged}\n",
		"f:3:20: error: segments[s].vni: 0 is not a number from 1 to 16777215\n"
		"f:3:46: error: segments[s].tenant: there is no tenant \"blue\"; define it under tenants\n"
		"f:4:5: error: segments[#2]: \"name\" is missing (the segment's name)\n");
	/* nobody knows what stands under a word that is none, or in the second section of a name */
	assert_messages(HEAD "uplinks: []\n" REMOTE,
		"f:2:1: error: unknown key \"uplinks\" at the top of the file; known are system, interfaces, lines, "
		"vtep, remotes, tenants, segments, routes, bgp, policy, audit\n");
	assert_messages(HEAD "lines: []\nlines: [{name: a}]\n" REMOTE,
		"f:3:1: error: key lines is given twice; the first is on line 2\n");
}

/* What a check sees of a file with errors: the sound segments, and whether these are all. */
static void assert_sound(const char *text, const char *segments, bool whole)
{
	struct arena *arena = arena_new();
	struct config_draft draft;
	struct buf names = {0};
	struct diag diag;

	diag_init(&diag, "f");
	draft = config_parse_draft(text, strlen(text), arena, &diag);
	assert_non_null(draft.sound);
	for (size_t i = 0; i < draft.sound->segments.n; i++)
		buf_printf(&names, "%s ", draft.sound->segments.v[i].name);
	if (!str_eq(buf_str(&names), segments) || CONFIG_IS_WHOLE(draft.sound, segments) != whole)
		fail_msg("%ssound: %s", text, buf_str(&names));
	buf_free(&names);
	diag_free(&diag);
	arena_free(arena);
}

#define SEGMENT_A "  - {name: a, vni: 1, mode: bridged}\n"
#define SEGMENTS HEAD "segments:\n" SEGMENT_A

static void test_sound_entries(void **state)
{
	(void)state;
	assert_sound(SEGMENTS, "a ", true);
	/* each way to have an error */
	assert_sound(SEGMENTS "  - {name: b, vni: 0, mode: bridged}\n", "a ", false);
	assert_sound(SEGMENTS "  - {name: b, mode: bridged}\n", "a ", false);
	assert_sound(SEGMENTS "  - {name: b, vni: 2, mode: bridged, mebers: [e]}\n", "a ", false);
	assert_sound(SEGMENTS "  - {name: b, vni: 2, mode: bridged, colour: red}\n", "a ", false);
	assert_sound(SEGMENTS "  - {name: b, vni: 2, mode: bridged, members: [e, e]}\n", "a ", false);
	assert_sound(SEGMENTS "  - {name: b, vni: 2, mode: bridged, members: [e, [f]]}\n", "a ", false);
	assert_sound(SEGMENTS "  - {name: b, vni: 2, mode: bridged, macs: [{mac: 1, remote: r}]}\n", "a ", false);
	assert_sound(SEGMENTS "  - {name: b, vni: 2, mode: bridged, macs: {}}\n", "a ", false);
	assert_sound(SEGMENTS "  - {vni: 2, mode: bridged}\n", "a ", false);
	assert_sound(SEGMENTS "  - b\n", "a ", false);
	/* those that YAML reports */
	assert_sound(SEGMENTS "  - {name: b, vni: 2, mode: bridged, members: [*e]}\n", "a ", false);
	assert_sound(SEGMENTS "  - {name: b, vni: 2, mode: bridged, ttl: *t}\n", "a ", false);
	assert_sound(SEGMENTS "  - {name: b, vni: 2, mode: bridged, mtu: 1400, mtu: 1500}\n", "a ", false);
	assert_sound(SEGMENTS "  - {name: b, vni: 2, mode: bridged, [x]: 1}\n", "a ", false);
	assert_sound(SEGMENTS "  - *b\n", "a ", false);
	/* of two with one name the first is there, and the second is missing */
	assert_sound(SEGMENTS "  - {name: a, vni: 2, mode: bridged}\n", "a ", false);
	/* a tag leaves no doubt about the value, a reference to nothing is no error of the entry's own */
	assert_sound(SEGMENTS "  - {name: b, vni: !!int 2, mode: bridged, remotes: [r]}\n", "a b ", true);
	/* an error elsewhere is none here */
	assert_sound(SEGMENTS "lines: []\nvtep: {address: x}\n", "a ", true);
}

static void test_sound_sections(void **state)
{
	(void)state;
	assert_sound("[]\n", "", false);
	assert_sound(HEAD, "", true);
	assert_sound(HEAD "segments: {}\n", "", false);
	assert_sound(HEAD "segments: *a\n", "", false);
	assert_sound(SEGMENTS "segments: []\n", "a ", false);
	assert_sound(HEAD "segmnts: []\n", "", false);
	/* a word that nobody knows may stand for a section that is not there, not for one that is */
	assert_sound(HEAD "networks-of-ours: []\n", "", false);
	assert_sound(HEAD "[a]: []\n", "", false);
	assert_sound(SEGMENTS "networks-of-ours: []\n", "a ", true);
}

static void test_sound_mappings(void **state)
{
	struct arena *arena = arena_new();
	const char text[] = "system: {hostname: gw, role: x}\nvtep: {address: 10.0.0.1, port: 0}\n";
	struct config_draft draft;
	struct diag diag;

	(void)state;
	diag_init(&diag, "f");
	draft = config_parse_draft(text, strlen(text), arena, &diag);
	assert_null(draft.sound->system);
	assert_null(draft.sound->vtep);
	assert_false(CONFIG_IS_WHOLE(draft.sound, system));
	assert_false(CONFIG_IS_WHOLE(draft.sound, vtep));
	assert_true(CONFIG_IS_WHOLE(draft.sound, lines));
	/* rules about one value alone see what was understood */
	assert_string_equal(draft.read->system->hostname, "gw");
	assert_int_equal(draft.read->vtep->address.bytes[0], 10);
	diag_free(&diag);
	arena_free(arena);
}

/* A keyword of a later version is warned of once, and not where it asks for what is done anyway. */
static void test_later(void **state)
{
	(void)state;
	assert_messages(HEAD
		"lines:\n"
		"  - {name: a, interface: e1, address: 10.0.0.1/30, peer-address: 10.0.0.2, encrypt: none}\n"
		"  - {name: b, interface: e2, address: 10.0.0.5/30, peer-address: 10.0.0.6, sla: {}}\n"
		"  - {name: c, interface: e3, address: 10.0.0.9/30, peer-address: 10.0.0.10, sla: {}}\n"
		"remotes: [{name: r, vtep: 10.1.0.1, lines: [a, b, c], learn: evpn}]\n",
		"f:4:76: warning: lines[b].sla: is checked, but this version does not act on it yet\n");
	assert_messages(HEAD
		"lines:\n"
		"  - {name: a, interface: e1, address: 10.0.0.1/30, peer-address: 10.0.0.2, encrypt: required}\n",
		"f:3:76: warning: lines[a].encrypt: is checked, but this version does not act on it yet\n");
}

/* Foreign text in a message cannot write to a terminal. */
static void test_hostile_text(void **state)
{
	struct parsed p = parse("system: {hostname: \"\\e[2J\", \"\\e[31m\": 1}\n"
				"interfaces: [{name: \"\\e[0m\", mtu: 1, \"x\\ey\": 1}]\n");

	(void)state;
	assert_null(strchr(buf_str(&p.messages), '\033'));
	assert_non_null(strstr(buf_str(&p.messages), "\\x1b[2J"));
	done(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_sorted),
		cmocka_unit_test(test_unknown_and_missing),
		cmocka_unit_test(test_wrong_kind),
		cmocka_unit_test(test_quotes),
		cmocka_unit_test(test_mss_mapping),
		cmocka_unit_test(test_duplicates),
		cmocka_unit_test(test_refs),
		cmocka_unit_test(test_no_noise),
		cmocka_unit_test(test_sound_entries),
		cmocka_unit_test(test_sound_sections),
		cmocka_unit_test(test_sound_mappings),
		cmocka_unit_test(test_later),
		cmocka_unit_test(test_hostile_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
