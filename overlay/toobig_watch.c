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
#include <linux/if_packet.h>
#include <linux/netfilter/nfnetlink_log.h>
#include <linux/icmp.h>
#include <linux/rtnetlink.h>
#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "gateway/base/cleanup.h"
#include "gateway/base/str.h"
#include "overlay/model.h"
#include "overlay/msg_put.h"
#include "overlay/nflog.h"
#include "overlay/rtsock.h"
#include "overlay/toobig.h"

enum {
	ETHERNET = 14,
	MAC_ADDRESSES = 12,
};

struct toobig_watch {
	struct nflog *log;
	int frames;	  /* AF_PACKET, for sending only */
	int icmp, icmpv6; /* raw, for sending only */
	struct rtsock *links;
	struct toobig_counts counts;
	uint32_t device; /* of the fragments that are being sent */
	bool failed;	 /* one of them could not be */
	struct toobig_answer answer;
	struct toobig_out out;
	uint8_t frame[TOOBIG_FRAME_MAX];
};

/* --- what the kernel logs --- */

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
static size_t make_frame(const struct nflog_entry *e, uint8_t *frame)
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

static bool answer(struct toobig_watch *w, const struct nflog_entry *e, uint32_t mtu, size_t len)
{
	if (toobig_answer(w->frame, len, mtu, &w->answer) < 0)
		return false;
	return e->in ? send_frame(w, e->in, w->answer.frame, w->answer.len) : send_icmp(w, e->bridge_out);
}

static bool fragment(struct toobig_watch *w, const struct nflog_entry *e, uint32_t mtu, size_t len)
{
	w->device = e->out;
	w->failed = false;
	return toobig_fragment(w->frame, len, mtu, &w->out) == 0 && !w->failed;
}

/* The prefix is the MTU to tell. */
static void handle(const struct nflog_entry *e, void *arg)
{
	struct toobig_watch *w = arg;
	uint32_t mtu = (uint32_t)strtoul(e->prefix, NULL, 10);
	size_t len = make_frame(e, w->frame);

	if (len > 0 && e->group == TOOBIG_GROUP_ANSWER && answer(w, e, mtu, len))
		w->counts.answered++;
	else if (len > 0 && e->group == TOOBIG_GROUP_FRAGMENT && fragment(w, e, mtu, len))
		w->counts.fragmented++;
	else
		w->counts.ignored++;
}

/* --- the listener --- */

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
	static const uint16_t groups[] = {TOOBIG_GROUP_ANSWER, TOOBIG_GROUP_FRAGMENT};
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
		r = nflog_open(groups, ARRAY_SIZE(groups), UINT16_MAX, &w->log);
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
	nflog_close(w->log);
	closep(&w->frames);
	closep(&w->icmp);
	closep(&w->icmpv6);
	rtsock_close(w->links);
	free(w);
}

int toobig_watch_fd(const struct toobig_watch *w)
{
	return nflog_fd(w->log);
}

const struct toobig_counts *toobig_watch_counts(const struct toobig_watch *w)
{
	return &w->counts;
}

int toobig_watch_read(struct toobig_watch *w)
{
	return nflog_read(w->log, &(struct nflog_reader){handle, w}, &w->counts.overruns);
}
