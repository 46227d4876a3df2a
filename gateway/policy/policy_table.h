/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A hash table from three numbers to a number, in an arena: what compiling a policy looks things up in. Pure. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct arena;

struct policy_key {
	uint32_t a, b, c;
};

struct policy_slot {
	struct policy_key key;
	uint32_t value; /* 0: the slot is free */
};

/* The zero value with an arena is an empty table. */
struct policy_table {
	struct arena *arena;
	struct policy_slot *slots;
	size_t n, cap;
};

/* Where the key's value is; 0 there means that it is new, and the caller has to set it before the next call. */
uint32_t *policy_table_at(struct policy_table *t, struct policy_key key);
/* 0: not there. */
uint32_t policy_table_get(const struct policy_table *t, struct policy_key key);
