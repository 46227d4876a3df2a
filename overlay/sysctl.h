/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sysctls that a gateway relies on, one row each: what is wanted (desired.c) and what is read (observe*.c) cannot
 * drift apart. Keys are paths below /proc/sys, as in struct sysctl.
 */
#pragma once

#include <linux/ip.h>	/* IPV4_DEVCONF_* */
#include <linux/ipv6.h> /* DEVCONF_* */

/*
 * X(key, value, optional): of the namespace as a whole; optional: not every kernel has it.
 *
 * ip_forward_use_pmtu: else a routed DF packet above a learned path MTU is lost without a word (facts: mtu).
 * hash policy 1: layer 4, so that the flows of one pair of vteps spread over the lines by their UDP source port.
 * ignore_routes_with_linkdown: a line without carrier leaves a multipath route at once.
 * all/rp_filter: the effective value is the larger of `all` and the interface's, so both have to say 0.
 * promote_secondaries: removing one address of a subnet must not take its others with it.
 * bridge-nf-call: bridged packets pass our bridge hooks only, not a second time the inet ones.
 */
#define SYSCTLS_GLOBAL(X)                                                                                              \
	X("net/bridge/bridge-nf-call-arptables", "0", true)                                                            \
	X("net/bridge/bridge-nf-call-ip6tables", "0", true)                                                            \
	X("net/bridge/bridge-nf-call-iptables", "0", true)                                                             \
	X("net/ipv4/conf/all/ignore_routes_with_linkdown", "1", false)                                                 \
	X("net/ipv4/conf/all/promote_secondaries", "1", false)                                                         \
	X("net/ipv4/conf/all/rp_filter", "0", false)                                                                   \
	X("net/ipv4/fib_multipath_hash_policy", "1", true)                                                             \
	X("net/ipv4/ip_forward", "1", false)                                                                           \
	X("net/ipv4/ip_forward_use_pmtu", "1", false)                                                                  \
	X("net/ipv6/conf/all/forwarding", "1", true)                                                                   \
	X("net/ipv6/conf/all/ignore_routes_with_linkdown", "1", true)                                                  \
	X("net/ipv6/fib_multipath_hash_policy", "1", true)

/*
 * The same, wanted only with an `audit`: what the record of flows (gateway/audit) is made from. Where there is none,
 * they are left as they are.
 *
 * acct, timestamp: bytes and packets of each flow, and when it began and ended; of flows that begin from then on.
 * events 1: by default a flow that begins while nobody listens (fairwayd starts again) never tells of its end.
 */
#define SYSCTLS_AUDIT(X)                                                                                               \
	X("net/netfilter/nf_conntrack_acct", "1", true)                                                                \
	X("net/netfilter/nf_conntrack_events", "1", true)                                                              \
	X("net/netfilter/nf_conntrack_timestamp", "1", true)

/*
 * X(family, name, index, value): of each line's interface; the key is "net/FAMILY/conf/INTERFACE/NAME". Observed for
 * every interface that is not ours, from the link dump itself: index is its place in IFLA_INET_CONF (1-based) or
 * IFLA_INET6_CONF (0-based), so no file is opened.
 *
 * rp_filter 0: with several lines the answer may come over another one, and the look-up costs each packet. What may
 * come from a line is for the guard to say, and later for the policy.
 */
#define SYSCTLS_LINE_IPV4(X)                                                                                           \
	X("ipv4", "accept_redirects", IPV4_DEVCONF_ACCEPT_REDIRECTS, "0")                                              \
	X("ipv4", "rp_filter", IPV4_DEVCONF_RP_FILTER, "0")                                                            \
	X("ipv4", "send_redirects", IPV4_DEVCONF_SEND_REDIRECTS, "0")
#define SYSCTLS_LINE_IPV6(X) X("ipv6", "accept_redirects", DEVCONF_ACCEPT_REDIRECTS, "0")
