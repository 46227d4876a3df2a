/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Live state of the overlay as JSON, for `fairway show`. Edge, reads only. These shapes are stable: members are added,
 * not renamed. A name of the config without its object in the kernel has state "missing"; what is not known is null.
 *
 * "segments": [{"name", "vni", "mode": "bridged|routed", "state": "up|down|missing", "device", "bridge"?, "tenant"?,
 *     "mtu": {"device", "inner", "underlay"}, "mss": {"ipv4", "ipv6"}, "gateway": [prefix],
 *     "members": [{"name", "state"}], "remotes": [name], "fdb": {"static", "learned"},
 *     "counters": {"rx-packets", "rx-bytes", "rx-dropped", "rx-errors", "tx-packets", "tx-bytes", "tx-dropped",
 *         "tx-errors"}}]         of the VXLAN device: rx is from the remotes
 * "lines": [{"name", "interface", "state": "up|no-carrier|down|missing|disabled", "address": [prefix], "peer": [addr],
 *     "tier", "rate": bit/s, "mtu", "paths": [{"remote", "vtep", "mtu", "learned": bool}], "counters"}]
 * "mtu": [{"segment", "vni", "mode", "arithmetic", "device", "told", "udp-payload": {"ipv4", "ipv6"},
 *     "mss": {"ipv4", "ipv6"}, "clamp": {"to-remotes", "from-remotes"}}]     told: in frag-needed and packet-too-big
 * "overlay": {"vtep": {"address", "address6", "port", "state": "present|missing"},
 *     "devices": [{"name", "kind", "object", "ifindex", "state", "mtu", "master", "mac"}],
 *     "remotes": [{"name", "vtep", "mtu", "nexthops": [{"via", "interface", "weight"}]}]}   no next hop: on a line's
 *         own network, or unreachable
 */
#pragma once

#include <jansson.h>

struct config;
struct facts;

/* As struct subsystem's show. */
int overlay_show(const char *what, const struct config *cfg, const struct facts *facts, json_t **ret);
