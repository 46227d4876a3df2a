/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Live state of routing as JSON, for `fairway show`: asks FRR's daemons and the kernel. Edge, reads only. */
#pragma once

#include <jansson.h>

struct config;
struct facts;

/*
 * what: "bgp", "bgp SESSION" (a name or the peer), "routes", "bfd", "evpn", "lines" (the overlay's with their health).
 * run_dir: the daemons' sockets are in RUN/frr. 0, -ENOENT (not ours), or -errno. Shapes: docs/rpc.md. A daemon
 * that does not answer is a member "trouble", not an error.
 */
int routing_show(
	const char *run_dir, const char *what, const struct config *cfg, const struct facts *facts, json_t **ret);
