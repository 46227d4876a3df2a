/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The nft table of the audit. Pure. It does two things, for the first packet of each flow and once the policy has let
 * it through:
 *
 *   Connection tracking works only in a network namespace where some rule asks for it. These do, whatever the policy.
 *
 *   Connection tracking knows no interfaces. So the flow gets a label: the numbers of the interfaces it comes by and
 *   leaves by (audit_names.h), which is what tenant, segment and line are told from. That takes a look-up in a map, and
 *   then the constant for that interface, as one can only set constants.
 *
 * Of what is routed in a VRF, the interface that it came by is the VRF itself; sdifname is the one behind it.
 */
#include "config/config.h"
#include "gateway/audit/audit.h"
#include "gateway/audit/audit_names.h"
#include "gateway/base/arena.h"
#include "gateway/base/buf.h"
#include "gateway/base/str.h"
#include "gateway/nft/nft.h"

/* "3|17|44": the bits of a number, from the first one on. */
static void print_bits(uint64_t number, unsigned first, struct buf *out)
{
	buf_reset(out);
	for (unsigned i = 0; i < AUDIT_LABEL_BITS; i++)
		if (number >> i & 1)
			buf_printf(out, "%s%u", out->len ? "|" : "", first + i);
}

/* The two maps, and the chains that they lead to. */
struct labels {
	struct nft_model *m;
	struct nft_table *t;
	struct buf in, out, bits;
	uint64_t *seen;
	size_t n, cap;
};

static bool is_new(struct labels *l, uint64_t number)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->seen[i] == number)
			return false;
	l->seen = arena_grow(l->m->arena, l->seen, l->n, &l->cap, sizeof(*l->seen));
	l->seen[l->n++] = number;
	return true;
}

static void add_label(struct labels *l, const char *direction, const char *interface, unsigned first, struct buf *map)
{
	uint64_t number = audit_label_of(interface);
	/* Not every name of an interface can be one of a chain. */
	const char *chain = arena_printf(l->m->arena, "%s_%012llx", direction, (unsigned long long)number);
	struct nft_chain *c = nft_add_chain(l->m, l->t, chain, NULL);

	print_bits(number, first, &l->bits);
	nft_add_rule(l->m, c, "ct label set %s", buf_str(&l->bits));
	buf_printf(map, "%s\"%s\" : jump %s", map->len ? ", " : "", interface, chain);
}

/* A VRF is no end of a flow: see above. */
static void add_interface(const struct audit_place *place, void *arg)
{
	struct labels *l = arg;

	if (str_starts(place->interface, "vrf-") || !is_new(l, audit_label_of(place->interface)))
		return;
	add_label(l, "in", place->interface, 0, &l->in);
	add_label(l, "out", place->interface, AUDIT_LABEL_OUT, &l->out);
}

static void add_new(struct labels *l, const char *name, bool in, bool out)
{
	struct nft_chain *c = nft_add_chain(l->m, l->t, name, NULL);

	nft_add_rule(l->m, c, "counter");
	if (in && l->in.len) {
		nft_add_rule(l->m, c, "iifname vmap { %s }", buf_str(&l->in));
		nft_add_rule(l->m, c, "meta sdifname vmap { %s }", buf_str(&l->in));
	}
	if (out && l->out.len)
		nft_add_rule(l->m, c, "oifname vmap { %s }", buf_str(&l->out));
}

static void add_hook(struct labels *l, const char *hook, bool in, bool out)
{
	const char *name = arena_printf(l->m->arena, "new_%s", hook);
	const char *spec = arena_printf(l->m->arena, "type filter hook %s priority 10; policy accept;", hook);

	add_new(l, name, in, out);
	nft_add_rule(l->m, nft_add_chain(l->m, l->t, hook, spec), "ct status ! confirmed goto %s", name);
}

void audit_render(const struct config *cfg, struct nft_model *m)
{
	struct labels l = {.m = m};

	if (!cfg || !cfg->audit)
		return;
	l.t = nft_add_table(m, "inet", NFT_TABLE_AUDIT);
	audit_each_interface(cfg, add_interface, &l);
	add_hook(&l, "forward", true, true);
	add_hook(&l, "input", true, false);
	add_hook(&l, "output", false, true);
	buf_free(&l.in);
	buf_free(&l.out);
	buf_free(&l.bits);
}
