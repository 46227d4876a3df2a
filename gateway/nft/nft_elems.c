/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Element steps done: all of them in one nfnetlink batch, which the kernel does whole or not at all. Edge.
 *
 * Not by libnftables: for one element it reads every set of the machine into its cache, other people's too. Beside a
 * set of 100,000 addresses that took 500 ms and 140 MB; this takes a millisecond.
 */
#include "gateway/nft/nft_kernel.h"

#include <arpa/inet.h>
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "gateway/base/cleanup.h"
#include "gateway/base/str.h"
#include "gateway/engine/plan.h"
#include "gateway/engine/txn.h"
#include "gateway/nft/nft.h"
#include "gateway/nft/nft_parse.h"

enum {
	ELEMS_PER_MESSAGE = 100, /* a nest of attributes ends at 64 KiB */
	CHAIN_MAX = 128,	 /* of a chain's name, with room */
	/* At most: key and end of the key, datum, and for a range its end besides. */
	ELEM_SIZE = 2 * (12 * MNL_ATTR_HDRLEN + 2UL * NFT_KEY_MAX + CHAIN_MAX),
	MESSAGE_SIZE = 1024, /* headers, and the names of table and set: at most 256 bytes each */
};

struct batch {
	char *data;
	size_t len;
	uint32_t seq;
};

static void batch_free(struct batch *b)
{
	free(b->data);
}

static const struct nft_step *payload(const struct step *step)
{
	return step->payload;
}

static size_t count_messages(const struct nft_step *step)
{
	return (step->n_elems + ELEMS_PER_MESSAGE - 1) / ELEMS_PER_MESSAGE;
}

static struct nlmsghdr *message_begin(struct batch *b, uint16_t type, uint16_t flags, uint8_t family)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(b->data + b->len);
	struct nfgenmsg *nfg = mnl_nlmsg_put_extra_header(nlh, sizeof(*nfg));

	nlh->nlmsg_type = type;
	nlh->nlmsg_flags = NLM_F_REQUEST | flags;
	nlh->nlmsg_seq = b->seq++;
	nfg->nfgen_family = family;
	return nlh;
}

static void message_end(struct batch *b, const struct nlmsghdr *nlh)
{
	b->len += MNL_ALIGN(nlh->nlmsg_len);
}

/* The messages between these two are one transaction. */
static void put_bracket(struct batch *b, uint16_t type)
{
	struct nlmsghdr *nlh = message_begin(b, type, 0, AF_UNSPEC);
	struct nfgenmsg *nfg = mnl_nlmsg_get_payload(nlh);

	nfg->res_id = htons(NFNL_SUBSYS_NFTABLES);
	message_end(b, nlh);
}

static void put_key(struct nlmsghdr *nlh, uint16_t type, const void *key, size_t len)
{
	struct nlattr *nest = mnl_attr_nest_start(nlh, type);

	mnl_attr_put(nlh, NFTA_DATA_VALUE, len, key);
	mnl_attr_nest_end(nlh, nest);
}

static const struct {
	const char *word;
	int32_t code;
	bool has_chain;
} verdicts[] = {
	{"accept", NF_ACCEPT, false}, {"drop", NF_DROP, false}, {"goto ", NFT_GOTO, true}, {"jump ", NFT_JUMP, true}};

static bool put_verdict(struct nlmsghdr *nlh, const char *data)
{
	for (size_t i = 0; i < ARRAY_SIZE(verdicts); i++) {
		struct nlattr *nest;

		if (verdicts[i].has_chain ? !str_starts(data, verdicts[i].word) : !str_eq(data, verdicts[i].word))
			continue;
		nest = mnl_attr_nest_start(nlh, NFTA_DATA_VERDICT);
		mnl_attr_put_u32(nlh, NFTA_VERDICT_CODE, htonl((uint32_t)verdicts[i].code));
		if (verdicts[i].has_chain)
			mnl_attr_put_strz(nlh, NFTA_VERDICT_CHAIN, data + strlen(verdicts[i].word));
		mnl_attr_nest_end(nlh, nest);
		return true;
	}
	return false;
}

/* A number is as long as what it is for. */
static void put_data(struct nlmsghdr *nlh, const struct nft_set *set, const char *data)
{
	struct nlattr *nest = mnl_attr_nest_start(nlh, NFTA_SET_ELEM_DATA);
	uint32_t number = (uint32_t)strtoul(data, NULL, 10);
	uint16_t zone = (uint16_t)number;

	if (!put_verdict(nlh, data)) {
		if (strstr(set->spec, ": ct zone"))
			mnl_attr_put(nlh, NFTA_DATA_VALUE, sizeof(zone), &zone);
		else
			mnl_attr_put(nlh, NFTA_DATA_VALUE, sizeof(number), &number);
	}
	mnl_attr_nest_end(nlh, nest);
}

/* The end of a range of one part is an element of its own: the first key behind it, if there is one. */
static void put_range_end(struct nlmsghdr *nlh, const struct nft_elem *e)
{
	uint8_t key[NFT_KEY_MAX];
	struct nlattr *elem;
	size_t i = e->key_len;

	memcpy(key, e->key_end, e->key_len);
	while (i > 0 && ++key[i - 1] == 0)
		i--;
	if (i == 0)
		return;
	elem = mnl_attr_nest_start(nlh, NFTA_LIST_ELEM);
	put_key(nlh, NFTA_SET_ELEM_KEY, key, e->key_len);
	mnl_attr_put_u32(nlh, NFTA_SET_ELEM_FLAGS, htonl(NFT_SET_ELEM_INTERVAL_END));
	mnl_attr_nest_end(nlh, elem);
}

static void put_elem(struct nlmsghdr *nlh, const struct nft_set *set, const struct nft_elem *e, bool add)
{
	bool concat = nft_spec_is_concat(set->spec);
	struct nlattr *elem = mnl_attr_nest_start(nlh, NFTA_LIST_ELEM);

	put_key(nlh, NFTA_SET_ELEM_KEY, e->key, e->key_len);
	if (e->key_end && concat)
		put_key(nlh, NFTA_SET_ELEM_KEY_END, e->key_end, e->key_len);
	if (e->data && add)
		put_data(nlh, set, e->data);
	mnl_attr_nest_end(nlh, elem);
	if (e->key_end && !concat)
		put_range_end(nlh, e);
}

static void put_elems(struct batch *b, const struct nft_step *step, const struct nft_elem *elems, size_t n)
{
	bool add = step->op == NFT_ADD_ELEMS;
	struct nlmsghdr *nlh = message_begin(b,
		(uint16_t)(NFNL_SUBSYS_NFTABLES << 8 | (add ? NFT_MSG_NEWSETELEM : NFT_MSG_DELSETELEM)),
		add ? NLM_F_CREATE : 0, nft_family_number(step->table->family));
	struct nlattr *list;

	mnl_attr_put_strz(nlh, NFTA_SET_ELEM_LIST_TABLE, step->table->name);
	mnl_attr_put_strz(nlh, NFTA_SET_ELEM_LIST_SET, step->set->name);
	list = mnl_attr_nest_start(nlh, NFTA_SET_ELEM_LIST_ELEMENTS);
	for (size_t i = 0; i < n; i++)
		put_elem(nlh, step->set, &elems[i], add);
	mnl_attr_nest_end(nlh, list);
	message_end(b, nlh);
}

static void put_step(struct batch *b, const struct nft_step *step)
{
	for (size_t i = 0; i < step->n_elems; i += ELEMS_PER_MESSAGE) {
		size_t left = step->n_elems - i;

		put_elems(b, step, step->elems + i, left < ELEMS_PER_MESSAGE ? left : ELEMS_PER_MESSAGE);
	}
}

/* The number of the first message is 0: of the bracket. */
static void make_batch(struct batch *b, const struct step *const *steps, size_t n)
{
	size_t size = 2UL * MESSAGE_SIZE;

	for (size_t i = 0; i < n; i++)
		size += payload(steps[i])->n_elems * ELEM_SIZE + count_messages(payload(steps[i])) * MESSAGE_SIZE;
	b->data = calloc(1, size);
	if (!b->data)
		abort();
	put_bracket(b, NFNL_MSG_BATCH_BEGIN);
	for (size_t i = 0; i < n; i++)
		put_step(b, payload(steps[i]));
	put_bracket(b, NFNL_MSG_BATCH_END);
}

static const struct step *step_of(const struct step *const *steps, size_t n, uint32_t seq)
{
	size_t last = 0;

	for (size_t i = 0; i < n; i++) {
		last += count_messages(payload(steps[i]));
		if (seq <= last)
			return steps[i];
	}
	return steps[0];
}

/* The first error, if any: the kernel only answers what it refuses, before the batch counts as sent. */
static int read_answers(struct mnl_socket *socket, uint32_t *ret_seq)
{
	char buffer[8192];
	ssize_t n;

	while ((n = recv(mnl_socket_get_fd(socket), buffer, sizeof(buffer), MSG_DONTWAIT)) > 0) {
		const struct nlmsghdr *nlh = (const struct nlmsghdr *)buffer;

		for (int len = (int)n; mnl_nlmsg_ok(nlh, len); nlh = mnl_nlmsg_next(nlh, &len)) {
			const struct nlmsgerr *answer = mnl_nlmsg_get_payload(nlh);

			if (nlh->nlmsg_type != NLMSG_ERROR || answer->error == 0)
				continue;
			*ret_seq = nlh->nlmsg_seq;
			return answer->error;
		}
	}
	return n < 0 && errno != EAGAIN ? -errno : 0;
}

static int send_batch(const struct batch *b, uint32_t *ret_seq)
{
	_cleanup_(nft_socket_closep) struct mnl_socket *socket = mnl_socket_open2(NETLINK_NETFILTER, SOCK_CLOEXEC);
	int size = (int)(2 * b->len), error;

	if (!socket || mnl_socket_bind(socket, 0, MNL_SOCKET_AUTOPID) < 0)
		return -errno;
	/* A batch is one datagram. What the usual buffer holds needs no right to enlarge it, so a failure shows in
	 * send. */
	(void)setsockopt(mnl_socket_get_fd(socket), SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size));
	(void)mnl_socket_setsockopt(socket, NETLINK_CAP_ACK, &(int){1}, sizeof(int)); /* answers without our message */
	if (mnl_socket_sendto(socket, b->data, b->len) < 0)
		return -errno;
	error = read_answers(socket, ret_seq);
	return error;
}

int nft_apply_elems(struct txn *txn, const struct step *const *steps, size_t n)
{
	_cleanup_(batch_free) struct batch b = {0};
	uint32_t seq = 0;
	int error;

	make_batch(&b, steps, n);
	error = send_batch(&b, &seq);
	if (error == 0)
		return 0;
	return txn_fail(txn, step_of(steps, n, seq), error, "the kernel refused it: %s", strerror(-error));
}
