/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the audit's thread has of a config: a copy that it owns. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gateway/audit/ipfix_sink.h"

struct audit_names;
struct config;

struct audit_settings {
	bool on; /* false: no record; the others are then empty */
	char *directory;
	uint64_t max_size, buffer;
	size_t max_files;
	uint32_t denies_per_second;
	bool syslog, ipfix;
	struct ipfix_target target;
	struct audit_names *names; /* never NULL */
};

/* cfg NULL, or without `audit`: not on. */
struct audit_settings *audit_settings_new(const struct config *cfg);
void audit_settings_free(struct audit_settings *settings); /* NULL is fine */
/* The names are the caller's from now on. */
struct audit_names *audit_settings_take_names(struct audit_settings *settings);
bool audit_settings_same_ipfix(const struct audit_settings *a, const struct audit_settings *b);
