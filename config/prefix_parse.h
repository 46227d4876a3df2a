/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prefix files: a network or an address a line, of either family; # begins a comment, blank lines and CRLF are fine.
 * Prefixes may overlap and repeat. Pure.
 */
#pragma once

#include <stddef.h>

#include "gateway/base/addr.h"

enum { PREFIX_ERRORS_MAX = 20, PREFIX_WORD_MAX = 64 };

struct prefix_error {
	size_t line, column;	    /* from 1 */
	char word[PREFIX_WORD_MAX]; /* what stands there, cut */
	char want[PREFIX_WORD_MAX]; /* "write 10.0.0.0/8"; "" */
};

struct prefix_list_file {
	struct ip_prefix *v; /* of malloc(); the caller's */
	size_t n;
	struct prefix_error errors[PREFIX_ERRORS_MAX];
	size_t n_errors; /* all of them, also those above PREFIX_ERRORS_MAX */
};

/* 0, or -EINVAL with errors; then v is NULL. */
int prefix_parse(const char *text, size_t len, struct prefix_list_file *ret);
