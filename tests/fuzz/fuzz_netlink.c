/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The input is a netlink dump, message after message: whatever the bytes are, parsing stays inside of them and the
 * model is sorted and whole. The seeds are real dumps of 6.18.
 */
/* LINK: overlay/observe_parse.c overlay/snoop_parse.c overlay/model.c */
/* LIBS: libnl-3.0 */
#include <linux/rtnetlink.h>
#include <netlink/msg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "gateway/base/arena.h"
#include "overlay/model.h"
#include "overlay/observe_parse.h"
#include "overlay/snoop_parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Each in memory of its own, so that AddressSanitizer knows its end. */
static struct nlmsghdr *copy_message(const struct nlmsghdr *h)
{
	size_t len = h->nlmsg_len;
	struct nlmsghdr *copy = len >= NLMSG_HDRLEN ? malloc(len) : NULL; /* nlmsg_ok() says that it is */

	if (!copy)
		abort();
	return memcpy(copy, h, len);
}

static void parse_one(struct observe_parser *p, const struct nlmsghdr *original)
{
	struct nlmsghdr *h = copy_message(original);
	struct snoop_neighbor neighbor;

	if (h->nlmsg_type == RTM_NEWLINK)
		(void)observe_parse_link(p, h);
	if (h->nlmsg_type == RTM_NEWADDR)
		(void)observe_parse_addr(p, h);
	if (h->nlmsg_type == RTM_NEWNEIGH) {
		(void)observe_parse_fdb(p, h);
		(void)snoop_neighbor_parse(h, &neighbor);
	}
	if (h->nlmsg_type == RTM_NEWROUTE) {
		(void)observe_parse_route(p, h);
		(void)observe_parse_route_mtu(h);
	}
	free(h);
}

static void parse_all(struct observe_parser *p, char *bytes, size_t size, int links)
{
	int left = (int)size;

	for (struct nlmsghdr *h = (struct nlmsghdr *)bytes; nlmsg_ok(h, left); h = nlmsg_next(h, &left))
		if ((h->nlmsg_type == RTM_NEWLINK) == links)
			parse_one(p, h);
}

static void check(int right)
{
	if (!right)
		abort();
}

/* As the plan relies on it. */
static void check_model(const struct kernel_model *m)
{
	for (size_t i = 0; i < m->n_links; i++) {
		const struct link *l = &m->links[i];

		check(memchr(l->name, 0, sizeof(l->name)) && memchr(l->master, 0, sizeof(l->master)) && l->alias);
		check(i == 0 || link_cmp(l - 1, l) <= 0);
	}
	for (size_t i = 0; i < m->n_addrs; i++)
		check(m->addrs[i].addr.addr.family == AF_INET || m->addrs[i].addr.addr.family == AF_INET6);
	for (size_t i = 0; i < m->n_routes; i++) {
		check(m->routes[i].n_nexthops <= ROUTE_MAX_NEXTHOPS);
		check(i == 0 || ip_route_cmp(&m->routes[i - 1], &m->routes[i]) <= 0);
	}
	for (size_t i = 0; i < m->n_sysctls; i++)
		check(m->sysctls[i].key && m->sysctls[i].value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *arena = arena_new();
	struct kernel_model m = {.arena = arena};
	struct observe_parser p = {.model = &m};
	char *copy = calloc(1, size + 1); /* aligned */

	if (!copy)
		abort();
	if (size)
		memcpy(copy, data, size);
	parse_all(&p, copy, size, 1);
	observe_parse_links_end(&p);
	parse_all(&p, copy, size, 0);
	model_seal(&m);
	check_model(&m);
	free(copy);
	arena_free(arena);
	return 0;
}
