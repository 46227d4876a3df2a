/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What somebody wants to see of the record: a part of time, and filters. Pure. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gateway/base/addr.h"

struct record_query {
	uint64_t since_ns, until_ns;	     /* since 1970; of a record's time; until_ns UINT64_MAX: no end */
	struct ip_prefix from, to, host;     /* family AF_UNSPEC: any; host: at either end */
	const char *port;		     /* at either end; NULL: any. Texts are borrowed */
	const char *proto, *rule;	     /* a name or a number */
	const char *segment, *tenant, *line; /* at either end */
	char since[32], until[32];	     /* the times as records have them: they sort as texts */
};

/* What a value may be set for, in the order of the help. */
struct record_filter {
	const char *name, *value, *help;
	int (*set)(struct record_query *q, const char *value, uint64_t now_ns);
};
extern const struct record_filter record_filters[];
extern const size_t n_record_filters;

/* All of the last hour before now_ns. */
void record_query_init(struct record_query *q, uint64_t now_ns);
/* 0; -EINVAL: the value is not one of its kind. */
int record_query_set(struct record_query *q, const char *name, const char *value, uint64_t now_ns);

/* May this line (without its newline) be of the event, in time? Quick, without decoding. */
bool record_query_may_match(const struct record_query *q, const char *line, size_t len, const char *event);
/* Does the decoded record pass the filters? */
bool record_query_matches(const struct record_query *q, const json_t *record);
