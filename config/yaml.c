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
#include "gateway/base/arena.h"
#include "gateway/base/cleanup.h"
#include "gateway/base/str.h"

/* --- the bytes --- */

struct cursor {
	const unsigned char *p, *end;
	struct loc loc;
	bool blank;  /* only blanks so far on this line */
	bool failed; /* a tab was found; one error for each line */
};

/* Length of the valid UTF-8 sequence at p and its code point, or 0. */
static size_t utf8_decode(const unsigned char *p, const unsigned char *end, uint32_t *ret)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t len = *p < 0x80 ? 1 : (*p & 0xe0) == 0xc0 ? 2 : (*p & 0xf0) == 0xe0 ? 3 : (*p & 0xf8) == 0xf0 ? 4 : 0;
	uint32_t c = *p;

	if (len == 0 || len > (size_t)(end - p))
		return 0;
	if (len > 1)
		c &= 0xffu >> (len + 1);
	for (size_t i = 1; i < len; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (p[i] & 0x3f);
	}
	if (c < least[len] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 0;
	*ret = c;
	return len;
}

/* Is c no part of a text of lines? The Unicode line separators would make our line numbers wrong. */
static bool is_control(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x2028 || c == 0x2029 || c == 0xfeff ||
		(c & 0xfffe) == 0xfffe;
}

/* Takes one character; false when the text ends being text. */
static bool scan_one(struct cursor *s, struct diag *diag)
{
	uint32_t c;
	size_t len = utf8_decode(s->p, s->end, &c);

	if (len == 0) {
		diag_error(diag, s->loc, "byte 0x%02x is not UTF-8 text", *s->p);
		return false;
	}
	if (c == '\r' && s->p + 1 < s->end && s->p[1] == '\n') {
		s->p++; /* CRLF is one line end */
		c = '\n';
	}
	s->p += len;
	if (c == '\n') {
		s->loc = (struct loc){s->loc.line + 1, 1};
		s->blank = true;
		return true;
	}
	if (c == '\t' && s->blank) {
		diag_error(diag, s->loc, "a tab in the indentation; use spaces");
		s->failed = true;
		s->blank = false;
	} else if (c != '\t' && is_control(c)) {
		diag_error(diag, s->loc, "control character U+%04X; the file must be text", c);
		return false;
	}
	s->blank = s->blank && c == ' ';
	s->loc.col++;
	return true;
}

static int check_bytes(const char *text, size_t len, struct diag *diag)
{
	struct cursor s = {.p = (const unsigned char *)text, .loc = {1, 1}, .blank = true};

	s.end = s.p + len;
	if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
		s.p += 3; /* a byte order mark says "UTF-8"; editors on Windows write it */
	while (s.p < s.end)
		if (!scan_one(&s, diag))
			return -EINVAL;
	return s.failed ? -EINVAL : 0;
}

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
	bool quoted, too_long, has_nul, explicit_start, has_directive;
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
	ev->anchor = token_loc(from->scalar.anchor);
	ev->tag = token_loc(from->scalar.tag);
}

static void take_event(struct parse *p, struct fy_event *from, struct event *ev)
{
	*ev = (struct event){.type = from->type, .loc = loc_of(fy_event_start_mark(from))};
	switch (from->type) {
	case FYET_SCALAR:
		take_scalar(p, from, ev);
		break;
	case FYET_MAPPING_START:
		ev->anchor = token_loc(from->mapping_start.anchor);
		ev->tag = token_loc(from->mapping_start.tag);
		break;
	case FYET_SEQUENCE_START:
		ev->anchor = token_loc(from->sequence_start.anchor);
		ev->tag = token_loc(from->sequence_start.tag);
		break;
	case FYET_DOCUMENT_START:
		ev->has_directive = fy_document_state_version_explicit(from->document_start.document_state) ||
			fy_document_state_tags_explicit(from->document_start.document_state);
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
	struct node **sorted, *first = NULL;
	size_t n = 0;

	if (mapping->n < 2)
		return;
	sorted = calloc(mapping->n, sizeof(*sorted));
	if (!sorted)
		abort();
	for (struct node *c = mapping->first; c; c = c->next)
		sorted[n++] = c;
	qsort(sorted, n, sizeof(struct node *), by_key);
	for (size_t i = 0; i < n; i++) {
		if (!first || !str_eq(first->key, sorted[i]->key)) {
			first = sorted[i];
			continue;
		}
		diag_error(p->diag, sorted[i]->key_loc, "key %s is given twice; the first is on line %u",
			diag_show(p->arena, first->key), first->key_loc.line);
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
		if (ev.type == FYET_DOCUMENT_START && ev.has_directive) {
			diag_error(p->diag, (struct loc){1, 1}, "a %% directive; the file is plain YAML 1.2");
			return NULL;
		}
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
	if (check_bytes(text, len, diag) < 0)
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
