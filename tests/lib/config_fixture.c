/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Configs for tests; see config_fixture.h. */
#include "tests/lib/config_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "config/config.h"
#include "config/print.h"
#include "gateway/base/arena.h"
#include "gateway/base/buf.h"

struct arena *test_arena;

int config_setup(void **state)
{
	(void)state;
	test_arena = arena_new();
	return 0;
}

int config_teardown(void **state)
{
	(void)state;
	arena_free(test_arena);
	test_arena = NULL;
	return 0;
}

const struct config *must_parse(const char *text)
{
	const struct config *cfg;
	struct buf messages = {0};
	struct diag diag;

	diag_init(&diag, "test");
	cfg = config_parse(text, strlen(text), test_arena, &diag);
	if (!cfg) {
		diag_print(&diag, &messages);
		print_error("%s", buf_str(&messages));
		print_error("%s\n", text);
		buf_free(&messages);
	}
	diag_free(&diag);
	assert_non_null(cfg);
	return cfg;
}

const char *printed(const struct config *cfg)
{
	struct buf b = {0};
	const char *text;

	config_print(cfg, &b);
	text = arena_strdup(test_arena, buf_str(&b));
	buf_free(&b);
	return text;
}
