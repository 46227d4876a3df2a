/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fairwayd without the loop: --check, --dry-run, --teardown. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "config/prefix_file.h"
#include "config/secret.h"
#include "gateway/base/arena.h"
#include "gateway/base/cleanup.h"
#include "gateway/base/fs.h"
#include "gateway/daemon/daemon.h"
#include "gateway/daemon/lock.h"
#include "gateway/daemon/transit.h"
#include "gateway/engine/load.h"
#include "gateway/engine/subsystems.h"
#include "overlay/pathmtu.h"
#include "overlay/probe.h"
#include "gateway/service/service.h"
#include "routing/routing.h"

static void print(FILE *stream, struct buf *text)
{
	(void)fwrite(buf_str(text), 1, text->len, stream);
	buf_free(text);
}

/* Diagnostics go to standard error. NULL if there is an error among them. */
static const struct config *load(const struct engine *e, const char *file, struct arena *arena)
{
	_cleanup_free_ char *text = NULL;
	const struct config *cfg;
	struct buf out = {0};
	struct diag diag;
	size_t len;
	int r = fs_read_regular(file, CONFIG_FILE_MAX, &text, &len);

	if (r < 0) {
		(void)fprintf(stderr, "%s: error: %s\n", file, fs_read_error(r));
		return NULL;
	}
	diag_init(&diag, file);
	cfg = engine_load(e, text, len, true, arena, &diag);
	diag_print(&diag, &out);
	print(stderr, &out);
	diag_free(&diag);
	return cfg;
}

int offline_check(const struct options *options)
{
	_cleanup_(arena_freep) struct arena *arena = arena_new();
	struct engine e;
	bool good;

	engine_init(&e, subsystems, n_subsystems);
	good = load(&e, options->config, arena) != NULL;
	engine_free(&e);
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}

static void take_secret(const char *path, const char *text, void *arg)
{
	facts_set_secret(arg, path, text);
}

/* Each is good: the check has read it. */
static void take_prefixes(const struct config *cfg, struct facts *facts)
{
	for (size_t i = 0; cfg->policy && i < cfg->policy->groups.n; i++) {
		const char *file = cfg->policy->groups.v[i].file;
		struct ip_prefix *v = NULL;
		struct buf why = {0};
		size_t n = 0;

		if (file && prefix_file_read(file, &v, &n, &why) == 0)
			(void)facts_set_prefixes(facts, file, v, n);
		buf_free(&why);
	}
}

static int print_plan(struct engine *e, const struct config *cfg)
{
	struct buf out = {0}, why = {0};
	struct plan plan;
	bool changed;
	int r;

	e->facts.has_vrf = overlay_probe_vrf();
	e->facts.lacks_bridge_filter = !overlay_probe_bridge_filter();
	(void)pathmtu_refresh(cfg, &e->facts, &changed);
	(void)secret_read_all(cfg, take_secret, &e->facts);
	take_prefixes(cfg, &e->facts);
	plan_init(&plan);
	r = engine_plan(e, cfg, &plan, &why);
	if (r < 0)
		(void)fprintf(stderr, "fairwayd: %s\n", buf_str(&why));
	else
		plan_print(&plan, &out);
	print(stdout, &out);
	buf_free(&why);
	plan_free(&plan);
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

int offline_dry_run(const struct options *options)
{
	_cleanup_(arena_freep) struct arena *arena = arena_new();
	const struct config *cfg;
	int status = EXIT_FAILURE;
	struct engine e;

	engine_init(&e, subsystems, n_subsystems);
	routing_attach(options->run_dir, NULL);
	cfg = load(&e, options->config, arena);
	if (cfg)
		status = print_plan(&e, cfg);
	engine_free(&e);
	return status;
}

int offline_teardown(const struct options *options)
{
	_cleanup_(arena_freep) struct arena *arena = arena_new();
	struct services *services = NULL;
	_cleanup_close_ int lock = -1, network_lock = -1;
	enum commit_result result;
	struct buf report = {0};
	struct engine e;
	int r;

	if (!lock_instance(options->instance, options->run_dir, &lock) || !lock_network(&network_lock))
		return EXIT_FAILURE;
	r = routing_services_open(options, arena, &services);
	if (r < 0) {
		(void)fprintf(stderr, "fairwayd: no keeper of the routing daemons: %s\n", strerror(-r));
		return EXIT_FAILURE;
	}
	engine_init(&e, subsystems, n_subsystems);
	result = engine_teardown(&e, &report);
	print(result == COMMIT_OK ? stdout : stderr, &report);
	if ((result == COMMIT_OK || result == COMMIT_NOTHING) && !transit_open())
		result = COMMIT_BROKEN;
	engine_free(&e);
	services_close(services);
	return result == COMMIT_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
