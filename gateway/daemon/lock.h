/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One fairwayd per instance and one per network namespace; two that believe a kernel to be theirs would undo each
 * other's work for ever. Both locks die with the process.
 */
#pragma once

#include <stdbool.h>

/* Makes the folder and locks RUN/fairwayd.lock, as long as *ret is open. False after saying why not, with the other's
 * pid.
 */
bool lock_instance(const char *instance, const char *run_dir, int *ret);

/* The network namespace of this process, as long as *ret is open. False after saying why not, with the other's pid. */
bool lock_network(int *ret);
