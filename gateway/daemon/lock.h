/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One fairwayd per instance: a lock on RUN/fairwayd.lock that dies with the process. */
#pragma once

#include <stdbool.h>

/* Makes the folder and takes its lock, held as long as *ret is open. False after saying why not, with the other's pid.
 */
bool lock_instance(const char *instance, const char *run_dir, int *ret);
