/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A few prefixes of a large group come or go: which elements of the class maps change, without compiling the policy
 * again. Only the neighborhood of what changed is looked at. Pure; a property test holds it against the whole way.
 *
 * The kernel (6.18) goes through all of a map of ranges for each transaction with it, however small, which takes 10 to
 * 20 ms with 100,000. So what is new does not go there at first, but into a small map that is asked behind it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "gateway/nft/nft.h"
#include "gateway/policy/policy_model.h"

/* More changes than this are not a few. */
enum { POLICY_DELTA_MAX = 256, POLICY_OVER_MAX = 1024 };

/* Of one map: keys as the kernel has them, data in decimal; no texts. Each sorted. */
struct policy_delta {
	struct nft_elem *more, *less;
	size_t n_more, n_less;
	struct nft_elem
		*over; /* said behind the map as it was, it makes the same as more and less in it; class 0: none */
	size_t n_over;
};

/*
 * What comes and goes between two lists, as far as they begin and end alike; in arena, at most POLICY_DELTA_MAX. False:
 * they are too different.
 */
bool policy_delta_between(const struct ip_prefix *a, size_t n_a, const struct ip_prefix *b, size_t n_b,
	struct arena *arena, const struct ip_prefix **ret, size_t *ret_n);

/*
 * `changed` came to, or went from, the sets of m, which has them as they are now. have: the maps of IPv4 and IPv6 as
 * they were; NULL: not known. False: it takes the whole way, as classes come or go, or a map is not known.
 */
bool policy_delta_make(const struct policy_model *m, const struct ip_prefix *changed, size_t n,
	const struct nft_set *const have[2], struct arena *arena, struct policy_delta ret[2]);
