/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The log: lines on stderr with a syslog priority prefix ("<6>..."), which journald understands, or plain on a
 * terminal. A function logs or returns an error, not both. Secrets and operator mistakes do not come here (see
 * config/diag.h).
 */
#pragma once

#include <stddef.h>
#include <syslog.h>

void log_open(const char *ident, int max_priority); /* LOG_INFO is usual; LOG_DEBUG with --verbose */
void log_msg(int priority, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#define log_error(...) log_msg(LOG_ERR, __VA_ARGS__)
#define log_warning(...) log_msg(LOG_WARNING, __VA_ARGS__)
#define log_notice(...) log_msg(LOG_NOTICE, __VA_ARGS__)
#define log_info(...) log_msg(LOG_INFO, __VA_ARGS__)
#define log_debug(...) log_msg(LOG_DEBUG, __VA_ARGS__)
