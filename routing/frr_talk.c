/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See frr_talk.h. */
#include "routing/frr_talk.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "gateway/base/arena.h"
#include "gateway/base/buf.h"
#include "gateway/base/cleanup.h"
#include "gateway/base/str.h"
#include "routing/frr_conf.h"
#include "routing/frr_impact.h"
#include "routing/frr_plan.h"
#include "routing/frr_vty.h"

int frr_talk_running(struct frr_vty *vty, struct frr_conf *ret)
{
	struct buf text = {0};
	int r = frr_vty_run(vty, "show running-config", &text);

	if (r > 0)
		r = -EPROTO;
	if (r == 0)
		r = frr_conf_parse(buf_str(&text), text.len, ret);
	explicit_bzero(text.data, text.len); /* it has the passwords */
	buf_free(&text);
	return r;
}

static int say(struct frr_vty *vty, const char *command, struct buf *why)
{
	_cleanup_(arena_freep) struct arena *arena = NULL;
	struct buf reply = {0};
	int r = frr_vty_run(vty, command, &reply);

	if (r != 0) {
		arena = arena_new();
		buf_printf(why, "%s \"%s\": %.160s", r < 0 ? "no answer to" : "refused is", frr_masked(command, arena),
			r < 0 ? strerror(-r) : buf_str(&reply));
		r = r < 0 ? r : -EINVAL;
	}
	buf_free(&reply);
	return r;
}

/*
 * FRR keeps lists and route maps in a tree that it copies and checks with each line: 2,000 lines take two minutes.
 * Between these two it does so once, all or nothing; what it then thinks comes with a code that says all is well.
 */
static int begin_batch(struct frr_vty *vty, struct buf *why)
{
	return say(vty, "XFRR_start_configuration", why);
}

static int end_batch(struct frr_vty *vty, struct buf *why)
{
	struct buf reply = {0};
	int r = frr_vty_run(vty, "XFRR_end_configuration", &reply);

	if (r < 0) {
		buf_printf(why, "no answer to the end of the changes: %s", strerror(-r));
	} else if (r > 0 || strstr(buf_str(&reply), "onfiguration failed")) {
		buf_printf(why, "refused: %.400s", buf_str(&reply));
		r = -EINVAL;
	}
	buf_free(&reply);
	return r;
}

/* The nodes that the daemon is in, outermost first. */
struct place {
	const char *nodes[8]; /* FRR has no more than three below the top */
	size_t depth;
};

static int enter(struct frr_vty *vty, struct place *here, const char *node, struct buf *why)
{
	int r = here->depth < ARRAY_SIZE(here->nodes) ? say(vty, node, why) : -E2BIG;

	if (r == 0)
		here->nodes[here->depth++] = node;
	return r;
}

/* Leaves what is not on the way to the context, and enters the rest of it. */
static int move(struct frr_vty *vty, struct place *here, const char *const *context, struct buf *why)
{
	size_t common = 0;
	int r = 0;

	while (common < here->depth && context[common] && str_eq(here->nodes[common], context[common]))
		common++;
	for (; here->depth > common && r == 0; here->depth--)
		r = say(vty, "exit", why);
	for (; context[common] && r == 0; common++)
		r = enter(vty, here, context[common], why);
	return r;
}

static int change(struct frr_vty *vty, struct place *here, const struct frr_change *c, struct buf *why)
{
	int r = move(vty, here, c->context, why);

	if (r < 0)
		return r;
	return c->opens ? enter(vty, here, c->command, why) : say(vty, c->command, why);
}

int frr_talk_change(struct frr_vty *vty, const struct frr_change *changes, size_t n, struct buf *why)
{
	struct place here = {.depth = 0};
	int r = say(vty, "enable", why);

	if (r == 0)
		r = say(vty, "configure terminal", why);
	if (r == 0)
		r = begin_batch(vty, why);
	for (size_t i = 0; i < n && r == 0; i++)
		r = change(vty, &here, &changes[i], why);
	if (r == 0)
		r = end_batch(vty, why);
	return r == 0 ? say(vty, "end", why) : r;
}

/* A session that had more prefixes than it may stays down, whatever the limit is now. */
static bool is_over_limit(struct frr_vty *vty, const char *peer)
{
	struct buf table = {0};
	bool over = false;

	if (frr_vty_run(vty, "show bgp summary", &table) == 0) {
		const char *row = table.len > 0 ? table.data : "";

		for (size_t len = strlen(peer); row && !over; row = strchr(row, '\n')) {
			row += *row == '\n';
			over = strncmp(row, peer, len) == 0 && row[len] == ' ' &&
				memmem(row, strcspn(row, "\n"), "(PfxCt)", strlen("(PfxCt)"));
		}
	}
	buf_free(&table);
	return over;
}

static const char *peer_to_reset(struct frr_vty *vty, const struct frr_change *c, struct arena *arena)
{
	const char *peer = c->line;

	if (!frr_line_fits("neighbor * maximum-prefix", c->line, NULL))
		return frr_needs_reset(c, arena);
	(void)frr_next_word(&peer);
	peer = arena_strndup(arena, peer, strcspn(peer, " "));
	return is_over_limit(vty, peer) ? peer : NULL;
}

int frr_talk_reset(struct frr_vty *vty, const struct frr_change *changes, size_t n, struct buf *why)
{
	_cleanup_(arena_freep) struct arena *arena = arena_new();
	const char *last = NULL;
	int r = 0;

	for (size_t i = 0; i < n && r == 0; i++) {
		const char *peer = peer_to_reset(vty, &changes[i], arena);

		if (!peer || str_eq(peer, last))
			continue;
		r = say(vty, arena_printf(arena, "clear bgp %s", peer), why);
		last = peer;
	}
	return r;
}
