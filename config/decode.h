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
 * error was reported, and each entry's `unsure` says where it is not. Bit i of *ret_unnamed: in row i of the root, or in
 * a mapping below it, a list has entries that are missing even by name, so that a reference to one must not be called
 * unknown.
 */
struct config *config_decode(
	const struct node *root, struct arena *arena, struct arena *scratch, struct diag *diag, uint64_t *ret_unnamed);
