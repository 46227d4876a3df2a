/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's side of fib_check.h: BGP's routes and the FDBs of our VXLAN devices, read and repaired. Edge. */
#pragma once

#include "overlay/model.h"
#include "routing/fib_diff.h"

struct arena;
struct rtsock;

struct fib_kernel {
	struct kernel_model model; /* its routes: BGP's alone, sorted; its links: all */
	struct fib_macs macs;
};

/* Everything in `arena`. 0 or -errno. */
int fib_kernel_read(struct rtsock *s, struct arena *arena, struct fib_kernel *ret);

/* 0, or -errno. What is to be removed and is gone is fine. */
int fib_kernel_repair(struct rtsock *s, const struct fib_kernel *kernel, const struct fib_repair *repair);
