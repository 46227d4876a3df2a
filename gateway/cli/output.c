/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Data for people: an object is lines of "name  value", a list of objects is a table with a column per member, or a
 * block of lines per entry where that would be too wide. So whatever a subsystem shows is readable without code of its
 * own here.
 */
#include "gateway/cli/output.h"

#include <stdlib.h>
#include <string.h>

#include "gateway/base/buf.h"
#include "gateway/base/str.h"

enum { MAX_COLUMNS = 32, MAX_WIDTH = 132, GAP = 2 };

/* --- JSON --- */

static bool is_for_people(const char *key)
{
	return str_eq(key, "text") || str_eq(key, "messages");
}

static void print_json(const json_t *data, struct buf *out)
{
	json_t *rest = json_copy((json_t *)data);
	char *text;

	json_object_del(rest, "text");
	json_object_del(rest, "messages");
	text = json_dumps(rest, JSON_INDENT(2) | JSON_ENCODE_ANY);
	if (!text)
		abort();
	buf_puts(out, text);
	buf_putc(out, '\n');
	free(text);
	json_decref(rest);
}

const struct output output_json = {.print = print_json, .prints_errors = true};

/* --- text --- */

static void print_cell(const json_t *value, struct buf *out);

static void print_list_cell(const json_t *list, struct buf *out)
{
	size_t i;
	json_t *item;

	if (json_array_size(list) == 0)
		buf_putc(out, '-');
	json_array_foreach(list, i, item)
	{
		if (i > 0)
			buf_putc(out, ',');
		print_cell(item, out);
	}
}

static void print_object_cell(const json_t *object, struct buf *out)
{
	const char *key;
	json_t *value;
	bool first = true;

	json_object_foreach((json_t *)object, key, value)
	{
		buf_printf(out, "%s%s=", first ? "" : " ", key);
		print_cell(value, out);
		first = false;
	}
}

static void print_cell(const json_t *value, struct buf *out)
{
	switch (json_typeof(value)) {
	case JSON_STRING:
		buf_puts(out, *json_string_value(value) ? json_string_value(value) : "-");
		break;
	case JSON_INTEGER:
		buf_printf(out, "%lld", (long long)json_integer_value(value));
		break;
	case JSON_REAL:
		buf_printf(out, "%g", json_real_value(value));
		break;
	case JSON_TRUE:
		buf_puts(out, "yes");
		break;
	case JSON_FALSE:
		buf_puts(out, "no");
		break;
	case JSON_NULL:
		buf_putc(out, '-');
		break;
	case JSON_ARRAY:
		print_list_cell(value, out);
		break;
	case JSON_OBJECT:
		print_object_cell(value, out);
		break;
	}
}

/* Columns of text, however many bytes of UTF-8 they take. */
static size_t width_of(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

static void pad(struct buf *out, size_t n)
{
	while (n-- > 0)
		buf_putc(out, ' ');
}

struct table {
	const char *keys[MAX_COLUMNS];
	size_t widths[MAX_COLUMNS];
	size_t n;
};

static size_t column_of(struct table *t, const char *key)
{
	for (size_t i = 0; i < t->n; i++)
		if (str_eq(t->keys[i], key))
			return i;
	if (t->n == MAX_COLUMNS)
		return MAX_COLUMNS;
	t->keys[t->n] = key;
	t->widths[t->n] = strlen(key);
	return t->n++;
}

static void table_measure(struct table *t, const json_t *rows)
{
	struct buf cell = {0};
	size_t i;
	json_t *row, *value;
	const char *key;

	json_array_foreach(rows, i, row)
	{
		json_object_foreach(row, key, value)
		{
			size_t column = column_of(t, key);

			buf_reset(&cell);
			print_cell(value, &cell);
			if (column < MAX_COLUMNS && width_of(buf_str(&cell)) > t->widths[column])
				t->widths[column] = width_of(buf_str(&cell));
		}
	}
	buf_free(&cell);
}

static void print_padded(const char *text, size_t width, bool last, struct buf *out)
{
	buf_puts(out, text);
	if (!last)
		pad(out, width - width_of(text) + GAP);
}

static char title_char(char c)
{
	if (c == '_')
		return '-';
	if (c >= 'a' && c <= 'z')
		return (char)(c - 'a' + 'A');
	return c;
}

static void print_head(const struct table *t, struct buf *out)
{
	struct buf title = {0};

	for (size_t i = 0; i < t->n; i++) {
		buf_reset(&title);
		for (const char *p = t->keys[i]; *p; p++)
			buf_putc(&title, title_char(*p));
		print_padded(buf_str(&title), t->widths[i], i + 1 == t->n, out);
	}
	buf_putc(out, '\n');
	buf_free(&title);
}

static void print_row(const struct table *t, const json_t *row, struct buf *out)
{
	struct buf cell = {0};

	for (size_t i = 0; i < t->n; i++) {
		const json_t *value = json_object_get(row, t->keys[i]);

		buf_reset(&cell);
		if (value)
			print_cell(value, &cell);
		else
			buf_putc(&cell, '-');
		print_padded(buf_str(&cell), t->widths[i], i + 1 == t->n, out);
	}
	buf_putc(out, '\n');
	buf_free(&cell);
}

static size_t table_width(const struct table *t)
{
	size_t width = 0;

	for (size_t i = 0; i < t->n; i++)
		width += t->widths[i] + GAP;
	return width;
}

static size_t key_width(const json_t *object)
{
	size_t width = 0;
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)object, key, value)
	{
		if (!is_for_people(key) && strlen(key) > width)
			width = strlen(key);
	}
	return width;
}

/* A list of more than words takes a line per item. */
static void print_value_lines(const json_t *value, size_t indent, struct buf *out)
{
	size_t i;
	json_t *item;

	if (!json_is_object(json_array_get(value, 0))) {
		print_cell(value, out);
		buf_putc(out, '\n');
		return;
	}
	json_array_foreach(value, i, item)
	{
		pad(out, i > 0 ? indent : 0);
		print_cell(item, out);
		buf_putc(out, '\n');
	}
}

/* What is too wide for a table: an entry is its first member, and below it the others, a line each. */
static void print_record(const json_t *row, struct buf *out)
{
	size_t width = key_width(row);
	const char *key;
	json_t *value;
	bool first = true;

	json_object_foreach((json_t *)row, key, value)
	{
		if (!first) {
			pad(out, GAP);
			print_padded(key, width, false, out);
		}
		print_value_lines(value, GAP + width + GAP, out);
		first = false;
	}
}

static void print_table(const json_t *rows, struct buf *out)
{
	struct table t = {.n = 0};
	size_t i;
	json_t *row;

	table_measure(&t, rows);
	if (table_width(&t) > MAX_WIDTH) {
		json_array_foreach(rows, i, row)
		{
			print_record(row, out);
		}
		return;
	}
	print_head(&t, out);
	json_array_foreach(rows, i, row)
	{
		print_row(&t, row, out);
	}
}

static bool is_table(const json_t *value)
{
	return json_is_array(value) && json_is_object(json_array_get(value, 0));
}

/* A list of texts that has something in it: a line each reads better than one cell. */
static bool is_text_list(const json_t *value)
{
	return json_is_array(value) && json_is_string(json_array_get(value, 0)) && json_array_size(value) > 1;
}

static void print_text_list(const json_t *list, size_t indent, struct buf *out)
{
	size_t i;
	json_t *item;

	json_array_foreach(list, i, item)
	{
		if (i > 0)
			pad(out, indent);
		print_cell(item, out);
		buf_putc(out, '\n');
	}
}

static void print_values(const json_t *data, struct buf *out)
{
	size_t width = key_width(data);
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)data, key, value)
	{
		if (is_table(value) || is_for_people(key))
			continue;
		print_padded(key, width, false, out);
		if (is_text_list(value)) {
			print_text_list(value, width + GAP, out);
			continue;
		}
		print_cell(value, out);
		buf_putc(out, '\n');
	}
}

static void print_tables(const json_t *data, struct buf *out)
{
	bool titled = json_object_size(data) > 1;
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)data, key, value)
	{
		if (!is_table(value))
			continue;
		if (titled)
			buf_printf(out, "%s%s:\n", out->len ? "\n" : "", key);
		print_table(value, out);
	}
}

static void print_text(const json_t *data, struct buf *out)
{
	const json_t *text = json_object_get(data, "text");

	if (text) {
		buf_add(out, json_string_value(text), json_string_length(text));
	} else if (is_table(data)) {
		print_table(data, out);
	} else if (json_is_object(data)) {
		print_values(data, out);
		print_tables(data, out);
	} else {
		print_cell(data, out);
		buf_putc(out, '\n');
	}
}

const struct output output_text = {.print = print_text};
