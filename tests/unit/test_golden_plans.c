/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Golden plans: tests/golden/plans/NAME.yaml is planned on a bare machine, NAME.a.yaml and NAME.b.yaml from a to b;
 * NAME.plan is the printed plan, NAME.nft the commands that make the nft tables. A word of these that changes is seen
 * in review, not by an operator. UPDATE=1 writes them; tests/golden/test_nft_golden.py has nft itself check the
 * commands.
 */
/* LINK: tests/lib/overlay_fixture.c tests/lib/fake_kernel.c overlay/mtu.c overlay/model.c overlay/desired.c overlay/overlay_plan.c overlay/link_plan.c overlay/overlay_check.c overlay/interface_check.c overlay/segment_check.c overlay/address_check.c overlay/guard_render.c overlay/mss_render.c overlay/spread_render.c overlay/bridge_render.c overlay/inspect_render.c gateway/policy/policy_base.c gateway/policy/policy_input.c gateway/policy/protect_render.c routing/session.c config/preset.c gateway/policy/policy_class.c gateway/policy/policy_compile.c gateway/policy/policy_cover.c gateway/policy/policy_keys.c gateway/policy/policy_layout.c gateway/policy/policy_model.c gateway/policy/policy_peers.c gateway/policy/policy_place.c gateway/policy/policy_render.c gateway/policy/policy_table.c gateway/audit/audit_names.c gateway/audit/audit_render.c overlay/snoop_render.c overlay/toobig_render.c config/config.c config/decode.c config/diag.c config/hint.c config/schema.c config/text.c config/types.c config/types_bgp.c config/types_net.c config/types_policy.c config/endpoint.c config/types_text.c config/yaml.c gateway/engine/facts.c gateway/engine/plan.c gateway/nft/nft_model.c gateway/nft/nft_plan.c gateway/nft/nft_change.c */
/* LIBS: libfyaml jansson */
#include <errno.h>
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "config/config.h"
#include "gateway/audit/audit.h"
#include "gateway/base/arena.h"
#include "gateway/base/cleanup.h"
#include "gateway/base/fs.h"
#include "gateway/base/str.h"
#include "gateway/nft/nft.h"
#include "gateway/policy/policy_render.h"
#include "gateway/policy/protect_render.h"
#include "overlay/overlay.h"
#include "tests/lib/overlay_fixture.h"

#define FOLDER "tests/golden/plans/"

static char *read_file(const char *path)
{
	char *text;
	size_t len;

	if (fs_read(path, 1 << 20, &text, &len) < 0)
		return NULL;
	return text;
}

/* Compares with the golden file, or writes it. */
static size_t compare(const char *path, const char *is)
{
	_cleanup_free_ char *golden = NULL;

	if (getenv("UPDATE")) {
		assert_int_equal(fs_write_atomic(path, is, strlen(is), 0644), 0);
		return 0;
	}
	golden = read_file(path);
	if (str_eq(golden, is))
		return 0;
	print_error("%s should be\n%s\nbut is\n%s\n", path, golden ? golden : "(there)", is);
	return 1;
}

static void print_nft(struct overlay_fixture *f, const struct config *cfg, struct buf *out)
{
	struct nft_model want = {.arena = f->arena}, none = {.arena = f->arena};
	struct plan plan;

	guard_render(cfg, &want);
	mss_render(cfg, &f->facts, &want);
	spread_render(cfg, &want);
	bridge_render(cfg, &f->facts, &want);
	audit_render(cfg, &want);
	protect_render(cfg, &want);
	policy_render(cfg, &f->facts, &want);
	nft_model_seal(&want);
	plan_init(&plan);
	nft_plan(&want, &none, &plan);
	for (size_t i = 0; i < plan.n_steps; i++)
		nft_step_print(plan.steps[i].payload, out);
	plan_free(&plan);
}

static const struct config *read_config(struct overlay_fixture *f, const char *path)
{
	_cleanup_free_ char *text = read_file(path);
	const struct config *cfg;

	assert_non_null(text);
	cfg = fixture_config(f, text);
	fixture_add_interfaces(f, cfg);
	return cfg;
}

/* path: of NAME.yaml or NAME.b.yaml */
static size_t check_golden(const char *path)
{
	const char *dot = strchr(path + strlen(FOLDER), '.');
	struct overlay_fixture f;
	const struct config *cfg;
	char *name, *file;
	struct buf nft = {0};
	size_t wrong = 0;

	fixture_open(&f);
	f.facts.has_vrf = true;
	name = arena_strndup(f.arena, path, (size_t)(dot - path));
	if (str_starts(dot, ".b.")) {
		file = arena_printf(f.arena, "%s.a.yaml", name);
		fixture_converge(&f, read_config(&f, file));
	}
	cfg = read_config(&f, path);
	wrong += compare(arena_printf(f.arena, "%s.plan", name), fixture_plan(&f, cfg));
	fixture_converge(&f, cfg);
	print_nft(&f, cfg, &nft);
	wrong += compare(arena_printf(f.arena, "%s.nft", name), buf_str(&nft));
	buf_free(&nft);
	fixture_close(&f);
	return wrong;
}

static void test_golden(void **state)
{
	size_t wrong = 0, n = 0;
	glob_t files;

	(void)state;
	assert_int_equal(glob(FOLDER "*.yaml", 0, NULL, &files), 0);
	for (size_t i = 0; i < files.gl_pathc; i++) {
		if (strstr(files.gl_pathv[i], ".a.yaml"))
			continue;
		wrong += check_golden(files.gl_pathv[i]);
		n++;
	}
	globfree(&files);
	assert_true(n > 0);
	assert_int_equal(wrong, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_golden),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
