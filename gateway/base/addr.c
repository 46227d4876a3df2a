/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Addresses as values; see addr.h. */
#include "gateway/base/addr.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "gateway/base/str.h"

int ip_addr_parse(const char *s, struct ip_addr *ret)
{
	struct ip_addr a = {.family = strchr(s, ':') ? AF_INET6 : AF_INET};

	if (inet_pton(a.family, s, a.bytes) != 1)
		return -EINVAL;
	*ret = a;
	return 0;
}

int ip_prefix_parse(const char *s, struct ip_prefix *ret)
{
	const char *slash = strchr(s, '/');
	char text[INET6_ADDRSTRLEN + 1];
	struct ip_prefix p;
	uint64_t len;

	if (!slash || (size_t)(slash - s) >= sizeof(text))
		return -EINVAL;
	memcpy(text, s, (size_t)(slash - s));
	text[slash - s] = '\0';
	if (ip_addr_parse(text, &p.addr) < 0 || str_to_u64(slash + 1, &len) < 0)
		return -EINVAL;
	if (len > 8 * ip_addr_len(&p.addr) || (slash[1] == '0' && slash[2]))
		return -EINVAL;
	p.len = (uint8_t)len;
	*ret = p;
	return 0;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

int mac_addr_parse(const char *s, struct mac_addr *ret)
{
	struct mac_addr m;

	if (strlen(s) != MAC_STR_MAX - 1)
		return -EINVAL;
	for (size_t i = 0; i < 6; i++) {
		int hi = hex_digit(s[3 * i]), lo = hex_digit(s[3 * i + 1]);

		if (hi < 0 || lo < 0 || (i < 5 && s[3 * i + 2] != ':'))
			return -EINVAL;
		m.bytes[i] = (uint8_t)(hi << 4 | lo);
	}
	*ret = m;
	return 0;
}

const char *ip_addr_str(const struct ip_addr *a, char *buf)
{
	if (!ip_addr_is_set(a) || !inet_ntop(a->family, a->bytes, buf, IP_STR_MAX))
		strcpy(buf, "none");
	return buf;
}

const char *ip_prefix_str(const struct ip_prefix *p, char *buf)
{
	size_t len = strlen(ip_addr_str(&p->addr, buf));

	(void)snprintf(buf + len, IP_STR_MAX - len, "/%u", p->len);
	return buf;
}

const char *mac_addr_str(const struct mac_addr *m, char *buf)
{
	const uint8_t *b = m->bytes;

	(void)snprintf(buf, MAC_STR_MAX, "%02x:%02x:%02x:%02x:%02x:%02x", b[0], b[1], b[2], b[3], b[4], b[5]);
	return buf;
}

int ip_addr_cmp(const struct ip_addr *a, const struct ip_addr *b)
{
	if (a->family != b->family)
		return a->family < b->family ? -1 : 1;
	return memcmp(a->bytes, b->bytes, sizeof(a->bytes));
}

int ip_prefix_cmp(const struct ip_prefix *a, const struct ip_prefix *b)
{
	int c = ip_addr_cmp(&a->addr, &b->addr);

	return c ? c : (int)a->len - (int)b->len;
}

int mac_addr_cmp(const struct mac_addr *a, const struct mac_addr *b)
{
	return memcmp(a->bytes, b->bytes, sizeof(a->bytes));
}

bool ip_addr_is_link_local(const struct ip_addr *a)
{
	if (ip_addr_is_ipv6(a))
		return a->bytes[0] == 0xfe && (a->bytes[1] & 0xc0) == 0x80;
	return a->bytes[0] == 169 && a->bytes[1] == 254;
}

static bool is_unicast_ipv6(const uint8_t *b)
{
	static const uint8_t zero[16], mapped[12] = {[10] = 0xff, [11] = 0xff};

	/* ::, ::1 and the whole of ::/96, IPv4-mapped, multicast */
	return memcmp(b, zero, 12) != 0 && memcmp(b, mapped, 12) != 0 && b[0] != 0xff;
}

bool ip_addr_is_unicast_host(const struct ip_addr *a)
{
	if (!ip_addr_is_set(a))
		return false;
	if (ip_addr_is_ipv6(a))
		return is_unicast_ipv6(a->bytes);
	return a->bytes[0] != 0 && a->bytes[0] != 127 && a->bytes[0] < 224;
}

/* Are the first len bits of a and b the same? */
static bool same_bits(const uint8_t *a, const uint8_t *b, unsigned len)
{
	unsigned whole = len / 8, rest = len % 8;

	if (memcmp(a, b, whole) != 0)
		return false;
	return rest == 0 || ((a[whole] ^ b[whole]) >> (8 - rest)) == 0;
}

struct ip_prefix ip_prefix_network(const struct ip_prefix *p)
{
	struct ip_prefix net = *p;

	for (unsigned bit = p->len; bit < 8 * sizeof(net.addr.bytes); bit++)
		net.addr.bytes[bit / 8] &= (uint8_t) ~(0x80u >> (bit % 8));
	return net;
}

struct ip_prefix ip_addr_host_prefix(const struct ip_addr *a)
{
	return (struct ip_prefix){.addr = *a, .len = (uint8_t)(8 * ip_addr_len(a))};
}

bool ip_prefix_contains(const struct ip_prefix *p, const struct ip_addr *a)
{
	return p->addr.family == a->family && same_bits(p->addr.bytes, a->bytes, p->len);
}

bool ip_prefix_overlaps(const struct ip_prefix *a, const struct ip_prefix *b)
{
	return a->addr.family == b->addr.family &&
		same_bits(a->addr.bytes, b->addr.bytes, a->len < b->len ? a->len : b->len);
}

bool ip_prefix_is_edge(const struct ip_prefix *p, const struct ip_addr *a)
{
	unsigned bits = (unsigned)(8 * ip_addr_len(a));
	struct ip_prefix net = ip_prefix_network(p);

	if (!ip_prefix_contains(p, a) || p->len + 2u > bits)
		return false;
	if (ip_addr_cmp(&net.addr, a) == 0)
		return true; /* the network, or IPv6's subnet-router anycast address */
	if (ip_addr_is_ipv6(a))
		return false;
	for (unsigned bit = p->len; bit < bits; bit++)
		net.addr.bytes[bit / 8] |= (uint8_t)(0x80u >> (bit % 8));
	return ip_addr_cmp(&net.addr, a) == 0;
}

struct mac_addr mac_addr_derive(const char *seed, uint32_t number)
{
	uint64_t h = str_hash(seed) ^ ((uint64_t)number * 0x9e3779b97f4a7c15u);
	struct mac_addr m = {{0x02}}; /* locally administered, unicast */

	h ^= h >> 29;
	for (size_t i = 1; i < 6; i++)
		m.bytes[i] = (uint8_t)(h >> (8 * i));
	return m;
}
