/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tree of lines: built, read from what FRR prints, printed. The one idea: indentation makes the tree, and each node
 * is ended by an `exit` of its own, so that half a text is never taken for a whole one.
 */
#include "routing/frr_conf.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include "gateway/base/arena.h"
#include "gateway/base/buf.h"
#include "gateway/base/cleanup.h"
#include "gateway/base/str.h"

/* FRR nests three deep: router bgp, address-family, vni. */
enum { MAX_DEPTH = 8, INDEX_MIN = 64 };

void frr_conf_init(struct frr_conf *conf, struct arena *arena)
{
	*conf = (struct frr_conf){.arena = arena, .root = {.block = true}};
}

/* ---- the index: open addressing, at most half full ----------------------------------------------------------------
 */

static struct frr_node **slot_of(const struct frr_conf *conf, const struct frr_node *up, const char *line)
{
	size_t at = (size_t)(str_hash(line) ^ ((uintptr_t)up >> 4) * 0x9e3779b97f4a7c15u) & (conf->cap - 1);

	while (conf->index[at] && (conf->index[at]->up != up || strcmp(conf->index[at]->line, line) != 0))
		at = (at + 1) & (conf->cap - 1);
	return &conf->index[at];
}

static void index_grow(struct frr_conf *conf)
{
	struct frr_node **old = conf->index;
	size_t old_cap = conf->cap;

	conf->cap = old_cap ? 2 * old_cap : INDEX_MIN;
	conf->index = arena_array(conf->arena, conf->cap, sizeof(struct frr_node *));
	for (size_t i = 0; i < old_cap; i++)
		if (old[i])
			*slot_of(conf, old[i]->up, old[i]->line) = old[i];
}

struct frr_node *frr_find(const struct frr_conf *conf, const struct frr_node *up, const char *line)
{
	return conf->cap ? *slot_of(conf, up, line) : NULL;
}

/* ---- building -----------------------------------------------------------------------------------------------------
 */

static struct frr_node *add_line(struct frr_conf *conf, struct frr_node *up, const char *line, size_t len)
{
	struct frr_node *node = arena_new_obj(conf->arena, struct frr_node), **slot, *known;

	node->line = arena_strndup(conf->arena, line, len);
	node->up = up;
	if (2 * conf->n >= conf->cap)
		index_grow(conf);
	slot = slot_of(conf, up, node->line);
	known = *slot;
	if (known)
		return known;
	*slot = node;
	conf->n++;
	up->block = true;
	if (up->last)
		up->last->next = node;
	else
		up->first = node;
	up->last = node;
	return node;
}

__attribute__((format(printf, 4, 0))) static struct frr_node *add_formatted(
	struct frr_conf *conf, struct frr_node *up, const char *object, const char *fmt, va_list ap)
{
	_cleanup_(buf_free) struct buf text = {0};
	struct frr_node *node;

	buf_vprintf(&text, fmt, ap);
	node = add_line(conf, up, buf_str(&text), text.len);
	if (!node->object)
		node->object = object;
	return node;
}

struct frr_node *frr_add(struct frr_conf *conf, struct frr_node *up, const char *object, const char *fmt, ...)
{
	struct frr_node *node;
	va_list ap;

	va_start(ap, fmt);
	node = add_formatted(conf, up, object, fmt, ap);
	va_end(ap);
	return node;
}

struct frr_node *frr_block(struct frr_conf *conf, struct frr_node *up, const char *object, const char *fmt, ...)
{
	struct frr_node *node;
	va_list ap;

	va_start(ap, fmt);
	node = add_formatted(conf, up, object, fmt, ap);
	va_end(ap);
	node->block = true;
	return node;
}

/* ---- reading ------------------------------------------------------------------------------------------------------
 */

struct reader {
	struct frr_conf *conf;
	struct frr_node *node[MAX_DEPTH]; /* that are open, the root first */
	size_t indent[MAX_DEPTH];	  /* of the lines in each */
	size_t depth;			  /* of the innermost */
	struct frr_node *last;		  /* the line before, if it can open a node */
};

/* What FRR adds of itself at the top, or what is about the daemon and not about routing. */
static bool is_noise(const char *line)
{
	static const char *const prefixes[] = {
		"Building configuration",
		"Current configuration",
		"frr version ",
		"frr defaults ",
		"hostname ",
		"domainname ",
		"log ",
		"no log ",
		"debug ",
		"service ",
		"password ",
		"enable password ",
		"ip forwarding",
		"no ip forwarding",
		"ipv6 forwarding",
		"no ipv6 forwarding",
		"allow-external",
		"end",
	};

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (str_starts(line, prefixes[i]))
			return true;
	return false;
}

/* `exit`, or what ends an address family, a VNI or a VRF. */
static bool is_exit(const char *line)
{
	return strcmp(line, "exit") == 0 || str_starts(line, "exit-");
}

static int read_exit(struct reader *r, size_t indent)
{
	if (r->depth > 0 && indent == r->indent[r->depth - 1])
		r->depth--;
	else if (r->last && indent == r->indent[r->depth])
		r->last->block = true; /* one without lines */
	else
		return -EINVAL;
	r->last = NULL;
	return 0;
}

static int read_line(struct reader *r, size_t indent, const char *line, size_t len)
{
	if (indent > r->indent[r->depth]) {
		if (!r->last || r->depth + 1 == MAX_DEPTH)
			return -EINVAL;
		r->depth++;
		r->node[r->depth] = r->last;
		r->indent[r->depth] = indent;
	} else if (indent < r->indent[r->depth]) {
		return -EINVAL;
	}
	r->last = add_line(r->conf, r->node[r->depth], line, len);
	return 0;
}

/* `line` ends with a NUL of its own. */
static int read_any(struct reader *r, const char *line, size_t len)
{
	size_t indent = strspn(line, " ");

	line += indent;
	len -= indent;
	if (!str_is_printable(line) || line[0] == '%')
		return -EINVAL;
	if (len == 0 || line[0] == '!')
		return 0;
	if (is_exit(line))
		return read_exit(r, indent);
	if (indent == 0 && is_noise(line))
		return r->depth == 0 ? 0 : -EINVAL;
	return read_line(r, indent, line, len);
}

int frr_conf_parse(const char *text, size_t len, struct frr_conf *ret)
{
	_cleanup_(buf_free) struct buf line = {0};
	struct reader r = {.conf = ret, .node = {&ret->root}};

	if (len > 0 && memchr(text, '\0', len))
		return -EINVAL;
	for (const char *end = text + len; text < end;) {
		const char *eol = memchr(text, '\n', (size_t)(end - text));
		size_t n = (size_t)((eol ? eol : end) - text);
		int error;

		buf_reset(&line);
		buf_add(&line, text, n);
		while (line.len > 0 && strchr(" \r", line.data[line.len - 1]))
			line.data[--line.len] = '\0';
		error = read_any(&r, buf_str(&line), line.len);
		if (error)
			return error;
		text += n + (eol ? 1 : 0);
	}
	return r.depth == 0 ? 0 : -EINVAL;
}

/* ---- printing -----------------------------------------------------------------------------------------------------
 */

static const char *password_in(const char *line)
{
	const char *at = str_starts(line, "neighbor ") ? strchr(line + strlen("neighbor "), ' ') : NULL;

	return at && str_starts(at, " password ") ? at + strlen(" password ") : NULL;
}

static const char *exit_of(const struct frr_node *node)
{
	if (str_starts(node->line, "address-family "))
		return "exit-address-family";
	if (str_starts(node->line, "vni "))
		return "exit-vni";
	if (str_starts(node->line, "vrf "))
		return "exit-vrf";
	return "exit";
}

static void print_below(const struct frr_node *up, int indent, bool mask, struct buf *out)
{
	for (const struct frr_node *n = up->first; n; n = n->next) {
		const char *password = mask ? password_in(n->line) : NULL;
		int shown = password ? (int)(password - n->line) : (int)strlen(n->line);

		buf_printf(out, "%*s%.*s%s\n", indent, "", shown, n->line, password ? "********" : "");
		if (!n->block)
			continue;
		print_below(n, indent + 1, mask, out);
		buf_printf(out, "%*s%s\n%s", indent, "", exit_of(n), indent == 0 ? "!\n" : "");
	}
}

void frr_conf_print(const struct frr_conf *conf, bool mask, struct buf *out)
{
	print_below(&conf->root, 0, mask, out);
}

/* ---- kinds of lines -----------------------------------------------------------------------------------------------
 */

size_t frr_next_word(const char **at)
{
	size_t len = strcspn(*at, " ");

	*at += len;
	*at += strspn(*at, " ");
	return len;
}

bool frr_line_fits(const char *words, const char *line, struct buf *ret_key)
{
	if (ret_key)
		buf_reset(ret_key);
	while (*words) {
		const char *pattern = words, *word = line;
		size_t len_pattern = frr_next_word(&words), len = frr_next_word(&line);

		if (len == 0)
			return false;
		if (*pattern == '?')
			continue;
		if (*pattern != '*' && (len != len_pattern || strncmp(pattern, word, len) != 0))
			return false;
		if (ret_key) {
			buf_add(ret_key, word, len);
			buf_putc(ret_key, ' ');
		}
	}
	return true;
}
