/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What this kernel can do. Edge; leaves nothing behind. */
#pragma once

#include <stdbool.h>

bool overlay_probe_vrf(void);
