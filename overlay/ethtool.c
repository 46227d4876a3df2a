/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ETHTOOL_GTXCSUM and ETHTOOL_STXCSUM; see ethtool.h. */
#include "overlay/ethtool.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

int ethtool_open(void)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	return fd < 0 ? -errno : fd;
}

static int tx_csum(int fd, const char *link, uint32_t cmd, uint32_t *value)
{
	struct ethtool_value ev = {.cmd = cmd, .data = *value};
	struct ifreq req = {.ifr_data = (char *)&ev};

	(void)snprintf(req.ifr_name, sizeof(req.ifr_name), "%s", link);
	if (ioctl(fd, SIOCETHTOOL, &req) < 0)
		return -errno;
	*value = ev.data;
	return 0;
}

int ethtool_get_tx_csum(int fd, const char *link, bool *ret)
{
	uint32_t value = 0;
	int r = tx_csum(fd, link, ETHTOOL_GTXCSUM, &value);

	if (r == 0)
		*ret = value;
	return r;
}

int ethtool_set_tx_csum(int fd, const char *link, bool on)
{
	uint32_t value = on;

	return tx_csum(fd, link, ETHTOOL_STXCSUM, &value);
}
