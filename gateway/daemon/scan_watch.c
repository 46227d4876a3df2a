/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See scan_watch.h. What the two threads share is behind one lock, and no system call is made under it but one write.
 */
#include "gateway/daemon/scan_watch.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "config/config.h"
#include "config/endpoint.h"
#include "gateway/audit/audit.h"
#include "gateway/audit/deny.h"
#include "gateway/audit/flow.h"
#include "gateway/audit/scan.h"
#include "gateway/base/arena.h"
#include "gateway/base/buf.h"
#include "gateway/base/cleanup.h"
#include "gateway/base/log.h"
#include "gateway/daemon/daemon.h"
#include "gateway/nft/nft_kernel.h"
#include "gateway/policy/policy_peers.h"
#include "gateway/policy/protect_render.h"

enum { FOUND_MAX = 64, SECOND_USEC = 1000000 };

struct found {
	struct deny deny;	    /* the last of the scan */
	time_t time, blocked_until; /* 0: not blocked */
};

struct scan_watch {
	pthread_mutex_t lock;
	struct scan_table *table;    /* under the lock; NULL: nothing is watched */
	struct deny news[FOUND_MAX]; /* under the lock: for the loop */
	size_t n_news;
	int fd; /* of the news */
	sd_event_source *io;

	/* The loop's own. */
	uint32_t destinations;
	bool block;
	uint64_t block_seconds;
	struct arena *arena;	 /* of the prefixes; NULL: none */
	struct ip_prefix *never; /* blocked */
	size_t n_never, cap_never;
	struct found found[FOUND_MAX]; /* a ring */
	size_t n_found;
};

/* --- the audit's thread --- */

static uint64_t clock_seconds(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec;
}

static void on_deny(const struct deny *deny, void *arg)
{
	struct scan_watch *w = arg;
	const uint64_t one = 1;
	bool found;

	(void)pthread_mutex_lock(&w->lock);
	found = w->table && scan_note(w->table, deny, clock_seconds());
	if (found && w->n_news < FOUND_MAX)
		w->news[w->n_news++] = *deny;
	(void)pthread_mutex_unlock(&w->lock);
	if (found && write(w->fd, &one, sizeof(one)) < 0)
		return; /* the loop has news already */
}

/* --- the loop --- */

static struct ip_addr source_of(const struct deny *deny)
{
	struct ip_addr a = {.family = deny->tuple.family};

	memcpy(a.bytes, deny->tuple.src, sizeof(a.bytes));
	return a;
}

static struct ip_addr destination_of(const struct deny *deny)
{
	struct ip_addr a = {.family = deny->tuple.family};

	memcpy(a.bytes, deny->tuple.dst, sizeof(a.bytes));
	return a;
}

static bool is_never_blocked(const struct scan_watch *w, const struct ip_addr *addr)
{
	for (size_t i = 0; i < w->n_never; i++)
		if (ip_prefix_contains(&w->never[i], addr))
			return true;
	return false;
}

static bool block(const struct scan_watch *w, const struct ip_addr *addr)
{
	struct buf command = {0}, why = {0};
	char text[IP_STR_MAX];
	bool done;

	buf_printf(&command, "add element inet " NFT_TABLE_PROTECT " %s { %s timeout %us }\n",
		ip_addr_is_ipv6(addr) ? PROTECT_SET_BLOCKED6 : PROTECT_SET_BLOCKED4, ip_addr_str(addr, text),
		(unsigned)w->block_seconds);
	done = nft_run(buf_str(&command), &why);
	if (!done)
		log_error("%s could not be blocked: %s", text, buf_str(&why));
	buf_free(&command);
	buf_free(&why);
	return done;
}

static void print_target(const struct deny *deny, struct buf *out)
{
	struct ip_addr to = destination_of(deny);
	const char *proto = flow_proto_name(deny->tuple.proto);
	char text[IP_STR_MAX];

	buf_puts(out, ip_addr_str(&to, text));
	if (proto)
		buf_printf(out, " %s", proto);
	else
		buf_printf(out, " protocol %u", deny->tuple.proto);
	if (port_proto_has_ports(deny->tuple.proto))
		buf_printf(out, "/%u", deny->tuple.dport);
}

static void report(struct scan_watch *w, const struct deny *deny)
{
	struct found *f = &w->found[w->n_found++ % FOUND_MAX];
	struct ip_addr from = source_of(deny);
	struct buf target = {0};
	char text[IP_STR_MAX];

	*f = (struct found){.deny = *deny, .time = time(NULL)};
	if (w->block && !is_never_blocked(w, &from) && block(w, &from))
		f->blocked_until = f->time + (time_t)w->block_seconds;
	print_target(deny, &target);
	log_warning("%s scans: %u destinations denied within a minute, the last %s%s", ip_addr_str(&from, text),
		w->destinations, buf_str(&target), f->blocked_until ? "; it is blocked" : "");
	buf_free(&target);
}

static int on_news(sd_event_source *source, int fd, uint32_t revents, void *arg)
{
	struct scan_watch *w = arg;
	struct deny news[FOUND_MAX];
	uint64_t count;
	size_t n;

	(void)source;
	(void)revents;
	if (read(fd, &count, sizeof(count)) < 0)
		return 0;
	(void)pthread_mutex_lock(&w->lock);
	n = w->n_news;
	memcpy(news, w->news, n * sizeof(*news));
	w->n_news = 0;
	(void)pthread_mutex_unlock(&w->lock);
	for (size_t i = 0; i < n; i++)
		report(w, &news[i]);
	return 0;
}

/* --- the config --- */

static void add_never(struct scan_watch *w, const struct ip_prefix *prefix)
{
	w->never = arena_grow(w->arena, w->never, w->n_never, &w->cap_never, sizeof(*w->never));
	w->never[w->n_never++] = *prefix;
}

static void add_never_addr(struct scan_watch *w, const struct ip_addr *addr)
{
	struct ip_prefix host = ip_addr_host_prefix(addr);

	if (ip_addr_is_set(addr))
		add_never(w, &host);
}

/* Whoever the gateway lives by: a forged packet must not shut these out. */
static void take_never(struct scan_watch *w, const struct config *cfg)
{
	const struct policy_peer *peers;
	size_t n;

	w->arena = arena_new();
	for (size_t i = 0; i < cfg->policy->scan->except.n; i++)
		add_never(w, &cfg->policy->scan->except.v[i]);
	for (size_t i = 0; i < cfg->remotes.n; i++)
		add_never_addr(w, &cfg->remotes.v[i].vtep);
	for (size_t i = 0; i < cfg->lines.n; i++) {
		add_never_addr(w, &cfg->lines.v[i].peer_address);
		add_never_addr(w, &cfg->lines.v[i].peer_address6);
	}
	peers = policy_peers_of(cfg, w->arena, &n);
	for (size_t i = 0; i < n; i++)
		add_never_addr(w, &peers[i].addr);
}

static void set_table(struct scan_watch *w, struct scan_table *table)
{
	struct scan_table *old;

	(void)pthread_mutex_lock(&w->lock);
	old = w->table;
	w->table = table;
	(void)pthread_mutex_unlock(&w->lock);
	scan_table_free(old);
}

void scan_watch_config(struct scan_watch *w, const struct config *cfg)
{
	const struct scan *scan = cfg && cfg->policy ? cfg->policy->scan : NULL;
	uint32_t destinations = scan ? scan->destinations : 0;

	arena_free(w->arena);
	w->arena = NULL;
	w->never = NULL;
	w->n_never = w->cap_never = 0;
	w->block = scan && scan->action == SCAN_BLOCK;
	w->block_seconds = scan ? scan->block_time / SECOND_USEC : 0;
	if (scan)
		take_never(w, cfg);
	/* What is known of sources stays over a commit that is about something else. */
	if (destinations != w->destinations)
		set_table(w, scan ? scan_table_new(destinations) : NULL);
	w->destinations = destinations;
}

/* --- open, close, show --- */

int scan_watch_open(sd_event *event, struct auditor *auditor, struct scan_watch **ret)
{
	struct scan_watch *w = calloc(1, sizeof(*w));
	int r;

	if (!w)
		abort();
	(void)pthread_mutex_init(&w->lock, NULL);
	w->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r = w->fd < 0 ? -errno : sd_event_add_io(event, &w->io, w->fd, EPOLLIN, on_news, w);
	if (r < 0) {
		scan_watch_close(w);
		return r;
	}
	audit_on_deny(auditor, on_deny, w);
	*ret = w;
	return 0;
}

void scan_watch_close(struct scan_watch *w)
{
	if (!w)
		return;
	sd_event_source_disable_unref(w->io);
	closep(&w->fd);
	scan_table_free(w->table);
	arena_free(w->arena);
	(void)pthread_mutex_destroy(&w->lock);
	free(w);
}

json_t *scan_watch_json(const struct scan_watch *w)
{
	size_t n = w->n_found < FOUND_MAX ? w->n_found : FOUND_MAX;
	json_t *list = json_array();

	for (size_t i = 1; i <= n; i++) {
		const struct found *f = &w->found[(w->n_found - i) % FOUND_MAX];
		struct ip_addr from = source_of(&f->deny);
		struct buf target = {0};
		char text[IP_STR_MAX];

		print_target(&f->deny, &target);
		json_array_append_new(list,
			json_pack("{s:s, s:s, s:o, s:o}", "source", ip_addr_str(&from, text), "last-target",
				buf_str(&target), "time", daemon_time_json(f->time), "blocked-until",
				daemon_time_json(f->blocked_until)));
		buf_free(&target);
	}
	return list;
}
