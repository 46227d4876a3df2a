/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See audit_settings.h. */
#include "gateway/audit/audit_settings.h"

#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "gateway/audit/audit_names.h"
#include "gateway/base/str.h"

static void take_ipfix(const struct ipfix *ipfix, struct audit_settings *s)
{
	s->ipfix = true;
	s->target = (struct ipfix_target){
		.collector = ipfix->collector,
		.source = ipfix->source,
		.port = (uint16_t)ipfix->port,
		.domain = ipfix->domain,
	};
}

struct audit_settings *audit_settings_new(const struct config *cfg)
{
	struct audit_settings *s = calloc(1, sizeof(*s));
	const struct audit *audit = cfg ? cfg->audit : NULL;

	if (!s)
		abort();
	s->names = audit_names_new(cfg);
	if (!audit)
		return s;
	s->on = true;
	s->directory = strdup(audit->directory);
	if (!s->directory)
		abort();
	s->max_size = audit->max_size;
	s->max_files = audit->max_files;
	s->buffer = audit->buffer;
	s->denies_per_second = audit->denies_per_second;
	s->syslog = audit->syslog;
	if (audit->ipfix)
		take_ipfix(audit->ipfix, s);
	return s;
}

void audit_settings_free(struct audit_settings *settings)
{
	if (!settings)
		return;
	audit_names_free(settings->names);
	free(settings->directory);
	free(settings);
}

struct audit_names *audit_settings_take_names(struct audit_settings *settings)
{
	struct audit_names *names = settings->names;

	settings->names = NULL;
	return names;
}

bool audit_settings_same_ipfix(const struct audit_settings *a, const struct audit_settings *b)
{
	return a->ipfix == b->ipfix && ip_addr_cmp(&a->target.collector, &b->target.collector) == 0 &&
		ip_addr_cmp(&a->target.source, &b->target.source) == 0 && a->target.port == b->target.port &&
		a->target.domain == b->target.domain;
}
