/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See privileges.h. CAP_NET_ADMIN covers netlink, nftables, ethtool and the sysctls below net/. */
#include "gateway/daemon/privileges.h"

#include <errno.h>
#include <stddef.h>
#include <sys/capability.h>
#include <sys/prctl.h>

/* Without CAP_SETPCAP (a service manager did it already) the bounding set stays as it is. */
static int drop_bounding_set(void)
{
	for (cap_value_t cap = 0; cap_get_bound(cap) >= 0; cap++)
		if (cap != CAP_NET_ADMIN && cap_get_bound(cap) > 0 && cap_drop_bound(cap) < 0 && errno != EPERM)
			return -errno;
	return 0;
}

static int keep_only(const cap_value_t *caps, int n)
{
	cap_t set = cap_init();
	int r = 0;

	if (!set)
		return -errno;
	if (cap_set_flag(set, CAP_PERMITTED, n, caps, CAP_SET) < 0 ||
		cap_set_flag(set, CAP_EFFECTIVE, n, caps, CAP_SET) < 0 || cap_set_proc(set) < 0)
		r = -errno;
	(void)cap_free(set);
	return r;
}

int privileges_drop(void)
{
	static const cap_value_t needed[] = {CAP_NET_ADMIN};
	int r = drop_bounding_set();

	if (r == 0 && prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0)
		r = -errno;
	if (r == 0)
		r = keep_only(needed, 1);
	if (r == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		r = -errno;
	return r;
}
