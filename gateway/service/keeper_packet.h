/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The two packets of keeper.h. Both ends are one program, so there is no version in them. */
#pragma once

#include <stdint.h>

struct keeper_request {
	uint32_t number; /* comes back in the answer: that of a call which was given up must not answer the next */
	uint32_t op;
	uint32_t service;
	int32_t pid;
};

struct keeper_reply {
	uint32_t number;
	int32_t error; /* 0 or -errno */
	int32_t pid;
};
