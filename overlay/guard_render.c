/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The guard of the VXLAN port; see overlay.h. Pure. A VXLAN device believes every sender, so a packet reaches one only
 * if its (source, VNI) is a remote of that segment: one look-up in a set. There is no segment without it, and with no
 * segment nothing passes.
 *
 * It stands in the input hook: VXLAN of other people that this gateway only forwards is none of its business. The outer
 * packets need no connection tracking: without it 1.5 times as many fit through (facts: policy), and a flood of forged
 * sources fills no table.
 */
#include "overlay/overlay.h"

#include <stdint.h>
#include <string.h>

#include "config/config.h"
#include "gateway/nft/nft.h"

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
	for (size_t i = 0; i < cfg->segments.n; i++) {
		const struct segment *seg = &cfg->segments.v[i];

		for (size_t k = 0; k < seg->remotes.n; k++) {
			const struct remote *remote = config_remote(cfg, seg->remotes.v[k]);

			if (remote)
				add_source(m, ip_addr_is_ipv6(&remote->vtep) ? ipv6 : ipv4, &remote->vtep, seg->vni);
		}
	}
}

/* Of our own vteps only, both ways. */
static void add_notrack(struct nft_model *m, struct nft_table *t, const struct vtep *vtep)
{
	const struct ip_addr *own[] = {&vtep->address, &vtep->address6};
	struct nft_chain *in =
		nft_add_chain(m, t, "untracked_in", "type filter hook prerouting priority -300; policy accept;");
	struct nft_chain *out =
		nft_add_chain(m, t, "untracked_out", "type filter hook output priority -300; policy accept;");

	for (size_t i = 0; i < 2; i++) {
		const char *ip = ip_addr_is_ipv6(own[i]) ? "ip6" : "ip";
		char addr[IP_STR_MAX];

		if (!ip_addr_is_set(own[i]))
			continue;
		(void)ip_addr_str(own[i], addr);
		nft_add_rule(m, in, "%s daddr %s udp dport %u notrack", ip, addr, vtep->port);
		nft_add_rule(m, out, "%s saddr %s udp dport %u notrack", ip, addr, vtep->port);
	}
}

void guard_render(const struct config *cfg, struct nft_model *m)
{
	struct nft_set *ipv4, *ipv6;
	struct nft_chain *sources, *input;
	struct nft_table *t;

	if (!cfg || !cfg->vtep)
		return;
	t = nft_add_table(m, "inet", NFT_TABLE_GUARD);
	ipv4 = nft_add_set(m, t, "sources4", "typeof ip saddr . " VNI, "the VXLAN sources");
	ipv6 = nft_add_set(m, t, "sources6", "typeof ip6 saddr . " VNI, "the VXLAN sources");
	sources = nft_add_chain(m, t, "vxlan", NULL);
	nft_add_rule(m, sources, "ip saddr . " VNI " @sources4 accept");
	nft_add_rule(m, sources, "ip6 saddr . " VNI " @sources6 accept");
	nft_add_rule(m, sources, "counter drop");
	input = nft_add_chain(m, t, "input", "type filter hook input priority -150; policy accept;");
	nft_add_rule(m, input, "udp dport %u jump vxlan", cfg->vtep->port);
	add_notrack(m, t, cfg->vtep);
	add_sources(cfg, m, ipv4, ipv6);
}
