/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Provider presets as data: what a cloud is known to have at its end of a line, from schema/presets.def. Defaults,
 * rules and the generated reference all read the same rows. Pure.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "config/config.h"

enum preset_what {
	PRESET_BFD_INTERVAL,
	PRESET_BFD_INTERVAL_MIN,
	PRESET_BFD_MULTIPLIER,
	PRESET_BFD_MULTIPLIER_MIN,
	PRESET_HOPS,
	PRESET_TTL,
	PRESET_HOLD,
	PRESET_HOLD_MIN,
	PRESET_HOLD_MAX,
	PRESET_RESTART_WITH_BFD,
	PRESET_ROUTES_MAX,
	PRESET_MTU_MAX,
	PRESET_PING_INTERVAL,
};

enum preset_weight { PRESET_NOTE, PRESET_WARN, PRESET_REFUSE };

struct preset {
	enum provider provider;
	enum preset_what what;
	uint64_t value;
	enum preset_weight weight;
	const char *reason;
	const char *source;
};

/* NULL where nothing is published. */
const struct preset *preset_find(int provider, enum preset_what what);

/* All rows, in the order of the table; NULL at the end. */
const struct preset *preset_at(size_t i);

/* "aliyun" */
const char *preset_provider(const struct preset *preset);

/* "BFD interval, default", and the value with its unit: "300ms"; "" where there is none. ret has 32 bytes. */
const char *preset_name(const struct preset *preset);
const char *preset_value(const struct preset *preset, char ret[32]);
