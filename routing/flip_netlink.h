/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's routes for the fast flip: read by protocol, override, withdraw. Edge. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct flip_delta;
struct flip_kernel;
struct kernel_model;

int flip_kernel_open(struct flip_kernel **ret);
void flip_kernel_close(struct flip_kernel *k); /* NULL is fine */

/* Adds the routes of this rtm_protocol, of both families and all tables, and seals. 0 or -errno. */
int flip_kernel_read(struct flip_kernel *k, uint8_t proto, struct kernel_model *ret);

/* Names of links are kept from one read to the next; this forgets them. */
void flip_kernel_forget_links(struct flip_kernel *k);

/* One that the kernel refuses does not keep it from the others. 0, or the first -errno. */
int flip_kernel_apply(struct flip_kernel *k, const struct flip_delta *delta);

/* Whether changes of routes are told: readable when somebody else's route changed. */
void flip_kernel_listen(struct flip_kernel *k, bool on);
int flip_kernel_fd(const struct flip_kernel *k);
bool flip_kernel_changed(struct flip_kernel *k); /* takes what was told */
