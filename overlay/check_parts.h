/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of overlay_check(). All sort and look at neighbours, so that 10,000 segments take no longer than they must.
 * Messages begin with the object that they are about and name the other one with its line.
 */
#pragma once

struct arena;
struct config;
struct diag;

void interface_check(const struct config *cfg, struct arena *scratch, struct diag *diag); /* who uses which interface */
void segment_check(
	const struct config *cfg, struct arena *scratch, struct diag *diag); /* VNIs, remotes, MTU, MSS, MACs */
void address_check(const struct config *cfg, struct arena *scratch,
	struct diag *diag); /* addresses, subnets, routes, per routing domain */
