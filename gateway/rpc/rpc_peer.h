/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who is at the other end of a Unix socket, and what that user may do. */
#pragma once

#include "gateway/rpc/rpc_server.h"

struct rpc_groups {
	gid_t reader, admin; /* (gid_t)-1: there is no such group */
};

void rpc_groups_find(struct rpc_groups *ret);
int rpc_peer_identify(int fd, const struct rpc_groups *groups, struct rpc_peer *ret);
