/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See prefix_file.h. */
#include "config/prefix_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "config/prefix_parse.h"
#include "gateway/base/buf.h"
#include "gateway/base/cleanup.h"
#include "gateway/base/fs.h"

static void print_errors(const char *path, const struct prefix_list_file *file, struct buf *why)
{
	size_t n = file->n_errors < PREFIX_ERRORS_MAX ? file->n_errors : PREFIX_ERRORS_MAX;

	for (size_t i = 0; i < n; i++) {
		const struct prefix_error *e = &file->errors[i];

		buf_printf(why, "%s:%zu:%zu: \"%s\" is not a network, such as 10.0.0.0/8 or 2001:db8::/32%s%s\n", path,
			e->line, e->column, e->word, *e->want ? "; " : "", e->want);
	}
	if (n < file->n_errors)
		buf_printf(why, "%s: and %zu more lines that are no network\n", path, file->n_errors - n);
}

int prefix_file_read(const char *path, struct ip_prefix **ret, size_t *ret_n, struct buf *why)
{
	_cleanup_free_ char *text = NULL;
	struct prefix_list_file file;
	size_t len;
	int r = fs_read_regular(path, PREFIX_FILE_MAX, &text, &len);

	if (r < 0) {
		buf_printf(why, "%s: %s\n", path, fs_read_error(r));
		return r;
	}
	r = prefix_parse(text, len, &file);
	if (r < 0) {
		print_errors(path, &file, why);
		return r;
	}
	*ret = file.v;
	*ret_n = file.n;
	return 0;
}

static void report(const struct access_group *g, const char *line, size_t len, bool lenient, struct diag *diag)
{
	struct loc at = CONFIG_AT(g, access_group, file);

	if (lenient)
		diag_warning(diag, at, "group %s: %.*s", g->name, (int)len, line);
	else
		diag_error(diag, at, "group %s: %.*s", g->name, (int)len, line);
}

static void check_group(const struct access_group *g, bool lenient, struct diag *diag)
{
	_cleanup_free_ struct ip_prefix *v = NULL;
	struct buf why = {0};
	size_t n;

	if (prefix_file_read(g->file, &v, &n, &why) < 0)
		for (const char *line = buf_str(&why); *line;) {
			size_t len = strcspn(line, "\n");

			report(g, line, len, lenient, diag);
			line += len + (line[len] == '\n');
		}
	buf_free(&why);
}

void prefix_file_check(const struct config *cfg, bool lenient, struct diag *diag)
{
	for (size_t i = 0; cfg->policy && i < cfg->policy->groups.n; i++)
		if (cfg->policy->groups.v[i].file)
			check_group(&cfg->policy->groups.v[i], lenient, diag);
}
