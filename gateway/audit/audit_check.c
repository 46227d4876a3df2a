/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rules of `audit` that need more than one value. Pure. */
#include "config/config.h"
#include "gateway/audit/audit.h"
#include "gateway/base/addr.h"

static void check_ipfix(const struct ipfix *ipfix, struct diag *diag)
{
	const struct ip_addr *to = &ipfix->collector, *from = &ipfix->source;

	if (!ip_addr_is_set(to) || !ip_addr_is_set(from))
		return;
	if (to->family != from->family)
		diag_error(diag, CONFIG_AT(ipfix, ipfix, source),
			"audit: ipfix: source and collector must both be IPv4 or both IPv6");
	else if (ip_addr_cmp(to, from) == 0)
		diag_error(diag, CONFIG_AT(ipfix, ipfix, collector),
			"audit: ipfix: the collector must be another address than the source");
}

void audit_check(const struct config *cfg, struct diag *diag)
{
	if (cfg->audit && cfg->audit->ipfix)
		check_ipfix(cfg->audit->ipfix, diag);
}
