/* SPDX-License-Identifier: GPL-2.0-or-later */
/* FRR's JSON as routes and MACs of the kernel; see zebra_parse.h. */
#include "routing/zebra_parse.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>

#include "gateway/base/arena.h"
#include "gateway/base/str.h"
#include "routing/json_get.h"

/* --- documents --- */

json_t *frr_documents(const char *text, size_t len)
{
	json_t *list = json_array();

	for (;;) {
		json_error_t error;
		json_t *document;

		while (len > 0 && strchr(" \t\r\n", *text)) {
			text++;
			len--;
		}
		if (len == 0)
			return list;
		document = json_loadb(text, len, JSON_DISABLE_EOF_CHECK, &error);
		if (!document || error.position <= 0 || (size_t)error.position > len) {
			json_decref(document);
			json_decref(list);
			return NULL;
		}
		json_array_append_new(list, document);
		text += error.position;
		len -= (size_t)error.position;
	}
}

/* --- routes --- */

enum { MAX_NESTING = 4 }; /* documents, VRFs, prefixes */

static void walk(const json_t *node, unsigned depth, void (*fn)(const json_t *entry, void *arg), void *arg)
{
	const char *key;
	json_t *child;
	size_t i;

	if (depth > MAX_NESTING)
		return;
	json_array_foreach(node, i, child)
	{
		if (json_object_get(child, "protocol"))
			fn(child, arg);
		else
			walk(child, depth + 1, fn, arg);
	}
	json_object_foreach((json_t *)node, key, child)
	{
		walk(child, depth + 1, fn, arg);
	}
}

void zebra_walk_routes(const json_t *answer, void (*fn)(const json_t *entry, void *arg), void *arg)
{
	walk(answer, 0, fn, arg);
}

/* zebra gives an IPv4 route through an IPv6 router this gateway, whose neighbor entry it makes itself. */
static const struct ip_addr ipv4_of_ipv6 = {.family = AF_INET, .bytes = {169, 254, 0, 1}};

struct hop {
	struct nexthop nexthop;
	uint32_t ifindex;
};

static int hop_cmp(const void *a, const void *b)
{
	const struct hop *x = a, *y = b;
	int c = ip_addr_cmp(&x->nexthop.via, &y->nexthop.via);

	return c ? c : strcmp(x->nexthop.link, y->nexthop.link);
}

/* 1: one that forwards; 0: one that does not; -1: none that we understand. */
static int parse_hop(const json_t *json, uint8_t family, struct hop *ret, bool *ret_onlink)
{
	const char *via = get_text(json, "ip"), *link = get_text(json, "interfaceName");
	int64_t weight = get_number(json, "weight"), ifindex = get_number(json, "interfaceIndex");

	if (!get_flag(json, "fib") || !get_flag(json, "active") || get_flag(json, "recursive"))
		return 0;
	*ret = (struct hop){.nexthop.weight = (uint8_t)(weight < 1 ? 1 : weight > 255 ? 255 : weight)};
	if (get_flag(json, "blackhole") || get_flag(json, "unreachable") || ifindex <= 0 || ifindex > INT32_MAX ||
		strlen(link) >= sizeof(ret->nexthop.link))
		return -1;
	memcpy(ret->nexthop.link, link, strlen(link));
	ret->ifindex = (uint32_t)ifindex;
	if (*via && ip_addr_parse(via, &ret->nexthop.via) < 0)
		return -1;
	*ret_onlink |= get_flag(json, "onLink");
	if (family == AF_INET && ip_addr_is_ipv6(&ret->nexthop.via)) {
		ret->nexthop.via = ipv4_of_ipv6;
		*ret_onlink = true;
	}
	return family == AF_INET6 && ret->nexthop.via.family == AF_INET ? -1 : 1;
}

static bool parse_hops(
	const json_t *list, uint8_t family, struct hop hops[ROUTE_MAX_NEXTHOPS], size_t *ret_n, bool *ret_onlink)
{
	size_t i, n = 0;
	const json_t *json;

	json_array_foreach(list, i, json)
	{
		struct hop hop;
		int r = parse_hop(json, family, &hop, ret_onlink);

		if (r < 0 || (r > 0 && n == ROUTE_MAX_NEXTHOPS))
			return false;
		if (r > 0)
			hops[n++] = hop;
	}
	qsort(hops, n, sizeof(*hops), hop_cmp);
	if (n == 1)
		hops[0].nexthop.weight = 1; /* the kernel keeps none for a single one */
	*ret_n = n;
	return n > 0;
}

bool zebra_route(
	const json_t *entry, struct arena *arena, struct ip_route *ret, uint32_t **ret_indexes, bool *ret_onlink)
{
	struct hop hops[ROUTE_MAX_NEXTHOPS] = {0};
	int64_t table = get_number(entry, "table");
	struct ip_route route = {.metric = ZEBRA_METRIC, .proto = RTPROT_BGP, .object = "bgp"};
	bool onlink = false;
	size_t n;

	if (ip_prefix_parse(get_text(entry, "prefix"), &route.dst) < 0 || table <= 0 || table > UINT32_MAX ||
		!parse_hops(json_object_get(entry, "nexthops"), route.dst.addr.family, hops, &n, &onlink))
		return false;
	route.table = (uint32_t)table;
	route.n_nexthops = n;
	route.nexthops = arena_array(arena, n, sizeof(*route.nexthops));
	for (size_t i = 0; i < n; i++)
		route.nexthops[i] = hops[i].nexthop;
	if (ret_indexes) {
		*ret_indexes = arena_array(arena, n, sizeof(**ret_indexes));
		for (size_t i = 0; i < n; i++)
			(*ret_indexes)[i] = hops[i].ifindex;
	}
	*ret_onlink = onlink;
	*ret = route;
	return true;
}

/* --- MACs --- */

int evpn_mac_cmp(const void *a, const void *b)
{
	const struct evpn_mac *x = a, *y = b;
	int c = cmp_u32(x->vni, y->vni);

	if (!c)
		c = mac_addr_cmp(&x->mac, &y->mac);
	return c ? c : ip_addr_cmp(&x->vtep, &y->vtep);
}

static void add_mac(struct evpn_macs *macs, const struct evpn_mac *mac)
{
	macs->v = arena_grow(macs->arena, macs->v, macs->n, &macs->cap, sizeof(*macs->v));
	macs->v[macs->n++] = *mac;
}

static bool vni_of(uint64_t n, uint32_t *ret)
{
	if (n == 0 || n > 0xffffff)
		return false;
	*ret = (uint32_t)n;
	return true;
}

static bool vni_key(const char *key, uint32_t *ret)
{
	uint64_t n;

	return str_to_u64(key, &n) == 0 && vni_of(n, ret);
}

/* Both answers come as one document, or as a list of them. */
static void each_object(const json_t *node, void (*fn)(const json_t *object, struct evpn_macs *macs),
	struct evpn_macs *macs, unsigned depth)
{
	size_t i;
	const json_t *child;

	if (json_is_object(node))
		fn(node, macs);
	json_array_foreach(node, i, child)
	{
		if (depth < MAX_NESTING)
			each_object(child, fn, macs, depth + 1);
	}
}

static void flood_of_vni(const json_t *vni, struct evpn_macs *macs)
{
	struct evpn_mac mac = {0};
	size_t i;
	const json_t *vtep;

	if (!str_eq(get_text(vni, "type"), "L2") || !vni_of((uint64_t)get_number(vni, "vni"), &mac.vni))
		return;
	macs->l2_vnis =
		arena_grow(macs->arena, macs->l2_vnis, macs->n_l2_vnis, &macs->cap_l2_vnis, sizeof(*macs->l2_vnis));
	macs->l2_vnis[macs->n_l2_vnis++] = mac.vni;
	json_array_foreach(json_object_get(vni, "numRemoteVteps"), i, vtep)
	{
		if (json_is_string(vtep) && ip_addr_parse(json_string_value(vtep), &mac.vtep) == 0)
			add_mac(macs, &mac);
	}
}

void zebra_flood(const json_t *answer, struct evpn_macs *macs)
{
	each_object(answer, flood_of_vni, macs, 0);
}

static void macs_of_vnis(const json_t *vnis, struct evpn_macs *macs)
{
	const char *key, *address;
	json_t *vni, *entry;

	json_object_foreach((json_t *)vnis, key, vni)
	{
		struct evpn_mac mac = {0};

		if (!vni_key(key, &mac.vni))
			continue;
		json_object_foreach(json_object_get(vni, "macs"), address, entry)
		{
			mac.disputed = get_flag(entry, "isDuplicate");
			if (str_eq(get_text(entry, "type"), "remote") && mac_addr_parse(address, &mac.mac) == 0 &&
				ip_addr_parse(get_text(entry, "remoteVtep"), &mac.vtep) == 0)
				add_mac(macs, &mac);
		}
	}
}

void zebra_macs(const json_t *answer, struct evpn_macs *macs)
{
	each_object(answer, macs_of_vnis, macs, 0);
}

/* The next hop of the best path, which bgpd puts in a list of lists. */
static bool best_vtep(const json_t *paths, struct ip_addr *ret, const char **ret_mac, unsigned depth)
{
	size_t i;
	const json_t *path;

	json_array_foreach(paths, i, path)
	{
		const json_t *nexthop = json_array_get(json_object_get(path, "nexthops"), 0);

		if (json_is_array(path) && depth < MAX_NESTING && best_vtep(path, ret, ret_mac, depth + 1))
			return true;
		if (!get_flag(path, "bestpath") || !get_flag(path, "valid"))
			continue;
		*ret_mac = get_text(path, "mac");
		/* Ours: zebra has it as a local one. */
		return !str_eq(get_text(path, "peerId"), "(unspec)") &&
			ip_addr_parse(get_text(nexthop, "ip"), ret) == 0;
	}
	return false;
}

static struct evpn_mac *find_mac(const struct evpn_macs *macs, uint32_t vni, const struct mac_addr *mac)
{
	struct evpn_mac wanted = {.vni = vni, .mac = *mac};
	size_t low = 0, high = macs->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (evpn_mac_cmp(&macs->v[middle], &wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low < macs->n && macs->v[low].vni == vni && mac_addr_cmp(&macs->v[low].mac, mac) == 0 ? &macs->v[low]
												     : NULL;
}

/* bgpd's choice counts; two routes of one MAC (with and without an IP address) that differ are on their way. */
static void judge(const struct evpn_macs *macs, bool *seen, uint32_t vni, const json_t *route)
{
	const char *address = "";
	struct evpn_mac *known;
	struct mac_addr mac;
	struct ip_addr vtep;

	if (!best_vtep(json_object_get(route, "paths"), &vtep, &address, 0) || mac_addr_parse(address, &mac) < 0)
		return;
	known = find_mac(macs, vni, &mac);
	if (!known)
		return;
	if (seen[known - macs->v] && ip_addr_cmp(&known->vtep, &vtep) != 0)
		known->disputed = true;
	seen[known - macs->v] = true;
	known->vtep = vtep;
}

static void judge_all(const json_t *best, const struct evpn_macs *macs, bool *seen)
{
	const char *key, *prefix;
	json_t *vni, *route;

	json_object_foreach((json_t *)best, key, vni)
	{
		uint32_t number;

		if (!vni_key(key, &number))
			continue;
		json_object_foreach(vni, prefix, route)
		{
			if (str_starts(prefix, "[2]"))
				judge(macs, seen, number, route);
		}
	}
}

void evpn_macs_seal(struct evpn_macs *macs, const json_t *best)
{
	bool *seen = arena_array(macs->arena, macs->n + 1, sizeof(*seen));
	size_t i, n = 0;
	const json_t *document;

	if (macs->n > 1)
		qsort(macs->v, macs->n, sizeof(*macs->v), evpn_mac_cmp);
	for (i = 0; i < macs->n; i++)
		if (n == 0 || evpn_mac_cmp(&macs->v[n - 1], &macs->v[i]) != 0)
			macs->v[n++] = macs->v[i];
	macs->n = n;
	if (json_is_object(best))
		judge_all(best, macs, seen);
	json_array_foreach(best, i, document)
	{
		judge_all(document, macs, seen);
	}
}
