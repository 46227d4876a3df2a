/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Asking the kernel what it learned about each path; see pathmtu.h. A path is a remote over a line, and a fact is there
 * only while it is smaller than that line: so a line that gets a smaller MTU, or goes from the config, takes its
 * facts with it.
 */
#include "overlay/pathmtu.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <net/if.h>

#include "config/config.h"
#include "gateway/base/cleanup.h"
#include "gateway/base/str.h"
#include "gateway/engine/facts.h"
#include "overlay/msg_put.h"
#include "overlay/observe_parse.h"
#include "overlay/rtsock.h"

static int take_mtu(struct nlmsghdr *h, void *arg)
{
	*(uint32_t *)arg = observe_parse_route_mtu(h);
	return 0;
}

/* The MTU of the kernel's route to dst out of a link; 0 if it knows nothing special, or has no such route. */
static uint32_t ask(struct rtsock *s, const struct ip_addr *dst, uint32_t ifindex)
{
	struct rtmsg info = {
		.rtm_family = dst->family,
		.rtm_dst_len = (uint8_t)(8 * ip_addr_len(dst)),
	};
	struct nl_msg *msg = rtsock_begin(s, RTM_GETROUTE, 0);
	uint32_t mtu = 0;

	msg_header(msg, &info, sizeof(info));
	msg_put_addr(msg, RTA_DST, dst);
	msg_put_u32(msg, RTA_OIF, ifindex);
	return rtsock_get(s, take_mtu, &mtu) < 0 ? 0 : mtu;
}

static bool refresh_path(struct rtsock *s, struct facts *facts, const struct remote *remote, const struct line *line)
{
	uint32_t known = facts_path_mtu(facts, &remote->vtep, line->interface);
	uint32_t ifindex = line->enabled ? if_nametoindex(line->interface) : 0;
	uint32_t learned = ifindex ? ask(s, &remote->vtep, ifindex) : 0;

	/* The kernel forgets after ten minutes; the hop is still there. */
	if (learned == 0)
		learned = known;
	return facts_set_path_mtu(facts, &remote->vtep, line->interface, learned < line->mtu ? learned : 0);
}

static bool is_in_config(const struct config *cfg, const struct path_fact *path)
{
	for (size_t i = 0; cfg && i < cfg->remotes.n; i++) {
		const struct remote *remote = &cfg->remotes.v[i];

		for (size_t k = 0; k < remote->lines.n && ip_addr_cmp(&remote->vtep, &path->vtep) == 0; k++) {
			const struct line *line = config_line(cfg, remote->lines.v[k]);

			if (line && str_eq(line->interface, path->interface))
				return true;
		}
	}
	return false;
}

static bool forget_old(const struct config *cfg, struct facts *facts)
{
	bool changed = false;

	for (size_t i = facts->n_paths; i-- > 0;) {
		const struct path_fact path = facts->paths[i];

		if (!is_in_config(cfg, &path))
			changed |= facts_set_path_mtu(facts, &path.vtep, path.interface, 0);
	}
	return changed;
}

int pathmtu_refresh(const struct config *cfg, struct facts *facts, bool *ret_changed)
{
	_cleanup_(rtsock_closep) struct rtsock *s = NULL;
	bool changed = forget_old(cfg, facts);
	int r = rtsock_open(&s);

	if (r < 0)
		return r;
	for (size_t i = 0; cfg && i < cfg->remotes.n; i++) {
		const struct remote *remote = &cfg->remotes.v[i];

		for (size_t k = 0; k < remote->lines.n; k++) {
			const struct line *line = config_line(cfg, remote->lines.v[k]);

			if (line)
				changed |= refresh_path(s, facts, remote, line);
		}
	}
	*ret_changed = changed;
	return 0;
}
