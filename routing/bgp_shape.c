/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `show bgp`: the sessions that the config means, each with what bgpd says of it; see show_shape.h. */
#include <stdio.h>
#include <string.h>

#include "config/schema.h"
#include "gateway/base/buf.h"
#include "gateway/base/str.h"
#include "routing/json_get.h"
#include "routing/session.h"
#include "routing/show_shape.h"

static const struct {
	const char *json, *command;
} afis[] = {
	[FAMILY_IPV4] = {"ipv4Unicast", "ipv4 unicast"},
	[FAMILY_IPV6] = {"ipv6Unicast", "ipv6 unicast"},
	[FAMILY_EVPN] = {"l2VpnEvpn", "l2vpn evpn"},
};

const char *shape_afi(int family)
{
	return afis[family].json;
}

const char *shape_afi_command(int family)
{
	return afis[family].command;
}

static const char *family_word(int family)
{
	return schema_words("family")->v[family].word;
}

static const json_t *afi_of(const json_t *neighbor, int family)
{
	return json_object_get(json_object_get(neighbor, "addressFamilyInfo"), shape_afi(family));
}

/* --- why --- */

/* bgpd's words for the last reset, where ours are plainer. */
static const struct {
	const char *frr, *plain;
} resets[] = {
	{"Waiting for NHT", "there is no route to the peer"},
	{"No path to specified Neighbor", "there is no route to the peer"},
	{"Waiting for Peer IPv6 LLA", "the peer's link-local address is not known yet"},
	{"Waiting for VRF to be initialized", "its VRF is not there yet"},
	{"No AFI/SAFI activated for peer", "no address family is active"},
	{"AS Set config change", "no address family is active"},
	{"Waiting for peer OPEN", "the peer does not answer"},
	{"BFD down received", "BFD: the peer does not answer"},
	{"BGP Notification send", "we ended it"},
	{"BGP Notification received", "the peer ended it"},
	{"Peer closed the session", "the peer closed the connection"},
	{"Interface down", "the interface is down"},
	{"Admin. shutdown", "it was shut down"},
	{"Hold Timer Expired", "the peer was silent for the hold time"},
	{"Neighbor address changed", "the peer's address changed"},
};

static const char *plain_reset(const char *frr)
{
	for (size_t i = 0; i < ARRAY_SIZE(resets); i++)
		if (str_eq(resets[i].frr, frr))
			return resets[i].plain;
	return frr;
}

/* Why the session ended last. */
static void put_last_reset(const json_t *neighbor, struct buf *out)
{
	const char *detail = get_text(neighbor, "lastNotificationReason");

	buf_puts(out, plain_reset(get_text(neighbor, "lastResetDueTo")));
	if (*detail)
		buf_printf(out, ": %s", detail);
	detail = get_text(neighbor, "lastShutdownDescription");
	if (*detail)
		buf_printf(out, ": \"%s\"", detail);
}

static void put_why_down(const json_t *neighbors, const json_t *neighbor, struct buf *out)
{
	if (!neighbors)
		buf_puts(out, "bgpd does not answer");
	else if (!neighbor)
		buf_puts(out, "bgpd does not have this session");
	else if (get_flag(neighbor, "adminShutDown"))
		buf_puts(out, "shut down here");
	else if (get_flag(neighbor, "prefixesConfigExceedMax"))
		buf_printf(out, "the peer announced more than max-prefixes");
	else
		put_last_reset(neighbor, out);
}

/* --- one session --- */

/* Per family that the session carries: a number, null where it is not known. */
static json_t *per_family(const struct session *s, const json_t *neighbor, const char *key)
{
	json_t *object = json_object();

	for (int f = FAMILY_IPV4; f <= FAMILY_EVPN; f++) {
		const json_t *n = json_object_get(afi_of(neighbor, f), key);

		if (s->families & (1U << f))
			json_object_set_new(
				object, family_word(f), n ? json_integer(json_integer_value(n)) : json_null());
	}
	return object;
}

/* What came in before any policy: only where bgpd keeps it. */
static json_t *received_json(const struct session *s, const json_t *counts)
{
	json_t *object = json_object();

	for (int f = FAMILY_IPV4; f <= FAMILY_EVPN; f++) {
		const json_t *count = json_object_get(json_object_get(counts, s->peer), shape_afi(f));
		const json_t *n = json_object_get(json_object_get(count, "ribTableWalkCounters"), "Adj-in");

		if (s->families & (1U << f))
			json_object_set_new(
				object, family_word(f), n ? json_integer(json_integer_value(n)) : json_null());
	}
	return object;
}

static void add_warning(json_t *list, const char *text)
{
	json_array_append_new(list, json_string(text));
}

static void warn_of_family(const struct session *s, const json_t *neighbor, int family, json_t *list)
{
	const json_t *afi = afi_of(neighbor, family);
	int64_t accepted = get_number(afi, "acceptedPrefixCounter"), max = get_number(afi, "prefixAllowedMax");
	int64_t threshold = get_number(afi, "prefixAllowedWarningThresh");
	char text[160];

	if (max > 0 && accepted * 100 >= max * threshold) {
		(void)snprintf(text, sizeof(text), "%s: %lld of at most %lld prefixes", family_word(family),
			(long long)accepted, (long long)max);
		add_warning(list, text);
	}
	if (*get_text(afi, "inboundEbgpRequiresPolicy")) {
		(void)snprintf(text, sizeof(text), "%s: bgpd has no policy and takes nothing", family_word(family));
		add_warning(list, text);
	}
	if (neighbor && !afi) {
		(void)snprintf(text, sizeof(text), "%s: not active on %s", family_word(family), s->peer);
		add_warning(list, text);
	}
}

enum { PROVIDER_WARNING = 75 }; /* percent of what a provider takes */

/* What a provider takes is per session; it ends the session above. */
static void warn_of_provider(const struct session *s, const json_t *neighbor, json_t *list)
{
	int64_t told = 0, most = s->provider_routes;
	char text[160];

	for (int f = FAMILY_IPV4; f <= FAMILY_IPV6; f++)
		told += get_number(afi_of(neighbor, f), "sentPrefixCounter");
	if (most == 0 || told * 100 < most * PROVIDER_WARNING)
		return;
	(void)snprintf(text, sizeof(text), "it was told %lld routes, and its provider takes %lld", (long long)told,
		(long long)most);
	add_warning(list, text);
}

static json_t *warnings_json(const struct session *s, const json_t *neighbor)
{
	json_t *list = json_array();

	for (int f = FAMILY_IPV4; f <= FAMILY_EVPN; f++)
		if (s->families & (1U << f))
			warn_of_family(s, neighbor, f, list);
	warn_of_provider(s, neighbor, list);
	return list;
}

static json_t *families_json(const struct session *s)
{
	json_t *list = json_array();

	for (int f = FAMILY_IPV4; f <= FAMILY_EVPN; f++)
		if (s->families & (1U << f))
			json_array_append_new(list, json_string(family_word(f)));
	return list;
}

/* FRR's words with a capital, without it. */
static json_t *lower_json(const char *text)
{
	char word[24];
	size_t n = strnlen(text, sizeof(word) - 1);

	for (size_t i = 0; i < n; i++)
		word[i] = (char)(text[i] >= 'A' && text[i] <= 'Z' ? text[i] - 'A' + 'a' : text[i]);
	word[n] = '\0';
	return text_or_null_json(word);
}

static json_t *messages_json(const json_t *neighbor)
{
	const json_t *stats = json_object_get(neighbor, "messageStats");

	return json_pack("{s:I, s:I}", "received", (json_int_t)get_number(stats, "totalRecv"), "sent",
		(json_int_t)get_number(stats, "totalSent"));
}

static json_t *last_reset_json(const json_t *neighbor)
{
	struct buf why = {0};
	json_t *json;

	if (!*get_text(neighbor, "lastResetDueTo"))
		return json_null();
	put_last_reset(neighbor, &why);
	json = json_pack("{s:I, s:s}", "seconds", (json_int_t)(get_number(neighbor, "lastResetTimerMsecs") / 1000),
		"reason", buf_str(&why));
	buf_free(&why);
	return json;
}

json_t *bgp_session_shape(const struct session *s, const json_t *neighbors, const json_t *counts)
{
	const json_t *neighbor = json_object_get(neighbors, s->peer);
	bool established = str_eq(get_text(neighbor, "bgpState"), "Established");
	struct buf why = {0};
	json_t *json = json_pack("{s:s, s:s, s:I, s:o, s:o}", "name", s->object, "peer", s->peer, "as",
		(json_int_t)s->peer_as, "state", lower_json(neighbor ? get_text(neighbor, "bgpState") : "missing"),
		"uptime", established ? json_integer(get_number(neighbor, "bgpTimerUpMsec") / 1000) : json_null());

	if (!established)
		put_why_down(neighbors, neighbor, &why);
	json_object_set_new(json, "reason", text_or_null_json(buf_str(&why)));
	json_object_set_new(json, "families", families_json(s));
	json_object_set_new(json, "received", received_json(s, counts));
	json_object_set_new(json, "accepted", per_family(s, neighbor, "acceptedPrefixCounter"));
	json_object_set_new(json, "advertised", per_family(s, neighbor, "sentPrefixCounter"));
	json_object_set_new(json, "policy-in", text_or_null_json(s->policy_in));
	json_object_set_new(json, "policy-out", text_or_null_json(s->policy_out));
	json_object_set_new(json, "hold", json_integer(get_number(neighbor, "bgpTimerHoldTimeMsecs") / 1000));
	json_object_set_new(json, "bfd", lower_json(get_text(json_object_get(neighbor, "peerBfdInfo"), "status")));
	json_object_set_new(json, "messages", messages_json(neighbor));
	json_object_set_new(json, "dropped", json_integer(get_number(neighbor, "connectionsDropped")));
	json_object_set_new(json, "last-reset", last_reset_json(neighbor));
	json_object_set_new(json, "warnings", warnings_json(s, neighbor));
	buf_free(&why);
	return json;
}

json_t *bgp_shape(
	const struct config *cfg, const struct sessions *sessions, const json_t *neighbors, const json_t *counts)
{
	json_t *list = json_array();

	for (size_t i = 0; i < sessions->n; i++)
		json_array_append_new(list, bgp_session_shape(&sessions->v[i], neighbors, counts));
	return json_pack("{s:o, s:o}", "as", cfg->bgp ? json_integer(cfg->bgp->as) : json_null(), "sessions", list);
}
