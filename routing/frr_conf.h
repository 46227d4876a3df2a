/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The configuration of one FRR daemon as a tree of lines, as `show running-config` prints it: a line, and below it the
 * lines of the node that it opens. What is wanted (frr_render*.c) and what runs (parsed) are the same struct; the delta
 * of two is a list of commands. Pure.
 *
 * Equality is by line within its node; the order of lines means nothing, as all that is ordered in FRR carries a
 * sequence number.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct buf;

struct frr_node {
	const char *line; /* without indentation; NULL for the root */
	struct frr_node *first, *last, *next, *up;
	const char *object; /* wanted: whose it is, for the plan: "line ali-a", "policy clouds"; NULL: "bgp" */
	bool block;	    /* opens a node of its own, ended by `exit` (even if it has no lines) */
};

struct frr_conf {
	struct arena *arena;
	struct frr_node root;
	struct frr_node **index; /* by node and line, so that a list of ten thousand entries is no trouble */
	size_t n, cap;
};

void frr_conf_init(struct frr_conf *conf, struct arena *arena);

/* Adds a line below `up` (&conf->root at the top). The same line twice in one node is one. Returns it. */
struct frr_node *frr_add(struct frr_conf *conf, struct frr_node *up, const char *object, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* The same for a line that opens a node: `router bgp 65001`, `route-map X permit 10`, `peer A local-address B`. */
struct frr_node *frr_block(struct frr_conf *conf, struct frr_node *up, const char *object, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* The line below `up`, or NULL. */
struct frr_node *frr_find(const struct frr_conf *conf, const struct frr_node *up, const char *line);

/*
 * Reads what `show running-config` of FRR 8.4 printed. Lines that no operator wrote and that say nothing about routing
 * (version, defaults, hostname, log targets, `ip forwarding`, comments) are left out. 0, or -EINVAL for text that is
 * none, or not all of it; *ret is then of no use. Foreign bytes: fuzzed.
 */
int frr_conf_parse(const char *text, size_t len, struct frr_conf *ret);

/* As FRR prints it, with indentation; for tests and for `fairwayd --dry-run`. Passwords are masked if `mask`. */
void frr_conf_print(const struct frr_conf *conf, bool mask, struct buf *out);

/*
 * Is a line of the kind that `words` describes? `*` stands for a word that belongs to the key of the line, `?` for one
 * that does not, and after the words may come whatever will. If so, ret_key (may be NULL) gets the key.
 */
bool frr_line_fits(const char *words, const char *line, struct buf *ret_key);

/* Moves *at past one word and the space behind it; its length, 0 at the end. */
size_t frr_next_word(const char **at);

/* One line that differs. */
struct frr_change {
	bool remove;		    /* the line goes away; else it comes */
	const char *const *context; /* the lines of the nodes around it, outermost first; NULL-terminated */
	const char *line;	    /* as in the tree */
	const char *command;	    /* what is sent, within the context: the line itself, or how FRR wants it undone */
	const char *object;	    /* whose: as in the tree; of a removal NULL if unknown */
	bool fresh;		    /* about something that begins with this delta, so that nothing is interrupted */
	bool opens;		    /* `line` opens a node, and the daemon is in it after the command */
};

struct frr_delta {
	struct frr_change *v; /* in the order in which they have to be sent */
	size_t n, cap;
};

/*
 * What turns `have` into `want`, with the smallest effect: a value that changes is set in place where FRR can do that,
 * never removed and added; nodes that lose all go as one; what is referred to (prefix lists, route maps, profiles)
 * comes before who refers to it, and goes after. All in `arena`.
 *
 * Who sends enters each change from the top: `end`, `configure terminal`, the context's lines, the command; or, from
 * where the last one left off, `exit` for each node that is left. `exit` leaves any node of FRR 8.4, address families
 * and VNIs too.
 */
void frr_delta(const struct frr_conf *want, const struct frr_conf *have, struct arena *arena, struct frr_delta *ret);
