/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Segments: VNIs, remotes of one family, and numbers that fit the lines; see check_parts.h. Pure. Without facts: what a
 * path turns out to carry is not a mistake in the file.
 */
#include "overlay/check_parts.h"

#include <stdio.h>
#include <stdlib.h>

#include "config/config.h"
#include "gateway/base/arena.h"
#include "gateway/base/str.h"
#include "overlay/mtu.h"

/* --- VNIs --- */

static int vni_cmp(const void *pa, const void *pb)
{
	const struct segment *const *a = pa, *const *b = pb;
	int c = cmp_u32((*a)->vni, (*b)->vni);

	return c ? c : loc_cmp((*a)->entry.loc, (*b)->entry.loc);
}

static void check_vnis(const struct config *cfg, struct arena *scratch, struct diag *diag)
{
	const struct segment **v = arena_array(scratch, cfg->segments.n, sizeof(struct segment *));
	size_t first = 0;

	for (size_t i = 0; i < cfg->segments.n; i++)
		v[i] = &cfg->segments.v[i];
	qsort(v, cfg->segments.n, sizeof(struct segment *), vni_cmp);
	for (size_t i = 1; i < cfg->segments.n; i++) {
		if (v[i]->vni != v[first]->vni)
			first = i;
		else
			diag_error(diag, CONFIG_AT(v[i], segment, vni),
				"segment %s: VNI %u is already that of segment %s (line %u)", v[i]->name, v[i]->vni,
				v[first]->name, CONFIG_AT(v[first], segment, vni).line);
	}
}

/* --- remotes --- */

static void check_families(const struct config *cfg, const struct segment *seg, struct diag *diag)
{
	const struct remote *first = NULL;

	for (size_t i = 0; i < seg->remotes.n; i++) {
		const struct remote *remote = config_remote(cfg, seg->remotes.v[i]);

		if (!first)
			first = remote;
		else if (remote && remote->vtep.family != first->vtep.family)
			diag_error(diag, seg->remotes.at[i],
				"segment %s: remote %s is reached over %s and remote %s over %s; a segment has remotes "
				"of one family",
				seg->name, first->name, ip_addr_is_ipv6(&first->vtep) ? "IPv6" : "IPv4", remote->name,
				ip_addr_is_ipv6(&remote->vtep) ? "IPv6" : "IPv4");
	}
}

/* A device that learns from traffic would believe that over what EVPN says, and one that does not never finds hosts. */
static void check_learning(const struct config *cfg, const struct segment *seg, struct diag *diag)
{
	const struct remote *first = NULL;

	for (size_t i = 0; i < seg->remotes.n && seg->mode == MODE_BRIDGED; i++) {
		const struct remote *remote = config_remote(cfg, seg->remotes.v[i]);

		if (!first)
			first = remote;
		else if (remote && (remote->learn == LEARN_EVPN) != (first->learn == LEARN_EVPN))
			diag_error(diag, seg->remotes.at[i],
				"segment %s: remote %s is learned by EVPN and remote %s is not; all remotes of a "
				"bridged "
				"segment are learned the same way",
				seg->name, remote->learn == LEARN_EVPN ? remote->name : first->name,
				remote->learn == LEARN_EVPN ? first->name : remote->name);
	}
}

static bool has_remote(const struct segment *seg, const char *name)
{
	for (size_t i = 0; i < seg->remotes.n; i++)
		if (str_eq(seg->remotes.v[i], name))
			return true;
	return false;
}

static bool knows_remotes(const struct config *cfg, const struct segment *seg)
{
	for (size_t i = 0; i < seg->remotes.n; i++)
		if (!config_remote(cfg, seg->remotes.v[i]))
			return false;
	return true;
}

static void check_macs(const struct config *cfg, const struct segment *seg, struct diag *diag)
{
	/* A remote that is not there may be another one, misspelt. */
	if (!knows_remotes(cfg, seg))
		return;
	for (size_t i = 0; i < seg->macs.n; i++)
		if (!has_remote(seg, seg->macs.v[i].remote) && config_remote(cfg, seg->macs.v[i].remote))
			diag_error(diag, CONFIG_AT(&seg->macs.v[i], segment_mac, remote),
				"segment %s: remote %s is not one of the segment's remotes", seg->name,
				seg->macs.v[i].remote);
}

/* --- hosts --- */

static bool has_member(const struct segment *seg, const char *name)
{
	for (size_t i = 0; i < seg->members.n; i++)
		if (str_eq(seg->members.v[i], name))
			return true;
	return false;
}

/* Whose it is, before this host; NULL: nobody's. */
static const char *owner_of(const struct segment *seg, size_t host, const struct ip_addr *a, char ret[MAC_STR_MAX])
{
	for (size_t i = 0; i < seg->gateway.n; i++)
		if (ip_addr_cmp(&seg->gateway.v[i].addr, a) == 0)
			return "the gateway";
	for (size_t i = 0; i < host; i++)
		for (size_t k = 0; k < seg->hosts.v[i].addresses.n; k++)
			if (ip_addr_cmp(&seg->hosts.v[i].addresses.v[k], a) == 0)
				return mac_addr_str(&seg->hosts.v[i].mac, ret);
	return NULL;
}

static void check_host(const struct segment *seg, size_t host, struct diag *diag)
{
	const struct segment_host *h = &seg->hosts.v[host];
	char mac[MAC_STR_MAX], other[MAC_STR_MAX], addr[IP_STR_MAX];

	(void)mac_addr_str(&h->mac, mac);
	if (h->member && !has_member(seg, h->member))
		diag_error(diag, CONFIG_AT(h, segment_host, member),
			"segment %s: host %s: %s is not one of the segment's members", seg->name, mac, h->member);
	for (size_t i = 0; i < h->addresses.n; i++) {
		const char *owner = owner_of(seg, host, &h->addresses.v[i], other);

		if (owner)
			diag_error(diag, h->addresses.at[i], "segment %s: host %s: %s is an address of %s already",
				seg->name, mac, ip_addr_str(&h->addresses.v[i], addr), owner);
	}
}

static void check_inspection(const struct segment *seg, struct diag *diag)
{
	for (size_t i = 0; i < seg->hosts.n; i++)
		check_host(seg, i, diag);
	if (seg->mode == MODE_BRIDGED)
		return;
	if (seg->hosts.n > 0)
		diag_error(diag, seg->hosts.v[0].entry.loc, "segment %s: hosts are of bridged segments", seg->name);
	if (seg->hosts_only)
		diag_error(diag, CONFIG_AT(seg, segment, hosts_only), "segment %s: hosts-only is for bridged segments",
			seg->name);
	if (seg->ra_guard)
		diag_error(diag, CONFIG_AT(seg, segment, ra_guard), "segment %s: ra-guard is for bridged segments",
			seg->name);
}

/* --- MTU --- */

/* "1450 is what fits: 1500 - 20 (IPv4) - ... = 1450". */
static const char *what_fits(const struct segment_mtu *m, char ret[224])
{
	char sum[160];

	(void)snprintf(ret, 224, "%u is what fits: %s", m->inner, mtu_arithmetic(&m->encap, m->underlay, sum));
	return ret;
}

/* Is all here that says what fits? */
static bool knows_numbers(const struct config *cfg, const struct segment *seg)
{
	if (seg->mode == MODE_BRIDGED && seg->mtu == 0 && !CONFIG_IS_WHOLE(cfg, interfaces))
		return false;
	if (seg->remotes.n == 0)
		return CONFIG_IS_WHOLE(cfg, vtep);
	for (size_t i = 0; i < seg->remotes.n; i++) {
		const struct remote *remote = config_remote(cfg, seg->remotes.v[i]);

		for (size_t k = 0; remote && k < remote->lines.n; k++)
			if (!config_line(cfg, remote->lines.v[k]))
				return false;
		if (!remote)
			return false;
	}
	return true;
}

/* m is NULL where nobody knows what fits; what is wrong on any line is said all the same, here and below. */
static void check_mtu(const struct segment *seg, const struct segment_mtu *m, struct diag *diag)
{
	uint32_t mtu = m && seg->mode == MODE_BRIDGED ? m->device : seg->mtu;
	struct loc loc = CONFIG_AT(seg, segment, mtu);
	char fits[224];

	if (m && seg->mode == MODE_ROUTED && seg->mtu > m->inner)
		diag_error(diag, loc, "segment %s: mtu %u does not fit the lines; %s", seg->name, seg->mtu,
			what_fits(m, fits));
	else if (segment_carries_ipv6(seg) && mtu > 0 && mtu < MTU_IPV6_MIN)
		diag_error(diag, loc, "segment %s: IPv6 needs an MTU of %d, not %u%s", seg->name, MTU_IPV6_MIN, mtu,
			seg->mtu > 0 ? "" : ", the smallest of its members'");
	else if (m && segment_carries_ipv6(seg) && m->inner < MTU_IPV6_MIN)
		diag_error(diag, CONFIG_AT(seg, segment, gateway), "segment %s: IPv6 needs an MTU of %d; %s", seg->name,
			MTU_IPV6_MIN, what_fits(m, fits));
}

/* --- MSS --- */

/* Where the largest packet comes from: the lines' arithmetic, or the segment's own MTU. */
static const char *largest_text(const struct segment *seg, const struct segment_mtu *m, char ret[160])
{
	if (m->largest == m->inner)
		return mtu_arithmetic(&m->encap, m->underlay, ret);
	(void)snprintf(ret, 160, "%s an MTU of %u", seg->mtu > 0 ? "the segment has" : "its hosts have", m->largest);
	return ret;
}

static void too_large(const struct segment *seg, const struct segment_mtu *m, bool ipv6, struct diag *diag)
{
	const char *family = ipv6 ? "IPv6" : "IPv4";
	uint32_t headers = ipv6 ? 60 : 40;
	char text[160];

	diag_error(diag, CONFIG_AT(seg, segment, mss),
		"segment %s: mss %u does not fit %s; at most %u: %s, and %u - %u (%s, TCP) = %u", seg->name,
		ipv6 ? seg->mss.ipv6 : seg->mss.ipv4, family, m->largest - headers, largest_text(seg, m, text),
		m->largest, headers, family, m->largest - headers);
}

/* One number stands for both families, and IPv6's headers are 20 bytes longer. */
static void check_one_number(const struct segment *seg, const struct segment_mtu *m, struct diag *diag)
{
	uint32_t mss = seg->mss.ipv4, ipv6 = m ? mss_ipv6(m->largest) : 0;

	if (m && mss > mss_ipv4(m->largest))
		too_large(seg, m, false, diag);
	else if (mss < MSS_IPV6_MIN)
		diag_error(diag, CONFIG_AT(seg, segment, mss),
			"segment %s: mss %u is below the %d that IPv6 works with; write {ipv4: %u, ipv6: auto}",
			seg->name, mss, MSS_IPV6_MIN, mss);
	else if (mss > ipv6 && ipv6 > 0)
		diag_error(diag, CONFIG_AT(seg, segment, mss),
			"segment %s: mss %u fits IPv4, but IPv6 only %u (%u - 60); write {ipv4: %u, ipv6: %u}",
			seg->name, mss, ipv6, m->largest, mss, ipv6);
}

static void check_mss(const struct segment *seg, const struct segment_mtu *m, struct diag *diag)
{
	if (seg->mss.kind != MSS_FIXED)
		return;
	if (seg->mss.ipv4 == seg->mss.ipv6) {
		check_one_number(seg, m, diag);
		return;
	}
	if (m && seg->mss.ipv4 > mss_ipv4(m->largest))
		too_large(seg, m, false, diag);
	if (m && seg->mss.ipv6 > mss_ipv6(m->largest))
		too_large(seg, m, true, diag);
}

/* --- the rest --- */

static void check_tos(const struct segment *seg, struct diag *diag)
{
	if (seg->tos == 1)
		diag_error(diag, CONFIG_AT(seg, segment, tos),
			"segment %s: the kernel takes tos 1 for inherit; write inherit, or another number", seg->name);
}

void segment_check(const struct config *cfg, struct arena *scratch, struct diag *diag)
{
	check_vnis(cfg, scratch, diag);
	for (size_t i = 0; i < cfg->segments.n; i++) {
		const struct segment *seg = &cfg->segments.v[i];
		struct segment_mtu numbers, *m = NULL;

		check_families(cfg, seg, diag);
		check_learning(cfg, seg, diag);
		check_macs(cfg, seg, diag);
		check_tos(seg, diag);
		check_inspection(seg, diag);
		if (seg->mode == MODE_ROUTED && seg->members.n > 0)
			diag_error(diag, seg->members.at[0],
				"segment %s: a routed segment has no members; mode: bridged has", seg->name);
		if (knows_numbers(cfg, seg)) {
			mtu_of_segment(cfg, NULL, seg, &numbers);
			m = &numbers;
		}
		check_mtu(seg, m, diag);
		check_mss(seg, m, diag);
	}
}
