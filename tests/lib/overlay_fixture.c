/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See overlay_fixture.h. */
#include "tests/lib/overlay_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "config/config.h"
#include "config/draft.h"
#include "gateway/base/arena.h"
#include "gateway/base/str.h"
#include "overlay/model.h"
#include "overlay/overlay.h"

void fixture_open(struct overlay_fixture *f)
{
	*f = (struct overlay_fixture){.arena = arena_new()};
	fake_kernel_init(&f->kernel);
	facts_init(&f->facts);
	plan_init(&f->plan);
}

void fixture_close(struct overlay_fixture *f)
{
	plan_free(&f->plan);
	buf_free(&f->text);
	facts_free(&f->facts);
	fake_kernel_free(&f->kernel);
	arena_free(f->arena);
}

const struct config *fixture_parse(struct overlay_fixture *f, const char *text)
{
	const struct config *cfg;
	struct config_draft draft;
	struct diag diag;

	diag_init(&diag, "x");
	draft = config_parse_draft(text, strlen(text), f->arena, &diag);
	if (draft.sound)
		overlay_check(draft.sound, &diag);
	diag_sort(&diag);
	buf_reset(&f->text);
	diag_print(&diag, &f->text);
	cfg = diag.n_errors > 0 ? NULL : draft.sound;
	diag_free(&diag);
	return cfg;
}

const struct config *fixture_config(struct overlay_fixture *f, const char *text)
{
	const struct config *cfg = fixture_parse(f, text);

	if (!cfg)
		fail_msg("%s", buf_str(&f->text));
	return cfg;
}

static void add_interface(struct overlay_fixture *f, const char *name)
{
	if (!model_link(&f->kernel.m, name))
		fake_kernel_add_interface(&f->kernel, name, 1500);
}

void fixture_add_interfaces(struct overlay_fixture *f, const struct config *cfg)
{
	for (size_t i = 0; i < cfg->interfaces.n; i++)
		add_interface(f, cfg->interfaces.v[i].name);
	for (size_t i = 0; i < cfg->lines.n; i++)
		add_interface(f, cfg->lines.v[i].interface);
	for (size_t i = 0; i < cfg->segments.n; i++)
		for (size_t k = 0; k < cfg->segments.v[i].members.n; k++)
			add_interface(f, cfg->segments.v[i].members.v[k]);
}

const char *fixture_plan(struct overlay_fixture *f, const struct config *cfg)
{
	struct kernel_model *want = arena_new_obj(f->arena, struct kernel_model);
	struct kernel_model *have = arena_new_obj(f->arena, struct kernel_model);

	want->arena = have->arena = f->arena;
	fake_kernel_observe(&f->kernel, have);
	plan_free(&f->plan);
	plan_init(&f->plan);
	overlay_check_facts(cfg, &f->facts, &f->plan);
	overlay_desired(cfg, &f->facts, want);
	overlay_plan(want, have, &f->plan);
	plan_sort(&f->plan, NULL, 0);
	buf_reset(&f->text);
	plan_print(&f->plan, &f->text);
	return buf_str(&f->text);
}

void fixture_apply(struct overlay_fixture *f)
{
	for (size_t i = 0; i < f->plan.n_steps; i++) {
		const struct step *s = &f->plan.steps[i];
		int r = fake_kernel_apply(&f->kernel, s->payload);

		if (r < 0)
			fail_msg("%s: %s: %s", s->object, s->text, f->kernel.reason);
	}
}

void fixture_converge(struct overlay_fixture *f, const struct config *cfg)
{
	(void)fixture_plan(f, cfg);
	fixture_apply(f);
	assert_string_equal(fixture_plan(f, cfg), "nothing to do\n");
}

bool fixture_has_step(const struct overlay_fixture *f, const char *object, const char *words)
{
	for (size_t i = 0; i < f->plan.n_steps; i++)
		if (str_eq(f->plan.steps[i].object, object) && strstr(f->plan.steps[i].text, words))
			return true;
	return false;
}
