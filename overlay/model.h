/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The overlay's part of the kernel as plain values: links, addresses, FDB entries, routes, sysctls. The same structs
 * say what is wanted (desired.c), what is there (netlink.c) and, in tests, what a fake kernel holds; a plan is the
 * merge walk of two.
 *
 * How we know our own: links by device group, addresses and routes by protocol number, FDB entries by not ageing,
 * on one of our VXLAN devices.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gateway/base/addr.h"

struct arena;

enum {
	FAIRWAY_LINK_GROUP = 4001, /* IFLA_GROUP: set in the message that makes the link, so a crash leaves no orphan */
	FAIRWAY_DOOMED_GROUP = 4002,	     /* ours, on the way to be deleted: see apply_delete.c */
	FAIRWAY_PROTO = 250,		     /* IFA_PROTO and rtm_protocol */
	FAIRWAY_IFINDEX_VXLAN = 0x10000000,  /* + VNI: our devices' ifindexes are known before they are made, */
	FAIRWAY_IFINDEX_BRIDGE = 0x20000000, /* so that one batch can make a device and refer to it */
	FAIRWAY_IFINDEX_VRF = 0x30000000,    /* + index of the tenant's table, modulo 2^24 */
};

/*
 * Metric of the route to a remote that BGP or BFD looks after: any other route goes before it, and it carries what they
 * leave. zebra takes the first byte of a kernel route's metric for its administrative distance, and one of 0 would win
 * over BGP (seen with FRR 8.4: BGP's route was not installed); 250 is beyond those of BGP, 20 and 200.
 */
static const uint32_t metric_floating = 0xfa0000c8;

/* Set on packets that are to be spread over several lines (spread_render.c), where nobody has set a mark yet. */
enum { FAIRWAY_SPREAD_MARK = 0x10000000 };

enum link_kind { LINK_OTHER, LINK_BRIDGE, LINK_VXLAN, LINK_VRF };

/* Which attributes of an attribute set are wanted: what is not ours to say (a host port's MAC) is left alone. */
enum {
	LA_UP = 1 << 0,
	LA_MTU = 1 << 1,
	LA_MASTER = 1 << 2,
	LA_MAC = 1 << 3,
	LA_ALIAS = 1 << 4,
	LA_ADDRGEN = 1 << 5,	 /* IPv6 link-local generation */
	LA_TX_CSUM = 1 << 6,	 /* ethtool tx checksum offload */
	LA_VXLAN = 1 << 7,	 /* the vxlan struct */
	LA_TABLE = 1 << 8,	 /* VRF */
	LA_MCAST_SNOOP = 1 << 9, /* bridge */
	LA_STP = 1 << 10,	 /* bridge */
	LA_AGEING = 1 << 11,	 /* bridge */
	LA_PORT = 1 << 12,	 /* port of a bridge: its flags */
	LA_NF_CALL = 1 << 14,	 /* bridge: its frames pass the inet hooks too, both families */
	LA_PORT_STATE = 1 << 13, /* observed: only where the kernel itself would have it forwarding */
};

enum { BRIDGE_AGEING = 30000 }; /* clock ticks: the kernel's default */

struct vxlan_attrs {
	uint32_t vni;
	struct ip_addr local;
	uint16_t port;
	uint8_t df;   /* enum df */
	uint16_t tos; /* 0..255, TOS_INHERIT */
	uint8_t ttl;
	bool learning;
};

struct link {
	char name[16];
	enum link_kind kind;
	uint32_t ifindex; /* wanted: fixed for our devices, 0 for others; observed: the kernel's */
	uint32_t group;	  /* observed */
	unsigned attrs;	  /* LA_*: wanted: which to make so; observed: all that were read */
	bool ours;	  /* wanted: we make and delete it; observed: it carries our group */
	bool up;	  /* IFF_UP */
	bool carrier;	  /* observed */
	uint32_t mtu;
	char master[16]; /* "" none */
	struct mac_addr mac;
	const char *alias;
	bool addrgen; /* true: EUI-64, false: none */
	bool tx_csum;
	bool mcast_snoop;
	bool stp;
	uint8_t nf_call; /* of how many families */
	uint32_t ageing;
	unsigned port_unusual; /* bits: rows of port_flags that are not as usual */
	bool forwarding;       /* port of a bridge */
	uint32_t table;
	struct vxlan_attrs vxlan;
	const char *object; /* wanted: "segment gpu", "line ali-a" */
};

struct if_addr {
	char link[16];
	struct ip_prefix addr;
	bool nodad;    /* wanted: no duplicate address detection: usable at once */
	uint8_t proto; /* observed: FAIRWAY_PROTO if ours */
	const char *object;
};

/* mac all zero: a head-end replication entry, of which a device may have many; else exactly one per (link, mac). */
struct fdb {
	char link[16];
	struct mac_addr mac;
	struct ip_addr dst;
	const char *object;
};

struct nexthop {
	struct ip_addr via;
	char link[16];	/* "" : the kernel finds it (a gateway on link) */
	uint8_t weight; /* 1..255 */
};

enum { ROUTE_MAX_NEXTHOPS = 32 };

struct ip_route {
	uint32_t table; /* 254 main */
	struct ip_prefix dst;
	uint32_t metric;	  /* 0: the family's default (IPv6: 1024) */
	struct nexthop *nexthops; /* sorted by via, link; none: unreachable */
	size_t n_nexthops;
	uint32_t mtu;  /* 0: as the interfaces have it; else less, and the VXLAN driver tells senders accordingly */
	uint8_t proto; /* observed */
	const char *object;
};

struct sysctl {
	const char *key;   /* path below /proc/sys: "net/ipv4/ip_forward" */
	const char *value; /* observed: NULL where the kernel has no such key */
	bool optional;	   /* wanted: fine if the kernel has no such key */
};

/* Sorted by identity once sealed: link name; (link, addr); (link, mac, dst); (table, dst, metric); key. */
struct kernel_model {
	struct arena *arena;
	struct link *links;
	size_t n_links, cap_links;
	struct if_addr *addrs;
	size_t n_addrs, cap_addrs;
	struct fdb *fdbs;
	size_t n_fdbs, cap_fdbs;
	struct ip_route *routes;
	size_t n_routes, cap_routes;
	struct sysctl *sysctls;
	size_t n_sysctls, cap_sysctls;
};

/* Each gives a zeroed element to fill; pointers are stale after the next add of the kind. */
struct link *model_add_link(struct kernel_model *m, const char *name);
struct if_addr *model_add_addr(struct kernel_model *m);
struct fdb *model_add_fdb(struct kernel_model *m);
struct ip_route *model_add_route(struct kernel_model *m);
struct sysctl *model_add_sysctl(struct kernel_model *m, const char *key, const char *value);
void model_seal(struct kernel_model *m);

const struct link *model_link(const struct kernel_model *m, const char *name); /* sealed; NULL if none */

/* Identity (orders a sealed list) and equality of what is wanted, kept apart. */
int link_cmp(const struct link *a, const struct link *b);
int if_addr_cmp(const struct if_addr *a, const struct if_addr *b);
int fdb_cmp(const struct fdb *a, const struct fdb *b);
int ip_route_cmp(const struct ip_route *a, const struct ip_route *b);
int sysctl_cmp(const struct sysctl *a, const struct sysctl *b);
bool ip_route_same_nexthops(const struct ip_route *a, const struct ip_route *b);
