/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See options.h. */
#include "gateway/daemon/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gateway/base/buf.h"

enum { INSTANCE_MAX = 32 };
enum { OPT_RUN_DIR = 256, OPT_STATE_DIR, OPT_CHECK, OPT_DRY_RUN, OPT_TEARDOWN, OPT_VERSION };

static const struct option long_options[] = {
	{"config", required_argument, NULL, 'c'},
	{"instance", required_argument, NULL, 'i'},
	{"run-dir", required_argument, NULL, OPT_RUN_DIR},
	{"state-dir", required_argument, NULL, OPT_STATE_DIR},
	{"check", no_argument, NULL, OPT_CHECK},
	{"dry-run", no_argument, NULL, OPT_DRY_RUN},
	{"teardown", no_argument, NULL, OPT_TEARDOWN},
	{"verbose", no_argument, NULL, 'v'},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, OPT_VERSION},
	{NULL, 0, NULL, 0},
};

void options_help(void)
{
	fputs("usage: fairwayd [OPTION]...\n"
	      "Makes this machine the gateway that a file describes, and keeps it so. Runs in the foreground.\n\n"
	      "  -c, --config FILE    what is wanted (/etc/fairway/fairway.yaml)\n"
	      "  -i, --instance NAME  which gateway this is, where there are several (main)\n"
	      "      --run-dir DIR    socket and lock (/run/fairway/NAME)\n"
	      "      --state-dir DIR  revisions (/var/lib/fairway/NAME)\n"
	      "      --check          say what is wrong with the file, and exit; touches nothing\n"
	      "      --dry-run        print the plan against this machine, and exit; touches nothing\n"
	      "      --teardown       take everything of Fairway's out of the kernel, and exit\n"
	      "  -v, --verbose        log more\n"
	      "  -h, --help           this text\n"
	      "      --version        the version\n\n"
	      "See fairwayd(8), fairway(1) and fairway.yaml(5).\n",
		stdout);
}

bool instance_is_valid(const char *name)
{
	size_t len = strlen(name);

	return len > 0 && len <= INSTANCE_MAX && name[0] != '-' &&
		strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == len;
}

static char *join(const char *dir, const char *name)
{
	struct buf path = {0};

	buf_printf(&path, "%s/%s", dir, name);
	return buf_steal(&path);
}

static void replace(char **at, const char *value)
{
	free(*at);
	*at = strdup(value);
	if (!*at)
		abort();
}

static int option_set(struct options *o, int c)
{
	switch (c) {
	case 'c':
		o->config = optarg;
		return 0;
	case 'i':
		o->instance = optarg;
		return 0;
	case OPT_RUN_DIR:
		replace(&o->run_dir, optarg);
		return 0;
	case OPT_STATE_DIR:
		replace(&o->state_dir, optarg);
		return 0;
	case OPT_CHECK:
		o->mode = MODE_CHECK;
		return 0;
	case OPT_DRY_RUN:
		o->mode = MODE_DRY_RUN;
		return 0;
	case OPT_TEARDOWN:
		o->mode = MODE_TEARDOWN;
		return 0;
	case 'v':
		o->verbose = true;
		return 0;
	case 'h':
		o->mode = MODE_HELP;
		return 0;
	case OPT_VERSION:
		o->mode = MODE_VERSION;
		return 0;
	default:
		return -EINVAL;
	}
}

int options_parse(int argc, char *argv[], struct options *ret)
{
	struct options o = {.config = "/etc/fairway/fairway.yaml", .instance = "main"};
	int c, r = 0;

	while (r == 0 && (c = getopt_long(argc, argv, "c:i:vh", long_options, NULL)) != -1)
		r = option_set(&o, c);
	if (r == 0 && optind < argc) {
		(void)fprintf(stderr, "fairwayd: unexpected argument '%s'\n", argv[optind]);
		r = -EINVAL;
	}
	if (r == 0 && !instance_is_valid(o.instance)) {
		(void)fprintf(stderr, "fairwayd: '%s' cannot name an instance: at most %d of a-z, 0-9 and -\n",
			o.instance, INSTANCE_MAX);
		r = -EINVAL;
	}
	if (r < 0) {
		options_free(&o);
		return r;
	}
	if (!o.run_dir)
		o.run_dir = join("/run/fairway", o.instance);
	if (!o.state_dir)
		o.state_dir = join("/var/lib/fairway", o.instance);
	*ret = o;
	return 0;
}

void options_free(struct options *o)
{
	free(o->run_dir);
	free(o->state_dir);
}
