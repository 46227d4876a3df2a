/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as what bfdd sent: frames one after the other, as the flip takes them. */
/* LINK: routing/bfd_event.c */
/* LIBS: jansson */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "routing/bfd_event.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	for (;;) {
		struct bfd_event e = {0};
		long n = bfd_frame_length(data, size);
		int r;

		if (n <= 0)
			return 0;
		if ((size_t)n > size)
			abort();
		r = bfd_event_parse(data, (size_t)n, &e);
		if (r == 1 &&
			(!ip_addr_is_set(&e.peer) || !memchr(e.interface, 0, sizeof(e.interface)) ||
				!bfd_diagnostic(e.diagnostic)))
			abort();
		(void)bfd_verdict(&e);
		data += n;
		size -= (size_t)n;
	}
}
