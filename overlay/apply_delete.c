/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Deleting links by the group. The kernel waits for an RCU grace period for each deleted link, or once for all links of
 * a group: measured here 30 ms against 0.7 ms a VXLAN device. So what has to go is moved into the doomed group, and
 * that is deleted. Runs are short enough that nobody else waits long for the kernel's lock.
 *
 * A crash between the two leaves links of ours in the doomed group. They still count as ours (observe), and before the
 * group is used again all that is in it returns to ours: only what this plan deletes is ever deleted.
 */
#include "overlay/apply_delete.h"

#include <errno.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>

#include "gateway/base/cleanup.h"
#include "gateway/engine/plan.h"
#include "overlay/apply_build.h"
#include "overlay/model.h"
#include "overlay/overlay.h"
#include "overlay/rtsock.h"

/* A bridge takes 16 ms of the kernel's lock even so. */
enum { RUN_OF_VXLAN = RTSOCK_BATCH, RUN_OF_OTHERS = 8 };

static bool is_delete(const struct step *step)
{
	const struct overlay_step *os = step->payload;

	return os->op == OP_LINK_DELETE && os->ifindex;
}

static bool is_vxlan(const struct step *step)
{
	return ((const struct overlay_step *)step->payload)->link->kind == LINK_VXLAN;
}

size_t apply_delete_run(const struct step *const *steps, size_t n)
{
	size_t max, i = 0;

	if (n == 0 || !is_delete(steps[0]))
		return 0;
	max = is_vxlan(steps[0]) ? RUN_OF_VXLAN : RUN_OF_OTHERS;
	while (i < n && i < max && is_delete(steps[i]) && is_vxlan(steps[i]) == is_vxlan(steps[0]))
		i++;
	return i;
}

struct doomed {
	uint32_t *v;
	size_t n, cap;
};

static int note_doomed(struct nlmsghdr *h, void *arg)
{
	struct nlattr *tb[IFLA_MAX + 1];
	struct doomed *d = arg;
	uint32_t *v = d->v;

	if (nlmsg_parse(h, sizeof(struct ifinfomsg), tb, IFLA_MAX, NULL) < 0 || !tb[IFLA_GROUP] ||
		nla_len(tb[IFLA_GROUP]) != sizeof(uint32_t) || nla_get_u32(tb[IFLA_GROUP]) != FAIRWAY_DOOMED_GROUP)
		return 0;
	if (d->n == d->cap) {
		d->cap = d->cap ? d->cap * 2 : 64;
		v = reallocarray(v, d->cap, sizeof(*v));
		if (!v)
			abort();
		d->v = v;
	}
	v[d->n++] = (uint32_t)((struct ifinfomsg *)nlmsg_data(h))->ifi_index;
	return 0;
}

static void forget_doomed(void *arg)
{
	((struct doomed *)arg)->n = 0;
}

/* Back to our group with all that an earlier, interrupted deletion left in the doomed one. */
int apply_delete_begin(struct rtsock *s, const struct step *step, struct rtsock_failure *failure)
{
	struct doomed d = {0};
	_cleanup_free_ uint32_t *v = NULL;
	struct nl_msg *msg = rtsock_begin(s, RTM_GETLINK, 0);
	int r;

	msg_header(msg, &(struct ifinfomsg){.ifi_family = AF_UNSPEC}, sizeof(struct ifinfomsg));
	msg_put_u32(msg, IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS);
	r = rtsock_dump(s, &(struct rtsock_reader){.fn = note_doomed, .restart = forget_doomed, .arg = &d});
	v = d.v;
	for (size_t i = 0; i < d.n && r == 0; i++) {
		build_link_group(rtsock_begin(s, RTM_NEWLINK, 0), v[i], FAIRWAY_LINK_GROUP);
		r = rtsock_queue(s, step, failure);
	}
	return r < 0 ? r : rtsock_flush(s, failure);
}

static int delete_group(struct rtsock *s, const struct step *step, struct rtsock_failure *failure)
{
	int r;

	build_group_delete(rtsock_begin(s, RTM_DELLINK, 0), FAIRWAY_DOOMED_GROUP);
	r = rtsock_queue(s, step, failure);
	return r < 0 ? r : rtsock_flush(s, failure);
}

int apply_delete_links(struct rtsock *s, const struct step *const *steps, size_t n, struct rtsock_failure *failure)
{
	int r = 0;

	for (size_t i = 0; i < n && r == 0; i++) {
		const struct overlay_step *os = steps[i]->payload;

		build_link_group(rtsock_begin(s, RTM_NEWLINK, 0), os->ifindex, FAIRWAY_DOOMED_GROUP);
		r = rtsock_queue(s, steps[i], failure);
	}
	if (r == 0)
		r = rtsock_flush(s, failure);
	return r < 0 ? r : delete_group(s, steps[0], failure);
}
