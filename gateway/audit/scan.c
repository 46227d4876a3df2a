/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See scan.h. Sources stand in rows of a few, by their hash; a source's destinations are an array of hashes with the
 * second in which each was last denied. A minute is looked back on at every packet, so no scan hides between two
 * windows; that costs a walk over one array, and the kernel hands on 500 packets a second at most.
 */
#include "gateway/audit/scan.h"

#include <stdlib.h>
#include <string.h>

#include "gateway/audit/deny.h"
#include "gateway/base/str.h"

enum { ROW = 8, ROWS = SCAN_SOURCES / ROW };

struct destination {
	uint32_t hash, time;
};

struct source {
	uint8_t family; /* 0: free */
	uint8_t addr[16];
	uint32_t last; /* denied */
	uint32_t n;
	struct destination *v; /* room for t->destinations */
};

struct scan_table {
	uint32_t destinations;
	struct source rows[ROWS][ROW];
};

struct scan_table *scan_table_new(uint32_t destinations)
{
	struct scan_table *t = calloc(1, sizeof(*t));

	if (!t)
		abort();
	t->destinations = destinations;
	return t;
}

void scan_table_free(struct scan_table *t)
{
	for (size_t i = 0; t && i < ROWS; i++)
		for (size_t k = 0; k < ROW; k++)
			free(t->rows[i][k].v);
	free(t);
}

static uint32_t hash(uint32_t h, const void *bytes, size_t len)
{
	const uint8_t *p = bytes;

	for (size_t i = 0; i < len; i++)
		h = (h ^ p[i]) * UINT32_C(0x01000193);
	return h ^ h >> 15;
}

static uint32_t hash_destination(const struct ct_tuple *t)
{
	uint32_t h = hash(UINT32_C(0x811c9dc5), t->dst, sizeof(t->dst));

	h = hash(h, &t->proto, sizeof(t->proto));
	return hash(h, &t->dport, sizeof(t->dport));
}

/* The source's own place, or a free one, or that of who was quiet longest. */
static struct source *find(struct scan_table *t, const struct ct_tuple *tuple)
{
	struct source *row = t->rows[hash(UINT32_C(0x811c9dc5), tuple->src, sizeof(tuple->src)) % ROWS],
		      *found = &row[0];

	for (size_t i = 0; i < ROW; i++) {
		if (row[i].family == tuple->family && memcmp(row[i].addr, tuple->src, sizeof(row[i].addr)) == 0)
			return &row[i];
		if (found->family != 0 && (row[i].family == 0 || row[i].last < found->last))
			found = &row[i];
	}
	if (!found->v)
		found->v = calloc(t->destinations, sizeof(*found->v));
	if (!found->v)
		abort();
	found->family = tuple->family;
	memcpy(found->addr, tuple->src, sizeof(found->addr));
	found->n = 0;
	return found;
}

/* What is older than the window goes. True: it is one more. */
static bool add(struct source *s, uint32_t destination, uint32_t now)
{
	bool known = false;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < s->n; i++) {
		if (s->v[i].hash == destination) {
			known = true;
			s->v[i].time = now;
		}
		if (now - s->v[i].time < SCAN_WINDOW)
			s->v[kept++] = s->v[i];
	}
	s->n = kept;
	if (!known)
		s->v[s->n++] = (struct destination){destination, now};
	return !known;
}

/* A rule, a default, or the gateway itself denied it: the source meant to go there. */
static bool is_meant(const struct deny *deny)
{
	return deny->rule > 0 || str_eq(deny->verdict, "default") || str_eq(deny->verdict, "own");
}

bool scan_note(struct scan_table *t, const struct deny *deny, uint64_t now)
{
	struct source *s;

	if (!is_meant(deny) || deny->tuple.family == 0)
		return false;
	s = find(t, &deny->tuple);
	s->last = (uint32_t)now;
	if (!add(s, hash_destination(&deny->tuple), (uint32_t)now) || s->n < t->destinations)
		return false;
	s->n = 0;
	return true;
}
