/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `fairway policy test`: which rule decides of a flow, by the words of the config that runs. Nothing is sent. */
#include <string.h>
#include <time.h>

#include "config/config.h"
#include "config/endpoint.h"
#include "gateway/base/arena.h"
#include "gateway/base/cleanup.h"
#include "gateway/base/str.h"
#include "gateway/daemon/daemon.h"
#include "gateway/policy/policy_eval.h"
#include "gateway/policy/policy_place.h"
#include "gateway/rpc/rpc_frame.h"
#include "gateway/rpc/rpc_server.h"

enum { FAMILIES = 2, SECONDS_DAY = 86400, THURSDAY = 4 };
static const uint8_t families[FAMILIES] = {AF_INET, AF_INET6};

struct question {
	struct rpc_call *call;
	const struct config *cfg;
	struct arena *arena;
	struct policy_model *m;
	struct policy_places *places;
	struct port_range port;
};

/* One end, in each family that it can have. */
struct test_end {
	struct policy_place place[FAMILIES];
	struct ip_addr addr[FAMILIES];
	bool has[FAMILIES];
};

/* An address may be in several tenants: then the question has to say where. */
static bool place_address(struct question *q, const char *what, const struct ip_addr *addr, struct test_end *ret)
{
	size_t f = ip_addr_is_ipv6(addr), n = 0;

	for (uint32_t domain = 0; domain <= q->cfg->tenants.n; domain++) {
		struct policy_place place = policy_place_of(q->places, domain, addr);

		if (place.device == 0 && !place.own)
			continue;
		ret->place[f] = place;
		n++;
	}
	if (n > 1)
		rpc_error(q->call, "bad-request", "%s is an address of several tenants; write SEGMENT@%s", what, what);
	ret->addr[f] = *addr;
	ret->has[f] = true;
	return n <= 1;
}

static bool take_addrs(struct question *q, const struct policy_addrs *a, struct test_end *ret)
{
	for (size_t i = 0; i < a->n_own + a->n_file; i++) {
		const struct ip_prefix *p = i < a->n_own ? &a->own[i] : &a->file[i - a->n_own];

		if (!ret->has[ip_addr_is_ipv6(&p->addr)] && !place_address(q, a->what, &p->addr, ret))
			return false;
	}
	return true;
}

static void take_zone(struct question *q, const struct policy_zone *z, bool is_from, struct test_end *ret)
{
	uint32_t device = is_from && z->n_behind ? z->behind[0] : z->n_out ? z->out[0] : 0;

	for (size_t i = 0; i < z->n_out && q->m->devices[device].is_vrf; i++)
		device = z->out[i];
	for (size_t f = 0; f < FAMILIES; f++) {
		ret->place[f].device = device;
		ret->has[f] = policy_place_example(q->places, device, families[f], &ret->addr[f]);
		/* Of a place without a known address: what rules say of places alone. */
		ret->addr[f].family = families[f];
	}
	if (!ret->has[0] && !ret->has[1])
		ret->has[0] = ret->has[1] = true;
}

/* "segment:gpu", "gpu@10.99.1.5", "10.99.1.5", "gateway". False: the call has its error. */
static bool take_end(struct question *q, const char *key, const char *text, bool is_from, struct test_end *ret)
{
	const char *at = strchr(text, '@');
	struct policy_end end;
	struct ip_addr addr;

	*ret = (struct test_end){0};
	if (ip_addr_parse(text, &addr) == 0)
		return place_address(q, text, &addr, ret);
	if (at && ip_addr_parse(at + 1, &addr) == 0) {
		text = arena_strndup(q->arena, text, (size_t)(at - text));
	} else {
		at = NULL;
	}
	if (!policy_model_end(q->m, q->cfg, text, &end) || end.kind == END_ANY) {
		rpc_error(q->call, "bad-request",
			"\"%s\": %s is no address, and no name that the policy knows; NAME@ADDRESS says both", key,
			text);
		return false;
	}
	if (end.kind == END_GATEWAY) {
		*ret = (struct test_end){.place = {{0, true}, {0, true}}, .has = {true, true}};
	} else if (end.kind == END_ADDRS) {
		return take_addrs(q, &q->m->addrs[end.index], ret);
	} else {
		take_zone(q, &q->m->zones[end.index], is_from, ret);
	}
	if (at) {
		size_t f = ip_addr_is_ipv6(&addr);

		ret->has[!f] = false;
		ret->has[f] = true;
		ret->addr[f] = addr;
	}
	return true;
}

static bool take_service(struct question *q, const char *text)
{
	const struct policy *policy = q->cfg->policy;

	if (port_parse(text, &q->port) == 0)
		return true;
	for (size_t i = 0; i < policy->services.n; i++)
		if (str_eq(policy->services.v[i].name, text))
			return port_parse(policy->services.v[i].ports.v[0], &q->port) == 0;
	rpc_error(q->call, "bad-request", "\"service\": %s is no port, such as tcp/443, and no service of the policy",
		text);
	return false;
}

static json_t *answer_family(
	const struct question *q, size_t f, const struct test_end *from, const struct test_end *to, struct buf *text)
{
	time_t now = time(NULL);
	struct policy_packet p = {.src = from->addr[f],
		.dst = to->addr[f],
		.proto = q->port.proto,
		.port = q->port.low,
		.day = (unsigned)((now / SECONDS_DAY + THURSDAY) % 7),
		.minute = (unsigned)(now % SECONDS_DAY / 60)};
	struct policy_verdict v;
	struct buf words = {0};
	json_t *json;

	p.src.family = p.dst.family = families[f];
	policy_place_packet(q->m, from->place[f], to->place[f], &p);
	v = policy_eval(q->m, &p);
	policy_verdict_print(q->m, &v, &words);
	buf_printf(text, "%s: %s\n", f ? "IPv6" : "IPv4", buf_str(&words));
	json = json_pack("{s:s, s:b, s:o, s:s}", "family", f ? "ipv6" : "ipv4", "accepted", v.action == ACCESS_ACCEPT,
		"rule", v.rule >= 0 ? json_integer((json_int_t)q->m->rules[v.rule].rule->seq) : json_null(), "verdict",
		buf_str(&words));
	buf_free(&words);
	return json;
}

static void answer(const struct question *q, const struct test_end *from, const struct test_end *to)
{
	struct buf text = {0};
	json_t *list = json_array();

	for (size_t f = 0; f < FAMILIES; f++)
		if (from->has[f] && to->has[f])
			json_array_append_new(list, answer_family(q, f, from, to, &text));
	if (json_array_size(list) == 0)
		rpc_error(q->call, "bad-request", "the two ends have no family of addresses in common");
	else
		q->call->result = json_pack("{s:O, s:s}", "verdicts", list, "text", buf_str(&text));
	json_decref(list);
	buf_free(&text);
}

void policy_test_answer(struct daemon *d, struct rpc_call *call)
{
	_cleanup_(arena_freep) struct arena *arena = arena_new();
	struct question q = {.call = call, .cfg = d->engine.running, .arena = arena};
	const char *texts[3];
	static const char *const keys[] = {"from", "to", "service"};
	struct test_end from, to;

	if (!q.cfg || !q.cfg->policy) {
		rpc_error(call, "not-configured", "there is no policy: nothing is filtered");
		return;
	}
	for (size_t i = 0; i < 3; i++) {
		texts[i] = json_string_value(json_object_get(call->params, keys[i]));
		if (!texts[i] || !str_is_printable(texts[i])) {
			rpc_error(call, "bad-request", "\"%s\" has to be a text", keys[i]);
			return;
		}
	}
	q.m = policy_model_new(q.cfg, &d->engine.facts, arena);
	q.places = policy_places_new(q.cfg, q.m);
	if (take_end(&q, "from", texts[0], true, &from) && take_end(&q, "to", texts[1], false, &to) &&
		take_service(&q, texts[2]))
		answer(&q, &from, &to);
}
