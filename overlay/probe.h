/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What this kernel can do. Edge; leaves nothing behind. */
#pragma once

#include <stdbool.h>

bool overlay_probe_vrf(void);

/* Does a bridge of this network namespace hand its frames to the inet hooks if it is told to? (br_netfilter) */
bool overlay_probe_bridge_filter(void);
