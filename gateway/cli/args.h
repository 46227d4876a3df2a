/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command line of fairway: options anywhere, then the command and its operands. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { ARGS_MAX_OPERANDS = 8, ARGS_MAX_FILTERS = 16 };

struct args {
	const char *instance;
	const char *run_dir;   /* NULL: /run/fairway/INSTANCE */
	const char *comment;   /* NULL: none given */
	const char *directory; /* of a record; NULL: the gateway's */
	bool json, help, version, live;
	/* Of the record: gateway/audit/record_query.h has the names. */
	struct {
		const char *name, *value;
	} filters[ARGS_MAX_FILTERS];
	size_t n_filters;
	const char *command; /* NULL: none given */
	const char *operands[ARGS_MAX_OPERANDS];
	size_t n_operands;
};

/* 0; -EINVAL after saying on standard error what is wrong. What argv holds is only borrowed. */
int args_parse(int argc, char *argv[], struct args *ret);
