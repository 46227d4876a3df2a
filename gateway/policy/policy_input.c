/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the gateway itself takes; see policy_render.h. Pure. The rules `to: [gateway]` say who may manage it, and from
 * where; what no rule decides is denied, where own-addresses says so. Besides, it takes what the config makes others
 * say to it: BGP and BFD of configured peers, VXLAN of remotes, neighbor discovery, and answers to what it has asked.
 */
#include <string.h>

#include "gateway/base/arena.h"
#include "gateway/base/str.h"
#include "gateway/policy/policy_peers.h"
#include "gateway/policy/policy_rendering.h"

static void add_peer(struct rendering *r, struct nft_set *sets[3], const struct policy_peer *peer)
{
	const uint8_t service[8] = {peer->proto, 0, 0, 0, (uint8_t)(peer->port >> 8), (uint8_t)peer->port};
	size_t len = peer->interface ? 16 : ip_addr_len(&peer->addr);
	char addr[IP_STR_MAX];
	uint8_t key[24] = {0};

	if (peer->interface)
		nft_key_ifname(peer->interface, key);
	else
		memcpy(key, peer->addr.bytes, len);
	memcpy(key + len, service, sizeof(service));
	rendering_elem(r, sets[peer->interface ? 2 : ip_addr_is_ipv6(&peer->addr)], key, len + sizeof(service), NULL,
		NULL,
		peer->interface ? arena_printf(
					  r->m->arena, "\"%s\" . %u . %u", peer->interface, peer->proto, peer->port)
				: arena_printf(r->m->arena, "%s . %u . %u", ip_addr_str(&peer->addr, addr), peer->proto,
					  peer->port));
}

/* Who is configured as a peer reaches what it is a peer of, before any rule is asked. */
static void add_peers(struct rendering *r)
{
	static const char *const hooks[] = {"ip saddr . meta l4proto . th dport @peers4 ct mark set 0 goto accepted",
		"ip6 saddr . meta l4proto . th dport @peers6 ct mark set 0 goto accepted",
		"ip6 saddr fe80::/10 iifname . meta l4proto . th dport @peers_linklocal ct mark set 0 goto accepted"};
	struct nft_set *sets[] = {
		rendering_set(r, "peers4", "typeof ip saddr . meta l4proto . th dport;", "the gateway's peers"),
		rendering_set(r, "peers6", "typeof ip6 saddr . meta l4proto . th dport;", "the gateway's peers"),
		rendering_set(
			r, "peers_linklocal", "typeof iifname . meta l4proto . th dport;", "the gateway's peers")};
	struct nft_chain *c = rendering_chain(r, "peers");

	for (size_t i = 0; i < r->c.model->n_peers; i++)
		add_peer(r, sets, &r->c.model->peers[i]);
	for (size_t i = 0; i < ARRAY_SIZE(hooks); i++)
		rendering_rule(r, c, "%s", hooks[i]);
}

/*
 * What connection tracking does not follow, or makes no sense of. Untracked are neighbor discovery, and the VXLAN that
 * the guard let in (overlay/guard_render.c).
 */
static void add_odd_input(struct rendering *r, const struct config *cfg)
{
	struct nft_chain *untracked = rendering_chain(r, "untracked_input"),
			 *invalid = rendering_chain(r, "invalid_input");

	if (!policy_is_closed(cfg->policy)) {
		rendering_rule(r, untracked, "accept");
		rendering_rule(r, invalid, "accept");
		return;
	}
	rendering_rule(r, untracked, "icmpv6 type 130-137 accept");
	rendering_rule(r, untracked, "icmpv6 type 143 accept");
	if (cfg->vtep)
		rendering_rule(r, untracked, "udp dport %u accept", cfg->vtep->port);
	rendering_rule(r, untracked, "goto " POLICY_COUNTER_OWN);
	rendering_rule(r, invalid, "goto " POLICY_COUNTER_INVALID);
}

void policy_input_slow(struct rendering *r, const struct config *cfg)
{
	struct nft_chain *c = rendering_chain(r, "slow_input");

	add_odd_input(r, cfg);
	add_peers(r);
	rendering_rule(r, c, "meta iifname \"lo\" accept");
	rendering_rule(r, c, "ct state untracked goto untracked_input");
	rendering_rule(r, c, "ct state invalid goto invalid_input");
	rendering_rule(r, c, "jump peers");
	rendering_rule(r, c, "ct state established,related goto known_input");
	rendering_rule(r, c, "goto new_input");
}
