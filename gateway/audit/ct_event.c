/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See ct_event.h. An attribute that is not known is passed over; one that is known and of another length is an error.
 */
#include "gateway/audit/ct_event.h"

#include <errno.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "gateway/audit/nlattrs.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "nlattrs.h swaps");

static bool take_addr(const struct nlattr_view *a, size_t len, uint8_t to[16])
{
	if (a->len != len)
		return false;
	memcpy(to, a->data, len);
	return true;
}

static bool take_addrs(struct nlattrs w, struct ct_tuple *t)
{
	struct nlattr_view a;
	bool good = true;

	while (good && nlattrs_next(&w, &a)) {
		switch (a.type) {
		case CTA_IP_V4_SRC:
			good = t->family == AF_INET && take_addr(&a, 4, t->src);
			break;
		case CTA_IP_V4_DST:
			good = t->family == AF_INET && take_addr(&a, 4, t->dst);
			break;
		case CTA_IP_V6_SRC:
			good = t->family == AF_INET6 && take_addr(&a, 16, t->src);
			break;
		case CTA_IP_V6_DST:
			good = t->family == AF_INET6 && take_addr(&a, 16, t->dst);
			break;
		default:
			break;
		}
	}
	return good && !w.bad;
}

static bool take_ports(struct nlattrs w, struct ct_tuple *t)
{
	uint8_t type = 0, code = 0;
	struct nlattr_view a;
	bool good = true, icmp = false;

	while (good && nlattrs_next(&w, &a)) {
		switch (a.type) {
		case CTA_PROTO_NUM:
			good = nlattr_u8(&a, &t->proto);
			break;
		case CTA_PROTO_SRC_PORT:
			good = nlattr_be16(&a, &t->sport);
			break;
		case CTA_PROTO_DST_PORT:
			good = nlattr_be16(&a, &t->dport);
			break;
		case CTA_PROTO_ICMP_ID:
		case CTA_PROTO_ICMPV6_ID:
			good = nlattr_be16(&a, &t->sport);
			icmp = true;
			break;
		case CTA_PROTO_ICMP_TYPE:
		case CTA_PROTO_ICMPV6_TYPE:
			good = nlattr_u8(&a, &type);
			break;
		case CTA_PROTO_ICMP_CODE:
		case CTA_PROTO_ICMPV6_CODE:
			good = nlattr_u8(&a, &code);
			break;
		default:
			break;
		}
	}
	if (icmp)
		t->dport = (uint16_t)(type << 8 | code);
	return good && !w.bad;
}

static bool take_tuple(struct nlattrs w, uint8_t family, struct ct_tuple *t)
{
	struct nlattr_view a;
	bool addrs = false, ports = false;

	t->family = family;
	while (nlattrs_next(&w, &a)) {
		if (a.type == CTA_TUPLE_IP && !(addrs = take_addrs(nlattrs_of(&a), t)))
			return false;
		if (a.type == CTA_TUPLE_PROTO && !(ports = take_ports(nlattrs_of(&a), t)))
			return false;
	}
	return addrs && ports && !w.bad;
}

static bool take_counters(struct nlattrs w, unsigned direction, struct ct_event *e)
{
	struct nlattr_view a;
	bool good = true;

	while (good && nlattrs_next(&w, &a)) {
		if (a.type == CTA_COUNTERS_PACKETS)
			good = nlattr_be64(&a, &e->packets[direction]);
		else if (a.type == CTA_COUNTERS_BYTES)
			good = nlattr_be64(&a, &e->bytes[direction]);
	}
	e->has_counters = true;
	return good && !w.bad;
}

static bool take_times(struct nlattrs w, struct ct_event *e)
{
	struct nlattr_view a;
	bool good = true;

	while (good && nlattrs_next(&w, &a)) {
		if (a.type == CTA_TIMESTAMP_START)
			good = nlattr_be64(&a, &e->start_ns);
		else if (a.type == CTA_TIMESTAMP_STOP)
			good = nlattr_be64(&a, &e->stop_ns);
	}
	return good && !w.bad;
}

static bool take_label(const struct nlattr_view *a, struct ct_event *e)
{
	if (a->len > CT_LABEL_LEN)
		return false;
	memcpy(e->label, a->data, a->len);
	e->has_label = true;
	return true;
}

/* What a flow has beside its two tuples. */
static bool take_attr(const struct nlattr_view *a, struct ct_event *e)
{
	switch (a->type) {
	case CTA_ID:
		return nlattr_be32(a, &e->id);
	case CTA_MARK:
		return nlattr_be32(a, &e->mark);
	case CTA_STATUS:
		return nlattr_be32(a, &e->status);
	case CTA_ZONE:
		return nlattr_be16(a, &e->zone);
	case CTA_COUNTERS_ORIG:
		return take_counters(nlattrs_of(a), 0, e);
	case CTA_COUNTERS_REPLY:
		return take_counters(nlattrs_of(a), 1, e);
	case CTA_TIMESTAMP:
		return take_times(nlattrs_of(a), e);
	case CTA_LABELS:
		return take_label(a, e);
	default:
		return true;
	}
}

static int take_flow(struct nlattrs w, uint8_t family, struct ct_event *e)
{
	bool orig = false, reply = false;
	struct nlattr_view a;

	while (nlattrs_next(&w, &a)) {
		if (a.type == CTA_TUPLE_ORIG && !(orig = take_tuple(nlattrs_of(&a), family, &e->orig)))
			return -EBADMSG;
		if (a.type == CTA_TUPLE_REPLY && !(reply = take_tuple(nlattrs_of(&a), family, &e->reply)))
			return -EBADMSG;
		if (!take_attr(&a, e))
			return -EBADMSG;
	}
	return orig && reply && !w.bad ? 0 : -EBADMSG;
}

/* A dump's entries have the type of new flows, and no flag that says so. */
static int kind_of(const struct nlmsghdr *h, enum ct_kind *ret)
{
	switch (h->nlmsg_type) {
	case NFNL_SUBSYS_CTNETLINK << 8 | IPCTNL_MSG_CT_NEW:
		*ret = h->nlmsg_flags & NLM_F_MULTI || h->nlmsg_flags & (NLM_F_CREATE | NLM_F_EXCL) ? CT_NEW
												    : CT_UPDATE;
		return 0;
	case NFNL_SUBSYS_CTNETLINK << 8 | IPCTNL_MSG_CT_DELETE:
		*ret = CT_END;
		return 0;
	default:
		return -ENOMSG;
	}
}

int ct_event_parse(const void *message, size_t len, struct ct_event *ret)
{
	const uint8_t *bytes = message;
	const size_t start = NLMSG_HDRLEN + NLMSG_ALIGN(sizeof(struct nfgenmsg));
	struct nfgenmsg nfg;
	struct nlmsghdr h;
	int r;

	if (len < NLMSG_HDRLEN)
		return -EBADMSG;
	memcpy(&h, bytes, sizeof(h));
	memset(ret, 0, sizeof(*ret));
	r = kind_of(&h, &ret->kind);
	if (r < 0)
		return r;
	if (h.nlmsg_len < start || h.nlmsg_len > len)
		return -EBADMSG;
	memcpy(&nfg, bytes + NLMSG_HDRLEN, sizeof(nfg));
	if (nfg.nfgen_family != AF_INET && nfg.nfgen_family != AF_INET6)
		return -ENOMSG;
	return take_flow((struct nlattrs){.p = bytes + start, .left = h.nlmsg_len - start}, nfg.nfgen_family, ret);
}

bool ct_tuple_eq(const struct ct_tuple *a, const struct ct_tuple *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

bool ct_tuple_is_reverse(const struct ct_tuple *a, const struct ct_tuple *b)
{
	bool icmp = a->proto == IPPROTO_ICMP || a->proto == IPPROTO_ICMPV6;

	return memcmp(a->src, b->dst, 16) == 0 && memcmp(a->dst, b->src, 16) == 0 &&
		(icmp || (a->sport == b->dport && a->dport == b->sport));
}
