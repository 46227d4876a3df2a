/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Do the daemons still answer? Each is asked at each turn, without waiting for the reply. One that has owed it for too
 * long hangs: bfdd, which is in real time and never works long, for a second; the others for three. Edge.
 */
#pragma once

#include <stdint.h>

struct frr_health;

/* run_dir as for routing_attach(). */
struct frr_health *frr_health_new(const char *run_dir);
void frr_health_free(struct frr_health *health); /* NULL is fine */

/* One turn, at a monotonic time in microseconds. The name of a daemon that hangs; NULL: none does. */
const char *frr_health_ask(struct frr_health *health, uint64_t now);
