/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See transit.h. The name is not one of the tables that a plan compares: no commit removes it before its own stand. */
#include "gateway/daemon/transit.h"

#include "gateway/base/buf.h"
#include "gateway/base/log.h"
#include "gateway/nft/nft_kernel.h"

/* As one transaction; that it is there already, or not, is no error. */
#define GONE(family) "table " family " closed_by_fairway\ndelete table " family " closed_by_fairway\n"
#define CLOSED(family)                                                                                                 \
	GONE(family)                                                                                                   \
	"table " family " closed_by_fairway {\n"                                                                       \
	"\tcomment \"there is no good configuration: nothing passes through\"\n"                                       \
	"\tchain forward {\n\t\ttype filter hook forward priority -10; policy drop;\n\t}\n"                            \
	"}\n"

static bool run(const char *commands, const char *what)
{
	struct buf why = {0};
	bool done = nft_run(commands, &why);

	if (!done)
		log_error("transit could not be %s: %s", what, buf_str(&why));
	buf_free(&why);
	return done;
}

bool transit_close(void)
{
	return run(CLOSED("inet") CLOSED("bridge"), "closed");
}

bool transit_open(void)
{
	return run(GONE("inet") GONE("bridge"), "opened");
}
