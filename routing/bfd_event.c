/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frames of bfdd's control socket; see bfd_event.h. Only what says a state ("status") or an end ("delete") is an event;
 * "add" and "update" tell of timers. Pure.
 */
#include "routing/bfd_event.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "gateway/base/cleanup.h"
#include "gateway/base/str.h"

enum { VERSION = 1, TYPE_RESPONSE = 1, TYPE_NOTIFY = 4, NOTIFY_MASK = 8 };

/* RFC 5880 section 4.1; those that decide something have a name. */
enum { DIAG_NONE = 0, DIAG_NEIGHBOR_DOWN = 3, DIAG_ADMIN_DOWN = 7 };

static const char *const diagnostics[] = {
	"no diagnostic",
	"control detection time expired",
	"echo function failed",
	"neighbor signaled session down",
	"forwarding plane reset",
	"path down",
	"concatenated path down",
	"administratively down",
	"reverse concatenated path down",
};

const char *bfd_diagnostic(unsigned diagnostic)
{
	return diagnostic < ARRAY_SIZE(diagnostics) ? diagnostics[diagnostic] : "unknown diagnostic";
}

enum bfd_verdict bfd_verdict(const struct bfd_event *event)
{
	if (event->removed || event->state == BFD_ADMIN_DOWN || event->state == BFD_UP)
		return BFD_ALIVE;
	if (event->diagnostic == DIAG_NONE)
		return BFD_UNKNOWN;
	/* The far end says down: because it does not hear us, or because its operator wants no BFD any more. */
	if (event->diagnostic == DIAG_NEIGHBOR_DOWN &&
		(event->remote_diagnostic == DIAG_NONE || event->remote_diagnostic == DIAG_ADMIN_DOWN))
		return BFD_ALIVE;
	return BFD_DEAD;
}

/* --- frames --- */

static void put_u32(uint8_t *at, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		at[i] = (uint8_t)(value >> (24 - 8 * i));
}

size_t bfd_subscribe(uint8_t buf[BFD_SUBSCRIBE_MAX])
{
	put_u32(buf, NOTIFY_MASK);
	buf[4] = 0;
	buf[5] = 1; /* id: any but 0, which marks what nobody asked for */
	buf[6] = TYPE_NOTIFY;
	buf[7] = VERSION;
	memset(buf + BFD_FRAME_HEADER, 0xff, NOTIFY_MASK);
	return BFD_FRAME_HEADER + NOTIFY_MASK;
}

long bfd_frame_length(const uint8_t *bytes, size_t n)
{
	uint32_t body;

	if (n < BFD_FRAME_HEADER)
		return 0;
	body = (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
	if (body > BFD_FRAME_MAX - BFD_FRAME_HEADER || bytes[7] != VERSION)
		return -EBADMSG;
	return n < BFD_FRAME_HEADER + body ? 0 : (long)(BFD_FRAME_HEADER + body);
}

/* --- what is in them --- */

static void json_free(json_t **json)
{
	json_decref(*json);
}

static const char *get_text(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

/* 0, or -EBADMSG where it is there and no address. */
static int get_addr(const json_t *object, const char *key, struct ip_addr *ret)
{
	const json_t *value = json_object_get(object, key);

	if (!value)
		return 0;
	return json_is_string(value) && ip_addr_parse(json_string_value(value), ret) == 0 ? 0 : -EBADMSG;
}

static unsigned get_diagnostic(const json_t *object, const char *key)
{
	json_int_t value = json_integer_value(json_object_get(object, key));

	return value >= 0 && value < 32 ? (unsigned)value : 31; /* five bits on the wire */
}

static int get_state(const json_t *object, enum bfd_state *ret)
{
	static const char *const names[] = {
		[BFD_ADMIN_DOWN] = "adm-down", [BFD_DOWN] = "down", [BFD_INIT] = "init", [BFD_UP] = "up"};
	const char *name = get_text(object, "state");

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (str_eq(name, names[i])) {
			*ret = (enum bfd_state)i;
			return 0;
		}
	}
	return -EBADMSG;
}

static int notify_parse(const json_t *root, struct bfd_event *ret)
{
	struct bfd_event e = {.multihop = json_is_true(json_object_get(root, "multihop"))};
	const char *op = get_text(root, "op"), *interface = get_text(root, "local-interface");

	if (str_eq(op, "add") || str_eq(op, "update"))
		return 0;
	e.removed = str_eq(op, "delete");
	if (!e.removed && !str_eq(op, "status"))
		return -EBADMSG;
	if (get_addr(root, "peer-address", &e.peer) < 0 || get_addr(root, "local-address", &e.local) < 0 ||
		!ip_addr_is_set(&e.peer) || strlen(interface) >= sizeof(e.interface))
		return -EBADMSG;
	if (!e.removed && get_state(root, &e.state) < 0)
		return -EBADMSG;
	(void)snprintf(e.interface, sizeof(e.interface), "%s", interface);
	e.diagnostic = get_diagnostic(root, "diagnostics");
	e.remote_diagnostic = get_diagnostic(root, "remote-diagnostics");
	*ret = e;
	return 1;
}

int bfd_event_parse(const uint8_t *frame, size_t n, struct bfd_event *ret)
{
	_cleanup_(json_free) json_t *root = NULL;

	if (bfd_frame_length(frame, n) != (long)n || n == 0)
		return -EBADMSG;
	root = json_loadb((const char *)frame + BFD_FRAME_HEADER, n - BFD_FRAME_HEADER, 0, NULL);
	if (!json_is_object(root))
		return -EBADMSG;
	if (frame[6] == TYPE_RESPONSE)
		return str_eq(get_text(root, "status"), "ok") ? 0 : -EBADMSG;
	return frame[6] == TYPE_NOTIFY ? notify_parse(root, ret) : 0;
}
