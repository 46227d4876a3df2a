/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See args.h. */
#include "gateway/cli/args.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "gateway/audit/record_query.h"
#include "gateway/base/str.h"

enum { OPT_RUN_DIR = 256, OPT_VERSION, OPT_DIRECTORY, OPT_LIVE, OPT_FILTER, OPTIONS_MAX = 64 };

static const struct option long_options[] = {
	{"instance", required_argument, NULL, 'i'},
	{"run-dir", required_argument, NULL, OPT_RUN_DIR},
	{"comment", required_argument, NULL, 'm'},
	{"json", no_argument, NULL, 'j'},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, OPT_VERSION},
	{"directory", required_argument, NULL, OPT_DIRECTORY},
	{"live", no_argument, NULL, OPT_LIVE},
};

/* And one for each filter of the record. */
static void all_options(struct option ret[OPTIONS_MAX])
{
	size_t n = ARRAY_SIZE(long_options);

	memcpy(ret, long_options, sizeof(long_options));
	for (size_t i = 0; i < n_record_filters && n + 1 < OPTIONS_MAX; i++)
		ret[n++] = (struct option){record_filters[i].name, required_argument, NULL, OPT_FILTER + (int)i};
	ret[n] = (struct option){0};
}

static int filter_set(struct args *a, const char *name)
{
	if (a->n_filters == ARGS_MAX_FILTERS) {
		(void)fprintf(stderr, "fairway: too many options\n");
		return -EINVAL;
	}
	a->filters[a->n_filters].name = name;
	a->filters[a->n_filters++].value = optarg;
	return 0;
}

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
	case OPT_DIRECTORY:
		a->directory = optarg;
		return 0;
	case OPT_LIVE:
		a->live = true;
		return 0;
	default:
		return c >= OPT_FILTER ? filter_set(a, record_filters[c - OPT_FILTER].name) : -EINVAL;
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
	struct option options[OPTIONS_MAX];
	int c, r = 0;

	all_options(options);
	optind = 0; /* start afresh, also the second time in one process */
	while (r == 0 && (c = getopt_long(argc, argv, "i:m:jh", options, NULL)) != -1)
		r = option_set(&a, c);
	if (r == 0)
		r = operands_set(&a, argv + optind, (size_t)(argc - optind));
	if (r == 0)
		*ret = a;
	return r;
}
