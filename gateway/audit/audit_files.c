/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See audit_files.h. */
#include "gateway/audit/audit_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gateway/base/str.h"

enum { DIGITS = 10 };
#define HEAD "audit-"
#define TAIL ".json"

void audit_file_name(uint64_t number, char ret[AUDIT_FILE_NAME_MAX])
{
	(void)snprintf(ret, AUDIT_FILE_NAME_MAX, HEAD "%0*" PRIu64 TAIL, DIGITS, number);
}

/* 0: none of ours. */
static uint64_t number_of(const char *name)
{
	char text[DIGITS + 1];
	uint64_t number;

	if (strlen(name) != sizeof(HEAD TAIL) - 1 + DIGITS || !str_starts(name, HEAD) ||
		!str_eq(name + sizeof(HEAD) - 1 + DIGITS, TAIL))
		return 0;
	memcpy(text, name + sizeof(HEAD) - 1, DIGITS);
	text[DIGITS] = '\0';
	for (size_t i = 0; i < DIGITS; i++)
		if (text[i] < '0' || text[i] > '9')
			return 0;
	number = strtoull(text, NULL, 10);
	return number;
}

static int number_cmp(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void add(uint64_t **list, size_t *n, size_t *cap, uint64_t number)
{
	if (*n == *cap) {
		*cap = *cap ? 2 * *cap : 64;
		*list = reallocarray(*list, *cap, sizeof(**list));
		if (!*list)
			abort();
	}
	(*list)[(*n)++] = number;
}

int audit_files_list(int dir_fd, uint64_t **ret, size_t *ret_n)
{
	int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;
	uint64_t *list = NULL;
	size_t n = 0, cap = 0;

	if (!dir) {
		int r = -errno;

		if (fd >= 0)
			(void)close(fd);
		return r;
	}
	while ((e = readdir(dir)) != NULL)
		if (number_of(e->d_name) > 0)
			add(&list, &n, &cap, number_of(e->d_name));
	(void)closedir(dir);
	if (n > 0)
		qsort(list, n, sizeof(*list), number_cmp);
	*ret = list;
	*ret_n = n;
	return 0;
}
