/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command line of fairway and of fairwayd, and data as people and programs get it. */
/* LINK: gateway/audit/ct_event.c gateway/audit/flow.c gateway/audit/flow_json.c gateway/audit/record_query.c gateway/cli/args.c gateway/cli/output.c gateway/daemon/options.c */
/* LIBS: jansson */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "gateway/base/buf.h"
#include "gateway/cli/args.h"
#include "gateway/cli/output.h"
#include "gateway/daemon/options.h"

#define ARGV(...)                                                                                                      \
	(char *[])                                                                                                     \
	{                                                                                                              \
		"program", __VA_ARGS__, NULL                                                                           \
	}

static int count(char *argv[])
{
	int n = 0;

	while (argv[n])
		n++;
	return n;
}

static int args(char *argv[], struct args *ret)
{
	return args_parse(count(argv), argv, ret);
}

static int options(char *argv[], struct options *ret)
{
	optind = 0;
	return options_parse(count(argv), argv, ret);
}

static void test_args(void **state)
{
	struct args a;

	(void)state;
	assert_int_equal(args(ARGV("--json", "show", "status"), &a), 0);
	assert_true(a.json);
	assert_string_equal(a.command, "show");
	assert_string_equal(a.operands[0], "status");
	assert_string_equal(a.instance, "main");
	assert_int_equal(args(ARGV("apply", "-", "--comment", "ticket 1", "--instance=b", "--run-dir", "/r"), &a), 0);
	assert_false(a.json);
	assert_int_equal(a.n_operands, 1);
	assert_string_equal(a.operands[0], "-");
	assert_string_equal(a.comment, "ticket 1");
	assert_string_equal(a.instance, "b");
	assert_string_equal(a.run_dir, "/r");
	assert_int_equal(args(ARGV("check", "--", "--help"), &a), 0);
	assert_false(a.help);
	assert_string_equal(a.operands[0], "--help");
	assert_int_equal(args(ARGV("show", "-h"), &a), 0);
	assert_true(a.help);
	assert_int_equal(args(ARGV("--nonsense"), &a), -EINVAL);
	assert_int_equal(args(ARGV("--comment"), &a), -EINVAL);
	assert_int_equal(args(ARGV("show", "1", "2", "3", "4", "5", "6", "7", "8", "9"), &a), -EINVAL);
}

static void test_options(void **state)
{
	struct options o;

	(void)state;
	assert_int_equal(options(ARGV("--instance", "bj-gw1", "--config=/f"), &o), 0);
	assert_int_equal(o.mode, MODE_RUN);
	assert_string_equal(o.config, "/f");
	assert_string_equal(o.run_dir, "/run/fairway/bj-gw1");
	assert_string_equal(o.state_dir, "/var/lib/fairway/bj-gw1");
	options_free(&o);
	assert_int_equal(options(ARGV("--run-dir", "/r", "--state-dir", "/s", "--dry-run", "-v"), &o), 0);
	assert_int_equal(o.mode, MODE_DRY_RUN);
	assert_true(o.verbose);
	assert_string_equal(o.config, "/etc/fairway/fairway.yaml");
	assert_string_equal(o.run_dir, "/r");
	assert_string_equal(o.state_dir, "/s");
	options_free(&o);
	assert_int_equal(options(ARGV("extra"), &o), -EINVAL);
	assert_int_equal(options(ARGV("--instance", "../etc"), &o), -EINVAL);
}

static void test_instance_names(void **state)
{
	(void)state;
	assert_true(instance_is_valid("main"));
	assert_true(instance_is_valid("a1-b"));
	assert_true(instance_is_valid("0123456789abcdef0123456789abcdef"));
	assert_false(instance_is_valid("0123456789abcdef0123456789abcdef0"));
	assert_false(instance_is_valid(""));
	assert_false(instance_is_valid("-a"));
	assert_false(instance_is_valid("."));
	assert_false(instance_is_valid("a/b"));
	assert_false(instance_is_valid("A"));
}

static void assert_output(const struct output *output, const char *json, const char *want)
{
	json_t *data = json_loads(json, JSON_DECODE_ANY, NULL);
	struct buf out = {0};

	assert_non_null(data);
	output->print(data, &out);
	assert_string_equal(buf_str(&out), want);
	buf_free(&out);
	json_decref(data);
}

static void test_output_text(void **state)
{
	(void)state;
	assert_output(&output_text, "{\"text\": \"as it is\\n\", \"n\": 1}", "as it is\n");
	assert_output(&output_text, "{\"a\": 1, \"long\": true, \"none\": null, \"list\": [1, \"x\"], \"empty\": []}",
		"a      1\nlong   yes\nnone   -\nlist   1,x\nempty  -\n");
	assert_output(&output_text, "{\"trouble\": [\"one thing\", \"another\"], \"x\": \"\"}",
		"trouble  one thing\n         another\nx        -\n");
	assert_output(&output_text,
		"{\"lines\": [{\"name\": \"a\", \"path_mtu\": 1400}, {\"name\": \"\\u00fcber\", \"up\": false}]}",
		"NAME  PATH-MTU  UP\na     1400      -\n\u00fcber  -         no\n");
	assert_output(&output_text, "{\"n\": 1, \"v\": [{\"k\": {\"a\": 1, \"b\": 2}}]}", "n  1\n\nv:\nK\na=1 b=2\n");
}

static void test_output_of_what_is_too_wide_for_a_table(void **state)
{
	struct buf json = {0}, want = {0};

	(void)state;
	buf_printf(
		&json, "{\"v\": [{\"name\": \"gpu\", \"long\": \"%0140d\", \"paths\": [{\"a\": 1}, {\"a\": 2}]}]}", 0);
	buf_printf(&want, "gpu\n  long   %0140d\n  paths  a=1\n         a=2\n", 0);
	assert_output(&output_text, buf_str(&json), buf_str(&want));
	buf_free(&json);
	buf_free(&want);
}

static void test_output_json(void **state)
{
	(void)state;
	assert_output(&output_json, "{\"text\": \"for people\", \"messages\": \"too\", \"converged\": true}",
		"{\n  \"converged\": true\n}\n");
}

/* The parsers tell on standard error what they reject; that is not what these tests look at. */
static int stderr_saved = -1;

static int silence(void **state)
{
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

	(void)state;
	stderr_saved = dup(STDERR_FILENO);
	if (fd < 0 || stderr_saved < 0 || dup2(fd, STDERR_FILENO) < 0)
		return -1;
	return close(fd);
}

static int speak(void **state)
{
	(void)state;
	return dup2(stderr_saved, STDERR_FILENO) < 0 ? -1 : close(stderr_saved);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_args, silence, speak),
		cmocka_unit_test_setup_teardown(test_options, silence, speak),
		cmocka_unit_test(test_instance_names),
		cmocka_unit_test(test_output_text),
		cmocka_unit_test(test_output_of_what_is_too_wide_for_a_table),
		cmocka_unit_test(test_output_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
