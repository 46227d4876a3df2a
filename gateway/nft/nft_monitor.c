/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Events of nft changes, ours and other people's, on a multicast netfilter socket; see nft_subsystem.h. Edge. */
#include "gateway/nft/nft_subsystem.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/netfilter/nfnetlink.h>
#include <stdbool.h>
#include <stdlib.h>

#include "gateway/nft/nft_kernel.h"
#include "gateway/nft/nft_parse.h"

enum { EVENT_BUFFER = 64 * 1024 };

struct nft_monitor {
	struct mnl_socket *socket;
	char buffer[EVENT_BUFFER];
};

/* There is one ruleset in a network namespace, and so one that listens to it. */
static struct nft_monitor *listening;

/*
 * For someone who listens, the kernel makes a message of each element that comes or goes, which takes four times as
 * long as the elements themselves. What we change ourselves we know.
 */
void nft_monitor_listen(bool on)
{
	unsigned group = NFNLGRP_NFTABLES;

	if (listening)
		(void)mnl_socket_setsockopt(listening->socket, on ? NETLINK_ADD_MEMBERSHIP : NETLINK_DROP_MEMBERSHIP,
			&group, sizeof(group));
}

int nft_monitor_open(struct nft_monitor **ret)
{
	struct nft_monitor *m = calloc(1, sizeof(*m));
	int error;

	if (!m)
		abort();
	m->socket = mnl_socket_open2(NETLINK_NETFILTER, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (!m->socket || mnl_socket_bind(m->socket, 1U << (NFNLGRP_NFTABLES - 1), MNL_SOCKET_AUTOPID) < 0) {
		error = -errno;
		nft_monitor_close(m);
		return error;
	}
	listening = m;
	*ret = m;
	return 0;
}

void nft_monitor_close(struct nft_monitor *m)
{
	if (m == listening)
		listening = NULL;
	if (m && m->socket)
		(void)mnl_socket_close(m->socket);
	free(m);
}

int nft_monitor_fd(const struct nft_monitor *m)
{
	return mnl_socket_get_fd(m->socket);
}

static bool has_ours(const char *buffer, int len)
{
	const struct nlmsghdr *nlh = (const struct nlmsghdr *)buffer;

	for (; mnl_nlmsg_ok(nlh, len); nlh = mnl_nlmsg_next(nlh, &len))
		if (nft_parse_is_ours(nlh))
			return true;
	return false;
}

int nft_monitor_read(struct nft_monitor *m)
{
	int changed = 0;

	for (;;) {
		ssize_t n = mnl_socket_recvfrom(m->socket, m->buffer, sizeof(m->buffer));

		if (n > 0)
			changed |= has_ours(m->buffer, (int)n);
		else if (n == 0 || errno == EAGAIN)
			return changed;
		else if (errno == ENOBUFS || errno == ENOSPC) /* events were lost, or cut: any of them may be ours */
			changed = 1;
		else if (errno != EINTR)
			return -errno;
	}
}
