/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Asks and hands over to the shapes (show_shape.h); see routing_show.h. */
#include "routing/routing_show.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "config/config.h"
#include "gateway/base/arena.h"
#include "gateway/base/buf.h"
#include "gateway/base/cleanup.h"
#include "gateway/base/str.h"
#include "overlay/observe.h"
#include "overlay/overlay_show.h"
#include "overlay/snoop_show.h"
#include "routing/frr_vty.h"
#include "routing/json_get.h"
#include "routing/session.h"
#include "routing/show_shape.h"
#include "routing/zebra_parse.h"

static const uint64_t PATIENCE = 3000000;

/* One look: connections are made when first needed, and what did not answer is told once. */
struct look {
	const char *run_dir;
	const struct config *cfg;
	const struct facts *facts;
	const char *words; /* behind the topic: "ali-a" of "bgp ali-a"; "" */
	struct frr_vty *bgpd, *zebra, *bfdd;
	struct buf reply;
	json_t *trouble;
};

static void decrefp(json_t **json)
{
	json_decref(*json);
}

static void trouble(struct look *look, const char *daemon, const char *words)
{
	char text[160];

	(void)snprintf(text, sizeof(text), "%s: %s", daemon, words);
	json_array_append_new(look->trouble, json_string(text));
}

static struct frr_vty *connect_to(struct look *look, const char *daemon, struct frr_vty **vty)
{
	struct buf path = {0};
	int r = 0;

	if (!*vty) {
		buf_printf(&path, "%s/frr/%s.vty", look->run_dir, daemon);
		r = frr_vty_open(buf_str(&path), PATIENCE, vty);
		buf_free(&path);
	}
	if (r < 0)
		trouble(look, daemon, r == -ENOENT || r == -ECONNREFUSED ? "does not run" : strerror(-r));
	return r < 0 ? NULL : *vty;
}

/* The answer's documents as a list, or its one document; NULL where there is none. The caller owns it. */
static json_t *ask(struct look *look, const char *daemon, struct frr_vty **vty, const char *command)
{
	struct frr_vty *connection = connect_to(look, daemon, vty);
	json_t *documents, *one;
	int r;

	if (!connection)
		return NULL;
	r = frr_vty_run(connection, command, &look->reply);
	if (r < 0) {
		/* What comes late would be taken for the answer to the next question. */
		frr_vty_close(*vty);
		*vty = NULL;
		trouble(look, daemon, strerror(-r));
		return NULL;
	}
	documents = frr_documents(buf_str(&look->reply), look->reply.len); /* what failed is no JSON */
	if (!documents || json_array_size(documents) != 1)
		return documents;
	one = json_incref(json_array_get(documents, 0));
	json_decref(documents);
	return one;
}

#define ask_bgpd(look, command) ask(look, "bgpd", &(look)->bgpd, command)
#define ask_zebra(look, command) ask(look, "zebra", &(look)->zebra, command)
#define ask_bfdd(look, command) ask(look, "bfdd", &(look)->bfdd, command)

/* --- bgp --- */

static json_t *ask_session(struct look *look, int family, const char *peer, const char *what)
{
	struct buf command = {0};
	json_t *answer;

	buf_printf(&command, "show bgp %s neighbors %s %s json", shape_afi_command(family), peer, what);
	answer = ask_bgpd(look, buf_str(&command));
	buf_free(&command);
	return answer;
}

static bool keeps_received(const json_t *neighbors, const char *peer, int family)
{
	const json_t *afis = json_object_get(json_object_get(neighbors, peer), "addressFamilyInfo");

	return get_flag(json_object_get(afis, shape_afi(family)), "inboundSoftConfigPermit");
}

/* Only bgpd that keeps what it received can count it. */
static json_t *ask_counts(struct look *look, const struct sessions *sessions, const json_t *neighbors)
{
	json_t *counts = json_object();

	for (size_t i = 0; i < sessions->n; i++) {
		const char *peer = sessions->v[i].peer;

		json_object_set_new(counts, peer, json_object());
		for (int f = FAMILY_IPV4; f <= FAMILY_IPV6; f++) {
			json_t *answer =
				keeps_received(neighbors, peer, f) ? ask_session(look, f, peer, "prefix-counts") : NULL;

			if (answer)
				json_object_set_new(json_object_get(counts, peer), shape_afi(f), answer);
		}
	}
	return counts;
}

static void add_prefixes(struct look *look, const struct session *s, const json_t *neighbors, json_t *list)
{
	for (int f = FAMILY_IPV4; f <= FAMILY_IPV6; f++) {
		_cleanup_(decrefp) json_t *received = NULL, *table = NULL, *advertised = NULL;
		char command[64];

		if (!(s->families & (1U << f)))
			continue;
		(void)snprintf(command, sizeof(command), "show bgp %s json", shape_afi_command(f));
		table = ask_bgpd(look, command);
		if (keeps_received(neighbors, s->peer, f))
			received = ask_session(look, f, s->peer, "received-routes");
		advertised = ask_session(look, f, s->peer, "advertised-routes");
		bgp_prefixes_shape(look->cfg, s, f,
			&(struct bgp_prefixes){.received = received, .table = table, .advertised = advertised}, list);
	}
}

/* By its object ("line ali-a"), that without the kind, or the peer. */
static const struct session *session_named(const struct sessions *sessions, const char *name)
{
	for (size_t i = 0; i < sessions->n; i++) {
		const struct session *s = &sessions->v[i];
		const char *blank = strchr(s->object, ' ');

		if (str_eq(s->peer, name) || str_eq(s->object, name) || (blank && str_eq(blank + 1, name)))
			return s;
	}
	return NULL;
}

static json_t *show_session(
	struct look *look, const struct sessions *sessions, const json_t *neighbors, const json_t *counts)
{
	const struct session *s = session_named(sessions, look->words);
	json_t *json, *list;

	if (!s)
		return NULL;
	json = bgp_session_shape(s, neighbors, counts);
	list = json_array();
	add_prefixes(look, s, neighbors, list);
	json_object_set_new(json, "prefixes", list);
	return json;
}

static json_t *show_bgp(struct look *look)
{
	_cleanup_(arena_freep) struct arena *arena = arena_new();
	_cleanup_(decrefp) json_t *neighbors = NULL, *counts = NULL;
	struct sessions sessions;

	sessions_of(look->cfg, arena, &sessions);
	if (sessions.n > 0)
		neighbors = ask_bgpd(look, "show bgp neighbors json");
	counts = ask_counts(look, &sessions, neighbors);
	if (look->words[0])
		return show_session(look, &sessions, neighbors, counts);
	return bgp_shape(look->cfg, &sessions, neighbors, counts);
}

/* --- the others --- */

static json_t *show_bfd(struct look *look)
{
	_cleanup_(decrefp) json_t *peers = ask_bfdd(look, "show bfd peers json");
	_cleanup_(decrefp) json_t *counters = peers ? ask_bfdd(look, "show bfd peers counters json") : NULL;

	return bfd_shape(look->cfg, peers, counters);
}

static json_t *show_routes(struct look *look)
{
	_cleanup_(observation_freep) struct observation *now = NULL;
	_cleanup_(decrefp) json_t *ipv4 = ask_zebra(look, "show ip route vrf all json");
	_cleanup_(decrefp) json_t *ipv6 = ipv4 ? ask_zebra(look, "show ipv6 route vrf all json") : NULL;
	int r = observe(false, &now);

	if (r < 0) {
		trouble(look, "kernel", strerror(-r));
		return routes_shape(look->cfg, ipv4, ipv6, NULL, 0);
	}
	return routes_shape(look->cfg, ipv4, ipv6, now->model.routes, now->model.n_routes);
}

static json_t *show_evpn(struct look *look)
{
	_cleanup_(decrefp) json_t *vnis = ask_zebra(look, "show evpn vni detail json");
	_cleanup_(decrefp) json_t *macs = vnis ? ask_zebra(look, "show evpn mac vni all json") : NULL;
	_cleanup_(decrefp) json_t *neighbors = vnis ? ask_zebra(look, "show evpn arp-cache vni all json") : NULL;
	_cleanup_(decrefp) json_t *routes = ask_bgpd(look, "show bgp l2vpn evpn json");
	_cleanup_(decrefp) json_t *suppression = snoop_show(look->cfg);

	return evpn_shape(look->cfg,
		&(struct evpn_answers){.vnis = vnis,
			.macs = macs,
			.neighbors = neighbors,
			.routes = routes,
			.suppression = suppression});
}

static bool has_routing(const struct config *cfg)
{
	for (size_t i = 0; i < cfg->lines.n; i++)
		if (cfg->lines.v[i].bfd)
			return true;
	return cfg->bgp != NULL;
}

static json_t *show_lines(struct look *look)
{
	_cleanup_(decrefp) json_t *bgp = NULL, *bfd = NULL;
	json_t *lines = NULL;

	if (overlay_show("lines", look->cfg, look->facts, &lines) < 0)
		return NULL;
	if (has_routing(look->cfg)) {
		bgp = show_bgp(look);
		bfd = show_bfd(look);
	}
	lines_shape(look->cfg, bgp, bfd, lines);
	return lines;
}

static const struct {
	const char *what;
	json_t *(*show)(struct look *look);
} shows[] = {
	{"bgp", show_bgp},
	{"bfd", show_bfd},
	{"routes", show_routes},
	{"evpn", show_evpn},
	{"lines", show_lines},
};

/* Is `what` this topic, alone or with words behind it (only bgp takes some)? */
static bool is_topic(const char *what, const char *topic, const char **ret_words)
{
	size_t n = strlen(topic);

	if (!str_starts(what, topic) || (what[n] && (what[n] != ' ' || !str_eq(topic, "bgp"))))
		return false;
	*ret_words = what[n] ? what + n + 1 : "";
	return true;
}

static int run(struct look *look, json_t *(*show)(struct look *look), json_t **ret)
{
	json_t *json;

	look->trouble = json_array();
	json = show(look);
	if (json_is_object(json) && json_array_size(look->trouble) > 0)
		json_object_set(json, "trouble", look->trouble);
	json_decref(look->trouble);
	frr_vty_close(look->bgpd);
	frr_vty_close(look->zebra);
	frr_vty_close(look->bfdd);
	buf_free(&look->reply);
	if (!json)
		return -ENOENT;
	*ret = json;
	return 0;
}

int routing_show(
	const char *run_dir, const char *what, const struct config *cfg, const struct facts *facts, json_t **ret)
{
	struct look look = {.run_dir = run_dir, .cfg = cfg, .facts = facts};

	for (size_t i = 0; i < ARRAY_SIZE(shows); i++)
		if (is_topic(what, shows[i].what, &look.words))
			return run(&look, shows[i].show, ret);
	return -ENOENT;
}
