/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The messages that make, change and delete one object. Pure: names are resolved to ifindexes by the caller. Each
 * fills a message that rtsock_begin() gave, with the type and flags that are said beside it.
 */
#pragma once

#include <stdint.h>

struct fdb;
struct if_addr;
struct ip_route;
struct link;
struct nl_msg;

/* RTM_NEWLINK, create: what must be there from the first moment on: kind, name, ifindex, group, MAC, MTU, master. */
void build_link_create(struct nl_msg *msg, const struct link *l, unsigned attrs, uint32_t ifindex, uint32_t master);
/* RTM_NEWLINK on an existing link: attrs of LA_MTU, LA_MAC, LA_ALIAS, LA_ADDRGEN, LA_MASTER, LA_PORT,
 * LA_PORT_STATE. */
void build_link_set(struct nl_msg *msg, const struct link *l, unsigned attrs, uint32_t ifindex, uint32_t master);
/* RTM_NEWLINK on an existing link of its kind: what only this kind has. */
void build_link_kind(struct nl_msg *msg, const struct link *l, uint32_t ifindex);
/* RTM_NEWLINK on an existing link: IFF_UP. */
void build_link_up(struct nl_msg *msg, const struct link *l, uint32_t ifindex);
void build_link_group(struct nl_msg *msg, uint32_t ifindex, uint32_t group); /* RTM_NEWLINK on an existing link */
void build_group_delete(struct nl_msg *msg, uint32_t group);		     /* RTM_DELLINK: every link in it */
void build_link_delete(struct nl_msg *msg, uint32_t ifindex);		     /* RTM_DELLINK */

void build_addr(struct nl_msg *msg, const struct if_addr *a, uint32_t ifindex); /* RTM_NEWADDR, RTM_DELADDR */
void build_fdb(struct nl_msg *msg, const struct fdb *f, uint32_t ifindex);	/* RTM_NEWNEIGH, RTM_DELNEIGH */

/* RTM_NEWROUTE; ifindexes has one per next hop, 0 where the kernel is to find it. */
void build_route(struct nl_msg *msg, const struct ip_route *r, const uint32_t *ifindexes);
void build_route_delete(struct nl_msg *msg, const struct ip_route *r); /* RTM_DELROUTE */
