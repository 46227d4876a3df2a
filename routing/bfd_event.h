/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bfdd's control socket: frames in big endian `u32 length | u16 id | u8 type | u8 version`, then JSON. Codec alone,
 * pure; foreign bytes, fuzzed.
 *
 * A session that is taken away by configuration is not told of (seen with FRR 8.4.4): who watches a session has to know
 * by itself that it is no longer wanted.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gateway/base/addr.h"

enum { BFD_FRAME_HEADER = 8, BFD_FRAME_MAX = 64 * 1024 };

enum bfd_state { BFD_ADMIN_DOWN, BFD_DOWN, BFD_INIT, BFD_UP };

struct bfd_event {
	struct ip_addr peer, local; /* local unset: any */
	char interface[16];	    /* "": any */
	bool multihop;
	bool removed; /* the session is gone */
	enum bfd_state state;
	unsigned diagnostic, remote_diagnostic; /* RFC 5880 section 4.1 */
};

/*
 * What an event says about forwarding. Down is not dead where somebody ended the session on purpose, here or there (RFC
 * 5882 section 4.2), and says nothing where the session has not been up in this life of bfdd.
 */
enum bfd_verdict { BFD_ALIVE, BFD_DEAD, BFD_UNKNOWN };
enum bfd_verdict bfd_verdict(const struct bfd_event *event);

/* The request for all events, answered by "ok" and one event for each session. Returns its length; buf has
 * BFD_SUBSCRIBE_MAX bytes. */
enum { BFD_SUBSCRIBE_MAX = 32 };
size_t bfd_subscribe(uint8_t buf[BFD_SUBSCRIBE_MAX]);

/* Length of the first frame of n bytes, header included; 0: more bytes are needed; -EBADMSG: no frame. */
long bfd_frame_length(const uint8_t *bytes, size_t n);

/* 1: an event; 0: a frame that is none; -EBADMSG: a reply that says no, or no JSON of bfdd's. */
int bfd_event_parse(const uint8_t *frame, size_t n, struct bfd_event *ret);
const char *bfd_diagnostic(unsigned diagnostic); /* "control detection time expired" */
