/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Address classes: addresses that are in the same sets are one class, so a rule asks for numbers and not for prefixes,
 * however many there are and however they overlap. Class 0 is what is in no set. Pure.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "gateway/base/addr.h"

struct arena;
struct policy_addrs;

typedef unsigned __int128 u128; /* an address of either family */

/* A range of addresses of one class; ranges of one list are sorted and apart from each other. */
struct policy_atom4 {
	uint32_t low, high; /* host order */
	uint32_t class_id;
};
struct policy_atom6 {
	uint8_t low[16], high[16]; /* network order */
	uint32_t class_id;
};

struct policy_class_list {
	uint32_t *v;
	size_t n, cap;
};

struct policy_classes {
	struct policy_atom4 *atoms4;
	size_t n_atoms4;
	struct policy_atom6 *atoms6;
	size_t n_atoms6;
	size_t n_classes;		/* their numbers have 31 bits, and are never 0 */
	struct policy_class_list *sets; /* for each set, its classes */
	size_t n_sets;
};

/* Everything in arena, but what is only needed on the way. */
void policy_classes_make(
	const struct policy_addrs *sets, size_t n_sets, struct arena *arena, struct policy_classes *ret);
/* The same of the addresses of one family from low to high alone. Their classes have the same numbers. */
void policy_classes_within(const struct policy_addrs *sets, size_t n_sets, uint8_t family, u128 low, u128 high,
	struct arena *arena, struct policy_classes *ret);
/* The class of an address. */
uint32_t policy_class_of(const struct policy_classes *c, const struct ip_addr *addr);
