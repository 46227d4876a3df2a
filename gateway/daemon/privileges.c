/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See privileges.h. CAP_NET_ADMIN covers netlink, nftables, ethtool and the sysctls below net/. */
#include "gateway/daemon/privileges.h"

#include <errno.h>
#include <grp.h>
#include <sys/types.h>
#include <unistd.h>

#include "gateway/base/str.h"
#include "gateway/service/caps.h"

enum { GROUPS_MAX = 16 };

/* Without CAP_SETGID (a service manager took it already) the groups are those that it gave. */
static int keep_groups(const char *const *groups, size_t n)
{
	gid_t ids[GROUPS_MAX];
	size_t n_ids = 0;

	if (n > ARRAY_SIZE(ids))
		return -E2BIG;
	for (size_t i = 0; i < n; i++) {
		const struct group *group = getgrnam(groups[i]);

		if (group)
			ids[n_ids++] = group->gr_gid;
	}
	return setgroups(n_ids, ids) < 0 && errno != EPERM ? -errno : 0;
}

int privileges_drop(const char *const *groups, size_t n)
{
	static const cap_value_t needed[] = {CAP_NET_ADMIN};
	int r = keep_groups(groups, n);

	return r < 0 ? r : caps_keep(needed, ARRAY_SIZE(needed));
}
