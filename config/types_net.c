/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Value types of the network: addresses, prefixes, MACs, and the MSS per family; see types.h and types.c. */
#include "config/types.h"

#include <errno.h>
#include <string.h>

#include "config/schema.h"
#include "gateway/base/addr.h"
#include "gateway/base/arena.h"
#include "gateway/base/buf.h"
#include "gateway/base/str.h"

/* --- addresses --- */

static int addr_parse(
	const char *text, const struct limit *limit, struct arena *arena, void *ret, const char **ret_want)
{
	struct ip_addr addr;

	(void)limit;
	(void)arena;
	if (ip_addr_parse(text, &addr) < 0) {
		*ret_want = strchr(text, '/') ? "an address without a prefix length" : "an IPv4 or IPv6 address";
		return -EINVAL;
	}
	if (!ip_addr_is_unicast_host(&addr)) {
		*ret_want = "an address that a host can own";
		return -EINVAL;
	}
	*(struct ip_addr *)ret = addr;
	return 0;
}

static void addr_print(const void *value, const struct limit *limit, struct buf *out)
{
	char text[IP_STR_MAX];

	(void)limit;
	buf_puts(out, ip_addr_str(value, text));
}

static int addr_compare(const void *a, const void *b)
{
	return ip_addr_cmp(a, b);
}

static bool addr_is_absent(const void *value)
{
	return !ip_addr_is_set(value);
}

/*
 * For the exports. IPv6 is left to whoever reads the value: a pattern of it is longer than the parser.
 */
#define OCTET "([0-9]|[1-9][0-9]|1[0-9][0-9]|2[0-4][0-9]|25[0-5])"
#define IPV4_PATTERN OCTET "(\\." OCTET "){3}"
#define IPV6_PATTERN "[0-9a-fA-F:.]*:[0-9a-fA-F:.]*"
#define ADDR_PATTERN IPV4_PATTERN "|" IPV6_PATTERN
#define PREFIX_PATTERN IPV4_PATTERN "/([0-9]|[12][0-9]|3[0-2])|" IPV6_PATTERN "/([0-9]|[1-9][0-9]|1[01][0-9]|12[0-8])"

const struct type type_ADDR = {
	.name = "ADDR",
	.size = sizeof(struct ip_addr),
	.parse = addr_parse,
	.print = addr_print,
	.compare = addr_compare,
	.is_absent = addr_is_absent,
	.yaml_hint = "ADDRESS",
	.yang_type = "type string { pattern '" ADDR_PATTERN "'; }",
	.json_type = "string",
	.pattern = ADDR_PATTERN,
};

/* --- prefixes --- */

static int prefix_parse(
	const char *text, const struct limit *limit, struct arena *arena, void *ret, const char **ret_want)
{
	struct ip_prefix prefix, network;
	char right[IP_STR_MAX];

	(void)limit;
	if (ip_prefix_parse(text, &prefix) < 0) {
		*ret_want = "a network, such as 10.0.0.0/8 or 2001:db8::/32";
		return -EINVAL;
	}
	network = ip_prefix_network(&prefix);
	if (ip_prefix_cmp(&network, &prefix) != 0) {
		*ret_want = arena_printf(
			arena, "a network, bits behind the length are set; write %s", ip_prefix_str(&network, right));
		return -EINVAL;
	}
	*(struct ip_prefix *)ret = prefix;
	return 0;
}

static int ifaddr_parse(
	const char *text, const struct limit *limit, struct arena *arena, void *ret, const char **ret_want)
{
	struct ip_prefix prefix;
	char net[IP_STR_MAX];

	(void)limit;
	if (ip_prefix_parse(text, &prefix) < 0) {
		*ret_want = "an address with its prefix length, such as 10.0.0.1/24";
		return -EINVAL;
	}
	if (!ip_addr_is_unicast_host(&prefix.addr)) {
		*ret_want = "an address that a host can own";
		return -EINVAL;
	}
	if (ip_prefix_is_edge(&prefix, &prefix.addr)) {
		struct ip_prefix network = ip_prefix_network(&prefix);

		*ret_want = arena_printf(arena, "a host's address in %s", ip_prefix_str(&network, net));
		return -EINVAL;
	}
	*(struct ip_prefix *)ret = prefix;
	return 0;
}

static void prefix_print(const void *value, const struct limit *limit, struct buf *out)
{
	char text[IP_STR_MAX];

	(void)limit;
	buf_puts(out, ip_prefix_str(value, text));
}

static int prefix_compare(const void *a, const void *b)
{
	return ip_prefix_cmp(a, b);
}

static bool prefix_is_absent(const void *value)
{
	return !ip_addr_is_set(&((const struct ip_prefix *)value)->addr);
}

const struct type type_PREFIX = {
	.name = "PREFIX",
	.size = sizeof(struct ip_prefix),
	.parse = prefix_parse,
	.print = prefix_print,
	.compare = prefix_compare,
	.is_absent = prefix_is_absent,
	.yaml_hint = "NETWORK/LEN",
	.yang_type = "type string { pattern '" PREFIX_PATTERN "'; }",
	.json_type = "string",
	.pattern = PREFIX_PATTERN,
};

const struct type type_IFADDR = {
	.name = "IFADDR",
	.size = sizeof(struct ip_prefix),
	.parse = ifaddr_parse,
	.print = prefix_print,
	.compare = prefix_compare,
	.is_absent = prefix_is_absent,
	.yaml_hint = "ADDRESS/LEN",
	.yang_type = "type string { pattern '" PREFIX_PATTERN "'; }",
	.json_type = "string",
	.pattern = PREFIX_PATTERN,
};

/* --- MAC addresses --- */

static const struct mac_addr no_mac;

static int mac_parse(const char *text, const struct limit *limit, struct arena *arena, void *ret, const char **ret_want)
{
	struct mac_addr mac;

	(void)limit;
	(void)arena;
	if (mac_addr_parse(text, &mac) < 0) {
		*ret_want = "a MAC address, such as 02:00:00:00:00:01";
		return -EINVAL;
	}
	if ((mac.bytes[0] & 1) || mac_addr_cmp(&mac, &no_mac) == 0) {
		*ret_want = "the MAC address of one host";
		return -EINVAL;
	}
	*(struct mac_addr *)ret = mac;
	return 0;
}

static void mac_print(const void *value, const struct limit *limit, struct buf *out)
{
	char text[MAC_STR_MAX];

	(void)limit;
	buf_puts(out, mac_addr_str(value, text));
}

static int mac_compare(const void *a, const void *b)
{
	return mac_addr_cmp(a, b);
}

static bool mac_is_absent(const void *value)
{
	return mac_addr_cmp(value, &no_mac) == 0;
}

const struct type type_MAC = {
	.name = "MAC",
	.size = sizeof(struct mac_addr),
	.parse = mac_parse,
	.print = mac_print,
	.compare = mac_compare,
	.is_absent = mac_is_absent,
	.yaml_hint = "MAC",
	.yang_type = "type string { pattern '[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}'; }",
	.json_type = "string",
	.pattern = "[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}",
};

/* --- the MSS per family --- */

/* The least a host must be able to take, and what fits the largest packet. One number has to do for both families. */
enum { MSS_MIN = 536, MSS_MIN_IPV6 = 1220, MSS_MAX_IPV4 = 65495, MSS_MAX_IPV6 = 65475 };

static int mss_number(const char *text, size_t len, uint32_t min, uint32_t max, uint32_t *ret)
{
	char digits[6];
	uint64_t value;

	if (len == 0 || len >= sizeof(digits) || *text == '0')
		return -EINVAL;
	memcpy(digits, text, len);
	digits[len] = '\0';
	if (str_to_u64(digits, &value) < 0 || value < min || value > max)
		return -EINVAL;
	*ret = (uint32_t)value;
	return 0;
}

/* One "ipv4: 1400" of a mapping; 0 stands for auto. */
static int mss_member(const char *text, size_t len, struct mss *mss)
{
	static const char *const keys[] = {"ipv4: ", "ipv6: "};
	bool ipv6 = len > 6 && memcmp(text, keys[1], 6) == 0;
	uint32_t *member = ipv6 ? &mss->ipv6 : &mss->ipv4;

	if (len <= 6 || memcmp(text, keys[ipv6], 6) != 0)
		return -EINVAL;
	text += 6;
	len -= 6;
	if (len == 4 && memcmp(text, "auto", 4) == 0) {
		*member = 0;
		return 0;
	}
	return mss_number(text, len, ipv6 ? MSS_MIN_IPV6 : MSS_MIN, ipv6 ? MSS_MAX_IPV6 : MSS_MAX_IPV4, member);
}

static int mss_mapping(const char *text, struct mss *ret)
{
	struct mss mss = {.kind = MSS_AUTO};
	size_t len = strlen(text);
	const char *end = text + len - 1;

	if (len < 3 || *text != '{' || *end != '}')
		return -EINVAL;
	for (const char *p = text + 1, *comma; p < end; p = comma + (comma < end ? 2 : 0)) {
		comma = strstr(p, ", ");
		if (!comma)
			comma = end;
		if (mss_member(p, (size_t)(comma - p), &mss) < 0)
			return -EINVAL;
	}
	mss.kind = mss.ipv4 || mss.ipv6 ? MSS_FIXED : MSS_AUTO;
	*ret = mss;
	return 0;
}

static int mss_parse(const char *text, const struct limit *limit, struct arena *arena, void *ret, const char **ret_want)
{
	struct mss mss = {.kind = MSS_AUTO};

	(void)limit;
	(void)arena;
	if (str_eq(text, "0")) {
		mss.kind = MSS_OFF;
	} else if (mss_number(text, strlen(text), MSS_MIN, MSS_MAX_IPV6, &mss.ipv4) == 0) {
		mss.kind = MSS_FIXED;
		mss.ipv6 = mss.ipv4;
	} else if (!str_eq(text, "auto") && mss_mapping(text, &mss) < 0) {
		*ret_want = "auto, 0, a number from 536 to 65475, "
			    "or {ipv4: 536 to 65495, ipv6: 1220 to 65475}";
		return -EINVAL;
	}
	*(struct mss *)ret = mss;
	return 0;
}

static void mss_print(const void *value, const struct limit *limit, struct buf *out)
{
	const struct mss *mss = value;

	(void)limit;
	if (mss->kind == MSS_AUTO)
		buf_puts(out, "auto");
	else if (mss->kind == MSS_OFF)
		buf_puts(out, "0");
	else if (mss->ipv4 == mss->ipv6)
		buf_printf(out, "%u", mss->ipv4);
	else if (!mss->ipv6)
		buf_printf(out, "{ipv4: %u}", mss->ipv4);
	else if (!mss->ipv4)
		buf_printf(out, "{ipv6: %u}", mss->ipv6);
	else
		buf_printf(out, "{ipv4: %u, ipv6: %u}", mss->ipv4, mss->ipv6);
}

static int mss_compare(const void *a, const void *b)
{
	const struct mss *x = a, *y = b;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return x->ipv4 != y->ipv4 ? cmp_u32(x->ipv4, y->ipv4) : cmp_u32(x->ipv6, y->ipv6);
}

static bool mss_is_absent(const void *value)
{
	(void)value;
	return false;
}

const struct type type_MSS = {
	.name = "MSS",
	.size = sizeof(struct mss),
	.parse = mss_parse,
	.print = mss_print,
	.compare = mss_compare,
	.is_absent = mss_is_absent,
	.yaml_hint = "auto|number|{ipv4: number, ipv6: number}",
	.yang_type = "type union { type enumeration { enum auto; } type uint32 { range \"0 | 536..65475\"; } "
		     "type string { pattern '\\{(ipv4: [0-9]+(, ipv6: [0-9]+)?|ipv6: [0-9]+)\\}'; } }",
	.json_type = "string",
	.mapping = true,
};
