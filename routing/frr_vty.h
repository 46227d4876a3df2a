/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A connection to a daemon's vty socket: commands in, text and a return code out. Blocking with a deadline for each
 * command; edge. Request: the command and a NUL. Reply: text, then three NULs and the code. Starts in the enable node.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct buf;
struct frr_vty;

/* 0; -ENOENT or -ECONNREFUSED: no daemon there; -ETIMEDOUT: it does not answer; or another -errno. */
int frr_vty_open(const char *socket_path, uint64_t timeout_usec, struct frr_vty **ret);
void frr_vty_close(struct frr_vty *vty); /* NULL is fine */
static inline void frr_vty_closep(struct frr_vty **vty)
{
	frr_vty_close(*vty);
}

/* The process that listens there (SO_PEERCRED). */
pid_t frr_vty_pid(const struct frr_vty *vty);

/*
 * Runs one command; ret_text (may be NULL) is emptied and gets the reply. The return code, 0 for success (vty's CMD_*),
 * or -errno: -EINVAL for a command of more than one line; after any other the connection is of no more use.
 */
int frr_vty_run(struct frr_vty *vty, const char *command, struct buf *ret_text);
