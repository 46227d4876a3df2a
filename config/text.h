/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Is it a text that a YAML scanner can have? UTF-8 with or without a byte order mark, lines that end in LF or CRLF, no
 * control characters, no tab as indentation, no directive, and no shape that makes a scanner slow or large. Pure.
 */
#pragma once

#include <stddef.h>

struct diag;

/* 0, or -EINVAL and diag says where and why. */
int text_check(const char *text, size_t len, struct diag *diag);
