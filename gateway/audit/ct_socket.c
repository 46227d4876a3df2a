/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See ct_socket.h. */
#include "gateway/audit/ct_socket.h"

#include <arpa/inet.h>
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_compat.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <linux/netfilter/nfnetlink_log.h>
#include <string.h>
#include <sys/socket.h>

#include "gateway/base/cleanup.h"

enum {
	REQUEST_MAX = 256,
	LOG_QUEUE = 64, /* packets that the kernel may collect before it tells */
	LOG_DELAY = 5,	/* hundredths of a second that it may wait for more */
	LOG_QUEUE_BYTES = 64 * 1024,
};

static int open_socket(uint32_t groups, size_t buffer, int *ret_fd)
{
	_cleanup_close_ int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_NETFILTER);
	struct sockaddr_nl me = {.nl_family = AF_NETLINK, .nl_groups = groups};
	int size = (int)buffer;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)) < 0)
		return -errno;
	if (bind(fd, (struct sockaddr *)&me, sizeof(me)) < 0)
		return -errno;
	*ret_fd = steal_fd(&fd);
	return 0;
}

int ct_socket_events(size_t buffer, int *ret_fd)
{
	return open_socket(NF_NETLINK_CONNTRACK_NEW | NF_NETLINK_CONNTRACK_DESTROY, buffer, ret_fd);
}

int ct_socket_keep(int fd, bool keep)
{
	int on = keep;

	return setsockopt(fd, SOL_NETLINK, NETLINK_BROADCAST_ERROR, &on, sizeof(on)) < 0 ? -errno : 0;
}

int ct_socket_read(int fd, struct ct_batch *batch)
{
	struct mmsghdr m[CT_BATCH] = {0};
	struct iovec v[CT_BATCH];
	int n;

	for (size_t i = 0; i < CT_BATCH; i++) {
		v[i] = (struct iovec){batch->data[i], CT_MESSAGE_MAX};
		m[i].msg_hdr.msg_iov = &v[i];
		m[i].msg_hdr.msg_iovlen = 1;
	}
	n = recvmmsg(fd, m, CT_BATCH, MSG_DONTWAIT, NULL);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	for (int i = 0; i < n; i++)
		batch->len[i] = m[i].msg_len;
	return n;
}

int ct_socket_dump(int *ret_fd)
{
	return open_socket(0, (size_t)CT_DUMP_MAX * 8, ret_fd);
}

int ct_socket_ask(int fd)
{
	_Alignas(struct nlmsghdr) char room[REQUEST_MAX];
	struct nlmsghdr *h = mnl_nlmsg_put_header(room);
	struct nfgenmsg *nfg = mnl_nlmsg_put_extra_header(h, sizeof(*nfg));

	h->nlmsg_type = NFNL_SUBSYS_CTNETLINK << 8 | IPCTNL_MSG_CT_GET;
	h->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	nfg->nfgen_family = AF_UNSPEC;
	nfg->version = NFNETLINK_V0;
	return send(fd, h, h->nlmsg_len, 0) < 0 ? -errno : 0;
}

int ct_socket_read_dump(int fd, uint8_t room[CT_DUMP_MAX])
{
	ssize_t n = recv(fd, room, CT_DUMP_MAX, MSG_DONTWAIT);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	return (int)n;
}

/* --- nfnetlink_log --- */

/* The kernel has answered before the request's send returns. */
static int acknowledged(int fd)
{
	_Alignas(struct nlmsghdr) char room[MNL_NLMSG_HDRLEN + 4096];

	for (;;) {
		const struct nlmsghdr *h = (const struct nlmsghdr *)room;
		const struct nlmsgerr *e = mnl_nlmsg_get_payload(h);
		ssize_t n = recv(fd, room, sizeof(room), MSG_DONTWAIT);

		if (n < 0)
			return -errno;
		if (mnl_nlmsg_ok(h, (int)n) && h->nlmsg_type == NLMSG_ERROR)
			return mnl_nlmsg_get_payload_len(h) < sizeof(*e) ? -EBADMSG : e->error;
	}
}

int ct_socket_log(uint16_t group, uint32_t copy, size_t buffer, int *ret_fd)
{
	struct nfulnl_msg_config_cmd command = {.command = NFULNL_CFG_CMD_BIND};
	struct nfulnl_msg_config_mode mode = {.copy_range = htonl(copy), .copy_mode = NFULNL_COPY_PACKET};
	_Alignas(struct nlmsghdr) char room[REQUEST_MAX];
	struct nlmsghdr *h = mnl_nlmsg_put_header(room);
	struct nfgenmsg *nfg = mnl_nlmsg_put_extra_header(h, sizeof(*nfg));
	_cleanup_close_ int fd = -1;
	int r = open_socket(0, buffer, &fd);

	if (r < 0)
		return r;
	h->nlmsg_type = NFNL_SUBSYS_ULOG << 8 | NFULNL_MSG_CONFIG;
	h->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
	nfg->version = NFNETLINK_V0;
	nfg->res_id = htons(group);
	mnl_attr_put(h, NFULA_CFG_CMD, sizeof(command), &command);
	mnl_attr_put(h, NFULA_CFG_MODE, sizeof(mode), &mode);
	mnl_attr_put_u32(h, NFULA_CFG_QTHRESH, htonl(LOG_QUEUE));
	mnl_attr_put_u32(h, NFULA_CFG_TIMEOUT, htonl(LOG_DELAY));
	mnl_attr_put_u32(h, NFULA_CFG_NLBUFSIZ, htonl(LOG_QUEUE_BYTES));
	mnl_attr_put_u16(h, NFULA_CFG_FLAGS, htons(NFULNL_CFG_F_SEQ));
	if (send(fd, h, h->nlmsg_len, 0) < 0)
		return -errno;
	r = acknowledged(fd);
	if (r == 0)
		*ret_fd = steal_fd(&fd);
	return r;
}
