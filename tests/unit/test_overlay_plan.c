/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a plan does and, as much, what it leaves alone; each applied to the fake kernel, and then nothing is left. */
/* LINK: tests/lib/overlay_fixture.c tests/lib/fake_kernel.c overlay/mtu.c overlay/model.c overlay/desired.c overlay/overlay_plan.c overlay/link_plan.c overlay/overlay_check.c overlay/interface_check.c overlay/segment_check.c overlay/address_check.c config/config.c config/decode.c config/diag.c config/schema.c config/types.c config/types_bgp.c config/types_net.c config/types_policy.c config/endpoint.c config/types_text.c config/text.c config/yaml.c gateway/engine/facts.c gateway/engine/plan.c */
/* LIBS: libfyaml jansson */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "config/config.h"
#include "gateway/base/arena.h"
#include "gateway/base/str.h"
#include "overlay/overlay.h"
#include "overlay/port_flags.h"
#include "tests/lib/overlay_fixture.h"

#define LINES                                                                                                          \
	"system: {hostname: a}\n"                                                                                      \
	"lines:\n"                                                                                                     \
	"  - {name: l, interface: e1, address: 10.0.1.1/30, peer-address: 10.0.1.2, rate: 2gbit}\n"                    \
	"  - {name: m, interface: e2, address: 10.0.2.1/30, peer-address: 10.0.2.2, rate: 1gbit}\n"                    \
	"remotes:\n"                                                                                                   \
	"  - {name: r, vtep: 10.255.1.1, lines: [l, m]}\n"                                                             \
	"  - {name: s, vtep: 10.255.2.1, lines: [l]}\n"
#define HEAD LINES "vtep: {address: 10.255.0.1}\n"
#define GPU(more)                                                                                                      \
	"  - {name: gpu, vni: 10, mode: bridged, members: [e3], gateway: [10.1.0.1/24], remotes: [r]" more "}\n"
#define STORE(more)                                                                                                    \
	"  - {name: store, vni: 20, mode: routed, gateway: [10.2.0.1/24, \"fd00:2::1/64\"], remotes: [r], "            \
	"routes: [{prefix: 10.9.0.0/16, via: 10.2.0.2}]" more "}\n"

static void open_with(struct overlay_fixture *f, const char *text)
{
	const struct config *cfg;

	fixture_open(f);
	cfg = fixture_config(f, text);
	fixture_add_interfaces(f, cfg);
	fixture_converge(f, cfg);
}

/* The steps alone, one a line, without the columns: "+ segment gpu: ... [none]". */
static const char *steps_of(struct overlay_fixture *f)
{
	buf_reset(&f->text);
	for (size_t i = 0; i < f->plan.n_steps; i++) {
		const struct step *s = &f->plan.steps[i];

		buf_printf(&f->text, "%c %s: %s [%s]\n", s->phase == STEP_REMOVE ? '-' : '+', s->object, s->text,
			s->impact);
	}
	return buf_str(&f->text);
}

/* Plans from what is there to a config: the steps; applied, nothing is left. */
static void change_to(struct overlay_fixture *f, const char *text, const char *steps)
{
	const struct config *cfg = fixture_config(f, text);

	fixture_add_interfaces(f, cfg);
	(void)fixture_plan(f, cfg);
	assert_string_equal(steps_of(f), steps);
	fixture_converge(f, cfg);
}

static void assert_conflict(struct overlay_fixture *f, const struct config *cfg, const char *object, const char *text)
{
	(void)fixture_plan(f, cfg);
	assert_int_equal(f->plan.n_conflicts, 1);
	assert_string_equal(f->plan.conflicts[0].object, object);
	assert_string_equal(f->plan.conflicts[0].text, text);
}

static struct link *foreign_link(struct overlay_fixture *f, enum link_kind kind, const char *name)
{
	fake_kernel_add_interface(&f->kernel, name, 1500);
	for (size_t i = 0; i < f->kernel.m.n_links; i++)
		if (str_eq(f->kernel.m.links[i].name, name)) {
			f->kernel.m.links[i].kind = kind;
			return &f->kernel.m.links[i];
		}
	return NULL;
}

static struct ip_prefix prefix(const char *text)
{
	struct ip_prefix p;

	assert_int_equal(ip_prefix_parse(text, &p), 0);
	return p;
}

static const struct ip_route *route_to(const struct overlay_fixture *f, const char *dst)
{
	struct ip_prefix p = prefix(dst);

	for (size_t i = 0; i < f->kernel.m.n_routes; i++)
		if (ip_prefix_cmp(&f->kernel.m.routes[i].dst, &p) == 0)
			return &f->kernel.m.routes[i];
	return NULL;
}

/* --- changes in place --- */

static void test_live(void **state)
{
	struct overlay_fixture f;

	(void)state;
	open_with(&f, HEAD "segments:\n" GPU("") STORE(""));
	change_to(&f, HEAD "segments:\n" GPU(", df: set, tos: 8, ttl: 10, description: x") STORE(""),
		"+ segment gpu: vx10: df inherit -> set, tos inherit -> 8, ttl 64 -> 10 [none]\n");
	change_to(&f, HEAD "segments:\n" GPU(", mtu: 9000") STORE(""),
		"+ segment gpu: br10: MTU 1500 -> 9000 [none]\n"
		"+ segment gpu: e3: MTU 1500 -> 9000 [none]\n"
		"+ segment gpu: vx10: MTU 1500 -> 9000, df set -> inherit, tos 8 -> inherit, ttl 10 -> 64 [none]\n");
	change_to(&f,
		LINES "vtep: {address: 10.255.0.2, checksum-offload: false}\nsegments:\n" GPU(", mtu: 9000") STORE(""),
		"+ segment gpu: vx10: checksum offload off, local 10.255.0.1 -> 10.255.0.2 [interrupts segment gpu]\n"
		"+ segment store: vx20: MAC 02:2c:ff:81:13:df, checksum offload off, local 10.255.0.1 -> 10.255.0.2 "
		"[interrupts segment store]\n"
		"+ vtep: add 10.255.0.2/32 to lo [none]\n"
		"+ vtep: remove 10.255.0.1/32 from lo [interrupts 10.255.0.1]\n");
	fixture_close(&f);
}

/* Another name for a segment is another alias, and nothing else. */
static void test_rename(void **state)
{
	struct overlay_fixture f;

	(void)state;
	open_with(&f, HEAD "segments:\n  - {name: a, vni: 20, mode: routed, gateway: [10.2.0.1/24], remotes: [r]}\n");
	change_to(&f, HEAD "segments:\n  - {name: b, vni: 20, mode: routed, gateway: [10.2.0.1/24], remotes: [r]}\n",
		"+ segment b: vx20: alias \"fairway: segment b\" [none]\n");
	fixture_close(&f);
}

static void test_remotes(void **state)
{
	struct overlay_fixture f;

	(void)state;
	open_with(&f, HEAD "segments:\n" GPU("") STORE(""));
	change_to(&f,
		HEAD "segments:\n"
		     "  - {name: gpu, vni: 10, mode: bridged, members: [e3], gateway: [10.1.0.1/24], remotes: [s], "
		     "macs: [{mac: \"02:00:00:00:00:01\", remote: s}]}\n" STORE(""),
		"- segment gpu: vx10: stop sending to 10.255.1.1 [interrupts segment gpu to 10.255.1.1]\n"
		"+ segment gpu: vx10: send to 10.255.2.1 [none]\n"
		"+ segment gpu: vx10: 02:00:00:00:00:01 is behind 10.255.2.1 [none]\n");
	/* A MAC that moves is replaced, not deleted. */
	change_to(&f,
		HEAD "segments:\n"
		     "  - {name: gpu, vni: 10, mode: bridged, members: [e3], gateway: [10.1.0.1/24], remotes: [s, r], "
		     "macs: [{mac: \"02:00:00:00:00:01\", remote: r}]}\n" STORE(""),
		"+ segment gpu: vx10: send to 10.255.1.1 [none]\n"
		"+ segment gpu: vx10: 02:00:00:00:00:01 is behind 10.255.1.1 [none]\n");
	change_to(&f,
		HEAD "segments:\n"
		     "  - {name: gpu, vni: 10, mode: bridged, members: [e3], gateway: [10.1.0.1/24], remotes: [s, r], "
		     "macs: [{mac: \"02:00:00:00:00:01\", remote: s}]}\n" STORE(""),
		"+ segment gpu: vx10: 02:00:00:00:00:01 is behind 10.255.2.1 [none]\n");
	change_to(&f, HEAD "segments:\n" GPU("") STORE(""),
		"- segment gpu: vx10: stop sending to 10.255.2.1 [interrupts segment gpu to 10.255.2.1]\n"
		"- segment gpu: vx10: forget that 02:00:00:00:00:01 is behind 10.255.2.1 [none]\n");
	fixture_close(&f);
}

static void test_members(void **state)
{
	struct overlay_fixture f;

	(void)state;
	open_with(&f, HEAD "segments:\n" GPU("") "  - {name: b, vni: 11, mode: bridged, members: [e4, e5]}\n");
	/* Out of a segment; from one to another in one step; new. */
	change_to(&f,
		HEAD
		"segments:\n"
		"  - {name: gpu, vni: 10, mode: bridged, members: [e4, e6], gateway: [10.1.0.1/24], remotes: [r]}\n"
		"  - {name: b, vni: 11, mode: bridged, members: [e5]}\n",
		"- segment gpu: e3 leaves br10 [interrupts e3]\n"
		"+ segment gpu: e4: leaves br11, joins br10 [interrupts e4]\n"
		"+ segment gpu: e6: up, joins br10 [none]\n");
	/* Somebody's port in our bridge is none of ours, but the bridge is. */
	(void)foreign_link(&f, LINK_OTHER, "tap0");
	for (size_t i = 0; i < f.kernel.m.n_links; i++)
		if (str_eq(f.kernel.m.links[i].name, "tap0"))
			(void)snprintf(f.kernel.m.links[i].master, 16, "br11");
	change_to(&f,
		HEAD
		"segments:\n"
		"  - {name: gpu, vni: 10, mode: bridged, members: [e4, e6], gateway: [10.1.0.1/24], remotes: [r]}\n"
		"  - {name: b, vni: 11, mode: bridged, members: [e5]}\n",
		"- segment b: tap0 leaves br11 [interrupts tap0]\n");
	fixture_close(&f);
}

/* auto: what the file gives the members, whatever they have: a change and its opposite lead back. */
static void test_hosts_mtu(void **state)
{
#define B(mtu) "segments:\n  - {name: b, vni: 11, mode: bridged, members: [e4, e5]" mtu "}\n"
	static const char given[] = HEAD "interfaces:\n  - {name: e4, mtu: 9000}\n  - {name: e5, mtu: 8000}\n" B("");
	struct overlay_fixture f;

	(void)state;
	open_with(&f, HEAD B(""));
	assert_int_equal(model_link(&f.kernel.m, "br11")->mtu, 1500);
	change_to(&f, HEAD B(", mtu: 1400"),
		"+ segment b: br11: MTU 1500 -> 1400 [none]\n"
		"+ segment b: e4: MTU 1500 -> 1400 [none]\n"
		"+ segment b: e5: MTU 1500 -> 1400 [none]\n"
		"+ segment b: vx11: MTU 1500 -> 1400 [none]\n");
	change_to(&f, HEAD B(""),
		"+ segment b: br11: MTU 1400 -> 1500 [none]\n"
		"+ segment b: e4: MTU 1400 -> 1500 [none]\n"
		"+ segment b: e5: MTU 1400 -> 1500 [none]\n"
		"+ segment b: vx11: MTU 1400 -> 1500 [none]\n");
	/* The smallest, for all. */
	change_to(&f, given,
		"+ segment b: br11: MTU 1500 -> 8000 [none]\n"
		"+ segment b: e4: MTU 1500 -> 8000 [none]\n"
		"+ segment b: e5: MTU 1500 -> 8000 [none]\n"
		"+ segment b: vx11: MTU 1500 -> 8000 [none]\n");
	fixture_close(&f);
#undef B
}

/* Jumbo frames that the file does not speak of are lowered, and the plan says how to keep them: never more than a VXLAN
 * device can have. */
static void test_jumbo_member(void **state)
{
#define B(members, more) HEAD "segments:\n  - {name: b, vni: 11, mode: bridged, members: [" members "]" more "}\n"
	struct overlay_fixture f;

	(void)state;
	fixture_open(&f);
	fake_kernel_add_interface(&f.kernel, "e4", 9000);
	fake_kernel_add_interface(&f.kernel, "e5", 65535);
	fixture_add_interfaces(&f, fixture_config(&f, HEAD));
	fixture_converge(&f, fixture_config(&f, B("", "")));
	change_to(&f, B("e4, e5", ""),
		"+ segment b: e4: up, MTU 9000 -> 1500 (the hosts' MTU; say mtu: 9000 in the segment for jumbo "
		"frames), "
		"joins br11 [none]\n"
		"+ segment b: e5: up, MTU 65535 -> 1500 (the hosts' MTU; say mtu: 65485 in the segment for jumbo "
		"frames), joins br11 [none]\n");
	fixture_converge(&f, fixture_config(&f, B("e4, e5", ", mtu: 9000")));
	change_to(&f, B("e4, e5", ", mtu: 1400"),
		"+ segment b: br11: MTU 9000 -> 1400 [none]\n"
		"+ segment b: e4: MTU 9000 -> 1400 [none]\n"
		"+ segment b: e5: MTU 9000 -> 1400 [none]\n"
		"+ segment b: vx11: MTU 9000 -> 1400 [none]\n");
	fixture_close(&f);
#undef B
}

/* What devices are made with. */
static void test_attributes(void **state)
{
	struct overlay_fixture f;
	const struct link *l;

	(void)state;
	open_with(&f,
		HEAD "segments:\n" GPU("")
			STORE("") "  - {name: six, vni: 30, mode: bridged, gateway: [\"fd00:3::1/64\"]}\n");
	assert_true(model_link(&f.kernel.m, "br30")->addrgen);
	assert_false(model_link(&f.kernel.m, "vx30")->addrgen);
	l = model_link(&f.kernel.m, "vx10");
	assert_true(l->vxlan.learning);
	assert_int_equal(l->vxlan.port, 4789);
	assert_false(l->addrgen);
	assert_string_equal(l->master, "br10");
	assert_int_equal(l->ifindex, FAIRWAY_IFINDEX_VXLAN + 10);
	l = model_link(&f.kernel.m, "br10");
	assert_false(l->addrgen); /* its gateway is IPv4 */
	assert_false(l->mcast_snoop);
	assert_int_equal(l->ifindex, FAIRWAY_IFINDEX_BRIDGE + 10);
	l = model_link(&f.kernel.m, "vx20");
	assert_true(l->vxlan.learning);
	assert_true(l->addrgen);
	assert_true(model_link(&f.kernel.m, "lo")->up);
	/* A new device has its offload on: not asked for, device by device. */
	(void)fixture_plan(&f, NULL);
	fixture_apply(&f);
	(void)fixture_plan(&f, fixture_config(&f, HEAD "segments:\n" GPU("") STORE("")));
	for (size_t i = 0; i < f.plan.n_steps; i++) {
		const struct overlay_step *s = f.plan.steps[i].payload;

		if (s->op == OP_LINK_CREATE)
			assert_false(s->change & LA_TX_CSUM);
	}
	fixture_close(&f);
}

/* A kernel without IPv6 shows no link-local mode: nothing to change, for ever. */
static void test_kernel_without_ipv6(void **state)
{
	static const char text[] = HEAD "segments:\n" GPU("");
	struct overlay_fixture f;

	(void)state;
	open_with(&f, text);
	for (size_t i = 0; i < f.kernel.m.n_links; i++) {
		f.kernel.m.links[i].attrs &= ~(unsigned)LA_ADDRGEN;
		f.kernel.m.links[i].addrgen = true;
	}
	change_to(&f, text, "");
	fixture_close(&f);
}

/* A smaller hop is learned: one device changes, in place. */
static void test_learned_mtu(void **state)
{
	static const char text[] = HEAD "segments:\n" GPU("") STORE("");
	struct overlay_fixture f;
	struct ip_addr vtep;

	(void)state;
	open_with(&f, text);
	assert_int_equal(ip_addr_parse("10.255.1.1", &vtep), 0);
	assert_true(facts_set_path_mtu(&f.facts, &vtep, "e2", 1400));
	change_to(&f, text,
		"+ segment store: vx20: MTU 1450 -> 1350 [none]\n"
		"+ remote r: route 10.255.1.1/32 MTU 1400 via 10.0.1.2 e1 weight 2 and via 10.0.2.2 e2 weight 1 "
		"[none]\n");
	assert_true(facts_set_path_mtu(&f.facts, &vtep, "e2", 0));
	change_to(&f, text,
		"+ segment store: vx20: MTU 1350 -> 1450 [none]\n"
		"+ remote r: route 10.255.1.1/32 via 10.0.1.2 e1 weight 2 and via 10.0.2.2 e2 weight 1 [none]\n");
	fixture_close(&f);
}

/* A hop that the file knows and that does not answer: the route says it, so that the gateway answers for it. */
static void test_path_mtu(void **state)
{
	static const char text[] =
		"system: {hostname: a}\n"
		"lines: [{name: l, interface: e1, address: 10.0.1.1/30, peer-address: 10.0.1.2, path-mtu: 1400}]\n"
		"remotes: [{name: r, vtep: 10.255.1.1, lines: [l]}]\n"
		"vtep: {address: 10.255.0.1}\n"
		"segments: [{name: gpu, vni: 10, mode: bridged, members: [e3], remotes: [r]}]\n";
	static const char auto_text[] =
		"system: {hostname: a}\n"
		"lines: [{name: l, interface: e1, address: 10.0.1.1/30, peer-address: 10.0.1.2}]\n"
		"remotes: [{name: r, vtep: 10.255.1.1, lines: [l]}]\n"
		"vtep: {address: 10.255.0.1}\n"
		"segments: [{name: gpu, vni: 10, mode: bridged, members: [e3], remotes: [r]}]\n";
	struct overlay_fixture f;

	(void)state;
	open_with(&f, text);
	change_to(&f, auto_text, "+ remote r: route 10.255.1.1/32 via 10.0.1.2 e1 [none]\n");
	change_to(&f, text, "+ remote r: route 10.255.1.1/32 MTU 1400 via 10.0.1.2 e1 [none]\n");
	fixture_close(&f);
}

/* --- devices made again --- */

static void test_port_change(void **state)
{
	struct overlay_fixture f;

	(void)state;
	open_with(&f, HEAD "segments:\n" GPU("") STORE(""));
	/* What goes along with a device is made again, and is not deleted a second time. */
	change_to(&f, LINES "vtep: {address: 10.255.0.1, port: 8472}\nsegments:\n" GPU("") STORE(""),
		"- segment gpu: delete vx10 [interrupts segment gpu]\n"
		"- segment store: delete vx20 [interrupts segment store]\n"
		"+ segment gpu: create vx10 (VXLAN, VNI 10, MTU 1500) [none]\n"
		"+ segment store: create vx20 (VXLAN, VNI 20, MTU 1450) [none]\n"
		"+ segment store: add 10.2.0.1/24 to vx20 [none]\n"
		"+ segment store: add fd00:2::1/64 to vx20 [none]\n"
		"+ segment store: route 10.9.0.0/16 via 10.2.0.2 vx20 [none]\n"
		"+ segment gpu: vx10: send to 10.255.1.1 [none]\n"
		"+ segment store: vx20: send to 10.255.1.1 [none]\n");
	fixture_close(&f);
}

static void test_vni_change(void **state)
{
	struct overlay_fixture f;

	(void)state;
	open_with(&f, HEAD "segments:\n" GPU("") STORE(""));
	change_to(&f,
		HEAD
		"segments:\n"
		"  - {name: gpu, vni: 12, mode: bridged, members: [e3], gateway: [10.1.0.1/24], remotes: [r]}\n" STORE(
			""),
		"- segment gpu: delete vx10 [interrupts segment gpu]\n"
		"- segment gpu: delete br10 [interrupts segment gpu]\n"
		"+ segment gpu: create br12 (bridge, MTU 1500) [none]\n"
		"+ segment gpu: create vx12 (VXLAN, VNI 12, MTU 1500) [none]\n"
		"+ segment gpu: e3: joins br12 [none]\n"
		"+ segment gpu: add 10.1.0.1/24 to br12 [none]\n"
		"+ segment gpu: vx12: send to 10.255.1.1 [none]\n");
	fixture_close(&f);
}

static void test_mode_change(void **state)
{
	struct overlay_fixture f;

	(void)state;
	open_with(&f, HEAD "segments:\n" GPU(""));
	/* The VXLAN device stays: only its bridge goes. */
	change_to(&f, HEAD "segments:\n  - {name: gpu, vni: 10, mode: routed, gateway: [10.1.0.1/24], remotes: [r]}\n",
		"- segment gpu: delete br10 [interrupts segment gpu]\n"
		"+ segment gpu: vx10: MTU 1500 -> 1450, MAC 02:b8:3d:1b:53:a1 [interrupts segment gpu]\n"
		"+ segment gpu: add 10.1.0.1/24 to vx10 [none]\n");
	fixture_close(&f);
}

/* Entering a VRF costs a device its IPv6 addresses and routes: all back in one plan. */
static void test_tenant(void **state)
{
	struct overlay_fixture f;

	(void)state;
	open_with(&f, HEAD "segments:\n" STORE(""));
	f.facts.has_vrf = true;
	change_to(&f, HEAD "tenants:\n  - {name: blue, table: 1001}\nsegments:\n" STORE(", tenant: blue"),
		"+ tenant blue: create vrf-blue (VRF, table 1001) [none]\n"
		"+ segment store: vx20: joins vrf-blue [interrupts segment store]\n"
		"+ segment store: add fd00:2::1/64 to vx20 [none]\n"
		"+ tenant blue: route 0.0.0.0/0 table 1001 unreachable [none]\n"
		"+ segment store: route 10.9.0.0/16 table 1001 via 10.2.0.2 vx20 [none]\n"
		"+ tenant blue: route ::/0 table 1001 unreachable [none]\n");
	/* A card that somebody put into the VRF, for which the file has no word, stays there. */
	(void)foreign_link(&f, LINK_OTHER, "tap0");
	for (size_t i = 0; i < f.kernel.m.n_links; i++)
		if (str_eq(f.kernel.m.links[i].name, "tap0"))
			(void)snprintf(f.kernel.m.links[i].master, 16, "vrf-blue");
	change_to(&f, HEAD "tenants:\n  - {name: blue, table: 1001}\nsegments:\n" STORE(", tenant: blue"), "");
	/* Another table: the VRF is made again under it. */
	change_to(&f, HEAD "tenants:\n  - {name: blue, table: 1002}\nsegments:\n" STORE(", tenant: blue"),
		"- routes: remove route 0.0.0.0/0 table 1001 unreachable [interrupts 0.0.0.0/0]\n"
		"- routes: remove route ::/0 table 1001 unreachable [interrupts ::/0]\n"
		"- tenant blue: delete vrf-blue [interrupts tenant blue]\n"
		"+ tenant blue: create vrf-blue (VRF, table 1002) [none]\n"
		"+ segment store: vx20: joins vrf-blue [interrupts segment store]\n"
		"+ segment store: add fd00:2::1/64 to vx20 [none]\n"
		"+ tenant blue: route 0.0.0.0/0 table 1002 unreachable [none]\n"
		"+ segment store: route 10.9.0.0/16 table 1002 via 10.2.0.2 vx20 [none]\n"
		"+ tenant blue: route ::/0 table 1002 unreachable [none]\n");
	fixture_close(&f);
}

/* --- underlay --- */

static void test_addresses(void **state)
{
	struct overlay_fixture f;

	(void)state;
	open_with(&f, HEAD "interfaces:\n  - {name: e0, addresses: [10.5.0.1/24, 10.6.0.1/24]}\n");
	/* Where another address of the family comes or stays, the old one goes after it: routes keep their link. */
	change_to(&f, HEAD "interfaces:\n  - {name: e0, addresses: [10.5.0.1/25, 10.7.0.1/24]}\n",
		"+ interface e0: add 10.5.0.1/25 to e0 [none]\n"
		"+ interface e0: add 10.7.0.1/24 to e0 [none]\n"
		"+ interface e0: remove 10.5.0.1/24 from e0 [none]\n"
		"+ interface e0: remove 10.6.0.1/24 from e0 [interrupts 10.6.0.1]\n");
	/* One that is down has none: the kernel would take its IPv6 addresses away. */
	change_to(&f, HEAD "interfaces:\n  - {name: e0, addresses: [10.5.0.1/25, 10.7.0.1/24], enabled: false}\n",
		"- interface e0: remove 10.5.0.1/25 from e0 [interrupts 10.5.0.1]\n"
		"- interface e0: remove 10.7.0.1/24 from e0 [interrupts 10.7.0.1]\n"
		"+ interface e0: e0: down [interrupts interface e0]\n");
	change_to(&f, HEAD "interfaces:\n  - {name: e0, addresses: [10.5.0.1/25, 10.7.0.1/24]}\n",
		"+ interface e0: e0: up [none]\n"
		"+ interface e0: add 10.5.0.1/25 to e0 [none]\n"
		"+ interface e0: add 10.7.0.1/24 to e0 [none]\n");
	change_to(&f, HEAD, /* and an interface that is not in the file any more is let be, without our addresses */
		"- interface e0: remove 10.5.0.1/25 from e0 [interrupts 10.5.0.1]\n"
		"- interface e0: remove 10.7.0.1/24 from e0 [interrupts 10.7.0.1]\n");
	fixture_close(&f);
}

static void test_disabled(void **state)
{
	struct overlay_fixture f;

	(void)state;
	open_with(&f, HEAD);
	assert_int_equal(f.kernel.m.n_routes, 2);
	change_to(&f,
		"system: {hostname: a}\n"
		"lines:\n"
		"  - {name: l, interface: e1, address: 10.0.1.1/30, peer-address: 10.0.1.2, enabled: false}\n"
		"  - {name: m, interface: e2, address: 10.0.2.1/30, peer-address: 10.0.2.2}\n"
		"remotes:\n"
		"  - {name: r, vtep: 10.255.1.1, lines: [l, m]}\n"
		"  - {name: s, vtep: 10.255.2.1, lines: [l]}\n"
		"vtep: {address: 10.255.0.1}\n",
		"- line l: remove route 10.255.2.1/32 via 10.0.1.2 e1 [interrupts 10.255.2.1/32]\n"
		"- line l: remove 10.0.1.1/30 from e1 [interrupts 10.0.1.1]\n"
		"+ line l: e1: down [interrupts line l]\n"
		"+ remote r: route 10.255.1.1/32 via 10.0.2.2 e2 [none]\n");
	fixture_close(&f);
}

/* Out of service is also what is not there at all. */
static void test_disabled_and_missing(void **state)
{
	static const char text[] = HEAD "interfaces:\n  - {name: e9, mtu: 1500, addresses: [10.5.0.1/24]%s}\n";
	struct overlay_fixture f;
	const struct config *cfg;
	char given[2048];

	(void)state;
	open_with(&f, HEAD);
	(void)snprintf(given, sizeof(given), text, "");
	assert_conflict(&f, fixture_config(&f, given), "interface e9", "the interface e9 does not exist");
	(void)snprintf(given, sizeof(given), text, ", enabled: false");
	fixture_converge(&f, fixture_config(&f, given));
	cfg = fixture_config(&f,
		"system: {hostname: a}\n"
		"lines:\n"
		"  - {name: l, interface: e1, address: 10.0.1.1/30, peer-address: 10.0.1.2, enabled: false}\n");
	fake_kernel_remove_interface(&f.kernel, "e1");
	fixture_converge(&f, cfg);
	fixture_close(&f);
}

static void assert_weights(const char *rate1, const char *rate2, unsigned weight1, unsigned weight2)
{
	struct overlay_fixture f;
	struct buf text = {0};

	buf_printf(&text,
		"system: {hostname: a}\nlines:\n"
		"  - {name: l, interface: e1, address: 10.0.1.1/30, peer-address: 10.0.1.2%s}\n"
		"  - {name: m, interface: e2, address: 10.0.2.1/30, peer-address: 10.0.2.2%s}\n"
		"vtep: {address: 10.255.0.1}\nremotes:\n  - {name: r, vtep: 10.255.1.1, lines: [m, l]}\n",
		rate1, rate2);
	open_with(&f, buf_str(&text));
	assert_int_equal(route_to(&f, "10.255.1.1/32")->nexthops[0].weight, weight1);
	assert_int_equal(route_to(&f, "10.255.1.1/32")->nexthops[1].weight, weight2);
	buf_free(&text);
	fixture_close(&f);
}

static void test_weights(void **state)
{
	(void)state;
	assert_weights(", rate: 10gbit", ", rate: 4gbit", 5, 2);
	assert_weights(", rate: 1gbit", ", rate: 1gbit", 1, 1);
	assert_weights(", rate: 10gbit", "", 1, 1);
	assert_weights("", "", 1, 1);
	assert_weights(", rate: 10tbit", ", rate: 1mbit", 255, 1);
	assert_weights(", rate: 1000mbit", ", rate: 999mbit", 255, 255);
}

static void test_on_link(void **state)
{
	struct overlay_fixture f;

	(void)state;
	open_with(&f,
		"system: {hostname: a}\nlines:\n"
		"  - {name: l, interface: e1, address: 10.0.1.1/29, peer-address: 10.0.1.2}\n"
		"vtep: {address: 10.0.1.1}\nremotes:\n  - {name: r, vtep: 10.0.1.3, lines: [l]}\n");
	assert_int_equal(f.kernel.m.n_routes, 0);
	assert_int_equal(f.kernel.m.n_addrs, 1); /* the vtep is the line's own, and not on lo as well */
	fixture_close(&f);
}

/* --- other people's things, and drift --- */

static void test_conflicts(void **state)
{
	struct overlay_fixture f;
	const struct config *cfg;
	struct link *l;
	struct ip_route *r;

	(void)state;
	fixture_open(&f);
	cfg = fixture_config(&f, HEAD "segments:\n" GPU("") STORE(""));
	fixture_add_interfaces(&f, cfg);
	(void)foreign_link(&f, LINK_BRIDGE, "br10");
	assert_conflict(
		&f, cfg, "segment gpu", "an interface br10 exists that Fairway did not make; delete or rename it");
	fake_kernel_remove_interface(&f.kernel, "br10");

	l = foreign_link(&f, LINK_VXLAN, "vxlan0");
	l->vxlan = (struct vxlan_attrs){.vni = 20, .port = 4789};
	assert_conflict(&f, cfg, "segment store",
		"VNI 20 on UDP port 4789 is taken by the interface vxlan0 that Fairway did not make; delete it");
	l->vxlan.port = 8472; /* another port: no harm */
	(void)fixture_plan(&f, cfg);
	assert_int_equal(f.plan.n_conflicts, 0);
	l->vxlan.port = 4789;
	l->vxlan.local.family = AF_INET6; /* another socket: no harm */
	(void)fixture_plan(&f, cfg);
	assert_int_equal(f.plan.n_conflicts, 0);
	fake_kernel_remove_interface(&f.kernel, "vxlan0");

	(void)foreign_link(&f, LINK_BRIDGE, "docker0");
	for (size_t i = 0; i < f.kernel.m.n_links; i++)
		if (str_eq(f.kernel.m.links[i].name, "e3"))
			(void)snprintf(f.kernel.m.links[i].master, 16, "docker0");
	assert_conflict(&f, cfg, "segment gpu",
		"e3 is a port of docker0, which Fairway did not make; take it out of there first");
	fake_kernel_remove_interface(&f.kernel, "docker0");

	r = model_add_route(&f.kernel.m);
	*r = (struct ip_route){.table = 254, .dst = prefix("10.255.2.1/32"), .proto = 4};
	model_seal(&f.kernel.m);
	assert_conflict(&f, cfg, "remote s",
		"a route to 10.255.2.1/32 that Fairway did not make (protocol 4) is in its place; remove it");
	fixture_close(&f);
}

static void test_missing_interface(void **state)
{
	static const char text[] = HEAD "segments:\n" GPU("");
	struct overlay_fixture f;
	const struct config *cfg;

	(void)state;
	open_with(&f, text);
	cfg = fixture_config(&f, text);
	fake_kernel_remove_interface(&f.kernel, "e2");
	/* Named; the other line goes on alone, and nothing is planned that cannot be done. */
	assert_conflict(&f, cfg, "line m", "the interface e2 does not exist");
	assert_string_equal(steps_of(&f), "+ remote r: route 10.255.1.1/32 via 10.0.1.2 e1 [none]\n");
	fixture_apply(&f);
	assert_int_equal(route_to(&f, "10.255.1.1/32")->n_nexthops, 1);
	assert_int_equal(route_to(&f, "10.255.1.1/32")->nexthops[0].weight, 1);
	fake_kernel_remove_interface(&f.kernel, "e3");
	(void)fixture_plan(&f, cfg);
	assert_int_equal(f.plan.n_conflicts, 2);
	assert_int_equal(f.plan.n_steps, 0);
	fake_kernel_remove_interface(&f.kernel, "e1");
	(void)fixture_plan(&f, cfg);
	assert_int_equal(f.plan.n_conflicts, 3);
	assert_int_equal(f.plan.n_steps, 0); /* no route at all, and no unreachable one */
	/* It is back: so is everything on it. */
	fixture_add_interfaces(&f, cfg);
	fixture_converge(&f, cfg);
	fixture_close(&f);
}

static void test_foreign_address(void **state)
{
	struct overlay_fixture f;
	struct if_addr *a;

	(void)state;
	fixture_open(&f);
	fake_kernel_add_interface(&f.kernel, "e1", 1500);
	a = model_add_addr(&f.kernel.m);
	(void)snprintf(a->link, sizeof(a->link), "e1");
	a->addr = prefix("10.0.1.1/30");
	model_seal(&f.kernel.m);
	fixture_add_interfaces(&f, fixture_config(&f, HEAD));
	fixture_converge(&f, fixture_config(&f, HEAD));
	assert_false(fixture_has_step(&f, "line l", "10.0.1.1"));
	/* With all of ours gone it is still there. */
	fixture_converge(&f, NULL);
	assert_int_equal(f.kernel.m.n_addrs, 1);
	fixture_close(&f);
}

static void test_drift(void **state)
{
	static const char text[] = HEAD "segments:\n" GPU("") STORE("");
	struct overlay_fixture f;
	struct link gone;

	(void)state;
	open_with(&f, text);
	gone = *model_link(&f.kernel.m, "vx20");
	assert_int_equal(fake_kernel_apply(&f.kernel, &(struct overlay_step){.op = OP_LINK_DELETE, .link = &gone}), 0);
	change_to(&f, text,
		"+ segment store: create vx20 (VXLAN, VNI 20, MTU 1450) [none]\n"
		"+ segment store: add 10.2.0.1/24 to vx20 [none]\n"
		"+ segment store: add fd00:2::1/64 to vx20 [none]\n"
		"+ segment store: route 10.9.0.0/16 via 10.2.0.2 vx20 [none]\n"
		"+ segment store: vx20: send to 10.255.1.1 [none]\n");
	fixture_close(&f);
}

static struct link *kernel_link(struct overlay_fixture *f, const char *name)
{
	for (size_t i = 0; i < f->kernel.m.n_links; i++)
		if (str_eq(f->kernel.m.links[i].name, name))
			return &f->kernel.m.links[i];
	fail_msg("no link %s", name);
	return NULL;
}

static unsigned port_bit(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(port_flags); i++)
		if (str_eq(port_flags[i].name, name))
			return 1U << i;
	fail_msg("no port flag %s", name);
	return 0;
}

/* Ports of our bridges, and the bridges, are as the kernel makes them. */
static void test_drift_of_ports(void **state)
{
	static const char text[] = HEAD "segments:\n" GPU("");
	struct overlay_fixture f;

	(void)state;
	open_with(&f, text);
	kernel_link(&f, "vx10")->port_unusual = port_bit("isolated") | port_bit("flood");
	change_to(&f, text, "+ segment gpu: vx10: port flags: flood on, isolated off [none]\n");
	kernel_link(&f, "e3")->forwarding = false;
	change_to(&f, text, "+ segment gpu: e3: port forwards [none]\n");
	/* The bridge first: with a spanning tree nobody may set the state of a port. */
	kernel_link(&f, "br10")->stp = true;
	kernel_link(&f, "br10")->ageing = 0;
	(void)snprintf(kernel_link(&f, "e3")->name, 16, "a0");
	model_seal(&f.kernel.m);
	kernel_link(&f, "a0")->forwarding = false;
	change_to(&f,
		HEAD "segments:\n  - {name: gpu, vni: 10, mode: bridged, members: [a0], gateway: [10.1.0.1/24], "
		     "remotes: [r]}\n",
		"+ segment gpu: br10: spanning tree off, ageing time 300 s [none]\n"
		"+ segment gpu: a0: port forwards [none]\n");
	/* One that is idle tells nothing; one that joins begins anew. */
	kernel_link(&f, "vx10")->forwarding = false;
	kernel_link(&f, "vx10")->attrs &= ~(unsigned)LA_PORT_STATE;
	kernel_link(&f, "a0")->master[0] = '\0';
	kernel_link(&f, "a0")->port_unusual = port_bit("locked");
	change_to(&f,
		HEAD "segments:\n  - {name: gpu, vni: 10, mode: bridged, members: [a0], gateway: [10.1.0.1/24], "
		     "remotes: [r]}\n",
		"+ segment gpu: a0: joins br10 [none]\n");
	fixture_close(&f);
}

static void test_member_that_is_a_bridge(void **state)
{
	struct overlay_fixture f;

	(void)state;
	fixture_open(&f);
	(void)foreign_link(&f, LINK_BRIDGE, "e3");
	fixture_add_interfaces(&f, fixture_config(&f, HEAD "segments:\n" GPU("")));
	assert_conflict(&f, fixture_config(&f, HEAD "segments:\n" GPU("")), "segment gpu",
		"members: e3 is a bridge itself; a bridge cannot be a port of a bridge");
	assert_false(fixture_has_step(&f, "segment gpu", "e3"));
	fixture_close(&f);
}

/* Leftovers of a gateway that crashed, and of an older config; a card that somebody put into our group stays. */
static void test_leftovers(void **state)
{
	struct overlay_fixture f;
	struct link *l;

	(void)state;
	fixture_open(&f);
	l = foreign_link(&f, LINK_VXLAN, "vx99");
	l->ours = true;
	l->vxlan = (struct vxlan_attrs){.vni = 99, .port = 4789};
	l->alias = "fairway: segment old";
	l = foreign_link(&f, LINK_BRIDGE, "vx10"); /* ours by name and group, of the wrong kind */
	l->ours = true;
	foreign_link(&f, LINK_OTHER, "e9")->ours = true;
	fixture_add_interfaces(&f, fixture_config(&f, HEAD "segments:\n" GPU("")));
	(void)fixture_plan(&f, fixture_config(&f, HEAD "segments:\n" GPU("")));
	assert_true(fixture_has_step(&f, "segment old", "delete vx99"));
	assert_true(fixture_has_step(&f, "interface vx10", "delete vx10"));
	/* What is about a device made again finds the new one. */
	for (size_t i = 0; i < f.plan.n_steps; i++) {
		const struct overlay_step *s = f.plan.steps[i].payload;

		if (s->op == OP_FDB_ADD)
			assert_int_equal(s->ifindex, FAIRWAY_IFINDEX_VXLAN + 10);
	}
	assert_false(fixture_has_step(&f, "interface e9", "delete"));
	fixture_converge(&f, fixture_config(&f, HEAD "segments:\n" GPU("")));
	fixture_close(&f);
}

static void test_teardown(void **state)
{
	struct overlay_fixture f;

	(void)state;
	open_with(&f, HEAD "segments:\n" GPU("") STORE(""));
	*model_add_route(&f.kernel.m) = (struct ip_route){.table = 254, .dst = prefix("192.0.2.0/24"), .proto = 4};
	model_seal(&f.kernel.m);
	fixture_converge(&f, NULL);
	assert_int_equal(f.kernel.m.n_addrs, 0);
	assert_int_equal(f.kernel.m.n_fdbs, 0);
	assert_int_equal(f.kernel.m.n_routes, 1); /* somebody else's */
	assert_int_equal(f.kernel.m.n_links, 4);  /* lo, e1, e2, e3 */
	fixture_close(&f);
}

/* Two lines of one priority with BFD, and one that stands by. */
static const char watched[] =
	"system: {hostname: a}\nlines:\n"
	"  - {name: a, interface: l1, address: 10.0.1.1/30, peer-address: 10.0.1.2, bfd: {}}\n"
	"  - {name: b, interface: l2, address: 10.0.2.1/30, peer-address: 10.0.2.2, bfd: {}}\n"
	"  - {name: c, interface: l3, address: 10.0.3.1/30, peer-address: 10.0.3.2, bfd: {}, priority: 50}\n"
	"vtep: {address: 10.255.0.1}\n"
	"remotes: [{name: r, vtep: 10.255.1.1, lines: [a, b, c]}]\n";

static bool set_dead(struct overlay_fixture *f, unsigned line, bool dead)
{
	struct ip_addr peer = {.family = AF_INET, .bytes = {10, 0, (uint8_t)line, 2}};
	char interface[16];

	(void)snprintf(interface, sizeof(interface), "l%u", line);
	return facts_set_dead(&f->facts, &peer, interface, dead);
}

/* What BFD says of a line is a fact, and a plan of one step. */
static void test_dead_lines(void **state)
{
	struct overlay_fixture fixture, *f = &fixture;
	const struct config *cfg;

	(void)state;
	open_with(f, watched);
	cfg = fixture_config(f, watched);
	assert_true(set_dead(f, 1, true));
	fixture_plan(f, cfg);
	assert_int_equal(f->plan.n_steps, 1);
	assert_true(fixture_has_step(f, "remote r", "floating route 10.255.1.1/32 via 10.0.2.2 l2"));
	fixture_apply(f);
	assert_true(set_dead(f, 2, true));
	fixture_plan(f, cfg);
	assert_true(fixture_has_step(f, "remote r", "floating route 10.255.1.1/32 via 10.0.3.2 l3"));
	fixture_apply(f);
	/* Nothing is left: as if all were alive. */
	assert_true(set_dead(f, 3, true));
	fixture_plan(f, cfg);
	assert_true(fixture_has_step(f, "remote r", "via 10.0.1.2 l1 weight 1 and via 10.0.2.2 l2 weight 1"));
	fixture_converge(f, cfg);
	fixture_close(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_live),
		cmocka_unit_test(test_rename),
		cmocka_unit_test(test_remotes),
		cmocka_unit_test(test_members),
		cmocka_unit_test(test_hosts_mtu),
		cmocka_unit_test(test_jumbo_member),
		cmocka_unit_test(test_attributes),
		cmocka_unit_test(test_kernel_without_ipv6),
		cmocka_unit_test(test_learned_mtu),
		cmocka_unit_test(test_path_mtu),
		cmocka_unit_test(test_port_change),
		cmocka_unit_test(test_vni_change),
		cmocka_unit_test(test_mode_change),
		cmocka_unit_test(test_tenant),
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_disabled),
		cmocka_unit_test(test_disabled_and_missing),
		cmocka_unit_test(test_weights),
		cmocka_unit_test(test_dead_lines),
		cmocka_unit_test(test_on_link),
		cmocka_unit_test(test_conflicts),
		cmocka_unit_test(test_missing_interface),
		cmocka_unit_test(test_foreign_address),
		cmocka_unit_test(test_drift),
		cmocka_unit_test(test_drift_of_ports),
		cmocka_unit_test(test_member_that_is_a_bridge),
		cmocka_unit_test(test_leftovers),
		cmocka_unit_test(test_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
