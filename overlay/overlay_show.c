/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The config's objects beside what the kernel has for them; shapes in overlay_show.h. */
#include "overlay/overlay_show.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "config/config.h"
#include "config/schema.h"
#include "gateway/base/buf.h"
#include "gateway/base/cleanup.h"
#include "gateway/base/str.h"
#include "gateway/engine/facts.h"
#include "overlay/model.h"
#include "overlay/mtu.h"
#include "overlay/observe.h"
#include "overlay/observe_parse.h"
#include "overlay/overlay.h"

enum { TABLE_MAIN = 254, IPV4_UDP_HEADERS = 20 + 8, IPV6_UDP_HEADERS = 40 + 8 };

struct view {
	const struct config *cfg;
	const struct facts *facts;
	const struct observation *now;
};

/* --- values --- */

static const char *enum_word(const char *name, int value)
{
	return schema_words(name)->v[value].word;
}

static json_t *number_or_null(uint64_t n)
{
	return n ? json_integer((json_int_t)n) : json_null();
}

static json_t *addr_json(const struct ip_addr *a)
{
	char text[IP_STR_MAX];

	return ip_addr_is_set(a) ? json_string(ip_addr_str(a, text)) : json_null();
}

static json_t *prefix_json(const struct ip_prefix *p)
{
	char text[IP_STR_MAX];

	return json_string(ip_prefix_str(p, text));
}

static json_t *pair_json(uint32_t ipv4, uint32_t ipv6)
{
	return json_pack("{s:o, s:o}", "ipv4", number_or_null(ipv4), "ipv6", number_or_null(ipv6));
}

static json_t *counters_json(const struct link_note *n)
{
	static const struct link_note none;

	n = n ? n : &none;
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "rx-packets", (json_int_t)n->rx_packets,
		"rx-bytes", (json_int_t)n->rx_bytes, "rx-dropped", (json_int_t)n->rx_dropped, "rx-errors",
		(json_int_t)n->rx_errors, "tx-packets", (json_int_t)n->tx_packets, "tx-bytes", (json_int_t)n->tx_bytes,
		"tx-dropped", (json_int_t)n->tx_dropped, "tx-errors", (json_int_t)n->tx_errors);
}

static const char *link_state(const struct link *l)
{
	return !l ? "missing" : !l->up ? "down" : !l->carrier ? "no-carrier" : "up";
}

/* --- segments --- */

static const char *device_state(const struct link *l)
{
	return !l ? "missing" : l->up ? "up" : "down";
}

/* The worse of the device and its bridge. */
static const char *segment_state(const struct link *device, const struct link *bridge, bool bridged)
{
	if (!device || (bridged && !bridge))
		return "missing";
	return device->up && (!bridged || bridge->up) ? "up" : "down";
}

static json_t *members_json(const struct view *v, const struct segment *seg)
{
	json_t *list = json_array();

	for (size_t i = 0; i < seg->members.n; i++) {
		const char *name = seg->members.v[i];

		json_array_append_new(list,
			json_pack("{s:s, s:s}", "name", name, "state", link_state(model_link(&v->now->model, name))));
	}
	return list;
}

static json_t *names_json(const char *const *names, size_t n)
{
	json_t *list = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, json_string(names[i]));
	return list;
}

static json_t *prefixes_json(const struct ip_prefix *v, size_t n)
{
	json_t *list = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, prefix_json(&v[i]));
	return list;
}

/* What the device really has, where it is there: the kernel's word, not the file's. */
static uint32_t device_mtu(const struct segment_mtu *m, const struct link *device)
{
	return device ? device->mtu : m->device;
}

static json_t *segment_json(const struct view *v, const struct segment *seg)
{
	bool bridged = seg->mode == MODE_BRIDGED;
	char device_name[16], bridge_name[16];
	const struct link *device, *bridge;
	const struct link_note *note;
	struct segment_mtu m;
	json_t *json;

	overlay_vxlan_name(seg->vni, device_name);
	overlay_bridge_name(seg->vni, bridge_name);
	device = model_link(&v->now->model, device_name);
	bridge = model_link(&v->now->model, bridge_name);
	note = observation_note(v->now, device_name);
	mtu_of_segment(v->cfg, v->facts, seg, &m);
	json = json_pack("{s:s, s:I, s:s, s:s, s:s}", "name", seg->name, "vni", (json_int_t)seg->vni, "mode",
		enum_word("segment_mode", seg->mode), "state", segment_state(device, bridge, bridged), "device",
		device_name);
	if (bridged)
		json_object_set_new(json, "bridge", json_string(bridge_name));
	if (seg->tenant)
		json_object_set_new(json, "tenant", json_string(seg->tenant));
	json_object_set_new(json, "mtu",
		json_pack("{s:I, s:I, s:I}", "device", (json_int_t)device_mtu(&m, device), "inner", (json_int_t)m.inner,
			"underlay", (json_int_t)m.underlay));
	json_object_set_new(json, "mss", pair_json(m.mss_ipv4, m.mss_ipv6));
	json_object_set_new(json, "gateway", prefixes_json(seg->gateway.v, seg->gateway.n));
	json_object_set_new(json, "members", members_json(v, seg));
	json_object_set_new(json, "remotes", names_json(seg->remotes.v, seg->remotes.n));
	json_object_set_new(json, "fdb",
		json_pack("{s:I, s:I}", "static", (json_int_t)(note ? note->n_permanent : 0), "learned",
			(json_int_t)(note ? note->n_learned : 0)));
	json_object_set_new(json, "counters", counters_json(note));
	return json;
}

static json_t *segments_json(const struct view *v)
{
	json_t *list = json_array();

	for (size_t i = 0; v->cfg && i < v->cfg->segments.n; i++)
		json_array_append_new(list, segment_json(v, &v->cfg->segments.v[i]));
	return list;
}

/* --- MTU --- */

static uint32_t udp_payload(uint32_t mtu, uint32_t headers)
{
	return mtu > headers ? mtu - headers : 0;
}

/* Both ways are the same by design, and shown so that nobody has to believe it. */
static json_t *clamp_json(const struct segment_mtu *m)
{
	struct buf text = {0};
	json_t *json;

	if (m->mss_ipv4)
		buf_printf(&text, "IPv4 to at most %u", m->mss_ipv4);
	if (m->mss_ipv6)
		buf_printf(&text, "%sIPv6 to at most %u", m->mss_ipv4 ? ", " : "", m->mss_ipv6);
	if (text.len == 0)
		buf_puts(&text, "leaves TCP alone");
	json = json_pack("{s:s, s:s}", "to-remotes", buf_str(&text), "from-remotes", buf_str(&text));
	buf_free(&text);
	return json;
}

static json_t *segment_mtu_json(const struct view *v, const struct segment *seg)
{
	char name[16], arithmetic[160];
	struct segment_mtu m;
	uint32_t device, told;

	overlay_vxlan_name(seg->vni, name);
	mtu_of_segment(v->cfg, v->facts, seg, &m);
	device = device_mtu(&m, model_link(&v->now->model, name));
	told = device < m.inner ? device : m.inner;
	return json_pack("{s:s, s:I, s:s, s:s, s:I, s:I, s:o, s:o, s:o}", "segment", seg->name, "vni",
		(json_int_t)seg->vni, "mode", enum_word("segment_mode", seg->mode), "arithmetic",
		mtu_arithmetic(&m.encap, m.underlay, arithmetic), "device", (json_int_t)device, "told",
		(json_int_t)told, "udp-payload",
		pair_json(udp_payload(told, IPV4_UDP_HEADERS), udp_payload(told, IPV6_UDP_HEADERS)), "mss",
		pair_json(m.mss_ipv4, m.mss_ipv6), "clamp", clamp_json(&m));
}

static json_t *mtu_json(const struct view *v)
{
	json_t *list = json_array();

	for (size_t i = 0; v->cfg && i < v->cfg->segments.n; i++)
		json_array_append_new(list, segment_mtu_json(v, &v->cfg->segments.v[i]));
	return list;
}

/* --- lines --- */

static bool remote_uses(const struct remote *remote, const char *line)
{
	for (size_t i = 0; i < remote->lines.n; i++)
		if (str_eq(remote->lines.v[i], line))
			return true;
	return false;
}

/* What each remote over the line can be sent whole: the line's MTU, or less where the file or ICMP says so. */
static json_t *paths_json(const struct view *v, const struct line *line)
{
	json_t *list = json_array();

	for (size_t i = 0; i < v->cfg->remotes.n; i++) {
		const struct remote *remote = &v->cfg->remotes.v[i];
		uint32_t learned = facts_path_mtu(v->facts, &remote->vtep, line->interface), mtu = line->mtu;

		if (!remote_uses(remote, line->name))
			continue;
		if (line->path_mtu && line->path_mtu < mtu)
			mtu = line->path_mtu;
		if (learned && learned < mtu)
			mtu = learned;
		json_array_append_new(list,
			json_pack("{s:s, s:o, s:I, s:b}", "remote", remote->name, "vtep", addr_json(&remote->vtep),
				"mtu", (json_int_t)mtu, "learned", mtu == learned));
	}
	return list;
}

static json_t *line_json(const struct view *v, const struct line *line)
{
	const struct link *l = model_link(&v->now->model, line->interface);
	json_t *addresses = json_array(), *peers = json_array();

	json_array_append_new(addresses, prefix_json(&line->address));
	json_array_append_new(peers, addr_json(&line->peer_address));
	if (ip_addr_is_set(&line->address6.addr))
		json_array_append_new(addresses, prefix_json(&line->address6));
	if (ip_addr_is_set(&line->peer_address6))
		json_array_append_new(peers, addr_json(&line->peer_address6));
	return json_pack("{s:s, s:s, s:s, s:o, s:o, s:s, s:o, s:I, s:o, s:o}", "name", line->name, "interface",
		line->interface, "state", line->enabled ? link_state(l) : "disabled", "address", addresses, "peer",
		peers, "tier", enum_word("tier", line->tier), "rate", number_or_null(line->rate), "mtu",
		(json_int_t)line->mtu, "paths", paths_json(v, line), "counters",
		counters_json(observation_note(v->now, line->interface)));
}

static json_t *lines_json(const struct view *v)
{
	json_t *list = json_array();

	for (size_t i = 0; v->cfg && i < v->cfg->lines.n; i++)
		json_array_append_new(list, line_json(v, &v->cfg->lines.v[i]));
	return list;
}

/* --- overlay --- */

static json_t *vtep_json(const struct view *v)
{
	const struct vtep *vtep = v->cfg ? v->cfg->vtep : NULL;
	bool present = false;

	if (!vtep)
		return json_null();
	for (size_t i = 0; i < v->now->model.n_addrs && !present; i++)
		present = ip_addr_cmp(&v->now->model.addrs[i].addr.addr, &vtep->address) == 0;
	return json_pack("{s:o, s:o, s:I, s:s}", "address", addr_json(&vtep->address), "address6",
		addr_json(&vtep->address6), "port", (json_int_t)vtep->port, "state", present ? "present" : "missing");
}

static json_t *device_json(const struct link *l)
{
	static const char *const kinds[] = {"other", "bridge", "vxlan", "vrf"};
	const char *object = l->alias && str_starts(l->alias, "fairway: ") ? l->alias + strlen("fairway: ") : l->alias;
	char mac[MAC_STR_MAX];

	return json_pack("{s:s, s:s, s:s?, s:I, s:s, s:I, s:s?, s:s}", "name", l->name, "kind", kinds[l->kind],
		"object", object && object[0] ? object : NULL, "ifindex", (json_int_t)l->ifindex, "state",
		device_state(l), "mtu", (json_int_t)l->mtu, "master", l->master[0] ? l->master : NULL, "mac",
		mac_addr_str(&l->mac, mac));
}

static json_t *devices_json(const struct view *v)
{
	json_t *list = json_array();

	for (size_t i = 0; i < v->now->model.n_links; i++)
		if (v->now->model.links[i].ours)
			json_array_append_new(list, device_json(&v->now->model.links[i]));
	return list;
}

/* The route that really is there, whoever made it. */
static const struct ip_route *route_to(const struct kernel_model *m, const struct ip_addr *vtep)
{
	const struct ip_prefix host = ip_addr_host_prefix(vtep);

	for (size_t i = 0; i < m->n_routes; i++)
		if (m->routes[i].table == TABLE_MAIN && ip_prefix_cmp(&m->routes[i].dst, &host) == 0)
			return &m->routes[i];
	return NULL;
}

static json_t *nexthops_json(const struct ip_route *r)
{
	json_t *list = json_array();

	for (size_t i = 0; r && i < r->n_nexthops; i++)
		json_array_append_new(list,
			json_pack("{s:o, s:s, s:i}", "via", addr_json(&r->nexthops[i].via), "interface",
				r->nexthops[i].link, "weight", r->nexthops[i].weight));
	return list;
}

static json_t *remotes_json(const struct view *v)
{
	json_t *list = json_array();

	for (size_t i = 0; v->cfg && i < v->cfg->remotes.n; i++) {
		const struct remote *r = &v->cfg->remotes.v[i];

		json_array_append_new(list,
			json_pack("{s:s, s:o, s:I, s:o}", "name", r->name, "vtep", addr_json(&r->vtep), "mtu",
				(json_int_t)mtu_of_remote(v->cfg, v->facts, r), "nexthops",
				nexthops_json(route_to(&v->now->model, &r->vtep))));
	}
	return list;
}

static json_t *overlay_json(const struct view *v)
{
	return json_pack(
		"{s:o, s:o, s:o}", "vtep", vtep_json(v), "devices", devices_json(v), "remotes", remotes_json(v));
}

int overlay_show(const char *what, const struct config *cfg, const struct facts *facts, json_t **ret)
{
	static const struct {
		const char *what;
		json_t *(*show)(const struct view *v);
	} shows[] = {{"lines", lines_json}, {"mtu", mtu_json}, {"overlay", overlay_json}, {"segments", segments_json}};
	_cleanup_(observation_freep) struct observation *now = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(shows); i++) {
		int r;

		if (!str_eq(shows[i].what, what))
			continue;
		r = observe(true, &now);
		if (r < 0)
			return r;
		*ret = shows[i].show(&(struct view){.cfg = cfg, .facts = facts, .now = now});
		return 0;
	}
	return -ENOENT;
}
