/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Transmit checksum offload of a device, by the ethtool ioctl: three microseconds a device, no feature names. Edge. */
#pragma once

#include <stdbool.h>

/* A descriptor for the calls below, to be closed; or -errno. */
int ethtool_open(void);
int ethtool_get_tx_csum(int fd, const char *link, bool *ret);
int ethtool_set_tx_csum(int fd, const char *link, bool on);
