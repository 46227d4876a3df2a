/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files of the record: DIR/audit-NNNNNNNNNN.json, a line of JSON for each record; the highest number is being
 * written. So their order is their names', and a file that is being read never changes its name. Edge.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { AUDIT_FILE_NAME_MAX = 32 };

void audit_file_name(uint64_t number, char ret[AUDIT_FILE_NAME_MAX]);

/* The numbers of the files in a folder, ascending; the caller frees. 0 or -errno. */
int audit_files_list(int dir_fd, uint64_t **ret, size_t *ret_n);
