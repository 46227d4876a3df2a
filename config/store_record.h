/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The record that stands beside a stored text. What is written was checked, and what is read is checked again: a file
 * on disk is foreign bytes. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/store.h"

#define RECORD_NUMBER_MAX UINT64_C(999999999999)

struct record {
	struct revision meta;
	uint64_t bytes, hash; /* of the text */
};

/* Are the time and the texts of meta fit to be stored? */
bool record_meta_ok(const struct revision *meta);

/* JSON; the caller frees it. */
char *record_print(const struct record *record);
/* False if it is not what record_print() writes; members that it does not know are let pass. */
bool record_parse(const char *text, size_t len, struct record *ret);
