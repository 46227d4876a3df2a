/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Roles from what the kernel says of the peer; nothing that the peer says itself counts. */
#include "gateway/rpc/rpc_peer.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/socket.h>

enum { NAME_BUFFER = 16384, MAX_GROUPS = 4096 };

static gid_t find_group(const char *name)
{
	char buffer[NAME_BUFFER];
	struct group group, *found = NULL;

	return getgrnam_r(name, &group, buffer, sizeof(buffer), &found) == 0 && found ? found->gr_gid : (gid_t)-1;
}

void rpc_groups_find(struct rpc_groups *ret)
{
	ret->reader = find_group("fairway");
	ret->admin = find_group("fairway-admin");
}

static void name_user(struct rpc_peer *peer)
{
	char buffer[NAME_BUFFER];
	struct passwd user, *found = NULL;

	if (getpwuid_r(peer->uid, &user, buffer, sizeof(buffer), &found) == 0 && found)
		(void)snprintf(peer->user, sizeof(peer->user), "%s", found->pw_name);
	else
		(void)snprintf(peer->user, sizeof(peer->user), "uid %u", peer->uid);
}

static enum rpc_role role_of_group(gid_t gid, const struct rpc_groups *groups)
{
	if (gid == (gid_t)-1)
		return ROLE_NONE;
	return gid == groups->admin ? ROLE_ADMIN : gid == groups->reader ? ROLE_READER : ROLE_NONE;
}

static enum rpc_role best_role(const struct ucred *cred, const gid_t *gids, size_t n, const struct rpc_groups *groups)
{
	enum rpc_role best = cred->uid == 0 ? ROLE_ADMIN : role_of_group(cred->gid, groups);

	for (size_t i = 0; i < n; i++)
		if (role_of_group(gids[i], groups) > best)
			best = role_of_group(gids[i], groups);
	return best;
}

int rpc_peer_identify(int fd, const struct rpc_groups *groups, struct rpc_peer *ret)
{
	gid_t gids[MAX_GROUPS];
	struct ucred cred;
	socklen_t len = sizeof(cred), gids_len = sizeof(gids);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) < 0)
		return -errno;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, gids, &gids_len) < 0)
		return -errno;
	*ret = (struct rpc_peer){.pid = cred.pid, .uid = cred.uid};
	ret->role = best_role(&cred, gids, gids_len / sizeof(gids[0]), groups);
	name_user(ret);
	return 0;
}
