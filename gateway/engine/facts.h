/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Facts: what events tell us and no file says. An event changes a fact and the engine plans again; there is no second
 * code path for "runtime". Plain values, so that a test can write them down.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gateway/base/addr.h"

/* The largest packet that a path carries, learned from ICMP: smaller than the line's MTU, or the fact is not there. */
struct path_fact {
	struct ip_addr vtep; /* the remote's */
	char interface[16];  /* the line's */
	uint32_t mtu;
};

/* BFD says that this next hop does not answer. */
struct dead_fact {
	struct ip_addr peer;
	char interface[16];
};

/* What is in a secret file, read when the config that names it was taken over. Never printed, wiped when freed. */
struct secret_fact {
	const char *path;
	const char *text; /* without the newline at its end */
};

/* What is in a prefix file that a group of the policy names: good when it was read last. */
struct prefix_fact {
	const char *path;
	const struct ip_prefix *v;
	size_t n;
};

struct facts {
	struct path_fact *paths; /* sorted by vtep, interface */
	size_t n_paths;
	struct dead_fact *dead; /* sorted by peer, interface */
	size_t n_dead;
	struct secret_fact *secrets; /* sorted by path */
	size_t n_secrets;
	struct prefix_fact *prefixes; /* sorted by path */
	size_t n_prefixes;
	/* What this kernel can do. */
	bool has_vrf;
	bool lacks_bridge_filter; /* br_netfilter is not loaded: bridged frames pass no inet hook, whatever bridges ask
				     for */
};

void facts_init(struct facts *facts);
void facts_free(struct facts *facts);

/* Sets (mtu > 0) or forgets (mtu 0) a path's MTU. True if that changed anything. */
bool facts_set_path_mtu(struct facts *facts, const struct ip_addr *vtep, const char *interface, uint32_t mtu);
/* 0: nothing smaller than the line is known. */
uint32_t facts_path_mtu(const struct facts *facts, const struct ip_addr *vtep, const char *interface);

/* A next hop is dead, or is not any more. True if that changed anything. */
bool facts_set_dead(struct facts *facts, const struct ip_addr *peer, const char *interface, bool dead);
bool facts_is_dead(const struct facts *facts, const struct ip_addr *peer, const char *interface);

/* text NULL forgets it. */
void facts_set_secret(struct facts *facts, const char *path, const char *text);
/* NULL if it is not known. */
const char *facts_secret(const struct facts *facts, const char *path);

/* Takes over v, of malloc(); NULL with n 0 is an empty file. True if that changed anything. */
bool facts_set_prefixes(struct facts *facts, const char *path, struct ip_prefix *v, size_t n);
/* The same of a path that is not needed any more. */
bool facts_forget_prefixes(struct facts *facts, const char *path);
/* NULL if the file has not been read. */
const struct prefix_fact *facts_prefixes(const struct facts *facts, const char *path);
