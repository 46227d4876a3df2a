/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The guard of the VXLAN port; see overlay.h. Pure. A VXLAN device believes every sender, so a packet reaches one only
 * if its (source, VNI) is a remote of that segment: one look-up in a set. There is no segment without it, and with no
 * segment nothing passes.
 *
 * It stands before connection tracking and tracks nothing that it lets in: a flood of forged sources fills no table,
 * and with many flows 1.5 times as many packets fit through (facts: policy). One hook does both, because each costs
 * about two percent of the packet rate. Whatever is not unicast to somebody else may reach the device's socket, which
 * is bound to no address: our own addresses, and broadcast. VXLAN of other people that this gateway only forwards is
 * none of its business.
 *
 * The packet may be a fragment here. A first fragment that is too short to hold the VNI is dropped, and without it the
 * others come to nothing.
 */
#include "overlay/overlay.h"

#include <stdint.h>
#include <string.h>

#include "config/config.h"
#include "gateway/nft/nft.h"
#include "overlay/mtu.h"

/* Bits 96 to 119 after the start of the UDP header: UDP 8 bytes, VXLAN flags 4, then the VNI; RFC 7348. */
#define VNI "@th,96,24"

static void add_source(struct nft_model *m, struct nft_set *set, const struct ip_addr *vtep, uint32_t vni)
{
	size_t len = ip_addr_len(vtep);
	char addr[IP_STR_MAX];
	uint8_t key[20];

	memcpy(key, vtep->bytes, len);
	nft_key_u24(vni, key + len);
	nft_add_elem(m, set, key, len + 4, "%s . %u", ip_addr_str(vtep, addr), vni);
}

static void add_sources(const struct config *cfg, struct nft_model *m, struct nft_set *ipv4, struct nft_set *ipv6)
{
	size_t n_l3_vnis;
	const struct segment *l3_vnis = segment_of_l3_vnis(cfg, m->arena, &n_l3_vnis);

	for (size_t i = 0; i < cfg->segments.n + n_l3_vnis; i++) {
		const struct segment *seg = i < cfg->segments.n ? &cfg->segments.v[i] : &l3_vnis[i - cfg->segments.n];

		for (size_t k = 0; k < seg->remotes.n; k++) {
			const struct remote *remote = config_remote(cfg, seg->remotes.v[k]);

			if (remote)
				add_source(m, ip_addr_is_ipv6(&remote->vtep) ? ipv6 : ipv4, &remote->vtep, seg->vni);
		}
	}
}

static void add_untracked_out(struct nft_model *m, struct nft_table *t, const struct vtep *vtep)
{
	const struct ip_addr *own[] = {&vtep->address, &vtep->address6};
	struct nft_chain *out =
		nft_add_chain(m, t, "untracked_out", "type filter hook output priority -300; policy accept;");

	for (size_t i = 0; i < 2; i++) {
		char addr[IP_STR_MAX];

		if (ip_addr_is_set(own[i]))
			nft_add_rule(m, out, "%s saddr %s udp dport %u notrack", ip_addr_is_ipv6(own[i]) ? "ip6" : "ip",
				ip_addr_str(own[i], addr), vtep->port);
	}
}

void guard_render(const struct config *cfg, struct nft_model *m)
{
	struct nft_set *ipv4, *ipv6;
	struct nft_chain *sources, *received;
	struct nft_table *t;

	if (!cfg || !cfg->vtep)
		return;
	t = nft_add_table(m, "inet", NFT_TABLE_GUARD);
	ipv4 = nft_add_set(m, t, "sources4", "typeof ip saddr . " VNI, "the VXLAN sources");
	ipv6 = nft_add_set(m, t, "sources6", "typeof ip6 saddr . " VNI, "the VXLAN sources");
	sources = nft_add_chain(m, t, "vxlan", NULL);
	nft_add_rule(m, sources, "ip saddr . " VNI " @sources4 notrack accept");
	nft_add_rule(m, sources, "ip6 saddr . " VNI " @sources6 notrack accept");
	nft_add_rule(m, sources, "counter drop");
	received = nft_add_chain(m, t, "received", "type filter hook prerouting priority -300; policy accept;");
	nft_add_rule(m, received, "udp dport %u fib daddr type != unicast jump vxlan", cfg->vtep->port);
	add_untracked_out(m, t, cfg->vtep);
	add_sources(cfg, m, ipv4, ipv6);
}
