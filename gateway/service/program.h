/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the keeper does with one program of its table: start it, know it among others. Edge. */
#pragma once

#include <sys/types.h>

struct service_spec;

/* Forks and executes it. 0, -errno of fork(2) or exec(2): the child is then gone. */
int program_start(const struct service_spec *spec, pid_t *ret);

/* Does this process run the program, in the network namespace of this one? 0; -EPERM: no; -ESRCH: there is none. */
int program_check(const struct service_spec *spec, pid_t pid);

/* The process that runs it, there, with exactly its arguments. 0 or -ESRCH. */
int program_find(const struct service_spec *spec, pid_t *ret);
