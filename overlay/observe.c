/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Observing: five dumps and a few files. What a message means is in observe_parse.c; here is what to ask for, so that
 * two thousand devices are read in milliseconds.
 */
#include "overlay/observe.h"

#include <errno.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>

#include "gateway/base/arena.h"
#include "gateway/base/cleanup.h"
#include "overlay/ethtool.h"
#include "overlay/observe_parse.h"
#include "overlay/procsys.h"
#include "overlay/rtsock.h"
#include "overlay/sysctl.h"

/* One dump: where the model stood when it began, so that an interrupted one can begin anew. */
struct dump {
	struct observe_parser *parser;
	int (*parse)(struct observe_parser *p, struct nlmsghdr *h);
	size_t n_links, n_addrs, n_fdbs, n_routes, n_sysctls, n_notes;
};

static int take(struct nlmsghdr *h, void *arg)
{
	struct dump *d = arg;

	return d->parse(d->parser, h);
}

static void restart(void *arg)
{
	struct dump *d = arg;
	struct kernel_model *m = d->parser->model;

	m->n_links = d->n_links;
	m->n_addrs = d->n_addrs;
	m->n_fdbs = d->n_fdbs;
	m->n_routes = d->n_routes;
	m->n_sysctls = d->n_sysctls;
	d->parser->n_notes = d->n_notes;
	for (size_t i = 0; i < d->n_notes; i++)
		d->parser->notes[i].n_learned = d->parser->notes[i].n_permanent = 0;
}

/* Runs the dump request that was put into s. */
static int run(struct rtsock *s, struct observe_parser *p, int (*parse)(struct observe_parser *p, struct nlmsghdr *h))
{
	const struct kernel_model *m = p->model;
	struct dump d = {
		.parser = p,
		.parse = parse,
		.n_links = m->n_links,
		.n_addrs = m->n_addrs,
		.n_fdbs = m->n_fdbs,
		.n_routes = m->n_routes,
		.n_sysctls = m->n_sysctls,
		.n_notes = p->n_notes,
	};

	return rtsock_dump(s, &(struct rtsock_reader){.fn = take, .restart = restart, .arg = &d});
}

static int observe_links(struct rtsock *s, struct observe_parser *p, bool with_counters)
{
	struct nl_msg *msg = rtsock_begin(s, RTM_GETLINK, 0);
	int r;

	msg_header(msg, &(struct ifinfomsg){.ifi_family = AF_UNSPEC}, sizeof(struct ifinfomsg));
	msg_put_u32(msg, IFLA_EXT_MASK, with_counters ? 0 : RTEXT_FILTER_SKIP_STATS);
	r = run(s, p, observe_parse_link);
	if (r == 0)
		observe_parse_links_end(p);
	return r;
}

static int observe_addrs(struct rtsock *s, struct observe_parser *p)
{
	msg_header(rtsock_begin(s, RTM_GETADDR, 0), &(struct ifaddrmsg){.ifa_family = AF_UNSPEC},
		sizeof(struct ifaddrmsg));
	return run(s, p, observe_parse_addr);
}

/* The kernel cannot filter by state; asking device by device would cost more than leaving out what was learned. */
static int observe_fdb(struct rtsock *s, struct observe_parser *p)
{
	msg_header(rtsock_begin(s, RTM_GETNEIGH, 0), &(struct ndmsg){.ndm_family = AF_BRIDGE}, sizeof(struct ndmsg));
	return run(s, p, observe_parse_fdb);
}

static int observe_routes(struct rtsock *s, struct observe_parser *p, uint8_t family)
{
	int r;

	/* With strict checking: without the cached exceptions. */
	msg_header(rtsock_begin(s, RTM_GETROUTE, 0), &(struct rtmsg){.rtm_family = family}, sizeof(struct rtmsg));
	r = run(s, p, observe_parse_route);
	return r == -EOPNOTSUPP && family == AF_INET6 ? 0 : r; /* a kernel without IPv6 */
}

static int observe_sysctls(struct kernel_model *m)
{
	static const char *const keys[] = {
#define KEY(key, value, optional) key,
		SYSCTLS_GLOBAL(KEY) SYSCTLS_AUDIT(KEY)
#undef KEY
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		char value[PROCSYS_VALUE_MAX];
		int r = procsys_read(keys[i], value);

		if (r < 0 && r != -ENOENT)
			return r;
		(void)model_add_sysctl(m, keys[i], r < 0 ? NULL : arena_strdup(m->arena, value));
	}
	return 0;
}

/* Only our VXLAN devices: nobody asks for it on others. */
static void observe_tx_csum(struct kernel_model *m)
{
	_cleanup_close_ int fd = ethtool_open();

	for (size_t i = 0; i < m->n_links && fd >= 0; i++) {
		struct link *l = &m->links[i];

		if (l->ours && l->kind == LINK_VXLAN && ethtool_get_tx_csum(fd, l->name, &l->tx_csum) == 0)
			l->attrs |= LA_TX_CSUM;
	}
}

int observe(bool with_counters, struct observation **ret)
{
	_cleanup_(rtsock_closep) struct rtsock *s = NULL;
	_cleanup_(arena_freep) struct arena *arena = arena_new();
	struct observation *o = arena_new_obj(arena, struct observation);
	struct observe_parser p = {.model = &o->model};
	int r;

	o->model.arena = arena;
	r = rtsock_open(&s);
	if (r == 0)
		r = observe_links(s, &p, with_counters);
	if (r == 0)
		r = observe_addrs(s, &p);
	if (r == 0)
		r = observe_fdb(s, &p);
	if (r == 0)
		r = observe_routes(s, &p, AF_INET);
	if (r == 0)
		r = observe_routes(s, &p, AF_INET6);
	if (r == 0)
		r = observe_sysctls(&o->model);
	if (r < 0)
		return r;
	observe_tx_csum(&o->model);
	model_seal(&o->model);
	o->notes = p.notes;
	o->n_notes = p.n_notes;
	arena = NULL;
	*ret = o;
	return 0;
}

void observation_free(struct observation *o)
{
	if (o)
		arena_free(o->model.arena);
}

void observation_freep(struct observation **o)
{
	observation_free(*o);
}

const struct link_note *observation_note(const struct observation *o, const char *link)
{
	const struct link *l = model_link(&o->model, link);

	return l ? link_note_find(o->notes, o->n_notes, l->ifindex) : NULL;
}
