/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The process: one event loop around the engine. What each file of this folder does to it is declared here. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <systemd/sd-event.h>
#include <time.h>

#include "gateway/base/buf.h"
#include "gateway/daemon/options.h"
#include "gateway/engine/engine.h"
#include "routing/frr_retell.h"

struct arena;
struct auditor;
struct fib_check;
struct flip;
struct frr_health;
struct monitor;
struct nft_monitor;
struct revision;
struct scan_watch;
struct rpc_server;
struct services;
struct store;
struct snoop_watch;
struct toobig_watch;

struct daemon {
	const struct options *options;
	int lock, network_lock;
	sd_event *event;
	struct engine engine;
	struct store *store;
	struct rpc_server *rpc;
	time_t started;

	/* boot.c, commit.c */
	uint64_t revision;  /* the one that runs; 0: none */
	char *boot_trouble; /* NULL, or why the file is not what runs */
	char *file_trouble; /* NULL, or why what runs could not be saved */
	bool boot_refused;  /* the file is valid, but something was in its way: it is tried again when something changes
			     */
	bool transit_open;  /* see transit.h; false: not yet, or there is nothing to open it for */
	bool boot_undone;   /* the last try with the file got as far as the kernel and was rolled back */

	/* watch.c */
	struct monitor *links;
	struct nft_monitor *nft;
	struct toobig_watch *toobig; /* NULL: this kernel cannot */
	struct snoop_watch *snoop;   /* likewise */
	uint32_t swept;		     /* the policy's epoch whose flows were looked at */
	bool prefixes_changed;	     /* and flows have not been looked at since */
	int prefix_fd;		     /* prefix_watch.c */
	sd_event_source *prefix_io;
	char *prefix_trouble; /* NULL, or which prefix files are no good */
	sd_event_source *links_io, *nft_io, *toobig_io, *snoop_io, *snoop_age, *look, *paths;
	uint64_t not_before;	      /* monotonic, microseconds: no look earlier than this */
	uint64_t retry;		      /* back-off after a failed repair; 0: all is well */
	uint64_t boot_at, boot_pause; /* of tries with the file that disturb the kernel */

	/* routing_watch.c */
	struct arena *service_arena;
	struct services *services;
	struct flip *flip;
	struct frr_health *health;
	struct fib_check *fib;
	struct frr_retell retell;
	struct auditor *auditor;
	struct scan_watch *scans;
	sd_event_source *services_io, *flip_io, *pulse, *fib_io, *fib_look;
};

/* --- daemon.c --- */

/* The whole life of the process; its exit status. */
int daemon_run(const struct options *options);

/* --- boot.c --- */

/* Makes the machine what the file says, or else what ran last. */
void daemon_boot(struct daemon *d);
/* Another try with the file: something has changed that was in its way. */
void daemon_boot_again(struct daemon *d);

/* What passes through follows from whether a configuration runs. */
void daemon_follow_transit(struct daemon *d);

/* --- commit.c --- */

/* What an apply came to. */
struct applied {
	enum commit_result result;
	json_t *plan;	   /* what it set out to do; NULL: nothing, or refused before */
	struct buf text;   /* the same for people */
	struct buf report; /* how it went */
};

void applied_free(struct applied *a);
/* Is this the text of the revision that runs? */
bool daemon_runs_text(struct daemon *d, const char *text, size_t len);
bool applied_is_good(const struct applied *a);
/* What the secret files say now becomes a fact: what a commit of cfg means, and a roll-back too. */
void daemon_take_secrets(struct daemon *d, const struct config *cfg);
/* One commit with its revision. `arena` is taken over. */
void daemon_commit(struct daemon *d, const struct config *cfg, struct arena *arena, const char *text, size_t len,
	const struct revision *meta, struct applied *ret);

/* --- watch.c --- */

int watch_open(struct daemon *d);
void watch_close(struct daemon *d);
/* Something may have changed: a look, soon. */
void watch_soon(struct daemon *d);
/* The same, and nothing is collected or spared first: something has ended that is needed. */
void watch_now(struct daemon *d);
/* Takes in the events that wait, so that the engine knows whether anything has changed. */
void watch_listen(struct daemon *d);

/* --- prefix_watch.c --- */

/* What is in the prefix files of cfg becomes a fact; of one that is no good, what was good last stays. */
void daemon_take_prefixes(struct daemon *d, const struct config *cfg);
int prefix_watch_open(struct daemon *d);
void prefix_watch_close(struct daemon *d);
/* Another config runs now: which files are watched. */
void prefix_watch_config(struct daemon *d);

/* --- policy_test.c --- */

struct rpc_call;
/* Answers the call: which rule decides. */
void policy_test_answer(struct daemon *d, struct rpc_call *call);

/* --- policy_watch.c --- */

/* If the policy is another now: flows that it denies end, also those that only answer. */
void daemon_sweep_flows(struct daemon *d);
/* "{flows, denied, ...}" of what a commit of cfg would cut, and the same in words; NULL: nothing. */
json_t *daemon_cut_json(struct daemon *d, const struct config *cfg, struct buf *text);

/* --- routing_watch.c --- */

/* The keeper of the daemons, and routing's way to it. While privileged. 0 or -errno; everything lives in `arena`. */
int routing_services_open(const struct options *options, struct arena *arena, struct services **ret);
/* After privileges are dropped: threads have their own. */
int routing_watch_open(struct daemon *d);
void routing_watch_close(struct daemon *d);
/* Another config runs now: which lines are watched. */
void routing_watch_config(struct daemon *d);

/* --- methods.c --- */

int methods_open(struct daemon *d);
/* UTC, ISO 8601; 0: null. */
json_t *daemon_time_json(time_t t);

/* --- offline.c: what needs no loop; each gives the exit status --- */

int offline_check(const struct options *options);
int offline_dry_run(const struct options *options);
int offline_teardown(const struct options *options);

/* --- plan_json.c --- */

/* {"steps": [...], "conflicts": [...]} */
json_t *plan_to_json(const struct plan *plan);
