/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages of nf_conntrack and nfnetlink_log, made with libmnl: what the audit's parsers are tested with. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "gateway/audit/ct_event.h"

enum { AUDIT_MESSAGE_MAX = 2048 };

struct ct_tuple tuple_of(const char *src, unsigned sport, const char *dst, unsigned dport, uint8_t proto);

/* A message of what ct says; kind CT_END makes a destroy. Its length. */
size_t put_ct(const struct ct_event *ct, uint8_t out[AUDIT_MESSAGE_MAX]);

/* A log entry; seq UINT32_MAX: without one. Its length. */
size_t put_log(const char *prefix, const void *packet, size_t len, uint32_t in, uint32_t out_if, uint32_t seq,
	uint8_t out[AUDIT_MESSAGE_MAX]);
