/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the audit's thread does: reads the kernel's events and denied packets, keeps the table of live flows, heals it
 * by dumps, and makes records. All of it is one thread's; audit.c has the thread and what the loop may ask. Edge.
 */
#pragma once

#include <poll.h>
#include <stddef.h>
#include <stdint.h>

#include "gateway/audit/audit.h"

struct audit_reader;
struct audit_settings;

enum { AUDIT_FDS = 3 };

struct audit_reader *audit_reader_new(void);
void audit_reader_free(struct audit_reader *r);

void audit_reader_on_deny(struct audit_reader *r, void (*fn)(const struct deny *deny, void *arg), void *arg);
/* Another config; settings are taken over. */
void audit_reader_config(struct audit_reader *r, struct audit_settings *settings);

/* What to wait for, -1 where there is nothing, and for how long at most; -1: for ever. */
void audit_reader_fds(const struct audit_reader *r, struct pollfd fds[AUDIT_FDS]);
int audit_reader_timeout(const struct audit_reader *r);
/* Reads some of all that is there, and does what time brings. */
void audit_reader_turn(struct audit_reader *r);

void audit_reader_counts(const struct audit_reader *r, struct audit_counts *ret);
