/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where records go: files, syslog, an IPFIX collector, as the config says. Of one thread. Edge. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "gateway/audit/flow.h"

struct audit_counts;
struct audit_settings;
struct audit_sinks;

struct audit_sinks *audit_sinks_new(void);
void audit_sinks_free(struct audit_sinks *sinks); /* ends all; NULL is fine */

/* What of these differs from before is ended and begun; `old` may be NULL. Errors are in the counts. */
void audit_sinks_config(
	struct audit_sinks *sinks, const struct audit_settings *old, const struct audit_settings *settings);

void audit_sinks_put(struct audit_sinks *sinks, const struct flow *flow, uint64_t now_ns);
/* A record that is no flow: {"time":NOW,"event":EVENT, and what fmt gives, which begins with a comma or is empty. */
void audit_sinks_note(struct audit_sinks *sinks, uint64_t now_ns, const char *event, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Hands over what was collected: after each round of reading. */
void audit_sinks_flush(struct audit_sinks *sinks);
/* Once a second or so. */
void audit_sinks_turn(struct audit_sinks *sinks, uint64_t now_ns);
/* Fills in the sinks' part. */
void audit_sinks_counts(const struct audit_sinks *sinks, struct audit_counts *ret);
