/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Applying. Netlink steps go out in batches; what is not netlink waits for the batch before it, so that the order of
 * the plan holds. Names are resolved late: a device that this very batch makes is known by the index we chose for it.
 */
#include "overlay/apply.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

#include "gateway/base/cleanup.h"
#include "gateway/base/str.h"
#include "gateway/engine/plan.h"
#include "gateway/engine/txn.h"
#include "overlay/apply_build.h"
#include "overlay/apply_delete.h"
#include "overlay/ethtool.h"
#include "overlay/model.h"
#include "overlay/overlay.h"
#include "overlay/procsys.h"
#include "overlay/rtsock.h"

struct applier {
	struct txn *txn;
	struct rtsock *s;
	int ioctl_fd;
	struct rtsock_failure failure;
	const struct step *now; /* the step at work */
	/* Of the batch that is not sent yet. */
	struct link_ref {
		const char *name;
		uint32_t ifindex;
	} made[RTSOCK_BATCH];
	size_t n_made;
	const struct step *checksums[RTSOCK_BATCH];
	size_t n_checksums;
	bool delete_began;
};

/* --- saying what went wrong --- */

static const char *step_link_name(const struct overlay_step *os)
{
	if (os->link)
		return os->link->name;
	if (os->addr)
		return os->addr->link;
	return os->fdb ? os->fdb->link : "";
}

/* What an error number means for this step, where that is more than its usual text. NULL: it is not. */
static const char *meaning(const struct overlay_step *os, int error)
{
	bool create = os->op == OP_LINK_CREATE;

	switch (-error) {
	case ENODEV:
		return os->op == OP_ROUTE_REPLACE ? "the interface of a next hop does not exist"
						  : "the interface does not exist";
	case EEXIST:
		return create ? "somebody else's device has its name or its VNI and port" : NULL;
	case EBUSY:
		return create ? "somebody else's device has its interface index" : NULL;
	case EOPNOTSUPP:
		return create && os->link->kind == LINK_VRF ? "this kernel has no VRF" : NULL;
	case ENETUNREACH:
	case EHOSTUNREACH:
		return os->op == OP_ROUTE_REPLACE ? "a next hop is not on a connected network" : NULL;
	case EADDRINUSE:
		return os->link ? "another program has the VXLAN UDP port" : NULL;
	case ENOENT:
		return os->op == OP_SYSCTL_SET ? "this kernel does not have it" : NULL;
	case EPERM:
		return "not permitted: CAP_NET_ADMIN is missing";
	default:
		return NULL;
	}
}

/* "vx10010: the interface does not exist (kernel: Invalid ifindex)". */
static int report(struct applier *a, const struct step *step, int error, const char *words)
{
	const struct overlay_step *os = step->payload;
	const char *name = step_link_name(os), *text = meaning(os, error);

	if (!text)
		text = strerrordesc_np(-error);
	if (!text)
		text = "unknown error";
	return txn_fail(a->txn, step, error, "%s%s%s%s%s%s", name, name[0] ? ": " : "", text,
		words[0] ? " (kernel: " : "", words, words[0] ? ")" : "");
}

/* What the step wants to be gone is gone, or there already: also done. */
static bool is_fine(const void *tag, int error)
{
	const struct overlay_step *os = ((const struct step *)tag)->payload;

	switch (os->op) {
	case OP_LINK_DELETE:
		return error == -ENODEV;
	case OP_LINK_CHANGE: /* a port that lost its carrier meanwhile: the kernel will have it forwarding again */
		return os->change & LA_PORT_STATE && error == -ENETDOWN;
	case OP_ADDR_ADD:
		return error == -EEXIST;
	case OP_ADDR_DELETE:
		return error == -EADDRNOTAVAIL || error == -ENODEV;
	case OP_FDB_DELETE:
		return error == -ENOENT || error == -ENODEV;
	case OP_ROUTE_DELETE:
		return error == -ESRCH || error == -ENODEV;
	default:
		return false;
	}
}

/* --- the batch --- */

/* Checksum offload has no netlink message of this family: done when the batch has made the devices. */
static int set_checksums(struct applier *a)
{
	int r = 0;

	for (size_t i = 0; i < a->n_checksums && r == 0; i++) {
		const struct overlay_step *os = a->checksums[i]->payload;

		r = ethtool_set_tx_csum(a->ioctl_fd, os->link->name, os->link->tx_csum);
		if (r < 0)
			r = report(a, a->checksums[i], r, "");
	}
	a->n_checksums = 0;
	return r;
}

static int after_send(struct applier *a, int r)
{
	if (r < 0)
		return report(a, a->failure.tag, r, a->failure.words);
	if (rtsock_n_queued(a->s) > 0)
		return 0;
	a->n_made = 0;
	return set_checksums(a);
}

static int flush(struct applier *a)
{
	return after_send(a, rtsock_flush(a->s, &a->failure));
}

static int queue(struct applier *a)
{
	return after_send(a, rtsock_queue(a->s, a->now, &a->failure));
}

/* --- names --- */

static int ask_ifindex(const struct applier *a, const char *name, uint32_t *ret)
{
	struct ifreq req = {0};

	(void)snprintf(req.ifr_name, sizeof(req.ifr_name), "%s", name);
	if (ioctl(a->ioctl_fd, SIOCGIFINDEX, &req) < 0)
		return -errno;
	*ret = (uint32_t)req.ifr_ifindex;
	return 0;
}

/* known: if not 0, the answer. */
static int resolve(struct applier *a, const char *name, uint32_t known, uint32_t *ret)
{
	int r;

	if (known) {
		*ret = known;
		return 0;
	}
	for (size_t i = a->n_made; i-- > 0;)
		if (str_eq(a->made[i].name, name)) {
			*ret = a->made[i].ifindex;
			return 0;
		}
	r = ask_ifindex(a, name, ret);
	if (r < 0) {
		struct overlay_step named = *(const struct overlay_step *)a->now->payload;

		/* is_fine() for a delete of something on a link that is gone. */
		if (is_fine(a->now, r))
			return r;
		if (str_eq(step_link_name(&named), name) || !name[0])
			return report(a, a->now, r, "");
		return txn_fail(a->txn, a->now, r, "%s: the interface does not exist", name);
	}
	return 0;
}

/* --- links --- */

static int link_create(struct applier *a, const struct overlay_step *os)
{
	const struct link *l = os->link;
	unsigned later = os->change & (LA_ALIAS | LA_ADDRGEN | LA_PORT);
	uint32_t ifindex = os->ifindex ? os->ifindex : l->ifindex, master = 0;
	int r = 0;

	if (l->kind == LINK_BRIDGE)
		later |= os->change & LA_MTU;
	if (os->change & LA_MASTER && l->master[0])
		r = resolve(a, l->master, 0, &master);
	if (r < 0)
		return r;
	build_link_create(rtsock_begin(a->s, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL), l, os->change, ifindex, master);
	/* Noted before it is queued: a full batch is sent at once and forgets them. */
	a->made[a->n_made++] = (struct link_ref){.name = l->name, .ifindex = ifindex};
	r = queue(a);
	if (r == 0 && later) {
		build_link_set(rtsock_begin(a->s, RTM_NEWLINK, 0), l, later, ifindex, 0);
		r = queue(a);
	}
	if (r == 0 && os->change & LA_UP && l->up) {
		build_link_up(rtsock_begin(a->s, RTM_NEWLINK, 0), l, ifindex);
		r = queue(a);
	}
	return r;
}

static int link_change(struct applier *a, const struct overlay_step *os)
{
	const unsigned set =
		os->change & (LA_MTU | LA_MAC | LA_ALIAS | LA_ADDRGEN | LA_MASTER | LA_PORT | LA_PORT_STATE);
	const unsigned kind = os->change & (LA_VXLAN | LA_MCAST_SNOOP | LA_STP | LA_AGEING | LA_NF_CALL | LA_TABLE);
	const struct link *l = os->link;
	uint32_t ifindex, master = 0;
	int r = resolve(a, l->name, os->ifindex, &ifindex);

	if (r == 0 && set & LA_MASTER && l->master[0])
		r = resolve(a, l->master, 0, &master);
	if (r == 0 && kind) {
		build_link_kind(rtsock_begin(a->s, RTM_NEWLINK, 0), l, ifindex);
		r = queue(a);
	}
	if (r == 0 && set) {
		build_link_set(rtsock_begin(a->s, RTM_NEWLINK, 0), l, set, ifindex, master);
		r = queue(a);
	}
	if (r == 0 && os->change & LA_UP) {
		build_link_up(rtsock_begin(a->s, RTM_NEWLINK, 0), l, ifindex);
		r = queue(a);
	}
	return r;
}

static int link_delete(struct applier *a, const struct overlay_step *os)
{
	uint32_t ifindex;
	int r = resolve(a, os->link->name, os->ifindex, &ifindex);

	if (r < 0)
		return r;
	build_link_delete(rtsock_begin(a->s, RTM_DELLINK, 0), ifindex);
	return queue(a);
}

static int checksum(struct applier *a, const struct overlay_step *os)
{
	/* A new device has it on. */
	if (!(os->change & LA_TX_CSUM) || (os->op == OP_LINK_CREATE && os->link->tx_csum))
		return 0;
	a->checksums[a->n_checksums++] = a->now;
	if (rtsock_n_queued(a->s) == 0 || a->n_checksums == RTSOCK_BATCH)
		return flush(a);
	return 0;
}

/* --- addresses, FDB, routes --- */

static int addr_step(struct applier *a, const struct overlay_step *os)
{
	bool add = os->op == OP_ADDR_ADD;
	uint32_t ifindex;
	int r = resolve(a, os->addr->link, os->ifindex, &ifindex);

	if (r < 0)
		return r;
	build_addr(
		add ? rtsock_begin(a->s, RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL) : rtsock_begin(a->s, RTM_DELADDR, 0),
		os->addr, ifindex);
	return queue(a);
}

static int fdb_step(struct applier *a, const struct overlay_step *os)
{
	static const struct mac_addr all_zero;
	bool append = mac_addr_cmp(&os->fdb->mac, &all_zero) == 0, add = os->op == OP_FDB_ADD;
	uint16_t how = append ? NLM_F_APPEND : NLM_F_REPLACE;
	uint32_t ifindex;
	int r = resolve(a, os->fdb->link, os->ifindex, &ifindex);

	if (r < 0)
		return r;
	build_fdb(add ? rtsock_begin(a->s, RTM_NEWNEIGH, NLM_F_CREATE | how) : rtsock_begin(a->s, RTM_DELNEIGH, 0),
		os->fdb, ifindex);
	return queue(a);
}

static int route_replace(struct applier *a, const struct overlay_step *os)
{
	uint32_t ifindexes[ROUTE_MAX_NEXTHOPS] = {0};
	const struct ip_route *route = os->route;
	int r = 0;

	if (route->n_nexthops > ROUTE_MAX_NEXTHOPS)
		return txn_fail(a->txn, a->now, -E2BIG, "more than %d next hops", ROUTE_MAX_NEXTHOPS);
	for (size_t i = 0; i < route->n_nexthops && r == 0; i++)
		if (route->nexthops[i].link[0])
			r = resolve(a, route->nexthops[i].link, 0, &ifindexes[i]);
	if (r < 0)
		return r;
	build_route(rtsock_begin(a->s, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_REPLACE), route, ifindexes);
	return queue(a);
}

static int route_delete(struct applier *a, const struct overlay_step *os)
{
	build_route_delete(rtsock_begin(a->s, RTM_DELROUTE, 0), os->route);
	return queue(a);
}

/* --- the rest --- */

static int sysctl_set(struct applier *a, const struct overlay_step *os)
{
	int r = flush(a);

	if (r < 0)
		return r;
	r = procsys_write(os->sysctl->key, os->sysctl->value);
	if (r < 0 && !(r == -ENOENT && os->sysctl->optional))
		return report(a, a->now, r, "");
	return 0;
}

static int do_step(struct applier *a, const struct overlay_step *os)
{
	int r;

	switch (os->op) {
	case OP_SYSCTL_SET:
		return sysctl_set(a, os);
	case OP_LINK_CREATE:
		r = link_create(a, os);
		return r < 0 ? r : checksum(a, os);
	case OP_LINK_CHANGE:
		r = link_change(a, os);
		return r < 0 ? r : checksum(a, os);
	case OP_LINK_DELETE:
		return link_delete(a, os);
	case OP_ADDR_ADD:
	case OP_ADDR_DELETE:
		return addr_step(a, os);
	case OP_FDB_ADD:
	case OP_FDB_DELETE:
		return fdb_step(a, os);
	case OP_ROUTE_REPLACE:
		return route_replace(a, os);
	case OP_ROUTE_DELETE:
		return route_delete(a, os);
	}
	return txn_fail(a->txn, a->now, -EINVAL, "unknown operation %d", os->op);
}

/* Does the step at steps[0], or many deletions at once. Returns how many steps were done, or -errno. */
static ssize_t do_next(struct applier *a, const struct step *const *steps, size_t n)
{
	size_t n_deletes = apply_delete_run(steps, n);
	int r;

	a->now = steps[0];
	if (n_deletes > 1) {
		r = flush(a);
		if (r == 0 && !a->delete_began)
			r = after_send(a, apply_delete_begin(a->s, a->now, &a->failure));
		a->delete_began = true;
		if (r == 0)
			r = after_send(a, apply_delete_links(a->s, steps, n_deletes, &a->failure));
		return r < 0 ? r : (ssize_t)n_deletes;
	}
	r = do_step(a, steps[0]->payload);
	/* resolve() may find that there is nothing left to delete: an error that nobody reported. */
	return r < 0 && a->txn->error ? r : 1;
}

int overlay_apply(struct txn *txn, const struct step *const *steps, size_t n)
{
	_cleanup_(rtsock_closep) struct rtsock *s = NULL;
	_cleanup_close_ int fd = ethtool_open();
	struct applier a = {.txn = txn, .ioctl_fd = fd, .failure = {.is_fine = is_fine}};
	int r = fd < 0 ? fd : rtsock_open(&s);

	if (n == 0)
		return 0;
	if (r < 0)
		return txn_fail(txn, steps[0], r, "no netlink socket: %s", strerrordesc_np(-r));
	a.s = s;
	for (size_t i = 0; i < n;) {
		ssize_t done = do_next(&a, steps + i, n - i);

		if (done < 0)
			return (int)done;
		i += (size_t)done;
	}
	return flush(&a);
}
