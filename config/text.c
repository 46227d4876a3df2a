/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One pass over the bytes before YAML; see text.h.
 * The one idea: libfyaml keeps tokens in memory while a bracket is open that may yet be a key, and is quadratic in the
 * length of a tag, of a run of blanks and of a run of empty lines. So these have bounds, which no file that a person or
 * a program writes for us comes near, and a hostile file costs what its size says.
 */
#include "config/text.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "config/diag.h"
#include "config/node.h"

enum {
	LINE_BYTES = 2 * 1024 * 1024,
	OPEN = 100000,	   /* brackets open at once; a text may have some that never close */
	BLANKS = 256,	   /* in a row */
	EMPTY_LINES = 500, /* in a row */
	TAG_BYTES = 256,
};

struct cursor {
	const unsigned char *p, *end;
	const unsigned char *line; /* where this line begins */
	struct loc loc;
	struct loc deep; /* where the open brackets became too many for YAML_DEPTH_MAX */
	size_t open;	 /* brackets */
	size_t blanks;	 /* up to here */
	size_t empty;	 /* lines up to here */
	bool indent;	 /* only blanks so far on this line */
	bool failed;	 /* a tab was found: the bytes are read on, to find the others */
	struct diag *diag;
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
	return (c < 0x20 && c != '\t') || (c >= 0x7f && c < 0xa0) || c == 0x2028 || c == 0x2029 || c == 0xfeff ||
		(c & 0xfffe) == 0xfffe;
}

/* Is the word at p longer than a tag may be? */
static bool is_long_word(const unsigned char *p, const unsigned char *end)
{
	size_t n = 0;

	while (p + n < end && n <= TAG_BYTES && p[n] > ' ')
		n++;
	return n > TAG_BYTES;
}

static int fail(struct cursor *s, struct loc loc, const char *text)
{
	diag_error(s->diag, loc, "%s", text);
	return -EINVAL;
}

static int end_line(struct cursor *s)
{
	s->empty = s->indent ? s->empty + 1 : 0;
	if (s->empty > EMPTY_LINES)
		return fail(s, s->loc, "too many empty lines in a row");
	s->loc = (struct loc){s->loc.line + 1, 1};
	s->line = s->p;
	s->blanks = 0;
	s->indent = true;
	return 0;
}

static int check_brackets(struct cursor *s, uint32_t c)
{
	if (c == '[' || c == '{') {
		if (++s->open == YAML_DEPTH_MAX)
			s->deep = s->loc;
	} else if ((c == ']' || c == '}') && s->open > 0) {
		s->open--;
	}
	if (s->open <= OPEN)
		return 0;
	diag_error(s->diag, s->deep, "more than %d levels of nesting", YAML_DEPTH_MAX);
	return -EINVAL;
}

/* A character of the line, which ends at s->p; its place is s->loc. */
static int check_char(struct cursor *s, uint32_t c)
{
	if (is_control(c)) {
		diag_error(s->diag, s->loc, "control character U+%04X; the file must be text", c);
		return -EINVAL;
	}
	if (c == '\t' && s->indent) {
		(void)fail(s, s->loc, "a tab in the indentation; use spaces");
		s->failed = true;
		s->indent = false;
	}
	s->blanks = c == ' ' || c == '\t' ? s->blanks + 1 : 0;
	s->indent = s->indent && c == ' ';
	if (s->blanks > BLANKS)
		return fail(s, s->loc, "too many blanks in a row");
	if (s->p - s->line > LINE_BYTES)
		return fail(s, (struct loc){s->loc.line, 1}, "a line of more than two million bytes");
	if (c == '%' && s->loc.col == 1)
		return fail(s, s->loc, "a directive; the file is YAML 1.2 without any");
	if (c == '!' && is_long_word(s->p, s->end))
		return fail(s, s->loc, "a tag that has no end");
	return check_brackets(s, c);
}

static int check_next(struct cursor *s)
{
	uint32_t c;
	size_t len = utf8_decode(s->p, s->end, &c);
	int r;

	if (len == 0) {
		diag_error(s->diag, s->loc, "byte 0x%02x is not UTF-8 text", *s->p);
		return -EINVAL;
	}
	s->p += len;
	if (c == '\r' && s->p < s->end && *s->p == '\n') {
		s->p++; /* CRLF is one line end */
		c = '\n';
	}
	if (c == '\n')
		return end_line(s);
	r = check_char(s, c);
	s->loc.col++;
	return r;
}

int text_check(const char *text, size_t len, struct diag *diag)
{
	struct cursor s = {.p = (const unsigned char *)text, .loc = {1, 1}, .indent = true, .diag = diag};
	int r = 0;

	s.end = s.p + len;
	if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
		s.p += 3; /* a byte order mark says "UTF-8"; editors on Windows write it */
	s.line = s.p;
	while (r == 0 && s.p < s.end)
		r = check_next(&s);
	return r < 0 || s.failed ? -EINVAL : 0;
}
