/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Secret files: a secret is named by a path, never written in the config. The file must exist, be a regular file, at
 * most 4096 bytes, absolute path, and not readable by group or others. In it is one password of TCP MD5, RFC 2385: one
 * line of 1 to 80 printable characters (TCP_MD5SIG_MAXKEYLEN) without spaces, which FRR does not take. Edge: reads
 * files, never logs what is in them.
 */
#pragma once

struct config;
struct diag;

void secret_check(const struct config *cfg, struct diag *diag);

/*
 * Calls each with the text in every secret file that the config names, without the newline at its end; the text is
 * wiped when each returns. 0, or the first -errno: -EINVAL for a file that secret_check() would refuse. What came
 * before it has been given.
 */
int secret_read_all(const struct config *cfg, void (*each)(const char *path, const char *text, void *arg), void *arg);
