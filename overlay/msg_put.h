/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Attributes into a message. A message has room for all that we ever put there (rtsock_begin), so these cannot fail; if
 * one does, that is our bug and we stop.
 */
#pragma once

#include <netlink/attr.h>
#include <netlink/msg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "gateway/base/addr.h"

static inline void msg_put(struct nl_msg *msg, int type, const void *data, size_t len)
{
	if (nla_put(msg, type, (int)len, data) < 0)
		abort();
}
static inline void msg_put_u8(struct nl_msg *msg, int type, uint8_t value)
{
	msg_put(msg, type, &value, sizeof(value));
}
static inline void msg_put_u16(struct nl_msg *msg, int type, uint16_t value)
{
	msg_put(msg, type, &value, sizeof(value));
}
static inline void msg_put_u32(struct nl_msg *msg, int type, uint32_t value)
{
	msg_put(msg, type, &value, sizeof(value));
}
static inline void msg_put_str(struct nl_msg *msg, int type, const char *s)
{
	msg_put(msg, type, s, strlen(s) + 1);
}
static inline void msg_put_addr(struct nl_msg *msg, int type, const struct ip_addr *a)
{
	msg_put(msg, type, a->bytes, ip_addr_len(a));
}
static inline struct nlattr *msg_nest(struct nl_msg *msg, int type)
{
	struct nlattr *nest = nla_nest_start(msg, type);

	if (!nest)
		abort();
	return nest;
}
/* The family's fixed header, in front of the attributes. */
static inline void msg_header(struct nl_msg *msg, const void *header, size_t len)
{
	if (nlmsg_append(msg, (void *)(uintptr_t)header, len, NLMSG_ALIGNTO) < 0)
		abort();
}
