/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See prefix_parse.h. Half a million lines are read at every change of one, so nothing is copied on the way. */
#include "config/prefix_parse.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CAP_MIN = 64 };

struct parser {
	struct prefix_list_file *file;
	size_t cap, line;
};

static void add(struct parser *p, const struct ip_prefix *prefix)
{
	struct prefix_list_file *f = p->file;

	if (f->n == p->cap) {
		p->cap = p->cap ? 2 * p->cap : CAP_MIN;
		f->v = reallocarray(f->v, p->cap, sizeof(*f->v));
		if (!f->v)
			abort();
	}
	f->v[f->n++] = *prefix;
}

/* What is no text is shown as dots. */
static void complain(struct parser *p, size_t column, const char *word, size_t len, const char *want)
{
	struct prefix_list_file *f = p->file;
	struct prefix_error *e;

	if (f->n_errors++ >= PREFIX_ERRORS_MAX)
		return;
	e = &f->errors[f->n_errors - 1];
	e->line = p->line;
	e->column = column;
	(void)snprintf(
		e->word, sizeof(e->word), "%.*s", (int)(len < sizeof(e->word) ? len : sizeof(e->word) - 1), word);
	for (char *c = e->word; *c; c++)
		if (*c < ' ' || *c > '~')
			*c = '.';
	(void)snprintf(e->want, sizeof(e->want), "%s", want);
}

/* Digits of a number up to max, as inet_pton(3) takes them: no leading zero. False: it is none. */
static bool take_number(const char **at, const char *end, unsigned max, unsigned *ret)
{
	const char *p = *at;
	unsigned n = 0;

	while (p < end && *p >= '0' && *p <= '9' && p - *at < 3)
		n = 10 * n + (unsigned)(*p++ - '0');
	if (p == *at || n > max || (**at == '0' && p - *at > 1))
		return false;
	*at = p;
	*ret = n;
	return true;
}

/* What most lines are, a network a.b.c.d/n: not by way of strings. False: it is something else. */
static bool parse_ipv4(const char *word, size_t len, struct ip_prefix *ret)
{
	const char *end = word + len;
	struct ip_prefix p = {.addr.family = AF_INET};
	uint32_t address = 0;
	unsigned n = 0;

	for (size_t i = 0; i < 4; i++) {
		if (!take_number(&word, end, 255, &n) || word == end || *word++ != (i < 3 ? '.' : '/'))
			return false;
		p.addr.bytes[i] = (uint8_t)n;
		address = address << 8 | n;
	}
	if (!take_number(&word, end, 32, &n) || word != end || (n < 32 && address << n != 0))
		return false;
	p.len = (uint8_t)n;
	*ret = p;
	return true;
}

/* One word as a prefix; a plain address is its host's. */
static bool parse_word(const char *word, size_t len, struct ip_prefix *ret)
{
	char text[IP_STR_MAX];
	struct ip_addr addr;

	if (len >= sizeof(text) || memchr(word, '\0', len))
		return false;
	memcpy(text, word, len);
	text[len] = '\0';
	if (ip_prefix_parse(text, ret) == 0)
		return true;
	if (ip_addr_parse(text, &addr) < 0)
		return false;
	*ret = ip_addr_host_prefix(&addr);
	return true;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static void parse_line(struct parser *p, const char *line, size_t len)
{
	const char *comment = memchr(line, '#', len);
	struct ip_prefix prefix, network;
	size_t start = 0, end = comment ? (size_t)(comment - line) : len;
	char want[PREFIX_WORD_MAX], right[IP_STR_MAX];

	while (start < end && is_blank(line[start]))
		start++;
	while (end > start && is_blank(line[end - 1]))
		end--;
	if (start == end)
		return;
	if (parse_ipv4(line + start, end - start, &prefix)) {
		add(p, &prefix);
		return;
	}
	if (!parse_word(line + start, end - start, &prefix)) {
		complain(p, start + 1, line + start, end - start, "");
		return;
	}
	network = ip_prefix_network(&prefix);
	if (ip_prefix_cmp(&network, &prefix) == 0) {
		add(p, &prefix);
		return;
	}
	(void)snprintf(want, sizeof(want), "write %s", ip_prefix_str(&network, right));
	complain(p, start + 1, line + start, end - start, want);
}

int prefix_parse(const char *text, size_t len, struct prefix_list_file *ret)
{
	struct parser p = {.file = ret};

	*ret = (struct prefix_list_file){0};
	if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) { /* a byte order mark */
		text += 3;
		len -= 3;
	}
	while (len > 0) {
		const char *end = memchr(text, '\n', len);
		size_t n = end ? (size_t)(end - text) : len;

		p.line++;
		parse_line(&p, text, n);
		n += end != NULL;
		text += n;
		len -= n;
	}
	if (ret->n_errors == 0)
		return 0;
	free(ret->v);
	ret->v = NULL;
	ret->n = 0;
	return -EINVAL;
}
