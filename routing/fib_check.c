/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See fib_check.h. */
#include "routing/fib_check.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/neighbour.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "gateway/base/arena.h"
#include "gateway/base/buf.h"
#include "gateway/base/cleanup.h"
#include "gateway/base/log.h"
#include "gateway/base/str.h"
#include "overlay/rtsock.h"
#include "routing/fib_diff.h"
#include "routing/fib_kernel.h"
#include "routing/frr_vty.h"
#include "routing/zebra_parse.h"

static const uint64_t SEC = 1000000;
static const uint64_t PATIENCE = 1000000; /* for an answer of zebra or bgpd */
static const uint64_t SOON = 110000;	  /* three looks are more than 200 ms */
static const uint64_t QUIET = 300000;	  /* without an event after many: zebra is not asked while it writes, but */
static const uint64_t STORM_MAX = 800000; /* no longer than that */
static const uint64_t REGULAR = 3000000;  /* between two looks without an event */
static const uint64_t FULL_MIN = 5000000; /* between two comparisons of everything, and */
static const uint64_t FULL_SHARE = 20;	  /* this many times as long as one takes */
static const uint64_t SETTLE = 5000000;	  /* after zebra was found anew: it is still reading the kernel */
enum { MAX_SUSPECTS = 1024, ASK_AT_ONCE = 64, EVENT_ROOM = 8192, SOCKET_BUFFER = 1024 * 1024 };

/* A destination that the kernel spoke of, or that a full comparison found different. */
struct suspect {
	uint32_t table;
	struct ip_prefix dst;
};

struct fib_check {
	const char *frr_dir;
	int events;
	struct rtsock *s;
	struct frr_vty *zebra, *bgpd;
	struct buf reply;
	struct arena *arena;	  /* of the object itself, and of */
	struct suspect *suspects; /* MAX_SUSPECTS */
	size_t n_suspects;
	bool overrun; /* more was said than was taken down */
	bool deaf;    /* until the next look: then all is compared anyway, and each event costs zebra time too */
	bool macs_suspect;
	struct arena *left_arena; /* of */
	struct fib_repairs left;  /* differences that have not lasted yet */
	uint64_t settled_at, next_full, next_look;
	uint64_t heard_first; /* the first event since the last look; 0: none */
	struct fib_report report;
};

/* --- events --- */

/* BGP's routes, and FDB entries: what else there is does not wake us. Netlink is native, the filter big-endian. */
static int attach_filter(int fd)
{
	enum {
		AT_TYPE = offsetof(struct nlmsghdr, nlmsg_type),
		AT_FAMILY = NLMSG_HDRLEN + offsetof(struct ndmsg, ndm_family),
		AT_PROTO = NLMSG_HDRLEN + offsetof(struct rtmsg, rtm_protocol),
	};
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_H | BPF_ABS, AT_TYPE),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htons(RTM_NEWNEIGH), 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htons(RTM_DELNEIGH), 2, 0),
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, AT_PROTO),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, RTPROT_BGP, 2, 3),
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, AT_FAMILY),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_BRIDGE, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, 0xffffffff),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};
	struct sock_fprog program = {.len = ARRAY_SIZE(code), .filter = code};

	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)) < 0 ? -errno : 0;
}

static int set_groups(int fd, int option)
{
	static const int groups[] = {RTNLGRP_IPV4_ROUTE, RTNLGRP_IPV6_ROUTE, RTNLGRP_NEIGH};

	for (size_t i = 0; i < ARRAY_SIZE(groups); i++)
		if (setsockopt(fd, SOL_NETLINK, option, &groups[i], sizeof(groups[i])) < 0)
			return -errno;
	return 0;
}

static int open_events(int *ret)
{
	_cleanup_close_ int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
	struct sockaddr_nl local = {.nl_family = AF_NETLINK};
	const int buffer = SOCKET_BUFFER;
	int r;

	if (fd < 0 || bind(fd, (struct sockaddr *)&local, sizeof(local)) < 0)
		return -errno;
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &buffer, sizeof(buffer)) < 0)
		(void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof(buffer));
	r = attach_filter(fd);
	if (r == 0)
		r = set_groups(fd, NETLINK_ADD_MEMBERSHIP);
	if (r == 0)
		*ret = steal_fd(&fd);
	return r;
}

static void suspect(struct fib_check *fc, uint32_t table, const struct ip_prefix *dst)
{
	/* The same one again, most often as the last. */
	for (size_t i = fc->n_suspects; i-- > 0 && fc->n_suspects - i <= ASK_AT_ONCE;)
		if (fc->suspects[i].table == table && ip_prefix_cmp(&fc->suspects[i].dst, dst) == 0)
			return;
	if (fc->n_suspects == MAX_SUSPECTS)
		fc->overrun = true;
	else
		fc->suspects[fc->n_suspects++] = (struct suspect){.table = table, .dst = *dst};
}

static void hear_route(struct fib_check *fc, struct nlmsghdr *h)
{
	struct nlattr *tb[RTA_MAX + 1];
	struct ip_prefix dst;
	struct rtmsg info;
	uint32_t table;

	if (nlmsg_parse(h, sizeof(info), tb, RTA_MAX, NULL) < 0)
		return;
	memcpy(&info, nlmsg_data(h), sizeof(info));
	dst = (struct ip_prefix){.addr.family = info.rtm_family, .len = info.rtm_dst_len};
	table = info.rtm_table;
	if (tb[RTA_TABLE] && nla_len(tb[RTA_TABLE]) == sizeof(table))
		memcpy(&table, nla_data(tb[RTA_TABLE]), sizeof(table));
	if (tb[RTA_DST] && (size_t)nla_len(tb[RTA_DST]) == ip_addr_len(&dst.addr))
		memcpy(dst.addr.bytes, nla_data(tb[RTA_DST]), ip_addr_len(&dst.addr));
	suspect(fc, table, &dst);
}

static void hear(struct fib_check *fc, char *bytes, int len)
{
	for (struct nlmsghdr *h = (struct nlmsghdr *)bytes; nlmsg_ok(h, len); h = nlmsg_next(h, &len)) {
		if (h->nlmsg_type != RTM_NEWROUTE && h->nlmsg_type != RTM_DELROUTE)
			fc->macs_suspect = true;
		else if (!fc->overrun)
			hear_route(fc, h);
	}
}

static uint64_t look_after_events(struct fib_check *fc, uint64_t now_usec)
{
	uint64_t soon = now_usec + SOON, last;

	if (fc->heard_first == 0)
		fc->heard_first = now_usec;
	last = fc->heard_first + STORM_MAX;
	if (fc->n_suspects > ASK_AT_ONCE)
		return now_usec + QUIET < last ? now_usec + QUIET : last;
	return fc->next_look > soon ? soon : fc->next_look;
}

uint64_t fib_check_heard(struct fib_check *fc, uint64_t now_usec)
{
	_Alignas(struct nlmsghdr) char bytes[EVENT_ROOM];

	for (;;) {
		struct sockaddr_nl from = {0};
		socklen_t size = sizeof(from);
		ssize_t n = recvfrom(fc->events, bytes, sizeof(bytes), 0, (struct sockaddr *)&from, &size);

		if (n >= 0 && from.nl_pid == 0)
			hear(fc, bytes, (int)n);
		if (n >= 0 || errno == EINTR)
			continue;
		if (errno != ENOBUFS)
			break;
		fc->overrun = fc->macs_suspect = true;
	}
	if (fc->overrun && !fc->deaf)
		fc->deaf = set_groups(fc->events, NETLINK_DROP_MEMBERSHIP) == 0;
	fc->next_look = look_after_events(fc, now_usec);
	return fc->next_look;
}

/* --- asking --- */

static json_t *ask(struct fib_check *fc, const char *daemon, struct frr_vty **vty, const char *command)
{
	struct buf path = {0};
	int r = 0;

	if (!*vty) {
		buf_printf(&path, "%s/%s.vty", fc->frr_dir, daemon);
		r = frr_vty_open(buf_str(&path), PATIENCE, vty);
		buf_free(&path);
	}
	if (r == 0)
		r = frr_vty_run(*vty, command, &fc->reply);
	if (r < 0) { /* what comes late would answer the next question */
		frr_vty_close(*vty);
		*vty = NULL;
	}
	/* Also with a warning: "{}" is how zebra says that it has no such route. */
	return r >= 0 ? frr_documents(buf_str(&fc->reply), fc->reply.len) : NULL;
}

/* Zebra that was found anew is not believed at once. */
static bool zebra_is_there(struct fib_check *fc, uint64_t now_usec)
{
	bool known = fc->zebra != NULL;
	json_t *answer = ask(fc, "zebra", &fc->zebra, "show ip route summary json");

	json_decref(answer);
	if (answer && !known)
		fc->settled_at = now_usec + SETTLE;
	return answer && now_usec >= fc->settled_at;
}

/* --- routes --- */

static const struct ip_route *kernel_route(const struct fib_kernel *kernel, const struct suspect *s)
{
	const struct ip_route key = {.table = s->table, .dst = s->dst, .metric = ZEBRA_METRIC};
	size_t low = 0, high = kernel->model.n_routes;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (ip_route_cmp(&kernel->model.routes[middle], &key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < kernel->model.n_routes && ip_route_cmp(&kernel->model.routes[low], &key) == 0)
		return &kernel->model.routes[low];
	return NULL;
}

/* -EAGAIN: zebra did not answer. */
static int check_route(
	struct fib_check *fc, const struct fib_kernel *kernel, const struct suspect *s, struct fib_repairs *found)
{
	const char *family = ip_addr_is_ipv6(&s->dst.addr) ? "ipv6" : "ip";
	char command[128], prefix[IP_STR_MAX];
	struct fib_want want;
	json_t *answer;

	(void)snprintf(
		command, sizeof(command), "show %s route vrf all %s json", family, ip_prefix_str(&s->dst, prefix));
	answer = ask(fc, "zebra", &fc->zebra, command);
	if (!answer)
		return -EAGAIN;
	fib_want_of(answer, s->table, found->arena, &want);
	json_decref(answer);
	fib_diff_route(&want, kernel_route(kernel, s), found);
	return 0;
}

/* The oldest first; the others have to wait for the next look. */
static int check_suspects(struct fib_check *fc, const struct fib_kernel *kernel, struct fib_repairs *found)
{
	size_t n = fc->n_suspects < ASK_AT_ONCE ? fc->n_suspects : ASK_AT_ONCE;
	int r = 0;

	for (size_t i = 0; i < n && r == 0; i++)
		r = check_route(fc, kernel, &fc->suspects[i], found);
	if (r == 0) {
		fc->n_suspects -= n;
		memmove(fc->suspects, fc->suspects + n, fc->n_suspects * sizeof(*fc->suspects));
	}
	return r;
}

/* Everything that zebra has, as routes of the kernel. */
struct full {
	struct fib_check *fc;
	struct arena *arena;
	const struct fib_kernel *kernel;
	bool *known; /* kernel routes that zebra has */
};

static void check_entry(const json_t *entry, void *arg)
{
	const char *protocol = json_string_value(json_object_get(entry, "protocol"));
	struct full *full = arg;
	const struct ip_route *have;
	struct fib_repairs found = {.arena = full->arena};
	struct suspect s = {.table = (uint32_t)json_integer_value(json_object_get(entry, "table"))};
	const char *prefix = json_string_value(json_object_get(entry, "prefix"));
	struct fib_want want;
	json_t *list;

	if (!str_eq(protocol, "bgp") || !prefix || ip_prefix_parse(prefix, &s.dst) < 0)
		return;
	have = kernel_route(full->kernel, &s);
	if (have)
		full->known[have - full->kernel->model.routes] = true;
	list = json_pack("[O]", entry);
	fib_want_of(list, s.table, full->arena, &want);
	json_decref(list);
	fib_diff_route(&want, have, &found);
	if (found.n > 0)
		suspect(full->fc, s.table, &s.dst);
}

/* What differs becomes a suspect: it is asked for alone before anything is done. */
static void compare_all(struct fib_check *fc, const struct fib_kernel *kernel)
{
	_cleanup_(arena_freep) struct arena *arena = arena_new();
	size_t n = kernel->model.n_routes;
	struct full full = {
		.fc = fc, .arena = arena, .kernel = kernel, .known = arena_array(arena, n + 1, sizeof(*full.known))};
	json_t *ipv4 = ask(fc, "zebra", &fc->zebra, "show ip route vrf all bgp json");
	json_t *ipv6 = ipv4 ? ask(fc, "zebra", &fc->zebra, "show ipv6 route vrf all bgp json") : NULL;

	fc->report.full_looks++;
	if (ipv4 && ipv6) {
		zebra_walk_routes(ipv4, check_entry, &full);
		zebra_walk_routes(ipv6, check_entry, &full);
		for (size_t i = 0; i < n; i++)
			if (!full.known[i])
				suspect(fc, kernel->model.routes[i].table, &kernel->model.routes[i].dst);
		fc->overrun = false;
	}
	json_decref(ipv4);
	json_decref(ipv6);
}

/* --- MACs --- */

static bool is_empty(const json_t *documents)
{
	return json_array_size(documents) == 0;
}

/* Nothing where zebra or bgpd does not answer; without any VNI there is nothing to ask. */
static void check_macs(struct fib_check *fc, const struct fib_kernel *kernel, struct fib_repairs *found)
{
	struct evpn_macs want = {.arena = found->arena};
	json_t *vnis, *macs = NULL, *best = NULL;

	if (kernel->macs.n_vnis == 0)
		return;
	vnis = ask(fc, "zebra", &fc->zebra, "show evpn vni detail json");
	if (vnis && !is_empty(vnis))
		macs = ask(fc, "zebra", &fc->zebra, "show evpn mac vni all json");
	if (macs)
		best = ask(fc, "bgpd", &fc->bgpd, "show bgp l2vpn evpn route vni all json");
	if (macs && best) {
		zebra_flood(vnis, &want);
		zebra_macs(macs, &want);
		evpn_macs_seal(&want, best);
		fib_diff_macs(&want, &kernel->macs, found);
	}
	json_decref(vnis);
	json_decref(macs);
	json_decref(best);
}

/* --- a look --- */

static void repair(struct fib_check *fc, const struct fib_kernel *kernel, const struct fib_repair *r)
{
	int e = fib_kernel_repair(fc->s, kernel, r);
	struct buf words = {0};

	fib_repair_print(r, &words);
	if (e < 0) {
		log_warning("kernel against FRR: %s (%s)", buf_str(&words), strerror(-e));
	} else {
		fc->report.repairs++;
		fc->report.last_time = (int64_t)time(NULL);
		(void)snprintf(fc->report.last, sizeof(fc->report.last), "%s", buf_str(&words));
		log_notice("kernel against FRR: %s", buf_str(&words));
	}
	buf_free(&words);
}

/* Differences of the last look are looked at again. */
static void suspect_left(struct fib_check *fc)
{
	for (size_t i = 0; i < fc->left.n; i++) {
		const struct fib_repair *r = &fc->left.v[i];

		if (r->op == FIB_ROUTE_SET || r->op == FIB_ROUTE_DELETE)
			suspect(fc, r->route.table, &r->route.dst);
		else
			fc->macs_suspect = true;
	}
}

static void conclude(
	struct fib_check *fc, const struct fib_kernel *kernel, const struct fib_repairs *found, uint64_t now_usec)
{
	_cleanup_(arena_freep) struct arena *arena = arena_new();
	struct fib_repairs due = {.arena = arena}, left = {.arena = arena_new()};

	fib_confirm(&fc->left, found, now_usec, &due, &left);
	for (size_t i = 0; i < due.n; i++)
		repair(fc, kernel, &due.v[i]);
	arena_free(fc->left_arena);
	fc->left_arena = left.arena;
	fc->left = left;
}

static uint64_t clock_now(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * SEC + (uint64_t)ts.tv_nsec / 1000;
}

static void look(struct fib_check *fc, uint64_t now_usec)
{
	_cleanup_(arena_freep) struct arena *arena = arena_new();
	struct fib_repairs found = {.arena = arena};
	struct fib_kernel kernel;
	bool full = now_usec >= fc->next_full;
	uint64_t began;

	if (!zebra_is_there(fc, now_usec) || fib_kernel_read(fc->s, arena, &kernel) < 0)
		return;
	fc->report.looks++;
	suspect_left(fc);
	if (full) {
		began = clock_now();
		compare_all(fc, &kernel);
		fc->next_full = now_usec + FULL_MIN + FULL_SHARE * (clock_now() - began);
	}
	if (check_suspects(fc, &kernel, &found) < 0)
		return;
	if (full || fc->macs_suspect) {
		fc->macs_suspect = false;
		check_macs(fc, &kernel, &found);
	}
	conclude(fc, &kernel, &found, now_usec);
}

uint64_t fib_check_look(struct fib_check *fc, uint64_t now_usec)
{
	uint64_t took, pause;

	fc->heard_first = 0;
	if (fc->deaf)
		fc->deaf = set_groups(fc->events, NETLINK_ADD_MEMBERSHIP) < 0;
	look(fc, now_usec);
	took = clock_now() - now_usec;
	pause = fc->left.n > 0 || fc->n_suspects > 0 ? SOON : REGULAR;
	if (pause < 4 * took)
		pause = 4 * took;
	fc->next_look = now_usec + took + pause;
	/* More was said than could be taken down: all is compared as soon as that is not too often. */
	if (fc->overrun && fc->next_full > fc->next_look + SEC)
		fc->next_full = fc->next_look + SEC;
	return fc->next_look;
}

/* --- life --- */

int fib_check_open(const char *frr_dir, struct fib_check **ret)
{
	_cleanup_(arena_freep) struct arena *arena = arena_new();
	struct fib_check *fc = arena_new_obj(arena, struct fib_check);
	int r;

	fc->frr_dir = arena_strdup(arena, frr_dir);
	fc->suspects = arena_array(arena, MAX_SUSPECTS, sizeof(*fc->suspects));
	r = open_events(&fc->events);
	if (r < 0)
		return r;
	r = rtsock_open(&fc->s);
	if (r < 0) {
		(void)close(fc->events);
		return r;
	}
	fc->arena = arena;
	arena = NULL;
	*ret = fc;
	return 0;
}

void fib_check_close(struct fib_check *fc)
{
	if (!fc)
		return;
	(void)close(fc->events);
	rtsock_close(fc->s);
	frr_vty_close(fc->zebra);
	frr_vty_close(fc->bgpd);
	buf_free(&fc->reply);
	arena_free(fc->left_arena);
	arena_free(fc->arena);
}

int fib_check_fd(const struct fib_check *fc)
{
	return fc->events;
}

const struct fib_report *fib_check_report(const struct fib_check *fc)
{
	return &fc->report;
}
