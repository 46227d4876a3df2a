/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Facts: sorted lists, looked up by binary search; see facts.h. The lists have elements of their own and one way
 * to find, insert and remove. Pure.
 */
#include "gateway/engine/facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void facts_init(struct facts *facts)
{
	*facts = (struct facts){0};
}

/* Compares an element with a key: negative if the element stands before it. */
typedef int (*element_cmp)(const void *element, const void *key);

/* Index of the element, or where it would stand. */
static size_t list_find(const void *list, size_t n, size_t size, element_cmp cmp, const void *key, bool *ret_found)
{
	size_t lo = 0, hi = n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		int c = cmp((const char *)list + mid * size, key);

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

/* The list with a zeroed element at `at`. */
static void *list_insert(void *list, size_t *n, size_t size, size_t at)
{
	char *grown = reallocarray(list, *n + 1, size), *element;

	if (!grown)
		abort();
	element = grown + at * size;
	memmove(element + size, element, (*n - at) * size);
	memset(element, 0, size);
	(*n)++;
	return grown;
}

static void list_remove(void *list, size_t *n, size_t size, size_t at)
{
	char *element = (char *)list + at * size;

	(*n)--;
	memmove(element, element + size, (*n - at) * size);
}

/* An address seen through an interface: what paths and dead next hops are known by. */
struct place {
	const struct ip_addr *addr;
	const char *interface;
};

static int place_cmp(const struct ip_addr *addr, const char *interface, const struct place *place)
{
	int c = ip_addr_cmp(addr, place->addr);

	return c ? c : strncmp(interface, place->interface, sizeof(((struct path_fact *)0)->interface));
}

static int path_cmp(const void *element, const void *key)
{
	const struct path_fact *path = element;

	return place_cmp(&path->vtep, path->interface, key);
}

static size_t path_find(const struct facts *facts, const struct ip_addr *vtep, const char *interface, bool *ret_found)
{
	struct place place = {vtep, interface};

	return list_find(facts->paths, facts->n_paths, sizeof(*facts->paths), path_cmp, &place, ret_found);
}

bool facts_set_path_mtu(struct facts *facts, const struct ip_addr *vtep, const char *interface, uint32_t mtu)
{
	bool found;
	size_t at = path_find(facts, vtep, interface, &found);
	struct path_fact *path;

	if (found ? facts->paths[at].mtu == mtu : mtu == 0)
		return false;
	if (mtu == 0) {
		list_remove(facts->paths, &facts->n_paths, sizeof(*facts->paths), at);
		return true;
	}
	if (!found)
		facts->paths = list_insert(facts->paths, &facts->n_paths, sizeof(*facts->paths), at);
	path = &facts->paths[at];
	path->vtep = *vtep;
	path->mtu = mtu;
	(void)snprintf(path->interface, sizeof(path->interface), "%s", interface);
	return true;
}

uint32_t facts_path_mtu(const struct facts *facts, const struct ip_addr *vtep, const char *interface)
{
	bool found;
	size_t at = path_find(facts, vtep, interface, &found);

	return found ? facts->paths[at].mtu : 0;
}

static int dead_cmp(const void *element, const void *key)
{
	const struct dead_fact *dead = element;

	return place_cmp(&dead->peer, dead->interface, key);
}

static size_t dead_find(const struct facts *facts, const struct ip_addr *peer, const char *interface, bool *ret_found)
{
	struct place place = {peer, interface};

	return list_find(facts->dead, facts->n_dead, sizeof(*facts->dead), dead_cmp, &place, ret_found);
}

bool facts_set_dead(struct facts *facts, const struct ip_addr *peer, const char *interface, bool dead)
{
	bool found;
	size_t at = dead_find(facts, peer, interface, &found);

	if (found == dead)
		return false;
	if (!dead) {
		list_remove(facts->dead, &facts->n_dead, sizeof(*facts->dead), at);
		return true;
	}
	facts->dead = list_insert(facts->dead, &facts->n_dead, sizeof(*facts->dead), at);
	facts->dead[at].peer = *peer;
	(void)snprintf(facts->dead[at].interface, sizeof(facts->dead[at].interface), "%s", interface);
	return true;
}

bool facts_is_dead(const struct facts *facts, const struct ip_addr *peer, const char *interface)
{
	bool found;

	(void)dead_find(facts, peer, interface, &found);
	return found;
}

static int secret_cmp(const void *element, const void *key)
{
	const struct secret_fact *secret = element;

	return strcmp(secret->path, key);
}

static size_t secret_find(const struct facts *facts, const char *path, bool *ret_found)
{
	return list_find(facts->secrets, facts->n_secrets, sizeof(*facts->secrets), secret_cmp, path, ret_found);
}

/* A copy that is ours; out of memory aborts. */
static char *copy(const char *s)
{
	char *text = strdup(s);

	if (!text)
		abort();
	return text;
}

static void wipe(const char *text)
{
	char *bytes = (char *)text;

	explicit_bzero(bytes, strlen(bytes));
	free(bytes);
}

static void secret_free(struct secret_fact *secret)
{
	wipe(secret->text);
	free((char *)secret->path);
}

void facts_set_secret(struct facts *facts, const char *path, const char *text)
{
	bool found;
	size_t at = secret_find(facts, path, &found);
	const char *old;

	if (!found && !text)
		return;
	if (!text) {
		secret_free(&facts->secrets[at]);
		list_remove(facts->secrets, &facts->n_secrets, sizeof(*facts->secrets), at);
		return;
	}
	if (!found) {
		facts->secrets = list_insert(facts->secrets, &facts->n_secrets, sizeof(*facts->secrets), at);
		facts->secrets[at] = (struct secret_fact){copy(path), copy(text)};
		return;
	}
	old = facts->secrets[at].text; /* `text` may be this very string */
	facts->secrets[at].text = copy(text);
	wipe(old);
}

const char *facts_secret(const struct facts *facts, const char *path)
{
	bool found;
	size_t at = secret_find(facts, path, &found);

	return found ? facts->secrets[at].text : NULL;
}

static int prefixes_cmp(const void *element, const void *key)
{
	const struct prefix_fact *prefixes = element;

	return strcmp(prefixes->path, key);
}

static size_t prefixes_find(const struct facts *facts, const char *path, bool *ret_found)
{
	return list_find(facts->prefixes, facts->n_prefixes, sizeof(*facts->prefixes), prefixes_cmp, path, ret_found);
}

static bool same_prefixes(const struct prefix_fact *a, const struct ip_prefix *v, size_t n)
{
	if (a->n != n)
		return false;
	for (size_t i = 0; i < n; i++)
		if (ip_prefix_cmp(&a->v[i], &v[i]) != 0)
			return false;
	return true;
}

bool facts_set_prefixes(struct facts *facts, const char *path, struct ip_prefix *v, size_t n)
{
	bool found;
	size_t at = prefixes_find(facts, path, &found);

	if (found && same_prefixes(&facts->prefixes[at], v, n)) {
		free(v);
		return false;
	}
	if (found) {
		free((void *)facts->prefixes[at].v);
	} else {
		facts->prefixes = list_insert(facts->prefixes, &facts->n_prefixes, sizeof(*facts->prefixes), at);
		facts->prefixes[at].path = copy(path);
	}
	facts->prefixes[at].v = v;
	facts->prefixes[at].n = n;
	return true;
}

static void prefixes_free(struct prefix_fact *prefixes)
{
	free((void *)prefixes->v);
	free((char *)prefixes->path);
}

bool facts_forget_prefixes(struct facts *facts, const char *path)
{
	bool found;
	size_t at = prefixes_find(facts, path, &found);

	if (!found)
		return false;
	prefixes_free(&facts->prefixes[at]);
	list_remove(facts->prefixes, &facts->n_prefixes, sizeof(*facts->prefixes), at);
	return true;
}

const struct prefix_fact *facts_prefixes(const struct facts *facts, const char *path)
{
	bool found;
	size_t at = prefixes_find(facts, path, &found);

	return found ? &facts->prefixes[at] : NULL;
}

void facts_free(struct facts *facts)
{
	for (size_t i = 0; i < facts->n_prefixes; i++)
		prefixes_free(&facts->prefixes[i]);
	free(facts->prefixes);
	free(facts->paths);
	free(facts->dead);
	for (size_t i = 0; i < facts->n_secrets; i++)
		secret_free(&facts->secrets[i]);
	free(facts->secrets);
	*facts = (struct facts){0};
}
