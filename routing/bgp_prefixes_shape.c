/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `show bgp SESSION`: the prefixes of one session. The one idea: what the peer sent is in one table of bgpd, what
 * passed our policy in another, with the reason of each choice; a prefix that is only in the first was stopped on the
 * way, and its AS path tells by what.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "config/schema.h"
#include "gateway/base/buf.h"
#include "gateway/base/str.h"
#include "routing/json_get.h"
#include "routing/session.h"
#include "routing/show_shape.h"

/* Is `as` one of the numbers in an AS path ("65002 65001 {65003,65004}")? */
static bool path_has(const char *path, uint32_t as)
{
	while (*path) {
		size_t digits = strspn(path, "0123456789");

		if (digits > 0 && strtoull(path, NULL, 10) == as)
			return true;
		path += digits > 0 ? digits : 1;
	}
	return false;
}

static const json_t *path_from(const json_t *paths, const char *peer)
{
	size_t i;
	const json_t *path;

	json_array_foreach(paths, i, path)
	{
		if (str_eq(get_text(path, "peerId"), peer))
			return path;
	}
	return NULL;
}

static const json_t *best_of(const json_t *paths)
{
	size_t i;
	const json_t *path;

	json_array_foreach(paths, i, path)
	{
		if (get_flag(path, "bestpath"))
			return path;
	}
	return NULL;
}

static const char *next_hop_of(const json_t *path)
{
	return get_text(json_array_get(json_object_get(path, "nexthops"), 0), "ip");
}

/* Why a path that was taken does not carry. FRR gives the reason with the path that won. */
static void put_why_not_best(const json_t *paths, const json_t *path, struct buf *out)
{
	const json_t *best = best_of(paths);
	const char *peer = get_text(best, "peerId"), *reason = get_text(best, "selectionReason");

	if (!get_flag(path, "valid")) {
		buf_printf(out, "its next hop %s cannot be reached", next_hop_of(path));
		return;
	}
	if (!best) {
		buf_puts(out, "bgpd has not chosen yet");
		return;
	}
	buf_printf(out, "%s is better", str_eq(peer, "(unspec)") ? "our own route" : peer);
	if (*reason)
		buf_printf(out, ": %s", reason);
}

static void put_why_stopped(const struct config *cfg, const struct session *s, const json_t *received, struct buf *out)
{
	if (!s->internal && cfg->bgp && path_has(get_text(received, "path"), cfg->bgp->as))
		buf_puts(out, "our own AS is in its path");
	else if (s->policy_in)
		buf_printf(out, "policy %s does not permit it", s->policy_in);
	else if (!s->internal)
		buf_puts(out, "without policy-in only the vteps of remotes are taken");
	else
		buf_puts(out, "bgpd did not take it");
}

static json_t *prefix_row(int family, const char *prefix, const char *direction, const char *state, const json_t *path)
{
	const char *next_hop = get_text(path, "nextHop"), *communities;

	communities = get_text(json_object_get(path, "community"), "string");
	return json_pack("{s:s, s:s, s:s, s:s, s:o, s:s, s:o}", "direction", direction, "family",
		schema_words("family")->v[family].word, "prefix", prefix, "state", state, "next-hop",
		text_or_null_json(*next_hop ? next_hop : next_hop_of(path)), "as-path", get_text(path, "path"),
		"communities", text_or_null_json(communities));
}

static void add_accepted(int family, const char *prefix, const json_t *paths, const json_t *path, json_t *list)
{
	bool best = get_flag(path, "bestpath"), used = best || get_flag(path, "multipath");
	struct buf why = {0};
	json_t *row = prefix_row(family, prefix, "in", best ? "best" : used ? "multipath" : "not-used", path);

	if (!used)
		put_why_not_best(paths, path, &why);
	json_object_set_new(row, "reason", text_or_null_json(buf_str(&why)));
	json_array_append_new(list, row);
	buf_free(&why);
}

static void add_stopped(const struct config *cfg, const struct session *s, int family, const char *prefix,
	const json_t *received, json_t *list)
{
	struct buf why = {0};
	json_t *row = prefix_row(family, prefix, "in", "not-accepted", received);

	put_why_stopped(cfg, s, received, &why);
	json_object_set_new(row, "reason", json_string(buf_str(&why)));
	json_array_append_new(list, row);
	buf_free(&why);
}

void bgp_prefixes_shape(
	const struct config *cfg, const struct session *s, int family, const struct bgp_prefixes *in, json_t *list)
{
	json_t *table = json_object_get(in->table, "routes"), *paths;
	json_t *received = json_object_get(in->received, "receivedRoutes"), *route;
	json_t *advertised = json_object_get(in->advertised, "advertisedRoutes");
	const char *prefix;

	json_object_foreach(table, prefix, paths)
	{
		const json_t *path = path_from(paths, s->peer);

		if (path)
			add_accepted(family, prefix, paths, path, list);
	}
	json_object_foreach(received, prefix, route)
	{
		if (!path_from(json_object_get(table, prefix), s->peer))
			add_stopped(cfg, s, family, prefix, route, list);
	}
	json_object_foreach(advertised, prefix, route)
	{
		json_t *row = prefix_row(family, prefix, "out", "advertised", route);

		json_object_set_new(row, "reason", json_null());
		json_array_append_new(list, row);
	}
}
