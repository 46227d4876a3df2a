/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See deny_record.h. */
#include "gateway/audit/deny_record.h"

#include <net/if.h>
#include <string.h>

/* NULL: there is none of this index (any more). */
static const char *interface_name(struct deny_record *d, uint32_t ifindex)
{
	size_t i = ifindex % DENY_INTERFACES;

	if (ifindex == 0)
		return NULL;
	if (d->interfaces[i].ifindex != ifindex || d->interfaces[i].second != d->second) {
		d->interfaces[i].ifindex = ifindex;
		d->interfaces[i].second = d->second;
		if (!if_indextoname(ifindex, d->interfaces[i].name))
			d->interfaces[i].name[0] = '\0';
	}
	return d->interfaces[i].name[0] ? d->interfaces[i].name : NULL;
}

/* By interface; one that the config does not know is at least named. By address where there is no interface. */
static const struct audit_place *place_at(struct deny_record *d, const struct audit_names *names, uint32_t ifindex,
	uint8_t family, const uint8_t *address, struct audit_place *room)
{
	const char *name = interface_name(d, ifindex);
	const struct audit_place *found =
		name ? audit_names_at_interface(names, name) : audit_names_at_address(names, family, address);

	if (found || !name)
		return found;
	*room = (struct audit_place){.interface = name};
	return room;
}

/* Of a bridge's port: the segment's place, and the port's name. */
static const struct audit_place *place_from(
	struct deny_record *d, const struct deny *deny, const struct audit_names *names)
{
	const char *port = interface_name(d, deny->port);
	const struct audit_place *found = place_at(d, names, deny->in, deny->tuple.family, deny->tuple.src, &d->from);

	if (!port)
		return found;
	d->from = found ? *found : (struct audit_place){0};
	d->from.interface = port;
	return &d->from;
}

/* Numbers that are skipped are packets that the kernel had and could not tell. */
static void count_lost(struct deny_record *d, const struct deny *deny)
{
	uint32_t gap = d->has_seq && deny->has_seq ? deny->seq - d->seq : 0;

	/* Backwards: somebody else listened in between, and the numbers began again. */
	if (gap < UINT32_C(1) << 31) {
		d->lost += gap;
		d->lost_new += gap;
	}
	d->has_seq = deny->has_seq;
	d->seq = deny->seq + 1;
}

bool deny_record_take(struct deny_record *d, const struct deny *deny, const struct audit_names *names,
	uint32_t per_second, uint64_t now_ns, struct flow *ret)
{
	d->seen++;
	count_lost(d, deny);
	if (d->second != now_ns / 1000000000) {
		d->second = now_ns / 1000000000;
		d->in_second = 0;
	}
	if (d->in_second++ >= per_second) {
		d->omitted++;
		d->omitted_new++;
		return false;
	}
	memcpy(d->verdict, deny->verdict, sizeof(d->verdict));
	*ret = (struct flow){
		.event = FLOW_DENY,
		.orig = deny->tuple,
		.from = place_from(d, deny, names),
		.to = place_at(d, names, deny->out, deny->tuple.family, deny->tuple.dst, &d->to),
		.rule = deny->rule,
		.rule_name = deny->rule ? audit_names_rule(names, deny->rule) : NULL,
		.verdict = d->verdict,
		.has_counters = true,
		.packets = {1, 0},
		.bytes = {deny->bytes, 0},
		.start_ns = deny->time_ns ? deny->time_ns : now_ns,
	};
	return true;
}

bool deny_record_omitted(struct deny_record *d, struct deny_omitted *ret)
{
	*ret = (struct deny_omitted){d->omitted_new, d->lost_new};
	d->omitted_new = d->lost_new = 0;
	return ret->over_rate > 0 || ret->lost > 0;
}
