/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * YAML -> node tree; the only file that knows libfyaml.
 *
 * The one idea: the library's stream of events is enough. No document is built by it, aliases are seen and not
 * followed, and depth, number and size of nodes are bounded while they arrive. What its scanner should not meet (bytes
 * that are not text, tabs as indentation) is found before, in one pass over the bytes.
 *
 * What breaks the structure ends the parse with one error; what spoils one value (an alias, a tag, a duplicate key) is
 * reported and the rest is still read, so that a file's errors come out in one run.
 */
#include <errno.h>
#include <libfyaml.h>
#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "config/node.h"
#include "config/text.h"
#include "gateway/base/arena.h"
#include "gateway/base/cleanup.h"
#include "gateway/base/str.h"

/* --- events --- */

struct parse {
	struct fy_parser *fyp;
	struct fy_diag *fydiag;
	const char *text;
	struct arena *arena;
	struct diag *diag;
	size_t n_nodes;
	struct loc last; /* of the last event that had a place */
};

/* An event without what only libfyaml understands. */
struct event {
	enum fy_event_type type;
	struct loc loc;
	bool quoted, too_long, has_nul;
	const char *text;
	struct loc anchor, tag; /* line 0: none */
};

static void ignore_output(struct fy_diag *fydiag, void *user, const char *buf, size_t len)
{
	(void)fydiag;
	(void)user;
	(void)buf;
	(void)len;
}

static void parser_destroyp(struct fy_parser **fyp)
{
	if (*fyp)
		fy_parser_destroy(*fyp);
}

static void fy_diag_destroyp(struct fy_diag **fydiag)
{
	if (*fydiag)
		fy_diag_destroy(*fydiag);
}

static struct loc loc_of(const struct fy_mark *mark)
{
	if (!mark)
		return (struct loc){0};
	return (struct loc){(uint32_t)mark->line + 1, (uint32_t)mark->column + 1};
}

static struct loc token_loc(struct fy_token *token)
{
	return token ? loc_of(fy_token_start_mark(token)) : (struct loc){0};
}

/* The library's place of an anchor or alias is behind its sign. */
static struct loc sign_loc(struct loc loc)
{
	return (struct loc){loc.line, loc.col > 1 ? loc.col - 1 : loc.col};
}

static void take_scalar(struct parse *p, struct fy_event *from, struct event *ev)
{
	const struct fy_mark *mark = fy_event_start_mark(from);
	enum fy_scalar_style style = fy_token_scalar_style(from->scalar.value);
	size_t len = 0;
	const char *text = fy_token_get_text(from->scalar.value, &len);

	ev->quoted = style != FYSS_PLAIN && style != FYSS_ANY;
	if ((style == FYSS_SINGLE_QUOTED || style == FYSS_DOUBLE_QUOTED) && mark && ev->loc.col > 1)
		ev->loc.col--; /* the library's place is behind the quote */
	ev->too_long = len > YAML_SCALAR_MAX;
	ev->has_nul = text && memchr(text, '\0', len);
	ev->text = text && !ev->too_long ? arena_strndup(p->arena, text, len) : "";
	ev->anchor = sign_loc(token_loc(from->scalar.anchor));
	ev->tag = token_loc(from->scalar.tag);
}

static void take_event(struct parse *p, struct fy_event *from, struct event *ev)
{
	*ev = (struct event){.type = from->type, .loc = loc_of(fy_event_start_mark(from))};
	switch (from->type) {
	case FYET_SCALAR:
		take_scalar(p, from, ev);
		break;
	case FYET_ALIAS:
		ev->loc = sign_loc(ev->loc);
		break;
	case FYET_MAPPING_START:
		ev->anchor = sign_loc(token_loc(from->mapping_start.anchor));
		ev->tag = token_loc(from->mapping_start.tag);
		break;
	case FYET_SEQUENCE_START:
		ev->anchor = sign_loc(token_loc(from->sequence_start.anchor));
		ev->tag = token_loc(from->sequence_start.tag);
		break;
	default:
		break;
	}
	if (ev->loc.line)
		p->last = ev->loc;
}

/* The library's own first complaint becomes ours. */
static void report_syntax(struct parse *p)
{
	void *prev = NULL;
	struct fy_diag_error *error = fy_diag_errors_iterate(p->fydiag, &prev);
	struct loc loc = p->last;

	if (error && error->line > 0)
		loc = (struct loc){(uint32_t)error->line, error->column > 0 ? (uint32_t)error->column : 1};
	diag_error(
		p->diag, loc, "not valid YAML: %s", error && error->msg ? error->msg : "the text makes no sense here");
}

/* Next event; false at the end of the stream, or after an error that was reported. */
static bool next_event(struct parse *p, struct event *ev)
{
	struct fy_event *from = fy_parser_parse(p->fyp);

	if (!from) {
		if (fy_parser_get_stream_error(p->fyp))
			report_syntax(p);
		return false;
	}
	take_event(p, from, ev);
	fy_parser_event_free(p->fyp, from);
	return true;
}

/* --- the tree --- */

static struct node *take_node(struct parse *p, const struct event *ev, struct loc fallback, unsigned depth);

static void check_marks(struct parse *p, const struct event *ev)
{
	if (ev->anchor.line)
		diag_error(p->diag, ev->anchor, "an anchor; write values out, anchors and aliases are not used here");
	if (ev->tag.line)
		diag_error(p->diag, ev->tag, "a tag; write the value without it, the keyword says the type");
}

static void check_scalar(struct parse *p, const struct event *ev, struct node *node)
{
	node->text = ev->text;
	node->quoted = ev->quoted;
	if (!ev->too_long && !ev->has_nul)
		return;
	node->kind = NODE_BAD;
	if (ev->too_long)
		diag_error(p->diag, node->loc, "a value of more than %d bytes", YAML_SCALAR_MAX);
	else
		diag_error(p->diag, node->loc, "a NUL character in a value");
}

static void append(struct node *parent, struct node *child)
{
	if (parent->last)
		parent->last->next = child;
	else
		parent->first = child;
	parent->last = child;
	parent->n++;
}

static int by_key(const void *a, const void *b)
{
	const struct node *x = *(const struct node *const *)a, *y = *(const struct node *const *)b;
	int c = strcmp(x->key, y->key);

	return c ? c : loc_cmp(x->key_loc, y->key_loc);
}

/* Reports keys that stand twice and leaves the first of each: sort, then look at neighbours. */
static void drop_duplicates(struct parse *p, struct node *mapping)
{
	const size_t pointer = sizeof(struct node *);
	struct node **sorted, *first = NULL;
	size_t n = 0;

	if (mapping->n < 2)
		return;
	sorted = calloc(mapping->n, pointer);
	if (!sorted)
		abort();
	for (struct node *c = mapping->first; c; c = c->next)
		sorted[n++] = c;
	qsort(sorted, n, pointer, by_key);
	for (size_t i = 0; i < n; i++) {
		if (!first || !str_eq(first->key, sorted[i]->key)) {
			first = sorted[i];
			continue;
		}
		diag_error(p->diag, sorted[i]->key_loc, "key %s is given twice; the first is on line %u",
			diag_show(p->arena, first->key), first->key_loc.line);
		first->repeated = true;
		sorted[i]->key = NULL;
	}
	free(sorted);
	for (struct node **link = &mapping->first; *link;) {
		if ((*link)->key) {
			mapping->last = *link;
			link = &(*link)->next;
		} else {
			*link = (*link)->next;
			mapping->n--;
		}
	}
}

static bool take_pair(struct parse *p, struct node *mapping, const struct event *ev, unsigned depth)
{
	struct node *key = take_node(p, ev, mapping->loc, depth), *value;
	struct event next;

	if (!key || !next_event(p, &next))
		return false;
	value = take_node(p, &next, key->loc, depth);
	if (!value)
		return false;
	if (key->kind != NODE_SCALAR || (!*key->text && !key->quoted)) {
		if (key->kind != NODE_BAD)
			diag_error(p->diag, key->loc, "a key must be one word");
		mapping->has_stray = true;
		return true;
	}
	value->key = key->text;
	value->key_loc = key->loc;
	append(mapping, value);
	return true;
}

static bool take_children(struct parse *p, struct node *node, unsigned depth)
{
	struct event ev;

	while (next_event(p, &ev)) {
		struct node *item;

		if (ev.type == FYET_MAPPING_END) {
			drop_duplicates(p, node);
			return true;
		}
		if (ev.type == FYET_SEQUENCE_END)
			return true;
		if (node->kind == NODE_MAPPING) {
			if (!take_pair(p, node, &ev, depth))
				return false;
			continue;
		}
		item = take_node(p, &ev, node->loc, depth);
		if (!item)
			return false;
		append(node, item);
	}
	return false;
}

/* The node that begins with ev; an empty one has no place of its own and takes `fallback`. NULL: give up. */
static struct node *take_node(struct parse *p, const struct event *ev, struct loc fallback, unsigned depth)
{
	struct node *node = arena_new_obj(p->arena, struct node);

	node->loc = ev->loc.line ? ev->loc : fallback;
	if (++p->n_nodes > YAML_NODES_MAX) {
		diag_error(p->diag, node->loc, "more than %d values in the file", YAML_NODES_MAX);
		return NULL;
	}
	check_marks(p, ev);
	switch (ev->type) {
	case FYET_SCALAR:
		check_scalar(p, ev, node);
		return node;
	case FYET_ALIAS:
		diag_error(p->diag, node->loc, "an alias; write the value out, anchors and aliases are not used here");
		node->kind = NODE_BAD;
		return node;
	case FYET_MAPPING_START:
	case FYET_SEQUENCE_START:
		node->kind = ev->type == FYET_MAPPING_START ? NODE_MAPPING : NODE_SEQUENCE;
		if (depth == YAML_DEPTH_MAX) {
			diag_error(p->diag, node->loc, "more than %d levels of nesting", YAML_DEPTH_MAX);
			return NULL;
		}
		return take_children(p, node, depth + 1) ? node : NULL;
	default:
		diag_error(p->diag, node->loc, "not valid YAML: a value is missing");
		return NULL;
	}
}

/* The one document of the stream. */
static struct node *take_document(struct parse *p)
{
	struct node *root = NULL;
	struct event ev;
	size_t errors = p->diag->n_errors;

	while (next_event(p, &ev)) {
		if (ev.type == FYET_DOCUMENT_START && root) {
			diag_error(
				p->diag, ev.loc.line ? ev.loc : p->last, "a second document; the file must hold one");
			return NULL;
		}
		if (ev.type == FYET_STREAM_START || ev.type == FYET_STREAM_END || ev.type == FYET_DOCUMENT_START ||
			ev.type == FYET_DOCUMENT_END)
			continue;
		root = take_node(p, &ev, (struct loc){1, 1}, 0);
		if (!root)
			return NULL;
	}
	if (fy_parser_get_stream_error(p->fyp))
		return NULL;
	if (!root && p->diag->n_errors == errors)
		diag_error(p->diag, (struct loc){0}, "the file is empty");
	return root;
}

struct node *yaml_parse(const char *text, size_t len, struct arena *arena, struct diag *diag)
{
	struct fy_diag_cfg diag_cfg = {.output_fn = ignore_output, .level = FYET_ERROR, .module_mask = ~0u};
	_cleanup_(fy_diag_destroyp) struct fy_diag *fydiag = NULL;
	_cleanup_(parser_destroyp) struct fy_parser *fyp = NULL;
	struct fy_parse_cfg cfg = {
		.flags = FYPCF_QUIET | FYPCF_JSON_NONE | FYPCF_DEFAULT_VERSION_1_2 | FYPCF_DISABLE_ACCELERATORS};
	struct parse p = {.text = text, .arena = arena, .diag = diag, .last = {1, 1}};

	if (len > CONFIG_FILE_MAX) {
		diag_error(diag, (struct loc){0}, "more than %d bytes", CONFIG_FILE_MAX);
		return NULL;
	}
	if (text_check(text, len, diag) < 0)
		return NULL;
	fydiag = fy_diag_create(&diag_cfg);
	if (!fydiag)
		abort();
	fy_diag_set_collect_errors(fydiag, true);
	cfg.diag = fydiag;
	fyp = fy_parser_create(&cfg);
	if (!fyp || fy_parser_set_string(fyp, text, len) < 0)
		abort();
	p.fyp = fyp;
	p.fydiag = fydiag;
	return take_document(&p);
}
