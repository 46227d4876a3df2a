/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The value types of the schema: one row each in types.c, with parse, print, compare and what the exports say of them.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct arena;
struct buf;
struct field;
struct limit;

struct type {
	const char *name; /* as in the .def row: "U32" */
	size_t size;
	/*
	 * Text of one scalar -> value at ret (zeroed, `size` bytes). 0 or -EINVAL; then *ret_want says what would be
	 * right
	 * ("a number from 1 to 16777215"), in `arena`.
	 */
	int (*parse)(
		const char *text, const struct limit *limit, struct arena *arena, void *ret, const char **ret_want);
	/* Canonical text, unquoted: parse(print(v)) == v. */
	void (*print)(const void *value, const struct limit *limit, struct buf *out);
	int (*compare)(const void *a, const void *b);
	bool (*is_absent)(const void *value); /* the value that "not given, no default" leaves behind */
	const char *yaml_hint;		      /* "number", "ADDRESS/LEN": for help and the reference */
	const char *yang_type;		      /* statement body for the YANG module, or NULL: made from the limit */
	const char *json_type;		      /* "string", "integer", "boolean" */
	bool mapping;			      /* a mapping is fine too: parse() gets it as "{key: value, key: value}" */
	bool text;	     /* words of the operator's choice: one may look like a number, and is none */
	const char *pattern; /* regular expression for JSON Schema and YANG, or NULL */
};

/* One row of types.c, types_text.c, types_net.c, types_bgp.c or types_policy.c per TYPE word of the .def files. */
/* clang-format off */
#define TYPE_ROWS(X) \
	X(NAME) X(TEXT) X(IFNAME) X(PATH) X(BOOL) X(ENUM) \
	X(U32) X(AUTO_U32) X(TOS) X(DURATION) X(RATE) X(SIZE) X(PERCENT) \
	X(ADDR) X(PREFIX) X(IFADDR) X(MAC) X(MSS) X(COMMUNITY) X(ROUTE_TARGET) \
	X(ENDPOINT) X(PORT) X(SERVICE) X(EVENT_RATE) X(CLOCK)
/* clang-format on */
#define X(name) extern const struct type type_##name;
TYPE_ROWS(X)
#undef X
