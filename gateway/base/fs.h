/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files: read whole with a bound, replace atomically (write, fsync, rename, fsync of the folder), make folders. Edge.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Reads a whole file or pipe into *ret (NUL-terminated; caller frees) and its size into *ret_len.
 * -EFBIG above max bytes; other -errno as open(2) and read(2) give them.
 */
int fs_read(const char *path, size_t max, char **ret, size_t *ret_len);

/* The same of a regular file alone, and so never waits for a writer: -EINVAL for a pipe, a device or a folder. */
int fs_read_regular(const char *path, size_t max, char **ret, size_t *ret_len);

/* What an error of fs_read_regular() means, in words. */
const char *fs_read_error(int error);

/* Replaces path by data with the given mode; readers see the old or the new file, whole, also after a power cut. */
int fs_write_atomic(const char *path, const void *data, size_t len, mode_t mode);

/* mkdir -p with the given mode for what is made; an existing folder is fine. */
int fs_mkdir_p(const char *path, mode_t mode);

/* Ends a program's output: false if not all that was printed to standard output got there. */
bool fs_finish_stdout(void);
