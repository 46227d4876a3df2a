/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fairway: asks fairwayd; see fairway(1). */
#include <stdio.h>

#include "gateway/audit/record_query.h"
#include "gateway/base/fs.h"
#include "gateway/base/str.h"
#include "gateway/cli/args.h"
#include "gateway/cli/command.h"
#include "gateway/cli/output.h"

static const char options_help[] = "Options:\n"
				   "  -i, --instance NAME  which gateway, where there are several (main)\n"
				   "      --run-dir DIR    where its socket is (/run/fairway/NAME)\n"
				   "  -j, --json           for programs\n"
				   "  -h, --help           this text, or the command's\n"
				   "      --version        the version\n";

static void print_help(void)
{
	puts("usage: fairway [OPTION]... COMMAND [ARGUMENT]...\n\nCommands:");
	for (size_t i = 0; i < n_commands; i++)
		printf("  %-8s %-7s %s\n", commands[i].name, commands[i].operands, commands[i].summary);
	printf("\n%s\nExit status: 0 done, 1 refused, 2 usage, 3 rolled back, 4 broken, 5 no daemon. See fairway(1).\n",
		options_help);
}

static void print_filters(void)
{
	puts("\nOf flows, denies and top:\n"
	     "  --live             the flows that are alive now, from the kernel; needs root\n"
	     "  --directory DIR    a record elsewhere, without fairwayd");
	for (size_t i = 0; i < n_record_filters; i++)
		printf("  --%-7s %-8s %s\n", record_filters[i].name, record_filters[i].value, record_filters[i].help);
}

static void print_command_help(const struct command *c)
{
	printf("usage: fairway [OPTION]... %s %s\n%s.\n\n%s", c->name, c->operands, c->summary, c->help);
	if (str_eq(c->name, "show"))
		for (size_t i = 0; i < n_show_topics; i++)
			printf("  %-10s %s\n", show_topics[i].what, show_topics[i].help);
	if (str_eq(c->name, "show"))
		print_filters();
	printf("\n%s", options_help);
}

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; i < n_commands; i++)
		if (str_eq(commands[i].name, name))
			return &commands[i];
	return NULL;
}

static enum exit_status usage(const char *problem, const char *what)
{
	(void)fprintf(stderr, "fairway: %s%s; see fairway --help\n", problem, what);
	return EXIT_USAGE;
}

static enum exit_status run(const struct args *args)
{
	const struct command *c = find_command(args->version ? "version" : args->command);

	if (args->help && !args->command) {
		print_help();
		return EXIT_OK;
	}
	if (!c)
		return args->command ? usage("there is no command ", args->command) : usage("no command is given", "");
	if (args->help) {
		print_command_help(c);
		return EXIT_OK;
	}
	if (!args->version && (args->n_operands < c->min_operands || args->n_operands > c->max_operands))
		return usage("wrong number of arguments of ", c->name);
	if ((args->n_filters > 0 || args->live || args->directory) &&
		!(str_eq(c->name, "show") && is_record_topic(args->operands[0])))
		return usage("these options are for show flows, denies and top", "");
	if (args->comment && !str_eq(c->name, "apply"))
		return usage("--comment is for apply", "");
	return c->run(args, args->json ? &output_json : &output_text);
}

int main(int argc, char *argv[])
{
	enum exit_status status;
	struct args args;

	if (args_parse(argc, argv, &args) < 0)
		return EXIT_USAGE;
	status = run(&args);
	if (!fs_finish_stdout()) {
		(void)fputs("fairway: the output could not be written\n", stderr);
		status = status == EXIT_OK ? EXIT_REFUSED : status;
	}
	return (int)status;
}
