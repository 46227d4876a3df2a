/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A config as canonical text: rows in schema order, lists by key, defaults left out. parse(print(c)) equals c. Pure. */
#pragma once

#include <jansson.h>

struct buf;
struct config;

/* Canonical YAML. */
void config_print(const struct config *cfg, struct buf *out);
/* The same as JSON; a reference to a new object that the caller owns. */
json_t *config_to_json(const struct config *cfg);
