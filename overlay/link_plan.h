/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The links' half of the overlay's plan, and what becomes of each link: the other half needs it, because the kernel
 * takes addresses, FDB entries and routes along with a link. Private to overlay_plan.c and link_plan.c.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct kernel_model;
struct link;
struct overlay_step;
struct plan;

enum link_fate {
	FATE_KEPT,
	FATE_MISSING, /* wanted, not there, and not ours to make */
	FATE_MADE,    /* wanted, and made by this plan */
	FATE_DELETED, /* there, and gone before anything is made */
	FATE_CYCLED,  /* there, goes down and up as it enters or leaves a VRF: loses routes and IPv6 addresses */
};

/* Order of work. */
enum { REMOVE_ROUTE, REMOVE_FDB, REMOVE_ADDR, REMOVE_PORT, REMOVE_VXLAN, REMOVE_BRIDGE, REMOVE_VRF };
enum { MAKE_SYSCTL, MAKE_VRF, MAKE_BRIDGE, MAKE_VXLAN, MAKE_LINK, MAKE_ADDR, MAKE_ADDR_AWAY, MAKE_ROUTE, MAKE_FDB };

struct walk {
	const struct kernel_model *want, *have;
	struct plan *plan;
	enum link_fate *want_fate; /* of want->links */
	enum link_fate *have_fate; /* of have->links */
};

void link_plan(struct walk *w);

enum link_fate walk_want_fate(const struct walk *w, const char *link); /* FATE_MISSING: not wanted at all */
enum link_fate walk_have_fate(const struct walk *w, const char *link); /* FATE_DELETED: not there at all */
/* Whom it is about: the wanted link's object, else the alias that we gave it, else the interface itself. */
const char *walk_object(const struct walk *w, const char *link);
/* Where a step finds the link once it runs; 0: by name. */
uint32_t walk_ifindex(const struct walk *w, const char *link);
/* A payload in the plan's arena. */
const struct overlay_step *walk_step(const struct walk *w, struct overlay_step step);
const char *walk_interrupts(const struct walk *w, const char *what);
