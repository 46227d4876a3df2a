/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of revisions, and the folder of them; see store_scan.h. */
#include "config/store_scan.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gateway/base/cleanup.h"
#include "gateway/base/str.h"

void revision_name(uint64_t number, const char *suffix, char name[static REVISION_NAME_SIZE])
{
	(void)snprintf(name, REVISION_NAME_SIZE, "%0*" PRIu64 "%s", REVISION_DIGITS_MIN, number, suffix);
}

/* "000042.yaml" -> 42, exactly as revision_name() writes it. */
bool revision_name_parse(const char *name, const char *suffix, uint64_t *ret)
{
	size_t digits = strspn(name, "0123456789");
	char text[REVISION_DIGITS_MAX + 1];

	if (digits < REVISION_DIGITS_MIN || digits > REVISION_DIGITS_MAX ||
		(digits > REVISION_DIGITS_MIN && *name == '0'))
		return false;
	memcpy(text, name, digits);
	text[digits] = '\0';
	return str_eq(name + digits, suffix) && str_to_u64(text, ret) == 0 && *ret > 0;
}

void store_closedirp(DIR **dir)
{
	if (*dir)
		(void)closedir(*dir);
}

static int newest_first(const void *a, const void *b)
{
	const struct found *x = a, *y = b;

	return x->number < y->number ? 1 : x->number > y->number ? -1 : 0;
}

static size_t merge_parts(struct found *v, size_t n)
{
	size_t merged = 0;

	if (n == 0)
		return 0;
	qsort(v, n, sizeof(*v), newest_first);
	for (size_t i = 1; i < n; i++) {
		if (v[i].number == v[merged].number)
			v[merged].parts |= v[i].parts;
		else
			v[++merged] = v[i];
	}
	return merged + 1;
}

DIR *store_opendir(int fd)
{
	int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);

	if (!dir && copy >= 0) {
		int error = errno;

		(void)close(copy);
		errno = error;
	}
	return dir;
}

int store_scan(int fd, struct found **ret, size_t *ret_n)
{
	_cleanup_(store_closedirp) DIR *dir = store_opendir(fd);
	_cleanup_free_ struct found *v = NULL;
	size_t n = 0, cap = 0;
	struct dirent *e;

	if (!dir)
		return -errno;
	while (errno = 0, (e = readdir(dir))) {
		struct found f = {0};

		if (revision_name_parse(e->d_name, ".yaml", &f.number))
			f.parts = PART_TEXT;
		else if (revision_name_parse(e->d_name, ".json", &f.number))
			f.parts = PART_META;
		else
			continue;
		if (n == cap) {
			struct found *more = reallocarray(v, cap = cap ? 2 * cap : 128, sizeof(*v));

			if (!more)
				abort();
			v = more;
		}
		v[n++] = f;
	}
	if (errno)
		return -errno;
	*ret_n = merge_parts(v, n);
	*ret = v;
	v = NULL;
	return 0;
}
