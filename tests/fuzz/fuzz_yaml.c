/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * config_parse_draft() on any bytes: no crash, no leak; either a config or an error with a place, and messages that a
 * terminal can show. What parses is walked, so that every value of it is read; what is sound of the rest goes through
 * the overlay's rules, which find references that lead nowhere and sections that are not there.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "config/draft.h"
#include "config/schema.h"
#include "config/types.h"
#include "gateway/base/arena.h"
#include "gateway/base/buf.h"
#include "gateway/base/str.h"
#include "overlay/overlay.h"

/* LINK: config/config.c config/decode.c config/diag.c config/schema.c config/text.c config/types.c config/types_bgp.c config/types_net.c config/types_policy.c config/endpoint.c config/types_text.c config/yaml.c overlay/overlay_check.c overlay/interface_check.c overlay/segment_check.c overlay/address_check.c overlay/mtu.c overlay/desired.c overlay/model.c gateway/engine/facts.c gateway/engine/plan.c */
/* LIBS: libfyaml jansson */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *__lsan_default_suppressions(void);

/* libfyaml 0.7.12 loses a scalar's scratch memory when its scanner fails inside that scalar: not ours to free. */
const char *__lsan_default_suppressions(void)
{
	return "leak:libfyaml.so";
}

/* A value that was taken prints as a text that is the same value. */
static void check_value(const struct visit *v, void *user)
{
	_Alignas(max_align_t) char again[64] = {0};
	struct buf text = {0};
	const char *want;

	v->field->type->print(v->value, &v->field->limit, &text);
	if (v->field->type->parse(buf_str(&text), &v->field->limit, user, again, &want) < 0 ||
		v->field->type->compare(v->value, again) != 0)
		abort();
	buf_free(&text);
}

static void check_messages(struct diag *diag)
{
	struct buf out = {0};

	diag_sort(diag);
	for (size_t i = 0; i < diag->n; i++)
		if (!str_is_printable(diag->v[i].text))
			abort();
	diag_print(diag, &out);
	buf_free(&out);
}

/* An entry with an error is not in the sound part, and a list without one is whole. */
static void check_sound(const struct config_draft *draft)
{
	for (size_t i = 0; i < draft->sound->segments.n; i++)
		if (draft->sound->segments.v[i].entry.unsure)
			abort();
	if (CONFIG_IS_WHOLE(draft->sound, segments) && draft->sound->segments.n != draft->read->segments.n)
		abort();
	if (CONFIG_IS_WHOLE(draft->sound, system) && !draft->sound->system)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *arena = arena_new();
	struct config_draft draft;
	struct diag diag;

	diag_init(&diag, "fuzz");
	draft = config_parse_draft((const char *)data, size, arena, &diag);
	if (!draft.sound && diag.n_errors == 0)
		abort();
	if (draft.sound) {
		schema_walk(draft.read, check_value, arena);
		check_sound(&draft);
		overlay_check(draft.sound, &diag);
	}
	check_messages(&diag);
	diag_free(&diag);
	arena_free(arena);
	return 0;
}
