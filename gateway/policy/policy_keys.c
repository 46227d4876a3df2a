/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See policy_keys.h. The class of the source is in the conntrack mark, the class of the destination in the packet's
 * priority, while a flow is looked up: both are free until it is accepted.
 */
#include "gateway/policy/policy_keys.h"

#include <string.h>

#include "gateway/base/str.h"
#include "gateway/nft/nft.h"

bool policy_run_has_ranges(const struct policy_run *run)
{
	return run->shape.service == SERVICE_RANGE;
}

static bool has_part(enum policy_side side)
{
	return side != SIDE_ANY && side != SIDE_WIDE;
}

bool policy_run_is_everything(const struct policy_run *run)
{
	return run->shape.service == SERVICE_ALL && !has_part(run->shape.from) && !has_part(run->shape.to);
}

/* --- names --- */

static void put_part(const char *part, struct buf *out)
{
	buf_printf(out, "%s%s", out->len ? " . " : "", part);
}

void policy_run_parts(const struct policy_run *run, struct buf *out)
{
	static const char *const from[] = {[SIDE_DEVICE] = "iifname",
		[SIDE_BEHIND] = "meta sdifname",
		[SIDE_CLASS] = "ct mark",
		[SIDE_WIDE] = NULL};
	static const char *const to[] = {[SIDE_DEVICE] = "oifname", [SIDE_CLASS] = "meta priority", [SIDE_WIDE] = NULL};
	const struct policy_shape *s = &run->shape;

	if (from[s->from])
		put_part(from[s->from], out);
	if (to[s->to])
		put_part(to[s->to], out);
	if (s->service != SERVICE_ALL)
		put_part("meta l4proto", out);
	if (s->service == SERVICE_PORT || s->service == SERVICE_RANGE)
		put_part("th dport", out);
	if (s->service == SERVICE_TYPE)
		put_part("@th,0,8", out);
}

/* As an identifier may have it. */
void policy_put_clean(const char *text, struct buf *out)
{
	static const char clean[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-_";

	for (; *text; text++) {
		if (strchr(clean, *text))
			buf_putc(out, *text);
		else
			buf_putc(out, '_');
	}
}

void policy_wide_name(const struct policy_model *m, uint32_t set, bool is_from, struct buf *out)
{
	buf_printf(out, "wide_%s_", is_from ? "src" : "dst");
	policy_put_clean(m->addrs[set].what, out);
}

static const char *const hooks[] = {"forward", "input", "output"};

void policy_shape_name(const struct policy_model *m, const struct policy_shape *s, struct buf *out)
{
	static const char *const sides[] = {"any", "iface", "vrfport", "addr", "wide"};
	static const char *const services[] = {"all", "proto", "port", "type", "ports"};

	buf_printf(out, "_%s_%s_%s", sides[s->from], sides[s->to], services[s->service]);
	if (s->from == SIDE_WIDE) {
		buf_putc(out, '_');
		policy_put_clean(m->addrs[s->wide_from].what, out);
	}
	if (s->to == SIDE_WIDE) {
		buf_puts(out, "_to_");
		policy_put_clean(m->addrs[s->wide_to].what, out);
	}
	if (s->schedule) {
		buf_puts(out, "_at_");
		policy_put_clean(m->policy->schedules.v[s->schedule - 1].name, out);
	}
}

/* By what its keys and verdicts are, whatever numbers things have. */
static uint32_t content_of(const struct policy_model *m, const struct policy_run *run)
{
	struct policy_run_key key = {.len = 0};
	uint64_t h = 0;

	for (size_t i = 0; i < run->n_elems; i++) {
		policy_run_key(m, run, &run->elems[i], &key);
		buf_printf(&key.text, " %u", m->rules[run->elems[i].rule].rule->seq);
		h = h * UINT64_C(0x100000001b3) ^ str_hash(buf_str(&key.text));
	}
	buf_free(&key.text);
	return (uint32_t)(h ^ h >> 32);
}

void policy_run_name(const struct policy_model *m, const struct policy_run *run, unsigned layout, struct buf *out)
{
	buf_printf(out, "%s%u", hooks[run->shape.hook], run->level);
	policy_shape_name(m, &run->shape, out);
	if (layout > 0)
		buf_printf(out, "_v%u", layout);
	if (policy_run_has_ranges(run))
		buf_printf(out, "_%08x", content_of(m, run));
}

/* --- keys --- */

static void add_bytes(struct policy_run_key *key, const void *low, const void *high, size_t len)
{
	memcpy(key->low + key->len, low, len);
	memcpy(key->high + key->len, high, len);
	key->len += (len + 3) & ~(size_t)3;
}

static void add_number(struct policy_run_key *key, uint32_t number, bool network_order)
{
	uint32_t n = network_order ? __builtin_bswap32(number) : number;

	add_bytes(key, &n, &n, sizeof(n));
}

static void add_device(const struct policy_model *m, uint32_t device, struct policy_run_key *key)
{
	uint8_t name[16];
	struct buf text = {0};

	nft_key_ifname(m->devices[device].name, name);
	add_bytes(key, name, name, sizeof(name));
	buf_printf(&text, "\"%s\"", m->devices[device].name);
	put_part(buf_str(&text), &key->text);
	buf_free(&text);
}

static void add_side(const struct policy_model *m, const struct policy_run *run, enum policy_side side, bool is_from,
	uint32_t value, struct policy_run_key *key)
{
	if (side == SIDE_DEVICE || side == SIDE_BEHIND) {
		add_device(m, value, key);
	} else if (side == SIDE_CLASS) {
		add_number(key, value, policy_run_has_ranges(run));
		/* A priority is written as two numbers of a queue. */
		if (is_from)
			buf_printf(&key->text, "%u", value);
		else
			buf_printf(&key->text, "%s%x:%x", key->text.len ? " . " : "", value >> 16, value & 0xffff);
	}
}

static void add_service(const struct policy_run *run, const struct policy_elem *e, struct policy_run_key *key)
{
	uint8_t proto = (uint8_t)(e->low >> 16), type = (uint8_t)e->low;
	uint8_t low[2] = {(uint8_t)(e->low >> 8), (uint8_t)e->low},
		high[2] = {(uint8_t)(e->high >> 8), (uint8_t)e->high};

	if (run->shape.service == SERVICE_ALL)
		return;
	add_bytes(key, &proto, &proto, 1);
	buf_printf(&key->text, "%s%u", key->text.len ? " . " : "", proto);
	switch (run->shape.service) {
	case SERVICE_TYPE:
		add_bytes(key, &type, &type, 1);
		buf_printf(&key->text, " . %u", type);
		break;
	case SERVICE_PORT:
	case SERVICE_RANGE:
		add_bytes(key, low, high, 2);
		buf_printf(&key->text, " . %u", e->low & 0xffff);
		if (e->low != e->high)
			buf_printf(&key->text, "-%u", e->high & 0xffff);
		break;
	default:
		break;
	}
}

void policy_run_key(const struct policy_model *m, const struct policy_run *run, const struct policy_elem *e,
	struct policy_run_key *key)
{
	const struct policy_shape *s = &run->shape;

	memset(key->low, 0, sizeof(key->low));
	memset(key->high, 0, sizeof(key->high));
	key->len = 0;
	buf_reset(&key->text);
	add_side(m, run, s->from, true, e->from, key);
	add_side(m, run, s->to, false, e->to, key);
	add_service(run, e, key);
	/* A key of one part is not padded. */
	if (s->service == SERVICE_PROTO && !has_part(s->from) && !has_part(s->to))
		key->len = 1;
}
