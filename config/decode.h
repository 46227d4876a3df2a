/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Node tree -> structs, by the schema table. Pure; config_parse() is what others call. */
#pragma once

#include <stdint.h>

struct arena;
struct config;
struct diag;
struct node;

/*
 * Decodes what can be decoded and reports everything that cannot. The result lives in `arena`; it is whole only if no
 * error was reported, and each entry's `unsure` and `unnamed` say where it is not.
 */
struct config *config_decode(const struct node *root, struct arena *arena, struct arena *scratch, struct diag *diag);
