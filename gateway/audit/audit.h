/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The audit: a record of who talked to whom. A thread beside the loop listens to the kernel's connection tracking and
 * to what the policy logs as denied, and writes each flow's start and end, and each denied packet, to files, to syslog
 * and to an IPFIX collector. It shares with the loop no more than the config's part and the counts, and logs nothing.
 *
 *   audit_check.c, audit_render.c     config -> diagnostics, nft model                    pure
 *   ct_event.c, deny.c                the kernel's bytes -> plain values                  pure
 *   audit_names.c, flow*.c, totals.c  values -> records with names, lines, sums           pure
 *   ct_socket.c                       netlink sockets                                     edge
 *   json_sink.c, syslog_sink.c, ipfix_sink.c                                              edge
 *   audit.c                           the thread                                          edge
 *
 * Nothing is lost silently. The kernel keeps the end of a flow until we have taken it (NETLINK_BROADCAST_ERROR), for as
 * long as its table is not filling up; what is missed all the same is counted or said to be unknown, in the record.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct auditor;
struct config;
struct deny;
struct diag;
struct nft_model;

/* The rules of `audit` beyond the schema's. */
void audit_check(const struct config *cfg, struct diag *diag);
/* The nft table that switches connection tracking on and labels flows with their interfaces. cfg NULL adds nothing. */
void audit_render(const struct config *cfg, struct nft_model *m);

struct audit_counts {
	bool on; /* the config that runs has an audit */
	uint64_t started, ended, alive;
	uint64_t denied;		    /* packets that the kernel told us of */
	uint64_t denied_omitted;	    /* of these: over denies-per-second, only counted in the record */
	uint64_t denied_lost;		    /* the kernel could not tell us of */
	uint64_t overruns;		    /* times that the kernel had more events than were read */
	uint64_t dumps;			    /* of the kernel's table, at the start and to heal what was missed */
	uint64_t missing;		    /* flows whose end was never told; known only to be so many */
	uint64_t unknown;		    /* times that it cannot be known how many are missing */
	uint64_t lines, bytes, lost, files; /* of the files: written; lines that never were */
	uint64_t syslog, syslog_lost, ipfix, ipfix_lost;
	uint64_t malformed; /* messages of the kernel that were not understood */
	int error;	    /* -errno of the events' socket */
	int file_error, syslog_error, ipfix_error;
};

/* Starts the thread; it does nothing before auditor_config(). Needs CAP_NET_ADMIN, also later. 0 or -errno. */
int auditor_open(struct auditor **ret);
/* Writes what it has. NULL is fine. */
void auditor_close(struct auditor *auditor);

/* Another config runs now; what is needed of it is copied. Without `audit` in it, or NULL: the record ends. */
void auditor_config(struct auditor *auditor, const struct config *cfg);
void auditor_counts(struct auditor *auditor, struct audit_counts *ret);
/* Why the record is not whole or not written now, in words; false: there is nothing to say. */
bool auditor_trouble(struct auditor *auditor, char *ret, size_t size);

/*
 * Calls fn for each denied packet, in the audit's thread, also where there is no record; before records of it are
 * limited. Once, before auditor_config(). fn must be quick.
 */
void audit_on_deny(struct auditor *auditor, void (*fn)(const struct deny *deny, void *arg), void *arg);
