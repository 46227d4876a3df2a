/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See tracker.h. */
#include "gateway/audit/tracker.h"

void tracker_init(struct tracker *t, uint64_t seed, void (*emit)(const struct flow *flow, void *arg), void *arg)
{
	*t = (struct tracker){.emit = emit, .arg = arg, .live.seed = seed, .gone.seed = seed};
	names_pool_set(&t->names, audit_names_new(NULL));
}

static void forget(struct flow_table *table)
{
	uint64_t seed = table->seed;

	flow_table_free(table);
	table->seed = seed;
}

void tracker_free(struct tracker *t)
{
	flow_table_free(&t->live);
	flow_table_free(&t->gone);
	names_pool_free(&t->names);
}

void tracker_clear(struct tracker *t)
{
	for (size_t i = 0; i < t->live.cap; i++)
		if (t->live.v[i].key)
			names_pool_drop(&t->names, t->live.v[i].names);
	forget(&t->live);
	forget(&t->gone);
	t->dumping = false;
	t->unsure = 0;
}

void tracker_set_names(struct tracker *t, struct audit_names *names)
{
	names_pool_set(&t->names, names);
}

/* --- names --- */

/* 0: none. */
static uint32_t number_of(const struct audit_names *names, const struct audit_place *place)
{
	size_t n;

	return place ? (uint32_t)(place - audit_names_places(names, &n)) + 1 : 0;
}

static const struct audit_place *place_of(const struct audit_names *names, uint32_t number)
{
	size_t n;

	return number ? &audit_names_places(names, &n)[number - 1] : NULL;
}

/* What its label says, where it has one: then an end without an interface is this gateway itself. Else the addresses.
 */
static void name_ends(const struct audit_names *names, const struct ct_event *ct, struct flow_entry *e)
{
	uint64_t in = 0, out = 0;

	if (ct->has_label)
		audit_label_read(ct->label, &in, &out);
	if (in || out) {
		e->from = number_of(names, audit_names_at_label(names, in));
		e->to = number_of(names, audit_names_at_label(names, out));
		return;
	}
	e->from = number_of(names, audit_names_at_address(names, ct->orig.family, ct->orig.src));
	e->to = number_of(names, audit_names_at_address(names, ct->reply.family, ct->reply.src));
}

static void make_entry(struct tracker *t, const struct ct_event *ct, struct flow_entry *e)
{
	e->names = t->names.now;
	e->rule = ct->mark & FLOW_MARK_RULE;
	name_ends(names_pool_at(&t->names, e->names), ct, e);
}

/* --- records --- */

static void record(struct tracker *t, const struct ct_event *ct, const struct flow_entry *e, enum flow_event event,
	uint64_t now_ns)
{
	const struct audit_names *names = names_pool_at(&t->names, e->names);
	struct flow f;

	flow_from_ct(ct, event, &f);
	f.from = place_of(names, e->from);
	f.to = place_of(names, e->to);
	f.rule = e->rule;
	f.rule_name = e->rule ? audit_names_rule(names, e->rule) : NULL;
	if (event == FLOW_START && f.start_ns == 0)
		f.start_ns = now_ns;
	if (event == FLOW_END && f.end_ns == 0)
		f.end_ns = now_ns;
	t->emit(&f, t->arg);
}

static void record_start(struct tracker *t, const struct ct_event *ct, const struct flow_entry *e, uint64_t now_ns)
{
	t->started++;
	record(t, ct, e, FLOW_START, now_ns);
}

/* Is its start in the record of an earlier life? Of one without a time that can only be supposed. */
static bool is_recorded(const struct tracker *t, const struct ct_event *ct)
{
	return t->recorded_until_ns > 0 && ct->start_ns <= t->recorded_until_ns;
}

/* A flow that is alive. is_new: it began just now, and not in an earlier life. */
static void take_alive(struct tracker *t, const struct ct_event *ct, bool is_new, uint64_t now_ns)
{
	bool added;
	struct flow_entry *e = flow_table_add(&t->live, flow_table_key(&t->live, ct), &added);

	flow_table_touch(&t->live, e);
	if (!added)
		return;
	make_entry(t, ct, e);
	names_pool_hold(&t->names, e->names);
	e->unsure = !is_new;
	t->unsure += e->unsure;
	if (is_new || !is_recorded(t, ct))
		record_start(t, ct, e, now_ns);
}

static void take_end(struct tracker *t, const struct ct_event *ct, uint64_t now_ns)
{
	uint64_t key = flow_table_key(&t->live, ct);
	struct flow_entry *e = flow_table_find(&t->live, key), unknown = {0};
	bool added;

	if (t->dumping)
		(void)flow_table_add(&t->gone, key, &added);
	if (!e) {
		make_entry(t, ct, &unknown);
		if (!is_recorded(t, ct))
			record_start(t, ct, &unknown, now_ns);
	}
	t->ended++;
	record(t, ct, e ? e : &unknown, FLOW_END, now_ns);
	if (!e)
		return;
	t->unsure -= e->unsure;
	names_pool_drop(&t->names, e->names);
	flow_table_remove(&t->live, e);
}

void tracker_event(struct tracker *t, const struct ct_event *ct, uint64_t now_ns)
{
	if (ct->kind == CT_END)
		take_end(t, ct, now_ns);
	else if (ct->kind == CT_NEW)
		take_alive(t, ct, true, now_ns);
}

/* --- dumps --- */

void tracker_dump_begin(struct tracker *t)
{
	flow_table_begin(&t->live);
	forget(&t->gone);
	t->dumping = true;
}

void tracker_dump_entry(struct tracker *t, const struct ct_event *ct, uint64_t now_ns)
{
	if (!flow_table_find(&t->gone, flow_table_key(&t->gone, ct)))
		take_alive(t, ct, false, now_ns);
}

size_t tracker_dump_end(struct tracker *t, bool whole)
{
	t->dumping = false;
	forget(&t->gone);
	return whole ? flow_table_mark_stale(&t->live) : 0;
}

static void drop_entry(const struct flow_entry *entry, void *arg)
{
	struct tracker *t = arg;

	t->unsure -= entry->unsure;
	names_pool_drop(&t->names, entry->names);
}

size_t tracker_drop_stale(struct tracker *t)
{
	size_t n = flow_table_drop_stale(&t->live, drop_entry, t);

	t->missing += n;
	return n;
}
