/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For the tests of config/store.c: a store in a folder of the test's own. Everything asserts that it worked. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "config/store.h"

extern char store_dir[128];

int store_setup(void **state);
int store_teardown(void **state);

/* A path in the store's folder, in a static buffer. */
const char *in_store(const char *name);
void put_file(const char *name, const char *text);
bool file_exists(const char *name);
/* Removes a tree. */
void forget(const char *path);

struct store *open_store(unsigned keep);
/* The text is its own comment. */
struct revision meta_of(const char *comment);
int begin_text(struct store *s, const char *text);
uint64_t commit_text(struct store *s, const char *text);
void assert_text(struct store *s, uint64_t number, const char *want);
/* A fresh store with "one" and "two"; two runs. */
void make_two(unsigned keep);

#define STORE_TEST(f) cmocka_unit_test_setup_teardown(f, store_setup, store_teardown)
