/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Texts of configs, turned into what the overlay makes of them: diagnostics, models, plans, on a fake kernel. */
#pragma once

#include <stdbool.h>

#include "gateway/base/buf.h"
#include "gateway/engine/facts.h"
#include "gateway/engine/plan.h"
#include "tests/lib/fake_kernel.h"

struct arena;
struct config;

struct overlay_fixture {
	struct arena *arena; /* of all configs and wanted models */
	struct fake_kernel kernel;
	struct facts facts;
	struct plan plan; /* of the last fixture_plan() */
	struct buf text;  /* of whatever was printed last */
};

void fixture_open(struct overlay_fixture *f);
void fixture_close(struct overlay_fixture *f);

/* Parses and checks. NULL if there is an error; f->text has the diagnostics, warnings too. */
const struct config *fixture_parse(struct overlay_fixture *f, const char *text);
/* The same, and the test fails on an error. */
const struct config *fixture_config(struct overlay_fixture *f, const char *text);
/* Every interface that the config names and that is not there yet. */
void fixture_add_interfaces(struct overlay_fixture *f, const struct config *cfg);

/* Plan from the kernel's state; printed to f->text. cfg NULL: nothing is wanted. */
const char *fixture_plan(struct overlay_fixture *f, const struct config *cfg);
/* Does the plan's steps. The test fails if a step does. */
void fixture_apply(struct overlay_fixture *f);
/* Plan, apply, and the next plan is empty. */
void fixture_converge(struct overlay_fixture *f, const struct config *cfg);
/* Has the last plan a step with this object and, in its text, these words? */
bool fixture_has_step(const struct overlay_fixture *f, const char *object, const char *words);
