/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All checks in one run, so that the operator sees all mistakes at once; see load.h. */
#include "gateway/engine/load.h"

#include "config/config.h"
#include "config/diag.h"
#include "config/secret.h"
#include "gateway/engine/engine.h"

const struct config *engine_load(
	const struct engine *e, const char *text, size_t len, bool secrets, struct arena *arena, struct diag *diag)
{
	const struct config *cfg = config_parse(text, len, arena, diag);

	if (cfg && secrets)
		secret_check(cfg, diag);
	if (cfg)
		engine_check(e, cfg, diag);
	diag_sort(diag);
	return diag->n_errors > 0 ? NULL : cfg;
}
