/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernel models: growing, sealing, order and equality; see model.h. Pure. */
#include "overlay/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gateway/base/arena.h"
#include "gateway/base/str.h"

#define GROW(m, array)                                                                                                 \
	((m)->array = arena_grow((m)->arena, (m)->array, (m)->n_##array, &(m)->cap_##array, sizeof(*(m)->array)))

struct link *model_add_link(struct kernel_model *m, const char *name)
{
	struct link *l;

	GROW(m, links);
	l = &m->links[m->n_links++];
	*l = (struct link){0};
	(void)snprintf(l->name, sizeof(l->name), "%s", name);
	return l;
}

struct if_addr *model_add_addr(struct kernel_model *m)
{
	GROW(m, addrs);
	m->addrs[m->n_addrs] = (struct if_addr){0};
	return &m->addrs[m->n_addrs++];
}

struct fdb *model_add_fdb(struct kernel_model *m)
{
	GROW(m, fdbs);
	m->fdbs[m->n_fdbs] = (struct fdb){0};
	return &m->fdbs[m->n_fdbs++];
}

struct ip_route *model_add_route(struct kernel_model *m)
{
	GROW(m, routes);
	m->routes[m->n_routes] = (struct ip_route){0};
	return &m->routes[m->n_routes++];
}

struct sysctl *model_add_sysctl(struct kernel_model *m, const char *key, const char *value)
{
	GROW(m, sysctls);
	m->sysctls[m->n_sysctls] = (struct sysctl){.key = key, .value = value};
	return &m->sysctls[m->n_sysctls++];
}

/* --- identity --- */

int link_cmp(const struct link *a, const struct link *b)
{
	return strcmp(a->name, b->name);
}

int if_addr_cmp(const struct if_addr *a, const struct if_addr *b)
{
	int c = strcmp(a->link, b->link);

	return c ? c : ip_prefix_cmp(&a->addr, &b->addr);
}

int fdb_cmp(const struct fdb *a, const struct fdb *b)
{
	int c = strcmp(a->link, b->link);

	if (c == 0)
		c = mac_addr_cmp(&a->mac, &b->mac);
	return c ? c : ip_addr_cmp(&a->dst, &b->dst);
}

int ip_route_cmp(const struct ip_route *a, const struct ip_route *b)
{
	int c = cmp_u32(a->table, b->table);

	if (c == 0)
		c = ip_prefix_cmp(&a->dst, &b->dst);
	return c ? c : cmp_u32(a->metric, b->metric);
}

int sysctl_cmp(const struct sysctl *a, const struct sysctl *b)
{
	return strcmp(a->key, b->key);
}

bool ip_route_same_nexthops(const struct ip_route *a, const struct ip_route *b)
{
	if (a->n_nexthops != b->n_nexthops)
		return false;
	for (size_t i = 0; i < a->n_nexthops; i++) {
		const struct nexthop *x = &a->nexthops[i], *y = &b->nexthops[i];

		if (ip_addr_cmp(&x->via, &y->via) != 0 || x->weight != y->weight)
			return false;
		/* One that leaves the link to the kernel has no opinion of it. */
		if (x->link[0] && y->link[0] && strcmp(x->link, y->link) != 0)
			return false;
	}
	return true;
}

/* --- sealing --- */

#define SORTER(name, type)                                                                                             \
	static int sort_##name(const void *a, const void *b)                                                           \
	{                                                                                                              \
		return name((const struct type *)a, (const struct type *)b);                                           \
	}
SORTER(link_cmp, link)
SORTER(if_addr_cmp, if_addr)
SORTER(fdb_cmp, fdb)
SORTER(ip_route_cmp, ip_route)
SORTER(sysctl_cmp, sysctl)
#undef SORTER

static void sort(void *array, size_t n, size_t size, int (*cmp)(const void *, const void *))
{
	if (n > 1)
		qsort(array, n, size, cmp);
}

/*
 * An interface may be named by two parts of a file (an `interfaces` entry, and a segment's member): the wishes add up,
 * in whatever order they stand. Down wins, and the smaller MTU; who gives it a master is who it is about.
 */
static void merge_link(struct link *into, const struct link *from)
{
	unsigned both = into->attrs & from->attrs;

	if (both & LA_UP)
		into->up = into->up && from->up;
	else if (from->attrs & LA_UP)
		into->up = from->up;
	if (both & LA_MTU)
		into->mtu = into->mtu < from->mtu ? into->mtu : from->mtu;
	else if (from->attrs & LA_MTU)
		into->mtu = from->mtu;
	if (from->attrs & LA_PORT_STATE)
		into->forwarding = from->forwarding;
	if (from->attrs & LA_MASTER & ~into->attrs) {
		memcpy(into->master, from->master, sizeof(into->master));
		into->object = from->object;
	}
	into->attrs |= from->attrs;
}

static void merge_links(struct kernel_model *m)
{
	size_t kept = 0;

	for (size_t i = 0; i < m->n_links; i++) {
		if (kept > 0 && link_cmp(&m->links[kept - 1], &m->links[i]) == 0)
			merge_link(&m->links[kept - 1], &m->links[i]);
		else
			m->links[kept++] = m->links[i];
	}
	m->n_links = kept;
}

void model_seal(struct kernel_model *m)
{
	sort(m->links, m->n_links, sizeof(*m->links), sort_link_cmp);
	sort(m->addrs, m->n_addrs, sizeof(*m->addrs), sort_if_addr_cmp);
	sort(m->fdbs, m->n_fdbs, sizeof(*m->fdbs), sort_fdb_cmp);
	sort(m->routes, m->n_routes, sizeof(*m->routes), sort_ip_route_cmp);
	sort(m->sysctls, m->n_sysctls, sizeof(*m->sysctls), sort_sysctl_cmp);
	merge_links(m);
}

const struct link *model_link(const struct kernel_model *m, const char *name)
{
	struct link key = {0};

	(void)snprintf(key.name, sizeof(key.name), "%s", name);
	return m->n_links ? bsearch(&key, m->links, m->n_links, sizeof(*m->links), sort_link_cmp) : NULL;
}
