/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What FRR 8.4.4 does to its sessions when a line comes, goes or has another value, as it was seen to. What is not in
 * the table interrupts nothing.
 */
#include "routing/frr_impact.h"

#include <string.h>

#include "gateway/base/arena.h"
#include "gateway/base/str.h"
#include "routing/frr_conf.h"

/* FRR itself goes on with what the session was opened with. */
#define NEXT_SESSION "BGP %s uses it from its next session"

static const struct {
	const char *words;
	const char *effect; /* %s: the second word of the line, who the far side is; NULL: nothing */
	const char *gone;   /* of a line that goes, if that is another; NULL: the same */
} rows[] = {
	/* bgpd: the session of the line */
	{"neighbor * remote-as", "resets BGP %s", "ends BGP %s"},
	{"neighbor * interface remote-as", "resets BGP %s", "ends BGP %s"},
	{"neighbor * password", "resets BGP %s", NULL},
	{"neighbor * ebgp-multihop", "resets BGP %s", NULL},
	{"neighbor * ttl-security", "resets BGP %s", NULL},
	{"neighbor * update-source", "resets BGP %s", NULL},
	{"neighbor * passive", "resets BGP %s", NULL},
	{"neighbor * capability", "resets BGP %s", NULL},
	{"neighbor * activate", "resets BGP %s", NULL},
	{"neighbor * route-reflector-client", "resets BGP %s", NULL},
	{"neighbor * local-as", "resets BGP %s", NULL},
	{"neighbor * shutdown", "resets BGP %s", NULL},
	{"neighbor * tcp-mss", NEXT_SESSION, NULL},
	{"neighbor * timers connect", NULL, NULL},
	{"neighbor * timers", NEXT_SESSION, NULL},
	{"neighbor * graceful-restart", NEXT_SESSION, NULL},
	{"neighbor * graceful-restart-helper", NEXT_SESSION, NULL},
	{"neighbor * graceful-restart-disable", NEXT_SESSION, NULL},

	/* all of them */
	{"router bgp", NULL, "ends all BGP sessions"},
	{"bgp router-id", "resets all BGP sessions", NULL},
	{"bgp cluster-id", "resets all internal BGP sessions", NULL},
	{"timers bgp", "BGP uses it from each next session", NULL},
	{"bgp graceful-restart preserve-fw-state", NULL, NULL},
	{"bgp graceful-restart", "BGP uses it from each next session", NULL},
	{"bgp graceful-restart-disable", "BGP uses it from each next session", NULL},

	/* bfdd */
	{"bfd", NULL, "ends all BFD sessions"},
	{"peer *", NULL, "ends BFD %s"},
};

/* The far side is the second word: `neighbor X`, `peer X`. */
static const char *peer_in(const char *line, struct arena *arena)
{
	(void)frr_next_word(&line);
	return arena_strndup(arena, line, strcspn(line, " "));
}

static const char *sentence(const char *effect, const char *line, struct arena *arena)
{
	const char *gap = strstr(effect, "%s");

	if (!gap)
		return effect;
	return arena_printf(arena, "%.*s%s%s", (int)(gap - effect), effect, peer_in(line, arena), gap + strlen("%s"));
}

/* NULL: none. */
static const char *effect_of(const struct frr_change *change)
{
	if (change->fresh)
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (frr_line_fits(rows[i].words, change->line, NULL))
			return change->remove && rows[i].gone ? rows[i].gone : rows[i].effect;
	return NULL;
}

const char *frr_impact(const struct frr_change *change, struct arena *arena)
{
	const char *effect = effect_of(change);

	return effect ? sentence(effect, change->line, arena) : NULL;
}

const char *frr_needs_reset(const struct frr_change *change, struct arena *arena)
{
	return str_eq(effect_of(change), NEXT_SESSION) ? peer_in(change->line, arena) : NULL;
}
