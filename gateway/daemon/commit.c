/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A commit with its revision: pending on disk, engine, running on disk, and then the file that the next boot reads. A
 * crash between any two of these leaves the old or the new config to boot with, never half of one.
 */
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "config/config.h"
#include "config/secret.h"
#include "config/store.h"
#include "gateway/audit/audit.h"
#include "gateway/base/arena.h"
#include "gateway/base/cleanup.h"
#include "gateway/base/fs.h"
#include "gateway/base/log.h"
#include "gateway/daemon/daemon.h"
#include "gateway/daemon/scan_watch.h"
#include "overlay/pathmtu.h"
#include "overlay/probe.h"

void applied_free(struct applied *a)
{
	json_decref(a->plan);
	buf_free(&a->text);
	buf_free(&a->report);
}

static void keep_plan(void *arg, const struct plan *plan)
{
	struct applied *a = arg;

	a->plan = plan_to_json(plan);
	plan_print(plan, &a->text);
	log_debug("plan:\n%s", buf_str(&a->text));
}

static bool is_good(enum commit_result result)
{
	return result == COMMIT_OK || result == COMMIT_NOTHING;
}

bool applied_is_good(const struct applied *a)
{
	return is_good(a->result);
}

bool daemon_runs_text(struct daemon *d, const char *text, size_t len)
{
	_cleanup_free_ char *running = NULL;
	struct revision meta;
	size_t running_len;

	return store_read(d->store, 0, &running, &running_len, &meta) == 0 && running_len == len &&
		memcmp(running, text, len) == 0;
}

/* The file itself, where the name is a symbolic link: a rename would replace the link. Who may read it stays so. */
static int replace_file(const char *name, const char *text, size_t len)
{
	_cleanup_free_ char *path = realpath(name, NULL);
	_cleanup_free_ char *now = NULL;
	struct stat st = {.st_mode = 0600};
	size_t now_len;
	int r;

	if (!path && errno != ENOENT)
		return -errno;
	r = path ? fs_read_regular(path, CONFIG_FILE_MAX, &now, &now_len) : -ENOENT;
	if (r == -EINVAL) /* a device or a pipe is not for us to remove */
		return r;
	if (r == 0 && now_len == len && memcmp(now, text, len) == 0)
		return 0;
	if (path && stat(path, &st) < 0)
		return -errno;
	return fs_write_atomic(path ? path : name, text, len, st.st_mode & 0777);
}

static void set_file_trouble(struct daemon *d, const char *what, int error)
{
	struct buf text = {0};

	free(d->file_trouble);
	d->file_trouble = NULL;
	if (error == 0)
		return;
	buf_printf(&text, "%s could not be replaced by what runs now: %s", what, fs_read_error(error));
	log_error("%s", text.data);
	d->file_trouble = buf_steal(&text);
}

static void save(struct daemon *d, bool known, const char *text, size_t len)
{
	const char *what = "the stored revision";
	int r = known ? 0 : store_commit(d->store, &d->revision);

	if (r == 0) {
		what = d->options->config;
		r = replace_file(what, text, len);
	}
	set_file_trouble(d, what, r);
}

static enum commit_result commit_pending(struct daemon *d, const struct config *cfg, struct arena *arena,
	const char *text, size_t len, const struct revision *meta, struct buf *report)
{
	bool known = daemon_runs_text(d, text, len);
	enum commit_result result;
	int r = known ? 0 : store_begin(d->store, text, len, meta);

	if (r < 0) {
		buf_printf(report, "the revision cannot be written to %s: %s\n", d->options->state_dir, strerror(-r));
		return COMMIT_REFUSED;
	}
	result = engine_commit(&d->engine, cfg, arena, report);
	if (is_good(result))
		save(d, known, text, len);
	else if (!known && store_abort(d->store) < 0)
		log_error("the pending revision in %s could not be removed", d->options->state_dir);
	return result;
}

static void take_secret(const char *path, const char *text, void *arg)
{
	struct daemon *d = arg;

	facts_set_secret(&d->engine.facts, path, text);
}

void daemon_take_secrets(struct daemon *d, const struct config *cfg)
{
	int r = secret_read_all(cfg, take_secret, d);

	if (r < 0)
		log_error("a secret file could not be read: %s", strerror(-r));
}

void daemon_commit(struct daemon *d, const struct config *cfg, struct arena *arena, const char *text, size_t len,
	const struct revision *meta, struct applied *ret)
{
	bool changed;

	/* What the kernel has learned already counts from the start: a restart does not widen what fits no more. */
	(void)pathmtu_refresh(cfg, &d->engine.facts, &changed);
	d->engine.facts.lacks_bridge_filter = !overlay_probe_bridge_filter();
	daemon_take_secrets(d, cfg);
	daemon_take_prefixes(d, cfg);
	watch_listen(d);
	d->engine.on_plan = keep_plan;
	d->engine.on_plan_arg = ret;
	ret->result = commit_pending(d, cfg, arena, text, len, meta, &ret->report);
	d->engine.on_plan = NULL;
	if (d->engine.running_arena != arena)
		arena_free(arena);
	if (applied_is_good(ret)) {
		free(d->boot_trouble);
		d->boot_trouble = NULL;
		d->boot_refused = d->boot_undone = false;
		routing_watch_config(d);
		prefix_watch_config(d);
		daemon_sweep_flows(d);
		scan_watch_config(d->scans, d->engine.running);
		auditor_config(d->auditor, d->engine.running);
		daemon_follow_transit(d);
	}
	(void)malloc_trim(0); /* a plan for a thousand segments is gone now */
	watch_soon(d);
}
