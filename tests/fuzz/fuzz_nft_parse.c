/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the kernel says about nft tables, with any byte of it changed. The seeds are whole dumps of one kernel. What was
 * read must also plan and print without harm.
 */
/* LINK: gateway/nft/nft_parse.c gateway/nft/nft_model.c gateway/nft/nft_plan.c gateway/nft/nft_change.c gateway/engine/plan.c */
/* LIBS: libmnl */
#include <libmnl/libmnl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "gateway/base/arena.h"
#include "gateway/base/buf.h"
#include "gateway/engine/plan.h"
#include "gateway/nft/nft.h"
#include "gateway/nft/nft_parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* mnl_nlmsg_ok() of libmnl 1.0.4 takes a length above 2^31 for a negative one, and lets it pass; the kernel sends none.
 */
static bool is_whole(const struct nlmsghdr *nlh, int len)
{
	return mnl_nlmsg_ok(nlh, len) && nlh->nlmsg_len <= (uint32_t)len;
}

static void parse_all(const struct nlmsghdr *nlh, int len, struct nft_model *m)
{
	for (; is_whole(nlh, len); nlh = mnl_nlmsg_next(nlh, &len)) {
		(void)nft_parse_is_ours(nlh);
		if (nft_parse(nlh, m) < 0)
			return;
	}
}

static void plan_and_print(const struct nft_model *want, const struct nft_model *have)
{
	struct buf text = {0};
	struct plan plan;

	plan_init(&plan);
	nft_plan(want, have, &plan);
	for (size_t i = 0; i < plan.n_steps; i++)
		nft_step_print(plan.steps[i].payload, &text);
	buf_free(&text);
	plan_free(&plan);
}

/* A model that the seeds differ from in elements only, so that these are compared and printed too. */
static void make_want(struct nft_model *m)
{
	struct nft_table *t = nft_add_table(m, "inet", "fairway_fuzz");

	(void)nft_add_set(m, t, "sources", "typeof ip saddr . @th,96,24", "the VXLAN sources");
	(void)nft_add_set(m, t, "clamped", "type ifname; counter", "the MSS clamp");
	nft_add_rule(m, nft_add_chain(m, t, "input", "type filter hook input priority -10; policy accept;"),
		"udp dport 4789 ip saddr . @th,96,24 != @sources counter drop");
	nft_model_seal(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct nft_model want = {.arena = arena_new()}, have = {.arena = want.arena};
	struct nlmsghdr *copy = malloc(size + 1); /* aligned, and ending where the input ends */

	if (!copy)
		abort();
	memcpy(copy, data, size);
	parse_all(copy, (int)size, &have);
	nft_model_seal(&have);
	make_want(&want);
	plan_and_print(&want, &have);
	free(copy);
	arena_free(want.arena);
	return 0;
}
