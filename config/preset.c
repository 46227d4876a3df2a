/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Provider presets; see preset.h. */
#include "config/preset.h"

#include <inttypes.h>
#include <stdio.h>

#include "config/schema.h"
#include "gateway/base/str.h"

static const struct preset presets[] = {
#define PRESET(provider_word, what_word, number, weight_word, why, from)                                               \
	{.provider = preset_provider_##provider_word,                                                                  \
		.what = PRESET_##what_word,                                                                            \
		.value = (number),                                                                                     \
		.weight = PRESET_##weight_word,                                                                        \
		.reason = (why),                                                                                       \
		.source = (from)},
#define preset_provider_aliyun PROVIDER_ALIYUN
#define preset_provider_huawei PROVIDER_HUAWEI
#define preset_provider_aws PROVIDER_AWS
#include "config/schema/presets.def"
#undef PRESET
};

enum unit { TIME, BYTES, NUMBER, NOTHING };

static const struct {
	const char *name;
	enum unit unit;
} whats[] = {
	[PRESET_BFD_INTERVAL] = {"BFD interval, default", TIME},
	[PRESET_BFD_INTERVAL_MIN] = {"BFD interval, at least", TIME},
	[PRESET_BFD_MULTIPLIER] = {"BFD multiplier, default", NUMBER},
	[PRESET_BFD_MULTIPLIER_MIN] = {"BFD multiplier, at least", NUMBER},
	[PRESET_HOPS] = {"BFD hops", NUMBER},
	[PRESET_TTL] = {"TTL of BGP packets", NUMBER},
	[PRESET_HOLD] = {"hold time, default", TIME},
	[PRESET_HOLD_MIN] = {"hold time, at least", TIME},
	[PRESET_HOLD_MAX] = {"hold time, at most", TIME},
	[PRESET_RESTART_WITH_BFD] = {"graceful restart together with BFD", NOTHING},
	[PRESET_ROUTES_MAX] = {"routes that it takes", NUMBER},
	[PRESET_MTU_MAX] = {"MTU, at most", BYTES},
	[PRESET_PING_INTERVAL] = {"pings of the health check, every", TIME},
};

const struct preset *preset_find(int provider, enum preset_what what)
{
	for (size_t i = 0; i < ARRAY_SIZE(presets); i++)
		if ((int)presets[i].provider == provider && presets[i].what == what)
			return &presets[i];
	return NULL;
}

const struct preset *preset_at(size_t i)
{
	return i < ARRAY_SIZE(presets) ? &presets[i] : NULL;
}

const char *preset_provider(const struct preset *preset)
{
	return schema_words("provider")->v[preset->provider].word;
}

const char *preset_name(const struct preset *preset)
{
	return whats[preset->what].name;
}

const char *preset_value(const struct preset *preset, char ret[32])
{
	uint64_t v = preset->value;

	switch (whats[preset->what].unit) {
	case TIME:
		if (v % 1000000 == 0 && v > 0)
			(void)snprintf(ret, 32, "%" PRIu64 "s", v / 1000000);
		else
			(void)snprintf(ret, 32, "%" PRIu64 "ms", v / 1000);
		break;
	case BYTES:
		(void)snprintf(ret, 32, "%" PRIu64 " bytes", v);
		break;
	case NUMBER:
		(void)snprintf(ret, 32, "%" PRIu64, v);
		break;
	default:
		*ret = '\0';
	}
	return ret;
}
