/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * services_selftest RUN: FRR's daemons under a keeper, in a network namespace that this program makes for itself. Like
 * fairwayd it opens the services as root, gives up its privileges, and goes on without; and its daemons were started by
 * a process that is gone when the tests begin.
 */
/* LINK: gateway/daemon/privileges.c gateway/service/caps.c gateway/service/keeper.c gateway/service/keeper_call.c gateway/service/program.c gateway/service/services.c routing/frr_daemons.c routing/frr_vty.c */
/* LIBS: libcap */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "gateway/base/arena.h"
#include "gateway/base/buf.h"
#include "gateway/base/cleanup.h"
#include "gateway/base/fs.h"
#include "gateway/base/str.h"
#include "gateway/daemon/privileges.h"
#include "gateway/service/service.h"
#include "routing/frr_daemons.h"
#include "routing/frr_vty.h"

enum { PATIENCE_MSEC = 5000, SECOND_USEC = 1000000, GRACE_USEC = 5 * SECOND_USEC, SHORT_USEC = 100000 };

static const char *const names[] = {FRR_ZEBRA, FRR_BFDD, FRR_BGPD};

static const char *run_dir;
static struct arena *arena;
static struct services *services;
static pid_t first_pids[FRR_N_DAEMONS];
static int without_groups; /* what connecting gave there */
static int hand;	   /* writes a struct order to a process that is still root */

struct order {
	pid_t pid;
	int sig;
};

static uint64_t now_usec(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * SECOND_USEC + (uint64_t)t.tv_nsec / 1000;
}

static int start_all(struct services *s)
{
	char reason[SERVICE_REASON];

	for (size_t i = 0; i < FRR_N_DAEMONS; i++) {
		int r = services_start(s, names[i], reason);

		if (r < 0) {
			print_error("%s: %s\n", names[i], reason);
			return r;
		}
	}
	return 0;
}

static int open_services(struct services **ret)
{
	size_t n;
	const struct service_spec *specs = frr_daemons_specs(run_dir, arena, &n);

	assert_int_equal(n, FRR_N_SERVICES);
	return services_open(specs, n, ret);
}

/* --- before the tests --- */

/* The first fairwayd; exits with how long all took, in units of 10 ms, or 255. */
static void live_first(void)
{
	uint64_t begin = now_usec();
	struct services *s;
	uint64_t took;

	if (open_services(&s) < 0 || start_all(s) < 0)
		_exit(255);
	took = (now_usec() - begin) / 10000;
	_exit(took < 255 ? (int)took : 254);
}

/* Returns what happens to one who has root's name and CAP_NET_ADMIN, and not the groups. */
static int connect_without_groups(void)
{
	struct frr_vty *vty;
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		if (privileges_drop(NULL, 0) < 0)
			_exit(255);
		_exit(-frr_vty_open(frr_vty_path(run_dir, FRR_BGPD, arena), SECOND_USEC, &vty));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return -WEXITSTATUS(status);
}

static void fork_hand(void)
{
	struct order order;
	int ends[2];

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	if (fork() == 0) {
		(void)close(ends[1]);
		while (read(ends[0], &order, sizeof(order)) == sizeof(order))
			(void)kill(order.pid, order.sig);
		_exit(0);
	}
	(void)close(ends[0]);
	hand = ends[1];
}

static int setup(void **state)
{
	char reason[FRR_REASON];
	int status;
	pid_t pid;

	(void)state;
	arena = arena_new();
	assert_int_equal(unshare(CLONE_NEWNET), 0);
	assert_int_equal(frr_daemons_prepare(run_dir, reason), 0);
	assert_int_equal(frr_daemons_prepare(run_dir, reason), 0); /* the next start does it again */
	pid = fork();
	if (pid == 0)
		live_first();
	assert_int_equal(waitpid(pid, &status, 0), pid);
	print_message("all started in %d ms\n", WEXITSTATUS(status) * 10);
	assert_in_range(WEXITSTATUS(status), 0, 99);
	without_groups = connect_without_groups();
	fork_hand();
	assert_int_equal(open_services(&services), 0);
	for (size_t i = 0; i < FRR_N_DAEMONS; i++)
		first_pids[i] = services_pid(services, names[i]);
	return privileges_drop(frr_groups, FRR_N_GROUPS);
}

static int teardown(void **state)
{
	(void)state;
	(void)frr_daemons_stop(services, SHORT_USEC);
	services_close(services);
	(void)close(hand);
	(void)wait(NULL);
	arena_free(arena);
	return 0;
}

/* --- the tests --- */

static void signal_daemon(const char *name, int sig)
{
	struct order order = {.pid = services_pid(services, name), .sig = sig};

	assert_true(order.pid > 0);
	assert_int_equal(write(hand, &order, sizeof(order)), sizeof(order));
}

static void assert_status(pid_t pid, const char *line)
{
	_cleanup_free_ char *text = NULL;
	char path[64];
	size_t len;

	(void)snprintf(path, sizeof(path), "/proc/%d/status", pid);
	assert_int_equal(fs_read(path, 65536, &text, &len), 0);
	if (!strstr(text, line))
		fail_msg("no '%s' in:\n%s", line, text);
}

static void the_second_life_has_them(void **state)
{
	(void)state;
	for (size_t i = 0; i < FRR_N_DAEMONS; i++)
		assert_true(first_pids[i] > 0);
	assert_int_equal(start_all(services), 0);
	for (size_t i = 0; i < FRR_N_DAEMONS; i++)
		assert_int_equal(services_pid(services, names[i]), first_pids[i]);
}

static void this_process_has_one_capability(void **state)
{
	(void)state;
	assert_status(getpid(), "CapPrm:\t0000000000001000");
	assert_status(getpid(), "CapEff:\t0000000000001000");
	assert_status(getpid(), "CapBnd:\t0000000000001000");
	assert_status(getpid(), "CapAmb:\t0000000000000000");
	assert_status(getpid(), "NoNewPrivs:\t1");
	assert_int_equal(getgroups(0, NULL), FRR_N_GROUPS);
	assert_true(services_pid(services, FRR_BGPD) > 0);
	assert_int_equal(kill(services_pid(services, FRR_BGPD), SIGKILL), -1);
	assert_int_equal(errno, EPERM);
}

static void the_groups_open_the_vty(void **state)
{
	struct buf text = {0};

	(void)state;
	assert_int_equal(without_groups, -EACCES);
	for (size_t i = 0; i < FRR_N_DAEMONS; i++) {
		_cleanup_(frr_vty_closep) struct frr_vty *vty = NULL;

		assert_int_equal(frr_vty_open(frr_vty_path(run_dir, names[i], arena), GRACE_USEC, &vty), 0);
		assert_int_equal(frr_vty_pid(vty), services_pid(services, names[i]));
		assert_int_equal(frr_vty_run(vty, "show running-config", &text), 0);
		assert_true((strstr(buf_str(&text), "no zebra nexthop kernel enable") != NULL) ==
			str_eq(names[i], FRR_ZEBRA));
	}
	buf_free(&text);
}

static void only_bfdd_is_real_time(void **state)
{
	struct sched_param param;

	(void)state;
	assert_int_equal(sched_getscheduler(services_pid(services, FRR_BFDD)), SCHED_FIFO);
	assert_int_equal(sched_getparam(services_pid(services, FRR_BFDD), &param), 0);
	assert_int_equal(param.sched_priority, 30);
	assert_int_equal(sched_getscheduler(services_pid(services, FRR_ZEBRA)), SCHED_OTHER);
	assert_int_equal(sched_getscheduler(services_pid(services, FRR_BGPD)), SCHED_OTHER);
}

static void they_have_what_they_need(void **state)
{
	(void)state;
	for (size_t i = 0; i < FRR_N_DAEMONS; i++) {
		assert_status(services_pid(services, names[i]), "NoNewPrivs:\t1");
		assert_status(services_pid(services, names[i]), "CapBnd:\t00000000002034c0");
	}
}

static void one_that_is_killed_comes_back(void **state)
{
	char reason[SERVICE_REASON];
	pid_t pid;

	(void)state;
	for (size_t i = 0; i < FRR_N_DAEMONS; i++) {
		struct pollfd p = {.fd = services_fd(services), .events = POLLIN};

		pid = services_pid(services, names[i]);
		signal_daemon(names[i], SIGKILL);
		assert_int_equal(poll(&p, 1, PATIENCE_MSEC), 1);
		assert_string_equal(services_read(services), names[i]);
		(void)poll(NULL, 0, (int)(services_wait_usec(services, names[i]) / 1000) + 1);
		assert_int_equal(services_start(services, names[i], reason), 0);
		assert_int_not_equal(services_pid(services, names[i]), pid);
	}
}

static void one_that_hangs_is_killed(void **state)
{
	char reason[SERVICE_REASON];
	struct frr_vty *vty;
	pid_t pid = services_pid(services, FRR_BGPD);

	(void)state;
	signal_daemon(FRR_BGPD, SIGSTOP);
	while (frr_vty_open(frr_vty_path(run_dir, FRR_BGPD, arena), SHORT_USEC, &vty) == 0)
		frr_vty_close(vty);
	assert_int_equal(services_pid(services, FRR_BGPD), pid);
	assert_int_equal(services_kill(services, FRR_BGPD), 0);
	assert_int_equal(services_pid(services, FRR_BGPD), 0);
	(void)poll(NULL, 0, (int)(services_wait_usec(services, FRR_BGPD) / 1000) + 1);
	assert_int_equal(services_start(services, FRR_BGPD, reason), 0);
}

static void all_stop_in_their_grace(void **state)
{
	(void)state;
	assert_int_equal(start_all(services), 0);
	assert_int_equal(frr_daemons_stop(services, GRACE_USEC), 0);
	for (size_t i = 0; i < FRR_N_DAEMONS; i++)
		assert_int_equal(services_pid(services, names[i]), 0);
	assert_null(services_read(services));
}

/* --- what prepare refuses, as root: before all else --- */

#define LONGEST "/frr/rehearsal/bgpd.vty"

static void a_bad_run_folder_is_told(void **state)
{
	char reason[FRR_REASON], closed[128], inner[160], longer[110];

	(void)state;
	memset(longer, 'x', sizeof(longer) - 1);
	longer[0] = '/';
	longer[108 - sizeof(LONGEST) + 1] = '\0';
	assert_int_equal(frr_daemons_prepare(longer, reason), -ENAMETOOLONG);
	assert_non_null(strstr(reason, "too long a path"));
	longer[108 - sizeof(LONGEST)] = '\0';
	assert_int_equal(frr_daemons_prepare(longer, reason), -ENOENT); /* short enough; not there */

	(void)snprintf(closed, sizeof(closed), "%s/closed", run_dir);
	(void)snprintf(inner, sizeof(inner), "%s/run", closed);
	assert_int_equal(mkdir(closed, 0700), 0);
	assert_int_equal(mkdir(inner, 0755), 0);
	assert_int_equal(frr_daemons_prepare(inner, reason), -EACCES);
	assert_non_null(strstr(reason, "the user frr cannot get there"));
	assert_int_equal(chmod(closed, 0755), 0);
	assert_int_equal(frr_daemons_prepare(inner, reason), 0);
}

int main(int argc, char *argv[])
{
	const struct CMUnitTest as_root[] = {cmocka_unit_test(a_bad_run_folder_is_told)};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_second_life_has_them),
		cmocka_unit_test(this_process_has_one_capability),
		cmocka_unit_test(the_groups_open_the_vty),
		cmocka_unit_test(only_bfdd_is_real_time),
		cmocka_unit_test(they_have_what_they_need),
		cmocka_unit_test(one_that_is_killed_comes_back),
		cmocka_unit_test(one_that_hangs_is_killed),
		cmocka_unit_test(all_stop_in_their_grace),
	};

	if (argc != 2) {
		(void)fprintf(stderr, "usage: %s RUN\n", argv[0]);
		return EXIT_FAILURE;
	}
	run_dir = argv[1];
	return cmocka_run_group_tests(as_root, NULL, NULL) || cmocka_run_group_tests(tests, setup, teardown);
}
