/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See caps.h. */
#include "gateway/service/caps.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/prctl.h>

static bool is_in(cap_value_t cap, const cap_value_t *caps, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (caps[i] == cap)
			return true;
	return false;
}

/* Without CAP_SETPCAP (a service manager did it already) the bounding set stays as it is. */
static int drop_bounding_set(const cap_value_t *caps, size_t n)
{
	for (cap_value_t cap = 0; cap_get_bound(cap) >= 0; cap++)
		if (!is_in(cap, caps, n) && cap_get_bound(cap) > 0 && cap_drop_bound(cap) < 0 && errno != EPERM)
			return -errno;
	return 0;
}

static int keep_only(const cap_value_t *caps, size_t n)
{
	cap_t set = cap_init();
	int r = 0;

	if (!set)
		return -errno;
	if (cap_set_flag(set, CAP_PERMITTED, (int)n, caps, CAP_SET) < 0 ||
		cap_set_flag(set, CAP_EFFECTIVE, (int)n, caps, CAP_SET) < 0 || cap_set_proc(set) < 0)
		r = -errno;
	(void)cap_free(set);
	return r;
}

int caps_keep(const cap_value_t *caps, size_t n)
{
	int r = drop_bounding_set(caps, n);

	if (r == 0 && prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0)
		r = -errno;
	if (r == 0)
		r = keep_only(caps, n);
	if (r == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		r = -errno;
	return r;
}
