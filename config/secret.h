/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Secret files: a secret is named by a path, never written in the config. The file must exist, be a regular file, not
 * empty, at most 4096 bytes, absolute path, and not readable by group or others. Edge: looks at files, never logs what
 * is in them.
 */
#pragma once

struct config;
struct diag;

void secret_check(const struct config *cfg, struct diag *diag);
