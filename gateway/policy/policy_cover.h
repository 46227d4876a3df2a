/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which services are taken: spans that are sorted and apart from each other. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "gateway/policy/policy_model.h"

struct policy_cover {
	struct policy_span *v;
	size_t n, cap;
};

/* The first span that ends at or after low. */
size_t policy_cover_find(const struct policy_cover *c, uint32_t low);
/* The span joins it, with all that it overlaps. */
void policy_cover_add(struct policy_cover *c, struct policy_span s, struct arena *arena);
/* Is all of s in one or another of n covers? */
bool policy_cover_holds(const struct policy_cover *const *covers, size_t n, struct policy_span s);
