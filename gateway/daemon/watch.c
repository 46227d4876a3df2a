/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When to look. Kernel events ask for a look, which comes after a short pause that collects what belongs together; a
 * failed repair is tried again with back-off; and every ten seconds there is a look anyway, because sysctls tell
 * nobody. However many events there are, looking takes at most a fifth of the time.
 */
#include <string.h>

#include "gateway/base/log.h"
#include "gateway/daemon/daemon.h"
#include "gateway/nft/nft_subsystem.h"
#include "overlay/monitor.h"
#include "overlay/pathmtu.h"
#include "overlay/snoop_watch.h"
#include "overlay/toobig_watch.h"

static const uint64_t MSEC = 1000, SEC = 1000000;
static const uint64_t DEBOUNCE = 30000, REGULAR = 10000000, PATHS = 1000000, AGE = 10000000;
static const uint64_t RETRY_MIN = 1000000, RETRY_MAX = 30000000;

static uint64_t now(const struct daemon *d)
{
	uint64_t usec = 0;

	(void)sd_event_now(d->event, CLOCK_MONOTONIC, &usec);
	return usec;
}

static uint64_t clock_now(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * SEC + (uint64_t)ts.tv_nsec / 1000;
}

static void look_at(struct daemon *d, uint64_t usec)
{
	(void)sd_event_source_set_time(d->look, usec);
	(void)sd_event_source_set_enabled(d->look, SD_EVENT_ONESHOT);
}

void watch_soon(struct daemon *d)
{
	uint64_t planned, soon = now(d) + DEBOUNCE;

	if (!d->look)
		return;
	if (soon < d->not_before)
		soon = d->not_before;
	if (sd_event_source_get_time(d->look, &planned) < 0 || planned > soon)
		look_at(d, soon);
}

void watch_now(struct daemon *d)
{
	if (d->look)
		look_at(d, now(d));
}

static uint64_t longer(uint64_t pause)
{
	return pause == 0 ? RETRY_MIN : 2 * pause < RETRY_MAX ? 2 * pause : RETRY_MAX;
}

static void plan_next_look(struct daemon *d, uint64_t began, bool well)
{
	uint64_t end = clock_now(), pause = 4 * (end - began);

	if (well) {
		d->retry = 0;
		d->not_before = end + (pause < 500 * MSEC ? pause : 500 * MSEC);
		look_at(d, end + REGULAR);
		return;
	}
	/* Half a second between two tries: what else has drifted is still repaired in time. */
	d->retry = longer(d->retry);
	d->not_before = end + 500 * MSEC;
	look_at(d, end + d->retry);
}

/*
 * The file is tried again while something is in its way (an interface that is late), and while nothing runs at all. A
 * try that is undone in the kernel makes events itself, and so has to wait.
 */
static void boot_if_due(struct daemon *d, uint64_t usec)
{
	if (!d->boot_refused && (d->engine.running || (d->boot_undone && usec < d->boot_at)))
		return;
	daemon_boot_again(d);
	if (d->boot_undone) {
		d->boot_pause = longer(d->boot_pause);
		d->boot_at = clock_now() + d->boot_pause;
	}
}

static int on_look(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct daemon *d = userdata;
	uint64_t began = clock_now();
	bool well;

	(void)source;
	(void)usec;
	boot_if_due(d, began);
	(void)monitor_routes(d->links); /* what comes from here on, this look may miss */
	well = engine_reconcile(&d->engine) >= 0 && d->engine.running;
	if (well)
		daemon_sweep_flows(d);
	plan_next_look(d, began, well);
	return 0;
}

/* Path MTUs have no event: they are asked for. */
static int on_paths(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct daemon *d = userdata;
	bool changed = false;

	(void)usec;
	if (d->engine.running && pathmtu_refresh(d->engine.running, &d->engine.facts, &changed) == 0 && changed) {
		d->engine.facts_changed = true;
		watch_soon(d);
	}
	return sd_event_source_set_time_relative(source, PATHS);
}

/* What a monitor says, whichever: an error means that something may have been missed. */
static void heard(struct daemon *d, sd_event_source *source, const char *what, int r)
{
	if (r < 0) {
		log_error("no more events of %s (%s): looking every ten seconds", what, strerror(-r));
		(void)sd_event_source_set_enabled(source, SD_EVENT_OFF);
	}
	if (r == 0)
		return;
	engine_disturb(&d->engine);
	watch_soon(d);
}

static int on_links(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	struct daemon *d = userdata;

	(void)fd;
	(void)revents;
	heard(d, source, "links", monitor_read(d->links));
	return 0;
}

static int on_nft(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	struct daemon *d = userdata;

	(void)fd;
	(void)revents;
	heard(d, source, "nftables", nft_monitor_read(d->nft));
	return 0;
}

static bool is_on(sd_event_source *source)
{
	return source && sd_event_source_get_enabled(source, NULL) > 0;
}

void watch_listen(struct daemon *d)
{
	if (!is_on(d->links_io) || !is_on(d->nft_io)) {
		engine_disturb(&d->engine); /* nobody would have said */
		return;
	}
	heard(d, d->links_io, "links", monitor_read(d->links));
	heard(d, d->nft_io, "nftables", nft_monitor_read(d->nft));
	if (monitor_routes(d->links) != 0)
		engine_disturb(&d->engine);
}

static int on_toobig(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	struct daemon *d = userdata;
	int r = toobig_watch_read(d->toobig);

	(void)fd;
	(void)revents;
	if (r < 0) {
		log_error("no more answers to packets that are too big for bridged segments: %s", strerror(-r));
		(void)sd_event_source_set_enabled(source, SD_EVENT_OFF);
	}
	return 0;
}

/* A help for packets that the kernel would lose: without it, all else works. Behind all else, because there may be many
 * of them. */
static int open_toobig(struct daemon *d)
{
	int r = toobig_watch_open(&d->toobig);

	if (r < 0) {
		log_warning("no answers to fragments that are too big for bridged segments: %s", strerror(-r));
		return 0;
	}
	r = sd_event_add_io(d->event, &d->toobig_io, toobig_watch_fd(d->toobig), EPOLLIN, on_toobig, d);
	return r < 0 ? r : sd_event_source_set_priority(d->toobig_io, SD_EVENT_PRIORITY_IDLE);
}

static int on_snoop(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	struct daemon *d = userdata;
	int r = snoop_watch_read(d->snoop, d->engine.running);

	(void)fd;
	(void)revents;
	if (r < 0) {
		log_error("no more neighbors are learned in bridged segments: %s", strerror(-r));
		(void)sd_event_source_set_enabled(source, SD_EVENT_OFF);
	}
	return 0;
}

static int on_snoop_age(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct daemon *d = userdata;

	(void)usec;
	if (d->engine.running)
		(void)snoop_watch_age(d->snoop, d->engine.running);
	return sd_event_source_set_time_relative(source, AGE);
}

/* Without it, ARP and neighbor discovery are flooded as ever. */
static int open_snoop(struct daemon *d)
{
	int r = snoop_watch_open(&d->snoop);

	if (r < 0) {
		log_warning("no neighbors are learned in bridged segments: %s", strerror(-r));
		return 0;
	}
	r = sd_event_add_io(d->event, &d->snoop_io, snoop_watch_fd(d->snoop), EPOLLIN, on_snoop, d);
	if (r >= 0)
		r = sd_event_source_set_priority(d->snoop_io, SD_EVENT_PRIORITY_IDLE);
	if (r >= 0)
		r = sd_event_add_time_relative(d->event, &d->snoop_age, CLOCK_MONOTONIC, AGE, SEC, on_snoop_age, d);
	return r < 0 ? r : sd_event_source_set_enabled(d->snoop_age, SD_EVENT_ON);
}

int watch_open(struct daemon *d)
{
	int r = monitor_open(&d->links);

	if (r >= 0)
		r = nft_monitor_open(&d->nft);
	if (r >= 0)
		r = sd_event_add_io(d->event, &d->links_io, monitor_fd(d->links), EPOLLIN, on_links, d);
	if (r >= 0)
		r = sd_event_add_io(d->event, &d->nft_io, nft_monitor_fd(d->nft), EPOLLIN, on_nft, d);
	if (r >= 0)
		r = open_toobig(d);
	if (r >= 0)
		r = open_snoop(d);
	if (r >= 0)
		r = sd_event_add_time_relative(d->event, &d->look, CLOCK_MONOTONIC, REGULAR, MSEC, on_look, d);
	if (r >= 0)
		r = sd_event_add_time_relative(d->event, &d->paths, CLOCK_MONOTONIC, PATHS, 50 * MSEC, on_paths, d);
	if (r >= 0)
		r = sd_event_source_set_enabled(d->paths, SD_EVENT_ON);
	return r < 0 ? r : 0;
}

void watch_close(struct daemon *d)
{
	sd_event_source_disable_unref(d->links_io);
	sd_event_source_disable_unref(d->nft_io);
	sd_event_source_disable_unref(d->toobig_io);
	sd_event_source_disable_unref(d->snoop_io);
	sd_event_source_disable_unref(d->snoop_age);
	sd_event_source_disable_unref(d->look);
	sd_event_source_disable_unref(d->paths);
	monitor_close(d->links);
	nft_monitor_close(d->nft);
	toobig_watch_close(d->toobig);
	snoop_watch_close(d->snoop);
}
