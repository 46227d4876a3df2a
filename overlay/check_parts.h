/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of overlay_check(). All sort and look at neighbours, so that 10,000 segments take no longer than they must.
 * Messages begin with the object that they are about and name the other one with its line.
 *
 * A file with errors is checked as far as it is sound (config/draft.h). What is there may be judged; what is not there
 * may have an error of its own. So a reference that leads nowhere ends a rule without a word, and a rule that concludes
 * from something absent first asks CONFIG_IS_WHOLE.
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
