/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `show bfd`, and what BFD and BGP say of a line's health in `show lines`; see show_shape.h. */
#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "gateway/base/buf.h"
#include "gateway/base/str.h"
#include "routing/json_get.h"
#include "routing/session.h"
#include "routing/show_shape.h"

/* --- sessions --- */

/* bfdd spells addresses as inet_ntop() does, and so do we. */
static const json_t *answer_for(const json_t *list, const char *peer, const char *local)
{
	size_t i;
	const json_t *entry;

	json_array_foreach(list, i, entry)
	{
		const char *its = get_text(entry, "local");

		if (str_eq(get_text(entry, "peer"), peer) && (!*local || !*its || str_eq(its, local)))
			return entry;
	}
	return NULL;
}

static json_t *timers_json(const json_t *peer, const char *receive, const char *transmit, const char *multiplier)
{
	return json_pack("{s:I, s:I, s:I}", "receive", (json_int_t)get_number(peer, receive), "transmit",
		(json_int_t)get_number(peer, transmit), "multiplier", (json_int_t)get_number(peer, multiplier));
}

static json_int_t longer(int64_t a, int64_t b)
{
	return (json_int_t)(a > b ? a : b);
}

/* What the two ends agreed on, RFC 5880 section 6.8.7: nobody is sent more than he takes. */
static json_t *negotiated_json(const json_t *peer)
{
	int64_t theirs = longer(get_number(peer, "receive-interval"), get_number(peer, "remote-transmit-interval"));

	if (!str_eq(get_text(peer, "status"), "up"))
		return json_null();
	return json_pack("{s:I, s:I, s:I}", "transmit",
		longer(get_number(peer, "transmit-interval"), get_number(peer, "remote-receive-interval")), "receive",
		(json_int_t)theirs, "detection", (json_int_t)theirs * get_number(peer, "remote-detect-multiplier"));
}

static void put_why(const json_t *peers, const json_t *peer, struct buf *out)
{
	const char *ours = get_text(peer, "diagnostic"), *theirs = get_text(peer, "remote-diagnostic");

	if (!peer) {
		buf_puts(out, peers ? "bfdd does not have this session" : "bfdd does not answer");
		return;
	}
	if (str_eq(get_text(peer, "status"), "up"))
		return;
	buf_puts(out, *ours && !str_eq(ours, "ok") ? ours : "the peer does not answer");
	if (*theirs && !str_eq(theirs, "ok"))
		buf_printf(out, "; the peer says: %s", theirs);
}

/* A session that the config means, or that bfdd has besides (name NULL). */
static json_t *session_json(
	const char *name, const char *address, const json_t *peers, const json_t *peer, const json_t *counters)
{
	bool up = str_eq(get_text(peer, "status"), "up");
	struct buf why = {0};
	json_t *json;

	put_why(peers, peer, &why);
	json = json_pack("{s:s?, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:I}", "name", name, "peer", address,
		"state", peer ? get_text(peer, "status") : "missing", "uptime",
		up ? json_integer(get_number(peer, "uptime")) : json_null(), "downtime",
		peer && !up ? json_integer(get_number(peer, "downtime")) : json_null(), "reason",
		text_or_null_json(buf_str(&why)), "local",
		timers_json(peer, "receive-interval", "transmit-interval", "detect-multiplier"), "remote",
		timers_json(peer, "remote-receive-interval", "remote-transmit-interval", "remote-detect-multiplier"),
		"negotiated", negotiated_json(peer), "ups", (json_int_t)get_number(counters, "session-up"), "downs",
		(json_int_t)get_number(counters, "session-down"));
	buf_free(&why);
	return json;
}

static bool is_among(const struct line_bfd *v, size_t n, const char *peer)
{
	char text[IP_STR_MAX];

	for (size_t i = 0; i < n; i++)
		if (str_eq(ip_addr_str(&v[i].peer, text), peer))
			return true;
	return false;
}

json_t *bfd_shape(const struct config *cfg, const json_t *peers, const json_t *counters)
{
	struct line_bfd *v = calloc(2 * cfg->lines.n + 1, sizeof(*v));
	json_t *list = json_array();
	size_t n, i;
	const json_t *peer;

	if (!v)
		abort();
	n = line_bfds_of(cfg, v);
	for (i = 0; i < n; i++) {
		char address[IP_STR_MAX], local[IP_STR_MAX];

		(void)ip_addr_str(&v[i].peer, address);
		(void)ip_addr_str(&v[i].local, local);
		json_array_append_new(list,
			session_json(v[i].line->name, address, peers, answer_for(peers, address, local),
				answer_for(counters, address, local)));
	}
	/* Those of neighbors, which bgpd asks for. */
	json_array_foreach(peers, i, peer)
	{
		const char *address = get_text(peer, "peer");

		if (!is_among(v, n, address))
			json_array_append_new(list,
				session_json(NULL, address, peers, peer,
					answer_for(counters, address, get_text(peer, "local"))));
	}
	free(v);
	return json_pack("{s:o}", "sessions", list);
}

/* --- health --- */

static bool is_for_line(const json_t *session, const char *line)
{
	const char *name = get_text(session, "name");

	/* BGP sessions are named by the kind of their object too. */
	return str_eq(name, line) || (str_starts(name, "line ") && str_eq(name + strlen("line "), line));
}

/* The worst state of the line's sessions of one kind, "good" if all are good; NULL: it has none. Adds reasons. */
static const char *worst(const json_t *shape, const char *line, const char *good, const char *kind, struct buf *reason)
{
	const char *state = NULL;
	size_t i;
	const json_t *session;

	json_array_foreach(json_object_get(shape, "sessions"), i, session)
	{
		const char *its = get_text(session, "state");

		if (!is_for_line(session, line))
			continue;
		if (!state || !str_eq(its, good))
			state = its;
		if (!str_eq(its, good))
			buf_printf(reason, "%s%s %s is %s: %s", reason->len ? "; " : "", kind,
				get_text(session, "peer"), its, get_text(session, "reason"));
	}
	return state;
}

/*
 * Down: nothing passes, by the link or by BFD. Degraded: packets pass, but something that the file asks for is not
 * there, or is not known.
 */
static const char *health_of(const char *link, const char *bfd, const char *bgp, bool known)
{
	if (str_eq(link, "disabled"))
		return "disabled";
	if (!str_eq(link, "up") || (bfd && !str_eq(bfd, "up") && !str_eq(bfd, "missing")))
		return "down";
	if ((bfd && !str_eq(bfd, "up")) || (bgp && !str_eq(bgp, "established")) || !known)
		return "degraded";
	return "up";
}

void lines_shape(const struct config *cfg, const json_t *bgp, const json_t *bfd, json_t *lines)
{
	size_t i;
	json_t *line;

	json_array_foreach(lines, i, line)
	{
		const char *name = get_text(line, "name"), *link = get_text(line, "state"), *bfd_state, *bgp_state;
		const struct line *wanted = config_line(cfg, name);
		bool known = wanted && (!wanted->bfd || bfd) && (!wanted->bgp || bgp);
		struct buf reason = {0};

		if (!str_eq(link, "up") && !str_eq(link, "disabled"))
			buf_printf(&reason, "its interface is %s", link);
		if (!known)
			buf_printf(&reason, "%sFRR does not answer", reason.len ? "; " : "");
		bfd_state = worst(bfd, name, "up", "BFD", &reason);
		bgp_state = worst(bgp, name, "established", "BGP", &reason);
		json_object_set_new(line, "bfd", text_or_null_json(bfd_state));
		json_object_set_new(line, "bgp", text_or_null_json(bgp_state));
		json_object_set_new(line, "health", json_string(health_of(link, bfd_state, bgp_state, known)));
		json_object_set_new(line, "reason", text_or_null_json(buf_str(&reason)));
		buf_free(&reason);
	}
}
