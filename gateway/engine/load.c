/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All checks in one run, so that the operator sees all mistakes at once; see load.h. Rules see what is right of a file
 * with errors, the caller never does.
 */
#include "gateway/engine/load.h"

#include "config/config.h"
#include "config/diag.h"
#include "config/draft.h"
#include "config/prefix_file.h"
#include "config/secret.h"
#include "gateway/engine/engine.h"

const struct config *engine_load(
	const struct engine *e, const char *text, size_t len, bool secrets, struct arena *arena, struct diag *diag)
{
	struct config_draft draft = config_parse_draft(text, len, arena, diag);

	if (draft.read && secrets)
		secret_check(draft.read, diag);
	if (draft.sound && secrets)
		prefix_file_check(draft.sound, e->lenient, diag);
	if (draft.sound)
		engine_check(e, draft.sound, diag);
	diag_sort(diag);
	return diag->n_errors > 0 ? NULL : draft.sound;
}
