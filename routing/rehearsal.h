/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The owner checks first: a second bgpd, in a network namespace of its own where it can reach nobody, is given the
 * wanted configuration before the real one. What it refuses, or turns into something else, never gets near a live
 * session. Edge.
 */
#pragma once

struct buf;
struct frr_conf;
struct services;

/* 0: it takes `want`, and then runs it. -EINVAL: it does not; or -errno. `why` says what and why. */
int rehearsal_run(const char *run_dir, struct services *services, const struct frr_conf *want, struct buf *why);
