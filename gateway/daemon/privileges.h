/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Gives up what a gateway does not need of root's powers, for good. */
#pragma once

#include <stddef.h>

/*
 * Keeps CAP_NET_ADMIN alone, also out of the bounding set, and forbids to gain more; and of the supplementary groups
 * these, whose sockets are used. A group that the system does not have is left out. 0 or -errno.
 */
int privileges_drop(const char *const *groups, size_t n);
