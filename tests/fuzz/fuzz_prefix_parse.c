/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prefix files of any bytes: what is taken is networks, one for each line that has something; what is not has its line.
 */
/* LINK: config/prefix_parse.c */
#include <stdint.h>
#include <stdlib.h>

#include "config/prefix_parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct prefix_list_file file;
	size_t lines = 1;
	int r = prefix_parse((const char *)data, size, &file);

	for (size_t i = 0; i < size; i++)
		lines += data[i] == '\n';
	if ((r == 0) != (file.n_errors == 0) || file.n + file.n_errors > lines || (r < 0 && file.n > 0))
		abort();
	for (size_t i = 0; i < file.n; i++) {
		struct ip_prefix network = ip_prefix_network(&file.v[i]);

		if (ip_prefix_cmp(&network, &file.v[i]) != 0)
			abort();
	}
	for (size_t i = 0; i < file.n_errors && i < PREFIX_ERRORS_MAX; i++)
		if (file.errors[i].line == 0 || file.errors[i].line > lines || file.errors[i].column == 0)
			abort();
	free(file.v);
	return 0;
}
