/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The names of the configs that live flows began under: a flow keeps the names that it had at its start. A set of names
 * goes when the last of its flows has ended and another config runs. Pure.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct audit_names;

struct names_pool {
	struct {
		struct audit_names *names; /* NULL: free */
		size_t flows;
	} * v;
	size_t n;
	uint16_t now; /* of the config that runs */
};

void names_pool_free(struct names_pool *p);
/* Another config's, taken over. At most 65536 at a time; more is out of memory. */
void names_pool_set(struct names_pool *p, struct audit_names *names);
const struct audit_names *names_pool_at(const struct names_pool *p, uint16_t i);
void names_pool_hold(struct names_pool *p, uint16_t i);
void names_pool_drop(struct names_pool *p, uint16_t i);
