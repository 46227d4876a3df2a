/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The thread of the fast flip; see flip.h. It has a netlink socket and a connection to bfdd of its own, shares with the
 * loop no more than the list of lines and the news, and logs nothing.
 *
 * One thing it does: look. A look reads the routes, computes the overrides that they need now and makes the kernel have
 * these and no others. A death is a look at once, before which the few routes of ours (the tunnels' ends) are
 * overridden without one; after it there is one whenever routes change, until no line is newly dead any more.
 */
#include "routing/flip.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>

#include "gateway/base/arena.h"
#include "gateway/base/cleanup.h"
#include "gateway/base/str.h"
#include "overlay/model.h"
#include "routing/flip_netlink.h"
#include "routing/flip_plan.h"
#include "routing/flip_state.h"

enum {
	PROTO_BGP = 186, /* rtm_protocol of what zebra has from bgpd */
	LOOK_USEC = 100 * 1000,
	LOOK_ANYWAY_USEC = 1000 * 1000,
	ORPHAN_USEC = 1000 * 1000, /* how long an override stays that has lost the route below */
	RECONNECT_MIN_USEC = 50 * 1000,
	RECONNECT_MAX_USEC = 1000 * 1000,
	NICE = -20,
};

struct flip {
	/* Set before the thread starts. */
	struct sockaddr_un address;
	pthread_t thread;
	int wake, news_fd;

	/* Both threads'. */
	pthread_mutex_t lock;
	bool stop, watch_changed;
	struct flip_line *watch;
	size_t n_watch;
	struct flip_news *news; /* at most one of each line, and one `lost` */
	size_t n_news, cap_news;

	/* The thread's. */
	struct flip_kernel *kernel;
	struct flip_state state;
	int bfd;
	uint8_t in[BFD_FRAME_MAX];
	size_t n_in;
	uint64_t reconnect, reconnect_wait;
	bool has_changed; /* routes, since the last look */
	bool is_active;	  /* there are overrides, or lines that want some */
	uint64_t looked;
	uint64_t orphaned; /* since when there are overrides without a route below; 0: none */
	int look_result;
};

static uint64_t now_usec(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static void ring(int fd)
{
	/* Fails only if it is ringing already. */
	(void)!write(fd, &(uint64_t){1}, sizeof(uint64_t));
}

static void unring(int fd)
{
	(void)!read(fd, &(uint64_t){0}, sizeof(uint64_t));
}

/* --- news --- */

static bool is_overtaken(const struct flip_news *old, const struct flip_news *news)
{
	if (old->lost || news->lost)
		return old->lost && news->lost;
	return ip_addr_cmp(&old->event.peer, &news->event.peer) == 0 &&
		strcmp(old->event.interface, news->event.interface) == 0;
}

/* What is overtaken goes away and the new one to the end, so that `lost` keeps its place in time. */
static void tell(struct flip *f, struct flip_news news)
{
	size_t kept = 0;

	(void)pthread_mutex_lock(&f->lock);
	for (size_t i = 0; i < f->n_news; i++) {
		if (is_overtaken(&f->news[i], &news))
			news.moved += f->news[i].moved;
		else
			f->news[kept++] = f->news[i];
	}
	if (kept == f->cap_news) {
		f->cap_news = f->cap_news ? 2 * f->cap_news : 8;
		f->news = reallocarray(f->news, f->cap_news, sizeof(*f->news));
		if (!f->news)
			abort();
	}
	f->news[kept++] = news;
	f->n_news = kept;
	ring(f->news_fd);
	(void)pthread_mutex_unlock(&f->lock);
}

int flip_fd(const struct flip *flip)
{
	return flip->news_fd;
}

int flip_read(struct flip *flip, struct flip_news *ret)
{
	int r = 0;

	(void)pthread_mutex_lock(&flip->lock);
	if (flip->n_news > 0) {
		*ret = flip->news[0];
		flip->n_news--;
		memmove(flip->news, flip->news + 1, flip->n_news * sizeof(*flip->news));
		r = 1;
	} else {
		unring(flip->news_fd);
	}
	(void)pthread_mutex_unlock(&flip->lock);
	return r;
}

/* --- routes --- */

/* Our own routes alone: few, and the tunnels' ends are among them. Only adds; the look that follows puts it right. */
static void flip_own(struct flip *f, const struct flip_line *dead, size_t n_dead, struct arena *arena)
{
	struct kernel_model routes = {.arena = arena};
	struct flip_delta delta;
	struct ip_route *want;
	size_t n;

	if (flip_kernel_read(f->kernel, FAIRWAY_PROTO, &routes) < 0)
		return;
	n = flip_overrides(routes.routes, routes.n_routes, dead, n_dead, arena, &want);
	flip_delta(want, n, NULL, 0, arena, &delta);
	(void)flip_kernel_apply(f->kernel, &delta);
}

static int route_cmp(const void *a, const void *b)
{
	return ip_route_cmp(a, b);
}

/* Adds to what is wanted what has lost the route below only now. */
static size_t keep_orphans(struct flip *f, const struct ip_route *orphans, size_t n_orphans, struct arena *arena,
	struct ip_route **want, size_t n_want)
{
	uint64_t now = now_usec();
	struct ip_route *all;

	if (n_orphans == 0)
		f->orphaned = 0;
	else if (f->orphaned == 0)
		f->orphaned = now;
	if (n_orphans == 0 || now >= f->orphaned + ORPHAN_USEC)
		return n_want;
	all = arena_array(arena, n_want + n_orphans, sizeof(*all));
	if (n_want > 0)
		memcpy(all, *want, n_want * sizeof(*all));
	memcpy(all + n_want, orphans, n_orphans * sizeof(*all));
	qsort(all, n_want + n_orphans, sizeof(*all), route_cmp);
	*want = all;
	return n_want + n_orphans;
}

/* Routes of the same protocol that are none of ours are left alone. */
static int read_overrides(struct flip_kernel *kernel, struct kernel_model *ret)
{
	int r = flip_kernel_read(kernel, FLIP_PROTO, ret);
	size_t n = 0;

	for (size_t i = 0; i < ret->n_routes; i++)
		if (flip_is_override(&ret->routes[i]))
			ret->routes[n++] = ret->routes[i];
	ret->n_routes = n;
	return r;
}

/* Makes the kernel have the overrides that these dead lines need, and no others. 0 or -errno. */
static int make_overrides(
	struct flip *f, const struct flip_line *dead, size_t n_dead, struct arena *arena, size_t *ret_wanted)
{
	struct flip_kernel *kernel = f->kernel;
	struct kernel_model below = {.arena = arena}, have = {.arena = arena};
	struct ip_route *want = NULL, *orphans = NULL;
	size_t n_orphans = 0;
	struct flip_delta delta;
	int r = read_overrides(kernel, &have);

	if (r == 0 && n_dead > 0)
		r = flip_kernel_read(kernel, FAIRWAY_PROTO, &below);
	if (r == 0 && n_dead > 0)
		r = flip_kernel_read(kernel, PROTO_BGP, &below);
	if (r < 0)
		return r;
	*ret_wanted = flip_overrides(below.routes, below.n_routes, dead, n_dead, arena, &want);
	if (n_dead > 0)
		n_orphans = flip_orphans(
			have.routes, have.n_routes, below.routes, below.n_routes, dead, n_dead, arena, &orphans);
	*ret_wanted = keep_orphans(f, orphans, n_orphans, arena, &want, *ret_wanted);
	flip_delta(want, *ret_wanted, have.routes, have.n_routes, arena, &delta);
	return flip_kernel_apply(kernel, &delta);
}

/* How many overrides there are after it. */
static size_t look(struct flip *f, bool is_death)
{
	_cleanup_(arena_freep) struct arena *arena = arena_new();
	struct flip_line *dead;
	size_t n_dead = flip_state_dead(&f->state, now_usec(), arena, &dead), wanted = 0;

	if (is_death)
		flip_own(f, dead, n_dead, arena);
	f->look_result = make_overrides(f, dead, n_dead, arena, &wanted);
	/* Before the routes are looked at the next time, and not after: a change in between is told. */
	f->is_active = n_dead > 0 || f->look_result < 0;
	flip_kernel_listen(f->kernel, f->is_active);
	f->looked = now_usec();
	f->has_changed = false;
	return wanted;
}

/* --- bfdd --- */

static void disconnect(struct flip *f, uint64_t now)
{
	(void)close(f->bfd);
	f->bfd = -1;
	f->n_in = 0;
	f->reconnect = now + f->reconnect_wait;
	flip_state_lost(&f->state, now);
	tell(f, (struct flip_news){.lost = true});
}

/* Asks for all events; bfdd answers with the state of all sessions, also when asked again. */
static bool subscribe(int fd)
{
	uint8_t request[BFD_SUBSCRIBE_MAX];
	size_t n = bfd_subscribe(request);

	return send(fd, request, n, MSG_NOSIGNAL) == (ssize_t)n;
}

static void reconnect(struct flip *f, uint64_t now)
{
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd >= 0 && connect(fd, (struct sockaddr *)&f->address, sizeof(f->address)) == 0 && subscribe(fd)) {
		f->bfd = steal_fd(&fd);
		return;
	}
	f->reconnect = now + f->reconnect_wait;
	if (f->reconnect_wait < RECONNECT_MAX_USEC)
		f->reconnect_wait *= 2;
	if (f->reconnect_wait > RECONNECT_MAX_USEC)
		f->reconnect_wait = RECONNECT_MAX_USEC;
}

/* One event into the state. What it means is done when all that arrived with it are known. */
struct round {
	struct watched **changed;
	size_t n;
	bool has_death, has_return;
};

static void take_event(struct flip *f, const struct bfd_event *event, uint64_t now, struct round *round)
{
	struct watched *w = flip_state_event(&f->state, event, now);
	bool is_death;

	if (!w)
		return;
	is_death = w->dead && w->died == now;
	round->has_death |= is_death;
	round->has_return |= !w->dead;
	for (size_t i = 0; i < round->n; i++)
		if (round->changed[i] == w)
			return;
	round->changed[round->n++] = w;
}

/* Takes the whole frames in f->in. False: this is not bfdd. */
static bool take_frames(struct flip *f, uint64_t now, struct round *round)
{
	size_t at = 0;
	long n;

	while ((n = bfd_frame_length(f->in + at, f->n_in - at)) > 0) {
		struct bfd_event event;
		int r = bfd_event_parse(f->in + at, (size_t)n, &event);

		if (r < 0)
			return false;
		if (r == 1)
			take_event(f, &event, now, round);
		at += (size_t)n;
		f->reconnect_wait = RECONNECT_MIN_USEC;
	}
	f->n_in -= at;
	memmove(f->in, f->in + at, f->n_in);
	return n == 0;
}

static void act(struct flip *f, const struct round *round, uint64_t now)
{
	size_t moved = round->has_death || (round->has_return && f->is_active) ? look(f, round->has_death) : 0;
	uint32_t usec = (uint32_t)(now_usec() - now);

	for (size_t i = 0; i < round->n; i++) {
		const struct watched *w = round->changed[i];
		bool is_death = w->dead && w->died == now;

		tell(f,
			(struct flip_news){
				.event = w->last,
				.dead = w->dead,
				.moved = is_death ? (unsigned)moved : 0,
				.usec = is_death ? usec : 0,
			});
	}
}

static void receive(struct flip *f)
{
	ssize_t n = recv(f->bfd, f->in + f->n_in, sizeof(f->in) - f->n_in, MSG_DONTWAIT);
	uint64_t now = now_usec();
	struct round round = {0};
	bool is_fine;

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	round.changed = calloc(f->state.n + 1, sizeof(struct watched *));
	if (!round.changed)
		abort();
	if (n > 0)
		f->n_in += (size_t)n;
	is_fine = n > 0 && take_frames(f, now, &round);
	act(f, &round, now);
	free(round.changed);
	if (!is_fine)
		disconnect(f, now);
}

/* --- the thread --- */

/* False: it is to end. */
static bool take_orders(struct flip *f, uint64_t now)
{
	bool changed, stop;

	(void)pthread_mutex_lock(&f->lock);
	changed = f->watch_changed;
	stop = f->stop;
	if (changed)
		flip_state_watch(&f->state, f->watch, f->n_watch);
	f->watch_changed = false;
	(void)pthread_mutex_unlock(&f->lock);
	if (!changed || stop)
		return !stop;
	flip_kernel_forget_links(f->kernel);
	if (f->is_active)
		(void)look(f, false);
	if (f->bfd >= 0 && !subscribe(f->bfd))
		disconnect(f, now);
	return true;
}

static uint64_t next_look(const struct flip *f)
{
	if (!f->is_active)
		return UINT64_MAX;
	return f->looked + (f->has_changed ? LOOK_USEC : LOOK_ANYWAY_USEC);
}

static int timeout_ms(const struct flip *f, uint64_t now)
{
	uint64_t next = flip_state_deadline(&f->state, now), looks = next_look(f);

	if (looks < next)
		next = looks;
	if (f->bfd < 0 && f->reconnect < next)
		next = f->reconnect;
	if (next == UINT64_MAX)
		return -1;
	return next <= now ? 0 : (int)((next - now + 999) / 1000);
}

/* What only time brings: a look, a doubt that ends, an override that is too old. */
static void take_time(struct flip *f, uint64_t deadline)
{
	uint64_t now = now_usec();
	const struct watched *w;

	while ((w = flip_state_expire(&f->state, now)))
		tell(f, (struct flip_news){.event = w->last});
	if (f->is_active && (now >= next_look(f) || now >= deadline))
		(void)look(f, false);
	if (f->bfd < 0 && now >= f->reconnect)
		reconnect(f, now);
}

static void *thread_main(void *arg)
{
	struct flip *f = arg;

	/* A help, not needed for a right result. Never a real-time class: netlink in one starves the kernel's RCU. */
	(void)setpriority(PRIO_PROCESS, (id_t)gettid(), NICE);
	for (;;) {
		uint64_t now = now_usec(), deadline = flip_state_deadline(&f->state, now);
		struct pollfd fds[] = {
			{.fd = f->bfd, .events = POLLIN},
			{.fd = f->wake, .events = POLLIN},
			{.fd = flip_kernel_fd(f->kernel), .events = POLLIN},
		};

		/* While a look is due at a known time, more changes need not wake us. */
		if (f->has_changed)
			fds[2].fd = -1;
		if (poll(fds, ARRAY_SIZE(fds), timeout_ms(f, now)) < 0 && errno != EINTR)
			abort();
		if (fds[0].revents)
			receive(f);
		if (fds[1].revents) {
			unring(f->wake);
			if (!take_orders(f, now_usec()))
				return NULL;
		}
		if (fds[2].revents || f->has_changed)
			f->has_changed |= flip_kernel_changed(f->kernel);
		take_time(f, deadline);
	}
}

/* --- the loop's side --- */

static int withdraw_all(struct flip *f)
{
	_cleanup_(arena_freep) struct arena *arena = arena_new();
	size_t wanted;

	return make_overrides(f, NULL, 0, arena, &wanted);
}

static void flip_free(struct flip *f)
{
	closep(&f->bfd);
	closep(&f->wake);
	closep(&f->news_fd);
	flip_kernel_close(f->kernel);
	flip_state_free(&f->state);
	(void)pthread_mutex_destroy(&f->lock);
	free(f->watch);
	free(f->news);
	free(f);
}

/* With all signals blocked: they are the loop's. */
static int start_thread(struct flip *f)
{
	sigset_t all, old;
	int r;

	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &old);
	r = -pthread_create(&f->thread, NULL, thread_main, f);
	(void)pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (r == 0)
		(void)pthread_setname_np(f->thread, "flip");
	return r;
}

int flip_open(const char *bfd_socket, unsigned max_seconds, struct flip **ret)
{
	struct flip *f;
	int r = 0;

	if (strlen(bfd_socket) >= sizeof(f->address.sun_path))
		return -ENAMETOOLONG;
	f = calloc(1, sizeof(*f));
	if (!f)
		abort();
	(void)pthread_mutex_init(&f->lock, NULL);
	f->address.sun_family = AF_UNIX;
	(void)strcpy(f->address.sun_path, bfd_socket);
	f->state.max_usec = (uint64_t)max_seconds * 1000000;
	f->reconnect_wait = RECONNECT_MIN_USEC;
	f->bfd = -1;
	f->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	f->news_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (f->wake < 0 || f->news_fd < 0)
		r = -errno;
	if (r == 0)
		r = flip_kernel_open(&f->kernel);
	if (r == 0)
		r = withdraw_all(f);
	if (r == 0)
		r = start_thread(f);
	if (r < 0) {
		flip_free(f);
		return r;
	}
	*ret = f;
	return 0;
}

void flip_close(struct flip *flip)
{
	if (!flip)
		return;
	(void)pthread_mutex_lock(&flip->lock);
	flip->stop = true;
	(void)pthread_mutex_unlock(&flip->lock);
	ring(flip->wake);
	(void)pthread_join(flip->thread, NULL);
	(void)withdraw_all(flip);
	flip_free(flip);
}

void flip_watch(struct flip *flip, const struct flip_line *lines, size_t n)
{
	struct flip_line *copy = calloc(n + 1, sizeof(*copy));

	if (!copy)
		abort();
	if (n > 0)
		memcpy(copy, lines, n * sizeof(*copy));
	(void)pthread_mutex_lock(&flip->lock);
	free(flip->watch);
	flip->watch = copy;
	flip->n_watch = n;
	flip->watch_changed = true;
	(void)pthread_mutex_unlock(&flip->lock);
	ring(flip->wake);
}
