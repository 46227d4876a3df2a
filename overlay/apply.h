/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Doing the steps of a plan: netlink in batches, sysctls, checksum offload. Edge. */
#pragma once

#include <stddef.h>

struct step;
struct txn;

/* As struct subsystem's apply: payloads are struct overlay_step. */
int overlay_apply(struct txn *txn, const struct step *const *steps, size_t n);
