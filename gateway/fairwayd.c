/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fairwayd: the gateway's process; see fairwayd(8). */
#include <stdio.h>
#include <stdlib.h>

#include "gateway/base/fs.h"
#include "gateway/base/log.h"
#include "gateway/daemon/daemon.h"
#include "gateway/daemon/options.h"

enum { EXIT_USAGE = 2 };

static int run(const struct options *options)
{
	switch (options->mode) {
	case MODE_CHECK:
		return offline_check(options);
	case MODE_DRY_RUN:
		return offline_dry_run(options);
	case MODE_TEARDOWN:
		return offline_teardown(options);
	case MODE_HELP:
		options_help();
		return EXIT_SUCCESS;
	case MODE_VERSION:
		puts("fairwayd " FAIRWAY_VERSION);
		return EXIT_SUCCESS;
	case MODE_RUN:
		break;
	}
	return daemon_run(options);
}

int main(int argc, char *argv[])
{
	struct options options;
	int status;

	if (options_parse(argc, argv, &options) < 0)
		return EXIT_USAGE;
	log_open("fairwayd", options.verbose ? LOG_DEBUG : LOG_INFO);
	status = run(&options);
	options_free(&options);
	if (!fs_finish_stdout()) {
		(void)fputs("fairwayd: the output could not be written\n", stderr);
		status = EXIT_FAILURE;
	}
	return status;
}
