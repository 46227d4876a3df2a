/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A plan: the printable list of steps from what is to what is wanted. Pure: same input, same text.
 * The empty plan is the proof that a gateway is what its file says.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct buf;
struct plan_owned;
struct subsystem;

/* Removals run first, subsystems backwards; then the rest, subsystems in their order. Within one: by rank, then as
 * added. */
enum step_phase { STEP_REMOVE, STEP_MAKE };

struct step {
	const struct subsystem *subsystem;
	enum step_phase phase;
	unsigned rank;	     /* the subsystem's own order within a phase */
	const char *object;  /* what it touches: "segment gpu", "line ali-a", "system" */
	const char *text;    /* what it does, in the operator's words: "create vx10010 (VXLAN, VNI 10010, MTU 1500)" */
	const char *impact;  /* what traffic it interrupts: "none", or "interrupts segment gpu" */
	const void *payload; /* the subsystem's own description of the work; lives in the plan's arena */
	size_t seq;	     /* order of plan_add(): keeps the sort stable */
};

/* Something of somebody else's is in the way: named, never deleted. A plan with conflicts is not applied. */
struct plan_conflict {
	const char *object;
	const char *text; /* what is in the way, and what to do */
};

struct plan {
	struct arena *arena; /* owns all text and payloads */
	struct step *steps;
	size_t n_steps, cap_steps;
	struct plan_conflict *conflicts;
	size_t n_conflicts;
	const struct subsystem *subsystem; /* whose plan() is running; set by the engine */
	struct plan_owned *owned;	   /* observations that payloads point into; newest first */
};

void plan_init(struct plan *plan);
void plan_free(struct plan *plan);

/* impact NULL means "none". object, impact and payload must live as long as the plan (its arena, or constants). */
void plan_add(struct plan *plan, enum step_phase phase, unsigned rank, const char *object, const char *impact,
	const void *payload, const char *fmt, ...) __attribute__((format(printf, 7, 8)));
void plan_conflict(struct plan *plan, const char *object, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* p lives as long as the plan: plan_free() gives it to free_fn. */
void plan_own(struct plan *plan, void *p, void (*free_fn)(void *));
/* What plan_own() got while this subsystem was planning: the caller's again; NULL if there is none. */
void *plan_take_owned(struct plan *plan, const struct subsystem *subsystem);

/* Puts the steps into running order. `order` is the list of subsystems. */
void plan_sort(struct plan *plan, const struct subsystem *const *order, size_t n);

static inline bool plan_is_empty(const struct plan *plan)
{
	return plan->n_steps == 0 && plan->n_conflicts == 0;
}

/*
 * One line a step: "  + segment gpu: create vx10010 ...   [impact]", with - for removals; conflicts as "  ! ...";
 * and a closing line with the counts: "3 steps, 1 interrupts traffic", "nothing to do".
 */
void plan_print(const struct plan *plan, struct buf *out);
