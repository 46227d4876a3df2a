/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A kernel for tests of the overlay's plan: holds a kernel model and does the steps with the real one's rules, those
 * that a plan could get wrong: what must exist first, what may exist once, what goes along with a link, what cannot be
 * changed in place.
 */
#pragma once

#include <stddef.h>

#include "overlay/model.h"

struct overlay_step;

struct fake_kernel {
	struct kernel_model m; /* always sealed: what observe would give */
	size_t n_applied;
	size_t fail_at; /* the number of the step, from 1, that fails with -EIO; 0: none */
	const char *reason;
};

void fake_kernel_init(struct fake_kernel *k); /* lo, and the sysctls as a new namespace has them */
void fake_kernel_free(struct fake_kernel *k);
void fake_kernel_add_interface(struct fake_kernel *k, const char *name, uint32_t mtu);
void fake_kernel_remove_interface(struct fake_kernel *k, const char *name); /* somebody pulls it out */

/* What is there now, as a model of its own in ret's arena. */
void fake_kernel_observe(const struct fake_kernel *k, struct kernel_model *ret);

/* 0, or -errno with k->reason. */
int fake_kernel_apply(struct fake_kernel *k, const struct overlay_step *step);
