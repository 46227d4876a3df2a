/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The commands of fairway, one row each. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct args;
struct output;

enum exit_status {
	EXIT_OK = 0,
	EXIT_REFUSED = 1,     /* the configuration is not valid, or something is in its way; nothing was touched */
	EXIT_USAGE = 2,	      /* the command line is wrong */
	EXIT_ROLLED_BACK = 3, /* a step failed; the previous configuration is back */
	EXIT_BROKEN = 4,      /* a step failed, and the previous configuration could not be restored either */
	EXIT_NO_DAEMON = 5,   /* fairwayd does not run, does not answer, or may not be asked by this user */
};

struct command {
	const char *name;
	const char *operands; /* for the usage line */
	size_t min_operands, max_operands;
	const char *summary, *help;
	enum exit_status (*run)(const struct args *args, const struct output *output);
};

extern const struct command commands[];
extern const size_t n_commands;

/* What `show` knows. */
struct show_topic {
	const char *what, *help;
	bool takes_name;
};
extern const struct show_topic show_topics[];
extern const size_t n_show_topics;

/* Asks fairwayd: EXIT_OK with *ret, the result; or another after saying on standard error why. */
enum exit_status ask(const struct args *args, const struct output *output, const char *method, void *params, void *ret);

/* record.c: `show flows|denies|top`, from the record's files. */
bool is_record_topic(const char *what);
enum exit_status command_record(const struct args *args, const struct output *output);

/* check.c: `check FILE`, without a daemon. */
enum exit_status command_check(const struct args *args, const struct output *output);
enum exit_status check_text(const char *name, const char *text, size_t len, const struct output *output);

/* Reads FILE, "-" being standard input; says on standard error what is wrong. The caller frees. */
int read_file(const char *name, char **ret, size_t *ret_len);
/* Prints to standard output. */
void emit(const struct output *output, const void *data);
