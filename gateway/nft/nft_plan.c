/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The difference of two nft models, and the commands that make it go. Pure. The one idea: if all objects of a table are
 * as declared, only its elements are touched and the counters of the others live on; else the table is swapped whole,
 * in one transaction, so that there is no moment without it.
 */
#include "gateway/nft/nft.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "gateway/base/arena.h"
#include "gateway/base/buf.h"
#include "gateway/base/cleanup.h"
#include "gateway/base/str.h"
#include "gateway/engine/plan.h"

enum {
	RANK_DEL_FIRST,
	RANK_ADD,
	RANK_DEL,
	RANK_TABLE,
	RANK_SWITCH,
	RANK_FINISH,
	RANK_LAST_DEL,
	RANK_LAST_ADD,
};			 /* elements come before others go: what moves to another set is never in none */
enum { TEXT_ELEMS = 3 }; /* named in a step's text; the rest is counted */

/* --- what an element is called --- */

/* PART_HOST: a number in the machine's order, but where the set is one of ranges with several parts. */
enum part_kind { PART_IPV4, PART_IPV6, PART_IFNAME, PART_NUMBER, PART_HOST, PART_PRIORITY, PART_MAC, PART_RAW };

/* Of a set's spec: how each part of a key is called there, its kind and its bytes. */
static const struct part {
	const char *word;
	enum part_kind kind;
	uint8_t len;
} parts[] = {
	{"ip saddr", PART_IPV4, 4},
	{"ip daddr", PART_IPV4, 4},
	{"ipv4_addr", PART_IPV4, 4},
	{"ip6 saddr", PART_IPV6, 16},
	{"ip6 daddr", PART_IPV6, 16},
	{"ipv6_addr", PART_IPV6, 16},
	{"iifname", PART_IFNAME, 16},
	{"oifname", PART_IFNAME, 16},
	{"ifname", PART_IFNAME, 16},
	{"fib saddr oifname", PART_IFNAME, 16},
	{"@th,96,24", PART_NUMBER, 3},
	{"inet_service", PART_NUMBER, 2},
	{"udp dport", PART_NUMBER, 2},
	{"th dport", PART_NUMBER, 2},
	{"@th,0,8", PART_NUMBER, 1},
	{"meta l4proto", PART_NUMBER, 1},
	{"meta day", PART_NUMBER, 1},
	{"meta sdifname", PART_IFNAME, 16},
	{"ct mark", PART_HOST, 4},
	{"meta priority", PART_PRIORITY, 4},
	{"ether saddr", PART_MAC, 6},
	{"ether_addr", PART_MAC, 6},
	{"@th,64,128", PART_RAW, 16},
	{"@th,208,48", PART_RAW, 6},
};

static uint32_t number_of(const struct part *part, const uint8_t *key, bool network)
{
	uint32_t number = 0;

	if (part->kind != PART_NUMBER && !network) {
		memcpy(&number, key, sizeof(number));
		return number;
	}
	for (size_t i = 0; i < part->len; i++)
		number = number << 8 | key[i];
	return number;
}

static void print_part(const struct part *part, const uint8_t *key, bool network, struct buf *out)
{
	uint32_t number = part->len <= 4 ? number_of(part, key, network) : 0;
	char addr[INET6_ADDRSTRLEN];

	switch (part->kind) {
	case PART_IPV4:
		buf_puts(out, inet_ntop(AF_INET, key, addr, sizeof(addr)));
		return;
	case PART_IPV6:
		buf_puts(out, inet_ntop(AF_INET6, key, addr, sizeof(addr)));
		return;
	case PART_IFNAME:
		buf_printf(out, "\"%.*s\"", (int)strnlen((const char *)key, part->len), (const char *)key);
		return;
	case PART_NUMBER:
	case PART_HOST:
		buf_printf(out, "%" PRIu32, number);
		return;
	case PART_PRIORITY:
		buf_printf(out, "%" PRIx32 ":%" PRIx32, number >> 16, number & 0xffff);
		return;
	case PART_MAC:
	case PART_RAW:
		buf_puts(out, part->kind == PART_RAW ? "0x" : "");
		for (size_t i = 0; i < part->len; i++)
			buf_printf(out, "%s%02x", part->kind == PART_MAC && i > 0 ? ":" : "", key[i]);
	}
}

static const struct part *find_part(const char *word, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (strlen(parts[i].word) == len && strncmp(parts[i].word, word, len) == 0)
			return &parts[i];
	return NULL;
}

bool nft_elem_print(const char *spec, const struct nft_elem *elem, struct buf *out)
{
	bool ranges = nft_spec_has_intervals(spec) && nft_spec_is_concat(spec);
	size_t start = out->len, at = 0;
	const char *p, *end;

	if (str_starts(spec, "typeof "))
		p = spec + strlen("typeof ");
	else if (str_starts(spec, "type "))
		p = spec + strlen("type ");
	else
		return false;
	end = p + strcspn(p, ":;");
	while (end > p && end[-1] == ' ')
		end--;
	while (p < end) {
		const char *dot = memmem(p, (size_t)(end - p), " . ", 3), *next = dot ? dot : end;
		const struct part *part = find_part(p, (size_t)(next - p));

		if (!part || at + part->len > elem->key_len)
			break;
		if (at > 0)
			buf_puts(out, " . ");
		print_part(part, elem->key + at, ranges, out);
		if (elem->key_end && memcmp(elem->key + at, elem->key_end + at, part->len) != 0) {
			buf_putc(out, '-');
			print_part(part, elem->key_end + at, ranges, out);
		}
		at += (part->len + 3U) & ~3U;
		p = dot ? dot + 3 : end;
	}
	if (p == end && at == ((elem->key_len + 3U) & ~3U))
		return true;
	out->len = start;
	if (out->data)
		out->data[start] = '\0';
	return false;
}

static void print_elem(const struct nft_set *set, const struct nft_elem *e, struct buf *out)
{
	if (e->text)
		buf_puts(out, e->text);
	else
		(void)nft_elem_print(set->spec, e, out); /* make_set_steps() has tried it */
}

/* --- difference --- */

/* Adds to `lacks` what of a is not in b. */
size_t nft_elems_without(const struct nft_set *a, const struct nft_set *b, struct nft_elem *lacks)
{
	size_t n = 0;

	for (size_t i = 0, k = 0; i < a->n_elems; i++) {
		int c = 1;

		while (k < b->n_elems && (c = nft_elem_cmp(&b->elems[k], &a->elems[i])) < 0)
			k++;
		if (k == b->n_elems || c > 0)
			lacks[n++] = a->elems[i];
	}
	return n;
}

bool nft_same_rules(const struct nft_chain *want, const struct nft_chain *have)
{
	if (want->n_rules != have->n_rules)
		return false;
	for (size_t i = 0; i < want->n_rules; i++)
		if (want->rules[i].hash != have->rules[i].hash)
			return false;
	return true;
}

/* What of the table's declarations is not as wanted, in words; false if all is. */
static bool structure_differs(const struct nft_table *want, const struct nft_table *have, struct buf *why)
{
	if (have->dormant) {
		buf_puts(why, "it is dormant");
		return true;
	}
	for (size_t i = 0; i < want->n_sets; i++) {
		const struct nft_set *w = want->sets[i], *h = nft_table_set(have, w->name);

		if (!h || h->hash != w->hash) {
			buf_printf(why, "set %s is %s", w->name, h ? "another" : "missing");
			return true;
		}
	}
	for (size_t i = 0; i < want->n_chains; i++) {
		const struct nft_chain *w = want->chains[i], *h = nft_table_chain(have, w->name);

		if (!h || h->hash != w->hash) {
			buf_printf(why, "chain %s is %s", w->name, h ? "another" : "missing");
			return true;
		}
		if (h->drop != w->drop) {
			buf_printf(why, "the policy of chain %s is %s", w->name, h->drop ? "drop" : "accept");
			return true;
		}
		if (!nft_same_rules(w, h)) {
			buf_printf(why, "the rules of chain %s differ", w->name);
			return true;
		}
	}
	for (size_t i = 0; i < want->n_counters; i++)
		if (!nft_table_counter(have, want->counters[i].name)) {
			buf_printf(why, "counter %s is missing", want->counters[i].name);
			return true;
		}
	if (have->n_sets != want->n_sets || have->n_chains != want->n_chains || have->n_counters != want->n_counters) {
		buf_puts(why, "it has more sets, chains or counters");
		return true;
	}
	return false;
}

static const char *table_object(struct plan *plan, const struct nft_table *t)
{
	return arena_printf(plan->arena, "table %s %s", t->family, t->name);
}

static struct nft_step *new_step(struct plan *plan, enum nft_op op, const struct nft_table *t)
{
	struct nft_step *step = arena_new_obj(plan->arena, struct nft_step);

	step->op = op;
	step->table = t;
	return step;
}

static void plan_create(struct plan *plan, const struct nft_table *want)
{
	size_t n_rules = 0, n_elems = 0;

	for (size_t i = 0; i < want->n_chains; i++)
		n_rules += want->chains[i]->n_rules;
	for (size_t i = 0; i < want->n_sets; i++)
		n_elems += want->sets[i]->n_elems;
	plan_add(plan, STEP_MAKE, RANK_TABLE, table_object(plan, want), NULL, new_step(plan, NFT_REPLACE_TABLE, want),
		"create (%zu rule%s, %zu element%s)", n_rules, n_rules == 1 ? "" : "s", n_elems,
		n_elems == 1 ? "" : "s");
}

/* Counters of elements and named ones go on; those of rules, such as the guard's drops, begin again. */
static void plan_replace(struct plan *plan, const struct nft_table *want, const struct nft_table *have, const char *why)
{
	struct nft_step *step = new_step(plan, NFT_REPLACE_TABLE, want);

	step->have = have;
	plan_add(plan, STEP_MAKE, RANK_TABLE, table_object(plan, want), NULL, step, "replace: %s", why);
}

static void plan_delete(struct plan *plan, const struct nft_table *have)
{
	plan_add(plan, STEP_REMOVE, RANK_TABLE, table_object(plan, have), NULL, new_step(plan, NFT_DELETE_TABLE, have),
		"delete");
}

static bool is_exclusive(const struct nft_set *set)
{
	return nft_spec_is_map(set->spec) || nft_spec_has_intervals(set->spec);
}

static void plan_elems(struct plan *plan, enum step_phase phase, const struct nft_step *step)
{
	struct buf names = {0};
	bool add = step->op == NFT_ADD_ELEMS;

	for (size_t i = 0; i < step->n_elems && i < TEXT_ELEMS; i++) {
		buf_puts(&names, i == 0 ? "" : ", ");
		print_elem(step->set, &step->elems[i], &names);
	}
	if (step->n_elems > TEXT_ELEMS)
		buf_printf(&names, " and %zu more", step->n_elems - TEXT_ELEMS);
	plan_add(plan, phase,
		add				  ? RANK_ADD
			: is_exclusive(step->set) ? RANK_DEL_FIRST
						  : RANK_DEL,
		step->set->object, NULL, step, "%s %s", add ? "add" : "remove", buf_str(&names));
	buf_free(&names);
}

/* What one set gains and loses; arrays in the plan's arena. */
struct set_change {
	const struct nft_set *set;
	struct nft_elem *more, *less;
	size_t n_more, n_less;
};

static struct nft_elem *elems_array(struct plan *plan, const struct nft_set *a, const struct nft_set *b, size_t *ret_n)
{
	_cleanup_free_ struct nft_elem *found = reallocarray(NULL, a->n_elems + 1, sizeof(*found));

	if (!found)
		abort();
	*ret_n = nft_elems_without(a, b, found);
	return arena_memdup(plan->arena, found, *ret_n * sizeof(*found));
}

static void plan_last_step(struct plan *plan, const struct nft_table *want, const struct nft_set *set, bool add,
	struct nft_elem *v, size_t n)
{
	struct nft_step *step = new_step(plan, add ? NFT_ADD_ELEMS : NFT_DEL_ELEMS, want);

	step->set = set;
	step->elems = v;
	step->n_elems = n;
	if (n > 0)
		plan_add(plan, STEP_MAKE, add ? RANK_LAST_ADD : RANK_LAST_DEL, table_object(plan, want), NULL, step,
			add ? "note %s" : "forget %s", set->object);
}

/* What changes when all else has: by itself, as the other way libnftables would read all sets of ranges first. */
static void plan_last(
	struct plan *plan, const struct nft_table *want, const struct nft_set *set, const struct nft_set *have)
{
	struct nft_elem *more, *less;
	size_t n_more, n_less;

	if (!have)
		return; /* it comes with all else */
	more = elems_array(plan, set, have, &n_more);
	less = elems_array(plan, have, set, &n_less);
	plan_last_step(plan, want, set, false, less, n_less);
	plan_last_step(plan, want, set, true, more, n_more);
}

/* In place, so that there is no moment with less than all of the old table or of the new one. */
static void plan_change(struct plan *plan, const struct nft_table *want, const struct nft_table *have)
{
	static const struct {
		enum nft_op op;
		unsigned rank;
		const char *text;
	} phases[] = {
		[NFT_CHANGE_COMES] = {NFT_CHANGE_TABLE, RANK_TABLE, "add"},
		[NFT_CHANGE_SWITCHES] = {NFT_SWITCH_TABLE, RANK_SWITCH, "switch"},
		[NFT_CHANGE_GOES] = {NFT_FINISH_TABLE, RANK_FINISH, "finish"},
	};

	for (enum nft_change phase = NFT_CHANGE_COMES; phase <= NFT_CHANGE_GOES; phase++) {
		struct nft_step *step = new_step(plan, phases[phase].op, want);
		struct buf what = {0};

		step->have = have;
		nft_change_summary(want, have, phase, &what);
		if (what.len > 0)
			plan_add(plan, STEP_MAKE, phases[phase].rank, table_object(plan, want), NULL, step, "%s %s",
				phases[phase].text, buf_str(&what));
		buf_free(&what);
	}
	for (size_t i = 0; i < want->n_sets; i++)
		if (want->sets[i]->last)
			plan_last(plan, want, want->sets[i], nft_table_set(have, want->sets[i]->name));
}

static void plan_set_change(
	struct plan *plan, const struct nft_table *want, const struct set_change *change, enum step_phase del_phase)
{
	struct nft_step *add = new_step(plan, NFT_ADD_ELEMS, want), *del = new_step(plan, NFT_DEL_ELEMS, want);

	add->set = del->set = change->set;
	add->elems = change->more;
	add->n_elems = change->n_more;
	del->elems = change->less;
	del->n_elems = change->n_less;
	if (add->n_elems > 0)
		plan_elems(plan, STEP_MAKE, add);
	if (del->n_elems > 0)
		plan_elems(plan, del_phase, del);
}

static bool all_printable(const struct set_change *change)
{
	struct buf scratch = {0};
	bool ok = true;

	for (size_t i = 0; ok && i < change->n_less; i++) {
		buf_reset(&scratch);
		ok = nft_elem_print(change->set->spec, &change->less[i], &scratch);
	}
	buf_free(&scratch);
	return ok;
}

/*
 * Where the table also gains elements, those that go wait for them, in the same transaction: an interface whose clamp
 * changes moves from one set to another, and is in one of them at any moment. Of a map or a set of ranges they go
 * first, as a key has one datum, and ranges must not overlap; it is still one transaction.
 */
static void plan_table_elems(struct plan *plan, const struct nft_table *want, const struct nft_table *have)
{
	struct set_change *changes = arena_array(plan->arena, want->n_sets, sizeof(*changes));
	bool gains = false, printable = true;

	for (size_t i = 0; i < want->n_sets; i++) {
		const struct nft_set *w = want->sets[i], *h = nft_table_set(have, w->name);
		struct set_change *c = &changes[i];

		c->set = w;
		c->more = elems_array(plan, w, h, &c->n_more);
		c->less = elems_array(plan, h, w, &c->n_less);
		gains |= c->n_more > 0;
		printable &= all_printable(c);
	}
	if (!printable) {
		plan_replace(plan, want, have, "an element is unknown");
		return;
	}
	for (size_t i = 0; i < want->n_sets; i++)
		plan_set_change(plan, want, &changes[i], gains ? STEP_MAKE : STEP_REMOVE);
}

static void plan_table(struct plan *plan, const struct nft_table *want, const struct nft_table *have)
{
	struct buf why = {0};

	if (!have->ours)
		plan_conflict(plan, table_object(plan, have),
			"there is a table of this name that Fairway did not make; delete or rename it");
	else if (structure_differs(want, have, &why) && nft_can_change(want, have))
		plan_change(plan, want, have);
	else if (why.len > 0)
		plan_replace(plan, want, have, buf_str(&why));
	else
		plan_table_elems(plan, want, have);
	buf_free(&why);
}

void nft_plan(const struct nft_model *want, const struct nft_model *have, struct plan *plan)
{
	for (size_t i = 0; i < have->n_tables; i++) {
		const struct nft_table *h = have->tables[i];

		/* A stranger's table is only in the way where we want one of its name. */
		if (h->ours && !nft_model_table(want, h->family, h->name))
			plan_delete(plan, h);
	}
	for (size_t i = 0; i < want->n_tables; i++) {
		const struct nft_table *w = want->tables[i], *h = nft_model_table(have, w->family, w->name);

		if (h)
			plan_table(plan, w, h);
		else
			plan_create(plan, w);
	}
}

/* --- commands --- */

static void print_data(const struct nft_elem *e, struct buf *out)
{
	if (e->data)
		buf_printf(out, " : %s", e->data);
}

/* `have`: the set that this one replaces, or NULL; a counter goes on from where it stands there. */
static void print_set_elems(const struct nft_set *set, const struct nft_set *have, struct buf *out)
{
	for (size_t i = 0, k = 0; i < set->n_elems; i++) {
		const struct nft_elem *e = &set->elems[i];

		buf_puts(out, i == 0 ? "\t\telements = {\n\t\t\t" : ",\n\t\t\t");
		print_elem(set, e, out);
		while (have && k < have->n_elems && nft_key_cmp(&have->elems[k], e) < 0)
			k++;
		if (have && k < have->n_elems && nft_key_cmp(&have->elems[k], e) == 0 && have->elems[k].packets > 0)
			buf_printf(out, " counter packets %" PRIu64 " bytes %" PRIu64, have->elems[k].packets,
				have->elems[k].bytes);
		print_data(e, out);
	}
	if (set->n_elems > 0)
		buf_puts(out, "\n\t\t}\n");
}

static void print_set(const struct nft_set *set, const struct nft_table *have, struct buf *out)
{
	const struct nft_set *old = have ? nft_table_set(have, set->name) : NULL;
	char comment[NFT_COMMENT_MAX];

	/* Counters can only be given to a set that has them; the same hash is the same spec. */
	if (old && old->hash != set->hash)
		old = NULL;
	buf_printf(out, "\t%s %s {\n", nft_spec_is_map(set->spec) ? "map" : "set", set->name);
	for (const char *p = set->spec; *p;) {
		size_t len = strcspn(p, ";");

		if (len > 0)
			buf_printf(out, "\t\t%.*s\n", (int)len, p);
		p += len;
		p += strspn(p, "; ");
	}
	buf_printf(out, "\t\tcomment \"%s\"\n", nft_comment(set->hash, comment));
	print_set_elems(set, old, out);
	buf_puts(out, "\t}\n");
}

static void print_chain(const struct nft_chain *c, struct buf *out)
{
	char comment[NFT_COMMENT_MAX];

	buf_printf(out, "\tchain %s {\n\t\tcomment \"%s\"\n", c->name, nft_comment(c->hash, comment));
	if (c->hook)
		buf_printf(out, "\t\t%s\n", c->hook);
	for (size_t i = 0; i < c->n_rules; i++)
		buf_printf(out, "\t\t%s comment \"%s\"\n", c->rules[i].text, nft_comment(c->rules[i].hash, comment));
	buf_puts(out, "\t}\n");
}

/* They go on from where they stand. */
static void print_counters(const struct nft_table *t, const struct nft_table *have, struct buf *out)
{
	for (size_t i = 0; i < t->n_counters; i++) {
		const struct nft_counter *old = have ? nft_table_counter(have, t->counters[i].name) : NULL;

		buf_printf(out, "\tcounter %s {\n", t->counters[i].name);
		if (old)
			buf_printf(out, "\t\tpackets %" PRIu64 " bytes %" PRIu64 "\n", old->packets, old->bytes);
		buf_puts(out, "\t}\n");
	}
}

/* `table` before `delete`: so that the delete does not fail where there is none. */
static void print_replace(const struct nft_table *t, const struct nft_table *have, struct buf *out)
{
	char comment[NFT_COMMENT_MAX];

	buf_printf(out, "table %s %s\ndelete table %s %s\n", t->family, t->name, t->family, t->name);
	buf_printf(
		out, "table %s %s {\n\tcomment \"%s\"\n", t->family, t->name, nft_comment(nft_table_hash(t), comment));
	print_counters(t, have, out);
	for (size_t i = 0; i < t->n_sets; i++)
		print_set(t->sets[i], have, out);
	for (size_t i = 0; i < t->n_chains; i++)
		print_chain(t->chains[i], out);
	buf_puts(out, "}\n");
}

void nft_elem_command(const char *verb, const struct nft_table *t, const struct nft_set *s, const struct nft_elem *v,
	size_t n, struct buf *out)
{
	buf_printf(out, "%s element %s %s %s {\n", verb, t->family, t->name, s->name);
	for (size_t i = 0; i < n; i++) {
		buf_putc(out, '\t');
		print_elem(s, &v[i], out);
		print_data(&v[i], out);
		buf_puts(out, i + 1 < n ? ",\n" : "\n");
	}
	buf_puts(out, "}\n");
}

void nft_step_print(const struct nft_step *step, struct buf *out)
{
	switch (step->op) {
	case NFT_REPLACE_TABLE:
		print_replace(step->table, step->have, out);
		return;
	case NFT_CHANGE_TABLE:
		nft_change_print(step->table, step->have, NFT_CHANGE_COMES, out);
		return;
	case NFT_SWITCH_TABLE:
		nft_change_print(step->table, step->have, NFT_CHANGE_SWITCHES, out);
		return;
	case NFT_FINISH_TABLE:
		nft_change_print(step->table, step->have, NFT_CHANGE_GOES, out);
		return;
	case NFT_DELETE_TABLE:
		buf_printf(out, "delete table %s %s\n", step->table->family, step->table->name);
		return;
	case NFT_ADD_ELEMS:
		nft_elem_command("add", step->table, step->set, step->elems, step->n_elems, out);
		return;
	case NFT_DEL_ELEMS:
		nft_elem_command("delete", step->table, step->set, step->elems, step->n_elems, out);
	}
}
