/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See args.h. */
#include "gateway/cli/args.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>

enum { OPT_RUN_DIR = 256, OPT_VERSION };

static const struct option long_options[] = {
	{"instance", required_argument, NULL, 'i'},
	{"run-dir", required_argument, NULL, OPT_RUN_DIR},
	{"comment", required_argument, NULL, 'm'},
	{"json", no_argument, NULL, 'j'},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, OPT_VERSION},
	{NULL, 0, NULL, 0},
};

static int option_set(struct args *a, int c)
{
	switch (c) {
	case 'i':
		a->instance = optarg;
		return 0;
	case OPT_RUN_DIR:
		a->run_dir = optarg;
		return 0;
	case 'm':
		a->comment = optarg;
		return 0;
	case 'j':
		a->json = true;
		return 0;
	case 'h':
		a->help = true;
		return 0;
	case OPT_VERSION:
		a->version = true;
		return 0;
	default:
		return -EINVAL;
	}
}

static int operands_set(struct args *a, char *const *v, size_t n)
{
	if (n == 0)
		return 0;
	a->command = v[0];
	if (n - 1 > ARGS_MAX_OPERANDS) {
		(void)fprintf(stderr, "fairway: too many arguments\n");
		return -EINVAL;
	}
	for (size_t i = 1; i < n; i++)
		a->operands[a->n_operands++] = v[i];
	return 0;
}

int args_parse(int argc, char *argv[], struct args *ret)
{
	struct args a = {.instance = "main"};
	int c, r = 0;

	optind = 0; /* start afresh, also the second time in one process */
	while (r == 0 && (c = getopt_long(argc, argv, "i:m:jh", long_options, NULL)) != -1)
		r = option_set(&a, c);
	if (r == 0)
		r = operands_set(&a, argv + optind, (size_t)(argc - optind));
	if (r == 0)
		*ret = a;
	return r;
}
