/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See snoop_parse.h. */
#include "overlay/snoop_parse.h"

#include <errno.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <string.h>

#include "overlay/model.h"

enum { TICKS = 100 }; /* USER_HZ: the kernel tells time in it */

static uint32_t silent_of(const struct nlattr *info)
{
	struct nda_cacheinfo times;

	if (!info || nla_len(info) < (int)sizeof(times))
		return 0;
	memcpy(&times, nla_data(info), sizeof(times));
	return times.ndm_confirmed / TICKS;
}

int snoop_neighbor_parse(struct nlmsghdr *h, struct snoop_neighbor *ret)
{
	struct nlattr *tb[NDA_MAX + 1];
	struct snoop_neighbor n = {0};
	struct ndmsg info;
	size_t len;

	if (h->nlmsg_type != RTM_NEWNEIGH || nlmsg_parse(h, sizeof(info), tb, NDA_MAX, NULL) < 0)
		return -ENOMSG;
	memcpy(&info, nlmsg_data(h), sizeof(info));
	n.host.addr.family = info.ndm_family;
	len = ip_addr_len(&n.host.addr);
	if ((info.ndm_family != AF_INET && info.ndm_family != AF_INET6) || !tb[NDA_DST] ||
		(size_t)nla_len(tb[NDA_DST]) != len)
		return -ENOMSG;
	memcpy(n.host.addr.bytes, nla_data(tb[NDA_DST]), len);
	if (tb[NDA_LLADDR] && nla_len(tb[NDA_LLADDR]) == sizeof(n.host.mac.bytes))
		memcpy(n.host.mac.bytes, nla_data(tb[NDA_LLADDR]), sizeof(n.host.mac.bytes));
	n.bridge = (uint32_t)info.ndm_ifindex;
	n.ours = tb[NDA_PROTOCOL] && nla_len(tb[NDA_PROTOCOL]) == 1 && nla_get_u8(tb[NDA_PROTOCOL]) == FAIRWAY_PROTO;
	n.permanent = info.ndm_state & NUD_PERMANENT;
	n.silent = silent_of(tb[NDA_CACHEINFO]);
	*ret = n;
	return 0;
}
