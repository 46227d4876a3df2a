/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nftables as a model: tables of ours with their chains, rules and sets, as wanted (rendered, pure) and as the kernel
 * has them (observed). The one idea: rules are few and fixed, all that varies with the config is set elements; so a
 * change is some elements more or less, and only a change of the rules themselves swaps a table, in one transaction.
 *
 * Every table, set, chain and rule carries a comment "fw:HASH" of its own declaration: that is how an object in the
 * kernel is known to be ours and whole without parsing it back, also after a restart. What can be changed in place
 * without losing the comment (a chain's policy, a table's dormant flag) is compared besides.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct buf;
struct plan;

enum { NFT_KEY_MAX = 64 };

struct nft_elem {
	const char *text;	  /* as in nft syntax: `10.0.0.1 . 10010`, `"vx10010"`; only in a wanted model */
	uint8_t key[NFT_KEY_MAX]; /* as the kernel has it: network order, each part padded to 4 bytes */
	uint8_t key_len;
	bool is_end;		 /* observed, before sealing: the first key behind a range, and no element */
	const uint8_t *key_end;	 /* of a set with intervals: the last key of the range, as long as key; else NULL */
	const char *data;	 /* of a map: "goto rule_10", "accept", or a number in decimal; else NULL */
	uint64_t packets, bytes; /* observed only: of sets with counters */
};

struct nft_kept;

struct nft_set {
	const char *name;
	const char *spec;	/* the body of its declaration: "typeof ip saddr . @th,96,24", "type ifname; counter" */
	const char *object;	/* what its elements are about, for plan texts: "the VXLAN sources" */
	uint64_t hash;		/* wanted: of spec; observed: from the comment, 0 if there is none */
	bool last;		/* wanted: changes in place when all else has changed */
	bool has_ends;		/* observed: ranges of one part, whose ends are listed too */
	bool has_counters;	/* observed: its elements have them */
	struct nft_kept *kept;	/* observed: its elements are remembered ones, see nft_memory.h; NULL: they were read */
	bool is_volatile;	/* observed: packets and time make its elements, which are nobody's business here */
	struct nft_elem *elems; /* sorted by key */
	size_t n_elems, cap_elems;
};

struct nft_rule {
	const char *text;	 /* wanted: nft syntax without comment */
	uint64_t hash;		 /* wanted: of text; observed: from the comment, 0 if there is none */
	uint64_t packets, bytes; /* observed only: of rules with a counter */
};

struct nft_chain {
	const char *name;
	const char *hook; /* "type filter hook input priority 0; policy accept;", or NULL for a plain chain */
	uint64_t hash;	  /* wanted: of hook; observed: from the comment, 0 if there is none */
	bool last;	  /* wanted: changes in place when all else has changed */
	bool drop;	  /* its policy; observed: as it is now */
	struct nft_rule *rules;
	size_t n_rules, cap_rules;
};

/* A named counter: rules refer to it, and it outlives them. */
struct nft_counter {
	const char *name;
	uint64_t packets, bytes; /* observed only */
};

struct nft_table {
	const char *family;    /* "inet", "bridge", "netdev" */
	const char *name;      /* starts with "fairway_" */
	bool ours;	       /* wanted: always; observed: it carries our comment */
	bool dormant;	       /* observed: somebody switched it off */
	struct nft_set **sets; /* sorted by name once nft_model_seal() ran */
	size_t n_sets, cap_sets;
	struct nft_counter *counters; /* sorted by name once sealed */
	size_t n_counters, cap_counters;
	struct nft_chain **chains; /* in order of declaration: a chain before those that jump to it */
	size_t n_chains, cap_chains;
	size_t rules_at;	    /* observed, while it is read: the chain that the last rule was of */
	struct nft_chain **by_name; /* the same, sorted; NULL until sealed */
};

struct nft_model {
	struct arena *arena;
	struct nft_table **tables; /* sorted by family, name once sealed */
	size_t n_tables, cap_tables;
	uint32_t last_epoch;	      /* observed: of the policy, the last that was seen, now or before; 0: none */
	const struct nft_model *have; /* wanted: what is observed now, for who carries something on; NULL: not known */
};

#define NFT_TABLE_PREFIX "fairway_"
#define NFT_TABLE_AUDIT "fairway_audit"	  /* inet */
#define NFT_TABLE_BRIDGE "fairway_bridge" /* bridge; what it logs is for overlay/toobig_watch.h */
#define NFT_TABLE_GUARD "fairway_guard"	  /* inet; the counters of its rules are what it dropped */
/* How the names of counting sets begin, wherever they stand. */
#define NFT_SETS_CLAMP "clamp_"
#define NFT_SETS_TOOBIG "toobig_"
#define NFT_SETS_INSPECT "inspect_"
#define NFT_SETS_INSPECTED "inspected_" /* and what was dropped, by the port that it came from: arp, nd, source, ra */
/* Questions for neighbors, by the interface that they come from, and that they leave by: overlay/snoop_render.c. */
#define NFT_SET_ASKED "snoop_asked"
#define NFT_SET_FLOODED "snoop_flooded"

/* --- building a model (pure) --- */

struct nft_table *nft_add_table(struct nft_model *m, const char *family, const char *name);
struct nft_set *nft_add_set(
	struct nft_model *m, struct nft_table *t, const char *name, const char *spec, const char *object);
struct nft_chain *nft_add_chain(struct nft_model *m, struct nft_table *t, const char *name, const char *hook);
void nft_add_rule(struct nft_model *m, struct nft_chain *c, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void nft_add_elem(struct nft_model *m, struct nft_set *s, const void *key, size_t len, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));
/*
 * An element of a map, or of a set with intervals. A spec with ":" is a map: "typeof iifname : verdict". data as in
 * struct nft_elem, NULL for a set. key_end: the last key of a range, NULL where the set has no intervals.
 */
void nft_add_map_elem(struct nft_model *m, struct nft_set *s, const void *key, size_t len, const void *key_end,
	const char *data, const char *fmt, ...) __attribute__((format(printf, 7, 8)));
struct nft_counter *nft_add_counter(struct nft_model *m, struct nft_table *t, const char *name);
/* The same for what was observed: no texts; the caller fills in the rest before the next add. len <= NFT_KEY_MAX. */
struct nft_rule *nft_add_observed_rule(struct nft_model *m, struct nft_chain *c, uint64_t hash);
struct nft_elem *nft_add_observed_elem(struct nft_model *m, struct nft_set *s, const void *key, size_t len);

/* Sorts; drops duplicate elements. To be called once, after the last add. Tables, sets and chains stay where they are.
 */
void nft_model_seal(struct nft_model *m);

/* By name; NULL if there is none. */
const struct nft_table *nft_model_table(const struct nft_model *m, const char *family, const char *name);
const struct nft_set *nft_table_set(const struct nft_table *t, const char *name);
const struct nft_chain *nft_table_chain(const struct nft_table *t, const char *name);
const struct nft_counter *nft_table_counter(const struct nft_table *t, const char *name);

/* Of a spec: has its set data? Ranges? More than one part, whose ranges the kernel takes with both ends? */
bool nft_spec_is_map(const char *spec);
bool nft_spec_has_intervals(const char *spec);
bool nft_spec_is_concat(const char *spec);

/* Key bytes of an interface name element, and of a 24-bit raw payload such as a VNI, each with its padding. */
void nft_key_ifname(const char *ifname, uint8_t ret[16]);
void nft_key_u24(uint32_t value, uint8_t ret[4]);
int nft_key_cmp(const struct nft_elem *a, const struct nft_elem *b);
/* By key, then by all else that an element is. */
int nft_elem_cmp(const struct nft_elem *a, const struct nft_elem *b);

/* The comment of a declaration with this hash, and back: 0 if text is no comment of ours. */
enum { NFT_COMMENT_MAX = 20 };
const char *nft_comment(uint64_t hash, char ret[NFT_COMMENT_MAX]);
uint64_t nft_comment_hash(const char *text);
uint64_t nft_table_hash(const struct nft_table *t);

/* --- difference (pure) --- */

enum nft_op {
	NFT_REPLACE_TABLE,
	NFT_CHANGE_TABLE,
	NFT_SWITCH_TABLE,
	NFT_FINISH_TABLE,
	NFT_DELETE_TABLE,
	NFT_ADD_ELEMS,
	NFT_DEL_ELEMS
};

/* Payload of a step of the nft subsystem. */
struct nft_step {
	enum nft_op op;
	const struct nft_table *table; /* wanted; for DELETE observed */
	const struct nft_table *have;  /* REPLACE, CHANGE, FINISH: what stands there; counters live on. NULL: nothing */
	const struct nft_set *set;     /* ADD_ELEMS, DEL_ELEMS: wanted */
	const struct nft_elem *elems;  /* ADD_ELEMS, DEL_ELEMS: for DEL observed, the text is made from the key */
	size_t n_elems;
};

/* Adds the steps from have to want. Both sealed; what they point to must outlive the plan. */
void nft_plan(const struct nft_model *want, const struct nft_model *have, struct plan *plan);

/*
 * The element's text from its key, as a set of this spec has it: what an observed element is called. False if the spec
 * has a part whose printing is not known here.
 */
bool nft_elem_print(const char *spec, const struct nft_elem *elem, struct buf *out);

/* Can want be made of have chain by chain, without a moment of two tables? Neither spec nor hook of any may differ. */
bool nft_can_change(const struct nft_table *want, const struct nft_table *have);
/*
 * In three transactions: what comes, beside what is there; then the chains that lead to it; then what goes, and the
 * chains and sets that are to change last. So a packet on its way finds in no set less than either the old table or the
 * new one has; a set of ranges of several parts shows what is new in it a moment after the rules of its transaction.
 */
enum nft_change { NFT_CHANGE_COMES, NFT_CHANGE_SWITCHES, NFT_CHANGE_GOES };
/* "2 chains, 1 set, 3 elements": what the commands would touch; nothing where there is nothing to do. */
void nft_change_summary(
	const struct nft_table *want, const struct nft_table *have, enum nft_change phase, struct buf *out);
void nft_change_print(
	const struct nft_table *want, const struct nft_table *have, enum nft_change phase, struct buf *out);

/* Parts of the commands, for nft_change.c. */
bool nft_same_rules(const struct nft_chain *want, const struct nft_chain *have);
size_t nft_elems_without(const struct nft_set *a, const struct nft_set *b, struct nft_elem *lacks);
void nft_elem_command(const char *verb, const struct nft_table *t, const struct nft_set *s, const struct nft_elem *v,
	size_t n, struct buf *out);

/* The nft commands of one step: for `nft -f`, golden files and the edge. */
void nft_step_print(const struct nft_step *step, struct buf *out);
