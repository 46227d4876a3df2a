/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The nft table of the audit. Pure. Connection tracking works only in a network namespace where some rule asks for it,
 * and so with an audit it does, whatever the policy: the rules ask about a flow's first packet, once the policy has
 * let it through.
 */
#include "config/config.h"
#include "gateway/audit/audit.h"
#include "gateway/nft/nft.h"

static const struct {
	const char *name, *hook;
} chains[] = {
	{"forwarded", "type filter hook forward priority 10; policy accept;"},
	{"received", "type filter hook input priority 10; policy accept;"},
	{"sent", "type filter hook output priority 10; policy accept;"},
};

void audit_render(const struct config *cfg, struct nft_model *m)
{
	struct nft_table *t;

	if (!cfg || !cfg->audit)
		return;
	t = nft_add_table(m, "inet", NFT_TABLE_AUDIT);
	for (size_t i = 0; i < sizeof(chains) / sizeof(chains[0]); i++)
		nft_add_rule(m, nft_add_chain(m, t, chains[i].name, chains[i].hook), "ct status ! confirmed counter");
}
