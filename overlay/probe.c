/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Probing by asking for the impossible: a VRF without a table. A kernel that has VRF (its module is loaded by this)
 * says that the table is missing; one that has not says that it does not know the kind.
 */
#include "overlay/probe.h"

#include <errno.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <unistd.h>

#include "gateway/base/cleanup.h"
#include "overlay/msg_put.h"
#include "overlay/rtsock.h"

bool overlay_probe_vrf(void)
{
	_cleanup_(rtsock_closep) struct rtsock *s = NULL;
	struct rtsock_failure failure = {0};
	struct nlattr *info;
	struct nl_msg *msg;

	if (rtsock_open(&s) < 0)
		return false;
	msg = rtsock_begin(s, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL);
	msg_header(msg, &(struct ifinfomsg){.ifi_family = AF_UNSPEC}, sizeof(struct ifinfomsg));
	info = msg_nest(msg, IFLA_LINKINFO);
	msg_put_str(msg, IFLA_INFO_KIND, "vrf");
	(void)nla_nest_end(msg, info);
	(void)rtsock_queue(s, NULL, &failure);
	return rtsock_flush(s, &failure) == -EINVAL;
}

/* Its sysctls are there, in each namespace, as long as the module is. */
bool overlay_probe_bridge_filter(void)
{
	return access("/proc/sys/net/bridge/bridge-nf-call-iptables", F_OK) == 0;
}
