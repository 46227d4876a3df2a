/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One run of a plan: which step failed, and why, in words. */
#pragma once

struct step;

struct txn {
	const struct step *failed; /* NULL while all is well */
	int error;		   /* -errno of it */
	char reason[256];	   /* from the owner: the kernel's extended ack, nft's message */
};

/* Notes the first failure and returns error (negative errno), so that `return txn_fail(...)` reads well. */
int txn_fail(struct txn *txn, const struct step *step, int error, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
