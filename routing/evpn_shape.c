/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `show evpn`: the VNIs by the names of their segments and tenants; see show_shape.h. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "config/config.h"
#include "gateway/base/str.h"
#include "routing/json_get.h"
#include "routing/show_shape.h"

/* Whose VNI it is, as the config names it. */
static const char *owner_of(const struct config *cfg, uint32_t vni)
{
	for (size_t i = 0; i < cfg->segments.n; i++)
		if (cfg->segments.v[i].vni == vni)
			return cfg->segments.v[i].name;
	for (size_t i = 0; i < cfg->tenants.n; i++)
		if (cfg->tenants.v[i].l3_vni == vni)
			return cfg->tenants.v[i].name;
	return cfg->bgp && cfg->bgp->l3_vni == vni ? "bgp" : NULL;
}

static const char *remote_of(const struct config *cfg, const char *vtep)
{
	char text[IP_STR_MAX];

	for (size_t i = 0; i < cfg->remotes.n; i++)
		if (str_eq(ip_addr_str(&cfg->remotes.v[i].vtep, text), vtep))
			return cfg->remotes.v[i].name;
	return vtep;
}

/* A VNI's object in an answer of {"10010": {...}}. */
static json_t *vni_of(const json_t *answer, int64_t vni)
{
	char name[24];

	(void)snprintf(name, sizeof(name), "%lld", (long long)vni);
	return json_object_get(answer, name);
}

/* Remote far ends by the name of the remote where it has one: a flood list of names, or L3's routers' MACs. */
static json_t *vteps_json(const struct config *cfg, const json_t *vni)
{
	json_t *list = json_array();
	size_t i;
	const json_t *vtep;

	json_array_foreach(json_object_get(vni, "numRemoteVteps"), i, vtep)
	{
		if (json_is_string(vtep))
			json_array_append_new(list, json_string(remote_of(cfg, json_string_value(vtep))));
	}
	return list;
}

static json_t *count_by_type(const json_t *entries)
{
	size_t local = 0, remote = 0, duplicate = 0;
	const char *key;
	json_t *entry;

	json_object_foreach((json_t *)entries, key, entry)
	{
		local += str_eq(get_text(entry, "type"), "local");
		remote += str_eq(get_text(entry, "type"), "remote");
		duplicate += get_flag(entry, "isDuplicate");
	}
	return json_pack("{s:I, s:I, s:I}", "local", (json_int_t)local, "remote", (json_int_t)remote, "duplicate",
		(json_int_t)duplicate);
}

/* zebra has the neighbors of a VNI as members beside "numArpNd": only the entries have a type. */
static json_t *vni_json(const struct config *cfg, const json_t *vni, const struct evpn_answers *in)
{
	int64_t number = get_number(vni, "vni");
	char key[24];

	(void)snprintf(key, sizeof(key), "%" PRId64, number);
	return json_pack("{s:s?, s:I, s:s, s:s, s:o, s:o, s:o, s:O?}", "name", owner_of(cfg, (uint32_t)number), "vni",
		(json_int_t)number, "type", get_text(vni, "type"), "device", get_text(vni, "vxlanInterface"), "remotes",
		vteps_json(cfg, vni), "macs", count_by_type(json_object_get(vni_of(in->macs, number), "macs")),
		"neighbors", count_by_type(vni_of(in->neighbors, number)), "questions",
		json_object_get(in->suppression, key));
}

/* Prefixes are "[2]:..." by type, in an object per route distinguisher. */
static void count_routes(const json_t *routes, json_int_t types[6])
{
	const char *key, *prefix;
	json_t *rd, *route;

	json_object_foreach((json_t *)routes, key, rd)
	{
		json_object_foreach(rd, prefix, route)
		{
			if (prefix[0] == '[' && prefix[1] >= '1' && prefix[1] <= '5' && prefix[2] == ']')
				types[prefix[1] - '0']++;
		}
	}
}

static json_t *routes_json(const json_t *routes)
{
	json_int_t types[6] = {0};

	count_routes(routes, types);
	return json_pack("{s:I, s:I, s:I}", "mac-ip", types[2], "inclusive-multicast", types[3], "ip-prefix", types[5]);
}

/* Where each MAC behind a remote is. */
static void add_macs(const struct config *cfg, int64_t vni, const json_t *macs, json_t *list)
{
	const char *mac;
	json_t *entry;

	json_object_foreach((json_t *)macs, mac, entry)
	{
		bool remote = str_eq(get_text(entry, "type"), "remote");

		json_array_append_new(list,
			json_pack("{s:s?, s:s, s:s, s:s, s:I, s:b}", "segment", owner_of(cfg, (uint32_t)vni), "mac",
				mac, "type", get_text(entry, "type"), "at",
				remote ? remote_of(cfg, get_text(entry, "remoteVtep")) : get_text(entry, "intf"),
				"moves",
				(json_int_t)(get_number(entry, "localSequence") > get_number(entry, "remoteSequence")
						? get_number(entry, "localSequence")
						: get_number(entry, "remoteSequence")),
				"duplicate", get_flag(entry, "isDuplicate")));
	}
}

json_t *evpn_shape(const struct config *cfg, const struct evpn_answers *in)
{
	json_t *vnis = json_array(), *macs = json_array();
	size_t i;
	const json_t *vni;

	json_array_foreach(in->vnis, i, vni)
	{
		int64_t number = get_number(vni, "vni");

		json_array_append_new(vnis, vni_json(cfg, vni, in));
		add_macs(cfg, number, json_object_get(vni_of(in->macs, number), "macs"), macs);
	}
	return json_pack("{s:o, s:o, s:o}", "routes", routes_json(in->routes), "vnis", vnis, "macs", macs);
}
