/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Neighbor inspection: who lies about addresses inside a bridged segment. Pure.
 *
 *   The gateway's own addresses are claimed by nobody, neither by ARP (sender) nor by neighbor discovery (the source of
 *   a solicitation, the target of an advertisement); not from behind the overlay either, as each gateway has its own.
 *   A host that is named in `hosts` has its addresses to itself: with its MAC, and from its member; in ARP, in neighbor
 *   discovery (the link-layer option too, RFC 4861 section 4.6.1), and as the source of what it sends.
 *   With hosts-only the members send nothing else. With ra-guard (RFC 6105) they are neither routers nor DHCP servers.
 *
 * It hangs in the chains that are there anyway (bridge_render.c), where the kernel hands a frame to a group on once for
 * each port, and once to the bridge itself: that one counts. A frame that is no ARP, no neighbor discovery, and not of
 * a segment with hosts costs one comparison.
 */
#include <stdio.h>
#include <string.h>

#include "config/config.h"
#include "gateway/nft/nft.h"
#include "overlay/bridge_parts.h"
#include "overlay/overlay.h"

#define TARGET "@th,64,128" /* of a neighbor advertisement: RFC 4861 section 4.4 */
#define OPTION "@th,192,16" /* type and length of the option behind it: 0x0201 is a link-layer address */
#define OPTION_MAC "@th,208,48"
enum { LOG_RATE = 500, DENY_LOG_GROUP = 18020 };

enum drop { DROP_ARP, DROP_ND, DROP_SOURCE, DROP_RA, DROPS };
static const char *const drops[DROPS] = {"arp", "nd", "source", "ra"};

struct inspect {
	const struct config *cfg;
	struct nft_model *m;
	struct nft_table *t;
	struct nft_set *own4, *own6, *own_nd;
	struct nft_set *bound4, *bound6, *bound_nd, *allowed4, *allowed6, *allowed_nd, *allowed_option;
	struct nft_set *guarded, *only, *routers, *dropped[DROPS];
};

static bool is_inspected(const struct segment *seg)
{
	return seg->mode == MODE_BRIDGED &&
		((seg->neighbor_inspection && seg->gateway.n > 0) || seg->hosts.n > 0 || seg->ra_guard ||
			seg->hosts_only);
}

static bool any(const struct config *cfg, bool (*is)(const struct segment *seg))
{
	for (size_t i = 0; i < cfg->segments.n; i++)
		if (is(&cfg->segments.v[i]))
			return true;
	return false;
}

static bool has_hosts(const struct segment *seg)
{
	return is_inspected(seg) && (seg->hosts.n > 0 || seg->hosts_only);
}

static bool has_guard(const struct segment *seg)
{
	return is_inspected(seg) && seg->ra_guard;
}

/* --- elements --- */

static void add_port(struct inspect *in, struct nft_set *s, const char *port)
{
	uint8_t key[16];

	nft_key_ifname(port, key);
	nft_add_elem(in->m, s, key, sizeof(key), "\"%s\"", port);
}

/* As a number, which is what a raw part of a packet is. */
static const char *hex(const struct ip_addr *a, char ret[40])
{
	(void)strcpy(ret, "0x");
	for (size_t i = 0; i < 16; i++)
		(void)snprintf(ret + 2 + 2 * i, 3, "%02x", a->bytes[i]);
	return ret;
}

static void add_claim(struct inspect *in, struct nft_set *v4, struct nft_set *v6, struct nft_set *nd, const char *port,
	const struct ip_addr *a)
{
	bool six = ip_addr_is_ipv6(a);
	size_t len = ip_addr_len(a);
	char text[IP_STR_MAX], number[40];
	uint8_t key[32];

	nft_key_ifname(port, key);
	memcpy(key + 16, a->bytes, len);
	nft_add_elem(in->m, six ? v6 : v4, key, 16 + len, "\"%s\" . %s", port, ip_addr_str(a, text));
	if (six)
		nft_add_elem(in->m, nd, key, sizeof(key), "\"%s\" . %s", port, hex(a, number));
}

static void add_allowed(struct inspect *in, const char *port, const struct mac_addr *mac, const struct ip_addr *a)
{
	bool six = ip_addr_is_ipv6(a);
	size_t len = ip_addr_len(a);
	char text[IP_STR_MAX], number[40], mac_text[MAC_STR_MAX];
	uint8_t key[40] = {0};

	nft_key_ifname(port, key);
	memcpy(key + 16, mac->bytes, sizeof(mac->bytes));
	memcpy(key + 24, a->bytes, len);
	(void)mac_addr_str(mac, mac_text);
	nft_add_elem(in->m, six ? in->allowed6 : in->allowed4, key, 24 + len, "\"%s\" . %s . %s", port, mac_text,
		ip_addr_str(a, text));
	if (!six)
		return;
	nft_add_elem(in->m, in->allowed_nd, key, sizeof(key), "\"%s\" . %s . %s", port, mac_text, hex(a, number));
	nft_add_elem(in->m, in->allowed_option, key, sizeof(key), "\"%s\" . 0x%02x%02x%02x%02x%02x%02x . %s", port,
		mac->bytes[0], mac->bytes[1], mac->bytes[2], mac->bytes[3], mac->bytes[4], mac->bytes[5], number);
}

static void add_host(struct inspect *in, const struct segment *seg, const struct segment_host *h, const char *overlay)
{
	for (size_t i = 0; i < h->addresses.n; i++) {
		const struct ip_addr *a = &h->addresses.v[i];

		add_claim(in, in->bound4, in->bound6, in->bound_nd, overlay, a);
		for (size_t k = 0; k < seg->members.n; k++) {
			add_claim(in, in->bound4, in->bound6, in->bound_nd, seg->members.v[k], a);
			if (!h->member || strcmp(h->member, seg->members.v[k]) == 0)
				add_allowed(in, seg->members.v[k], &h->mac, a);
		}
	}
}

static void add_segment(struct inspect *in, const struct segment *seg)
{
	char overlay[16];

	overlay_vxlan_name(seg->vni, overlay);
	for (size_t k = 0; k <= seg->members.n; k++) {
		const char *port = k < seg->members.n ? seg->members.v[k] : overlay;

		for (size_t d = 0; d < DROPS; d++)
			add_port(in, in->dropped[d], port);
		for (size_t i = 0; i < seg->gateway.n && seg->neighbor_inspection; i++)
			add_claim(in, in->own4, in->own6, in->own_nd, port, &seg->gateway.v[i].addr);
		if (k == seg->members.n)
			break;
		if (in->guarded && has_hosts(seg))
			add_port(in, in->guarded, port);
		if (in->only && seg->hosts_only)
			add_port(in, in->only, port);
		if (in->routers && seg->ra_guard)
			add_port(in, in->routers, port);
	}
	for (size_t i = 0; i < seg->hosts.n; i++)
		add_host(in, seg, &seg->hosts.v[i], overlay);
}

/* --- sets and chains --- */

static struct nft_set *new_set(struct inspect *in, const char *name, const char *spec)
{
	return nft_add_set(in->m, in->t, name, spec, "who may claim addresses");
}

static void add_own_sets(struct inspect *in)
{
	in->own4 = new_set(in, NFT_SETS_INSPECT "own4", "type ifname . ipv4_addr");
	in->own6 = new_set(in, NFT_SETS_INSPECT "own6", "type ifname . ipv6_addr");
	in->own_nd = new_set(in, NFT_SETS_INSPECT "own_nd", "typeof iifname . " TARGET);
}

static void add_host_sets(struct inspect *in)
{
	in->bound4 = new_set(in, NFT_SETS_INSPECT "bound4", "type ifname . ipv4_addr");
	in->bound6 = new_set(in, NFT_SETS_INSPECT "bound6", "type ifname . ipv6_addr");
	in->bound_nd = new_set(in, NFT_SETS_INSPECT "bound_nd", "typeof iifname . " TARGET);
	in->allowed4 = new_set(in, NFT_SETS_INSPECT "allowed4", "type ifname . ether_addr . ipv4_addr");
	in->allowed6 = new_set(in, NFT_SETS_INSPECT "allowed6", "type ifname . ether_addr . ipv6_addr");
	in->allowed_nd = new_set(in, NFT_SETS_INSPECT "allowed_nd", "typeof iifname . ether saddr . " TARGET);
	in->allowed_option =
		new_set(in, NFT_SETS_INSPECT "allowed_option", "typeof iifname . " OPTION_MAC " . " TARGET);
	in->guarded = new_set(in, NFT_SETS_INSPECT "guarded", "type ifname");
	in->only = new_set(in, NFT_SETS_INSPECT "only", "type ifname");
}

/* Where a frame ends. What is said to a group was counted on its way to the bridge itself. */
static void add_drops(struct inspect *in)
{
	for (size_t d = 0; d < DROPS; d++) {
		char name[32];
		struct nft_chain *c;

		(void)snprintf(name, sizeof(name), NFT_SETS_INSPECTED "%s", drops[d]);
		in->dropped[d] = nft_add_set(in->m, in->t, name, "type ifname; counter", "frames that lie");
		(void)snprintf(name, sizeof(name), "drop_%s", drops[d]);
		c = nft_add_chain(in->m, in->t, name, NULL);
		nft_add_rule(in->m, c, "meta oif != 0 ether daddr & 01:00:00:00:00:00 == 01:00:00:00:00:00 drop");
		nft_add_rule(in->m, c,
			"limit rate %d/second burst %d packets log prefix \"fw:%s\" group %d snaplen 128", LOG_RATE,
			LOG_RATE, drops[d], DENY_LOG_GROUP);
		nft_add_rule(in->m, c, "iifname @" NFT_SETS_INSPECTED "%s drop", drops[d]);
		nft_add_rule(in->m, c, "drop");
	}
}

static void add_claims(struct inspect *in, bool hosts)
{
	struct nft_chain *arp = nft_add_chain(in->m, in->t, "claim_arp", NULL);
	struct nft_chain *nd = nft_add_chain(in->m, in->t, "claim_nd", NULL);

	nft_add_rule(in->m, arp, "iifname . arp saddr ip @inspect_own4 goto drop_arp");
	nft_add_rule(in->m, nd, "icmpv6 type 135 iifname . ip6 saddr @inspect_own6 goto drop_nd");
	nft_add_rule(in->m, nd, "icmpv6 type 136 iifname . " TARGET " @inspect_own_nd goto drop_nd");
	if (!hosts)
		return;
	nft_add_rule(in->m, arp,
		"iifname . arp saddr ip @inspect_bound4 iifname . ether saddr . arp saddr ip != @inspect_allowed4 goto "
		"drop_arp");
	nft_add_rule(in->m, arp,
		"iifname . arp saddr ip @inspect_bound4 iifname . arp saddr ether . arp saddr ip != @inspect_allowed4 "
		"goto drop_arp");
	nft_add_rule(in->m, nd,
		"icmpv6 type 135 iifname . ip6 saddr @inspect_bound6 iifname . ether saddr . ip6 saddr != "
		"@inspect_allowed6 goto drop_nd");
	nft_add_rule(in->m, nd,
		"icmpv6 type 136 iifname . " TARGET " @inspect_bound_nd iifname . ether saddr . " TARGET
		" != @inspect_allowed_nd goto drop_nd");
	nft_add_rule(in->m, nd,
		"icmpv6 type 136 iifname . " TARGET " @inspect_bound_nd " OPTION " 0x0201 iifname . " OPTION_MAC
		" . " TARGET " != @inspect_allowed_option goto drop_nd");
}

/* Who has no address yet may look for one: DHCP, ARP probes (RFC 5227), duplicate address detection. */
static void add_sources(struct inspect *in)
{
	struct nft_chain *only = nft_add_chain(in->m, in->t, "claim_only", NULL);
	struct nft_chain *c = nft_add_chain(in->m, in->t, "claim_source", NULL);
	static const char *const fine[] = {
		"ip saddr 0.0.0.0 udp dport 67",
		"arp saddr ip 0.0.0.0",
		"ip6 saddr :: meta l4proto ipv6-icmp",
		"ip6 saddr fe80::/10",
		"iifname . ether saddr . ip saddr @inspect_allowed4",
		"iifname . ether saddr . ip6 saddr @inspect_allowed6",
		"iifname . ether saddr . arp saddr ip @inspect_allowed4",
	};

	for (size_t i = 0; i < sizeof(fine) / sizeof(*fine); i++)
		nft_add_rule(in->m, only, "%s return", fine[i]);
	nft_add_rule(in->m, only, "goto drop_source");
	nft_add_rule(in->m, c,
		"iifname . ip saddr @inspect_bound4 iifname . ether saddr . ip saddr != @inspect_allowed4 goto "
		"drop_source");
	nft_add_rule(in->m, c,
		"iifname . ip6 saddr @inspect_bound6 iifname . ether saddr . ip6 saddr != @inspect_allowed6 goto "
		"drop_source");
	nft_add_rule(in->m, c, "iifname @inspect_only goto claim_only");
}

static void add_routers(struct inspect *in)
{
	struct nft_chain *c = nft_add_chain(in->m, in->t, "claim_router", NULL);

	in->routers = new_set(in, NFT_SETS_INSPECT "routers", "type ifname");
	nft_add_rule(in->m, c, "icmpv6 type 134 goto drop_ra");
	nft_add_rule(in->m, c, "udp sport 67 goto drop_ra");
	nft_add_rule(in->m, c, "udp sport 547 goto drop_ra");
}

bool inspect_bridge_chains(const struct config *cfg, struct nft_model *m, struct nft_table *t)
{
	struct inspect in = {.cfg = cfg, .m = m, .t = t};
	bool hosts = any(cfg, has_hosts);

	if (!any(cfg, is_inspected))
		return false;
	add_drops(&in);
	add_own_sets(&in);
	if (hosts)
		add_host_sets(&in);
	add_claims(&in, hosts);
	if (hosts)
		add_sources(&in);
	if (any(cfg, has_guard))
		add_routers(&in);
	for (size_t i = 0; i < cfg->segments.n; i++)
		if (is_inspected(&cfg->segments.v[i]))
			add_segment(&in, &cfg->segments.v[i]);
	return true;
}

void inspect_bridge_rules(const struct config *cfg, struct nft_model *m, struct nft_chain *c)
{
	nft_add_rule(m, c, "ether type arp jump claim_arp");
	nft_add_rule(m, c, "icmpv6 type 135-136 jump claim_nd");
	if (any(cfg, has_hosts))
		nft_add_rule(m, c, "iifname @inspect_guarded jump claim_source");
	if (any(cfg, has_guard))
		nft_add_rule(m, c, "iifname @inspect_routers jump claim_router");
}
