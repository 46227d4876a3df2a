/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kernel events: links, addresses, routes and permanent FDB entries that change, on a multicast netlink socket. Only
 * tells that a look is worth it; what changed is found by observing. Learned MACs and neighbours do not count.
 */
#pragma once

struct monitor;

int monitor_open(struct monitor **ret);
void monitor_close(struct monitor *m);
int monitor_fd(const struct monitor *m); /* for the event loop: readable means monitor_read() */
/* Drains the socket. 1: something relevant changed (also after an overrun); 0: nothing; -errno. */
int monitor_read(struct monitor *m);
/*
 * Has any route changed since the last call, ours or not? Other people's routes are not worth a look, so they wake
 * nobody; but what was seen before one came may lack what is in our way. 1, 0, or -errno.
 */
int monitor_routes(struct monitor *m);
