/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See policy_place.h. A few hundred prefixes, asked one by one. */
#include "gateway/policy/policy_place.h"

#include <string.h>

#include "gateway/base/arena.h"
#include "gateway/base/str.h"
#include "overlay/overlay.h"

enum { ZONE_MAX = 65535 };

struct entry_of {
	struct ip_prefix network;
	struct ip_addr own; /* the gateway's address in it; AF_UNSPEC: none */
	uint32_t device, domain;
};

struct policy_places {
	struct arena *arena;
	struct entry_of *v;
	size_t n, cap;
};

static void add(struct policy_places *p, const struct ip_prefix *prefix, bool has_own, uint32_t device, uint32_t domain)
{
	struct entry_of *e;

	if (!ip_addr_is_set(&prefix->addr))
		return;
	p->v = arena_grow(p->arena, p->v, p->n, &p->cap, sizeof(*p->v));
	e = &p->v[p->n++];
	e->network = ip_prefix_network(prefix);
	if (has_own)
		e->own = prefix->addr;
	e->device = device;
	e->domain = domain;
}

static void add_own(struct policy_places *p, const struct ip_addr *addr)
{
	struct ip_prefix host = ip_addr_host_prefix(addr);

	if (ip_addr_is_set(addr))
		add(p, &host, true, 0, 0);
}

static void add_segment(struct policy_places *p, struct policy_model *m, const struct segment *seg)
{
	char name[16];
	uint32_t device;

	if (seg->mode == MODE_BRIDGED)
		overlay_bridge_name(seg->vni, name);
	else
		overlay_vxlan_name(seg->vni, name);
	device = policy_model_device(m, name);
	for (size_t i = 0; i < seg->gateway.n; i++)
		add(p, &seg->gateway.v[i], true, device, m->devices[device].domain);
	for (size_t i = 0; i < seg->routes.n; i++)
		add(p, &seg->routes.v[i].prefix, false, device, m->devices[device].domain);
}

static uint32_t known(struct policy_model *m, const char *name)
{
	uint32_t device = policy_model_device(m, name);

	if (device > 0)
		return device;
	m->devices = arena_grow(m->arena, m->devices, m->n_devices, &m->cap_devices, sizeof(*m->devices));
	m->devices[m->n_devices].name = arena_strdup(m->arena, name);
	return (uint32_t)m->n_devices++;
}

/* What is routed to a neighbor is where the neighbor is. */
static void add_routes(struct policy_places *p, const struct config *cfg)
{
	for (size_t i = 0; i < cfg->routes.n; i++) {
		struct policy_place via = policy_place_of(p, 0, &cfg->routes.v[i].via);

		if (via.device > 0)
			add(p, &cfg->routes.v[i].prefix, false, via.device, 0);
	}
}

struct policy_places *policy_places_new(const struct config *cfg, struct policy_model *m)
{
	struct policy_places *p = arena_new_obj(m->arena, struct policy_places);

	p->arena = m->arena;
	for (size_t i = 0; i < cfg->interfaces.n; i++) {
		uint32_t device = known(m, cfg->interfaces.v[i].name);

		for (size_t k = 0; k < cfg->interfaces.v[i].addresses.n; k++)
			add(p, &cfg->interfaces.v[i].addresses.v[k], true, device, 0);
	}
	for (size_t i = 0; i < cfg->lines.n; i++) {
		uint32_t device = known(m, cfg->lines.v[i].interface);

		add(p, &cfg->lines.v[i].address, true, device, 0);
		add(p, &cfg->lines.v[i].address6, true, device, 0);
	}
	for (size_t i = 0; i < cfg->segments.n; i++)
		add_segment(p, m, &cfg->segments.v[i]);
	if (cfg->vtep) {
		add_own(p, &cfg->vtep->address);
		add_own(p, &cfg->vtep->address6);
	}
	add_routes(p, cfg);
	return p;
}

/* The longest prefix. */
struct policy_place policy_place_of(const struct policy_places *p, uint32_t domain, const struct ip_addr *addr)
{
	struct policy_place place = {0};
	int longest = -1;

	for (size_t i = 0; i < p->n; i++) {
		const struct entry_of *e = &p->v[i];

		if (e->domain != domain || !ip_prefix_contains(&e->network, addr))
			continue;
		if (ip_addr_is_set(&e->own) && ip_addr_cmp(&e->own, addr) == 0)
			return (struct policy_place){e->device, true};
		if ((int)e->network.len > longest) {
			longest = e->network.len;
			place.device = e->device;
		}
	}
	return place;
}

bool policy_place_example(const struct policy_places *p, uint32_t device, uint8_t family, struct ip_addr *ret)
{
	for (size_t i = 0; i < p->n; i++) {
		const struct entry_of *e = &p->v[i];
		struct ip_addr a = e->network.addr;
		size_t last = ip_addr_len(&a) - 1;

		if (e->device != device || a.family != family || e->network.len > 8 * (last + 1) - 2)
			continue;
		a.bytes[last] |= 1;
		if (ip_addr_cmp(&a, &e->own) == 0)
			a.bytes[last] ^= 3;
		*ret = a;
		return true;
	}
	return false;
}

static uint32_t vrf_of(const struct policy_model *m, uint32_t domain)
{
	for (size_t i = 1; i < m->n_devices; i++)
		if (m->devices[i].is_vrf && m->devices[i].domain == domain)
			return (uint32_t)i;
	return 0;
}

void policy_place_packet(
	const struct policy_model *m, struct policy_place from, struct policy_place to, struct policy_packet *p)
{
	uint32_t domain = m->devices[from.device].domain;

	p->hook = to.own ? POLICY_INPUT : from.own ? POLICY_OUTPUT : POLICY_FORWARD;
	p->in = from.own ? 0 : from.device;
	p->out = to.own ? 0 : to.device;
	p->behind = 0;
	/* Routed in a tenant's VRF, and not only bridged from one member to another. */
	if (domain > 0 && p->in > 0 && p->in != p->out) {
		p->behind = p->in;
		p->in = vrf_of(m, domain);
	}
}

/* --- conntrack zones --- */

/* From the number of the tenant's table, so that it stays when others come and go. */
static uint32_t zone_of(const struct config *cfg, uint8_t *taken, uint32_t domain)
{
	uint32_t zone = cfg->tenants.v[domain - 1].table % ZONE_MAX;

	while (taken[zone / 8] >> zone % 8 & 1)
		zone = (zone + 1) % ZONE_MAX;
	taken[zone / 8] |= (uint8_t)(1U << zone % 8);
	return zone + 1;
}

const uint32_t *policy_zones(const struct config *cfg, struct arena *arena)
{
	uint32_t *zones = arena_array(arena, cfg->tenants.n + 1, sizeof(*zones));
	uint8_t *taken = arena_alloc(arena, ZONE_MAX / 8 + 1);

	for (uint32_t i = 1; i <= cfg->tenants.n; i++)
		zones[i] = zone_of(cfg, taken, i);
	return zones;
}
