/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Secret files: what is in them comes out whole and alone, and what is no password is refused by the same rule. */
/* LINK: config/secret.c config/config.c config/decode.c config/diag.c config/hint.c config/schema.c config/text.c config/types.c config/types_bgp.c config/types_net.c config/types_policy.c config/endpoint.c config/types_text.c config/yaml.c */
/* LIBS: libfyaml jansson */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "config/config.h"
#include "config/secret.h"
#include "gateway/base/arena.h"
#include "gateway/base/buf.h"
#include "gateway/base/fs.h"
#include "gateway/base/str.h"

#define X80 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"

struct world {
	char folder[32], path[64];
	struct arena *arena;
	struct diag diag;
	const struct config *cfg;
};

static int open_world(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	const char *text;

	(void)strcpy(w->folder, "/tmp/fw-secret-XXXXXX");
	assert_non_null(mkdtemp(w->folder));
	(void)snprintf(w->path, sizeof(w->path), "%s/a.md5", w->folder);
	w->arena = arena_new();
	diag_init(&w->diag, "f");
	text = arena_printf(w->arena,
		"system: {hostname: a}\nvtep: {address: 10.255.0.1}\nlines:\n"
		"  - {name: a, interface: e, address: 10.0.0.1/30, peer-address: 10.0.0.2, bgp: {peer-as: 1, "
		"password-file: %s}}\nbgp: {as: 2}\n",
		w->path);
	w->cfg = config_parse(text, strlen(text), w->arena, &w->diag);
	assert_non_null(w->cfg);
	*state = w;
	return 0;
}

static int close_world(void **state)
{
	struct world *w = *state;

	(void)unlink(w->path);
	assert_int_equal(rmdir(w->folder), 0);
	diag_free(&w->diag);
	arena_free(w->arena);
	free(w);
	return 0;
}

struct read {
	char path[64], text[128];
	unsigned n;
};

static void note(const char *path, const char *text, void *arg)
{
	struct read *r = arg;

	(void)snprintf(r->path, sizeof(r->path), "%s", path);
	(void)snprintf(r->text, sizeof(r->text), "%s", text);
	r->n++;
}

static void put(struct world *w, const char *text, size_t len, mode_t mode)
{
	(void)unlink(w->path);
	assert_int_equal(fs_write_atomic(w->path, text, len, mode), 0);
	assert_int_equal(chmod(w->path, mode), 0);
	diag_free(&w->diag);
	diag_init(&w->diag, "f");
}

static void test_read(void **state)
{
	static const struct {
		const char *file, *text;
	} cases[] = {{"hunter2\n", "hunter2"}, {"hunter2", "hunter2"}, {"hunter2\r\n", "hunter2"}, {X80 "\n", X80},
		{"!#?\"|\\~", "!#?\"|\\~"}};
	struct world *w = *state;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct read r = {0};

		put(w, cases[i].file, strlen(cases[i].file), 0600);
		assert_int_equal(secret_read_all(w->cfg, note, &r), 0);
		assert_int_equal(r.n, 1);
		assert_string_equal(r.path, w->path);
		assert_string_equal(r.text, cases[i].text);
		secret_check(w->cfg, &w->diag);
		assert_int_equal(w->diag.n, 0);
	}
}

static void test_refused(void **state)
{
	static const struct {
		const char *file;
		size_t len;
		mode_t mode;
		const char *why;
	} cases[] = {
		{"", 0, 0600, "is empty"},
		{"\n", 1, 0600, "is empty"},
		{"two words\n", 10, 0600, "without spaces"},
		{"a\nb\n", 4, 0600, "one line"},
		{"a\n\n", 3, 0600, "one line"},
		{"a\0b", 3, 0600, "one line"},
		{"a\177", 2, 0600, "printable"},
		{"\303\251", 2, 0600, "printable"},
		{X80 "x", 81, 0600, "80 characters"},
		{"a", 1, 0640, "open to group or others (mode 0640)"},
	};
	struct world *w = *state;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct read r = {0};

		put(w, cases[i].file, cases[i].len, cases[i].mode);
		assert_int_equal(secret_read_all(w->cfg, note, &r), -EINVAL);
		assert_int_equal(r.n, 0);
		secret_check(w->cfg, &w->diag);
		assert_int_equal(w->diag.n_errors, 1);
		if (!strstr(w->diag.v[0].text, cases[i].why))
			fail_msg("%s\nis without: %s", w->diag.v[0].text, cases[i].why);
	}
	(void)unlink(w->path);
	assert_int_equal(secret_read_all(w->cfg, note, &(struct read){0}), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_read, open_world, close_world),
		cmocka_unit_test_setup_teardown(test_refused, open_world, close_world),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
