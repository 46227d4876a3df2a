/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See netstat.h. Two lines for each group: the names, and the counts in the same order. */
#include "gateway/daemon/netstat.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gateway/base/cleanup.h"
#include "gateway/base/fs.h"

enum { NETSTAT_MAX = 256 * 1024 };

/* The next line that begins with "GROUP: "; what follows that. */
static const char *find_line(const char *text, const char *group)
{
	size_t len = strlen(group);

	while (text && *text) {
		const char *end = strchr(text, '\n');

		if (strncmp(text, group, len) == 0 && text[len] == ':')
			return text + len + 1;
		text = end ? end + 1 : NULL;
	}
	return NULL;
}

/* The word at this place of a line, or its end. */
static const char *next_word(const char *p, size_t *ret_len)
{
	p += strspn(p, " ");
	*ret_len = strcspn(p, " \n");
	return p;
}

int64_t netstat_find(const char *text, const char *group, const char *name)
{
	const char *names = find_line(text, group), *counts = names ? find_line(names, group) : NULL;
	size_t n = 0, c = 0;

	while (counts) {
		names = next_word(names, &n);
		counts = next_word(counts, &c);
		if (n == 0 || c == 0)
			return -1;
		if (strlen(name) == n && strncmp(names, name, n) == 0)
			return strtoll(counts, NULL, 10);
		names += n;
		counts += c;
	}
	return -1;
}

int64_t netstat_count(const char *group, const char *name)
{
	_cleanup_free_ char *text = NULL;
	size_t len;

	return fs_read_regular("/proc/net/netstat", NETSTAT_MAX, &text, &len) < 0 ? -1
										  : netstat_find(text, group, name);
}
