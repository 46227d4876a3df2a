/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The commands that ask fairwayd: a method, its parameters, and the exit status that its answer means. */
#include "gateway/cli/command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/config.h"
#include "gateway/base/buf.h"
#include "gateway/base/cleanup.h"
#include "gateway/base/fs.h"
#include "gateway/base/str.h"
#include "gateway/cli/args.h"
#include "gateway/cli/output.h"
#include "gateway/rpc/rpc_client.h"
#include "gateway/rpc/rpc_frame.h"

/* --- input and output --- */

int read_file(const char *name, char **ret, size_t *ret_len)
{
	int r = fs_read(str_eq(name, "-") ? "/dev/stdin" : name, CONFIG_FILE_MAX, ret, ret_len);

	if (r < 0)
		(void)fprintf(stderr, "%s: error: %s\n", name, strerror(-r));
	return r;
}

void emit(const struct output *output, const void *data)
{
	struct buf out = {0};

	output->print(data, &out);
	(void)fwrite(buf_str(&out), 1, out.len, stdout);
	buf_free(&out);
}

static void warn(const json_t *object, const char *member)
{
	const char *text = json_string_value(json_object_get(object, member));

	if (text)
		(void)fputs(text, stderr);
}

/* --- calls --- */

/* Seconds without an answer, for what only looks and for a large apply. */
enum { PATIENCE = 15, PATIENCE_APPLY = 600 };

static const struct {
	const char *code;
	enum exit_status status;
} statuses[] = {
	{"invalid", EXIT_REFUSED},
	{"refused", EXIT_REFUSED},
	{"rolled-back", EXIT_ROLLED_BACK},
	{"broken", EXIT_BROKEN},
	{"permission", EXIT_NO_DAEMON},
};

static enum exit_status status_of(const char *code)
{
	for (size_t i = 0; i < ARRAY_SIZE(statuses); i++)
		if (str_eq(statuses[i].code, code))
			return statuses[i].status;
	return EXIT_REFUSED;
}

static enum exit_status no_daemon(const struct args *args, const char *path, unsigned patience, int error)
{
	if (error == -ENOENT || error == -ECONNREFUSED)
		(void)fprintf(stderr, "fairway: no fairwayd listens at %s (instance %s)\n", path, args->instance);
	else if (error == -ETIMEDOUT)
		(void)fprintf(stderr,
			"fairway: fairwayd at %s has not answered for %u seconds: it is busy, or it hangs\n", path,
			patience);
	else
		(void)fprintf(stderr, "fairway: fairwayd at %s does not answer: %s\n", path, strerror(-error));
	return EXIT_NO_DAEMON;
}

static enum exit_status failed(const struct rpc_answer *answer, const struct output *output)
{
	const char *end = strrchr(answer->message, '\n');

	if (output->prints_errors)
		emit(output, answer->error);
	else
		warn(answer->error, "text");
	(void)fprintf(stderr, "fairway: %s: %s%s", answer->code, answer->message, end && !end[1] ? "" : "\n");
	return status_of(answer->code);
}

enum exit_status ask(const struct args *args, const struct output *output, const char *method, void *params, void *ret)
{
	unsigned patience = str_eq(method, "apply") ? PATIENCE_APPLY : PATIENCE;
	struct rpc_answer answer;
	struct buf path = {0};
	enum exit_status status = EXIT_OK;
	int r;

	if (args->run_dir)
		buf_printf(&path, "%s/fairwayd.sock", args->run_dir);
	else
		buf_printf(&path, "/run/fairway/%s/fairwayd.sock", args->instance);
	r = rpc_client_call(path.data, method, params, patience, &answer);
	if (r < 0) {
		status = no_daemon(args, path.data, patience, r);
	} else if (!answer.result) {
		status = failed(&answer, output);
	} else {
		*(json_t **)ret = json_incref(answer.result);
	}
	if (r >= 0)
		rpc_answer_free(&answer);
	buf_free(&path);
	return status;
}

/* Calls, prints, and says what to exit with. */
static enum exit_status call(const struct args *args, const struct output *output, const char *method, json_t *params)
{
	json_t *result = NULL;
	enum exit_status status = ask(args, output, method, params, &result);

	if (status == EXIT_OK) {
		warn(result, "messages");
		emit(output, result);
	}
	json_decref(result);
	return status;
}

/* What the daemon logs and stores as the origin: a path that still means something tomorrow. */
static json_t *source_of(const char *name)
{
	_cleanup_free_ char *path = realpath(name, NULL);
	const char *source = path && !str_eq(name, "-") ? path : name;

	return rpc_string(source, strlen(source));
}

/* Calls with the text of a file. What is no text at all cannot be sent; the check says what is wrong with it. */
static enum exit_status call_with_file(const struct args *args, const struct output *output, const char *method)
{
	_cleanup_free_ char *text = NULL;
	json_t *json;
	size_t len;

	if (read_file(args->operands[0], &text, &len) < 0)
		return EXIT_REFUSED;
	json = json_stringn(text, len);
	if (!json)
		return check_text(args->operands[0], text, len, output);
	return call(args, output, method,
		json_pack("{s:o, s:o, s:s*}", "text", json, "source", source_of(args->operands[0]), "comment",
			args->comment));
}

/* --- commands --- */

static enum exit_status command_apply(const struct args *args, const struct output *output)
{
	return call_with_file(args, output, "apply");
}

static enum exit_status command_diff(const struct args *args, const struct output *output)
{
	return call_with_file(args, output, "diff");
}

static enum exit_status command_plan(const struct args *args, const struct output *output)
{
	return args->n_operands > 0 ? call_with_file(args, output, "plan") : call(args, output, "plan", NULL);
}

/* policy test from A to B service S */
static enum exit_status command_policy(const struct args *args, const struct output *output)
{
	static const char *const words[] = {"test", "from", NULL, "to", NULL, "service", NULL};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (words[i] && !str_eq(words[i], args->operands[i])) {
			(void)fprintf(stderr, "fairway: '%s' stands where '%s' has to; see fairway policy --help\n",
				args->operands[i], words[i]);
			return EXIT_USAGE;
		}
	return call(args, output, "policy-test",
		json_pack("{s:s, s:s, s:s}", "from", args->operands[2], "to", args->operands[4], "service",
			args->operands[6]));
}

static enum exit_status command_show(const struct args *args, const struct output *output)
{
	const char *what = args->operands[0], *which = args->n_operands > 1 ? args->operands[1] : NULL;

	if (is_record_topic(what))
		return command_record(args, output);
	for (size_t i = 0; i < n_show_topics; i++)
		if (str_eq(show_topics[i].what, what) && (!which || show_topics[i].takes_name))
			return call(args, output, "show",
				json_pack("{s:s++}", "what", what, which ? " " : "", which ? which : ""));
	(void)fprintf(stderr, "fairway: there is no '%s%s%s' to show; see fairway show --help\n", what,
		which ? " " : "", which ? which : "");
	return EXIT_USAGE;
}

static enum exit_status command_status(const struct args *args, const struct output *output)
{
	return call(args, output, "status", NULL);
}

static enum exit_status command_version(const struct args *args, const struct output *output)
{
	json_t *data = json_pack("{s:s, s:s}", "version", FAIRWAY_VERSION, "text", "fairway " FAIRWAY_VERSION "\n");

	(void)args;
	emit(output, data);
	json_decref(data);
	return EXIT_OK;
}

const struct command commands[] = {
	{"apply", "FILE", 1, 1, "make the gateway what FILE says",
		"Checks FILE, does the steps that it takes, looks again, and stores a revision when nothing is left to "
		"do.\n"
		"When a step fails, the previous configuration is back before the command ends.\n"
		"  -m, --comment TEXT  why, for the list of revisions\n",
		command_apply},
	{"check", "FILE", 1, 1, "say what is wrong with FILE; needs no daemon and no root",
		"Prints every mistake with its line and column on standard error. Nothing is touched.\n",
		command_check},
	{"diff", "FILE", 1, 1, "what differs between FILE and what runs",
		"One line per difference, with what it costs to change: live, restart or recreate.\n", command_diff},
	{"plan", "[FILE]", 0, 1, "the steps that apply FILE would take",
		"Each step with its impact on traffic, and the live flows that the policy would cut. Without FILE: "
		"what the running configuration still lacks.\n",
		command_plan},
	{"policy", "test from A to B service S", 7, 7, "which rule of the policy decides",
		"A and B are addresses, names as in rules (segment:gpu), both (gpu@10.99.1.5), or gateway; S is a port "
		"(tcp/443) or a service. Nothing is sent.\n",
		command_policy},
	{"show", "WHAT [NAME]", 1, 2, "look at the gateway",
		"With NAME, or the address of a peer: one BGP session and its prefixes. WHAT is one of:\n",
		command_show},
	{"status", "", 0, 0, "the same as show status", "Is the gateway what its configuration says?\n",
		command_status},
	{"version", "", 0, 0, "the version of this command", "", command_version},
};
const size_t n_commands = ARRAY_SIZE(commands);

const struct show_topic show_topics[] = {
	{"status", "is the gateway what its configuration says, and what was repaired", false},
	{"config", "the running configuration, in canonical form", false},
	{"plan", "what is left to do; empty on a converged gateway", false},
	{"overlay", "bridges, VXLAN devices and their far ends", false},
	{"mtu", "MTU and MSS of each segment, with the arithmetic", false},
	{"segments", "the segments and their state", false},
	{"lines", "the lines, their health and path MTU", false},
	{"bgp", "BGP sessions; with a name: its prefixes, and why one is not used", true},
	{"routes", "what BGP learned, what the kernel has, and what it forwards by", false},
	{"bfd", "BFD sessions, their timers, and why one is down", false},
	{"evpn", "VNIs, and where MACs are", false},
	{"filter", "the guard of the VXLAN port, the MSS clamp and packets too big, with counters", false},
	{"policy", "the rules, how many flows each decided, and which never decide", false},
	{"flows", "who talked to whom; with --live: who does now", false},
	{"denies", "packets that the policy denied", false},
	{"top", "sums by tenant (or NAME: segment, line, interface, from, to, port, proto, rule)", true},
	{"audit", "what the record of flows has, and what it lacks", false},
	{"revisions", "what ran, who made it so, when and why", false},
};
const size_t n_show_topics = ARRAY_SIZE(show_topics);
