/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any frame, any MTU: two bytes of MTU, then the frame. What comes out is no longer than it may be, lies in its
 * buffer, and pieces carry exactly what the packet did.
 */
/* LINK: overlay/toobig.c */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "overlay/toobig.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct seen {
	size_t n, bytes, mtu;
};

static size_t ip_offset(const uint8_t *frame)
{
	size_t at = 12;

	while (frame[at] != 0x08 || frame[at + 1] != 0)
		at += 4;
	return at + 2;
}

static void check_piece(const uint8_t *frame, size_t len, void *arg)
{
	struct seen *seen = arg;
	const uint8_t *ip = frame + ip_offset(frame);
	size_t header = (size_t)(ip[0] & 15) * 4, ip_len = len - (size_t)(ip - frame);

	if (ip_len > seen->mtu || header < 20 || header > ip_len || ((size_t)ip[2] << 8 | ip[3]) != ip_len)
		abort();
	seen->n++;
	seen->bytes += ip_len - header;
}

static void try_fragment(const uint8_t *frame, size_t len, uint32_t mtu)
{
	static struct toobig_out out;
	struct seen seen = {.mtu = mtu};
	const uint8_t *ip;

	out.emit = check_piece;
	out.arg = &seen;
	if (toobig_fragment(frame, len, mtu, &out) < 0) {
		if (seen.n != 0)
			abort();
		return;
	}
	ip = frame + ip_offset(frame);
	if (seen.n == 0 || seen.bytes != ((size_t)ip[2] << 8 | ip[3]) - (size_t)(ip[0] & 15) * 4)
		abort();
}

/* Chance seldom finds a header checksum: it is put right, so that what lies behind it is reached. */
static void mend(uint8_t *frame, size_t len)
{
	uint8_t *ip = frame + 14;
	size_t header = len > 14 ? (size_t)(ip[0] & 15) * 4 : 0;
	uint32_t sum = 0;

	if (header < 20 || 14 + header > len)
		return;
	ip[10] = ip[11] = 0;
	for (size_t i = 0; i < header; i += 2)
		sum += (uint32_t)ip[i] << 8 | ip[i + 1];
	sum = (sum & 0xffff) + (sum >> 16);
	sum = ~((sum & 0xffff) + (sum >> 16));
	ip[10] = (uint8_t)(sum >> 8);
	ip[11] = (uint8_t)sum;
}

static void try_both(const uint8_t *frame, size_t len, uint32_t mtu)
{
	static struct toobig_answer a;

	if (toobig_answer(frame, len, mtu, &a) == 0 && (a.len > sizeof(a.frame) || a.icmp + 8 > a.len))
		abort();
	try_fragment(frame, len, mtu);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *frame;
	uint32_t mtu;
	size_t len;

	if (size < 2)
		return 0;
	mtu = (uint32_t)data[0] << 8 | data[1];
	len = size - 2;
	frame = malloc(len > 0 ? len : 1); /* ends where the input ends */
	if (!frame)
		abort();
	memcpy(frame, data + 2, len);
	try_both(frame, len, mtu);
	mend(frame, len);
	try_both(frame, len, mtu);
	free(frame);
	return 0;
}
