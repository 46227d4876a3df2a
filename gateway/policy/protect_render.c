/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See protect_render.h. Sources are judged before connection tracking (priority -200), so that a flood of forged ones
 * makes no entries there, and behind the guard of the VXLAN port (-300), whose packets are untracked: who sends those
 * is known. Fragments are put together by the kernel at -400, which drops what overlaps (RFC 5722); who wants none at
 * all has to look before.
 */
#include "gateway/policy/protect_render.h"

#include <string.h>

#include "config/config.h"
#include "gateway/base/arena.h"
#include "gateway/base/buf.h"
#include "gateway/base/str.h"
#include "gateway/nft/nft.h"
#include "gateway/policy/policy_rendering.h"
#include "overlay/overlay.h"

/* Sources that are limited at a time; of more, nothing is counted. */
#define LIMITED_SOURCES "65535"
enum { LOG_RATE = 500, FAMILIES = 2 };

struct protect {
	const struct config *cfg;
	struct nft_model *m;
	struct nft_table *t;
};

/* --- where packets end --- */

static void add_end(struct protect *p, const char *name)
{
	struct nft_chain *c = nft_add_chain(p->m, p->t, name, NULL);

	(void)nft_add_counter(p->m, p->t, name);
	nft_add_rule(p->m, c, "counter name %s", name);
	if (p->cfg->policy->log_denied)
		nft_add_rule(p->m, c, "limit rate %u/second burst %u packets log prefix \"fw:%s\" group %u snaplen 128",
			LOG_RATE, LOG_RATE, name, POLICY_LOG_GROUP);
	nft_add_rule(p->m, c, "drop");
}

/* --- sources --- */

struct believed {
	struct nft_set *sources[FAMILIES], *inner;
};

static void add_name(struct protect *p, struct nft_set *s, const char *name, const char *verdict)
{
	uint8_t key[16];

	nft_key_ifname(name, key);
	nft_add_map_elem(p->m, s, key, sizeof(key), NULL, verdict, "\"%s\"", name);
}

static void add_interface(struct protect *p, struct believed *b, const char *name, enum anti_spoofing mode)
{
	for (size_t f = 0; f < FAMILIES && mode != SPOOF_OFF; f++)
		add_name(p, b->sources[f], name, mode == SPOOF_STRICT ? "goto strict" : "goto loose");
}

/* Frames from one member to another pass here too: of a family that the gateway does not route, it knows no sources. */
static void add_filtered(struct protect *p, struct believed *b, const struct segment *seg, const char *name)
{
	bool known[FAMILIES] = {false, false};

	for (size_t i = 0; i < seg->gateway.n; i++)
		known[ip_addr_is_ipv6(&seg->gateway.v[i].addr)] = true;
	for (size_t f = 0; f < FAMILIES && seg->anti_spoofing != SPOOF_OFF; f++)
		if (known[f])
			add_name(p, b->sources[f], name,
				seg->anti_spoofing == SPOOF_STRICT ? "goto strict" : "goto loose");
}

static void add_segment(struct protect *p, struct believed *b, const struct segment *seg)
{
	char name[16];

	if (seg->mode == MODE_BRIDGED)
		overlay_bridge_name(seg->vni, name);
	else
		overlay_vxlan_name(seg->vni, name);
	if (seg->filter)
		add_filtered(p, b, seg, name);
	else
		add_interface(p, b, name, (enum anti_spoofing)seg->anti_spoofing);
	/* A tenant's routes are in another table: a line of the default domain knows nothing of them. */
	if (!seg->tenant)
		add_name(p, b->inner, name, NULL);
}

static void add_sources(struct protect *p, struct believed *b)
{
	const struct config *cfg = p->cfg;

	for (size_t i = 0; i < cfg->segments.n; i++)
		add_segment(p, b, &cfg->segments.v[i]);
	for (size_t i = 0; i < cfg->interfaces.n; i++) {
		const struct interface *interface = &cfg->interfaces.v[i];

		add_interface(p, b, interface->name, (enum anti_spoofing)interface->anti_spoofing);
		if (interface->addresses.n > 0)
			add_name(p, b->inner, interface->name, NULL);
	}
	for (size_t i = 0; i < cfg->lines.n; i++)
		add_interface(p, b, cfg->lines.v[i].interface, (enum anti_spoofing)cfg->lines.v[i].anti_spoofing);
}

/* Who has no address yet: DHCP's first packets, and the test for a duplicate (RFC 4862). */
static void add_source_chains(struct protect *p)
{
	struct nft_chain *strict = nft_add_chain(p->m, p->t, "strict", NULL);
	struct nft_chain *loose = nft_add_chain(p->m, p->t, "loose", NULL);

	nft_add_rule(p->m, strict, "ip saddr 0.0.0.0 udp dport 67 accept");
	nft_add_rule(p->m, strict, "ip6 saddr :: meta l4proto ipv6-icmp accept");
	nft_add_rule(p->m, strict, "fib saddr . iif oif missing goto " PROTECT_COUNTER_SPOOFED);
	nft_add_rule(p->m, loose, "fib saddr . iif oif exists accept");
	nft_add_rule(p->m, loose, "fib saddr type local goto " PROTECT_COUNTER_SPOOFED);
	nft_add_rule(p->m, loose, "fib saddr oifname @inner goto " PROTECT_COUNTER_SPOOFED);
}

static void add_prerouting(struct protect *p)
{
	struct believed b = {
		.sources = {nft_add_set(
				    p->m, p->t, "sources4", "typeof iifname : verdict;", "whose sources are judged"),
			nft_add_set(p->m, p->t, "sources6", "typeof iifname : verdict;", "whose sources are judged")},
		.inner = nft_add_set(p->m, p->t, "inner", "typeof fib saddr oifname;", "this side's interfaces"),
	};
	struct nft_chain *c;

	add_source_chains(p);
	add_sources(p, &b);
	c = nft_add_chain(p->m, p->t, "sources", "type filter hook prerouting priority -280; policy accept;");
	nft_add_rule(p->m, c, "ct state untracked accept");
	if (p->cfg->policy->scan) {
		nft_add_rule(
			p->m, c, "ip saddr @" PROTECT_SET_BLOCKED4 " counter name " PROTECT_COUNTER_BLOCKED " drop");
		nft_add_rule(
			p->m, c, "ip6 saddr @" PROTECT_SET_BLOCKED6 " counter name " PROTECT_COUNTER_BLOCKED " drop");
	}
	nft_add_rule(p->m, c, "meta nfproto ipv4 iifname vmap @sources4");
	nft_add_rule(p->m, c, "meta nfproto ipv6 iifname vmap @sources6");
}

/* --- scans --- */

static void add_blocked(struct protect *p)
{
	if (!p->cfg->policy->scan)
		return;
	(void)nft_add_counter(p->m, p->t, PROTECT_COUNTER_BLOCKED);
	(void)nft_add_set(p->m, p->t, PROTECT_SET_BLOCKED4, "type ipv4_addr; size 65535; flags timeout;", "who scans");
	(void)nft_add_set(p->m, p->t, PROTECT_SET_BLOCKED6, "type ipv6_addr; size 65535; flags timeout;", "who scans");
}

/* --- fragments --- */

static void add_fragments(struct protect *p)
{
	const struct vtep *vtep = p->cfg->vtep;
	struct nft_chain *c;

	if (p->cfg->policy->fragments == DEFAULT_ACCEPT)
		return;
	add_end(p, PROTECT_COUNTER_FRAGMENT);
	c = nft_add_chain(p->m, p->t, "fragments", "type filter hook prerouting priority -450; policy accept;");
	for (size_t i = 0; vtep && i < FAMILIES; i++) {
		const struct ip_addr *own = i ? &vtep->address6 : &vtep->address;
		char addr[IP_STR_MAX];

		if (ip_addr_is_set(own))
			nft_add_rule(p->m, c, "%s daddr %s accept", ip_addr_is_ipv6(own) ? "ip6" : "ip",
				ip_addr_str(own, addr));
	}
	nft_add_rule(p->m, c, "ip frag-off and 0x3fff != 0 goto " PROTECT_COUNTER_FRAGMENT);
	nft_add_rule(p->m, c, "exthdr frag exists goto " PROTECT_COUNTER_FRAGMENT);
}

/* --- what one source may begin --- */

static const struct words {
	const char *ip, *type, *suffix;
} family_words[FAMILIES] = {{"ip", "ipv4_addr", "4"}, {"ip6", "ipv6_addr", "6"}};

static void add_rate(
	struct protect *p, struct nft_chain *c, const char *what, const char *match, const struct event_rate *rate)
{
	if (rate->events == 0)
		return;
	for (size_t f = 0; f < FAMILIES; f++) {
		const char *set = arena_printf(p->m->arena, "%s%s", what, family_words[f].suffix);

		(void)nft_add_set(p->m, p->t, set,
			arena_printf(p->m->arena,
				"type %s; size " LIMITED_SOURCES "; flags dynamic,timeout; timeout 1h;",
				family_words[f].type),
			"sources and what they began");
		nft_add_rule(p->m, c, "%supdate @%s { %s saddr limit rate over %u/%s burst %u packets } goto %s", match,
			set, family_words[f].ip, rate->events, policy_rate_unit(rate), rate->events,
			PROTECT_COUNTER_FLOOD);
	}
}

static void add_connections(struct protect *p, struct nft_chain *c, uint32_t connections)
{
	for (size_t f = 0; f < FAMILIES && connections > 0; f++) {
		const char *set = arena_printf(p->m->arena, "connections%s", family_words[f].suffix);

		(void)nft_add_set(p->m, p->t, set,
			arena_printf(
				p->m->arena, "type %s; size " LIMITED_SOURCES "; flags dynamic;", family_words[f].type),
			"sources and their flows");
		nft_add_rule(p->m, c, "add @%s { %s saddr ct count over %u } goto %s", set, family_words[f].ip,
			connections, PROTECT_COUNTER_FLOOD);
	}
}

/* Of two prefixes that meet, one holds the other; ranges of a set must not. */
static bool is_in_another(const struct ip_prefix *v, size_t n, size_t i)
{
	for (size_t k = 0; k < n; k++)
		if (k != i && v[k].len <= v[i].len && ip_prefix_contains(&v[k], &v[i].addr) &&
			(v[k].len < v[i].len || k < i))
			return true;
	return false;
}

static void add_range(struct protect *p, struct nft_set *s, const struct ip_prefix *prefix)
{
	struct ip_addr low = ip_prefix_network(prefix).addr, high = low;
	size_t len = ip_addr_len(&low);
	char a[IP_STR_MAX], b[IP_STR_MAX];

	for (size_t bit = prefix->len; bit < 8 * len; bit++)
		high.bytes[bit / 8] |= (uint8_t)(0x80U >> bit % 8);
	if (ip_addr_cmp(&low, &high) == 0)
		nft_add_map_elem(p->m, s, low.bytes, len, high.bytes, NULL, "%s", ip_addr_str(&low, a));
	else
		nft_add_map_elem(p->m, s, low.bytes, len, high.bytes, NULL, "%s-%s", ip_addr_str(&low, a),
			ip_addr_str(&high, b));
}

static void add_unlimited(struct protect *p, struct nft_chain *c, const struct source_limits *limits)
{
	struct nft_set *sets[FAMILIES];

	for (size_t f = 0; f < FAMILIES; f++) {
		sets[f] = nft_add_set(p->m, p->t, f ? "unlimited6" : "unlimited4",
			arena_printf(p->m->arena, "type %s; flags interval;", family_words[f].type),
			"sources without limits");
		nft_add_rule(p->m, c, "%s saddr @%s accept", family_words[f].ip, sets[f]->name);
	}
	for (size_t i = 0; i < limits->except.n; i++)
		if (!is_in_another(limits->except.v, limits->except.n, i))
			add_range(p, sets[ip_addr_is_ipv6(&limits->except.v[i].addr)], &limits->except.v[i]);
}

static void add_limits(struct protect *p)
{
	const struct source_limits *limits = p->cfg->policy->source_limits;
	struct nft_chain *c;

	if (!limits)
		return;
	add_end(p, PROTECT_COUNTER_FLOOD);
	c = nft_add_chain(p->m, p->t, "limits", NULL);
	add_unlimited(p, c, limits);
	add_rate(p, c, "syn", "tcp flags & (fin | syn | rst | ack) == syn ", &limits->syn);
	add_rate(p, c, "flows", "", &limits->flows);
	add_connections(p, c, limits->connections);
	nft_add_rule(p->m, nft_add_chain(p->m, p->t, "forward", "type filter hook forward priority -5; policy accept;"),
		"ct state new jump limits");
	nft_add_rule(p->m, nft_add_chain(p->m, p->t, "input", "type filter hook input priority -5; policy accept;"),
		"ct state new iifname != \"lo\" jump limits");
}

void protect_render(const struct config *cfg, struct nft_model *m)
{
	struct protect p = {.cfg = cfg, .m = m};

	if (!cfg || !cfg->policy)
		return;
	p.t = nft_add_table(m, "inet", NFT_TABLE_PROTECT);
	add_end(&p, PROTECT_COUNTER_SPOOFED);
	add_blocked(&p);
	add_fragments(&p);
	add_prerouting(&p);
	add_limits(&p);
}
