/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `show routes`: what zebra chose beside what the kernel has; see show_shape.h. The kernel forwards by the route with
 * the lowest metric: an override of the flip before BGP's, BGP's before a floating one.
 */
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "gateway/base/arena.h"
#include "gateway/base/cleanup.h"
#include "gateway/base/str.h"
#include "overlay/model.h"
#include "routing/flip_plan.h"
#include "routing/json_get.h"
#include "routing/show_shape.h"
#include "routing/zebra_parse.h"

enum { FLOATING_METRIC = 200 }; /* or more: one that any other goes before */

struct row {
	struct ip_route route;
	const char *protocol;
	bool kernel;   /* it is in the kernel */
	bool selected; /* zebra's choice, or ours */
	bool forwards; /* the kernel's choice */
	const char *uptime;
};

struct rows {
	struct arena *arena;
	struct row *v;
	size_t n, cap;
};

static struct row *add_row(struct rows *rows)
{
	rows->v = arena_grow(rows->arena, rows->v, rows->n, &rows->cap, sizeof(*rows->v));
	return &rows->v[rows->n++];
}

static int row_cmp(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return ip_route_cmp(&x->route, &y->route);
}

/* --- gathering --- */

static const char *protocol_of_ours(const struct ip_route *r)
{
	if (flip_is_override(r))
		return "override";
	return r->metric >= FLOATING_METRIC ? "floating" : "fairway";
}

static void add_ours(struct rows *rows, const struct ip_route *kernel, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (kernel[i].proto == FAIRWAY_PROTO || flip_is_override(&kernel[i]))
			*add_row(rows) = (struct row){
				.route = kernel[i],
				.protocol = protocol_of_ours(&kernel[i]),
				.kernel = true,
				.selected = true,
			};
}

/* Networks on a link go without saying, and the kernel's own routes that zebra has read are ours or a stranger's. */
static bool is_learned(const char *protocol)
{
	return !str_eq(protocol, "connected") && !str_eq(protocol, "local") && !str_eq(protocol, "kernel");
}

static void add_learned(const json_t *entry, void *arg)
{
	struct rows *rows = arg;
	struct row row = {.protocol = get_text(entry, "protocol"),
		.selected = get_flag(entry, "selected"),
		.uptime = get_text(entry, "uptime")};
	bool onlink;

	if (!is_learned(row.protocol))
		return;
	if (!zebra_route(entry, rows->arena, &row.route, NULL, &onlink)) {
		row.route = (struct ip_route){.table = (uint32_t)get_number(entry, "table"), .metric = ZEBRA_METRIC};
		if (ip_prefix_parse(get_text(entry, "prefix"), &row.route.dst) < 0)
			return;
	}
	*add_row(rows) = row;
}

static int route_cmp(const void *a, const void *b)
{
	return ip_route_cmp(a, b);
}

static const struct ip_route *first_of_dst(const struct ip_route *kernel, size_t n, const struct ip_route *like)
{
	struct ip_route key = *like;
	size_t low = 0, high = n;

	key.metric = 0;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (ip_route_cmp(&kernel[middle], &key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low < n && kernel[low].table == key.table && ip_prefix_cmp(&kernel[low].dst, &key.dst) == 0
		? &kernel[low]
		: NULL;
}

/* What the kernel really has. */
static void look_up(struct row *row, const struct ip_route *kernel, size_t n)
{
	const struct ip_route *best = first_of_dst(kernel, n, &row->route), *mine;

	mine = n ? bsearch(&row->route, kernel, n, sizeof(*kernel), route_cmp) : NULL;
	row->kernel |= mine && row->selected && (row->route.proto == 0 || mine->proto == row->route.proto);
	row->forwards = row->kernel && best && best->metric == row->route.metric;
}

/* --- telling --- */

static const char *line_of(const struct config *cfg, const struct nexthop *nh)
{
	for (size_t i = 0; i < cfg->lines.n; i++)
		if (str_eq(cfg->lines.v[i].interface, nh->link))
			return cfg->lines.v[i].name;
	return NULL;
}

static json_t *next_hop_json(const struct config *cfg, const struct nexthop *nh)
{
	char text[IP_STR_MAX];

	return json_pack("{s:s?, s:s, s:s?, s:i}", "via", ip_addr_is_set(&nh->via) ? ip_addr_str(&nh->via, text) : NULL,
		"interface", nh->link, "line", line_of(cfg, nh), "weight", nh->weight);
}

static json_t *row_json(const struct config *cfg, const struct row *row)
{
	json_t *hops = json_array();
	char prefix[IP_STR_MAX];

	for (size_t i = 0; i < row->route.n_nexthops; i++)
		json_array_append_new(hops, next_hop_json(cfg, &row->route.nexthops[i]));
	return json_pack("{s:s, s:I, s:s, s:I, s:b, s:b, s:b, s:o, s:o}", "prefix",
		ip_prefix_str(&row->route.dst, prefix), "table", (json_int_t)row->route.table, "protocol",
		row->protocol, "metric", (json_int_t)row->route.metric, "selected", row->selected, "installed",
		row->kernel, "forwards", row->forwards, "uptime", text_or_null_json(row->uptime), "next-hops", hops);
}

json_t *routes_shape(const struct config *cfg, const json_t *ipv4, const json_t *ipv6, const struct ip_route *kernel,
	size_t n_kernel)
{
	_cleanup_(arena_freep) struct arena *arena = arena_new();
	struct rows rows = {.arena = arena};
	json_t *list = json_array();

	add_ours(&rows, kernel, n_kernel);
	zebra_walk_routes(ipv4, add_learned, &rows);
	zebra_walk_routes(ipv6, add_learned, &rows);
	if (rows.n > 1)
		qsort(rows.v, rows.n, sizeof(*rows.v), row_cmp);
	for (size_t i = 0; i < rows.n; i++) {
		look_up(&rows.v[i], kernel, n_kernel);
		json_array_append_new(list, row_json(cfg, &rows.v[i]));
	}
	return json_pack("{s:o}", "routes", list);
}
