/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All nft tables that a config means, in one model: whose renderers they are is known only here. Pure. */
#include "gateway/audit/audit.h"
#include "gateway/nft/nft.h"
#include "gateway/nft/nft_subsystem.h"
#include "gateway/policy/policy_render.h"
#include "gateway/policy/protect_render.h"
#include "overlay/overlay.h"

void nft_desired(const struct config *cfg, const struct facts *facts, struct nft_model *m)
{
	guard_render(cfg, m);
	mss_render(cfg, facts, m);
	spread_render(cfg, m);
	bridge_render(cfg, facts, m);
	audit_render(cfg, m);
	protect_render(cfg, m);
	policy_render(cfg, facts, m);
	nft_model_seal(m);
}
