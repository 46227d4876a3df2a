/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * MTU and MSS arithmetic; see mtu.h. Pure. The one idea: everything follows from two numbers, the underlay's IP MTU and
 * what the encapsulation takes from it, so a smaller path that is learned later moves device MTU and MSS together.
 *
 * Bridged and routed are opposites (measured): a bridged VXLAN device carries the hosts' MTU, and the driver itself
 * answers too-big with the inner MTU; a routed one carries the inner MTU, and the IP layer answers.
 */
#include "overlay/mtu.h"

#include <stdio.h>
#include <stddef.h>

#include "config/config.h"
#include "gateway/base/addr.h"
#include "gateway/base/arena.h"
#include "gateway/base/str.h"
#include "gateway/engine/facts.h"

enum {
	IPV4_HEADER = 20,
	IPV6_HEADER = 40,
	UDP_HEADER = 8,
	VXLAN_HEADER = 8,
	ETHERNET_HEADER = 14,
	VLAN_TAG = 4,
	TCP_HEADER = 20,
	ESP_HEADER = 8,	 /* SPI, sequence number: RFC 4303 */
	ESP_IV = 8,	 /* AES-GCM: RFC 4106 */
	ESP_TRAILER = 2, /* pad length, next header; with the padding a multiple of 4 */
	ESP_ICV = 16,
	ESP_ALIGN = 4,
	NAT_T_HEADER = 8,
};

static uint32_t ip_header(const struct encap *encap)
{
	return encap->ipv6_outer ? IPV6_HEADER : IPV4_HEADER;
}

/* UDP, VXLAN and the inner Ethernet header. */
static uint32_t vxlan_bytes(const struct encap *encap)
{
	return UDP_HEADER + VXLAN_HEADER + ETHERNET_HEADER + VLAN_TAG * (uint32_t)encap->vlan_tags;
}

uint32_t mtu_inner(const struct encap *encap, uint32_t underlay)
{
	uint32_t takes = ip_header(encap), room;

	if (encap->esp != ESP_NONE)
		takes += ESP_HEADER + ESP_IV + ESP_ICV + (encap->nat_t ? NAT_T_HEADER : 0);
	if (underlay <= takes)
		return 0;
	room = underlay - takes;
	takes = vxlan_bytes(encap);
	if (encap->esp != ESP_NONE) {
		room -= room % ESP_ALIGN;
		takes += ESP_TRAILER + (encap->esp == ESP_TUNNEL ? ip_header(encap) : 0);
	}
	return room > takes ? room - takes : 0;
}

uint32_t mtu_overhead(const struct encap *encap, uint32_t underlay)
{
	return underlay - mtu_inner(encap, underlay);
}

static uint32_t mss_of(uint32_t mtu, uint32_t headers, uint32_t min, uint32_t max)
{
	if (mtu < headers + min)
		return 0;
	return mtu - headers < max ? mtu - headers : max;
}

uint32_t mss_ipv4(uint32_t mtu)
{
	return mss_of(mtu, IPV4_HEADER + TCP_HEADER, MSS_IPV4_MIN, MSS_IPV4_MAX);
}

uint32_t mss_ipv6(uint32_t mtu)
{
	return mss_of(mtu, IPV6_HEADER + TCP_HEADER, MSS_IPV6_MIN, MSS_IPV6_MAX);
}

const char *mtu_arithmetic(const struct encap *encap, uint32_t underlay, char ret[160])
{
	uint32_t inner = mtu_inner(encap, underlay);
	uint32_t esp = mtu_overhead(encap, underlay) - ip_header(encap) - vxlan_bytes(encap);
	char esp_text[32] = "", tags_text[32] = "";

	if (inner == 0) {
		(void)snprintf(ret, 160, "%u leaves nothing for an inner packet", underlay);
		return ret;
	}
	if (encap->esp != ESP_NONE)
		(void)snprintf(esp_text, sizeof(esp_text), " - %u (ESP%s%s)", esp,
			encap->esp == ESP_TUNNEL ? " tunnel" : "", encap->nat_t ? ", NAT-T" : "");
	if (encap->vlan_tags > 0)
		(void)snprintf(tags_text, sizeof(tags_text), " - %d (%s)", VLAN_TAG * encap->vlan_tags,
			encap->vlan_tags == 1 ? "VLAN tag" : "VLAN tags");
	(void)snprintf(ret, 160, "%u - %u (%s)%s - %d (UDP) - %d (VXLAN) - %d (Ethernet)%s = %u", underlay,
		ip_header(encap), encap->ipv6_outer ? "IPv6" : "IPv4", esp_text, UDP_HEADER, VXLAN_HEADER,
		ETHERNET_HEADER, tags_text, inner);
	return ret;
}

/* --- of a config --- */

static uint32_t min_u32(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* Can the line carry packets to a vtep of this family? */
static bool line_carries(const struct line *line, const struct ip_addr *vtep)
{
	return line->enabled &&
		(line->address.addr.family == vtep->family || line->address6.addr.family == vtep->family);
}

static uint32_t mtu_of_line(const struct line *line, const struct facts *facts, const struct ip_addr *vtep)
{
	uint32_t mtu = line->mtu, learned = facts ? facts_path_mtu(facts, vtep, line->interface) : 0;

	if (line->path_mtu > 0)
		mtu = min_u32(mtu, line->path_mtu);
	return learned > 0 ? min_u32(mtu, learned) : mtu;
}

uint32_t mtu_of_remote(const struct config *cfg, const struct facts *facts, const struct remote *remote)
{
	uint32_t mtu = UINT32_MAX;

	for (size_t i = 0; i < remote->lines.n; i++) {
		const struct line *line = config_line(cfg, remote->lines.v[i]);

		if (line && line_carries(line, &remote->vtep))
			mtu = min_u32(mtu, mtu_of_line(line, facts, &remote->vtep));
	}
	return mtu == UINT32_MAX ? MTU_ETHERNET : mtu;
}

/* The outer family and the underlay MTU, from the remotes; from the vtep where there are none. */
static void find_underlay(
	const struct config *cfg, const struct facts *facts, const struct segment *seg, struct segment_mtu *m)
{
	uint32_t underlay = UINT32_MAX;

	m->encap.ipv6_outer = cfg->vtep && ip_addr_is_ipv6(&cfg->vtep->address);
	for (size_t i = 0; i < seg->remotes.n; i++) {
		const struct remote *remote = config_remote(cfg, seg->remotes.v[i]);

		if (!remote)
			continue;
		m->encap.ipv6_outer = ip_addr_is_ipv6(&remote->vtep);
		underlay = min_u32(underlay, mtu_of_remote(cfg, facts, remote));
	}
	m->underlay = underlay == UINT32_MAX ? MTU_ETHERNET : underlay;
}

/*
 * The segment's own MTU, else the smallest that `interfaces` give its members, else Ethernet's. What the members have
 * at the moment does not count: the same file is the same machine.
 */
static uint32_t hosts_mtu(const struct config *cfg, const struct segment *seg)
{
	uint32_t mtu = UINT32_MAX;

	if (seg->mtu > 0)
		return seg->mtu;
	for (size_t i = 0; i < seg->members.n; i++) {
		const struct interface *interface = config_interface(cfg, seg->members.v[i]);

		if (interface && interface->mtu > 0)
			mtu = min_u32(mtu, interface->mtu);
	}
	return mtu == UINT32_MAX ? MTU_ETHERNET : min_u32(mtu, MTU_VXLAN_MAX);
}

bool segment_carries_ipv6(const struct segment *seg)
{
	for (size_t i = 0; i < seg->gateway.n; i++)
		if (ip_addr_is_ipv6(&seg->gateway.v[i].addr))
			return true;
	return false;
}

static void set_device(const struct config *cfg, const struct segment *seg, struct segment_mtu *m)
{
	if (seg->mode == MODE_BRIDGED) {
		m->device = hosts_mtu(cfg, seg);
		m->largest = min_u32(m->inner, m->device);
		return;
	}
	m->device = seg->mtu > 0 ? min_u32(seg->mtu, m->inner) : m->inner;
	/* A learned path may leave less than IPv6 works with. Below it the kernel drops the addresses without a word.
	 */
	if (segment_carries_ipv6(seg) && m->device < MTU_IPV6_MIN)
		m->device = MTU_IPV6_MIN;
	if (m->device < MTU_IPV4_MIN)
		m->device = MTU_IPV4_MIN;
	m->largest = m->device;
}

/* The configured number, or what fits; never more than fits now, never less than the family works with. */
static uint32_t clamp(uint32_t configured, uint32_t fits, uint32_t min)
{
	if (fits == 0)
		fits = min;
	return configured > 0 ? min_u32(configured, fits) : fits;
}

void mtu_of_segment(
	const struct config *cfg, const struct facts *facts, const struct segment *seg, struct segment_mtu *ret)
{
	struct segment_mtu m = {.encap.vlan_tags = (uint8_t)seg->vlan_tags};

	find_underlay(cfg, facts, seg, &m);
	m.inner = mtu_inner(&m.encap, m.underlay);
	set_device(cfg, seg, &m);
	if (seg->mss.kind != MSS_OFF) {
		bool fixed = seg->mss.kind == MSS_FIXED;

		m.mss_ipv4 = clamp(fixed ? seg->mss.ipv4 : 0, mss_ipv4(m.largest), MSS_IPV4_MIN);
		m.mss_ipv6 = clamp(fixed ? seg->mss.ipv6 : 0, mss_ipv6(m.largest), MSS_IPV6_MIN);
	}
	*ret = m;
}

static void set_l3_vni(const struct config *cfg, struct arena *arena, struct segment *seg)
{
	const char **names = arena_array(arena, cfg->remotes.n, sizeof(char *));

	seg->mode = MODE_ROUTED;
	seg->df = DF_INHERIT;
	seg->tos = TOS_INHERIT;
	seg->ttl = 64;
	for (size_t i = 0; i < cfg->remotes.n; i++)
		if (cfg->remotes.v[i].learn == LEARN_EVPN)
			names[seg->remotes.n++] = cfg->remotes.v[i].name;
	seg->remotes.v = names;
}

const struct segment *segment_of_l3_vnis(const struct config *cfg, struct arena *arena, size_t *ret_n)
{
	struct segment *v = arena_array(arena, cfg->tenants.n + 1, sizeof(*v));
	size_t n = 0;

	for (size_t i = 0; i < cfg->tenants.n; i++) {
		const struct tenant *t = &cfg->tenants.v[i];

		if (t->l3_vni)
			v[n++] = (struct segment){
				.name = arena_printf(arena, "tenant %s", t->name), .vni = t->l3_vni, .tenant = t->name};
	}
	if (cfg->bgp && cfg->bgp->l3_vni)
		v[n++] = (struct segment){.name = "bgp", .vni = cfg->bgp->l3_vni};
	for (size_t i = 0; i < n; i++)
		set_l3_vni(cfg, arena, &v[i]);
	*ret_n = n;
	return v;
}
