/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which daemons of FRR run for an instance, with what arguments, and the folder that they live in: RUN/frr, theirs
 * alone, so that who may reach their sockets is root and the groups named here. Edge.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct arena;
struct service_spec;
struct services;

/* The services' names, in the order in which they start; they stop in the reverse. */
#define FRR_ZEBRA "zebra"
#define FRR_BFDD "bfdd"
#define FRR_BGPD "bgpd"
#define FRR_REHEARSAL "rehearsal" /* a second bgpd that can reach nobody, see rehearsal.h; not one of FRR_N_DAEMONS */

enum { FRR_N_DAEMONS = 3, FRR_N_SERVICES = 4, FRR_N_GROUPS = 2, FRR_REASON = 256 };

/* Who wants to talk to them needs these groups (and no more). */
extern const char *const frr_groups[FRR_N_GROUPS];

/* RUN/frr */
char *frr_folder(const char *run_dir, struct arena *arena);
/* RUN/frr/NAME.vty (of the rehearsal in a folder of its own), and where bfdd tells its events. */
char *frr_vty_path(const char *run_dir, const char *name, struct arena *arena);
char *frr_bfd_path(const char *run_dir, struct arena *arena);

/*
 * Makes RUN/frr and the constant files in it; while privileged, with one thread. Fine if it was done before. 0;
 * -ENOENT: FRR is not installed; -ENAMETOOLONG, -EACCES: FRR cannot use this RUN; or another -errno. `reason` says it
 * in words.
 */
int frr_daemons_prepare(const char *run_dir, char reason[FRR_REASON]);

/* For services_open(). All in `arena`. */
const struct service_spec *frr_daemons_specs(const char *run_dir, struct arena *arena, size_t *ret_n);

/* All of them, in order, each with up to grace_usec. The first error, after trying all. */
int frr_daemons_stop(struct services *services, uint64_t grace_usec);
