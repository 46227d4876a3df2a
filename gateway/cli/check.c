/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `fairway check FILE`: every rule of the schema and of every subsystem, without a daemon, root, or a touch. */
#include <stdio.h>

#include "config/config.h"
#include "gateway/base/arena.h"
#include "gateway/base/buf.h"
#include "gateway/base/cleanup.h"
#include "gateway/cli/args.h"
#include "gateway/cli/command.h"
#include "gateway/cli/output.h"
#include "gateway/engine/diag_json.h"
#include "gateway/engine/engine.h"
#include "gateway/engine/load.h"
#include "gateway/engine/subsystems.h"

static bool check(const char *text, size_t len, struct diag *diag)
{
	_cleanup_(arena_freep) struct arena *arena = arena_new();
	struct engine e;
	bool valid;

	engine_init(&e, subsystems, n_subsystems);
	valid = engine_load(&e, text, len, true, arena, diag) != NULL;
	engine_free(&e);
	return valid;
}

enum exit_status check_text(const char *name, const char *text, size_t len, const struct output *output)
{
	struct buf messages = {0};
	struct diag diag;
	json_t *data;
	bool valid;

	diag_init(&diag, name);
	valid = check(text, len, &diag);
	diag_print(&diag, &messages);
	(void)fputs(buf_str(&messages), stderr);
	data = json_pack(
		"{s:b, s:o, s:s}", "valid", valid, "diagnostics", diag_to_json(&diag), "text", valid ? "valid\n" : "");
	emit(output, data);
	json_decref(data);
	buf_free(&messages);
	diag_free(&diag);
	return valid ? EXIT_OK : EXIT_REFUSED;
}

enum exit_status command_check(const struct args *args, const struct output *output)
{
	_cleanup_free_ char *text = NULL;
	size_t len;

	if (read_file(args->operands[0], &text, &len) < 0)
		return EXIT_REFUSED;
	return check_text(args->operands[0], text, len, output);
}
