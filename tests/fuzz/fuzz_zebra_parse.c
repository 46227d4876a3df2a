/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any text as what zebra or bgpd printed: what is taken from it is something that the kernel could be given. */
/* LINK: routing/zebra_parse.c routing/fib_diff.c overlay/model.c */
/* LIBS: jansson */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "gateway/base/arena.h"
#include "gateway/base/buf.h"
#include "routing/fib_diff.h"
#include "routing/zebra_parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int right)
{
	if (!right)
		abort();
}

static void check_route(const json_t *entry, void *arg)
{
	struct arena *arena = arg;
	uint32_t *indexes;
	struct ip_route r;
	bool onlink;

	if (!zebra_route(entry, arena, &r, &indexes, &onlink))
		return;
	check(r.table > 0 && r.n_nexthops > 0 && r.n_nexthops <= ROUTE_MAX_NEXTHOPS);
	for (size_t i = 0; i < r.n_nexthops; i++)
		check(indexes[i] > 0 && r.nexthops[i].weight > 0 &&
			memchr(r.nexthops[i].link, 0, sizeof(r.nexthops[i].link)) &&
			(!ip_addr_is_set(&r.nexthops[i].via) || r.nexthops[i].via.family == r.dst.addr.family));
}

static void check_macs(const json_t *answer, struct arena *arena)
{
	static const uint32_t vnis[] = {10010};
	struct fib_repairs none = {.arena = arena}, found = {.arena = arena}, due = {.arena = arena},
			   left = {.arena = arena};
	struct evpn_macs macs = {.arena = arena};
	struct buf text = {0};

	zebra_flood(answer, &macs);
	zebra_macs(answer, &macs);
	evpn_macs_seal(&macs, answer);
	for (size_t i = 0; i < macs.n; i++)
		check(macs.v[i].vni > 0 && macs.v[i].vni <= 0xffffff && ip_addr_is_set(&macs.v[i].vtep));
	fib_diff_macs(&macs, &(struct fib_macs){.vnis = vnis, .n_vnis = 1}, &found);
	fib_confirm(&none, &found, 1, &due, &left);
	check(due.n == 0 && left.n == found.n);
	for (size_t i = 0; i < left.n; i++)
		fib_repair_print(&left.v[i], &text);
	buf_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *arena = arena_new();
	char *text = malloc(size + 1);
	struct fib_want want;
	json_t *answer;

	check(text != NULL);
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	answer = frr_documents(text, size);
	if (answer) {
		zebra_walk_routes(answer, check_route, arena);
		fib_want_of(answer, 254, arena, &want);
		check_macs(answer, arena);
	}
	json_decref(answer);
	free(text);
	arena_free(arena);
	return 0;
}
