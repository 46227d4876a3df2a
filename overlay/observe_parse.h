/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages of a netlink dump into the model. Pure, and fuzzed: takes whatever bytes a message has.
 *
 * The kernel speaks of links by ifindex, the model by name: the notes join them, and hold what is not the plan's
 * business but is worth showing.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kernel_model;
struct nlmsghdr;

struct link_note {
	uint32_t ifindex, master;
	char name[16];
	size_t link; /* place in model.links until the model is sealed */
	bool our_vxlan;
	/* Only if the dump had them. */
	uint64_t rx_packets, tx_packets, rx_bytes, tx_bytes, rx_dropped, tx_dropped, rx_errors, tx_errors;
	size_t n_learned, n_permanent; /* FDB entries of the device itself */
};

struct observe_parser {
	struct kernel_model *model;
	struct link_note *notes; /* sorted by ifindex after observe_parse_links_end() */
	size_t n_notes, cap_notes;
};

/* Each takes one message and returns 0, also for what does not concern us, or -EBADMSG. Links come first. */
int observe_parse_link(struct observe_parser *p, struct nlmsghdr *h);
void observe_parse_links_end(struct observe_parser *p);
int observe_parse_addr(struct observe_parser *p, struct nlmsghdr *h);
int observe_parse_fdb(struct observe_parser *p, struct nlmsghdr *h);
int observe_parse_route(struct observe_parser *p, struct nlmsghdr *h);

/* NULL if there is none. */
const struct link_note *link_note_find(const struct link_note *notes, size_t n, uint32_t ifindex);

/*
 * The path MTU in the answer to a RTM_GETROUTE with a destination, 0 if it has none: what ICMP taught has an expiry,
 * what the route itself says (we put it there) has not.
 */
uint32_t observe_parse_route_mtu(struct nlmsghdr *h);
