/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Gives up the capabilities that a process does not need, for good. Edge. */
#pragma once

#include <stddef.h>
#include <sys/capability.h>

/*
 * Keeps these alone: permitted and effective, and in the bounding set, so that no program that is started has more; and
 * forbids to gain any. 0; -EPERM if it lacks one of them; or another -errno.
 */
int caps_keep(const cap_value_t *caps, size_t n);
