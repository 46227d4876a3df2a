/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counters of the observed tables, told in the words of the config; see nft_show.h. Pure. An element whose key is the
 * name of a segment's device counts for that segment, in whichever set it is.
 */
#include "gateway/filter/nft_show.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "config/config.h"
#include "gateway/base/str.h"
#include "gateway/nft/nft.h"
#include "overlay/overlay.h"

struct count {
	uint64_t packets, bytes;
};

static void count_add(struct count *sum, uint64_t packets, uint64_t bytes)
{
	sum->packets += packets;
	sum->bytes += bytes;
}

static json_t *table_json(const struct nft_table *t)
{
	size_t rules = 0, elements = 0;

	for (size_t i = 0; i < t->n_chains; i++)
		rules += t->chains[i]->n_rules;
	for (size_t i = 0; i < t->n_sets; i++)
		elements += t->sets[i]->n_elems;
	return json_pack("{s:s, s:s, s:I, s:I, s:I, s:I}", "family", t->family, "name", t->name, "chains",
		(json_int_t)t->n_chains, "rules", (json_int_t)rules, "sets", (json_int_t)t->n_sets, "elements",
		(json_int_t)elements);
}

static json_t *guard_json(const struct nft_model *have)
{
	const struct nft_table *t = nft_model_table(have, "inet", NFT_TABLE_GUARD);
	struct count dropped = {0};

	for (size_t i = 0; t && i < t->n_chains; i++)
		for (size_t k = 0; k < t->chains[i]->n_rules; k++)
			count_add(&dropped, t->chains[i]->rules[k].packets, t->chains[i]->rules[k].bytes);
	return json_pack("{s:I, s:I}", "dropped-packets", (json_int_t)dropped.packets, "dropped-bytes",
		(json_int_t)dropped.bytes);
}

static int elem_cmp(const void *a, const void *b)
{
	return nft_key_cmp(a, b);
}

/* In the sets whose names begin so. */
static void count_device(const struct nft_model *have, const char *sets, const char *device, struct count *sum)
{
	struct nft_elem wanted = {.key_len = 16};

	nft_key_ifname(device, wanted.key);
	for (size_t i = 0; i < have->n_tables; i++) {
		const struct nft_table *t = have->tables[i];

		for (size_t k = 0; k < t->n_sets; k++) {
			const struct nft_set *s = t->sets[k];
			const struct nft_elem *e = NULL;

			if (s->n_elems > 0 && str_starts(s->name, sets))
				e = bsearch(&wanted, s->elems, s->n_elems, sizeof(*s->elems), elem_cmp);
			if (e)
				count_add(sum, e->packets, e->bytes);
		}
	}
}

static json_t *segments_json(const struct config *cfg, const struct nft_model *have, const char *sets)
{
	json_t *list = json_array();

	for (size_t i = 0; cfg && i < cfg->segments.n; i++) {
		const struct segment *seg = &cfg->segments.v[i];
		struct count sum = {0};
		char device[16];

		overlay_vxlan_name(seg->vni, device);
		count_device(have, sets, device, &sum);
		json_array_append_new(list,
			json_pack("{s:s, s:I, s:I}", "segment", seg->name, "packets", (json_int_t)sum.packets, "bytes",
				(json_int_t)sum.bytes));
	}
	return list;
}

/* What came from the ports of each segment and lied about addresses; frames. */
static json_t *inspection_json(const struct config *cfg, const struct nft_model *have)
{
	static const char *const kinds[] = {"arp", "nd", "source", "ra"};
	json_t *list = json_array();

	for (size_t i = 0; cfg && i < cfg->segments.n; i++) {
		const struct segment *seg = &cfg->segments.v[i];
		json_t *one = json_pack("{s:s}", "segment", seg->name);
		char device[16], sets[32];

		overlay_vxlan_name(seg->vni, device);
		for (size_t k = 0; k < ARRAY_SIZE(kinds); k++) {
			struct count sum = {0};

			(void)snprintf(sets, sizeof(sets), NFT_SETS_INSPECTED "%s", kinds[k]);
			count_device(have, sets, device, &sum);
			for (size_t m = 0; m < seg->members.n; m++)
				count_device(have, sets, seg->members.v[m], &sum);
			json_object_set_new(one, kinds[k], json_integer((json_int_t)sum.packets));
		}
		json_array_append_new(list, one);
	}
	return list;
}

json_t *nft_show(const struct config *cfg, const struct nft_model *have)
{
	json_t *tables = json_array();

	for (size_t i = 0; i < have->n_tables; i++)
		if (have->tables[i]->ours)
			json_array_append_new(tables, table_json(have->tables[i]));
	return json_pack("{s:o, s:o, s:o, s:o, s:o}", "tables", tables, "guard", guard_json(have), "clamp",
		segments_json(cfg, have, NFT_SETS_CLAMP), "too-big", segments_json(cfg, have, NFT_SETS_TOOBIG),
		"inspection", inspection_json(cfg, have));
}
