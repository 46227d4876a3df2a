/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What Fairway says to one daemon: its configuration asked for, and changes sent, each answer checked. Edge. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct buf;
struct frr_change;
struct frr_conf;
struct frr_vty;

/* What the daemon runs; ret is an empty conf. 0 or -errno; -EPROTO: it says what no FRR says. */
int frr_talk_running(struct frr_vty *vty, struct frr_conf *ret);

/*
 * Sends the changes, in their order, each in its context. 0; -EINVAL: the daemon refuses one; or -errno. `why` says
 * which, and what the daemon said; passwords are masked. What stood before the refused one has been done.
 */
int frr_talk_change(struct frr_vty *vty, const struct frr_change *changes, size_t n, struct buf *why);

/* Resets the sessions of which FRR would not use the changes else, and no other. 0, or as above. */
int frr_talk_reset(struct frr_vty *vty, const struct frr_change *changes, size_t n, struct buf *why);
