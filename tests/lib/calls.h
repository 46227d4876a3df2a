/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The system calls that change files, for tests of what survives a crash: they are counted, and at a chosen one the
 * process ends or the call fails with EIO. They also keep a small model of what is not yet synced, so that an order
 * which only a power cut would punish is seen too. Linking this file puts them in front of the C library's.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum calls_mode { CALLS_PASS, CALLS_CRASH, CALLS_FAIL };

enum { CALLS_CRASHED = 99 }; /* exit status of a process that was ended */

/* Counts from 0 again; call n is the one. */
void calls_arm(enum calls_mode mode, unsigned n);
/* Did it get as far as the chosen call? */
bool calls_hit(void);

/* Files and folders that were changed and not synced since. */
size_t calls_unsynced(void);
/* What was given a name, or made the running one, before it was synced; NULL if nothing was. */
const char *calls_disorder(void);
void calls_forget(void);
