/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The audit as the engine sees it: rules for its part of the config, and nothing to plan. What it wants of the kernel
 * is an nft table (audit_render.c) and sysctls (overlay/sysctl.h); the record is a thread's (audit.h).
 */
#pragma once

struct subsystem;

extern const struct subsystem audit_subsystem;
