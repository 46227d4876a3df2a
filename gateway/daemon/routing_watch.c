/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the loop does for routing: a daemon that ended or hangs asks for a look, which finds it missing; what BFD says
 * becomes a fact, after the flip's thread has already moved what the line carried.
 */
#include <string.h>

#include "config/config.h"
#include "gateway/base/arena.h"
#include "gateway/base/cleanup.h"
#include "gateway/base/log.h"
#include "gateway/base/str.h"
#include "gateway/daemon/daemon.h"
#include "gateway/service/service.h"
#include "routing/fib_check.h"
#include "routing/flip.h"
#include "routing/frr_daemons.h"
#include "routing/frr_health.h"
#include "routing/frr_render.h"
#include "routing/routing.h"
#include "routing/session.h"

static const uint64_t SEC = 1000000, PULSE = 250000;

/* --- daemons --- */

/*
 * A bfdd that finds a new zebra puts every session down that bgpd has joined, and it looks for one every 10 s only: all
 * lines would bounce then. One that starts anew is with the new zebra at once, and the far sides see it now and once.
 */
static void start_over_with_zebra(struct daemon *d, const char *ended)
{
	if (str_eq(ended, FRR_ZEBRA) && services_pid(d->services, FRR_BFDD) > 0)
		(void)services_kill(d->services, FRR_BFDD);
}

static int on_service_end(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	struct daemon *d = userdata;
	const char *name;

	(void)source;
	(void)fd;
	(void)revents;
	while ((name = services_read(d->services)) != NULL) {
		log_warning("%s has ended", name);
		start_over_with_zebra(d, name);
		engine_disturb(&d->engine);
		watch_now(d);
	}
	return 0;
}

static int on_pulse(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct daemon *d = userdata;
	const char *name = frr_health_ask(d->health, usec);
	const struct config *cfg = d->engine.running;

	if (name) {
		log_error("%s hangs: it is killed, and started again", name);
		(void)services_kill(d->services, name);
		watch_now(d);
	}
	if (cfg && cfg->bgp)
		frr_retell_turn(&d->retell, d->options->run_dir, services_pid(d->services, FRR_ZEBRA), cfg, usec);
	return sd_event_source_set_time_relative(source, PULSE);
}

/* --- BFD --- */

static bool line_has_next_hop(const struct line *line, const struct bfd_event *event)
{
	return str_eq(line->interface, event->interface) &&
		(ip_addr_cmp(&line->peer_address, &event->peer) == 0 ||
			ip_addr_cmp(&line->peer_address6, &event->peer) == 0);
}

static const struct line *line_of(const struct config *cfg, const struct bfd_event *event)
{
	for (size_t i = 0; i < cfg->lines.n; i++)
		if (line_has_next_hop(&cfg->lines.v[i], event))
			return &cfg->lines.v[i];
	return NULL;
}

static bool is_usable(const struct facts *facts, const struct line *line)
{
	return line && line->enabled && !facts_is_dead(facts, &line->peer_address, line->interface);
}

/* A remote that has lost its last line: worth a word of its own. */
static void note_remotes(const struct daemon *d, const struct line *line)
{
	const struct config *cfg = d->engine.running;

	for (size_t i = 0; i < cfg->remotes.n; i++) {
		const struct remote *remote = &cfg->remotes.v[i];
		bool has_line = false;
		size_t usable = 0;

		for (size_t k = 0; k < remote->lines.n; k++) {
			has_line = has_line || str_eq(remote->lines.v[k], line->name);
			usable += is_usable(&d->engine.facts, config_line(cfg, remote->lines.v[k]));
		}
		if (has_line && usable == 0)
			log_error("remote %s: BFD says that every line to it is down", remote->name);
	}
}

static void note_line(const struct daemon *d, const struct flip_news *news)
{
	const struct bfd_event *event = &news->event;
	const struct line *line = line_of(d->engine.running, event);
	char peer[IP_STR_MAX];

	if (!line)
		return;
	if (event->state == BFD_UP)
		log_notice("line %s: BFD with %s is up", line->name, ip_addr_str(&event->peer, peer));
	else
		log_warning("line %s: BFD with %s is down (%s); %u routes moved in %u us", line->name,
			ip_addr_str(&event->peer, peer), bfd_diagnostic(event->diagnostic), news->moved, news->usec);
	note_remotes(d, line);
}

/*
 * For the plan a session that is down is dead also where it never was up: no line is used on the strength of what
 * nobody has seen, as long as there is another. What a session that is gone was, the fact goes on saying: bfdd starts
 * again.
 */
static void take_news(struct daemon *d, const struct flip_news *news)
{
	const struct bfd_event *event = &news->event;
	bool dead = news->dead || (event->state == BFD_DOWN && bfd_verdict(event) == BFD_UNKNOWN);

	if (!d->engine.running || news->lost || event->removed || event->multihop)
		return;
	if (!facts_set_dead(&d->engine.facts, &event->peer, event->interface, dead))
		return;
	note_line(d, news);
	d->engine.facts_changed = true;
	watch_soon(d);
}

static int on_flip(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	struct daemon *d = userdata;
	struct flip_news news;
	int r;

	(void)fd;
	(void)revents;
	while ((r = flip_read(d->flip, &news)) > 0)
		take_news(d, &news);
	if (r < 0) {
		log_error("no more news of BFD: %s", strerror(-r));
		(void)sd_event_source_set_enabled(source, SD_EVENT_OFF);
	}
	return 0;
}

static size_t watched_neighbors(const struct config *cfg, struct arena *arena, struct flip_line *ret)
{
	struct sessions sessions;
	size_t n = 0;

	sessions_of(cfg, arena, &sessions);
	for (size_t i = 0; i < sessions.n; i++) {
		const struct session *s = &sessions.v[i];

		if (!s->neighbor || s->bfd.interval_ms == 0 || !s->interface || s->unnumbered)
			continue;
		ret[n].peer = s->address;
		(void)snprintf(ret[n++].interface, sizeof(ret->interface), "%s", s->interface);
	}
	return n;
}

static size_t watched_lines(const struct config *cfg, struct arena *arena, struct flip_line *ret)
{
	struct line_bfd *bfds = arena_array(arena, 2 * cfg->lines.n, sizeof(*bfds));
	size_t n = line_bfds_of(cfg, bfds);

	for (size_t i = 0; i < n; i++) {
		ret[i].peer = bfds[i].peer;
		(void)snprintf(ret[i].interface, sizeof(ret->interface), "%s", bfds[i].line->interface);
	}
	return n;
}

/* What no session watches any more is not dead for ever. */
static void forget_unwatched(struct facts *facts, const struct flip_line *lines, size_t n)
{
	for (size_t i = facts->n_dead; i-- > 0;) {
		struct dead_fact dead = facts->dead[i];
		bool watched = false;

		for (size_t k = 0; k < n && !watched; k++)
			watched = ip_addr_cmp(&lines[k].peer, &dead.peer) == 0 &&
				str_eq(lines[k].interface, dead.interface);
		if (!watched)
			(void)facts_set_dead(facts, &dead.peer, dead.interface, false);
	}
}

void routing_watch_config(struct daemon *d)
{
	_cleanup_(arena_freep) struct arena *arena = arena_new();
	const struct config *cfg = d->engine.running;
	struct flip_line *lines;
	size_t n;

	if (!cfg || !d->flip)
		return;
	lines = arena_array(arena, 2 * cfg->lines.n + (cfg->bgp ? cfg->bgp->neighbors.n : 0), sizeof(*lines));
	n = watched_lines(cfg, arena, lines);
	n += watched_neighbors(cfg, arena, lines + n);
	flip_watch(d->flip, lines, n);
	forget_unwatched(&d->engine.facts, lines, n);
}

/* --- kernel against FRR --- */

static int look_at_fib(const struct daemon *d, uint64_t usec)
{
	int r = sd_event_source_set_time(d->fib_look, usec);

	return r < 0 ? r : sd_event_source_set_enabled(d->fib_look, SD_EVENT_ONESHOT);
}

static int on_fib_event(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	struct daemon *d = userdata;
	uint64_t now = 0;

	(void)source;
	(void)fd;
	(void)revents;
	(void)sd_event_now(d->event, CLOCK_MONOTONIC, &now);
	return look_at_fib(d, fib_check_heard(d->fib, now));
}

static int on_fib_look(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct daemon *d = userdata;

	(void)source;
	return look_at_fib(d, fib_check_look(d->fib, usec));
}

static int open_fib(struct daemon *d)
{
	int r = fib_check_open(frr_folder(d->options->run_dir, d->service_arena), &d->fib);

	if (r >= 0)
		r = sd_event_add_io(d->event, &d->fib_io, fib_check_fd(d->fib), EPOLLIN, on_fib_event, d);
	if (r >= 0)
		r = sd_event_add_time_relative(d->event, &d->fib_look, CLOCK_MONOTONIC, SEC, SEC / 20, on_fib_look, d);
	return r;
}

/* --- open and close --- */

int routing_services_open(const struct options *options, struct arena *arena, struct services **ret)
{
	char reason[FRR_REASON];
	struct services *services;
	size_t n;
	const struct service_spec *specs = frr_daemons_specs(options->run_dir, arena, &n);
	int r;

	/* A gateway without BGP and BFD needs none of them; one that has it finds them missing, and says so. */
	if (frr_daemons_prepare(options->run_dir, reason) < 0)
		log_warning("no routing daemons: %s", reason);
	r = services_open(specs, n, &services);
	if (r < 0)
		return r;
	routing_attach(options->run_dir, services);
	*ret = services;
	return 0;
}

static int open_flip(struct daemon *d)
{
	int r = flip_open(frr_bfd_path(d->options->run_dir, d->service_arena), FLIP_MAX_SECONDS, &d->flip);

	if (r == 0)
		r = sd_event_add_io(d->event, &d->flip_io, flip_fd(d->flip), EPOLLIN, on_flip, d);
	return r;
}

int routing_watch_open(struct daemon *d)
{
	int r = sd_event_add_io(d->event, &d->services_io, services_fd(d->services), EPOLLIN, on_service_end, d);

	d->health = frr_health_new(d->options->run_dir);
	if (r >= 0)
		r = sd_event_add_time_relative(d->event, &d->pulse, CLOCK_MONOTONIC, PULSE, PULSE / 20, on_pulse, d);
	if (r >= 0)
		r = sd_event_source_set_enabled(d->pulse, SD_EVENT_ON);
	if (r >= 0)
		r = open_flip(d);
	return r < 0 ? r : open_fib(d);
}

void routing_watch_close(struct daemon *d)
{
	sd_event_source_disable_unref(d->services_io);
	sd_event_source_disable_unref(d->pulse);
	sd_event_source_disable_unref(d->flip_io);
	sd_event_source_disable_unref(d->fib_io);
	sd_event_source_disable_unref(d->fib_look);
	fib_check_close(d->fib);
	flip_close(d->flip);
	frr_health_free(d->health);
	services_close(d->services);
}
