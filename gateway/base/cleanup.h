/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ownership made visible: `_cleanup_(arena_freep) struct arena *a = arena_new();` */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define _cleanup_(f) __attribute__((cleanup(f)))

static inline void freep(void *p)
{
	free(*(void **)p);
}
static inline void closep(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
}
/* Hands a descriptor over: `*ret = steal_fd(&fd);` leaves nothing to close here. */
static inline int steal_fd(int *fd)
{
	int stolen = *fd;

	*fd = -1;
	return stolen;
}
static inline void fclosep(FILE **f)
{
	if (*f)
		(void)fclose(*f);
}

#define _cleanup_free_ _cleanup_(freep)
#define _cleanup_close_ _cleanup_(closep)
#define _cleanup_fclose_ _cleanup_(fclosep)
