/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * struct config: what the operator wants, decoded and checked; immutable, one arena. The structs are made from
 * schema/schema.def, so the member of a keyword is found by reading its row there.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/diag.h"
#include "gateway/base/addr.h"

struct arena;
struct object_type;

/* --- values --- */

typedef uint64_t usec_t;    /* microseconds */
typedef uint64_t bitrate_t; /* bits per second */
typedef uint64_t bytesize_t;

/* 0 means auto. */
typedef uint32_t auto_u32_t;

/* The clamp per family, in bytes. */
enum mss_kind { MSS_AUTO, MSS_FIXED, MSS_OFF };
struct mss {
	enum mss_kind kind;
	uint32_t ipv4, ipv6; /* with MSS_FIXED; 0: that family is auto */
};

enum { TOS_INHERIT = 256 };

struct event_rate {
	uint32_t events; /* 0: none given */
	uint32_t seconds;
};

#define ENUM(name, help) enum name {
#define VALUE(name, constant, word, help) constant,
#define ENUM_END(name)                                                                                                 \
	}                                                                                                              \
	;
#include "config/schema/enums.def"
#undef ENUM
#undef VALUE
#undef ENUM_END

/* --- objects --- */

/* First member of every object: where it stands, and which rows the file gave. */
struct entry {
	struct loc loc;	  /* the mapping itself */
	uint64_t set;	  /* bit i: row i of the object type was given */
	uint64_t unsure;  /* bit i: row i has an error, its value is not here or not all of it; see config/draft.h */
	uint64_t unnamed; /* bit i: row i is a list with entries that lack even their name; see config/draft.h */
	const struct loc *at; /* place of each row's value; of the entry where the row was not given */
};

#define CTYPE_NAME const char *
#define CTYPE_TEXT const char *
#define CTYPE_IFNAME const char *
#define CTYPE_PATH const char *
#define CTYPE_BOOL bool
#define CTYPE_U32 uint32_t
#define CTYPE_AUTO_U32 auto_u32_t
#define CTYPE_PERCENT uint32_t /* thousandths of a percent */
#define CTYPE_ENUM int
#define CTYPE_DURATION usec_t
#define CTYPE_RATE bitrate_t
#define CTYPE_SIZE bytesize_t
#define CTYPE_ADDR struct ip_addr
#define CTYPE_PREFIX struct ip_prefix
#define CTYPE_IFADDR struct ip_prefix
#define CTYPE_MAC struct mac_addr
#define CTYPE_MSS struct mss
#define CTYPE_TOS uint32_t
#define CTYPE_COMMUNITY const char *	/* as FRR writes it: "65001:100", "64500:1:2", "no-export" */
#define CTYPE_ROUTE_TARGET const char * /* "65000:10010" */
#define CTYPE_ENDPOINT const char *	/* config/endpoint.h takes these three apart */
#define CTYPE_PORT const char *
#define CTYPE_SERVICE const char *
#define CTYPE_EVENT_RATE struct event_rate
#define CTYPE_CLOCK uint32_t /* minutes since midnight, to 1440 */

/*
 * Text members are NULL when absent without a default; addresses then are AF_UNSPEC, numbers 0.
 * A LIST keeps the file's order; `at` has the place of each item. A NODES list is sorted by key. An absent NODE is
 * NULL.
 */
#define OBJECT(object, help)                                                                                           \
	struct object {                                                                                                \
		struct entry entry;
#define LEAF(object, member, key, type, limit, flags, change, def, help) CTYPE_##type member;
#define LIST(object, member, key, type, limit, flags, change, help)                                                    \
	struct {                                                                                                       \
		CTYPE_##type *v;                                                                                       \
		size_t n;                                                                                              \
		const struct loc *at;                                                                                  \
	} member;
#define NODE(object, member, key, child, flags, change, help) struct child *member;
#define NODES(object, member, key, child, flags, change, help)                                                         \
	struct {                                                                                                       \
		struct child *v;                                                                                       \
		size_t n;                                                                                              \
	} member;
#define END(object)                                                                                                    \
	}                                                                                                              \
	;
#include "config/schema/schema.def"
#undef OBJECT
#undef LEAF
#undef LIST
#undef NODE
#undef NODES
#undef END

/* --- access --- */

/* Place of a member's value, for a check's message: CONFIG_AT(seg, segment, vni). */
#define CONFIG_AT(obj, object, member) config_at(#object, &(obj)->entry, offsetof(struct object, member))
struct loc config_at(const char *object, const struct entry *entry, size_t offset);

/* Was it in the file, or is it the default? */
#define CONFIG_IS_SET(obj, object, member) config_is_set(#object, &(obj)->entry, offsetof(struct object, member))
bool config_is_set(const char *object, const struct entry *entry, size_t offset);

/*
 * For checks, which also see the sound part of a file with errors (config/draft.h): is all here that the file says
 * under this key of its top? A rule that concludes from something absent asks, as what it misses may have an error of
 * its own: CONFIG_IS_WHOLE(cfg, lines). Always true of a config that runs.
 */
#define CONFIG_IS_WHOLE(cfg, member) config_is_whole(cfg, offsetof(struct config, member))
bool config_is_whole(const struct config *cfg, size_t offset);

/* Entries by key; NULL when there is none. Binary search. */
const struct interface *config_interface(const struct config *cfg, const char *name);
const struct line *config_line(const struct config *cfg, const char *name);
const struct remote *config_remote(const struct config *cfg, const char *name);
const struct tenant *config_tenant(const struct config *cfg, const char *name);
const struct segment *config_segment(const struct config *cfg, const char *name);

/* --- making one --- */

enum { CONFIG_FILE_MAX = 16 * 1024 * 1024 };

/*
 * Text -> config: YAML, decode, defaults, then the schema's own checks (types, bounds, required, unknown and duplicate
 * keys, references, unique keys). All errors go to diag. The config and everything in it lives in `arena`.
 * NULL if diag has an error. Pure: no file is touched; see config/secret.h for the secret files.
 */
const struct config *config_parse(const char *text, size_t len, struct arena *arena, struct diag *diag);
