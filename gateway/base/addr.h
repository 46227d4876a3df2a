/* SPDX-License-Identifier: GPL-2.0-or-later */
/* IP addresses, prefixes and MAC addresses as plain values: parse, print, compare. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

struct ip_addr {
	uint8_t family;	   /* AF_INET, AF_INET6; AF_UNSPEC is "none" */
	uint8_t bytes[16]; /* network order; IPv4 in the first four, the rest zero */
};

struct ip_prefix {
	struct ip_addr addr; /* host bits kept: an interface address is a prefix whose host bits matter */
	uint8_t len;
};

struct mac_addr {
	uint8_t bytes[6];
};

enum { IP_STR_MAX = 64, MAC_STR_MAX = 18 };

/* Each parses the whole string and returns 0, or -EINVAL with *ret untouched. */
int ip_addr_parse(const char *s, struct ip_addr *ret);
int ip_prefix_parse(const char *s, struct ip_prefix *ret); /* needs "/len" */
int mac_addr_parse(const char *s, struct mac_addr *ret);   /* aa:bb:cc:dd:ee:ff */

/* Each prints into buf (IP_STR_MAX or MAC_STR_MAX bytes) and returns buf; RFC 5952 form for IPv6. */
const char *ip_addr_str(const struct ip_addr *a, char *buf);
const char *ip_prefix_str(const struct ip_prefix *p, char *buf);
const char *mac_addr_str(const struct mac_addr *m, char *buf);

/* Total orders, family first: negative, 0, positive. */
int ip_addr_cmp(const struct ip_addr *a, const struct ip_addr *b);
int ip_prefix_cmp(const struct ip_prefix *a, const struct ip_prefix *b);
int mac_addr_cmp(const struct mac_addr *a, const struct mac_addr *b);

static inline bool ip_addr_is_set(const struct ip_addr *a)
{
	return a->family != AF_UNSPEC;
}
static inline bool ip_addr_is_ipv6(const struct ip_addr *a)
{
	return a->family == AF_INET6;
}
static inline size_t ip_addr_len(const struct ip_addr *a)
{
	return a->family == AF_INET6 ? 16 : 4;
}

/* Can a host own it? Not unspecified, loopback, multicast, broadcast, IPv4-mapped or class E. */
bool ip_addr_is_unicast_host(const struct ip_addr *a);
bool ip_addr_is_link_local(const struct ip_addr *a);

/* The network of an interface address: host bits cleared. */
struct ip_prefix ip_prefix_network(const struct ip_prefix *p);
/* The one-address prefix of a: /32 or /128. */
struct ip_prefix ip_addr_host_prefix(const struct ip_addr *a);
bool ip_prefix_contains(const struct ip_prefix *p, const struct ip_addr *a);
bool ip_prefix_overlaps(const struct ip_prefix *a, const struct ip_prefix *b);
/* Is a the network address or the IPv4 broadcast address of p? Never for /31, /32, /127, /128. */
bool ip_prefix_is_edge(const struct ip_prefix *p, const struct ip_addr *a);

/* A locally administered unicast MAC that is the same for the same inputs, so that a device made again keeps its MAC.
 */
struct mac_addr mac_addr_derive(const char *seed, uint32_t number);
