/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Our nft tables as the kernel has them: a few filtered dumps over one netfilter socket. Edge; the reading of the
 * messages is nft_parse.c. A dump that a change ran into is not a state that ever was: then all is read again.
 */
#include "gateway/nft/nft_kernel.h"

#include <arpa/inet.h>
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <stdbool.h>

#include "gateway/base/cleanup.h"
#include "gateway/nft/nft.h"
#include "gateway/nft/nft_memory.h"
#include "gateway/nft/nft_parse.h"

enum { DUMP_BUFFER = 64 * 1024, MAX_TRIES = 10 };

struct reader {
	struct mnl_socket *socket;
	struct nft_model *model;
	unsigned seq;
	bool only_counters;
	uint32_t generation;
	int error; /* of nft_parse() */
	char buffer[DUMP_BUFFER];
};

void nft_socket_closep(struct mnl_socket **s)
{
	if (*s)
		(void)mnl_socket_close(*s);
}

static int on_message(const struct nlmsghdr *nlh, void *arg)
{
	struct reader *r = arg;

	r->error = nft_parse(nlh, r->model);
	return r->error < 0 ? MNL_CB_ERROR : MNL_CB_OK;
}

/* One dump: of everything, of one table, or of one set. The attributes 1 and 2 are table and set. */
static int dump(struct reader *r, uint16_t type, const struct nft_table *table, const struct nft_set *set)
{
	unsigned port = mnl_socket_get_portid(r->socket);
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(r->buffer);
	struct nfgenmsg *nfg = mnl_nlmsg_put_extra_header(nlh, sizeof(*nfg));
	int ran = MNL_CB_OK;
	ssize_t n;

	nlh->nlmsg_type = (uint16_t)(NFNL_SUBSYS_NFTABLES << 8 | type);
	nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	nlh->nlmsg_seq = ++r->seq;
	*nfg = (struct nfgenmsg){.version = NFNETLINK_V0};
	if (table) {
		nfg->nfgen_family = nft_family_number(table->family);
		mnl_attr_put_strz(nlh, NFTA_SET_ELEM_LIST_TABLE, table->name);
	}
	if (set)
		mnl_attr_put_strz(nlh, NFTA_SET_ELEM_LIST_SET, set->name);
	if (mnl_socket_sendto(r->socket, nlh, nlh->nlmsg_len) < 0)
		return -errno;
	while (ran == MNL_CB_OK) {
		n = mnl_socket_recvfrom(r->socket, r->buffer, sizeof(r->buffer));
		if (n < 0)
			return -errno;
		r->error = 0;
		ran = mnl_cb_run(r->buffer, (size_t)n, r->seq, port, on_message, r);
	}
	if (ran == MNL_CB_STOP)
		return 0;
	return r->error < 0 ? r->error : -errno;
}

static int on_generation(const struct nlmsghdr *nlh, void *arg)
{
	struct nlattr *attr;
	struct reader *r = arg;

	mnl_attr_for_each(attr, nlh, sizeof(struct nfgenmsg)) if (mnl_attr_get_type(attr) == NFTA_GEN_ID &&
		mnl_attr_validate(attr, MNL_TYPE_U32) == 0) r->generation = ntohl(mnl_attr_get_u32(attr));
	return MNL_CB_OK;
}

/* Which ruleset this is; each transaction makes another. */
static int ask_generation(struct reader *r)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(r->buffer);
	struct nfgenmsg *nfg = mnl_nlmsg_put_extra_header(nlh, sizeof(*nfg));
	ssize_t n;

	nlh->nlmsg_type = NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_GETGEN;
	nlh->nlmsg_flags = NLM_F_REQUEST;
	nlh->nlmsg_seq = ++r->seq;
	*nfg = (struct nfgenmsg){.version = NFNETLINK_V0};
	if (mnl_socket_sendto(r->socket, nlh, nlh->nlmsg_len) < 0)
		return -errno;
	n = mnl_socket_recvfrom(r->socket, r->buffer, sizeof(r->buffer));
	if (n < 0)
		return -errno;
	return mnl_cb_run(r->buffer, (size_t)n, r->seq, mnl_socket_get_portid(r->socket), on_generation, r) < 0 ? -errno
														: 0;
}

static int read_table(struct reader *r, const struct nft_table *t)
{
	int error = dump(r, NFT_MSG_GETSET, t, NULL);

	if (error < 0)
		return error;
	error = dump(r, NFT_MSG_GETRULE, t, NULL);
	if (error == 0)
		error = dump(r, NFT_MSG_GETOBJ, t, NULL);
	for (size_t i = 0; error == 0 && i < t->n_sets; i++)
		if (!t->sets[i]->is_volatile && !nft_memory_attach(t->sets[i], t, r->generation))
			error = dump(r, NFT_MSG_GETSETELEM, t, t->sets[i]);
	return error;
}

static int read_all(struct reader *r)
{
	int error = dump(r, NFT_MSG_GETTABLE, NULL, NULL);

	if (error < 0 || r->model->n_tables == 0)
		return error;
	if (!r->only_counters)
		error = dump(r, NFT_MSG_GETCHAIN, NULL, NULL);
	for (size_t i = 0; error == 0 && i < r->model->n_tables; i++)
		if (r->model->tables[i]->ours)
			error = r->only_counters ? dump(r, NFT_MSG_GETOBJ, r->model->tables[i], NULL)
						 : read_table(r, r->model->tables[i]);
	return error;
}

static struct reader *reader_new(struct mnl_socket *socket)
{
	struct reader *r = calloc(1, sizeof(*r));

	if (!r)
		abort();
	r->socket = socket;
	return r;
}

static struct mnl_socket *open_socket(void)
{
	struct mnl_socket *socket = mnl_socket_open2(NETLINK_NETFILTER, SOCK_CLOEXEC);

	if (socket && mnl_socket_bind(socket, 0, MNL_SOCKET_AUTOPID) < 0)
		nft_socket_closep(&socket);
	return socket;
}

int nft_generation(uint32_t *ret)
{
	_cleanup_(nft_socket_closep) struct mnl_socket *socket = open_socket();
	_cleanup_free_ struct reader *r = NULL;
	int error;

	if (!socket)
		return -errno;
	r = reader_new(socket);
	error = ask_generation(r);
	if (error == 0)
		*ret = r->generation;
	return error;
}

/* All of it is of one generation, or else it is no state that ever was. */
static int read_generation(struct reader *r)
{
	uint32_t before;
	int error = ask_generation(r);

	if (error < 0)
		return error;
	before = r->generation;
	error = read_all(r);
	if (error == 0)
		error = ask_generation(r);
	return error < 0 ? error : r->generation == before ? 0 : -EINTR;
}

/* A fresh socket each time: nothing of an earlier, broken dump can be left in it. */
static int observe_once(struct nft_model *m, bool only_counters, uint32_t *ret_generation)
{
	_cleanup_(nft_socket_closep) struct mnl_socket *socket = open_socket();
	_cleanup_free_ struct reader *r = NULL;
	int error;

	if (!socket)
		return -errno;
	r = reader_new(socket);
	r->model = m;
	r->only_counters = only_counters;
	error = only_counters ? read_all(r) : read_generation(r);
	*ret_generation = r->generation;
	return error;
}

static int observe(struct nft_model *m, bool only_counters)
{
	uint32_t generation = 0;
	int error = -EINTR;

	/* EINTR: changed during the dump. ENOENT: a table or set went between two dumps. */
	for (int i = 0; i < MAX_TRIES && (error == -EINTR || error == -ENOENT); i++) {
		nft_memory_leave(m);
		*m = (struct nft_model){.arena = m->arena};
		error = observe_once(m, only_counters, &generation);
	}
	if (error == 0)
		nft_model_seal(m);
	if (error == 0 && !only_counters)
		nft_memory_take(m, generation);
	return error;
}

int nft_observe(struct nft_model *m)
{
	return observe(m, false);
}

int nft_observe_counters(struct nft_model *m)
{
	return observe(m, true);
}
