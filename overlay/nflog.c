/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See nflog.h. */
#include "overlay/nflog.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_log.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>

enum {
	READ_ROOM = 80 * 1024, /* the largest packet and its attributes */
	SOCKET_BUFFER = 8 * 1024 * 1024,
	ENTRIES_PER_READ = 64,
};

struct nflog {
	struct mnl_socket *socket;
	_Alignas(struct nlmsghdr) char room[READ_ROOM];
};

/* --- an entry --- */

static void take_u32(const struct nlattr *attr, uint32_t *ret)
{
	if (mnl_attr_get_payload_len(attr) == sizeof(uint32_t))
		*ret = ntohl(mnl_attr_get_u32(attr));
}

static int take_attr(const struct nlattr *attr, void *arg)
{
	struct nflog_entry *e = arg;

	switch (mnl_attr_get_type(attr)) {
	case NFULA_PREFIX:
		if (mnl_attr_validate(attr, MNL_TYPE_NUL_STRING) == 0)
			e->prefix = mnl_attr_get_str(attr);
		break;
	case NFULA_IFINDEX_PHYSINDEV:
		take_u32(attr, &e->in);
		break;
	case NFULA_IFINDEX_PHYSOUTDEV:
		take_u32(attr, &e->out);
		break;
	case NFULA_IFINDEX_INDEV:
		take_u32(attr, &e->bridge_in);
		break;
	case NFULA_IFINDEX_OUTDEV:
		take_u32(attr, &e->bridge_out);
		break;
	case NFULA_L2HDR:
		e->mac = attr;
		break;
	case NFULA_VLAN:
		e->tag = attr;
		break;
	case NFULA_PAYLOAD:
		e->packet = attr;
		break;
	default:
		break;
	}
	return MNL_CB_OK;
}

static void give(const struct nlmsghdr *nlh, const struct nflog_reader *reader)
{
	const struct nfgenmsg *nfg = mnl_nlmsg_get_payload(nlh);
	struct nflog_entry e = {.prefix = ""};

	if (nlh->nlmsg_type != (NFNL_SUBSYS_ULOG << 8 | NFULNL_MSG_PACKET) ||
		mnl_nlmsg_get_payload_len(nlh) < sizeof(*nfg) || mnl_attr_parse(nlh, sizeof(*nfg), take_attr, &e) < 0)
		return;
	e.group = ntohs(nfg->res_id);
	reader->fn(&e, reader->arg);
}

int nflog_read(struct nflog *log, const struct nflog_reader *reader, uint64_t *overruns)
{
	for (int i = 0; i < ENTRIES_PER_READ; i++) {
		const struct nlmsghdr *nlh = (const struct nlmsghdr *)log->room;
		ssize_t n = mnl_socket_recvfrom(log->socket, log->room, sizeof(log->room));
		int len = (int)n;

		if (n == 0 || (n < 0 && errno == EAGAIN))
			return 0;
		if (n < 0 && errno == ENOBUFS)
			++*overruns;
		else if (n < 0 && errno != EINTR)
			return -errno;
		for (; n > 0 && mnl_nlmsg_ok(nlh, len); nlh = mnl_nlmsg_next(nlh, &len))
			give(nlh, reader);
	}
	return 0;
}

/* --- life --- */

static int error_of(const struct nlmsghdr *nlh)
{
	const struct nlmsgerr *e = mnl_nlmsg_get_payload(nlh);

	return mnl_nlmsg_get_payload_len(nlh) < sizeof(*e) ? -EBADMSG : e->error;
}

/* The kernel has answered before the request's send returns; packets of a group bound before may stand in front. */
static int read_acknowledgement(struct nflog *log)
{
	for (;;) {
		const struct nlmsghdr *nlh = (const struct nlmsghdr *)log->room;
		ssize_t n = mnl_socket_recvfrom(log->socket, log->room, sizeof(log->room));

		if (n < 0)
			return -errno;
		if (mnl_nlmsg_ok(nlh, (int)n) && nlh->nlmsg_type == NLMSG_ERROR)
			return error_of(nlh);
	}
}

static int bind_group(struct nflog *log, uint16_t group, uint16_t bytes)
{
	struct nfulnl_msg_config_cmd command = {.command = NFULNL_CFG_CMD_BIND};
	struct nfulnl_msg_config_mode mode = {.copy_range = htonl(bytes), .copy_mode = NFULNL_COPY_PACKET};
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(log->room);
	struct nfgenmsg *nfg = mnl_nlmsg_put_extra_header(nlh, sizeof(*nfg));

	nlh->nlmsg_type = NFNL_SUBSYS_ULOG << 8 | NFULNL_MSG_CONFIG;
	nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
	nfg->version = NFNETLINK_V0;
	nfg->res_id = htons(group);
	mnl_attr_put(nlh, NFULA_CFG_CMD, sizeof(command), &command);
	mnl_attr_put(nlh, NFULA_CFG_MODE, sizeof(mode), &mode);
	/* Each at once, not a hundred together or after a second. */
	mnl_attr_put_u32(nlh, NFULA_CFG_QTHRESH, htonl(1));
	return mnl_socket_sendto(log->socket, nlh, nlh->nlmsg_len) < 0 ? -errno : read_acknowledgement(log);
}

static int open_socket(struct nflog *log)
{
	int size = SOCKET_BUFFER;

	log->socket = mnl_socket_open2(NETLINK_NETFILTER, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (!log->socket || mnl_socket_bind(log->socket, 0, MNL_SOCKET_AUTOPID) < 0)
		return -errno;
	(void)setsockopt(nflog_fd(log), SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
	return 0;
}

int nflog_open(const uint16_t *groups, size_t n, uint16_t bytes, struct nflog **ret)
{
	struct nflog *log = calloc(1, sizeof(*log));
	int r;

	if (!log)
		abort();
	r = open_socket(log);
	for (size_t i = 0; i < n && r == 0; i++)
		r = bind_group(log, groups[i], bytes);
	if (r < 0) {
		nflog_close(log);
		return r;
	}
	*ret = log;
	return 0;
}

void nflog_close(struct nflog *log)
{
	if (log && log->socket)
		(void)mnl_socket_close(log->socket);
	free(log);
}

int nflog_fd(const struct nflog *log)
{
	return mnl_socket_get_fd(log->socket);
}
