/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sums of flows by a name: a tenant, a segment, a line, an address. A hash table that grows; the key is text. Pure.
 * Used by the reader for what has been since it began, and by `fairway show top` for a part of the record.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct total {
	char *key;			/* NULL: this place is free */
	uint64_t flows, packets, bytes; /* of both directions */
	uint64_t denied;
};

struct totals {
	struct total *v;
	size_t n, cap;
};

/* The entry, made where it is not there. Good until the next one is made. */
struct total *totals_at(struct totals *t, const char *key);
void totals_free(struct totals *t);
/* The places by bytes, then flows, then name, the largest first; the caller frees the array, not what it points to. */
struct total **totals_sorted(const struct totals *t);
