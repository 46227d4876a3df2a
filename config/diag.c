/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Diagnostics: collect, sort, print; see diag.h.
 * The one idea: foreign text reaches a message only through diag_show(), so a file cannot write to a terminal.
 */
#include "config/diag.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gateway/base/arena.h"
#include "gateway/base/buf.h"
#include "gateway/base/str.h"

enum { SHOW_MAX = 100 }; /* bytes of a foreign text in a message */

void diag_init(struct diag *d, const char *file)
{
	*d = (struct diag){.file = file};
}

void diag_free(struct diag *d)
{
	for (size_t i = 0; i < d->n; i++)
		free(d->v[i].text);
	free(d->v);
	*d = (struct diag){.file = d->file};
}

__attribute__((format(printf, 4, 0))) static void add(
	struct diag *d, struct loc loc, enum severity severity, const char *fmt, va_list ap)
{
	struct diag_msg *v;
	char *text;

	if (severity == SEV_ERROR)
		d->n_errors++;
	if (d->n == DIAG_MAX) {
		d->n_left_out++;
		return;
	}
	if ((d->n & (d->n - 1)) == 0) { /* full at every power of two */
		v = reallocarray(d->v, d->n ? 2 * d->n : 1, sizeof(*v));
		if (!v)
			abort();
		d->v = v;
	}
	if (vasprintf(&text, fmt, ap) < 0)
		abort();
	d->v[d->n++] = (struct diag_msg){.loc = loc, .severity = severity, .text = text};
}

void diag_error(struct diag *d, struct loc loc, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add(d, loc, SEV_ERROR, fmt, ap);
	va_end(ap);
}

void diag_warning(struct diag *d, struct loc loc, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add(d, loc, SEV_WARNING, fmt, ap);
	va_end(ap);
}

int loc_cmp(struct loc a, struct loc b)
{
	return a.line != b.line ? cmp_u32(a.line, b.line) : cmp_u32(a.col, b.col);
}

/* Insertion: stable, fast on what is nearly sorted, and n is at most DIAG_MAX. */
void diag_sort(struct diag *d)
{
	for (size_t i = 1; i < d->n; i++) {
		struct diag_msg m = d->v[i];
		size_t j = i;

		for (; j > 0 && loc_cmp(d->v[j - 1].loc, m.loc) > 0; j--)
			d->v[j] = d->v[j - 1];
		d->v[j] = m;
	}
}

void diag_print(const struct diag *d, struct buf *out)
{
	static const char *const names[] = {[SEV_ERROR] = "error", [SEV_WARNING] = "warning"};

	for (size_t i = 0; i < d->n; i++) {
		const struct diag_msg *m = &d->v[i];

		buf_puts(out, d->file);
		if (m->loc.line)
			buf_printf(out, ":%u:%u", m->loc.line, m->loc.col);
		buf_printf(out, ": %s: %s\n", names[m->severity], m->text);
	}
	if (d->n_left_out)
		buf_printf(out, "%s: %zu more messages left out\n", d->file, d->n_left_out);
}

static bool is_bare(const char *text)
{
	for (const char *p = text; *p; p++)
		if (!strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:/+-@%", *p))
			return false;
	return *text != '\0';
}

const char *diag_show(struct arena *arena, const char *text)
{
	struct buf b = {0};
	size_t len = strlen(text);
	const char *shown;

	if (len <= SHOW_MAX && is_bare(text))
		return text;
	buf_putc(&b, '"');
	if (len <= SHOW_MAX && str_is_printable(text)) {
		buf_puts(&b, text);
	} else {
		for (size_t i = 0; i < len && i < SHOW_MAX; i++) {
			unsigned char c = (unsigned char)text[i];

			if (c >= 0x20 && c < 0x7f)
				buf_putc(&b, (char)c);
			else
				buf_printf(&b, "\\x%02x", c);
		}
	}
	buf_puts(&b, len > SHOW_MAX ? "...\"" : "\"");
	shown = arena_strndup(arena, buf_str(&b), b.len);
	buf_free(&b);
	return shown;
}

void nearest_try(struct nearest *n, const char *candidate)
{
	size_t d, limit = 1 + strlen(n->word) / 4;

	d = str_distance(n->word, candidate);
	if (d <= limit && (!n->best || d < n->distance)) {
		n->best = candidate;
		n->distance = d;
	}
}
