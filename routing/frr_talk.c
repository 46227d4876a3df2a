/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See frr_talk.h. */
#include "routing/frr_talk.h"

#include <errno.h>
#include <string.h>

#include "gateway/base/arena.h"
#include "gateway/base/buf.h"
#include "gateway/base/cleanup.h"
#include "gateway/base/str.h"
#include "routing/frr_conf.h"
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

static size_t depth_of(const struct frr_change *change)
{
	size_t depth = 0;

	while (change && change->context[depth])
		depth++;
	return depth;
}

/* From the node of one change into that of the next; NULL is the top. */
static int move(struct frr_vty *vty, const struct frr_change *from, const struct frr_change *to, struct buf *why)
{
	size_t have = depth_of(from), want = depth_of(to), common = 0;
	int r = 0;

	while (common < have && common < want && str_eq(from->context[common], to->context[common]))
		common++;
	for (; have > common && r == 0; have--)
		r = say(vty, "exit", why);
	for (; common < want && r == 0; common++)
		r = say(vty, to->context[common], why);
	return r;
}

int frr_talk_change(struct frr_vty *vty, const struct frr_change *changes, size_t n, struct buf *why)
{
	const struct frr_change *last = NULL;
	int r = say(vty, "enable", why);

	if (r == 0)
		r = say(vty, "configure terminal", why);
	if (r == 0)
		r = begin_batch(vty, why);
	for (size_t i = 0; i < n && r == 0; i++) {
		r = move(vty, last, &changes[i], why);
		last = &changes[i];
		if (r == 0)
			r = say(vty, last->command, why);
	}
	if (r == 0)
		r = end_batch(vty, why);
	return r == 0 ? say(vty, "end", why) : r;
}
