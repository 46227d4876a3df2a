/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See policy_peers.h. */
#include "gateway/policy/policy_peers.h"

#include <netinet/in.h>

#include "config/config.h"
#include "gateway/base/arena.h"
#include "gateway/base/str.h"
#include "routing/session.h"

/* RFC 4271 section 8; RFC 5881 section 4; RFC 5883 section 5. */
enum { PORT_BGP = 179, PORT_BFD = 3784, PORT_BFD_MULTIHOP = 4784 };

struct peers {
	struct arena *arena;
	struct policy_peer *v;
	size_t n, cap;
};

static bool is_same(const struct policy_peer *a, const struct policy_peer *b)
{
	return a->proto == b->proto && a->port == b->port && ip_addr_cmp(&a->addr, &b->addr) == 0 &&
		str_eq(a->interface, b->interface);
}

static void add(struct peers *p, const struct policy_peer *peer)
{
	for (size_t i = 0; i < p->n; i++)
		if (is_same(&p->v[i], peer))
			return;
	p->v = arena_grow(p->arena, p->v, p->n, &p->cap, sizeof(*p->v));
	p->v[p->n++] = *peer;
}

static void add_session(struct peers *p, const struct session *s)
{
	struct policy_peer peer = {.addr = s->address,
		.interface = s->unnumbered ? s->interface : NULL,
		.proto = IPPROTO_TCP,
		.port = PORT_BGP,
		.what = arena_printf(p->arena, "BGP of %s", s->object)};

	add(p, &peer);
	if (s->bfd.interval_ms == 0)
		return;
	peer.proto = IPPROTO_UDP;
	peer.port = s->bfd.multihop ? PORT_BFD_MULTIHOP : PORT_BFD;
	peer.what = arena_printf(p->arena, "BFD of %s", s->object);
	add(p, &peer);
}

static void add_line_bfds(struct peers *p, const struct config *cfg)
{
	struct line_bfd *v = arena_array(p->arena, 2 * cfg->lines.n + 1, sizeof(*v));
	size_t n = line_bfds_of(cfg, v);

	for (size_t i = 0; i < n; i++) {
		struct policy_peer peer = {.addr = v[i].peer,
			.proto = IPPROTO_UDP,
			.port = PORT_BFD,
			.what = arena_printf(p->arena, "BFD of line %s", v[i].line->name)};

		add(p, &peer);
	}
}

const struct policy_peer *policy_peers_of(const struct config *cfg, struct arena *arena, size_t *ret_n)
{
	struct peers p = {.arena = arena};
	struct sessions sessions;

	sessions_of(cfg, arena, &sessions);
	for (size_t i = 0; i < sessions.n; i++)
		add_session(&p, &sessions.v[i]);
	add_line_bfds(&p, cfg);
	*ret_n = p.n;
	return p.v;
}
