/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The first failure of a run; see txn.h. Pure. */
#include "gateway/engine/txn.h"

#include <stdarg.h>
#include <stdio.h>

int txn_fail(struct txn *txn, const struct step *step, int error, const char *fmt, ...)
{
	va_list ap;

	if (txn->error)
		return error;
	txn->failed = step;
	txn->error = error;
	va_start(ap, fmt);
	(void)vsnprintf(txn->reason, sizeof(txn->reason), fmt, ap);
	va_end(ap);
	return error;
}
