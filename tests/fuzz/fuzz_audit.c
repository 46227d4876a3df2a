/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any message as the kernel's: one byte says which parser, then the message, whose length is put right so that what
 * lies behind the header is reached. What is understood makes a record that is one line of printable text.
 */
/* LINK: gateway/audit/ct_event.c gateway/audit/deny.c gateway/audit/flow.c gateway/audit/flow_json.c */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "gateway/audit/deny.h"
#include "gateway/audit/flow_json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_line(const struct flow *flow)
{
	static struct flow_clock clock;
	char line[FLOW_JSON_MAX];
	size_t len = flow_json(&clock, flow, line);

	if (len == 0 || len > sizeof(line) || line[len - 1] != '\n')
		abort();
	for (size_t i = 0; i + 1 < len; i++)
		if (line[i] < ' ' || line[i] > '~')
			abort();
}

static void try_flow(const uint8_t *message, size_t len)
{
	struct ct_event ct;
	struct flow flow;

	if (ct_event_parse(message, len, &ct) < 0)
		return;
	flow_from_ct(&ct, ct.kind == CT_END ? FLOW_END : FLOW_START, &flow);
	check_line(&flow);
}

static void try_deny(const uint8_t *message, size_t len)
{
	struct deny deny;

	if (deny_parse(message, len, &deny) < 0)
		return;
	if (strnlen(deny.verdict, sizeof(deny.verdict)) == sizeof(deny.verdict) || !deny.verdict[0])
		abort();
	check_line(&(struct flow){.event = FLOW_DENY,
		.orig = deny.tuple,
		.verdict = deny.verdict,
		.rule = deny.rule,
		.start_ns = deny.time_ns,
		.bytes = {deny.bytes, 0}});
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint32_t len = (uint32_t)size - 1;
	uint8_t *message;

	if (size < 1)
		return 0;
	message = malloc(len > 0 ? len : 1); /* ends where the input ends */
	if (!message)
		abort();
	memcpy(message, data + 1, len);
	if (data[0] & 2 && len >= 4)
		memcpy(message, &len, 4);
	if (data[0] & 1)
		try_flow(message, len);
	else
		try_deny(message, len);
	free(message);
	return 0;
}
