/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For tests that begin with a config: text in, config out, or the test fails with the diagnostics. */
#pragma once

struct arena;
struct config;

extern struct arena *test_arena; /* of the running test */

int config_setup(void **state);
int config_teardown(void **state);

const struct config *must_parse(const char *text);
/* The canonical YAML, in test_arena. */
const char *printed(const struct config *cfg);

#define CONFIG_TEST(f) cmocka_unit_test_setup_teardown(f, config_setup, config_teardown)
