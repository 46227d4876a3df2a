/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the kernel tells of neighbors: whose they are, and how long they have been silent. */
/* LINK: overlay/snoop_parse.c gateway/base/addr.c */
/* LIBS: libnl-3.0 */
#include <errno.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "gateway/base/str.h"
#include "overlay/model.h"
#include "overlay/msg_put.h"
#include "overlay/snoop_parse.h"
#include "overlay/snoop_watch.h"

static const struct ip_addr addr4 = {AF_INET, {10, 99, 1, 11}}, addr6 = {AF_INET6, {0xfd, 0x99, [15] = 0x11}};
static const uint8_t mac[6] = {2, 0, 0, 0, 0, 10};

/* A neighbor of ours, silent for as many seconds; less what a test leaves out. */
struct said {
	const struct ip_addr *addr;
	uint8_t family, proto;
	uint16_t type, state;
	uint32_t silent;
};

static int parse(const struct said *said, struct snoop_neighbor *ret)
{
	struct ndmsg info = {.ndm_family = said->family, .ndm_ifindex = 7, .ndm_state = said->state};
	struct nda_cacheinfo times = {.ndm_confirmed = said->silent * 100, .ndm_used = 1, .ndm_updated = 2};
	struct nl_msg *msg = nlmsg_alloc();
	int r;

	assert_non_null(nlmsg_put(msg, 0, 0, said->type, 0, 0));
	msg_header(msg, &info, sizeof(info));
	if (said->addr)
		msg_put_addr(msg, NDA_DST, said->addr);
	if (said->state & NUD_PERMANENT)
		msg_put(msg, NDA_LLADDR, mac, sizeof(mac));
	if (said->proto)
		msg_put_u8(msg, NDA_PROTOCOL, said->proto);
	msg_put(msg, NDA_CACHEINFO, &times, sizeof(times));
	r = snoop_neighbor_parse(nlmsg_hdr(msg), ret);
	nlmsg_free(msg);
	return r;
}

static void test_of_both_families(void **state)
{
	struct snoop_neighbor n;

	(void)state;
	assert_int_equal(
		parse(&(struct said){&addr4, AF_INET, FAIRWAY_PROTO, RTM_NEWNEIGH, NUD_PERMANENT, 1199}, &n), 0);
	assert_int_equal(ip_addr_cmp(&n.host.addr, &addr4), 0);
	assert_memory_equal(n.host.mac.bytes, mac, sizeof(mac));
	assert_int_equal(n.bridge, 7);
	assert_true(n.ours && n.permanent);
	assert_true(n.silent < SNOOP_SILENT_SEC);
	assert_int_equal(parse(&(struct said){&addr6, AF_INET6, FAIRWAY_PROTO, RTM_NEWNEIGH, NUD_STALE, 1200}, &n), 0);
	assert_int_equal(ip_addr_cmp(&n.host.addr, &addr6), 0);
	assert_true(n.ours && !n.permanent);
	assert_false(n.silent < SNOOP_SILENT_SEC);
}

static void test_of_somebody_else(void **state)
{
	struct snoop_neighbor n;

	(void)state;
	assert_int_equal(parse(&(struct said){&addr4, AF_INET, 0, RTM_NEWNEIGH, NUD_PERMANENT, 0}, &n), 0);
	assert_true(!n.ours && n.permanent);
	assert_int_equal(parse(&(struct said){&addr4, AF_INET, RTPROT_ZEBRA, RTM_NEWNEIGH, NUD_NOARP, 0}, &n), 0);
	assert_true(!n.ours && !n.permanent);
}

static void test_what_says_nothing_of_a_neighbor(void **state)
{
	static const struct said said[] = {
		{&addr4, AF_INET, FAIRWAY_PROTO, RTM_DELNEIGH, NUD_PERMANENT, 0},
		{&addr4, AF_BRIDGE, FAIRWAY_PROTO, RTM_NEWNEIGH, NUD_PERMANENT, 0},
		{NULL, AF_INET, FAIRWAY_PROTO, RTM_NEWNEIGH, NUD_PERMANENT, 0},
		{&addr6, AF_INET, FAIRWAY_PROTO, RTM_NEWNEIGH, NUD_PERMANENT, 0},
		{&addr4, AF_INET6, FAIRWAY_PROTO, RTM_NEWNEIGH, NUD_PERMANENT, 0},
	};
	struct nlmsghdr cut = {.nlmsg_len = sizeof(cut), .nlmsg_type = RTM_NEWNEIGH};
	struct snoop_neighbor n;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(said); i++)
		assert_int_equal(parse(&said[i], &n), -ENOMSG);
	assert_int_equal(snoop_neighbor_parse(&cut, &n), -ENOMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_of_both_families),
		cmocka_unit_test(test_of_somebody_else),
		cmocka_unit_test(test_what_says_nothing_of_a_neighbor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
