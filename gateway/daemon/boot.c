/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Boot is a commit of the file. What ran before is adopted first, so that a file that fails comes back to it and not to
 * nothing; a restart on a converged machine plans nothing.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "config/store.h"
#include "gateway/audit/audit.h"
#include "gateway/base/arena.h"
#include "gateway/base/cleanup.h"
#include "gateway/base/fs.h"
#include "gateway/base/log.h"
#include "gateway/base/str.h"
#include "gateway/daemon/daemon.h"
#include "gateway/daemon/scan_watch.h"
#include "gateway/daemon/transit.h"
#include "gateway/engine/load.h"

/* Trouble is logged when it is new; takes over text. */
static void set_boot_trouble(struct daemon *d, struct buf *text)
{
	char *trouble = buf_steal(text);

	if (!str_eq(trouble, d->boot_trouble))
		log_error("%s", trouble);
	free(d->boot_trouble);
	d->boot_trouble = trouble;
}

static const struct config *load(
	struct daemon *d, const char *name, const char *text, size_t len, struct arena *arena, struct buf *why)
{
	const struct config *cfg;
	struct diag diag;

	diag_init(&diag, name);
	cfg = engine_load(&d->engine, text, len, true, arena, &diag);
	if (!cfg)
		diag_print(&diag, why);
	diag_free(&diag);
	return cfg;
}

static void note_pending(struct daemon *d)
{
	struct revision pending;

	if (store_pending(d->store, &pending) != 1)
		return;
	log_warning(
		"a commit of %s by %s was cut short; the configuration before it counts", pending.source, pending.user);
	if (store_abort(d->store) < 0)
		log_error("the pending revision in %s could not be removed", d->options->state_dir);
}

/* A stored revision as what runs; number 0: the running one. Not a look at the kernel: the commit that follows has it.
 */
static int adopt(struct daemon *d, uint64_t number)
{
	struct arena *arena = arena_new();
	_cleanup_free_ char *text = NULL;
	const struct config *cfg = NULL;
	struct revision meta;
	struct buf why = {0};
	size_t len;
	int r = store_read(d->store, number, &text, &len, &meta);

	if (r < 0)
		buf_puts(&why, strerror(-r));
	else
		cfg = load(d, "stored revision", text, len, arena, &why);
	if (cfg) {
		d->revision = meta.number;
		daemon_take_secrets(d, cfg);
		daemon_take_prefixes(d, cfg);
		engine_adopt(&d->engine, cfg, arena);
	} else {
		if (r != -ENOENT)
			log_error("a stored revision is of no use: %s", buf_str(&why));
		arena_free(arena);
	}
	buf_free(&why);
	return cfg ? 0 : r < 0 ? r : -EBADMSG;
}

/* The running revision, or the newest before it that is good. */
static void adopt_stored(struct daemon *d)
{
	_cleanup_free_ struct revision *v = NULL;
	size_t n = 0;
	int r = adopt(d, 0);

	if (r == 0 || r == -ENOENT || store_list(d->store, &v, &n) < 0)
		return;
	for (size_t i = 0; i < n && r < 0; i++)
		r = adopt(d, v[i].number);
}

/* Is something in the way of cfg? A look costs nothing on disk, and so can be had at every event. */
static bool is_blocked(struct daemon *d, const struct config *cfg)
{
	struct buf why = {0};
	struct plan plan;
	bool blocked;

	plan_init(&plan);
	blocked = engine_plan(&d->engine, cfg, &plan, &why) < 0 || plan.n_conflicts > 0;
	plan_free(&plan);
	buf_free(&why);
	return blocked;
}

static void note_result(struct daemon *d, const struct applied *a)
{
	struct buf trouble = {0};

	if (applied_is_good(a)) {
		log_notice("revision %llu runs: %s", (unsigned long long)d->revision, buf_str(&a->report));
		return;
	}
	buf_printf(&trouble, "%s is not what runs: %s", d->options->config, buf_str(&a->report));
	set_boot_trouble(d, &trouble);
	d->boot_refused = a->result == COMMIT_REFUSED;
	d->boot_undone = !d->boot_refused;
}

static void commit_file(struct daemon *d, const struct config *cfg, struct arena *arena, const char *text, size_t len)
{
	/* What ran last, asked for again: what is left of it after a failure is the reconciler's, there is nothing
	 * else. */
	bool same = d->engine.running && daemon_runs_text(d, text, len);
	struct revision meta = {.time = time(NULL), .user = "root", .comment = "boot"};
	struct applied applied = {0};

	(void)snprintf(meta.source, sizeof(meta.source), "%s", d->options->config);
	daemon_commit(d, cfg, arena, text, len, &meta, &applied);
	if (applied_is_good(&applied) || !same)
		note_result(d, &applied);
	applied_free(&applied);
}

static void boot_file(struct daemon *d, bool again)
{
	struct arena *arena = arena_new();
	_cleanup_free_ char *text = NULL;
	const struct config *cfg = NULL;
	struct buf trouble = {0};
	size_t len;
	int r = fs_read_regular(d->options->config, CONFIG_FILE_MAX, &text, &len);

	if (r < 0)
		buf_printf(&trouble, "%s: %s", d->options->config, fs_read_error(r));
	else
		cfg = load(d, d->options->config, text, len, arena, &trouble);
	if (cfg && !(again && is_blocked(d, cfg))) {
		d->boot_undone = d->boot_refused = false;
		commit_file(d, cfg, arena, text, len);
		return;
	}
	if (!cfg)
		set_boot_trouble(d, &trouble);
	arena_free(arena);
}

void daemon_follow_transit(struct daemon *d)
{
	if (!d->engine.running)
		(void)transit_close();
	else if (!d->transit_open)
		d->transit_open = transit_open();
}

void daemon_boot(struct daemon *d)
{
	note_pending(d);
	d->engine.lenient = true;
	adopt_stored(d);
	boot_file(d, false);
	d->engine.lenient = false;
	if (!d->engine.running)
		log_notice("nothing is configured, and nothing passes through; waiting for an apply, or for the file");
	else if (d->boot_trouble)
		log_notice("revision %llu stays in force", (unsigned long long)d->revision);
	routing_watch_config(d);
	prefix_watch_config(d);
	scan_watch_config(d->scans, d->engine.running);
	auditor_config(d->auditor, d->engine.running);
	if (!d->engine.converged)
		(void)engine_reconcile(&d->engine);
	daemon_follow_transit(d);
	watch_soon(d);
}

void daemon_boot_again(struct daemon *d)
{
	d->engine.lenient = true;
	boot_file(d, true);
	d->engine.lenient = false;
}
