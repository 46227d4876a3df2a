/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * frr_delta_selftest HAVE WANT: the delta of two configurations of FRR, for the tests that try it on real daemons. One
 * change on each line, its fields separated by tabs: what it interrupts, the lines of the nodes around it, the command.
 */
/* LINK: routing/frr_conf.c routing/frr_delta.c routing/frr_impact.c */
#include <stdio.h>
#include <string.h>

#include "gateway/base/arena.h"
#include "gateway/base/cleanup.h"
#include "gateway/base/fs.h"
#include "routing/frr_conf.h"
#include "routing/frr_impact.h"

enum { MAX_TEXT = 64 << 20 };

static int read_conf(const char *path, struct arena *arena, struct frr_conf *conf)
{
	_cleanup_free_ char *text = NULL;
	size_t len;
	int r;

	frr_conf_init(conf, arena);
	r = fs_read(path, MAX_TEXT, &text, &len);
	if (r == 0)
		r = frr_conf_parse(text, len, conf);
	if (r < 0)
		(void)fprintf(stderr, "%s: %s\n", path, strerror(-r));
	return r;
}

int main(int argc, char **argv)
{
	_cleanup_(arena_freep) struct arena *arena = arena_new();
	struct frr_conf have, want;
	struct frr_delta delta;

	if (argc != 3 || read_conf(argv[1], arena, &have) < 0 || read_conf(argv[2], arena, &want) < 0)
		return 2;
	frr_delta(&want, &have, arena, &delta);
	for (size_t i = 0; i < delta.n; i++) {
		const struct frr_change *c = &delta.v[i];
		const char *impact = frr_impact(c, arena);

		(void)fputs(impact ? impact : "", stdout);
		for (const char *const *up = c->context; *up; up++)
			printf("\t%s", *up);
		printf("\t%s\n", c->command);
	}
	return fs_finish_stdout() ? 0 : 2;
}
