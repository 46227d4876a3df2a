/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Links: wanted against observed; see overlay.h. Pure.
 *
 * What the kernel changes in place is changed in place (tried on 6.18: MTU, master, MAC, df, tos, ttl, learning, the
 * local address within its family, alias). A VNI, a UDP port, the family of the local address and a VRF's table it does
 * not change: those links are deleted and made again, and the plan says whom that interrupts.
 *
 * Somebody else's link is never deleted: in our way it is a conflict that names it.
 */
#include "overlay/link_plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "gateway/base/arena.h"
#include "gateway/base/buf.h"
#include "gateway/base/str.h"
#include "gateway/engine/plan.h"
#include "overlay/model.h"
#include "overlay/mtu.h"
#include "overlay/overlay.h"
#include "overlay/port_flags.h"

static const char alias_prefix[] = "fairway: ";

/* --- what the other half asks --- */

enum link_fate walk_want_fate(const struct walk *w, const char *link)
{
	const struct link *l = model_link(w->want, link);

	return l ? w->want_fate[l - w->want->links] : FATE_MISSING;
}

enum link_fate walk_have_fate(const struct walk *w, const char *link)
{
	const struct link *l = model_link(w->have, link);

	return l ? w->have_fate[l - w->have->links] : FATE_DELETED;
}

static const char *object_of_alias(const struct walk *w, const struct link *have)
{
	if (have->ours && have->alias && str_starts(have->alias, alias_prefix))
		return have->alias + strlen(alias_prefix);
	return arena_printf(w->plan->arena, "interface %s", have->name);
}

const char *walk_object(const struct walk *w, const char *link)
{
	const struct link *l = model_link(w->want, link);

	if (l && l->object)
		return l->object;
	l = model_link(w->have, link);
	return l ? object_of_alias(w, l) : arena_printf(w->plan->arena, "interface %s", link);
}

uint32_t walk_ifindex(const struct walk *w, const char *link)
{
	const struct link *have = model_link(w->have, link), *want = model_link(w->want, link);

	if (have && w->have_fate[have - w->have->links] != FATE_DELETED)
		return have->ifindex;
	return want ? want->ifindex : 0;
}

const struct overlay_step *walk_step(const struct walk *w, struct overlay_step step)
{
	return arena_memdup(w->plan->arena, &step, sizeof(step));
}

const char *walk_interrupts(const struct walk *w, const char *what)
{
	return arena_printf(w->plan->arena, "interrupts %s", what);
}

/* --- fates --- */

static bool must_make_again(const struct link *want, const struct link *have)
{
	if (want->kind != have->kind)
		return true;
	if (want->kind == LINK_VXLAN)
		return want->vxlan.vni != have->vxlan.vni || want->vxlan.port != have->vxlan.port ||
			want->vxlan.local.family != have->vxlan.local.family;
	return want->kind == LINK_VRF && want->table != have->table;
}

static bool is_vrf(const struct kernel_model *m, const char *name)
{
	const struct link *l = name[0] ? model_link(m, name) : NULL;

	return l && l->kind == LINK_VRF;
}

/* The master once all deletions are done. */
static const char *master_left(const struct walk *w, const struct link *have)
{
	return have->master[0] && walk_have_fate(w, have->master) == FATE_DELETED ? "" : have->master;
}

static bool enters_or_leaves_vrf(const struct walk *w, const struct link *want, const struct link *have)
{
	if (is_vrf(w->have, have->master) && !str_eq(master_left(w, have), have->master))
		return true;
	if (!(want->attrs & LA_MASTER) || str_eq(want->master, have->master))
		return false;
	return is_vrf(w->have, have->master) || is_vrf(w->want, want->master);
}

static enum link_fate fate_of_wanted(const struct walk *w, const struct link *want, const struct link *have)
{
	if (!have)
		return want->ours ? FATE_MADE : FATE_MISSING;
	if (!want->ours)
		return FATE_KEPT;
	if (!have->ours) {
		plan_conflict(w->plan, want->object,
			"an interface %s exists that Fairway did not make; delete or rename it", want->name);
		return FATE_MISSING;
	}
	return must_make_again(want, have) ? FATE_MADE : FATE_KEPT;
}

static void decide_fates(struct walk *w)
{
	const struct kernel_model *want = w->want, *have = w->have;

	w->want_fate = arena_array(w->plan->arena, want->n_links, sizeof(*w->want_fate));
	w->have_fate = arena_array(w->plan->arena, have->n_links, sizeof(*w->have_fate));
	/* Somebody may have put a card of the machine into our group: it stays. */
	for (size_t i = 0; i < have->n_links; i++)
		w->have_fate[i] = have->links[i].ours && have->links[i].kind != LINK_OTHER ? FATE_DELETED : FATE_KEPT;
	for (size_t i = 0; i < want->n_links; i++) {
		const struct link *h = model_link(have, want->links[i].name);

		w->want_fate[i] = fate_of_wanted(w, &want->links[i], h);
		if (h && (w->want_fate[i] == FATE_KEPT || !h->ours))
			w->have_fate[h - have->links] = FATE_KEPT;
	}
	for (size_t i = 0; i < want->n_links; i++) {
		const struct link *h = model_link(have, want->links[i].name);

		if (h && w->want_fate[i] == FATE_KEPT && enters_or_leaves_vrf(w, &want->links[i], h))
			w->have_fate[h - have->links] = FATE_CYCLED;
	}
}

/* --- deletions, and ports that leave our bridges --- */

static void delete_link(struct walk *w, const struct link *have)
{
	unsigned rank = have->kind == LINK_VRF ? REMOVE_VRF : have->kind == LINK_BRIDGE ? REMOVE_BRIDGE : REMOVE_VXLAN;
	const char *object = object_of_alias(w, have);

	plan_add(w->plan, STEP_REMOVE, rank, object, walk_interrupts(w, object),
		walk_step(w, (struct overlay_step){.op = OP_LINK_DELETE, .link = have, .ifindex = have->ifindex}),
		"delete %s", have->name);
}

/* A port that we do not want on a bridge of ours, whoever put it there. */
static void release_port(struct walk *w, const struct link *have)
{
	const struct link *want = model_link(w->want, have->name), *master = model_link(w->have, have->master);
	struct link *released;

	if ((want && want->attrs & LA_MASTER) || !master || !master->ours || master->kind != LINK_BRIDGE ||
		walk_have_fate(w, have->master) == FATE_DELETED)
		return;
	released = arena_memdup(w->plan->arena, have, sizeof(*have));
	released->master[0] = '\0';
	plan_add(w->plan, STEP_REMOVE, REMOVE_PORT, walk_object(w, have->master), walk_interrupts(w, have->name),
		walk_step(w,
			(struct overlay_step){
				.op = OP_LINK_CHANGE, .change = LA_MASTER, .link = released, .ifindex = have->ifindex}),
		"%s leaves %s", have->name, have->master);
}

/* --- creations --- */

static int vxlan_cmp(const void *pa, const void *pb)
{
	const struct link *const *a = pa, *const *b = pb;
	int c = cmp_u32((*a)->vxlan.vni, (*b)->vxlan.vni);

	if (c == 0)
		c = cmp_u32((*a)->vxlan.port, (*b)->vxlan.port);
	/* The kernel has one table per socket, and a socket per family. */
	return c ? c : (int)ip_addr_is_ipv6(&(*a)->vxlan.local) - (int)ip_addr_is_ipv6(&(*b)->vxlan.local);
}

/* VXLAN devices of other people, by what may exist only once. */
static const struct link **foreign_vxlans(const struct walk *w, size_t *ret_n)
{
	const struct link **v = arena_array(w->plan->arena, w->have->n_links, sizeof(struct link *));
	size_t n = 0;

	for (size_t i = 0; i < w->have->n_links; i++)
		if (w->have->links[i].kind == LINK_VXLAN && !w->have->links[i].ours)
			v[n++] = &w->have->links[i];
	if (n > 1)
		qsort(v, n, sizeof(struct link *), vxlan_cmp);
	*ret_n = n;
	return v;
}

static const char *kind_text(struct plan *plan, const struct link *l)
{
	switch (l->kind) {
	case LINK_VXLAN:
		return arena_printf(plan->arena, "VXLAN, VNI %" PRIu32 ", MTU %" PRIu32, l->vxlan.vni, l->mtu);
	case LINK_BRIDGE:
		return arena_printf(plan->arena, "bridge, MTU %" PRIu32, l->mtu);
	case LINK_VRF:
		return arena_printf(plan->arena, "VRF, table %" PRIu32, l->table);
	default:
		return "interface";
	}
}

static void create_link(struct walk *w, const struct link *want)
{
	unsigned rank = want->kind == LINK_VRF ? MAKE_VRF : want->kind == LINK_BRIDGE ? MAKE_BRIDGE : MAKE_VXLAN;
	unsigned change = want->attrs;

	/* What a new device and a new port have anyway: no need to ask for it, device by device. */
	change &= ~(unsigned)(LA_STP | LA_AGEING | LA_PORT_STATE);
	if (!want->port_unusual)
		change &= ~(unsigned)LA_PORT;
	if (want->tx_csum)
		change &= ~(unsigned)LA_TX_CSUM;
	plan_add(w->plan, STEP_MAKE, rank, want->object, NULL,
		walk_step(w,
			(struct overlay_step){
				.op = OP_LINK_CREATE, .change = change, .link = want, .ifindex = want->ifindex}),
		"create %s (%s)", want->name, kind_text(w->plan, want));
}

static void create_links(struct walk *w)
{
	size_t n;
	const struct link **foreign = foreign_vxlans(w, &n);

	for (size_t i = 0; i < w->want->n_links; i++) {
		const struct link *l = &w->want->links[i], *const *taken = NULL;

		if (w->want_fate[i] != FATE_MADE)
			continue;
		if (l->kind == LINK_VXLAN && n > 0)
			taken = bsearch(&l, foreign, n, sizeof(struct link *), vxlan_cmp);
		if (taken)
			plan_conflict(w->plan, l->object,
				"VNI %" PRIu32 " on UDP port %u is taken by the interface %s that Fairway did not "
				"make; delete it",
				l->vxlan.vni, l->vxlan.port, (*taken)->name);
		else
			create_link(w, l);
	}
}

/* --- changes in place --- */

static bool same_vxlan(const struct vxlan_attrs *a, const struct vxlan_attrs *b)
{
	return ip_addr_cmp(&a->local, &b->local) == 0 && a->df == b->df && a->tos == b->tos && a->ttl == b->ttl &&
		a->learning == b->learning;
}

static unsigned differences(const struct link *want, const struct link *have, const char *have_master)
{
	unsigned d = 0;

	if (want->up != have->up)
		d |= LA_UP;
	if (want->mtu != have->mtu)
		d |= LA_MTU;
	if (!str_eq(want->master, have_master))
		d |= LA_MASTER;
	if (mac_addr_cmp(&want->mac, &have->mac) != 0)
		d |= LA_MAC;
	if (!str_eq(want->alias, have->alias))
		d |= LA_ALIAS;
	if (want->addrgen != have->addrgen)
		d |= LA_ADDRGEN;
	if (want->tx_csum != have->tx_csum)
		d |= LA_TX_CSUM;
	if (!same_vxlan(&want->vxlan, &have->vxlan))
		d |= LA_VXLAN;
	if (want->mcast_snoop != have->mcast_snoop)
		d |= LA_MCAST_SNOOP;
	if (want->stp != have->stp)
		d |= LA_STP;
	if (want->ageing != have->ageing)
		d |= LA_AGEING;
	if (want->nf_call != have->nf_call)
		d |= LA_NF_CALL;
	if (d & LA_MASTER & want->attrs) /* a new port begins anew */
		return (d & want->attrs & have->attrs) | (want->port_unusual ? LA_PORT : 0U);
	if (want->port_unusual != have->port_unusual)
		d |= LA_PORT;
	if (want->forwarding != have->forwarding)
		d |= LA_PORT_STATE;
	/* What could not be read (IPv6 of a kernel without it) is not there to be changed. */
	return d & want->attrs & have->attrs;
}

static void text_number(struct buf *out, const char *what, unsigned have, unsigned want)
{
	if (have != want)
		buf_printf(out, ", %s %u -> %u", what, have, want);
}

static const char *tos_text(uint16_t tos, char ret[8])
{
	if (tos == TOS_INHERIT)
		return "inherit";
	(void)snprintf(ret, 8, "%u", tos);
	return ret;
}

static void text_vxlan(struct buf *out, const struct vxlan_attrs *want, const struct vxlan_attrs *have)
{
	static const char *const df[] = {[DF_INHERIT] = "inherit", [DF_SET] = "set", [DF_UNSET] = "unset"};
	char a[IP_STR_MAX], b[IP_STR_MAX];

	if (ip_addr_cmp(&want->local, &have->local) != 0)
		buf_printf(out, ", local %s -> %s", ip_addr_str(&have->local, a), ip_addr_str(&want->local, b));
	if (want->df != have->df)
		buf_printf(out, ", df %s -> %s", df[have->df % ARRAY_SIZE(df)], df[want->df % ARRAY_SIZE(df)]);
	if (want->tos != have->tos)
		buf_printf(out, ", tos %s -> %s", tos_text(have->tos, a), tos_text(want->tos, b));
	text_number(out, "ttl", have->ttl, want->ttl);
	if (want->learning != have->learning)
		buf_printf(out, ", learning %s", want->learning ? "on" : "off");
}

static void text_master(struct buf *out, const char *want, const char *have)
{
	if (have[0])
		buf_printf(out, ", leaves %s", have);
	if (want[0])
		buf_printf(out, ", joins %s", want);
}

/* Jumbo frames that the kernel has and the file does not speak of: lowered, and how to keep them. */
static void text_mtu(struct buf *out, const struct link *want, const struct link *have)
{
	bool is_member = !want->ours && want->master[0];

	text_number(out, "MTU", have->mtu, want->mtu);
	if (is_member && want->mtu == MTU_ETHERNET && have->mtu > MTU_ETHERNET)
		buf_printf(out, " (the hosts' MTU; say mtu: %" PRIu32 " in the segment for jumbo frames)",
			have->mtu < MTU_VXLAN_MAX ? have->mtu : MTU_VXLAN_MAX);
}

static void text_port_flags(struct buf *out, unsigned want, unsigned have)
{
	const char *between = ", port flags: ";

	for (size_t i = 0; i < ARRAY_SIZE(port_flags); i++)
		if ((want ^ have) & 1U << i) {
			bool on = port_flags[i].usual != (bool)(want & 1U << i);

			buf_printf(out, "%s%s %s", between, port_flags[i].name, on ? "on" : "off");
			between = ", ";
		}
}

static void text_bridging(struct buf *out, unsigned change, const struct link *want, const struct link *have)
{
	if (change & LA_MCAST_SNOOP)
		buf_printf(out, ", multicast snooping %s", want->mcast_snoop ? "on" : "off");
	if (change & LA_STP)
		buf_printf(out, ", spanning tree %s", want->stp ? "on" : "off");
	if (change & LA_AGEING)
		buf_printf(out, ", ageing time %" PRIu32 " s", want->ageing / 100);
	if (change & LA_NF_CALL)
		buf_printf(out, ", %sfiltered between its members", want->nf_call ? "" : "not ");
	if (change & LA_PORT_STATE)
		buf_printf(out, ", port forwards");
	if (change & LA_PORT)
		text_port_flags(out, want->port_unusual, have->port_unusual);
}

/* ", up, MTU 1500 -> 9000": each difference, in the operator's words. */
static void text_changes(
	struct buf *out, unsigned change, const struct link *want, const struct link *have, const char *have_master)
{
	char mac[MAC_STR_MAX];

	if (change & LA_UP)
		buf_printf(out, ", %s", want->up ? "up" : "down");
	if (change & LA_MTU)
		text_mtu(out, want, have);
	if (change & LA_MASTER)
		text_master(out, want->master, have_master);
	if (change & LA_MAC)
		buf_printf(out, ", MAC %s", mac_addr_str(&want->mac, mac));
	if (change & LA_ALIAS)
		buf_printf(out, ", alias \"%s\"", want->alias ? want->alias : "");
	if (change & LA_ADDRGEN)
		buf_printf(out, ", IPv6 link-local address %s", want->addrgen ? "on" : "off");
	if (change & LA_TX_CSUM)
		buf_printf(out, ", checksum offload %s", want->tx_csum ? "on" : "off");
	if (change & LA_VXLAN)
		text_vxlan(out, &want->vxlan, &have->vxlan);
	text_bridging(out, change, want, have);
}

/*
 * Whom a change in place interrupts: one that traffic notices is going down, another place in the topology, another
 * address on the wire. NULL: nobody.
 */
static const char *interrupted(const struct walk *w, unsigned change, const struct link *want, const struct link *have,
	const char *have_master)
{
	if (change & LA_MASTER && have_master[0])
		return walk_interrupts(w, want->ours ? want->object : want->name);
	if ((change & LA_UP && !want->up) || change & LA_MAC || walk_have_fate(w, have->name) == FATE_CYCLED ||
		(change & LA_VXLAN && ip_addr_cmp(&want->vxlan.local, &have->vxlan.local) != 0))
		return walk_interrupts(w, want->object);
	return NULL;
}

/* A port of somebody else's bridge is not ours to take. */
static bool is_taken(const struct walk *w, const struct link *want, const char *master)
{
	const struct link *l = master[0] ? model_link(w->have, master) : NULL;

	if (!l || l->ours)
		return false;
	plan_conflict(w->plan, want->object,
		"%s is a port of %s, which Fairway did not make; take it out of there first", want->name, master);
	return true;
}

/* The kernel has no bridges within bridges. */
static bool is_bridge_itself(const struct walk *w, const struct link *want, const struct link *have)
{
	if (!(want->attrs & LA_PORT) || have->kind != LINK_BRIDGE)
		return false;
	plan_conflict(w->plan, want->object, "members: %s is a bridge itself; a bridge cannot be a port of a bridge",
		want->name);
	return true;
}

static void change_link(struct walk *w, const struct link *want, const struct link *have)
{
	const char *master = master_left(w, have);
	unsigned change = differences(want, have, master);
	struct buf text = {0};

	if (is_bridge_itself(w, want, have) || !change || (change & LA_MASTER && is_taken(w, want, master)))
		return;
	text_changes(&text, change, want, have, master);
	/* With a spanning tree the kernel lets nobody set the state of a port: that first. */
	plan_add(w->plan, STEP_MAKE, change & LA_STP ? MAKE_BRIDGE : MAKE_LINK, want->object,
		interrupted(w, change, want, have, master),
		walk_step(w,
			(struct overlay_step){
				.op = OP_LINK_CHANGE, .change = change, .link = want, .ifindex = have->ifindex}),
		"%s:%s", want->name, buf_str(&text) + 1);
	buf_free(&text);
}

void link_plan(struct walk *w)
{
	decide_fates(w);
	for (size_t i = 0; i < w->have->n_links; i++) {
		if (w->have_fate[i] == FATE_DELETED)
			delete_link(w, &w->have->links[i]);
		else if (w->have->links[i].master[0])
			release_port(w, &w->have->links[i]);
	}
	create_links(w);
	for (size_t i = 0; i < w->want->n_links; i++) {
		const struct link *want = &w->want->links[i];

		if (w->want_fate[i] == FATE_KEPT)
			change_link(w, want, model_link(w->have, want->name));
		else if (w->want_fate[i] == FATE_MISSING && !want->ours && want->up) /* one to be down need not be */
			plan_conflict(w->plan, want->object, "the interface %s does not exist", want->name);
	}
}
