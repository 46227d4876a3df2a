/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gen_exports markdown|json-schema|yang: writes one export to standard output. Run by the Makefile; not installed. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/export.h"
#include "gateway/base/buf.h"
#include "gateway/base/str.h"

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*export)(struct buf *out);
	} exports[] = {{"markdown", export_markdown}, {"json-schema", export_json_schema}, {"yang", export_yang}};
	struct buf out = {0};

	for (size_t i = 0; argc == 2 && i < ARRAY_SIZE(exports); i++)
		if (str_eq(argv[1], exports[i].name))
			exports[i].export(&out);
	if (!out.data) {
		(void)fprintf(stderr, "usage: gen_exports markdown|json-schema|yang\n");
		return 2;
	}
	if (fwrite(out.data, 1, out.len, stdout) != out.len || fflush(stdout) != 0) {
		(void)fprintf(stderr, "gen_exports: %s\n", strerror(errno));
		return 1;
	}
	buf_free(&out);
	return 0;
}
