/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Protection against scans: the audit's thread tells each denied packet, scan.h finds who scans, and the loop reports
 * it and has the kernel block the source for a time, where the policy asks for it.
 */
#pragma once

#include <jansson.h>
#include <systemd/sd-event.h>

struct auditor;
struct config;
struct scan_watch;

/* Before auditor_config(). 0 or -errno. */
int scan_watch_open(sd_event *event, struct auditor *auditor, struct scan_watch **ret);
/* After the auditor is closed. NULL is fine. */
void scan_watch_close(struct scan_watch *w);

/* Another config runs now; what is needed of it is copied. NULL, or one without a scan: nothing is watched. */
void scan_watch_config(struct scan_watch *w, const struct config *cfg);

/* [{source, destination, service, in, time, blocked-until}], the last ones first. */
json_t *scan_watch_json(const struct scan_watch *w);
