/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See audit_subsystem.h. */
#include "gateway/audit/audit_subsystem.h"

#include <errno.h>

#include "gateway/audit/audit.h"
#include "gateway/engine/subsystem.h"

static int observe(void **ret_observed)
{
	*ret_observed = NULL;
	return 0;
}

static int plan(const struct config *cfg, const struct facts *facts, const void *observed, struct plan *ret)
{
	(void)cfg;
	(void)facts;
	(void)observed;
	(void)ret;
	return 0;
}

/* There are no steps. */
static int apply(struct txn *txn, const struct step *const *steps, size_t n)
{
	(void)txn;
	(void)steps;
	(void)n;
	return 0;
}

static void observed_free(void *observed)
{
	(void)observed;
}

/* The daemon has the counts, and so shows them. */
static int show(const char *what, const struct config *cfg, const struct facts *facts, json_t **ret)
{
	(void)what;
	(void)cfg;
	(void)facts;
	(void)ret;
	return -ENOENT;
}

const struct subsystem audit_subsystem = {
	.name = "audit",
	.check = audit_check,
	.observe = observe,
	.plan = plan,
	.apply = apply,
	.observed_free = observed_free,
	.show = show,
};
