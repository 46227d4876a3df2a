/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From the lines that run to the lines that are wanted. The one idea: a line has a key, the words that say which
 * setting it is. Two lines with one key are the same setting with another value, and FRR takes the new one in place; a
 * key that is on one side alone comes or goes. What is special about a kind of line is a row of the table, tried on
 * FRR 8.4.4 by tests/net/test_frr_delta.py.
 */
#include <stdlib.h>
#include <string.h>

#include "gateway/base/arena.h"
#include "gateway/base/buf.h"
#include "gateway/base/cleanup.h"
#include "gateway/base/str.h"
#include "routing/frr_conf.h"

/* ---- the table ----------------------------------------------------------------------------------------------------
 */

enum {
	SESSION = 1 << 0, /* the line that makes a session: `no neighbor X` ends it with all its lines */
	UNIQUE = 1 << 1,  /* an entry of a list in which FRR silently ignores what another entry has already */
	REPLACE = 1 << 2, /* the old one has to go before the new one is taken */
	LINES = 1 << 3,	  /* a node that cannot be removed itself: it goes with its last line */
};

/* What is referred to comes before who refers to it, and goes after. */
enum rank { RANK_USER, RANK_LIST, RANK_MAP };
static const enum rank order[] = {RANK_LIST, RANK_MAP, RANK_USER};

struct rule {
	const char *words; /* `*`: a word of the key; `?`: a word of the value; what follows is the value */
	unsigned flags;
	const char *undo; /* NULL: `no` and the line, or the line without its `no` */
	enum rank rank;	  /* of a line at the top */
	bool top;	  /* means this at the top alone */
};

/* The first that fits counts: the longer one stands first. A line that is not here is its own key. */
static const struct rule rules[] = {
	{.words = "ip prefix-list * description", .rank = RANK_LIST},
	{.words = "ip prefix-list * seq *", .rank = RANK_LIST, .flags = UNIQUE},
	{.words = "ipv6 prefix-list * description", .rank = RANK_LIST},
	{.words = "ipv6 prefix-list * seq *", .rank = RANK_LIST, .flags = UNIQUE},
	{.words = "bgp community-list * * seq *", .rank = RANK_LIST, .flags = UNIQUE},
	{.words = "bgp large-community-list * * seq *", .rank = RANK_LIST, .flags = UNIQUE},
	{.words = "bgp extcommunity-list * * seq *", .rank = RANK_LIST, .flags = UNIQUE},
	{.words = "bgp as-path access-list * seq *", .rank = RANK_LIST, .flags = UNIQUE},
	{.words = "route-map * ? *", .rank = RANK_MAP},
	{.words = "router bgp", .flags = REPLACE},
	{.words = "vni", .flags = REPLACE, .top = true},
	{.words = "ip router-id"},
	{.words = "ip protocol *"},
	{.words = "ipv6 protocol *"},
	{.words = "interface *", .flags = LINES},
	{.words = "vrf *", .flags = LINES},

	/* route-map */
	{.words = "description", .undo = "no description"},
	{.words = "on-match", .undo = "no on-match next"},
	{.words = "call"},
	{.words = "match ip address prefix-list"},
	{.words = "match ipv6 address prefix-list"},
	{.words = "match community"},
	{.words = "match large-community"},
	{.words = "match as-path"},
	{.words = "match evpn route-type"},
	{.words = "match evpn vni"},
	{.words = "match peer"},
	{.words = "match tag"},
	{.words = "set local-preference"},
	{.words = "set metric"},
	{.words = "set weight"},
	{.words = "set tag"},
	{.words = "set origin"},
	{.words = "set as-path prepend", .undo = "no set as-path prepend"},
	{.words = "set community"},
	{.words = "set large-community"},
	{.words = "set comm-list"},
	{.words = "set extcommunity *"},
	{.words = "set ipv6 next-hop global"},

	/* router bgp */
	{.words = "bgp router-id"},
	{.words = "bgp cluster-id"},
	/* Before the maps: after a first start sessions are held until the maps of the batch are in force. */
	{.words = "bgp route-map delay-timer", .rank = RANK_LIST},
	{.words = "bgp graceful-restart restart-time"},
	{.words = "bgp graceful-restart stalepath-time"},
	{.words = "bgp graceful-restart select-defer-time"},
	{.words = "bgp graceful-restart rib-stale-time"},
	{.words = "timers bgp"},
	{.words = "neighbor * remote-as", .flags = SESSION},
	{.words = "neighbor * interface remote-as", .flags = SESSION},
	{.words = "neighbor * description"},
	{.words = "neighbor * password"},
	{.words = "neighbor * tcp-mss"},
	{.words = "neighbor * ebgp-multihop"},
	{.words = "neighbor * ttl-security hops"},
	{.words = "neighbor * update-source"},
	{.words = "neighbor * advertisement-interval"},
	{.words = "neighbor * timers connect"},
	{.words = "neighbor * timers"},
	{.words = "neighbor * local-as"},
	{.words = "neighbor * bfd profile"},

	/* address-family */
	{.words = "address-family * *", .flags = LINES},
	{.words = "neighbor * route-map ? in"},
	{.words = "neighbor * route-map ? out"},
	{.words = "neighbor * prefix-list ? in"},
	{.words = "neighbor * prefix-list ? out"},
	{.words = "neighbor * maximum-prefix"},
	{.words = "neighbor * default-originate"},
	{.words = "neighbor * allowas-in"},
	{.words = "maximum-paths ibgp"},
	{.words = "maximum-paths"},
	{.words = "network *"},
	{.words = "aggregate-address *"},
	{.words = "advertise ipv4 unicast", .undo = "no advertise ipv4 unicast"},
	{.words = "advertise ipv6 unicast", .undo = "no advertise ipv6 unicast"},
	{.words = "rd"},

	/* bfd; a timer has no `no`, only its default, which is not shown */
	{.words = "detect-multiplier", .undo = "detect-multiplier 3"},
	{.words = "transmit-interval", .undo = "transmit-interval 300"},
	{.words = "receive-interval", .undo = "receive-interval 300"},
	{.words = "minimum-ttl"},
	{.words = "profile"},
};

static const struct rule no_rule = {.words = ""};

static const struct rule *rule_of(const char *line, bool top, struct buf *key)
{
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
		if ((top || !rules[i].top) && frr_line_fits(rules[i].words, line, key))
			return &rules[i];
	buf_reset(key);
	buf_puts(key, line);
	return &no_rule;
}

/* ---- two nodes side by side ---------------------------------------------------------------------------------------
 */

struct level;

struct item {
	const struct frr_node *node;
	const struct rule *rule;
	const char *key;
	struct item *match;  /* on the other side, with the same key */
	bool gone;	     /* of what runs: by a command for something else, or first of all */
	struct level *below; /* of what is wanted, or of LINES that are not: the lines of the node */
};

struct level {
	struct item *want, *have;
	size_t n_want, n_have;
};

struct names {
	const char **v;
	size_t n, cap;
};

struct work {
	struct arena *arena;
	struct frr_delta *delta;
	struct buf text;
	struct names ended, begun; /* sessions */
	bool fresh;		   /* within a node that is new: nothing to interrupt */
};

static size_t count_below(const struct frr_node *up)
{
	size_t n = 0;

	for (const struct frr_node *i = up ? up->first : NULL; i; i = i->next)
		n++;
	return n;
}

static struct item *items_below(struct work *w, const struct frr_node *up, size_t *ret_n)
{
	size_t n = count_below(up), at = 0;
	struct item *items = arena_array(w->arena, n, sizeof(*items));

	for (const struct frr_node *i = up ? up->first : NULL; i; i = i->next) {
		struct item *item = &items[at++];

		item->node = i;
		item->rule = rule_of(i->line, up->line == NULL, &w->text);
		item->key = arena_strndup(w->arena, buf_str(&w->text), w->text.len);
	}
	*ret_n = n;
	return items;
}

static int cmp_item(const void *a, const void *b)
{
	const struct item *x = *(const struct item *const *)a, *y = *(const struct item *const *)b;
	int c = strcmp(x->key, y->key);

	return c ? c : strcmp(x->node->line, y->node->line);
}

static struct item **sorted(struct work *w, struct item *items, size_t n)
{
	struct item **v = arena_array(w->arena, n, sizeof(struct item *));

	for (size_t i = 0; i < n; i++)
		v[i] = &items[i];
	if (n > 1)
		qsort(v, n, sizeof(struct item *), cmp_item);
	return v;
}

static void match_items(struct work *w, struct level *l)
{
	struct item **want = sorted(w, l->want, l->n_want), **have = sorted(w, l->have, l->n_have);

	for (size_t i = 0, j = 0; i < l->n_want && j < l->n_have;) {
		int c = strcmp(want[i]->key, have[j]->key);

		if (c == 0) {
			want[i]->match = have[j];
			have[j]->match = want[i];
		}
		i += c <= 0;
		j += c >= 0;
	}
}

/* Of what runs: it goes before all else, and what is wanted comes anew. */
static void take_away(struct item *have)
{
	have->gone = true;
	if (have->match)
		have->match->match = NULL;
	have->match = NULL;
}

/* ---- sessions that end: `no neighbor X` takes every line of X with it ---------------------------------------------
 */

static bool is_of_peer(const char *line, const char *peer)
{
	static const char word[] = "neighbor ";
	size_t len = strlen(peer);

	return str_starts(line, word) && strncmp(line + strlen(word), peer, len) == 0 &&
		line[strlen(word) + len] == ' ';
}

static const char *peer_of(struct work *w, const char *line)
{
	(void)frr_next_word(&line);
	return arena_strndup(w->arena, line, strcspn(line, " "));
}

/* The sessions among the items that are on this side alone. */
static void find_sessions(struct work *w, const struct item *items, size_t n, struct names *names)
{
	for (size_t i = 0; i < n; i++) {
		if (!(items[i].rule->flags & SESSION) || items[i].match)
			continue;
		names->v = arena_grow(w->arena, names->v, names->n, &names->cap, sizeof(*names->v));
		names->v[names->n++] = peer_of(w, items[i].node->line);
	}
}

static bool is_of_any(const char *line, const struct names *peers)
{
	for (size_t i = 0; i < peers->n; i++)
		if (is_of_peer(line, peers->v[i]))
			return true;
	return false;
}

static void drop_ended(const struct work *w, const struct level *l)
{
	for (size_t i = 0; i < l->n_have; i++)
		if (!(l->have[i].rule->flags & SESSION) && is_of_any(l->have[i].node->line, &w->ended))
			take_away(&l->have[i]);
}

/* ---- lists: an entry that another one has to make room for --------------------------------------------------------
 */

/* The list and what the entry says, without its place. */
static const char *entry_text(struct work *w, const char *line)
{
	const char *seq = strstr(line, " seq "), *value = seq ? seq + strlen(" seq ") : line;

	if (seq)
		(void)frr_next_word(&value);
	return arena_printf(w->arena, "%.*s %s", seq ? (int)(seq - line) : 0, line, value);
}

static int cmp_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* What runs and is not the same in what is wanted, but whose text is wanted in another place, goes first. */
static void make_room(struct work *w, const struct level *l)
{
	const char **texts = arena_array(w->arena, l->n_want, sizeof(char *));
	size_t n = 0;

	for (size_t i = 0; i < l->n_want; i++)
		if (l->want[i].rule->flags & UNIQUE)
			texts[n++] = entry_text(w, l->want[i].node->line);
	if (n == 0)
		return;
	qsort(texts, n, sizeof(*texts), cmp_text);
	for (size_t i = 0; i < l->n_have; i++) {
		struct item *have = &l->have[i];
		const char *text;

		if (!(have->rule->flags & UNIQUE) || (have->match && str_eq(have->node->line, have->match->node->line)))
			continue;
		text = entry_text(w, have->node->line);
		if (bsearch(&text, texts, n, sizeof(*texts), cmp_text))
			take_away(have);
	}
}

/* What only comes when the old one is gone. */
static void replace(const struct level *l)
{
	for (size_t i = 0; i < l->n_have; i++) {
		struct item *have = &l->have[i];

		if ((have->rule->flags & REPLACE) && have->match && !str_eq(have->node->line, have->match->node->line))
			take_away(have);
	}
}

static struct level *level_of(struct work *w, const struct frr_node *want, const struct frr_node *have)
{
	struct level *l = arena_new_obj(w->arena, struct level);

	l->want = items_below(w, want, &l->n_want);
	l->have = items_below(w, have, &l->n_have);
	match_items(w, l);
	replace(l);
	make_room(w, l);
	find_sessions(w, l->have, l->n_have, &w->ended);
	find_sessions(w, l->want, l->n_want, &w->begun);
	drop_ended(w, l);
	for (size_t i = 0; i < l->n_want; i++) {
		struct item *item = &l->want[i];

		if (item->node->block)
			item->below = level_of(w, item->node, item->match ? item->match->node : NULL);
	}
	for (size_t i = 0; i < l->n_have; i++)
		if (l->have[i].rule->flags & LINES && !l->have[i].match)
			l->have[i].below = level_of(w, NULL, l->have[i].node);
	return l;
}

/* ---- commands -----------------------------------------------------------------------------------------------------
 */

typedef const char *const *context_t;

static context_t context_with(struct work *w, context_t context, const char *line)
{
	const char **longer;
	size_t n = 0;

	while (context[n])
		n++;
	longer = arena_array(w->arena, n + 2, sizeof(char *));
	memcpy(longer, context, n * sizeof(char *));
	longer[n] = line;
	return longer;
}

static struct frr_change *push(struct work *w, context_t context, const struct item *item)
{
	struct frr_delta *d = w->delta;
	struct frr_change *c;

	d->v = arena_grow(w->arena, d->v, d->n, &d->cap, sizeof(*d->v));
	c = &d->v[d->n++];
	c->context = context;
	c->line = item->node->line;
	c->command = item->node->line;
	c->object = item->node->object;
	c->fresh = w->fresh || is_of_any(c->line, &w->begun);
	return c;
}

static const char *undo_of(struct work *w, const struct item *item)
{
	const char *line = item->node->line;

	if (item->rule->undo)
		return item->rule->undo;
	if (item->rule->flags & SESSION)
		return arena_printf(w->arena, "no neighbor %s", peer_of(w, line));
	return str_starts(line, "no ") ? line + strlen("no ") : arena_printf(w->arena, "no %s", line);
}

static void push_removal(struct work *w, context_t context, const struct item *item)
{
	struct frr_change *c = push(w, context, item);

	c->remove = true;
	c->fresh = false;
	c->command = undo_of(w, item);
}

/* All that goes, the last first; of nodes that stay too. */
static void remove_lines(struct work *w, const struct level *l, context_t context)
{
	for (size_t i = l->n_have; i-- > 0;) {
		const struct item *have = &l->have[i];
		const struct item *node = have->match ? have->match : have;

		if (have->gone)
			continue;
		if (node->below)
			remove_lines(w, node->below, context_with(w, context, node->node->line));
		else if (!have->match)
			push_removal(w, context, have);
	}
}

static bool is_new(const struct item *want)
{
	return !want->match || !str_eq(want->node->line, want->match->node->line);
}

static void add_lines(struct work *w, const struct level *l, context_t context);

static void add_line(struct work *w, const struct item *want, context_t context)
{
	if (is_new(want))
		push(w, context, want)->opens = want->node->block;
	if (want->below)
		add_lines(w, want->below, context_with(w, context, want->node->line));
}

/* All that comes or has another value, in the order in which it is wanted: a session before what is said of it. */
static void add_lines(struct work *w, const struct level *l, context_t context)
{
	for (size_t i = 0; i < l->n_want; i++)
		add_line(w, &l->want[i], context);
}

/*
 * A line at the top with all below it. In a route map what comes is first, so that it never permits more than the old
 * and the new one; elsewhere what goes is first, as some lines exclude each other.
 */
static void change_top(struct work *w, const struct item *want, context_t top)
{
	context_t inside = context_with(w, top, want->node->line);
	bool map = want->rule->rank == RANK_MAP;

	if (!map && want->below)
		remove_lines(w, want->below, inside);
	w->fresh = !want->match;
	add_line(w, want, top);
	w->fresh = false;
	if (map && want->below)
		remove_lines(w, want->below, inside);
}

static void remove_top(struct work *w, const struct item *have, context_t top)
{
	if (have->below)
		remove_lines(w, have->below, context_with(w, top, have->node->line));
	else
		push_removal(w, top, have);
}

static void change_all(struct work *w, const struct level *l)
{
	static const char *const top[] = {NULL};

	for (size_t i = l->n_have; i-- > 0;)
		if (l->have[i].gone)
			push_removal(w, top, &l->have[i]);
	for (size_t r = 0; r < ARRAY_SIZE(order); r++)
		for (size_t i = 0; i < l->n_want; i++)
			if (l->want[i].rule->rank == order[r])
				change_top(w, &l->want[i], top);
	for (size_t r = ARRAY_SIZE(order); r-- > 0;)
		for (size_t i = l->n_have; i-- > 0;)
			if (l->have[i].rule->rank == order[r] && !l->have[i].gone && !l->have[i].match)
				remove_top(w, &l->have[i], top);
}

void frr_delta(const struct frr_conf *want, const struct frr_conf *have, struct arena *arena, struct frr_delta *ret)
{
	struct work w = {.arena = arena, .delta = ret};
	struct level *top;

	*ret = (struct frr_delta){0};
	top = level_of(&w, &want->root, &have->root);
	change_all(&w, top);
	buf_free(&w.text);
}
