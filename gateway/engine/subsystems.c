/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The only list of subsystems, in the order in which things are made: the nft tables first, so that the guard of the
 * VXLAN port stands before a device does.
 */
#include "gateway/engine/subsystems.h"

#include "gateway/audit/audit_subsystem.h"
#include "gateway/base/str.h"
#include "gateway/engine/subsystem.h"
#include "gateway/nft/nft_subsystem.h"
#include "overlay/overlay.h"
#include "routing/routing.h"

const struct subsystem *const subsystems[] = {&nft_subsystem, &overlay_subsystem, &routing_subsystem, &audit_subsystem};
const size_t n_subsystems = ARRAY_SIZE(subsystems);
