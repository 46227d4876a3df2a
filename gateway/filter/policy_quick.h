/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The quick way of a prefix file into the kernel: a few elements of the class maps, in milliseconds, before the loop
 * looks at everything and finds that it is as wanted. It acts on what is remembered of the kernel (nft_memory.h), and
 * only where the loop would do the same. Edge.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct config;
struct facts;
struct ip_prefix;

/*
 * `changed` came to, or went from, the files of cfg's groups, which facts has as they are now; cfg runs, and the kernel
 * is as it wants. False: nothing was done, and it is the loop's.
 */
bool policy_quick(const struct config *cfg, const struct facts *facts, const struct ip_prefix *changed, size_t n);
