/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nfnetlink messages -> nft model; see nft_parse.h. Pure.
 *
 * Read by libmnl's attribute walk straight into the model: thousands of elements are observed on every turn of the
 * reconciler, and need no object of their own in between.
 */
#include "gateway/nft/nft_parse.h"

#include <endian.h>
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <string.h>

#include "gateway/base/arena.h"
#include "gateway/base/str.h"
#include "gateway/nft/nft.h"

enum { ATTR_MAX = 32 }; /* above every attribute that is read here */

/* Where nft keeps a comment in the user data of an object: type, length, text with its NUL. */
enum { UDATA_COMMENT = 0, UDATA_SET_COMMENT = 7, UDATA_COMMENT_MAX = 256 };

static const struct {
	const char *name;
	uint8_t number;
} families[] = {
	{"inet", NFPROTO_INET},
	{"ip", NFPROTO_IPV4},
	{"ip6", NFPROTO_IPV6},
	{"arp", NFPROTO_ARP},
	{"bridge", NFPROTO_BRIDGE},
	{"netdev", NFPROTO_NETDEV},
};

const char *nft_family_name(uint8_t family)
{
	for (size_t i = 0; i < ARRAY_SIZE(families); i++)
		if (families[i].number == family)
			return families[i].name;
	return NULL;
}

uint8_t nft_family_number(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(families); i++)
		if (str_eq(families[i].name, name))
			return families[i].number;
	return NFPROTO_UNSPEC;
}

/* --- attributes --- */

typedef const struct nlattr *attrs_t[ATTR_MAX];

/* The attribute after this one in a nest, the first for NULL; NULL at the end. */
static const struct nlattr *next_in(const struct nlattr *nest, const struct nlattr *attr)
{
	const char *payload = mnl_attr_get_payload(nest), *end = payload + mnl_attr_get_payload_len(nest);
	const struct nlattr *next = attr ? mnl_attr_next(attr) : (const struct nlattr *)payload;

	return mnl_attr_ok(next, (int)(end - (const char *)next)) ? next : NULL;
}

/* Attributes by type; the first of each counts. */
static int collect(const struct nlattr *attr, void *ret)
{
	const struct nlattr **attrs = ret;
	unsigned type = mnl_attr_get_type(attr);

	if (type < ATTR_MAX && !attrs[type])
		attrs[type] = attr;
	return MNL_CB_OK;
}

static void collect_message(const struct nlmsghdr *nlh, attrs_t ret)
{
	memset(ret, 0, sizeof(attrs_t));
	if (mnl_nlmsg_get_payload_len(nlh) >= sizeof(struct nfgenmsg))
		(void)mnl_attr_parse(nlh, sizeof(struct nfgenmsg), collect, ret);
}

static void collect_nested(const struct nlattr *nest, attrs_t ret)
{
	memset(ret, 0, sizeof(attrs_t));
	(void)mnl_attr_parse_nested(nest, collect, ret);
}

static const char *get_str(const struct nlattr *attr)
{
	if (!attr || mnl_attr_validate(attr, MNL_TYPE_NUL_STRING) < 0)
		return NULL;
	return mnl_attr_get_str(attr);
}

/* Numbers are in network order; 0 where there is none. */
static uint32_t get_u32(const struct nlattr *attr)
{
	return attr && mnl_attr_validate(attr, MNL_TYPE_U32) == 0 ? be32toh(mnl_attr_get_u32(attr)) : 0;
}

static uint64_t get_u64(const struct nlattr *attr)
{
	return attr && mnl_attr_validate(attr, MNL_TYPE_U64) == 0 ? be64toh(mnl_attr_get_u64(attr)) : 0;
}

/* The hash in the comment that nft put into an object's user data; 0 if there is none. */
static uint64_t get_hash(const struct nlattr *attr, uint8_t comment_type)
{
	const uint8_t *p, *end;

	if (!attr)
		return 0;
	p = mnl_attr_get_payload(attr);
	end = p + mnl_attr_get_payload_len(attr);
	while (end - p >= 2 && end - p - 2 >= p[1]) {
		char text[UDATA_COMMENT_MAX];

		if (p[0] == comment_type) {
			memcpy(text, p + 2, p[1]);
			text[p[1]] = '\0';
			return nft_comment_hash(text);
		}
		p += 2 + p[1];
	}
	return 0;
}

/* --- objects --- */

static struct nft_table *find_table(const struct nlmsghdr *nlh, const struct nft_model *m, const struct nlattr *name)
{
	const struct nfgenmsg *nfg = mnl_nlmsg_get_payload(nlh);
	const char *family = nft_family_name(nfg->nfgen_family), *s = get_str(name);

	for (size_t i = 0; s && i < m->n_tables; i++)
		if (m->tables[i]->ours && str_eq(m->tables[i]->family, family) && str_eq(m->tables[i]->name, s))
			return m->tables[i];
	return NULL;
}

static int parse_table(const struct nlmsghdr *nlh, attrs_t attrs, struct nft_model *m)
{
	const struct nfgenmsg *nfg = mnl_nlmsg_get_payload(nlh);
	const char *family = nft_family_name(nfg->nfgen_family), *name = get_str(attrs[NFTA_TABLE_NAME]);
	struct nft_table *t;

	if (!name)
		return -EPROTO;
	if (!family || !str_starts(name, NFT_TABLE_PREFIX))
		return 0;
	t = nft_add_table(m, family, name);
	t->ours = get_hash(attrs[NFTA_TABLE_USERDATA], UDATA_COMMENT) == nft_table_hash(t);
	t->dormant = get_u32(attrs[NFTA_TABLE_FLAGS]) & NFT_TABLE_F_DORMANT;
	return 0;
}

static int parse_chain(const struct nlmsghdr *nlh, attrs_t attrs, struct nft_model *m)
{
	struct nft_table *t = find_table(nlh, m, attrs[NFTA_CHAIN_TABLE]);
	const char *name = get_str(attrs[NFTA_CHAIN_NAME]);
	struct nft_chain *c;

	if (!t)
		return 0;
	if (!name)
		return -EPROTO;
	c = nft_add_chain(m, t, name, NULL);
	c->hash = get_hash(attrs[NFTA_CHAIN_USERDATA], UDATA_COMMENT);
	c->drop = attrs[NFTA_CHAIN_POLICY] && get_u32(attrs[NFTA_CHAIN_POLICY]) == NF_DROP;
	return 0;
}

static int parse_set(const struct nlmsghdr *nlh, attrs_t attrs, struct nft_model *m)
{
	struct nft_table *t = find_table(nlh, m, attrs[NFTA_SET_TABLE]);
	const char *name = get_str(attrs[NFTA_SET_NAME]);
	struct nft_set *s;

	/* Anonymous sets belong to a rule, which vouches for them. */
	if (!t || get_u32(attrs[NFTA_SET_FLAGS]) & NFT_SET_ANONYMOUS)
		return 0;
	if (!name)
		return -EPROTO;
	s = nft_add_set(m, t, name, NULL, NULL);
	s->hash = get_hash(attrs[NFTA_SET_USERDATA], UDATA_SET_COMMENT);
	s->is_volatile = get_u32(attrs[NFTA_SET_FLAGS]) & (NFT_SET_EVAL | NFT_SET_TIMEOUT);
	s->has_ends = (get_u32(attrs[NFTA_SET_FLAGS]) & (NFT_SET_INTERVAL | NFT_SET_CONCAT)) == NFT_SET_INTERVAL;
	return 0;
}

/* Takes the counts if this expression is a counter. */
static void parse_counter(const struct nlattr *nest, uint64_t *ret_packets, uint64_t *ret_bytes)
{
	attrs_t expr, counter;

	if (!nest)
		return;
	collect_nested(nest, expr);
	if (!str_eq(get_str(expr[NFTA_EXPR_NAME]), "counter") || !expr[NFTA_EXPR_DATA])
		return;
	collect_nested(expr[NFTA_EXPR_DATA], counter);
	*ret_packets = get_u64(counter[NFTA_COUNTER_PACKETS]);
	*ret_bytes = get_u64(counter[NFTA_COUNTER_BYTES]);
}

static void add_rule(attrs_t attrs, struct nft_model *m, struct nft_chain *c)
{
	struct nft_rule *r = nft_add_observed_rule(m, c, get_hash(attrs[NFTA_RULE_USERDATA], UDATA_COMMENT));
	const struct nlattr *list = attrs[NFTA_RULE_EXPRESSIONS];

	if (!list)
		return;
	for (const struct nlattr *expr = next_in(list, NULL); expr; expr = next_in(list, expr))
		parse_counter(expr, &r->packets, &r->bytes);
}

static int parse_rule(const struct nlmsghdr *nlh, attrs_t attrs, struct nft_model *m)
{
	struct nft_table *t = find_table(nlh, m, attrs[NFTA_RULE_TABLE]);
	const char *chain = get_str(attrs[NFTA_RULE_CHAIN]);

	if (!t)
		return 0;
	if (!chain)
		return -EPROTO;
	/* Rules come chain by chain, in the order in which the chains came. */
	for (size_t i = 0; i < t->n_chains; i++) {
		size_t at = (t->rules_at + i) % t->n_chains;

		if (!str_eq(t->chains[at]->name, chain))
			continue;
		add_rule(attrs, m, t->chains[at]);
		t->rules_at = at;
		break;
	}
	return 0;
}

/* The datum as a renderer would write it; NULL if it is none that we write. In arena. */
static const char *parse_data(const struct nlattr *nest, struct arena *arena)
{
	attrs_t data, verdict;
	const char *chain;
	uint16_t number16;
	uint32_t number;

	collect_nested(nest, data);
	if (data[NFTA_DATA_VALUE]) {
		size_t len = mnl_attr_get_payload_len(data[NFTA_DATA_VALUE]);

		if (len == sizeof(number16)) {
			memcpy(&number16, mnl_attr_get_payload(data[NFTA_DATA_VALUE]), len);
			return arena_printf(arena, "%u", number16);
		}
		if (len != sizeof(number))
			return NULL;
		memcpy(&number, mnl_attr_get_payload(data[NFTA_DATA_VALUE]), len);
		return arena_printf(arena, "%u", number);
	}
	if (!data[NFTA_DATA_VERDICT])
		return NULL;
	collect_nested(data[NFTA_DATA_VERDICT], verdict);
	chain = get_str(verdict[NFTA_VERDICT_CHAIN]);
	switch ((int32_t)get_u32(verdict[NFTA_VERDICT_CODE])) {
	case NF_ACCEPT:
		return "accept";
	case NF_DROP:
		return "drop";
	case NFT_GOTO:
		return chain ? arena_printf(arena, "goto %s", chain) : NULL;
	case NFT_JUMP:
		return chain ? arena_printf(arena, "jump %s", chain) : NULL;
	default:
		return NULL;
	}
}

/* The key in this attribute, if it is one of len bytes (0: of any length). */
static const struct nlattr *key_value(const struct nlattr *attr, size_t len)
{
	attrs_t key;
	size_t has;

	if (!attr)
		return NULL;
	collect_nested(attr, key);
	if (!key[NFTA_DATA_VALUE])
		return NULL;
	has = mnl_attr_get_payload_len(key[NFTA_DATA_VALUE]);
	return has <= NFT_KEY_MAX && (len == 0 || has == len) ? key[NFTA_DATA_VALUE] : NULL;
}

static int parse_elem(const struct nlattr *nest, struct nft_model *m, struct nft_set *s)
{
	const struct nlattr *key, *key_end;
	attrs_t attrs;
	struct nft_elem *e;

	collect_nested(nest, attrs);
	key = key_value(attrs[NFTA_SET_ELEM_KEY], 0);
	if (!key)
		return -EPROTO;
	e = nft_add_observed_elem(m, s, mnl_attr_get_payload(key), mnl_attr_get_payload_len(key));
	e->is_end = get_u32(attrs[NFTA_SET_ELEM_FLAGS]) & NFT_SET_ELEM_INTERVAL_END;
	key_end = key_value(attrs[NFTA_SET_ELEM_KEY_END], e->key_len);
	if (key_end)
		e->key_end = arena_memdup(m->arena, mnl_attr_get_payload(key_end), e->key_len);
	if (attrs[NFTA_SET_ELEM_DATA])
		e->data = parse_data(attrs[NFTA_SET_ELEM_DATA], m->arena);
	s->has_counters |= attrs[NFTA_SET_ELEM_EXPR] != NULL;
	parse_counter(attrs[NFTA_SET_ELEM_EXPR], &e->packets, &e->bytes);
	return 0;
}

static int parse_elem_list(const struct nlattr *list, struct nft_model *m, struct nft_set *s)
{
	int r = 0;

	for (const struct nlattr *elem = next_in(list, NULL); elem && r == 0; elem = next_in(list, elem))
		r = parse_elem(elem, m, s);
	return r;
}

static int parse_elems(const struct nlmsghdr *nlh, attrs_t attrs, struct nft_model *m)
{
	const struct nft_table *t = find_table(nlh, m, attrs[NFTA_SET_ELEM_LIST_TABLE]);
	const char *set = get_str(attrs[NFTA_SET_ELEM_LIST_SET]);
	const struct nlattr *list = attrs[NFTA_SET_ELEM_LIST_ELEMENTS];

	if (!t || !list)
		return 0;
	if (!set)
		return -EPROTO;
	for (size_t i = 0; i < t->n_sets; i++)
		if (str_eq(t->sets[i]->name, set))
			return parse_elem_list(list, m, t->sets[i]);
	return 0;
}

/* Named counters; other objects are none of ours. */
static int parse_object(const struct nlmsghdr *nlh, attrs_t attrs, struct nft_model *m)
{
	struct nft_table *t = find_table(nlh, m, attrs[NFTA_OBJ_TABLE]);
	const char *name = get_str(attrs[NFTA_OBJ_NAME]);
	struct nft_counter *c;
	attrs_t counter;

	if (!t || get_u32(attrs[NFTA_OBJ_TYPE]) != NFT_OBJECT_COUNTER)
		return 0;
	if (!name || !attrs[NFTA_OBJ_DATA])
		return -EPROTO;
	c = nft_add_counter(m, t, name);
	collect_nested(attrs[NFTA_OBJ_DATA], counter);
	c->packets = get_u64(counter[NFTA_COUNTER_PACKETS]);
	c->bytes = get_u64(counter[NFTA_COUNTER_BYTES]);
	return 0;
}

/* --- messages --- */

/* Type within the nftables subsystem, or -1; then the message has its header. */
static int message_type(const struct nlmsghdr *nlh)
{
	if (NFNL_SUBSYS_ID(nlh->nlmsg_type) != NFNL_SUBSYS_NFTABLES)
		return -1;
	if (mnl_nlmsg_get_payload_len(nlh) < sizeof(struct nfgenmsg))
		return -1;
	return NFNL_MSG_TYPE(nlh->nlmsg_type);
}

int nft_parse(const struct nlmsghdr *nlh, struct nft_model *m)
{
	attrs_t attrs;

	collect_message(nlh, attrs);
	switch (message_type(nlh)) {
	case NFT_MSG_NEWTABLE:
		return parse_table(nlh, attrs, m);
	case NFT_MSG_NEWCHAIN:
		return parse_chain(nlh, attrs, m);
	case NFT_MSG_NEWSET:
		return parse_set(nlh, attrs, m);
	case NFT_MSG_NEWRULE:
		return parse_rule(nlh, attrs, m);
	case NFT_MSG_NEWSETELEM:
		return parse_elems(nlh, attrs, m);
	case NFT_MSG_NEWOBJ:
		return parse_object(nlh, attrs, m);
	default:
		return 0;
	}
}

bool nft_parse_is_ours(const struct nlmsghdr *nlh)
{
	attrs_t attrs;
	const char *table;

	/* NEWGEN closes every transaction and names no table. All others have the table in their attribute 1. */
	_Static_assert(NFTA_TABLE_NAME == 1 && NFTA_CHAIN_TABLE == 1 && NFTA_RULE_TABLE == 1 && NFTA_SET_TABLE == 1 &&
			NFTA_SET_ELEM_LIST_TABLE == 1 && NFTA_OBJ_TABLE == 1 && NFTA_FLOWTABLE_TABLE == 1,
		"attribute 1 is the table's name");
	if (message_type(nlh) < 0 || message_type(nlh) == NFT_MSG_NEWGEN)
		return false;
	collect_message(nlh, attrs);
	table = get_str(attrs[NFTA_TABLE_NAME]);
	return table && str_starts(table, NFT_TABLE_PREFIX);
}
