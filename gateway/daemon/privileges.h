/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Gives up what a gateway does not need of root's powers, for good. */
#pragma once

/* Keeps CAP_NET_ADMIN alone, also out of the bounding set, and forbids to gain more. 0 or -errno. */
int privileges_drop(void);
