/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The fixed part of the policy's table; see policy_render.h. Pure.
 *
 * A packet of a flow that the present policy accepted passes the first rule. All others take the slow way: what is
 * new, and the flows of an older epoch, each once. What tells a sender about its path (ICMP errors that belong to a
 * flow) passes whatever the rules say, also where connection tracking lost the flow.
 */
#include <stdlib.h>
#include <string.h>

#include "gateway/base/arena.h"
#include "gateway/base/buf.h"
#include "gateway/base/str.h"
#include "gateway/policy/policy_place.h"
#include "gateway/policy/policy_rendering.h"

enum { LOG_RATE = 500 };

const char *policy_hook_name(enum policy_hook hook)
{
	static const char *const names[] = {"forward", "input", "output"};

	return names[hook];
}

void rendering_log(struct rendering *r, struct nft_chain *c, const char *verdict)
{
	rendering_rule(r, c, "limit rate %u/second burst %u packets log prefix \"fw:%s\" group %u snaplen 128",
		LOG_RATE, LOG_RATE, verdict, POLICY_LOG_GROUP);
}

static void log_if_asked(struct rendering *r, struct nft_chain *c, const char *verdict)
{
	if (r->c.model->policy->log_denied)
		rendering_log(r, c, verdict);
}

static struct nft_chain *counted(struct rendering *r, const char *name)
{
	struct nft_chain *c = rendering_chain(r, name);

	(void)nft_add_counter(r->m, r->t, name);
	rendering_rule(r, c, "counter name %s", name);
	return c;
}

/* Where look-ups end. */
void policy_base_ends(struct rendering *r)
{
	struct nft_chain *c;

	r->accepted = rendering_chain(r, "accepted");
	r->denied = rendering_chain(r, "denied");
	r->refused = rendering_chain(r, "refused");
	/* A flow has the new epoch only when all of it was looked up under the new policy. */
	r->accepted->last = r->denied->last = r->refused->last = true;
	c = counted(r, POLICY_COUNTER_LIMITED);
	log_if_asked(r, c, "limit");
	rendering_rule(r, c, "goto denied");
	c = counted(r, POLICY_COUNTER_DEFAULT);
	log_if_asked(r, c, "default");
	rendering_rule(r, c, "goto denied");
	c = counted(r, POLICY_COUNTER_BETWEEN);
	log_if_asked(r, c, "default");
	rendering_rule(r, c, "goto denied");
	c = rendering_chain(r, POLICY_COUNTER_INVALID);
	rendering_rule(r, c, "icmp type destination-unreachable icmp code frag-needed accept");
	rendering_rule(r, c, "icmpv6 type packet-too-big accept");
	(void)nft_add_counter(r->m, r->t, POLICY_COUNTER_INVALID);
	rendering_rule(r, c, "counter name %s", POLICY_COUNTER_INVALID);
	log_if_asked(r, c, "invalid");
	rendering_rule(r, c, "drop");
	c = counted(r, POLICY_COUNTER_CUT);
	rendering_rule(r, c, "drop");
	c = counted(r, POLICY_COUNTER_OWN);
	/* What is said to all is noise: counted, and no entry of the record. */
	rendering_rule(r, c, "fib daddr type != local drop");
	log_if_asked(r, c, "own");
	rendering_rule(r, c, "goto denied");
}

/* --- what no rule decides --- */

static void add_device(struct rendering *r, struct nft_set *s, const char *name, const char *data)
{
	uint8_t key[16];

	nft_key_ifname(name, key);
	rendering_elem(r, s, key, sizeof(key), NULL, data, arena_printf(r->m->arena, "\"%s\"", name));
}

static void add_pair(struct rendering *r, struct nft_set *s, const char *a, const char *b)
{
	uint8_t key[32];

	nft_key_ifname(a, key);
	nft_key_ifname(b, key + 16);
	rendering_elem(r, s, key, sizeof(key), NULL, NULL, arena_printf(r->m->arena, "\"%s\" . \"%s\"", a, b));
}

static void add_member(struct rendering *r, struct nft_set *s, uint32_t domain, const char *name)
{
	uint8_t key[20];

	memcpy(key, &domain, sizeof(domain));
	nft_key_ifname(name, key + 4);
	rendering_elem(r, s, key, sizeof(key), NULL, NULL, arena_printf(r->m->arena, "%u . \"%s\"", domain, name));
}

/* Which domain an interface is of: each interface has one element, whatever their number. */
static void add_domains(struct rendering *r, struct nft_chain *c)
{
	const struct policy_model *m = r->c.model;
	struct nft_set *domains, *members, *tenants;
	bool any = false;

	for (size_t i = 1; i < m->n_devices; i++)
		any |= m->devices[i].domain != 0;
	if (!any)
		return;
	domains = rendering_set(r, "domain", "typeof iifname : ct mark;", "the tenants' interfaces");
	members = rendering_set(r, "members", "typeof ct mark . oifname;", "the tenants' interfaces");
	tenants = rendering_set(r, "tenants", "type ifname;", "the tenants' interfaces");
	for (size_t i = 1; i < m->n_devices; i++) {
		const struct policy_device *d = &m->devices[i];

		if (d->domain == 0)
			continue;
		add_device(r, domains, d->name, arena_printf(r->m->arena, "%u", d->domain));
		add_member(r, members, d->domain, d->name);
		add_device(r, tenants, d->name, NULL);
	}
	rendering_rule(r, c, "ct mark set 0");
	rendering_rule(r, c, "ct mark set iifname map @domain");
	rendering_rule(r, c, "ct mark 0 oifname @tenants goto between");
	rendering_rule(r, c, "ct mark != 0 ct mark . oifname != @members goto between");
}

static void add_inside(struct rendering *r, struct nft_chain *c)
{
	const struct policy_model *m = r->c.model;
	struct nft_set *s = NULL;

	for (size_t i = 1; i < m->n_devices; i++) {
		if (!m->devices[i].is_bridge)
			continue;
		if (!s)
			s = rendering_set(r, "inside", "typeof iifname . oifname;", "bridged segments");
		add_pair(r, s, m->devices[i].name, m->devices[i].name);
	}
	if (!s)
		return;
	rendering_rule(r, c, "iifname . oifname @inside ct mark set 0 goto accepted");
	rendering_rule(r, c, "meta sdifname . oifname @inside ct mark set 0 goto accepted");
}

void policy_base_otherwise(struct rendering *r, enum policy_hook hook)
{
	struct nft_chain *c = rendering_chain(r, arena_printf(r->m->arena, "otherwise_%s", policy_hook_name(hook)));

	if (hook == POLICY_FORWARD) {
		add_domains(r, c);
		add_inside(r, c);
		if (r->c.model->policy->otherwise == DEFAULT_DROP) {
			rendering_rule(r, c, "goto " POLICY_COUNTER_DEFAULT);
			return;
		}
	}
	if (hook == POLICY_INPUT && policy_is_closed(r->c.model->policy)) {
		rendering_rule(r, c, "goto " POLICY_COUNTER_OWN);
		return;
	}
	rendering_rule(r, c, "ct mark set 0 goto accepted");
}

/* --- the way to the look-ups --- */

/* A flow of an older epoch. Who answers is not asked: the next packet from who began it is. */
static void add_known(struct rendering *r, const char *hook)
{
	struct nft_chain *c = rendering_chain(r, arena_printf(r->m->arena, "known_%s", hook));

	rendering_rule(r, c, "ct state related meta l4proto { icmp, icmpv6 } accept");
	rendering_rule(r, c, "ct mark and 0x%x != 0 ct direction reply goto cut", POLICY_MARK_DENIED);
	rendering_rule(r, c, "ct direction reply accept");
	rendering_rule(r, c, "goto new_%s", hook);
}

/* What the base chain leaves. It never changes: see add_dispatch(). */
static void add_slow(struct rendering *r, enum policy_hook hook)
{
	const char *name = policy_hook_name(hook);
	struct nft_chain *c = rendering_chain(r, arena_printf(r->m->arena, "slow_%s", name));

	if (hook == POLICY_FORWARD) {
		rendering_rule(r, c, "ct state untracked icmpv6 type { 130-137, 143 } accept");
		rendering_rule(r, c, "ct state invalid,untracked goto %s", POLICY_COUNTER_INVALID);
	} else {
		rendering_rule(r, c, "ct state invalid,untracked accept");
		rendering_rule(r, c, "meta oifname \"lo\" accept");
	}
	rendering_rule(r, c, "ct state established,related goto known_%s", name);
	rendering_rule(r, c, "goto new_%s", name);
}

void policy_base_hook(struct rendering *r, const struct config *cfg, enum policy_hook hook)
{
	const char *name = policy_hook_name(hook);
	/*
	 * While a table is swapped, two chains stand in the hook, one of them without rules: its policy must not
	 * decide. The last rule leads to an end of the way in any case.
	 */
	const char *spec = arena_printf(r->m->arena, "type filter hook %s priority 0; policy accept;", name);

	add_known(r, name);
	if (hook == POLICY_INPUT)
		policy_input_slow(r, cfg);
	else
		add_slow(r, hook);
	r->hooks[hook] = nft_add_chain(r->m, r->t, name, spec);
	r->hooks[hook]->last = true;
	rendering_note(r, spec);
}

/* --- tenants may use the same addresses --- */

void policy_base_zones(struct rendering *r, const struct config *cfg)
{
	const struct policy_model *m = r->c.model;
	const uint32_t *zones = policy_zones(cfg, r->m->arena);
	struct nft_chain *in, *out;
	struct nft_set *s;

	if (cfg->tenants.n == 0)
		return;
	s = rendering_set(r, "zones", "typeof iifname : ct zone;", "the tenants' interfaces");
	for (size_t i = 1; i < m->n_devices; i++)
		if (m->devices[i].domain)
			add_device(
				r, s, m->devices[i].name, arena_printf(r->m->arena, "%u", zones[m->devices[i].domain]));
	in = nft_add_chain(r->m, r->t, "zone_in", "type filter hook prerouting priority -290; policy accept;");
	rendering_rule(r, in, "ct zone set iifname map @zones");
	out = nft_add_chain(r->m, r->t, "zone_out", "type filter hook output priority -290; policy accept;");
	rendering_rule(r, out, "ct zone set oifname map @zones");
}

/* --- the epoch --- */

static const char identity_spec[] = "typeof ct mark . ct mark . ct mark;";

static const struct nft_set *identity_set(const struct nft_model *m)
{
	const struct nft_table *t = m ? nft_model_table(m, "inet", NFT_TABLE_POLICY) : NULL;
	const struct nft_set *s = t ? nft_table_set(t, "identity") : NULL;

	return s && s->n_elems == 1 && s->elems[0].key_len == 3 * sizeof(uint32_t) ? s : NULL;
}

uint32_t policy_epoch_of(const struct nft_model *m)
{
	const struct nft_set *s = identity_set(m);
	uint32_t key[3];

	if (!s)
		return 0;
	memcpy(key, s->elems[0].key, sizeof(key));
	return key[2];
}

/* The same policy has its epoch; another one has the next. */
static uint32_t choose_epoch(const struct rendering *r)
{
	const struct nft_set *s = identity_set(r->m->have);
	uint32_t key[3], high = (uint32_t)(r->identity >> 32), low = (uint32_t)r->identity;

	if (!s && r->m->have && r->m->have->last_epoch > 0)
		return 1 + r->m->have->last_epoch % POLICY_EPOCH_MAX;
	if (!s)
		return 1 + low % POLICY_EPOCH_MAX;
	memcpy(key, s->elems[0].key, sizeof(key));
	if (key[0] == high && key[1] == low && key[2] >= 1 && key[2] <= POLICY_EPOCH_MAX)
		return key[2];
	return 1 + key[2] % POLICY_EPOCH_MAX;
}

static void add_hook_rules(struct rendering *r, enum policy_hook hook, uint32_t epoch)
{
	const uint32_t mask = POLICY_MARK_EPOCH | POLICY_MARK_DENIED;
	struct nft_chain *c = r->hooks[hook];

	nft_add_rule(r->m, c, "ct state established,related ct mark and 0x%x == 0x%x accept", mask, epoch);
	nft_add_rule(r->m, c, "ct mark and 0x%x == 0x%x goto cut", mask, epoch | POLICY_MARK_DENIED);
	nft_add_rule(r->m, c, "goto slow_%s", policy_hook_name(hook));
}

/* A flow that is denied after it was accepted is marked, so that what answers it is denied too. */
static void add_ends(struct rendering *r, uint32_t epoch)
{
	uint32_t denied = epoch | POLICY_MARK_DENIED;

	nft_add_rule(r->m, r->accepted, "meta priority set 0 ct mark set ct mark or 0x%x accept", epoch);
	nft_add_rule(r->m, r->denied, "ct state established ct mark set 0x%x", denied);
	nft_add_rule(r->m, r->denied, "drop");
	nft_add_rule(r->m, r->refused, "ct state established ct mark set 0x%x", denied);
	nft_add_rule(r->m, r->refused, "meta l4proto tcp reject with tcp reset");
	nft_add_rule(r->m, r->refused, "reject with icmpx type admin-prohibited");
}

void policy_base_epoch(struct rendering *r)
{
	uint32_t number = choose_epoch(r);
	uint32_t key[3] = {(uint32_t)(r->identity >> 32), (uint32_t)r->identity, number};
	struct nft_set *s = nft_add_set(r->m, r->t, "identity", identity_spec, "the policy's identity");

	s->last = true;
	nft_add_map_elem(r->m, s, key, sizeof(key), NULL, NULL, "%u . %u . %u", key[0], key[1], key[2]);
	for (enum policy_hook hook = POLICY_FORWARD; hook < POLICY_HOOKS; hook++)
		if (r->hooks[hook])
			add_hook_rules(r, hook, number << POLICY_EPOCH_SHIFT);
	add_ends(r, number << POLICY_EPOCH_SHIFT);
}
