/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the kernel hands to fairwayd of packets that a bridged segment cannot carry; see overlay.h. Pure.
 *
 * The VXLAN driver answers a bridged packet only if it is whole and may not be fragmented, and one that this gateway
 * routes into the segment not at all (measured; facts: mtu). The rest is lost without a word, and is logged here:
 *
 *   forward: IPv6 with an extension header, first of all fragments; IPv4 fragments with DF
 *   output:  all IPv6 and all IPv4 with DF, but TCP
 *   both:    IPv4 without DF, where the outer packet may not be fragmented either: it is logged whole and dropped, and
 *            fairwayd sends its fragments
 *
 * Two things keep trains of segments (GSO) out, whose length says nothing about their segments: TCP is clamped, and no
 * single packet is longer than the hosts' MTU.
 *
 * The rules are few: one for each combination of numbers. The prefix of a log entry is the MTU to be told.
 */
#include "overlay/overlay.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "gateway/base/arena.h"
#include "gateway/base/str.h"
#include "gateway/nft/nft.h"
#include "overlay/bridge_parts.h"
#include "overlay/mtu.h"
#include "overlay/toobig.h"

enum { ANSWERS_PER_SECOND = 1000, ANSWERS_AT_ONCE = 200 };

/* What packets of a length from `above` + 1 to `longest` leave by a device. */
struct too_big {
	uint32_t above, longest;
	bool outer_whole; /* the outer packet may not be fragmented */
	char device[16];
};

static int group_cmp(const struct too_big *a, const struct too_big *b)
{
	if (a->above != b->above)
		return cmp_u32(a->above, b->above);
	if (a->longest != b->longest)
		return cmp_u32(a->longest, b->longest);
	return cmp_u32(a->outer_whole, b->outer_whole);
}

static int too_big_cmp(const void *pa, const void *pb)
{
	const struct too_big *a = pa, *b = pb;
	int c = group_cmp(a, b);

	return c ? c : strcmp(a->device, b->device);
}

static struct too_big *find_all(const struct config *cfg, const struct facts *facts, struct arena *arena, size_t *ret_n)
{
	struct too_big *v = arena_array(arena, cfg->segments.n, sizeof(*v));
	size_t n = 0;

	for (size_t i = 0; i < cfg->segments.n; i++) {
		const struct segment *seg = &cfg->segments.v[i];
		struct segment_mtu mtu;

		mtu_of_segment(cfg, facts, seg, &mtu);
		if (seg->mode != MODE_BRIDGED || mtu.device <= mtu.inner)
			continue;
		v[n] = (struct too_big){
			.above = mtu.inner,
			.longest = mtu.device,
			.outer_whole = mtu.encap.ipv6_outer || seg->df == DF_SET,
		};
		overlay_vxlan_name(seg->vni, v[n++].device);
	}
	if (n > 1)
		qsort(v, n, sizeof(*v), too_big_cmp);
	*ret_n = n;
	return v;
}

struct chains {
	struct nft_chain *answer, *fragment;
};

static struct nft_set *add_group(
	struct nft_model *m, struct nft_table *t, const struct chains *chains, const struct too_big *g)
{
	char name[40], lengths[40];

	(void)snprintf(name, sizeof(name), NFT_SETS_TOOBIG "%s_%u_%u", g->outer_whole ? "whole" : "split", g->above,
		g->longest);
	(void)snprintf(lengths, sizeof(lengths), "meta length %u-%u", g->above + 1, g->longest);
	nft_add_rule(m, chains->answer,
		"%s oifname @%s limit rate %d/second burst %d packets log prefix \"%u\" group %d snaplen %d", lengths,
		name, ANSWERS_PER_SECOND, ANSWERS_AT_ONCE, g->above, TOOBIG_GROUP_ANSWER, TOOBIG_QUOTE_IPV6);
	if (g->outer_whole)
		nft_add_rule(m, chains->fragment, "%s oifname @%s log prefix \"%u\" group %d drop", lengths, name,
			g->above, TOOBIG_GROUP_FRAGMENT);
	return nft_add_set(m, t, name, "type ifname; counter", "the answers to packets that are too big");
}

static void add_devices(
	struct nft_model *m, struct nft_table *t, const struct chains *chains, const struct too_big *v, size_t n)
{
	struct nft_set *set = NULL;
	uint8_t key[16];

	for (size_t i = 0; i < n; i++) {
		if (i == 0 || group_cmp(&v[i - 1], &v[i]) != 0)
			set = add_group(m, t, chains, &v[i]);
		nft_key_ifname(v[i].device, key);
		nft_add_elem(m, set, key, sizeof(key), "\"%s\"", v[i].device);
	}
}

/* The sender finds its socket by the ports that only the first fragment has, and that one always comes too. */
static void fill_answer6(struct nft_model *m, struct nft_chain *c)
{
	nft_add_rule(m, c, "frag frag-off > 0 return");
	nft_add_rule(m, c, "goto answer");
}

/* Extension headers by number: hop-by-hop, routing and fragment, authentication, none and destination options. */
static void fill_bridged(struct nft_model *m, struct nft_chain *c)
{
	static const char *const extensions[] = {"0", "43-44", "51", "59-60"};

	for (size_t i = 0; i < ARRAY_SIZE(extensions); i++)
		nft_add_rule(m, c, "ip6 nexthdr %s goto answer6", extensions[i]);
	nft_add_rule(m, c, "ip frag-off 0x6000 goto answer");
	nft_add_rule(m, c, "ip frag-off & 0x4000 == 0 goto fragment");
}

static void fill_routed(struct nft_model *m, struct nft_chain *c)
{
	nft_add_rule(m, c, "meta protocol ip6 goto answer6");
	nft_add_rule(m, c, "ip frag-off & 0x5fff == 0x4000 goto answer");
	nft_add_rule(m, c, "ip frag-off & 0x4000 == 0 goto fragment");
}

uint32_t toobig_bridge_chains(
	const struct config *cfg, const struct facts *facts, struct nft_model *m, struct nft_table *t)
{
	size_t n;
	const struct too_big *v = find_all(cfg, facts, m->arena, &n);
	struct chains chains;

	if (n == 0)
		return 0;
	chains.answer = nft_add_chain(m, t, "answer", NULL);
	chains.fragment = nft_add_chain(m, t, "fragment", NULL);
	add_devices(m, t, &chains, v, n);
	fill_answer6(m, nft_add_chain(m, t, "answer6", NULL));
	fill_bridged(m, nft_add_chain(m, t, "bridged", NULL));
	fill_routed(m, nft_add_chain(m, t, "routed", NULL));
	return v[0].above; /* one comparison for all that is small */
}
