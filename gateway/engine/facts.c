/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Facts: a sorted list, looked up by binary search; see facts.h. Pure. */
#include "gateway/engine/facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void facts_init(struct facts *facts)
{
	*facts = (struct facts){0};
}

void facts_free(struct facts *facts)
{
	free(facts->paths);
	*facts = (struct facts){0};
}

static int path_cmp(const struct path_fact *path, const struct ip_addr *vtep, const char *interface)
{
	int c = ip_addr_cmp(&path->vtep, vtep);

	return c ? c : strncmp(path->interface, interface, sizeof(path->interface));
}

/* Index of the path, or where it would stand. */
static size_t path_find(const struct facts *facts, const struct ip_addr *vtep, const char *interface, bool *ret_found)
{
	size_t lo = 0, hi = facts->n_paths;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		int c = path_cmp(&facts->paths[mid], vtep, interface);

		if (c == 0) {
			*ret_found = true;
			return mid;
		}
		if (c < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	*ret_found = false;
	return lo;
}

static void path_insert(struct facts *facts, size_t at, const struct ip_addr *vtep, const char *interface, uint32_t mtu)
{
	struct path_fact *path;

	facts->paths = reallocarray(facts->paths, facts->n_paths + 1, sizeof(*facts->paths));
	if (!facts->paths)
		abort();
	path = &facts->paths[at];
	memmove(path + 1, path, (facts->n_paths - at) * sizeof(*path));
	*path = (struct path_fact){.vtep = *vtep, .mtu = mtu};
	(void)snprintf(path->interface, sizeof(path->interface), "%s", interface);
	facts->n_paths++;
}

static void path_remove(struct facts *facts, size_t at)
{
	struct path_fact *path = &facts->paths[at];

	facts->n_paths--;
	memmove(path, path + 1, (facts->n_paths - at) * sizeof(*path));
}

bool facts_set_path_mtu(struct facts *facts, const struct ip_addr *vtep, const char *interface, uint32_t mtu)
{
	bool found;
	size_t at = path_find(facts, vtep, interface, &found);

	if (found && facts->paths[at].mtu == mtu)
		return false;
	if (!found && mtu == 0)
		return false;
	if (!found)
		path_insert(facts, at, vtep, interface, mtu);
	else if (mtu == 0)
		path_remove(facts, at);
	else
		facts->paths[at].mtu = mtu;
	return true;
}

uint32_t facts_path_mtu(const struct facts *facts, const struct ip_addr *vtep, const char *interface)
{
	bool found;
	size_t at = path_find(facts, vtep, interface, &found);

	return found ? facts->paths[at].mtu : 0;
}
