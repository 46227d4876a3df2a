/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Live flows and the policy, as the process sees to them; policy_flows.h does the work. */
#include <inttypes.h>
#include <string.h>

#include "config/config.h"
#include "gateway/base/log.h"
#include "gateway/base/str.h"
#include "gateway/daemon/daemon.h"
#include "gateway/daemon/policy_flows.h"
#include "gateway/nft/nft_subsystem.h"

void daemon_sweep_flows(struct daemon *d)
{
	uint32_t epoch = nft_policy_epoch();
	int n;

	if (!d->engine.running || !d->engine.running->policy || (epoch == d->swept && !d->prefixes_changed))
		return;
	n = policy_flows_sweep(d->engine.running, &d->engine.facts, epoch, d->prefixes_changed);
	if (n < 0) {
		log_error("flows of before the change of the policy could not be looked at: %s", strerror(-n));
		return;
	}
	d->swept = epoch;
	d->prefixes_changed = false;
	if (n > 0)
		log_notice("%d flow%s cut, which the policy does not accept any more", n, n == 1 ? "" : "s");
}

json_t *daemon_cut_json(struct daemon *d, const struct config *cfg, struct buf *text)
{
	struct policy_cut cut;
	int r = policy_flows_preview(cfg, &d->engine.facts, &cut);
	json_t *flow;
	size_t i;

	if (r < 0 || cut.denied == 0) {
		json_decref(cut.named);
		return NULL;
	}
	buf_printf(text, "the policy cuts %" PRIu64 " of %" PRIu64 " live flows", cut.denied, cut.flows);
	if (cut.unknown > 0)
		buf_printf(text, " (of %" PRIu64 " it is not known here where they are)", cut.unknown);
	buf_puts(text, ":\n");
	json_array_foreach(cut.named, i, flow)
	{
		buf_printf(text, "  x %s: %s\n", json_string_value(json_object_get(flow, "flow")),
			json_string_value(json_object_get(flow, "verdict")));
	}
	if (cut.denied > json_array_size(cut.named))
		buf_printf(text, "  x and %" PRIu64 " more\n", cut.denied - json_array_size(cut.named));
	return json_pack("{s:I, s:I, s:I, s:o}", "flows", (json_int_t)cut.flows, "denied", (json_int_t)cut.denied,
		"unknown", (json_int_t)cut.unknown, "named", cut.named);
}
