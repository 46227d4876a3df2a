/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The flows that are alive, as far as the reader knows: little of each, because the kernel says the rest when one ends.
 * A hash table by the kernel's own identity of a flow. Pure.
 *
 * A dump of the kernel's table heals what was missed: flow_table_begin() before it, each of its flows is added or
 * touched, and what was not by flow_table_stale() has ended without a word.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gateway/audit/ct_event.h"

struct flow_entry {
	uint64_t key;	   /* 0: this place is free */
	uint32_t from, to; /* the caller's: places */
	uint32_t rule;	   /* the caller's: at its start */
	uint16_t names;	   /* the caller's: of which config */
	uint8_t round;	   /* of the last dump that it was in, or that it is younger than */
	bool stale : 1;	   /* not in the last dump: its end may be on the way */
	bool unsure : 1;   /* the caller's: it was there before us, and may end without a word */
};

struct flow_table {
	struct flow_entry *v;
	size_t n, cap; /* cap: 0 or a power of two */
	uint64_t seed; /* a random number, so that nobody can choose addresses that collide */
	uint8_t round;
};

void flow_table_free(struct flow_table *t);

/* Identity: tuple, zone and number; never 0. */
uint64_t flow_table_key(const struct flow_table *t, const struct ct_event *ct);

/* NULL: not there. Good until the next add or remove. */
struct flow_entry *flow_table_find(const struct flow_table *t, uint64_t key);
/* The entry, zeroed but for key and round where it is new (*ret_new). */
struct flow_entry *flow_table_add(struct flow_table *t, uint64_t key, bool *ret_new);
void flow_table_remove(struct flow_table *t, struct flow_entry *entry);

/* A dump begins; then flow_table_touch() each. */
void flow_table_begin(struct flow_table *t);
void flow_table_touch(struct flow_table *t, struct flow_entry *entry);
/* It is over: those that it did not have are marked. How many there are. */
size_t flow_table_mark_stale(struct flow_table *t);
/* Removes those that are marked still, each given to fn before. How many. */
size_t flow_table_drop_stale(struct flow_table *t, void (*fn)(const struct flow_entry *entry, void *arg), void *arg);
