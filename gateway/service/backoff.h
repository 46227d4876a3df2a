/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How long a service that died has to wait; pure. One that lived for a while starts again at once. */
#pragma once

#include <stdint.h>

enum {
	BACKOFF_FIRST_USEC = 100 * 1000,
	BACKOFF_MAX_USEC = 30 * 1000 * 1000,
	BACKOFF_FORGIVEN_USEC = 3 * 1000 * 1000,
};

/* The wait after a life of `lived`, where the wait before that life was `previous`. */
static inline uint64_t backoff_after(uint64_t previous, uint64_t lived)
{
	if (lived >= BACKOFF_FORGIVEN_USEC)
		return 0;
	if (previous == 0)
		return BACKOFF_FIRST_USEC;
	return previous * 2 < BACKOFF_MAX_USEC ? previous * 2 : BACKOFF_MAX_USEC;
}
