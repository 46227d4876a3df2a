/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command line of fairway: options anywhere, then the command and its operands. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { ARGS_MAX_OPERANDS = 4 };

struct args {
	const char *instance;
	const char *run_dir; /* NULL: /run/fairway/INSTANCE */
	const char *comment; /* NULL: none given */
	bool json, help, version;
	const char *command; /* NULL: none given */
	const char *operands[ARGS_MAX_OPERANDS];
	size_t n_operands;
};

/* 0; -EINVAL after saying on standard error what is wrong. What argv holds is only borrowed. */
int args_parse(int argc, char *argv[], struct args *ret);
