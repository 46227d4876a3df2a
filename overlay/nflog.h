/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Packets that nft rules hand over (`log group N`, nfnetlink_log): a socket for some groups, each with at most one
 * listener in a network namespace. Edge.
 */
#pragma once

#include <libmnl/libmnl.h>
#include <stddef.h>
#include <stdint.h>

struct nflog;

/* Of family bridge; what the kernel did not say is 0 or NULL. It lives until the callback returns. */
struct nflog_entry {
	uint16_t group;
	const char *prefix;			 /* the rule's; "" if it has none */
	uint32_t in, out;			 /* ports of a bridge */
	uint32_t bridge_in, bridge_out;		 /* what they belong to */
	const struct nlattr *mac, *tag, *packet; /* MAC header, VLAN tag beside it (nested), from layer 3 on */
};

struct nflog_reader {
	void (*fn)(const struct nflog_entry *e, void *arg);
	void *arg;
};

/* Of each packet at most `bytes`; needs CAP_NET_ADMIN. 0 or -errno: -EBUSY where somebody else listens to a group. */
int nflog_open(const uint16_t *groups, size_t n, uint16_t bytes, struct nflog **ret);
void nflog_close(struct nflog *log); /* NULL is fine */
int nflog_fd(const struct nflog *log);

/*
 * Gives some of what is there to the reader, so that others have their turn. *overruns is counted up where the kernel
 * had more than was read. 0, or -errno: nothing more will come.
 */
int nflog_read(struct nflog *log, const struct nflog_reader *reader, uint64_t *overruns);
