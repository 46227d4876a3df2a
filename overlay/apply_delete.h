/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Deleting many links of ours: one request for a group of them, instead of one each. Edge. */
#pragma once

#include <stddef.h>

struct rtsock;
struct rtsock_failure;
struct step;

/* How many of the first steps are deletions of links that go in one request. */
size_t apply_delete_run(const struct step *const *steps, size_t n);
/* Before the first of them. */
int apply_delete_begin(struct rtsock *s, const struct step *step, struct rtsock_failure *failure);
/* Deletes these. Both: 0, or -errno with *failure filled. */
int apply_delete_links(struct rtsock *s, const struct step *const *steps, size_t n, struct rtsock_failure *failure);
