/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All BGP sessions of a config; see session.h.
 * The one idea: the rows that every session has (BGP_SESSION) are copied into one struct by the table that made them,
 * so that lines and neighbors are treated by the same code.
 */
#include "routing/session.h"

#include <stdlib.h>
#include <string.h>

#include "config/preset.h"
#include "gateway/base/arena.h"
#include "gateway/base/str.h"
#include "overlay/mtu.h"

enum { SECOND = 1000000, HOLD_DEFAULT = 9, CONNECT_DEFAULT = 1, HOPS_ANY = 255, PRIORITY_DEFAULT = 100 };
enum { MAX_PREFIXES_WARNING = 75 };

/* The rows of BGP_SESSION, wherever they stood. */
struct rows {
#define LEAF(object, member, key, type, limit, flags, change, def, help) CTYPE_##type member;
#define LIST(object, member, key, type, limit, flags, change, help)                                                    \
	struct {                                                                                                       \
		const CTYPE_##type *v;                                                                                 \
		size_t n;                                                                                              \
	} member;
	BGP_SESSION(rows)
#undef LEAF
#undef LIST
};

#define LEAF(from, member, key, type, limit, flags, change, def, help) .member = (from)->member,
#define LIST(from, member, key, type, limit, flags, change, help) .member = {(from)->member.v, (from)->member.n},
static struct rows rows_of_line(const struct line_bgp *from)
{
	return (struct rows){BGP_SESSION(from)};
}

static struct rows rows_of_neighbor(const struct bgp_neighbor *from)
{
	return (struct rows){BGP_SESSION(from)};
}
#undef LEAF
#undef LIST

/* --- what all have --- */

static unsigned carries_address(const struct ip_addr *addr)
{
	return ip_addr_is_ipv6(addr) ? CARRIES_IPV6 : CARRIES_IPV4;
}

static void take_rows(const struct config *cfg, const struct rows *rows, int provider, struct session *s)
{
	const struct preset *hold = preset_find(provider, PRESET_HOLD);

	s->peer_as = rows->peer_as;
	s->internal = rows->peer_as == cfg->bgp->as;
	for (size_t i = 0; i < rows->families.n; i++)
		s->families |= 1u << rows->families.v[i];
	s->hold = rows->hold_time ? (uint32_t)(rows->hold_time / SECOND)
		: hold		  ? (uint32_t)(hold->value / SECOND)
				  : HOLD_DEFAULT;
	s->connect = (uint32_t)(rows->connect_time / SECOND);
	s->passive = rows->passive;
	s->ttl_security = rows->ttl_security;
	s->tcp_mss = rows->tcp_mss;
	s->max_prefixes = rows->max_prefixes;
	s->max_prefixes_warning = rows->max_prefixes_warning;
	s->graceful_restart = (enum graceful_restart)rows->graceful_restart;
	s->policy_in = rows->policy_in;
	s->policy_out = rows->policy_out;
	s->password_file = rows->password_file;
}

/* What follows from the rest. */
static void finish(struct session *s, uint32_t mtu)
{
	s->keepalive = s->hold / 3;
	s->extended_next_hop = (s->families & CARRIES_IPV4) && (s->unnumbered || ip_addr_is_ipv6(&s->address));
	if (s->tcp_mss == 0)
		s->tcp_mss = s->unnumbered || ip_addr_is_ipv6(&s->address) ? mss_ipv6(mtu) : mss_ipv4(mtu);
}

static const char *address_text(const struct ip_addr *addr, struct arena *arena)
{
	char text[IP_STR_MAX];

	return arena_strdup(arena, ip_addr_str(addr, text));
}

static uint32_t preset_or(int provider, enum preset_what what, uint64_t unit, uint64_t given)
{
	const struct preset *preset = preset_find(provider, what);

	return (uint32_t)((preset ? preset->value : given) / unit);
}

static struct bfd_timers timers_of(const struct bfd *bfd, int provider, bool multihop)
{
	struct bfd_timers t = {.multihop = multihop};

	if (!bfd)
		return (struct bfd_timers){0};
	t.interval_ms = CONFIG_IS_SET(bfd, bfd, interval)
		? (uint32_t)(bfd->interval / 1000)
		: preset_or(provider, PRESET_BFD_INTERVAL, 1000, bfd->interval);
	t.multiplier = CONFIG_IS_SET(bfd, bfd, multiplier)
		? bfd->multiplier
		: preset_or(provider, PRESET_BFD_MULTIPLIER, 1, bfd->multiplier);
	return t;
}

/* --- lines --- */

static uint32_t line_mtu(const struct line *line)
{
	return line->path_mtu && line->path_mtu < line->mtu ? line->path_mtu : line->mtu;
}

/*
 * One of a line's sessions. Where the line has two, each carries the prefixes of its own family, so that no prefix
 * comes twice over one line; EVPN goes over the first.
 */
static bool of_line(const struct config *cfg, const struct line *line, const struct ip_prefix *own,
	const struct ip_addr *peer, struct arena *arena, struct session *ret)
{
	struct rows rows = rows_of_line(line->bgp);
	bool two = ip_addr_is_set(&line->peer_address6);
	struct session s = {
		.line = line,
		.object = arena_printf(arena, "line %s", line->name),
		.peer = address_text(peer, arena),
		.address = *peer,
		.source = own->addr,
		.interface = line->interface,
		.hops = 1,
		.bfd = timers_of(line->bfd, line->provider, false),
		.priority = line->priority,
		.rate = line->rate,
	};

	take_rows(cfg, &rows, line->provider, &s);
	s.provider_routes = preset_or(line->provider, PRESET_ROUTES_MAX, 1, 0);
	if (s.families == 0)
		s.families = carries_address(peer);
	else if (two)
		s.families &= peer == &line->peer_address ? ~(unsigned)CARRIES_IPV6 : CARRIES_IPV6;
	finish(&s, line_mtu(line));
	*ret = s;
	return s.families != 0;
}

static size_t of_lines(const struct config *cfg, struct arena *arena, struct session *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < cfg->lines.n; i++) {
		const struct line *line = &cfg->lines.v[i];

		if (!line->enabled || !line->bgp)
			continue;
		n += of_line(cfg, line, &line->address, &line->peer_address, arena, &ret[n]);
		if (ip_addr_is_set(&line->peer_address6))
			n += of_line(cfg, line, &line->address6, &line->peer_address6, arena, &ret[n]);
	}
	return n;
}

/* --- neighbors --- */

/* The interface that a neighbor is on: as it says, or whose subnet it is in. NULL: this file does not know it. */
static const struct interface *interface_of(const struct config *cfg, const struct bgp_neighbor *n)
{
	if (n->interface)
		return config_interface(cfg, n->interface);
	for (size_t i = 0; i < cfg->interfaces.n; i++)
		for (size_t k = 0; k < cfg->interfaces.v[i].addresses.n; k++)
			if (ip_prefix_contains(&cfg->interfaces.v[i].addresses.v[k], &n->address))
				return &cfg->interfaces.v[i];
	return NULL;
}

static struct ip_addr vtep_of_family(const struct config *cfg, uint8_t family)
{
	if (cfg->vtep && cfg->vtep->address.family == family)
		return cfg->vtep->address;
	if (cfg->vtep && cfg->vtep->address6.family == family)
		return cfg->vtep->address6;
	return (struct ip_addr){0};
}

static void of_neighbor(const struct config *cfg, const struct bgp_neighbor *n, struct arena *arena, struct session *s)
{
	bool direct = n->multihop == 0, unnumbered = !ip_addr_is_set(&n->address);
	const struct interface *on = direct ? interface_of(cfg, n) : NULL;
	struct rows rows = rows_of_neighbor(n);

	*s = (struct session){
		.neighbor = n,
		.object = arena_printf(arena, "neighbor %s", n->name),
		.peer = unnumbered ? n->interface : address_text(&n->address, arena),
		.address = n->address,
		.source = n->source,
		.interface = n->interface ? n->interface : on ? on->name : NULL,
		.unnumbered = unnumbered,
		.hops = direct ? 1 : n->multihop,
		.bfd = timers_of(n->bfd, PROVIDER_GENERIC, !direct),
		.priority = PRIORITY_DEFAULT,
		.route_reflector_client = n->route_reflector_client,
		.next_hop_self = n->next_hop_self,
		.default_originate = n->default_originate,
	};
	take_rows(cfg, &rows, PROVIDER_GENERIC, s);
	if (s->families == 0)
		s->families = unnumbered ? CARRIES_IPV4 | CARRIES_IPV6 : carries_address(&n->address);
	if (!direct && !ip_addr_is_set(&s->source))
		s->source = vtep_of_family(cfg, n->address.family);
	finish(s, on ? on->mtu : 0);
}

static size_t of_neighbors(const struct config *cfg, struct arena *arena, struct session *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < cfg->bgp->neighbors.n; i++) {
		const struct bgp_neighbor *neighbor = &cfg->bgp->neighbors.v[i];

		if (neighbor->enabled && (ip_addr_is_set(&neighbor->address) || neighbor->interface))
			of_neighbor(cfg, neighbor, arena, &ret[n++]);
	}
	return n;
}

/* --- remotes --- */

/* From vtep to vtep, over whatever lines carry that. */
static size_t of_remotes(const struct config *cfg, struct arena *arena, struct session *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < cfg->remotes.n; i++) {
		const struct remote *r = &cfg->remotes.v[i];

		if (r->learn != LEARN_EVPN || r->peer_as == 0)
			continue;
		ret[n] = (struct session){
			.remote = r,
			.object = arena_printf(arena, "remote %s", r->name),
			.peer = address_text(&r->vtep, arena),
			.address = r->vtep,
			.source = vtep_of_family(cfg, r->vtep.family),
			.peer_as = r->peer_as,
			.internal = r->peer_as == cfg->bgp->as,
			.families = CARRIES_EVPN,
			.hops = HOPS_ANY,
			.hold = HOLD_DEFAULT,
			.connect = CONNECT_DEFAULT,
			.max_prefixes_warning = MAX_PREFIXES_WARNING,
			.graceful_restart = GRACEFUL_HELPER,
			.password_file = r->password_file,
			.priority = PRIORITY_DEFAULT,
		};
		finish(&ret[n++], mtu_of_remote(cfg, NULL, r));
	}
	return n;
}

/* --- all --- */

static int by_peer(const void *pa, const void *pb)
{
	const struct session *a = pa, *b = pb;
	int c = (int)a->unnumbered - (int)b->unnumbered;

	if (c == 0)
		c = ip_addr_cmp(&a->address, &b->address);
	if (c == 0)
		c = str_cmp(a->peer, b->peer);
	return c ? c : str_cmp(a->object, b->object);
}

void sessions_of(const struct config *cfg, struct arena *arena, struct sessions *ret)
{
	size_t n = 0;

	*ret = (struct sessions){0};
	if (!cfg->bgp)
		return;
	ret->v = arena_array(arena, 2 * cfg->lines.n + cfg->bgp->neighbors.n + cfg->remotes.n, sizeof(struct session));
	n += of_lines(cfg, arena, ret->v + n);
	n += of_neighbors(cfg, arena, ret->v + n);
	n += of_remotes(cfg, arena, ret->v + n);
	qsort(ret->v, n, sizeof(struct session), by_peer);
	ret->n = n;
}

const struct session *sessions_by_peer(const struct sessions *s, const char *peer)
{
	for (size_t i = 0; i < s->n; i++)
		if (str_eq(s->v[i].peer, peer))
			return &s->v[i];
	return NULL;
}

size_t line_bfds_of(const struct config *cfg, struct line_bfd *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < cfg->lines.n; i++) {
		const struct line *line = &cfg->lines.v[i];
		struct bfd_timers timers = timers_of(line->bfd, line->provider, false);

		if (!line->enabled || !line->bfd)
			continue;
		ret[n++] = (struct line_bfd){line, line->peer_address, line->address.addr, timers};
		if (ip_addr_is_set(&line->peer_address6))
			ret[n++] = (struct line_bfd){line, line->peer_address6, line->address6.addr, timers};
	}
	return n;
}
