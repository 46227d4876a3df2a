/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Answers against bytes that another implementation (scapy) made; fragments by what their receiver makes of them. */
/* LINK: overlay/toobig.c */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

#include "gateway/base/str.h"
#include "overlay/toobig.h"

/* The IPv4 packets: DF and MF, 1500 bytes long, the first 44 of them here. */
static const char ipv4[] = "\x02\x00\x00\x00\x00\x0b\x02\x00\x00\x00\x00\x0a\x08\x00\x45\x00\x05\xdc\x00\x07\x60\x00"
			   "\x40\x11\x01\x08\x0a\x00\x00\x01\x0a\x00\x00\x02\x03\xe8\x07\xd0\x05\xdc\x12\x34\x00\x00"
			   "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00";
static const char ipv4_answer[] =
	"\x02\x00\x00\x00\x00\x0a\x02\x00\x00\x00\x00\x0b\x08\x00\x45\xc0\x00\x48\x00\x00\x40\x00\x40\x01\x25\xf3\x0a"
	"\x00\x00\x02\x0a\x00\x00\x01\x03\x04\xd3\x89\x00\x00\x05\xaa\x45\x00\x05\xdc\x00\x07\x60\x00\x40\x11\x01\x08"
	"\x0a\x00\x00\x01\x0a\x00\x00\x02\x03\xe8\x07\xd0\x05\xdc\x12\x34\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
	"\x00\x00\x00\x00\x00";
/* A first fragment of 1496 bytes, in VLAN 5. */
static const char ipv6[] =
	"\x02\x00\x00\x00\x00\x0b\x02\x00\x00\x00\x00\x0a\x81\x00\x60\x05\x86\xdd\x60\x00\x00\x00\x05\xb0\x2c\x40\xfd"
	"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\xfd\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
	"\x00\x00\x00\x02\x11\x00\x00\x01\x00\x00\x12\x34\x03\xe8\x07\xd0\x07\xd8\x12\x34\x00\x00\x00\x00\x00\x00\x00"
	"\x00";
static const char ipv6_answer[] =
	"\x02\x00\x00\x00\x00\x0a\x02\x00\x00\x00\x00\x0b\x81\x00\x60\x05\x86\xdd\x60\x00\x00\x00\x00\x48\x3a\x40\xfd"
	"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\xfd\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
	"\x00\x00\x00\x01\x02\x00\x28\xf4\x00\x00\x05\x96\x60\x00\x00\x00\x05\xb0\x2c\x40\xfd\x00\x00\x00\x00\x00\x00"
	"\x00\x00\x00\x00\x00\x00\x00\x00\x01\xfd\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x11\x00"
	"\x00\x01\x00\x00\x12\x34\x03\xe8\x07\xd0\x07\xd8\x12\x34\x00\x00\x00\x00\x00\x00\x00\x00";

enum { MAC = 14, TAGGED = 18 }; /* where IP begins in the two */

static uint16_t sum16(const uint8_t *p, size_t len, uint32_t sum)
{
	for (size_t i = 0; i < len; i++)
		sum += (uint32_t)p[i] << (i % 2 == 0 ? 8 : 0);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)sum;
}

static void put16(uint8_t *p, size_t value)
{
	p[0] = (uint8_t)(value >> 8);
	p[1] = (uint8_t)value;
}

static size_t get16(const uint8_t *p)
{
	return (size_t)p[0] << 8 | p[1];
}

static void checksum_ipv4(uint8_t *ip)
{
	put16(ip + 10, 0);
	put16(ip + 10, (uint16_t)~sum16(ip, (size_t)(ip[0] & 15) * 4, 0));
}

/* In memory that ends where the frame ends, so that the sanitizer sees a byte too far. */
static int answer_to(const void *frame, size_t len, uint32_t mtu, struct toobig_answer *a)
{
	uint8_t *copy = malloc(len ? len : 1);
	int r;

	assert_non_null(copy);
	memcpy(copy, frame, len);
	r = toobig_answer(copy, len, mtu, a);
	free(copy);
	return r;
}

/* --- answers --- */

static void test_golden_answers(void **state)
{
	struct toobig_answer a;

	(void)state;
	assert_int_equal(answer_to(ipv4, sizeof(ipv4) - 1, 1450, &a), 0);
	assert_int_equal(a.len, sizeof(ipv4_answer) - 1);
	assert_memory_equal(a.frame, ipv4_answer, a.len);
	assert_int_equal(a.icmp, MAC + 20);
	assert_int_equal(a.family, AF_INET);
	assert_memory_equal(a.to, "\x0a\x00\x00\x01", 4);
	assert_int_equal(answer_to(ipv6, sizeof(ipv6) - 1, 1430, &a), 0);
	assert_int_equal(a.len, sizeof(ipv6_answer) - 1);
	assert_memory_equal(a.frame, ipv6_answer, a.len);
	assert_int_equal(a.icmp, TAGGED + 40);
	assert_int_equal(a.family, AF_INET6);
	assert_memory_equal(a.to, ipv6_answer + TAGGED + 24, 16);
}

/* The quote is as long as RFC 1812 and RFC 4443 have it, and no longer than the packet. */
static void test_quotes(void **state)
{
	uint8_t frame[TAGGED + 1496 + 100] = {0};
	struct toobig_answer a;

	(void)state;
	memcpy(frame, ipv4, sizeof(ipv4) - 1);
	assert_int_equal(answer_to(frame, MAC + 1500, 1450, &a), 0);
	assert_int_equal(a.len, MAC + 576);
	assert_int_equal(sum16(a.frame + a.icmp, a.len - a.icmp, 0), 0xffff);
	memcpy(frame, ipv6, sizeof(ipv6) - 1);
	assert_int_equal(answer_to(frame, sizeof(frame), 1430, &a), 0);
	assert_int_equal(a.len, TAGGED + 1280);
	/* What follows the packet in the frame is not quoted. */
	memcpy(frame, ipv4, sizeof(ipv4) - 1);
	put16(frame + MAC + 2, 100);
	checksum_ipv4(frame + MAC);
	assert_int_equal(answer_to(frame, MAC + 300, 68, &a), 0);
	assert_int_equal(a.len, MAC + 20 + 8 + 100);
}

/* One byte of a frame that is answered, changed: and it is not. */
static void test_no_answer(void **state)
{
	static const struct {
		size_t at;
		uint8_t value;
		bool v6;
	} rows[] = {
		{0, 3, false},		    /* sent to a group of stations */
		{6, 1, false},		    /* by one */
		{12, 9, false},		    /* not IP */
		{MAC, 0x65, false},	    /* version 6 */
		{MAC, 0x44, false},	    /* a header that is too short */
		{MAC, 0x4f, false},	    /* longer than what is there */
		{MAC + 2, 0, false},	    /* fits */
		{MAC + 6, 0x20, false},	    /* may be fragmented */
		{MAC + 7, 1, false},	    /* a later fragment */
		{MAC + 12, 0, false},	    /* from 0.0.0.1 */
		{MAC + 12, 127, false},	    /* from a loopback address */
		{MAC + 12, 224, false},	    /* from a group */
		{MAC + 16, 239, false},	    /* to a group */
		{MAC + 16, 255, false},	    /* to class E */
		{0, 0x33, true},	    /* to a group of stations */
		{TAGGED, 0x40, true},	    /* version 4 */
		{TAGGED + 4, 0, true},	    /* fits */
		{TAGGED + 8, 0xff, true},   /* from a group */
		{TAGGED + 24, 0xff, true},  /* to a group */
		{TAGGED + 40 + 3, 9, true}, /* a later fragment */
		{TAGGED + 40, 58, true},    /* ICMPv6 of type 3, an error */
	};
	struct toobig_answer a = {.len = 77};
	uint8_t frame[128];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		size_t len = rows[i].v6 ? sizeof(ipv6) - 1 : sizeof(ipv4) - 1;

		memcpy(frame, rows[i].v6 ? ipv6 : ipv4, len);
		frame[rows[i].at] = rows[i].value;
		if (!rows[i].v6 && rows[i].at > MAC)
			checksum_ipv4(frame + MAC);
		if (answer_to(frame, len, 1400, &a) != -ENOMSG)
			fail_msg("row %zu is answered", i);
	}
	assert_int_equal(a.len, 77);
	assert_int_equal(answer_to(ipv4, sizeof(ipv4) - 1, 67, &a), -ENOMSG);
	assert_int_equal(answer_to(ipv4, sizeof(ipv4) - 1, 1500, &a), -ENOMSG);
	assert_int_equal(answer_to(ipv6, sizeof(ipv6) - 1, 1279, &a), -ENOMSG);
	assert_int_equal(answer_to(ipv6, sizeof(ipv6) - 1, 1496, &a), -ENOMSG);
	memcpy(frame, ipv4, sizeof(ipv4) - 1);
	frame[MAC + 8]--; /* the header is damaged */
	assert_int_equal(answer_to(frame, sizeof(ipv4) - 1, 1400, &a), -ENOMSG);
	for (size_t len = 0; len < TAGGED + 48; len++)
		assert_int_equal(answer_to(ipv6, len, 1400, &a), -ENOMSG);
	for (size_t len = 0; len < MAC + 20; len++)
		assert_int_equal(answer_to(ipv4, len, 1400, &a), -ENOMSG);
}

/* RFC 1122 3.2.2, RFC 4443 2.4: never to an ICMP error; an echo is answered. */
static void test_icmp(void **state)
{
	static const struct {
		uint8_t type;
		bool v6, answered;
	} rows[] = {
		{3, false, false},
		{4, false, false},
		{5, false, false},
		{11, false, false},
		{12, false, false},
		{8, false, true},
		{0, false, true},
		{1, true, false},
		{2, true, false},
		{4, true, false},
		{137, true, false},
		{128, true, true},
		{129, true, true},
	};
	struct toobig_answer a;
	uint8_t frame[128];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		size_t len = rows[i].v6 ? sizeof(ipv6) - 1 : sizeof(ipv4) - 1;

		memcpy(frame, rows[i].v6 ? ipv6 : ipv4, len);
		if (rows[i].v6) {
			frame[TAGGED + 40] = 58;
			frame[TAGGED + 48] = rows[i].type;
		} else {
			frame[MAC + 9] = 1;
			frame[MAC + 20] = rows[i].type;
			checksum_ipv4(frame + MAC);
		}
		assert_int_equal(answer_to(frame, len, 1400, &a), rows[i].answered ? 0 : -ENOMSG);
	}
}

/* Hop-by-hop, destination options and authentication before an error: found, whatever their lengths. */
static void test_extension_headers(void **state)
{
	struct toobig_answer a;
	uint8_t frame[TAGGED + 40 + 16 + 24 + 8 + 8] = {0}, *p = frame + TAGGED + 40;

	(void)state;
	memcpy(frame, ipv6, TAGGED + 40);
	frame[TAGGED + 6] = 0;
	p[0] = 60, p[1] = 1;
	p[16] = 51, p[17] = 0; /* destination options of 8 bytes */
	p[24] = 58, p[25] = 2; /* authentication of 16 */
	p[40] = 1;
	assert_int_equal(answer_to(frame, sizeof(frame), 1400, &a), -ENOMSG);
	p[40] = 128;
	assert_int_equal(answer_to(frame, sizeof(frame), 1400, &a), 0);
}

/* A chain that goes on and on is not followed to its end. */
static void test_long_chain(void **state)
{
	uint8_t frame[TAGGED + 40 + 100 * 8] = {0};
	struct toobig_answer a;

	(void)state;
	memcpy(frame, ipv6, TAGGED + 40);
	frame[TAGGED + 6] = 60;
	for (size_t at = TAGGED + 40; at < sizeof(frame); at += 8)
		frame[at] = 60;
	assert_int_equal(answer_to(frame, sizeof(frame), 1400, &a), -ENOMSG);
	frame[TAGGED + 40 + 7 * 8] = 17;
	assert_int_equal(answer_to(frame, sizeof(frame), 1400, &a), 0);
}

static void test_ipv6_sources(void **state)
{
	static const uint8_t addresses[][16] = {{0}, {[15] = 1}};
	uint8_t frame[sizeof(ipv6) - 1];
	struct toobig_answer a;

	(void)state;
	memcpy(frame, ipv6, sizeof(frame));
	for (size_t i = 0; i < ARRAY_SIZE(addresses); i++) {
		memcpy(frame + TAGGED + 8, addresses[i], 16);
		assert_int_equal(answer_to(frame, sizeof(frame), 1400, &a), -ENOMSG);
	}
	frame[TAGGED + 8 + 15] = 2;
	assert_int_equal(answer_to(frame, sizeof(frame), 1400, &a), 0);
}

/* A provider's tag before the customer's; a third is nobody's. */
static void test_tags(void **state)
{
	static const uint8_t outer[] = {0x88, 0xa8, 0, 1};
	uint8_t frame[sizeof(ipv6) - 1 + 8];
	struct toobig_answer a;

	(void)state;
	memcpy(frame, ipv6, 12);
	memcpy(frame + 12, outer, 4);
	memcpy(frame + 16, ipv6 + 12, sizeof(ipv6) - 1 - 12);
	assert_int_equal(answer_to(frame, sizeof(frame) - 4, 1430, &a), 0);
	assert_memory_equal(a.frame + 12, frame + 12, 10);
	assert_int_equal(a.len, sizeof(ipv6_answer) - 1 + 4);
	memcpy(frame + 16, outer, 4);
	memcpy(frame + 20, ipv6 + 12, sizeof(ipv6) - 1 - 12);
	assert_int_equal(answer_to(frame, sizeof(frame), 1430, &a), -ENOMSG);
}

/* --- fragments --- */

enum { PIECES_MAX = 64 };

struct pieces {
	size_t n, len[PIECES_MAX];
	uint8_t *v[PIECES_MAX];
};

static void keep(const uint8_t *frame, size_t len, void *arg)
{
	struct pieces *p = arg;

	assert_true(p->n < PIECES_MAX);
	p->v[p->n] = malloc(len);
	assert_non_null(p->v[p->n]);
	memcpy(p->v[p->n], frame, len);
	p->len[p->n++] = len;
}

static void forget(struct pieces *p)
{
	for (size_t i = 0; i < p->n; i++)
		free(p->v[i]);
	p->n = 0;
}

static int fragment(const uint8_t *frame, size_t len, uint32_t mtu, struct pieces *p)
{
	struct toobig_out *out = calloc(1, sizeof(*out));
	uint8_t *copy = malloc(len ? len : 1);
	int r;

	assert_true(out && copy);
	memcpy(copy, frame, len);
	*p = (struct pieces){0};
	out->emit = keep;
	out->arg = p;
	r = toobig_fragment(copy, len, mtu, out);
	free(out);
	free(copy);
	return r;
}

/* An IPv4 packet with these options and data bytes 0, 1, 2, ... Its length as a frame. */
static size_t make(uint8_t *frame, const char *options, size_t n_options, size_t data, unsigned fragment_field)
{
	uint8_t *ip = frame + MAC;
	size_t header = 20 + n_options;

	memcpy(frame, ipv4, MAC + 20);
	ip[0] = (uint8_t)(0x40 | header / 4);
	put16(ip + 2, header + data);
	put16(ip + 6, fragment_field);
	memcpy(ip + 20, options, n_options);
	checksum_ipv4(ip);
	for (size_t i = 0; i < data; i++)
		ip[header + i] = (uint8_t)(i % 251);
	return MAC + header + data;
}

/* What the receiver has after all of them: data in the right place, all of it, and headers that are right. */
static void check_pieces(const struct pieces *p, const uint8_t *frame, uint32_t mtu)
{
	const uint8_t *ip = frame + MAC;
	size_t header = (size_t)(ip[0] & 15) * 4, data = get16(ip + 2) - header, at = 0;
	size_t before = (get16(ip + 6) & 0x1fff) * 8;

	for (size_t i = 0; i < p->n; i++) {
		const uint8_t *piece = p->v[i] + MAC;
		size_t h = (size_t)(piece[0] & 15) * 4, n = p->len[i] - MAC - h;
		bool last = i + 1 == p->n;

		assert_true(p->len[i] - MAC <= mtu);
		assert_memory_equal(p->v[i], frame, MAC);
		assert_int_equal(get16(piece + 2), p->len[i] - MAC);
		assert_memory_equal(piece + 4, ip + 4, 2);
		assert_memory_equal(piece + 8, ip + 8, 2);
		assert_memory_equal(piece + 12, ip + 12, 8);
		assert_int_equal(sum16(piece, h, 0), 0xffff);
		assert_int_equal((get16(piece + 6) & 0x1fff) * 8, before + at);
		assert_int_equal(get16(piece + 6) & 0xe000, last ? get16(ip + 6) & 0xe000 : 0x2000);
		assert_true(last || n % 8 == 0);
		assert_memory_equal(piece + h, ip + header + at, n);
		at += n;
	}
	assert_int_equal(at, data);
}

static void test_fragments(void **state)
{
	static const struct {
		size_t data;
		unsigned field;
		uint32_t mtu;
		size_t pieces;
	} rows[] = {
		{1480, 0, 1430, 2},
		{1408, 0, 1428, 1},
		{1409, 0, 1428, 2},
		{8980, 0, 1430, 7},
		{65515, 0, 1430, 47},
		{1480, 0x2000, 1430, 2},       /* a first fragment */
		{1480, 0x2000 | 185, 1430, 2}, /* one in the middle */
		{1481, 185, 1430, 2},	       /* a last one */
		{100, 0, 68, 3},
		{40, 0, 28, 5},
		{0, 0, 1430, 1},
		{1, 0, 28, 1},
	};
	static uint8_t frame[MAC + 65535];
	struct pieces p;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		size_t len = make(frame, "", 0, rows[i].data, rows[i].field);

		assert_int_equal(fragment(frame, len, rows[i].mtu, &p), 0);
		assert_int_equal(p.n, rows[i].pieces);
		check_pieces(&p, frame, rows[i].mtu);
		forget(&p);
	}
}

/* Router alert (copied) and timestamp (not), a NOP between: the first piece has all, the others the one. */
static void test_options(void **state)
{
	static const char options[] = "\x94\x04\x00\x00\x01\x44\x08\x05\x00\x00\x00\x00\x00\x00\x00\x00";
	static const char *const broken[] = {"\x94\x00\x00\x00", "\x94\x05\x00\x00"};
	uint8_t frame[MAC + 2000];
	struct pieces p;
	size_t len = make(frame, options, 16, 1480, 0);

	(void)state;
	assert_int_equal(fragment(frame, len, 1430, &p), 0);
	assert_int_equal(p.n, 2);
	check_pieces(&p, frame, 1430);
	assert_int_equal(p.v[0][MAC], 0x49);
	assert_memory_equal(p.v[0] + MAC + 20, options, 16);
	assert_int_equal(p.v[1][MAC], 0x46);
	assert_memory_equal(p.v[1] + MAC + 20, options, 4);
	forget(&p);
	/* An option of no length ends the list, and so does one that is longer than the header. */
	for (size_t i = 0; i < ARRAY_SIZE(broken); i++) {
		len = make(frame, broken[i], 4, 1480, 0);
		assert_int_equal(fragment(frame, len, 1430, &p), 0);
		assert_int_equal(p.n, 2);
		assert_int_equal(p.v[1][MAC], 0x45);
		forget(&p);
	}
	/* What is copied is padded. */
	len = make(frame, "\x01\x83\x03\x04", 4, 1480, 0);
	assert_int_equal(fragment(frame, len, 1430, &p), 0);
	assert_int_equal(p.v[1][MAC], 0x46);
	assert_memory_equal(p.v[1] + MAC + 20, "\x83\x03\x04\0", 4);
	forget(&p);
}

static void test_not_fragmented(void **state)
{
	uint8_t frame[MAC + 2000];
	struct pieces p;
	size_t len = make(frame, "", 0, 1480, 0x4000);

	(void)state;
	assert_int_equal(fragment(frame, len, 1430, &p), -ENOMSG); /* DF */
	len = make(frame, "", 0, 1477, 0x2000);
	assert_int_equal(fragment(frame, len, 1430, &p), -ENOMSG); /* more are to follow a broken unit */
	len = make(frame, "", 0, 1480, 8191);
	assert_int_equal(fragment(frame, len, 1430, &p), -ENOMSG); /* beyond the largest packet */
	len = make(frame, "", 0, 1480, 0);
	assert_int_equal(fragment(frame, len - 1, 1430, &p), -ENOMSG); /* cut off */
	assert_int_equal(fragment(frame, len, 27, &p), -ENOMSG);
	frame[MAC + 1] ^= 1;
	assert_int_equal(fragment(frame, len, 1430, &p), -ENOMSG); /* damaged */
	assert_int_equal(fragment((const uint8_t *)ipv6, sizeof(ipv6) - 1, 1430, &p), -ENOMSG);
	assert_int_equal(fragment(frame, 0, 1430, &p), -ENOMSG);
	assert_int_equal(p.n, 0);
}

/* The sum over a UDP datagram that two pieces carry, with its pseudo-header. */
static uint16_t udp_sum(const struct pieces *p, const uint8_t *frame, size_t data)
{
	uint8_t udp[2048];
	size_t at = 0;

	for (size_t i = 0; i < p->n; at += p->len[i++] - MAC - 20)
		memcpy(udp + at, p->v[i] + MAC + 20, p->len[i] - MAC - 20);
	assert_int_equal(at, data);
	return sum16(udp, data, sum16(frame + MAC + 12, 8, (uint32_t)data + 17));
}

static void test_unfinished_udp_checksum(void **state)
{
	uint8_t frame[MAC + 2000], *udp = frame + MAC + 20;
	size_t data = 1479, len = make(frame, "", 0, data, 0);
	struct pieces p;

	(void)state;
	put16(udp + 4, data);
	put16(udp + 6, sum16(frame + MAC + 12, 8, (uint32_t)data + 17));
	assert_int_equal(fragment(frame, len, 1430, &p), 0);
	assert_int_equal(p.n, 2);
	assert_int_equal(udp_sum(&p, frame, data), 0xffff);
	forget(&p);
	/* Any other field is the sender's business: right, wrong or none. */
	put16(udp + 6, 0);
	assert_int_equal(fragment(frame, len, 1430, &p), 0);
	check_pieces(&p, frame, 1430);
	forget(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_golden_answers),
		cmocka_unit_test(test_quotes),
		cmocka_unit_test(test_no_answer),
		cmocka_unit_test(test_icmp),
		cmocka_unit_test(test_extension_headers),
		cmocka_unit_test(test_long_chain),
		cmocka_unit_test(test_ipv6_sources),
		cmocka_unit_test(test_tags),
		cmocka_unit_test(test_fragments),
		cmocka_unit_test(test_options),
		cmocka_unit_test(test_not_fragmented),
		cmocka_unit_test(test_unfinished_udp_checksum),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
