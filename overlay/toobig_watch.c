/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The listener; see toobig_watch.h. Edge. It needs no config: the entry's prefix is the MTU to tell, and its devices
 * say where the answer goes.
 *
 *   bridged: the answer leaves by the port that the packet came in by, as a frame. Fragments leave by the VXLAN
 *            device. Frames sent so pass no hook of the bridge, and so never come back here.
 *   routed:  there is no such port. The ICMP message goes by a raw socket: the kernel chooses source and route, in the
 *            bridge's VRF if it is in one.
 */
#include "overlay/toobig_watch.h"

#include <arpa/inet.h>
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/if_packet.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_log.h>
#include <linux/icmp.h>
#include <linux/rtnetlink.h>
#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "gateway/base/cleanup.h"
#include "overlay/model.h"
#include "overlay/msg_put.h"
#include "overlay/rtsock.h"
#include "overlay/toobig.h"

enum {
	READ_ROOM = 80 * 1024, /* the largest packet and its attributes */
	SOCKET_BUFFER = 8 * 1024 * 1024,
	ENTRIES_PER_READ = 64,
	ETHERNET = 14,
	MAC_ADDRESSES = 12,
};

struct toobig_watch {
	struct mnl_socket *log;
	int frames;	  /* AF_PACKET, for sending only */
	int icmp, icmpv6; /* raw, for sending only */
	struct rtsock *links;
	struct toobig_counts counts;
	uint32_t device; /* of the fragments that are being sent */
	bool failed;	 /* one of them could not be */
	struct toobig_answer answer;
	struct toobig_out out;
	uint8_t frame[TOOBIG_FRAME_MAX];
	_Alignas(struct nlmsghdr) char room[READ_ROOM];
};

/* --- what the kernel logs --- */

/* An entry of the log. */
struct entry {
	uint16_t group;
	uint32_t mtu, in, out, bridge; /* in: 0 for what this gateway routes */
	const struct nlattr *mac, *tag, *packet;
};

static int take_attr(const struct nlattr *attr, void *arg)
{
	struct entry *e = arg;
	bool is_u32 = mnl_attr_get_payload_len(attr) == sizeof(uint32_t);

	switch (mnl_attr_get_type(attr)) {
	case NFULA_PREFIX:
		if (mnl_attr_validate(attr, MNL_TYPE_NUL_STRING) == 0)
			e->mtu = (uint32_t)strtoul(mnl_attr_get_str(attr), NULL, 10);
		break;
	case NFULA_IFINDEX_PHYSINDEV:
		e->in = is_u32 ? ntohl(mnl_attr_get_u32(attr)) : 0;
		break;
	case NFULA_IFINDEX_PHYSOUTDEV:
		e->out = is_u32 ? ntohl(mnl_attr_get_u32(attr)) : 0;
		break;
	case NFULA_IFINDEX_OUTDEV:
		e->bridge = is_u32 ? ntohl(mnl_attr_get_u32(attr)) : 0;
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

static uint8_t *append(uint8_t *to, const struct nlattr *attr)
{
	uint16_t len = mnl_attr_get_payload_len(attr);

	memcpy(to, mnl_attr_get_payload(attr), len);
	return to + len;
}

static int take_tag(const struct nlattr *attr, void *arg)
{
	uint8_t *tag = arg;

	if (mnl_attr_get_payload_len(attr) == 2 && mnl_attr_get_type(attr) == NFULA_VLAN_PROTO)
		memcpy(tag, mnl_attr_get_payload(attr), 2);
	if (mnl_attr_get_payload_len(attr) == 2 && mnl_attr_get_type(attr) == NFULA_VLAN_TCI)
		memcpy(tag + 2, mnl_attr_get_payload(attr), 2);
	return MNL_CB_OK;
}

/* The frame as it was on the wire: the kernel keeps a VLAN tag beside it. Its length; 0 if the entry is not whole. */
static size_t make_frame(const struct entry *e, uint8_t *frame)
{
	uint8_t tag[4] = {0}, *end;
	size_t mac = e->mac ? mnl_attr_get_payload_len(e->mac) : 0;

	if (!e->packet || mac < ETHERNET || mac + sizeof(tag) > TOOBIG_MAC_MAX)
		return 0;
	end = append(frame, e->mac);
	if (e->tag) {
		if (mnl_attr_parse_nested(e->tag, take_tag, tag) < 0)
			return 0;
		memmove(frame + MAC_ADDRESSES + sizeof(tag), frame + MAC_ADDRESSES, mac - MAC_ADDRESSES);
		memcpy(frame + MAC_ADDRESSES, tag, sizeof(tag));
		end += sizeof(tag);
	}
	return (size_t)(append(end, e->packet) - frame);
}

/* --- what goes out --- */

static bool send_frame(const struct toobig_watch *w, uint32_t ifindex, const uint8_t *frame, size_t len)
{
	struct sockaddr_ll to = {.sll_family = AF_PACKET, .sll_ifindex = (int)ifindex, .sll_halen = 6};

	memcpy(to.sll_addr, frame, 6);
	memcpy(&to.sll_protocol, frame + MAC_ADDRESSES, sizeof(to.sll_protocol));
	return sendto(w->frames, frame, len, MSG_DONTWAIT, (struct sockaddr *)&to, sizeof(to)) == (ssize_t)len;
}

static int take_master(struct nlmsghdr *h, void *arg)
{
	const struct nlattr *master = nlmsg_find_attr(h, sizeof(struct ifinfomsg), IFLA_MASTER);

	*(uint32_t *)arg = master ? nla_get_u32(master) : 0;
	return 0;
}

/* A bridge has no master but the VRF that it is in. 0: it is in none. */
static int find_vrf(const struct toobig_watch *w, uint32_t bridge, uint32_t *ret)
{
	struct ifinfomsg info = {.ifi_index = (int)bridge};

	msg_header(rtsock_begin(w->links, RTM_GETLINK, 0), &info, sizeof(info));
	return rtsock_get(w->links, take_master, ret);
}

/* The interface that a message leaves by: a VRF means its table. */
static void set_interface(struct msghdr *m, struct cmsghdr *control, uint8_t family, uint32_t ifindex)
{
	struct in_pktinfo info4 = {.ipi_ifindex = (int)ifindex};
	struct in6_pktinfo info6 = {.ipi6_ifindex = ifindex};
	bool v6 = family == AF_INET6;
	size_t len = v6 ? sizeof(info6) : sizeof(info4);

	control->cmsg_level = v6 ? IPPROTO_IPV6 : IPPROTO_IP;
	control->cmsg_type = v6 ? IPV6_PKTINFO : IP_PKTINFO;
	control->cmsg_len = CMSG_LEN(len);
	memcpy(CMSG_DATA(control), v6 ? (void *)&info6 : (void *)&info4, len);
	m->msg_control = control;
	m->msg_controllen = CMSG_SPACE(len);
}

/* Never out of another domain than the packet's own. */
static bool send_icmp(struct toobig_watch *w, uint32_t bridge)
{
	struct toobig_answer *a = &w->answer;
	struct sockaddr_in to4 = {.sin_family = AF_INET};
	struct sockaddr_in6 to6 = {.sin6_family = AF_INET6};
	struct iovec iov = {.iov_base = a->frame + a->icmp, .iov_len = a->len - a->icmp};
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};
	bool v6 = a->family == AF_INET6;
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(struct in6_pktinfo))] = {0};
	uint32_t vrf;

	if (find_vrf(w, bridge, &vrf) < 0)
		return false;
	memcpy(&to4.sin_addr, a->to, sizeof(to4.sin_addr));
	memcpy(&to6.sin6_addr, a->to, sizeof(to6.sin6_addr));
	m.msg_name = v6 ? (void *)&to6 : (void *)&to4;
	m.msg_namelen = v6 ? sizeof(to6) : sizeof(to4);
	if (vrf != 0)
		set_interface(&m, (struct cmsghdr *)control, a->family, vrf);
	return sendmsg(v6 ? w->icmpv6 : w->icmp, &m, MSG_DONTWAIT) == (ssize_t)iov.iov_len;
}

static void emit(const uint8_t *frame, size_t len, void *arg)
{
	struct toobig_watch *w = arg;

	w->failed |= !send_frame(w, w->device, frame, len);
}

static bool answer(struct toobig_watch *w, const struct entry *e, size_t len)
{
	if (toobig_answer(w->frame, len, e->mtu, &w->answer) < 0)
		return false;
	return e->in ? send_frame(w, e->in, w->answer.frame, w->answer.len) : send_icmp(w, e->bridge);
}

static bool fragment(struct toobig_watch *w, const struct entry *e, size_t len)
{
	w->device = e->out;
	w->failed = false;
	return toobig_fragment(w->frame, len, e->mtu, &w->out) == 0 && !w->failed;
}

static void handle(struct toobig_watch *w, const struct nlmsghdr *nlh)
{
	const struct nfgenmsg *nfg = mnl_nlmsg_get_payload(nlh);
	struct entry e = {0};
	size_t len;

	if (nlh->nlmsg_type != (NFNL_SUBSYS_ULOG << 8 | NFULNL_MSG_PACKET) ||
		mnl_attr_parse(nlh, sizeof(*nfg), take_attr, &e) < 0)
		return;
	e.group = ntohs(nfg->res_id);
	len = make_frame(&e, w->frame);
	if (len > 0 && e.group == TOOBIG_GROUP_ANSWER && answer(w, &e, len))
		w->counts.answered++;
	else if (len > 0 && e.group == TOOBIG_GROUP_FRAGMENT && fragment(w, &e, len))
		w->counts.fragmented++;
	else
		w->counts.ignored++;
}

/* --- the listener --- */

static int error_of(const struct nlmsghdr *nlh)
{
	const struct nlmsgerr *e = mnl_nlmsg_get_payload(nlh);

	return mnl_nlmsg_get_payload_len(nlh) < sizeof(*e) ? -EBADMSG : e->error;
}

/* The kernel has answered before the request's send returns; packets of a group bound before may stand in front. */
static int read_acknowledgement(struct toobig_watch *w)
{
	for (;;) {
		const struct nlmsghdr *nlh = (const struct nlmsghdr *)w->room;
		ssize_t n = mnl_socket_recvfrom(w->log, w->room, sizeof(w->room));

		if (n < 0)
			return -errno;
		if (mnl_nlmsg_ok(nlh, (int)n) && nlh->nlmsg_type == NLMSG_ERROR)
			return error_of(nlh);
	}
}

static int bind_group(struct toobig_watch *w, uint16_t group)
{
	struct nfulnl_msg_config_cmd command = {.command = NFULNL_CFG_CMD_BIND};
	struct nfulnl_msg_config_mode whole = {.copy_range = htonl(UINT16_MAX), .copy_mode = NFULNL_COPY_PACKET};
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(w->room);
	struct nfgenmsg *nfg = mnl_nlmsg_put_extra_header(nlh, sizeof(*nfg));

	nlh->nlmsg_type = NFNL_SUBSYS_ULOG << 8 | NFULNL_MSG_CONFIG;
	nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
	nfg->version = NFNETLINK_V0;
	nfg->res_id = htons(group);
	mnl_attr_put(nlh, NFULA_CFG_CMD, sizeof(command), &command);
	mnl_attr_put(nlh, NFULA_CFG_MODE, sizeof(whole), &whole);
	/* Each at once, not a hundred together or after a second. */
	mnl_attr_put_u32(nlh, NFULA_CFG_QTHRESH, htonl(1));
	return mnl_socket_sendto(w->log, nlh, nlh->nlmsg_len) < 0 ? -errno : read_acknowledgement(w);
}

static int open_log(struct toobig_watch *w)
{
	int size = SOCKET_BUFFER, r;

	w->log = mnl_socket_open2(NETLINK_NETFILTER, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (!w->log || mnl_socket_bind(w->log, 0, MNL_SOCKET_AUTOPID) < 0)
		return -errno;
	(void)setsockopt(toobig_watch_fd(w), SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
	r = bind_group(w, TOOBIG_GROUP_ANSWER);
	return r < 0 ? r : bind_group(w, TOOBIG_GROUP_FRAGMENT);
}

/* For sending only: of protocol 0 nothing is received. Fragments are spread over the lines as the rest is. */
static int open_frames(struct toobig_watch *w)
{
	int mark = FAIRWAY_SPREAD_MARK;

	w->frames = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (w->frames < 0 || setsockopt(w->frames, SOL_SOCKET, SO_MARK, &mark, sizeof(mark)) < 0)
		return -errno;
	return 0;
}

/* For sending only too: their filters let nothing in. */
static int open_icmp(struct toobig_watch *w)
{
	struct icmp_filter none4 = {.data = UINT32_MAX};
	struct icmp6_filter none6;

	ICMP6_FILTER_SETBLOCKALL(&none6);
	w->icmp = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_ICMP);
	if (w->icmp < 0 || setsockopt(w->icmp, SOL_RAW, ICMP_FILTER, &none4, sizeof(none4)) < 0)
		return -errno;
	w->icmpv6 = socket(AF_INET6, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_ICMPV6);
	/* A kernel without IPv6 has no packets of it either. */
	if (w->icmpv6 < 0)
		return errno == EAFNOSUPPORT ? 0 : -errno;
	return setsockopt(w->icmpv6, IPPROTO_ICMPV6, ICMP6_FILTER, &none6, sizeof(none6)) < 0 ? -errno : 0;
}

int toobig_watch_open(struct toobig_watch **ret)
{
	struct toobig_watch *w = calloc(1, sizeof(*w));
	int r;

	if (!w)
		abort();
	w->frames = w->icmp = w->icmpv6 = -1;
	w->out.emit = emit;
	w->out.arg = w;
	r = open_frames(w);
	if (r == 0)
		r = open_icmp(w);
	if (r == 0)
		r = rtsock_open(&w->links);
	if (r == 0)
		r = open_log(w);
	if (r < 0) {
		toobig_watch_close(w);
		return r;
	}
	*ret = w;
	return 0;
}

void toobig_watch_close(struct toobig_watch *w)
{
	if (!w)
		return;
	if (w->log)
		(void)mnl_socket_close(w->log);
	closep(&w->frames);
	closep(&w->icmp);
	closep(&w->icmpv6);
	rtsock_close(w->links);
	free(w);
}

int toobig_watch_fd(const struct toobig_watch *w)
{
	return mnl_socket_get_fd(w->log);
}

const struct toobig_counts *toobig_watch_counts(const struct toobig_watch *w)
{
	return &w->counts;
}

int toobig_watch_read(struct toobig_watch *w)
{
	for (int i = 0; i < ENTRIES_PER_READ; i++) {
		const struct nlmsghdr *nlh = (const struct nlmsghdr *)w->room;
		ssize_t n = mnl_socket_recvfrom(w->log, w->room, sizeof(w->room));
		int len = (int)n;

		if (n == 0 || (n < 0 && errno == EAGAIN))
			return 0;
		if (n < 0 && errno == ENOBUFS)
			w->counts.overruns++;
		else if (n < 0 && errno != EINTR)
			return -errno;
		for (; n > 0 && mnl_nlmsg_ok(nlh, len); nlh = mnl_nlmsg_next(nlh, &len))
			handle(w, nlh);
	}
	return 0;
}
