/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state of the watched lines; see flip_state.h. A line is dead from the event that says so until one says
 * otherwise; where none does (bfdd was started again, and its session has not been up since), doubt has its time.
 */
#include "routing/flip_state.h"

#include <stdlib.h>
#include <string.h>

#include "gateway/base/arena.h"

void flip_state_free(struct flip_state *s)
{
	free(s->v);
	s->v = NULL;
	s->n = 0;
}

static struct watched *find_line(const struct flip_state *s, const struct flip_line *line)
{
	for (size_t i = 0; i < s->n; i++)
		if (ip_addr_cmp(&s->v[i].line.peer, &line->peer) == 0 &&
			strcmp(s->v[i].line.interface, line->interface) == 0)
			return &s->v[i];
	return NULL;
}

void flip_state_watch(struct flip_state *s, const struct flip_line *lines, size_t n)
{
	struct watched *v = calloc(n + 1, sizeof(*v));

	if (!v)
		abort();
	for (size_t i = 0; i < n; i++) {
		const struct watched *old = find_line(s, &lines[i]);

		v[i] = old ? *old : (struct watched){.line = lines[i]};
	}
	free(s->v);
	s->v = v;
	s->n = n;
}

static bool concerns(const struct bfd_event *event, const struct flip_line *line)
{
	if (event->multihop)
		return false;
	if (!ip_addr_is_set(&line->peer))
		return strcmp(event->interface, line->interface) == 0;
	return ip_addr_cmp(&event->peer, &line->peer) == 0 &&
		(!event->interface[0] || strcmp(event->interface, line->interface) == 0);
}

static bool is_same(const struct bfd_event *a, const struct bfd_event *b)
{
	return ip_addr_cmp(&a->peer, &b->peer) == 0 && a->removed == b->removed && a->state == b->state &&
		a->diagnostic == b->diagnostic && a->remote_diagnostic == b->remote_diagnostic;
}

static void judge(struct watched *w, const struct bfd_event *event, uint64_t now)
{
	switch (bfd_verdict(event)) {
	case BFD_ALIVE:
		w->dead = false;
		w->doubt = 0;
		break;
	case BFD_DEAD:
		if (!w->dead)
			w->died = now;
		w->dead = true;
		w->doubt = 0;
		break;
	case BFD_UNKNOWN:
		if (w->dead && !w->doubt)
			w->doubt = now;
		break;
	}
}

struct watched *flip_state_event(struct flip_state *s, const struct bfd_event *event, uint64_t now)
{
	for (size_t i = 0; i < s->n; i++) {
		struct watched *w = &s->v[i];
		bool is_news;

		if (!concerns(event, &w->line))
			continue;
		is_news = !is_same(event, &w->last);
		judge(w, event, now);
		w->last = *event;
		return is_news ? w : NULL;
	}
	return NULL;
}

void flip_state_lost(struct flip_state *s, uint64_t now)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->v[i].dead && !s->v[i].doubt)
			s->v[i].doubt = now;
}

struct watched *flip_state_expire(struct flip_state *s, uint64_t now)
{
	for (size_t i = 0; i < s->n; i++) {
		struct watched *w = &s->v[i];

		if (w->dead && w->doubt && now >= w->doubt + s->max_usec) {
			w->dead = false;
			w->doubt = 0;
			return w;
		}
	}
	return NULL;
}

static bool is_flipped(const struct flip_state *s, const struct watched *w, uint64_t now)
{
	return w->dead && now < w->died + s->max_usec;
}

/* A router's link-local address is in no BFD session: it is dead when all that could be behind it are. */
static bool all_ipv6_dead(const struct flip_state *s, const char *interface, uint64_t now)
{
	for (size_t i = 0; i < s->n; i++)
		if (ip_addr_is_ipv6(&s->v[i].line.peer) && strcmp(s->v[i].line.interface, interface) == 0 &&
			!is_flipped(s, &s->v[i], now))
			return false;
	return true;
}

size_t flip_state_dead(const struct flip_state *s, uint64_t now, struct arena *arena, struct flip_line **ret)
{
	struct flip_line *dead = arena_array(arena, 2 * s->n, sizeof(*dead));
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++) {
		const struct flip_line *line = &s->v[i].line;

		if (!is_flipped(s, &s->v[i], now))
			continue;
		dead[n++] = *line;
		if (ip_addr_is_ipv6(&line->peer) && all_ipv6_dead(s, line->interface, now)) {
			dead[n] = *line;
			dead[n++].peer = (struct ip_addr){.family = AF_INET6};
		}
	}
	*ret = dead;
	return n;
}

uint64_t flip_state_deadline(const struct flip_state *s, uint64_t now)
{
	uint64_t next = UINT64_MAX;

	for (size_t i = 0; i < s->n; i++) {
		const struct watched *w = &s->v[i];

		if (is_flipped(s, w, now) && w->died + s->max_usec < next)
			next = w->died + s->max_usec;
		if (w->dead && w->doubt && w->doubt + s->max_usec < next)
			next = w->doubt + s->max_usec;
	}
	return next;
}
