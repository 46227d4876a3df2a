/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From start to end: lock, store, sockets, privileges down, boot, loop. It ends without touching the kernel: forwarding
 * goes on, and the next start finds all as it was.
 */
#include "gateway/daemon/daemon.h"
#include "gateway/daemon/scan_watch.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "config/store.h"
#include "gateway/audit/audit.h"
#include "gateway/base/arena.h"
#include "gateway/base/cleanup.h"
#include "gateway/base/log.h"
#include "gateway/base/str.h"
#include "gateway/daemon/lock.h"
#include "gateway/daemon/privileges.h"
#include "gateway/engine/subsystems.h"
#include "gateway/rpc/rpc_server.h"
#include "gateway/service/service.h"
#include "overlay/probe.h"
#include "routing/frr_daemons.h"

static bool open_store(struct daemon *d)
{
	int r = store_open(d->options->state_dir, STORE_KEEP_DEFAULT, &d->store);

	if (r < 0)
		log_error("%s: %s", d->options->state_dir, strerror(-r));
	return r == 0;
}

static bool open_loop(struct daemon *d)
{
	/* None of these asks for anything here; each would end the process without a word. */
	static const int ignored[] = {SIGPIPE, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM};
	sigset_t signals;
	int r = sd_event_new(&d->event);

	(void)sigemptyset(&signals);
	(void)sigaddset(&signals, SIGTERM);
	(void)sigaddset(&signals, SIGINT);
	(void)sigprocmask(SIG_BLOCK, &signals, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(ignored); i++)
		(void)signal(ignored[i], SIG_IGN);
	/* Without a handler these end the loop, with status 0. */
	if (r >= 0)
		r = sd_event_add_signal(d->event, NULL, SIGTERM, NULL, NULL);
	if (r >= 0)
		r = sd_event_add_signal(d->event, NULL, SIGINT, NULL, NULL);
	if (r < 0)
		log_error("no event loop: %s", strerror(-r));
	return r >= 0;
}

static bool open_services(struct daemon *d)
{
	int r;

	d->service_arena = arena_new();
	r = routing_services_open(d->options, d->service_arena, &d->services);
	if (r < 0)
		log_error("no keeper of the routing daemons: %s", strerror(-r));
	return r == 0;
}

static bool open_rpc(struct daemon *d)
{
	int r = methods_open(d);

	if (r < 0)
		log_error("no socket in %s: %s", d->options->run_dir, strerror(-r));
	return r == 0;
}

static bool open_watch(struct daemon *d)
{
	int r = watch_open(d);

	if (r < 0)
		log_error("no kernel events: %s", strerror(-r));
	return r == 0;
}

/* Of these groups: FRR's, for its sockets, and the readers', for the record of the audit. */
static bool drop_privileges(void)
{
	const char *groups[FRR_N_GROUPS + 1] = {"fairway"};
	int r;

	memcpy(groups + 1, frr_groups, sizeof(frr_groups));
	r = privileges_drop(groups, ARRAY_SIZE(groups));

	if (r < 0)
		log_error("this takes root (CAP_NET_ADMIN): %s", strerror(-r));
	return r == 0;
}

static bool open_routing(struct daemon *d)
{
	int r = routing_watch_open(d);

	if (r < 0)
		log_error("no events of the routing daemons: %s", strerror(-r));
	return r == 0;
}

static bool open_prefixes(struct daemon *d)
{
	int r = prefix_watch_open(d);

	if (r < 0)
		log_error("no events of prefix files: %s", strerror(-r));
	return r >= 0;
}

static bool open_audit(struct daemon *d)
{
	int r = auditor_open(&d->auditor);

	if (r < 0)
		log_error("no thread for the audit: %s", strerror(-r));
	return r == 0;
}

static bool open_scans(struct daemon *d)
{
	int r = scan_watch_open(d->event, d->auditor, &d->scans);

	if (r < 0)
		log_error("no watch for scans: %s", strerror(-r));
	return r == 0;
}

/* False after saying why not. */
static bool daemon_open(struct daemon *d)
{
	return lock_instance(d->options->instance, d->options->run_dir, &d->lock) && lock_network(&d->network_lock) &&
		open_services(d) && open_store(d) && open_loop(d) && open_rpc(d) && open_watch(d) &&
		drop_privileges() && open_routing(d) && open_prefixes(d) && open_audit(d) && open_scans(d);
}

static void daemon_close(struct daemon *d)
{
	rpc_server_close(d->rpc);
	auditor_close(d->auditor);
	scan_watch_close(d->scans);
	if (d->links)
		watch_close(d);
	routing_watch_close(d);
	prefix_watch_close(d);
	sd_event_unref(d->event);
	store_close(d->store);
	engine_free(&d->engine);
	free(d->boot_trouble);
	free(d->file_trouble);
	arena_free(d->service_arena);
	closep(&d->network_lock);
	closep(&d->lock);
}

int daemon_run(const struct options *options)
{
	struct daemon d = {.options = options, .lock = -1, .network_lock = -1, .prefix_fd = -1, .started = time(NULL)};
	int status = EXIT_FAILURE;

	(void)umask(077);
	engine_init(&d.engine, subsystems, n_subsystems);
	d.engine.facts.has_vrf = overlay_probe_vrf();
	d.engine.facts.lacks_bridge_filter = !overlay_probe_bridge_filter();
	if (daemon_open(&d)) {
		log_notice("fairwayd " FAIRWAY_VERSION ", instance %s", options->instance);
		daemon_boot(&d);
		(void)sd_notifyf(0, "READY=1\nSTATUS=%s", d.engine.running ? "running" : "nothing is configured");
		if (sd_event_loop(d.event) == 0)
			status = EXIT_SUCCESS;
		(void)sd_notify(0, "STOPPING=1");
		log_notice("ending; the kernel stays as it is");
	}
	daemon_close(&d);
	return status;
}
