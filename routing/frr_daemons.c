/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See frr_daemons.h. The daemons read one constant line at their start and get all else over their vty sockets: what
 * they run is then always what fairwayd sent to this very process, never a file from some other time.
 */
#include "routing/frr_daemons.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "gateway/base/arena.h"
#include "gateway/base/cleanup.h"
#include "gateway/base/fs.h"
#include "gateway/base/str.h"
#include "gateway/service/service.h"
#include "routing/frr_retell.h"

#define FRR_USER "frr"
#define FRR_PROGRAMS "/usr/lib/frr"

enum { ARGS_MAX = 32, BFDD_FIFO_PRIORITY = 30 };

const char *const frr_groups[FRR_N_GROUPS] = {"frr", "frrvty"};

struct frr_daemon {
	const char *name, *config;
	int fifo_priority;
};

/*
 * Kernel nexthop objects keep what a link flap took from them, so zebra must not use any, and be told before it has a
 * route. bfdd alone is real-time: zebra in SCHED_FIFO can starve the kernel's own work.
 */
static const struct frr_daemon daemons[FRR_N_SERVICES] = {
	{FRR_ZEBRA, "no zebra nexthop kernel enable\n", 0},
	{FRR_BFDD, "", BFDD_FIFO_PRIORITY},
	{FRR_BGPD, "", 0},
	{FRR_REHEARSAL, "", 0},
};

char *frr_folder(const char *run_dir, struct arena *arena)
{
	return arena_printf(arena, "%s/frr", run_dir);
}

char *frr_vty_path(const char *run_dir, const char *name, struct arena *arena)
{
	if (str_eq(name, FRR_REHEARSAL))
		return arena_printf(arena, "%s/frr/" FRR_REHEARSAL "/" FRR_BGPD ".vty", run_dir);
	return arena_printf(arena, "%s/frr/%s.vty", run_dir, name);
}

char *frr_bfd_path(const char *run_dir, struct arena *arena)
{
	return arena_printf(arena, "%s/frr/bfdd.sock", run_dir);
}

/* --- the folder --- */

static int say(char *reason, int error, const char *what, const char *path)
{
	(void)snprintf(reason, FRR_REASON, "%s: %s", path, what);
	return error;
}

/* The kernel's limit for the longest of the sockets, found before a daemon fails on it without a word. */
static int check_length(const char *run_dir, char *reason)
{
	size_t room = sizeof(((struct sockaddr_un *)NULL)->sun_path),
	       need = strlen(run_dir) + sizeof("/frr/rehearsal/bgpd.vty");

	return need <= room ? 0 : say(reason, -ENAMETOOLONG, "too long a path for sockets in its folder frr", run_dir);
}

/* What is right is left alone: to change the mode of a folder that is FRR's takes CAP_FOWNER. */
static int make_folder(const char *path, const struct passwd *user)
{
	_cleanup_close_ int fd = -1;
	struct stat st;

	if (mkdir(path, 0750) < 0 && errno != EEXIST)
		return -errno;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if ((st.st_mode & 07777) != 0750 && fchmod(fd, 0750) < 0)
		return -errno;
	if ((st.st_uid != user->pw_uid || st.st_gid != user->pw_gid) && fchown(fd, user->pw_uid, user->pw_gid) < 0)
		return -errno;
	return 0;
}

/* Root's, readable: the folder keeps others out, and FRR has nothing to change in them. */
static int write_configs(const char *folder)
{
	char path[PATH_MAX];
	int r = 0;

	for (size_t i = 0; i < FRR_N_SERVICES && r == 0; i++) {
		(void)snprintf(path, sizeof(path), "%s/%s.conf", folder, daemons[i].name);
		r = fs_write_atomic(path, daemons[i].config, strlen(daemons[i].config), 0644);
	}
	return r;
}

/* Every folder on the way has to let FRR's user through; asked as that user, for one moment. */
static int check_reach(const char *folder, const struct passwd *user)
{
	_cleanup_close_ int fd = -1;
	int r;

	(void)setfsgid(user->pw_gid);
	(void)setfsuid(user->pw_uid);
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	r = fd < 0 ? -errno : 0;
	(void)setfsuid(geteuid());
	(void)setfsgid(getegid());
	return r;
}

int frr_daemons_prepare(const char *run_dir, char reason[FRR_REASON])
{
	char folder[sizeof(((struct sockaddr_un *)NULL)->sun_path)], inner[PATH_MAX];
	const struct passwd *user = getpwnam(FRR_USER);
	int r = check_length(run_dir, reason);

	if (r < 0)
		return r;
	(void)snprintf(folder, sizeof(folder), "%s/frr", run_dir);
	if (!user)
		return say(reason, -ENOENT, "no user of this name: the package frr is not installed", FRR_USER);
	(void)snprintf(inner, sizeof(inner), "%s/" FRR_REHEARSAL, folder);
	r = make_folder(folder, user);
	if (r == 0)
		r = make_folder(inner, user);
	if (r == 0)
		r = write_configs(folder);
	if (r < 0)
		return say(reason, r, strerror(-r), folder);
	r = check_reach(folder, user);
	return r == 0 ? 0 : say(reason, r, "the user frr cannot get there", folder);
}

/* --- the services --- */

static const char *in_folder(const char *run_dir, const char *name, const char *suffix, struct arena *arena)
{
	return arena_printf(arena, "%s/frr/%s%s", run_dir, name, suffix);
}

/* In the foreground, without a TCP vty (-P 0), and with nothing outside of the folder. */
static const char *const *arguments(const struct frr_daemon *d, const char *run_dir, struct arena *arena)
{
	const char *common[] = {arena_printf(arena, FRR_PROGRAMS "/%s", d->name), "-f",
		in_folder(run_dir, d->name, ".conf", arena), "-z", in_folder(run_dir, "zserv", ".api", arena),
		"--vty_socket", arena_printf(arena, "%s/frr", run_dir), "-i",
		in_folder(run_dir, d->name, ".pid", arena), "-A", "127.0.0.1", "-P", "0", "-u", FRR_USER, "-g",
		FRR_USER, "--log", "stdout", "--log-level", "notifications"};
	const char **argv = arena_array(arena, ARGS_MAX, sizeof(*argv));
	size_t n = ARRAY_SIZE(common);

	memcpy(argv, common, sizeof(common));
	if (str_eq(d->name, FRR_ZEBRA)) { /* routes stay when it ends, and for a while after its start: frr_retell.h */
		argv[n++] = "-r";
		argv[n++] = "-K";
		argv[n++] = arena_printf(arena, "%d", ZEBRA_KEEPS);
	} else if (str_eq(d->name, FRR_BFDD)) {
		argv[n++] = "--bfdctl";
		argv[n++] = frr_bfd_path(run_dir, arena);
	}
	return argv;
}

/* No zebra, no port: it is there for its opinion. What it thinks of that goes to nobody. */
static const char *const *rehearsal_arguments(const struct frr_daemon *d, const char *run_dir, struct arena *arena)
{
	const char *v[] = {arena_printf(arena, FRR_PROGRAMS "/%s", FRR_BGPD), "-f",
		in_folder(run_dir, d->name, ".conf", arena), "-Z", "-p", "0", "--vty_socket",
		in_folder(run_dir, d->name, "", arena), "-i", in_folder(run_dir, d->name, ".pid", arena), "-A",
		"127.0.0.1", "-P", "0", "-u", FRR_USER, "-g", FRR_USER, "--log", "stdout", "--log-level", "emergencies",
		NULL};

	return arena_memdup(arena, v, sizeof(v));
}

const struct service_spec *frr_daemons_specs(const char *run_dir, struct arena *arena, size_t *ret_n)
{
	struct service_spec *specs = arena_array(arena, FRR_N_SERVICES, sizeof(*specs));

	for (size_t i = 0; i < FRR_N_SERVICES; i++)
		specs[i] = (struct service_spec){
			.name = daemons[i].name,
			.argv = arguments(&daemons[i], run_dir, arena),
			.socket = frr_vty_path(run_dir, daemons[i].name, arena),
			.fifo_priority = daemons[i].fifo_priority,
		};
	specs[FRR_N_DAEMONS].argv = rehearsal_arguments(&daemons[FRR_N_DAEMONS], run_dir, arena);
	specs[FRR_N_DAEMONS].own_network = true;
	*ret_n = FRR_N_SERVICES;
	return specs;
}

int frr_daemons_stop(struct services *services, uint64_t grace_usec)
{
	int r = 0;

	for (size_t i = FRR_N_SERVICES; i > 0; i--) {
		int stopped = services_stop(services, daemons[i - 1].name, grace_usec);

		r = r < 0 ? r : stopped;
	}
	return r;
}
