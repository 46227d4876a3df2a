/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every BGP session that a config means, from whichever object it comes: a line, a neighbor, a remote (its EVPN session
 * from vtep to vtep). With the defaults of the provider filled in, so that who renders, checks, explains or shows
 * sessions sees one kind of thing. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/config.h"
#include "gateway/base/addr.h"

struct arena;

enum { CARRIES_IPV4 = 1 << FAMILY_IPV4, CARRIES_IPV6 = 1 << FAMILY_IPV6, CARRIES_EVPN = 1 << FAMILY_EVPN };

/* One BFD session; interval 0: none. */
struct bfd_timers {
	uint32_t interval_ms;
	uint32_t multiplier;
	bool multihop;
};

struct session {
	/* Exactly one of the three. */
	const struct line *line;
	const struct bgp_neighbor *neighbor;
	const struct remote *remote;
	const char *object; /* "line ali-a", "neighbor leaf1", "remote ali-bj" */
	const char *peer;   /* its name in FRR: "172.31.0.2", "fd00::2", or the interface of an unnumbered one */

	struct ip_addr address; /* unset: unnumbered */
	struct ip_addr source;	/* our end; unset: the interface's own */
	const char *interface;	/* that it runs over; NULL: whichever the route says (multihop) */
	bool unnumbered;
	uint32_t peer_as;
	bool internal;		  /* within our AS */
	unsigned families;	  /* CARRIES_* */
	bool extended_next_hop;	  /* IPv4 prefixes with IPv6 next hops, RFC 8950 */
	uint32_t hops;		  /* 1: directly connected */
	bool ttl_security;	  /* GTSM */
	uint32_t hold, keepalive; /* seconds */
	uint32_t connect;	  /* seconds */
	bool passive;
	uint32_t tcp_mss;	       /* 0: the system's */
	uint32_t max_prefixes;	       /* 0: no limit */
	uint32_t max_prefixes_warning; /* percent */
	uint32_t provider_routes;      /* that the line's provider takes from us; 0: nothing is published */
	enum graceful_restart graceful_restart;
	const char *policy_in, *policy_out; /* NULL: the default for its kind */
	const char *password_file;	    /* NULL: none */
	struct bfd_timers bfd;
	uint32_t priority; /* of its line: higher carries first; 100 where it has none */
	bitrate_t rate;	   /* of its line; 0: unknown */
	bool route_reflector_client, next_hop_self, default_originate;
};

struct sessions {
	struct session
		*v; /* sorted by peer, as FRR orders them: addresses (IPv4, then IPv6) by value, then interfaces */
	size_t n;
};

/* Of all enabled lines, neighbors and remotes; empty if cfg has no bgp. Everything lives in `arena` or the config. */
void sessions_of(const struct config *cfg, struct arena *arena, struct sessions *ret);

/* NULL if there is none. */
const struct session *sessions_by_peer(const struct sessions *s, const char *peer);

/* A BFD session of a line, with or without BGP on it: one per family that the line carries. */
struct line_bfd {
	const struct line *line;
	struct ip_addr peer, local;
	struct bfd_timers timers;
};
/* How many lines have two families decides: ret has room for 2 * cfg->lines.n. Returns how many there are. */
size_t line_bfds_of(const struct config *cfg, struct line_bfd *ret);
