/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A config as canonical text: rows in schema order, lists by key, defaults left out. parse(print(c)) equals c. Pure. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct buf;
struct config;
struct field;
struct object_type;
struct type;

/* Canonical YAML. */
void config_print(const struct config *cfg, struct buf *out);
/* The same as JSON; a reference to a new object that the caller owns. */
json_t *config_to_json(const struct config *cfg);

/* --- parts of it, for who shows a part --- */

/* Does row i of obj say something that leaving it out would not say? */
bool print_is_said(const void *obj, const struct object_type *type, size_t i);
/* A leaf's or list's value as it would stand in the YAML, quoted where that is needed. */
void print_value(const void *obj, const struct field *field, struct buf *out);
/* A whole object on one line: "{name: gpu, vni: 10010}". */
void print_flow(const void *obj, const struct object_type *type, struct buf *out);
/* A value's text as JSON: a number, true or false where the type has such, else a string. New reference. */
json_t *print_json_text(const struct type *type, const char *text);
