/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prefix files of the policy's groups: read when a config is taken over, and again when one changes; what is in them is
 * a fact, so a change is some elements more or less. A file that is no good changes nothing: what was good last stays,
 * also over a restart, as each is kept in the state folder too.
 *
 * Folders are watched and not files, because a file is mostly replaced by renaming another over it.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "config/config.h"
#include "config/prefix_file.h"
#include "gateway/base/arena.h"
#include "gateway/base/cleanup.h"
#include "gateway/base/fs.h"
#include "gateway/base/log.h"
#include "gateway/base/str.h"
#include "gateway/daemon/daemon.h"
#include "gateway/filter/policy_quick.h"
#include "gateway/policy/policy_delta.h"

enum { EVENTS = IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_ONLYDIR };

/* --- what was good last --- */

static void copy_name(const struct daemon *d, const char *path, struct buf *out)
{
	buf_printf(out, "%s/prefixes-%016llx", d->options->state_dir, (unsigned long long)str_hash(path));
}

static void keep_copy(struct daemon *d, const char *path)
{
	const struct prefix_fact *fact = facts_prefixes(&d->engine.facts, path);
	struct buf name = {0}, text = {0};
	char line[IP_STR_MAX];

	copy_name(d, path, &name);
	buf_printf(&text, "# %s\n", path);
	for (size_t i = 0; i < fact->n; i++)
		buf_printf(&text, "%s\n", ip_prefix_str(&fact->v[i], line));
	if (fs_write_atomic(name.data, text.data, text.len, 0600) < 0)
		log_warning("what is in %s could not be kept in %s", path, d->options->state_dir);
	buf_free(&name);
	buf_free(&text);
}

static void use_copy(struct daemon *d, const char *path)
{
	struct ip_prefix *v = NULL;
	struct buf name = {0}, why = {0};
	size_t n = 0;

	copy_name(d, path, &name);
	if (prefix_file_read(name.data, &v, &n, &why) == 0)
		(void)facts_set_prefixes(&d->engine.facts, path, v, n);
	buf_free(&name);
	buf_free(&why);
}

/* --- reading --- */

/*
 * Into the kernel by the quick way, where it is open; the loop looks at all of it afterwards in any case. Until it has,
 * the next change is the loop's: what it takes back may stand in the small map.
 */
static void take_quickly(struct daemon *d, const struct ip_prefix *changed, size_t n)
{
	const struct engine *e = &d->engine;

	if (n > 0 && e->running && e->converged && !d->prefixes_changed &&
		policy_quick(e->running, &e->facts, changed, n))
		log_notice("a prefix file has changed in %zu place%s: in force", n, n == 1 ? "" : "s");
}

/* True if what is in it is another now. What is wrong is added to why. */
static bool take(struct daemon *d, const char *path, bool quickly, struct buf *why)
{
	_cleanup_(arena_freep) struct arena *arena = arena_new();
	const struct prefix_fact *was = facts_prefixes(&d->engine.facts, path);
	const struct ip_prefix *changed = NULL;
	struct ip_prefix *v = NULL;
	size_t n = 0, n_changed = 0;

	if (prefix_file_read(path, &v, &n, why) < 0) {
		if (!facts_prefixes(&d->engine.facts, path))
			use_copy(d, path);
		return false;
	}
	if (quickly && was && !policy_delta_between(was->v, was->n, v, n, arena, &changed, &n_changed))
		n_changed = 0;
	if (!facts_set_prefixes(&d->engine.facts, path, v, n))
		return false;
	take_quickly(d, changed, n_changed);
	keep_copy(d, path);
	return true;
}

static bool take_all(struct daemon *d, const struct config *cfg, bool quickly)
{
	struct buf why = {0};
	bool changed = false;
	char *trouble;

	for (size_t i = 0; cfg->policy && i < cfg->policy->groups.n; i++)
		if (cfg->policy->groups.v[i].file)
			changed |= take(d, cfg->policy->groups.v[i].file, quickly, &why);
	trouble = why.len ? buf_steal(&why) : NULL;
	if (trouble && !str_eq(trouble, d->prefix_trouble))
		log_error("prefix files: what was good last stays in force: %s", trouble);
	free(d->prefix_trouble);
	d->prefix_trouble = trouble;
	d->prefixes_changed |= changed;
	return changed;
}

void daemon_take_prefixes(struct daemon *d, const struct config *cfg)
{
	if (!take_all(d, cfg, false))
		return;
	/* Whoever reads first sees the change; whatever becomes of cfg, what runs has to follow it too. */
	d->engine.facts_changed = true;
	watch_soon(d);
}

/* --- watching --- */

static bool is_named(const struct config *cfg, const char *path)
{
	for (size_t i = 0; cfg && cfg->policy && i < cfg->policy->groups.n; i++)
		if (str_eq(cfg->policy->groups.v[i].file, path))
			return true;
	return false;
}

static void forget_others(struct daemon *d)
{
	struct facts *facts = &d->engine.facts;

	for (size_t i = facts->n_prefixes; i-- > 0;)
		if (!is_named(d->engine.running, facts->prefixes[i].path)) {
			struct buf name = {0};

			copy_name(d, facts->prefixes[i].path, &name);
			(void)unlink(name.data);
			buf_free(&name);
			(void)facts_forget_prefixes(facts, facts->prefixes[i].path);
		}
}

/* A folder that is watched twice is watched once. */
static void watch_folder(const struct daemon *d, const char *file)
{
	char folder[1025]; /* as long as a path in the file may be */
	char *slash;

	(void)snprintf(folder, sizeof(folder), "%s", file);
	slash = strrchr(folder, '/');
	if (!slash)
		return;
	slash[slash == folder] = '\0';
	if (inotify_add_watch(d->prefix_fd, folder, EVENTS) < 0)
		log_warning(
			"%s cannot be watched (%s): its files are read with each commit only", folder, strerror(errno));
}

void prefix_watch_config(struct daemon *d)
{
	const struct config *cfg = d->engine.running;

	if (d->prefix_fd < 0)
		return;
	forget_others(d);
	for (size_t i = 0; cfg && cfg->policy && i < cfg->policy->groups.n; i++)
		if (cfg->policy->groups.v[i].file)
			watch_folder(d, cfg->policy->groups.v[i].file);
}

static int on_prefix_event(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	_Alignas(struct inotify_event) char events[4096 + NAME_MAX];
	struct daemon *d = userdata;
	bool any = false;

	(void)source;
	(void)revents;
	while (read(fd, events, sizeof(events)) > 0)
		any = true; /* which file it is does not matter: what did not change changes nothing */
	if (!any || !d->engine.running || !take_all(d, d->engine.running, true))
		return 0;
	log_notice("a prefix file has changed");
	d->engine.facts_changed = true;
	watch_soon(d);
	return 0;
}

int prefix_watch_open(struct daemon *d)
{
	d->prefix_fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (d->prefix_fd < 0)
		return -errno;
	return sd_event_add_io(d->event, &d->prefix_io, d->prefix_fd, EPOLLIN, on_prefix_event, d);
}

void prefix_watch_close(struct daemon *d)
{
	sd_event_source_disable_unref(d->prefix_io);
	closep(&d->prefix_fd);
	free(d->prefix_trouble);
}
