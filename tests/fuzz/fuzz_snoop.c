/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any frame: its first 14 bytes are the MAC header. What is believed of it is a host's address and its own MAC. */
/* LINK: overlay/snoop.c gateway/base/addr.c */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "overlay/snoop.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct snoop_host host;
	uint8_t *packet;

	if (size < 14)
		return 0;
	packet = malloc(size - 14 > 0 ? size - 14 : 1); /* ends where the input ends */
	if (!packet)
		abort();
	memcpy(packet, data + 14, size - 14);
	if (snoop_parse(data, 14, packet, size - 14, &host) == 0 &&
		(memcmp(host.mac.bytes, data + 6, 6) != 0 || (host.mac.bytes[0] & 1) ||
			(host.addr.family != AF_INET && host.addr.family != AF_INET6)))
		abort();
	free(packet);
	return 0;
}
