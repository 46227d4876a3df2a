/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The folder of revisions: names <-> numbers, and which numbers are there. Edge, reads only. */
#pragma once

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { REVISION_DIGITS_MIN = 6, REVISION_DIGITS_MAX = 12, REVISION_NAME_SIZE = REVISION_DIGITS_MAX + sizeof(".yaml") };

/* 42, ".yaml" -> "000042.yaml" */
void revision_name(uint64_t number, const char *suffix, char name[static REVISION_NAME_SIZE]);
/* The way back; false for a name that revision_name() does not write. */
bool revision_name_parse(const char *name, const char *suffix, uint64_t *ret);

enum { PART_TEXT = 1, PART_META = 2, PART_BOTH = PART_TEXT | PART_META };

struct found {
	uint64_t number;
	unsigned parts;
};

/* Every number that has a file in the folder `fd`, newest first; the caller frees *ret. */
int store_scan(int fd, struct found **ret, size_t *ret_n);

/* The entries of an open folder; NULL with errno. */
DIR *store_opendir(int fd);
void store_closedirp(DIR **dir);
