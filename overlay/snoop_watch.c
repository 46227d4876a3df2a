/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See snoop_watch.h. Edge. */
#include "overlay/snoop_watch.h"

#include <errno.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/config.h"
#include "gateway/base/arena.h"
#include "gateway/base/cleanup.h"
#include "gateway/base/str.h"
#include "overlay/model.h"
#include "overlay/msg_put.h"
#include "overlay/nflog.h"
#include "overlay/overlay.h"
#include "overlay/rtsock.h"
#include "overlay/snoop.h"
#include "overlay/snoop_parse.h"

/* How many neighbors a bridge has. */
struct population {
	uint32_t bridge;
	uint32_t n;
};

struct snoop_watch {
	struct nflog *log;
	struct rtsock *s;
	struct snoop_counts counts;
	struct arena *arena; /* of */
	struct population *v;
	size_t n, cap;
};

/* --- one neighbor --- */

static struct population *population_of(struct snoop_watch *w, uint32_t bridge)
{
	for (size_t i = 0; i < w->n; i++)
		if (w->v[i].bridge == bridge)
			return &w->v[i];
	w->v = arena_grow(w->arena, w->v, w->n, &w->cap, sizeof(*w->v));
	w->v[w->n] = (struct population){.bridge = bridge};
	return &w->v[w->n++];
}

static int request(struct snoop_watch *w, uint16_t type, uint16_t flags, uint32_t bridge, const struct snoop_host *host,
	uint16_t state)
{
	struct ndmsg info = {.ndm_family = host->addr.family, .ndm_ifindex = (int)bridge, .ndm_state = state};
	struct nl_msg *msg = rtsock_begin(w->s, type, flags);
	struct rtsock_failure failure = {0};
	int r;

	msg_header(msg, &info, sizeof(info));
	msg_put_addr(msg, NDA_DST, &host->addr);
	if (type == RTM_NEWNEIGH) {
		msg_put(msg, NDA_LLADDR, host->mac.bytes, sizeof(host->mac.bytes));
		msg_put_u8(msg, NDA_PROTOCOL, FAIRWAY_PROTO);
	}
	r = rtsock_queue(w->s, host, &failure);
	return r < 0 ? r : rtsock_flush(w->s, &failure);
}

static int on_known(struct nlmsghdr *h, void *arg)
{
	return snoop_neighbor_parse(h, arg);
}

/* What the kernel has of this address. 0 or -errno: -ENOENT if nothing. */
static int look_up(struct snoop_watch *w, uint32_t bridge, const struct ip_addr *addr, struct snoop_neighbor *ret)
{
	struct ndmsg info = {.ndm_family = addr->family, .ndm_ifindex = (int)bridge};
	struct nl_msg *msg = rtsock_begin(w->s, RTM_GETNEIGH, 0);

	msg_header(msg, &info, sizeof(info));
	msg_put_addr(msg, NDA_DST, addr);
	return rtsock_get(w->s, on_known, ret);
}

/*
 * Where the kernel has it already, it is said again, which is its last word; what did not change disturbs nobody. What
 * somebody made permanent by hand is left alone.
 *
 * Permanent: else the kernel forgets neighbors that itself has no use for.
 */
static void learn(struct snoop_watch *w, uint32_t bridge, const struct snoop_host *host, bool layer2)
{
	struct population *p = population_of(w, bridge);
	struct snoop_neighbor known = {0};
	bool is_new = look_up(w, bridge, &host->addr, &known) == -ENOENT;

	if (known.permanent && !known.ours) {
		w->counts.ignored++;
	} else if (is_new && p->n >= SNOOP_NEIGHBORS_MAX) {
		w->counts.refused++;
	} else if (request(w, RTM_NEWNEIGH, NLM_F_REPLACE | (is_new ? NLM_F_CREATE : 0), bridge, host,
			   layer2 ? NUD_PERMANENT : NUD_REACHABLE) == 0 &&
		!known.ours) {
		p->n++;
		w->counts.learned++;
	}
}

/* The segment of this bridge, if it suppresses. */
static const struct segment *segment_of(const struct config *cfg, uint32_t bridge)
{
	uint32_t vni = bridge & ~(uint32_t)FAIRWAY_IFINDEX_BRIDGE;

	for (size_t i = 0; cfg && i < cfg->segments.n; i++)
		if (cfg->segments.v[i].vni == vni)
			return overlay_suppresses(cfg, &cfg->segments.v[i]) ? &cfg->segments.v[i] : NULL;
	return NULL;
}

static bool is_own(const struct segment *seg, const struct ip_addr *addr)
{
	for (size_t i = 0; i < seg->gateway.n; i++)
		if (ip_addr_cmp(&seg->gateway.v[i].addr, addr) == 0)
			return true;
	return false;
}

struct ear {
	struct snoop_watch *w;
	const struct config *cfg;
};

static void hear(const struct nflog_entry *e, void *arg)
{
	const struct ear *ear = arg;
	const struct segment *seg = segment_of(ear->cfg, e->bridge_in);
	struct snoop_host host;

	/* Behind a tag is another segment's host than the bridge's. */
	if (!seg || !e->mac || !e->packet || e->tag ||
		snoop_parse(mnl_attr_get_payload(e->mac), mnl_attr_get_payload_len(e->mac),
			mnl_attr_get_payload(e->packet), mnl_attr_get_payload_len(e->packet), &host) < 0 ||
		is_own(seg, &host.addr))
		ear->w->counts.ignored++;
	else
		learn(ear->w, e->bridge_in, &host, str_eq(e->prefix, SNOOP_LAYER2));
}

int snoop_watch_read(struct snoop_watch *w, const struct config *cfg)
{
	struct ear ear = {w, cfg};

	return nflog_read(w->log, &(struct nflog_reader){hear, &ear}, &w->counts.overruns);
}

/* --- age --- */

/* A dump of the neighbors: whose time is over, and how many are left. */
struct dump {
	struct snoop_watch *w;
	const struct config *cfg;
	struct arena *arena; /* of */
	struct snoop_neighbor *v;
	size_t n, cap;
};

static int on_neighbor(struct nlmsghdr *h, void *arg)
{
	struct snoop_neighbor neighbor;
	struct dump *d = arg;

	if (snoop_neighbor_parse(h, &neighbor) < 0 || !neighbor.ours)
		return 0;
	if (segment_of(d->cfg, neighbor.bridge) && neighbor.silent < SNOOP_SILENT_SEC) {
		population_of(d->w, neighbor.bridge)->n++;
		return 0;
	}
	d->v = arena_grow(d->arena, d->v, d->n, &d->cap, sizeof(*d->v));
	d->v[d->n++] = neighbor;
	return 0;
}

static void forget(void *arg)
{
	struct dump *d = arg;

	d->n = d->w->n = 0;
}

int snoop_watch_age(struct snoop_watch *w, const struct config *cfg)
{
	_cleanup_(arena_freep) struct arena *arena = arena_new();
	struct dump d = {.w = w, .cfg = cfg, .arena = arena};
	struct ndmsg info = {.ndm_family = AF_UNSPEC};
	int r;

	/* Bridges that are gone must not stay in it for ever. */
	arena_free(w->arena);
	w->arena = arena_new();
	w->v = NULL;
	w->n = w->cap = 0;
	msg_header(rtsock_begin(w->s, RTM_GETNEIGH, 0), &info, sizeof(info));
	r = rtsock_dump(w->s, &(struct rtsock_reader){on_neighbor, forget, &d});
	for (size_t i = 0; i < d.n; i++)
		if (request(w, RTM_DELNEIGH, 0, d.v[i].bridge, &d.v[i].host, 0) == 0)
			w->counts.expired++;
	return r;
}

/* --- life --- */

int snoop_watch_open(struct snoop_watch **ret)
{
	static const uint16_t groups[] = {SNOOP_GROUP};
	struct snoop_watch *w = calloc(1, sizeof(*w));
	int r;

	if (!w)
		abort();
	w->arena = arena_new();
	r = rtsock_open(&w->s);
	if (r == 0)
		r = nflog_open(groups, ARRAY_SIZE(groups), SNOOP_BYTES, &w->log);
	if (r < 0) {
		snoop_watch_close(w);
		return r;
	}
	*ret = w;
	return 0;
}

void snoop_watch_close(struct snoop_watch *w)
{
	if (!w)
		return;
	nflog_close(w->log);
	rtsock_close(w->s);
	arena_free(w->arena);
	free(w);
}

int snoop_watch_fd(const struct snoop_watch *w)
{
	return nflog_fd(w->log);
}

const struct snoop_counts *snoop_watch_counts(const struct snoop_watch *w)
{
	return &w->counts;
}
