/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Secret files, looked at and not read; see secret.h. */
#include "config/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "config/schema.h"
#include "gateway/base/arena.h"
#include "gateway/base/cleanup.h"

enum { SECRET_MAX = 4096 };

struct secrets {
	struct arena *scratch;
	struct diag *diag;
};

static void check_secret(const struct visit *v, void *user)
{
	const struct secrets *s = user;
	_cleanup_close_ int fd = -1;
	const char *file, *shown, *path;
	struct stat st;

	if (!(v->field->flags & F_SECRET))
		return;
	file = *(const char *const *)v->value;
	shown = diag_show(s->scratch, file);
	path = path_str(v->path, s->scratch);
	fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 || fstat(fd, &st) < 0)
		diag_error(s->diag, v->loc, "%s: cannot read %s: %s", path, shown, strerror(errno));
	else if (!S_ISREG(st.st_mode))
		diag_error(s->diag, v->loc, "%s: %s is not a regular file", path, shown);
	else if (st.st_mode & (S_IRWXG | S_IRWXO))
		diag_error(s->diag, v->loc, "%s: %s is open to group or others (mode %04o); give it mode 0600", path,
			shown, st.st_mode & 07777);
	else if (st.st_size == 0)
		diag_error(s->diag, v->loc, "%s: %s is empty", path, shown);
	else if (st.st_size > SECRET_MAX)
		diag_error(s->diag, v->loc, "%s: %s has more than %d bytes", path, shown, SECRET_MAX);
}

void secret_check(const struct config *cfg, struct diag *diag)
{
	_cleanup_(arena_freep) struct arena *scratch = arena_new();
	struct secrets s = {scratch, diag};

	schema_walk(cfg, check_secret, &s);
}
