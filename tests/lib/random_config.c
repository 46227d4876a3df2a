/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Random configs; see random_config.h.
 * The one idea: what stands in a place depends on the place and the seed alone; how it is written comes from a stream
 * of its own. So two variants have the same content in another order, style and spelling, but for a few places.
 */
#include "tests/lib/random_config.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/schema.h"
#include "config/types.h"
#include "gateway/base/buf.h"
#include "gateway/base/str.h"

uint64_t random_config_seed;

enum { VALUE_MAX = 1100, PERTURBED = 100 /* one place of so many */, ROWS_MAX = 64 };

struct generator {
	uint64_t seed;
	unsigned variant;
	uint64_t stream;
};

/* SplitMix64 */
static uint64_t mix(uint64_t x)
{
	x += UINT64_C(0x9e3779b97f4a7c15);
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

static unsigned style(struct generator *g, unsigned n)
{
	return (unsigned)(mix(g->stream++) % n);
}

static uint64_t below(uint64_t place, const char *key, size_t i)
{
	return mix(mix(place ^ str_hash(key)) + i);
}

static uint64_t roll(const struct generator *g, uint64_t place)
{
	bool other = g->variant && mix(place ^ g->seed) % PERTURBED == 0;

	return mix(mix(g->seed) ^ place ^ (other ? UINT64_C(0x5555) : 0));
}

/* --- values, as the texts that types.h parses; i is unlike that of the others in the same list --- */

__attribute__((format(printf, 2, 3))) static void put(char *to, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(to, VALUE_MAX, fmt, ap);
	va_end(ap);
}

static uint64_t in_range(uint64_t r, const struct limit *limit, uint64_t max)
{
	uint64_t low = limit->has_range ? limit->min : 0, high = limit->has_range ? limit->max : max;

	return r % 8 == 0 ? low : r % 8 == 1 ? high : low + mix(r) % (high - low + 1);
}

static void put_text(uint64_t r, char *to)
{
	static const char *const texts[] = {"free text", "", "~", "null", "true", "No", "1", "0x10", "-1.5e3", "- a",
		"a: b", "a #b", "#", " lead", "trail ", "'", "\"", "\\n", "[a, b]", "{a: b}", "&a", "*a", "!t", "%d",
		"@", "`", "|", ">", "?", "<<", "---", "北京 1 号线", "Grüße", "\u2028", "a\uFEFFb", "\U0001F600",
		"2026-12-01", "12:30:45", "10_000", "x,y", "it's \"so\" \\ then"};

	put(to, "%s%s", texts[r % ARRAY_SIZE(texts)], mix(r) % 3 ? "" : texts[mix(r) % ARRAY_SIZE(texts)]);
}

static void put_name(uint64_t r, size_t i, const char *letters, char *to)
{
	static const char *const heads[] = {"n", "", "Yes-", "0x", "a.b_c-", "1e", "e"};

	put(to, "%s%zu%s", heads[r % ARRAY_SIZE(heads)], i, letters);
}

static void put_addr(uint64_t r, size_t i, char *to)
{
	unsigned byte = (unsigned)(r >> 8 & 0xff);

	if (r % 2)
		put(to, "10.%zu.%u.%u", i, byte, 1 + (unsigned)(r >> 16) % 254);
	else if (r % 4)
		put(to, "fd00:%zx::%X", i + 1, 1 + byte); /* capitals are not canonical */
	else
		put(to, "fd00:%04zx:0:0:0:0:0:%x", i + 1, 1 + byte);
}

static void put_prefix(uint64_t r, size_t i, char *to)
{
	if (r % 2)
		put(to, "10.%zu.%u.0/%u", i, (unsigned)(r >> 8 & 0xff), 24 + (unsigned)(r >> 16) % 2);
	else
		put(to, "FD00:%zx:0::/%u", i + 1, 48 + (unsigned)(r >> 16) % 80);
}

static void put_mss(uint64_t r, char *to)
{
	unsigned v4 = 536 + (unsigned)(r >> 8) % 60000, v6 = 1220 + (unsigned)(r >> 8) % 60000;

	switch (r % 7) {
	case 0:
		put(to, "0");
		break;
	case 1:
		put(to, "auto");
		break;
	case 2:
		put(to, "{ipv4: %u}", v4);
		break;
	case 3:
		put(to, "{ipv6: %u, ipv4: auto}", v6);
		break;
	case 4:
		put(to, "{ipv6: %u, ipv4: %u}", v6, v4);
		break;
	case 5:
		put(to, "{ipv4: %u, ipv6: %u}", v6, v6);
		break;
	default:
		put(to, "%u", v4);
	}
}

static void put_quantity(uint64_t r, const struct field *field, const char *small, const char *thousand, char *to)
{
	uint64_t v = in_range(r, &field->limit, UINT32_MAX);

	if (mix(r) % 2 && v % 1000 == 0)
		put(to, "%" PRIu64 "%s", v / 1000, thousand);
	else
		put(to, "%" PRIu64 "%s", v, small);
}

static void put_number(uint64_t r, const struct field *field, const char *word, char *to)
{
	if (word && r % 3 == 0)
		put(to, "%s", word);
	else
		put(to, "%" PRIu64, in_range(mix(r), &field->limit, 255));
}

static void put_percent(uint64_t r, char *to)
{
	unsigned v = (unsigned)(mix(r) % 100001);

	if (r % 3)
		put(to, "%u.%03u%%", v / 1000, v % 1000);
	else
		put(to, "%u%%", (unsigned)(v / 1000) % 101);
}

static void put_community(uint64_t r, size_t i, char *to)
{
	static const char *const known[] = {"no-export", "no-advertise", "local-AS", "no-peer", "blackhole"};
	unsigned part = (unsigned)(r >> 8 & 0xffff);

	if (r % 3 == 0 && i < ARRAY_SIZE(known))
		put(to, "%s", known[i]);
	else if (r % 3 == 1)
		put(to, "%u:%zu", part, i);
	else
		put(to, "%u:%zu:%u", part, i, (unsigned)(r >> 24));
}

static void put_route_target(uint64_t r, size_t i, char *to)
{
	unsigned part = (unsigned)(r >> 8 & 0xffff);

	if (r % 3 == 0)
		put(to, "10.%zu.0.%u:%u", i, part & 0xff, part);
	else if (r % 3 == 1)
		put(to, "%u:%zu", part, i);
	else
		put(to, "%u:%zu", 65536 + part, i);
}

static const char *type_name(const struct field *field)
{
	return field->type->name;
}

/* Each of a kind of its own, so that no list has one twice. */
static void put_endpoint(uint64_t r, size_t i, char *to)
{
	static const char *const kinds[] = {"", "segment:", "tenant:", "group:", "line:", "interface:"};

	if (r % 4 == 0)
		put(to, "10.%zu.%u.0/24", i, (unsigned)(r >> 8 & 0xff));
	else if (r % 4 == 1)
		put(to, "fd00:%zx::/%u", i + 1, 32 + (unsigned)(r >> 8 & 0x1f));
	else
		put(to, "%sn%zu-%u", kinds[r / 4 % ARRAY_SIZE(kinds)], i, (unsigned)(r >> 16 & 0xff));
}

static void put_port(uint64_t r, size_t i, bool service, char *to)
{
	static const char *const types[] = {"echo-request", "77", "echo-reply"};

	if (service && r % 3 == 0)
		put(to, "service-%zu", i);
	else if (r % 2)
		put(to, "%s/%u-%u", r / 2 % 2 ? "tcp" : "sctp", 10 * (unsigned)i,
			10 * (unsigned)i + (unsigned)(r >> 8 & 7));
	else if (i < ARRAY_SIZE(types))
		put(to, "%s/%s", r / 2 % 2 ? "icmp" : "icmpv6", types[i]);
	else
		put(to, "proto/%zu", 150 + i % 100);
}

static bool put_policy_value(uint64_t r, const struct field *field, size_t i, char *to)
{
	const char *type = type_name(field);

	if (str_eq(type, "ENDPOINT"))
		put_endpoint(r, i, to);
	else if (str_eq(type, "PORT") || str_eq(type, "SERVICE"))
		put_port(r, i, *type == 'S', to);
	else if (str_eq(type, "EVENT_RATE"))
		put(to, "%" PRIu64 "/%c", 1 + r % 1000, "smh"[r / 1000 % 3]);
	else if (str_eq(type, "CLOCK"))
		put(to, "%02u:%02u", (unsigned)(r % 24), (unsigned)(r >> 8) % 60);
	else
		return false;
	return true;
}

static void put_value(uint64_t r, const struct field *field, size_t i, char *to)
{
	static const char *const paths[] = {"/etc/fairway/secrets/a.md5", "/a b", "/x: y", "/#", "/1"};
	const char *type = type_name(field);
	size_t len;

	if (str_eq(type, "NAME")) {
		put_name(r, i, "", to);
	} else if (str_eq(type, "IFNAME")) {
		put_name(r, i, r % 2 ? "" : "@p", to);
	} else if (str_eq(type, "TEXT")) {
		put_text(r, to);
	} else if (str_eq(type, "PATH")) {
		put(to, "%s", paths[r % ARRAY_SIZE(paths)]);
	} else if (str_eq(type, "BOOL")) {
		put(to, "%s", r % 2 ? "true" : "false");
	} else if (str_eq(type, "ENUM")) {
		put(to, "%s", field->limit.words->v[r % field->limit.words->n].word);
	} else if (str_eq(type, "U32") && field->flags & F_KEY) {
		put(to, "%zu", (size_t)field->limit.min + 3 * i + (size_t)(r % 3));
	} else if (str_eq(type, "U32")) {
		put_number(r, field, NULL, to);
	} else if (str_eq(type, "AUTO_U32")) {
		put_number(r, field, "auto", to);
	} else if (str_eq(type, "TOS")) {
		put_number(r, field, "inherit", to);
	} else if (str_eq(type, "DURATION")) {
		put_quantity(r, field, "us", "ms", to);
	} else if (str_eq(type, "RATE")) {
		put_quantity(r, field, "bit", "kbit", to);
	} else if (str_eq(type, "SIZE")) {
		put(to, "%" PRIu64 "KiB", in_range(r, &field->limit, UINT32_MAX) / 1024);
	} else if (str_eq(type, "PERCENT")) {
		put_percent(r, to);
	} else if (str_eq(type, "MSS")) {
		put_mss(r, to);
	} else if (str_eq(type, "MAC")) {
		put(to, "02:00:%02X:%02x:00:%02x", (unsigned)(r & 0xff), (unsigned)(r >> 8 & 0xff), (unsigned)i & 0xff);
	} else if (str_eq(type, "COMMUNITY")) {
		put_community(r, i, to);
	} else if (str_eq(type, "ROUTE_TARGET")) {
		put_route_target(r, i, to);
	} else if (str_eq(type, "PREFIX")) {
		put_prefix(r, i, to);
	} else if (str_eq(type, "ADDR")) {
		put_addr(r, i, to);
	} else if (str_eq(type, "IFADDR")) {
		put_addr(r, i, to);
		len = strlen(to);
		(void)snprintf(to + len, VALUE_MAX - len, "/%u", strchr(to, ':') ? 64u : 8u);
	} else if (!put_policy_value(r, field, i, to)) {
		(void)fprintf(stderr, "random_config.c does not know the type %s\n", type);
		abort();
	}
}

/* --- how much of what --- */

static const uint64_t root_place = 1;

/* Lists of the root are never empty, so that there is something to refer to. */
static size_t n_entries(const struct generator *g, uint64_t up, const struct field *field)
{
	uint64_t r = roll(g, below(up, field->key, 0));

	return up == root_place || field->flags & F_REQUIRED ? 1 + r % 4 : r % 3;
}

static bool is_there(const struct generator *g, uint64_t up, const struct field *field);

/* How many entries a reference may lead to; *ret_place is what their list stands in. */
static size_t n_targets(const struct generator *g, const struct target *target, uint64_t *ret_place)
{
	*ret_place = root_place;
	for (size_t i = 0; i < target->n; i++) {
		if (!is_there(g, *ret_place, target->rows[i]))
			return 0;
		if (i + 1 < target->n)
			*ret_place = below(*ret_place, target->rows[i]->key, 0);
	}
	return n_entries(g, *ret_place, target->list);
}

static bool is_there(const struct generator *g, uint64_t up, const struct field *field)
{
	bool needed = (field->flags & (F_REQUIRED | F_KEY)) || (up == root_place && field->kind == FIELD_NODES);
	struct target target;
	uint64_t place;

	if (!needed && roll(g, below(up, field->key, 99)) % 3)
		return false;
	if (!field->limit.ref)
		return true;
	target = schema_target(field->limit.ref);
	return n_targets(g, &target, &place) > 0;
}

static void put_ref(const struct generator *g, const struct field *field, size_t which, char *to)
{
	struct target target = schema_target(field->limit.ref);
	const struct field *key = schema_key(target.list->object);
	uint64_t place, entry;
	size_t n = n_targets(g, &target, &place), i = n > 0 ? which % n : 0;

	entry = below(place, target.list->key, 1 + i);
	put_value(roll(g, below(entry, key->key, 0)), key, i, to);
}

/* --- YAML --- */

static bool is_surely_plain(const char *text)
{
	static const char *const no[] = {"null", "Null", "NULL"};

	for (size_t i = 0; i < ARRAY_SIZE(no); i++)
		if (str_eq(text, no[i]))
			return false;
	return *text &&
		strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._/%@") == strlen(text) &&
		!strchr("%@", *text);
}

static void put_double_quoted(const char *text, struct buf *out)
{
	buf_putc(out, '"');
	while (*text) {
		if (str_starts(text, "\u2028")) {
			buf_puts(out, "\\L");
			text += strlen("\u2028");
		} else if (str_starts(text, "\uFEFF")) {
			buf_puts(out, "\\uFEFF");
			text += strlen("\uFEFF");
		} else {
			if (*text == '"' || *text == '\\')
				buf_putc(out, '\\');
			buf_putc(out, *text++);
		}
	}
	buf_putc(out, '"');
}

static void put_single_quoted(const char *text, struct buf *out)
{
	buf_putc(out, '\'');
	for (; *text; text++) {
		if (*text == '\'')
			buf_putc(out, '\'');
		buf_putc(out, *text);
	}
	buf_putc(out, '\'');
}

static void put_scalar(struct generator *g, const struct field *field, const char *text, struct buf *out)
{
	uint64_t number;
	bool only_plain = !field->type->text &&
		(str_eq(field->type->json_type, "boolean") || *text == '{' || str_to_u64(text, &number) == 0);

	if (only_plain || (is_surely_plain(text) && style(g, 2)))
		buf_puts(out, text);
	else if (style(g, 2) && !strstr(text, "\u2028") && !strstr(text, "\uFEFF"))
		put_single_quoted(text, out);
	else
		put_double_quoted(text, out);
}

static void put_leaf(struct generator *g, uint64_t place, const struct field *field, size_t i, struct buf *out)
{
	char text[VALUE_MAX];
	uint64_t r = roll(g, place);

	if (field->limit.ref)
		put_ref(g, field, r % 7, text);
	else if (field->def && r % 4 == 0)
		put(text, "%s", field->def);
	else
		put_value(r, field, i, text);
	put_scalar(g, field, text, out);
}

static void put_list(struct generator *g, uint64_t place, const struct field *field, struct buf *out)
{
	uint64_t r = roll(g, place);
	size_t n = (field->flags & F_REQUIRED ? 1 : 0) + r % 4;
	char text[VALUE_MAX];

	if (field->limit.ref) {
		struct target target = schema_target(field->limit.ref);
		uint64_t up;
		size_t most = n_targets(g, &target, &up);

		n = n > most ? most : n;
	}
	if (field->limit.words)
		n = n > field->limit.words->n ? field->limit.words->n : n;
	buf_putc(out, '[');
	for (size_t i = 0; i < n; i++) {
		buf_puts(out, i ? ", " : "");
		if (field->limit.ref)
			put_ref(g, field, r % 7 + i, text);
		else if (field->limit.words)
			put(text, "%s", field->limit.words->v[(r + i) % field->limit.words->n].word);
		else
			put_value(roll(g, below(place, "", i)), field, i, text);
		put_scalar(g, field, text, out);
	}
	buf_putc(out, ']');
}

/* Where the text stands: column of a block mapping, or inside of {} where lines do not matter. */
struct form {
	bool flow;
	unsigned depth;
};

static void put_object(struct generator *g, uint64_t place, const struct object_type *type, size_t i, struct form form,
	struct buf *out);

static void new_line(struct generator *g, struct form form, struct buf *out)
{
	if (style(g, 20) == 0)
		buf_puts(out, " # why: not");
	buf_putc(out, '\n');
	for (unsigned i = 0; i < form.depth; i++)
		buf_putc(out, ' ');
}

static void put_entries(struct generator *g, uint64_t up, const struct field *field, struct form form, struct buf *out)
{
	size_t n = n_entries(g, up, field), first = n ? style(g, (unsigned)n) : 0;
	bool flow = form.flow || n == 0 || style(g, 4) == 0;

	buf_puts(out, flow ? "[" : "");
	for (size_t k = 0; k < n; k++) {
		size_t i = (first + k) % n; /* in any order */
		uint64_t entry = below(up, field->key, 1 + i);

		if (flow) {
			buf_puts(out, k ? ", " : "");
			put_object(g, entry, field->object, i, (struct form){true, 0}, out);
		} else {
			new_line(g, form, out);
			buf_puts(out, "- ");
			put_object(g, entry, field->object, i, (struct form){false, form.depth + 2}, out);
		}
	}
	buf_puts(out, flow ? "]" : "");
}

static void put_field(
	struct generator *g, uint64_t up, const struct field *field, size_t i, struct form form, struct buf *out)
{
	uint64_t place = below(up, field->key, 0);

	buf_printf(out, "%s: ", field->key);
	if (field->kind == FIELD_LEAF) {
		put_leaf(g, place, field, i, out);
	} else if (field->kind == FIELD_LIST) {
		put_list(g, place, field, out);
	} else if (field->kind == FIELD_NODES) {
		put_entries(g, up, field, form, out);
	} else if (form.flow || style(g, 3) == 0) {
		put_object(g, place, field->object, 0, (struct form){true, 0}, out);
	} else {
		form.depth += 2;
		new_line(g, form, out);
		put_object(g, place, field->object, 0, form, out);
	}
}

/* The rows in any order. An object without a row is {} in every form. */
static void put_object(struct generator *g, uint64_t place, const struct object_type *type, size_t i, struct form form,
	struct buf *out)
{
	const struct field *rows[ROWS_MAX];
	size_t n = 0;

	for (size_t k = 0; k < type->n_fields; k++)
		if (is_there(g, place, &type->fields[k]))
			rows[n++] = &type->fields[k];
	form.flow = form.flow || n == 0;
	buf_puts(out, form.flow ? "{" : "");
	for (size_t k = n; k > 0; k--) {
		size_t pick = style(g, (unsigned)k);
		const struct field *row = rows[pick];

		rows[pick] = rows[k - 1];
		put_field(g, place, row, i, form, out);
		if (k > 1 && form.flow)
			buf_puts(out, ", ");
		else if (k > 1)
			new_line(g, form, out);
	}
	buf_puts(out, form.flow ? "}" : "");
}

void random_config(uint64_t seed, unsigned variant, struct buf *out)
{
	struct generator g = {.seed = seed, .variant = variant, .stream = mix(seed ^ variant << 20)};

	put_object(&g, root_place, schema_root(), 0, (struct form){style(&g, 10) == 0, 0}, out);
	buf_putc(out, '\n');
}
