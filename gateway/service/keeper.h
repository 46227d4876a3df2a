/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The process that starts and signals services, and how fairwayd talks to it: a packet of fixed size there, one back.
 * All that crosses is an operation, a row of the table and a pid, so nothing that an operator or the network says can
 * reach a program that runs with privileges.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct service_spec;

enum keeper_op {
	KEEPER_START = 1, /* forks and executes it; gives pid and pidfd */
	KEEPER_ADOPT, /* the pid and pidfd of one that runs: of `pid` if it is that program, or of who has its argv (0)
		       */
	KEEPER_TERM,
	KEEPER_KILL,
};

/*
 * Forks it; *ret is fairwayd's end of the connection. It ends when that end closes (then wait for it), and leaves the
 * services running. It takes with it the table, standard output and error, and of the capabilities what services and it
 * itself need; those that it cannot have make it -EPERM. The caller has one thread. 0 or -errno.
 */
int keeper_fork(const struct service_spec *specs, size_t n, int *ret, pid_t *ret_pid);

/*
 * One operation on row `service`. 0, and *ret_pid, *ret_pidfd (both may be NULL); -EPERM: that pid is another program,
 * or in another network namespace; -ESRCH: it does not run; -EPIPE: the keeper is gone or hangs; or what exec(2)
 * said.
 */
int keeper_call(int keeper, enum keeper_op op, size_t service, pid_t pid, pid_t *ret_pid, int *ret_pidfd);
