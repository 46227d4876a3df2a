/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command line of fairwayd. */
#pragma once

#include <stdbool.h>

enum mode { MODE_RUN, MODE_CHECK, MODE_DRY_RUN, MODE_TEARDOWN, MODE_HELP, MODE_VERSION };

struct options {
	enum mode mode;
	const char *config;   /* the file */
	const char *instance; /* [a-z0-9][a-z0-9-]{0,31} */
	char *run_dir, *state_dir;
	bool verbose;
};

/* 0; -EINVAL after saying on standard error what is wrong. */
int options_parse(int argc, char *argv[], struct options *ret);
void options_free(struct options *options);
void options_help(void);

/* May it name an instance, and so be part of a path? */
bool instance_is_valid(const char *name);
