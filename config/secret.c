/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Secret files, read and wiped; see secret.h. */
#include "config/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/schema.h"
#include "gateway/base/arena.h"
#include "gateway/base/cleanup.h"

enum { SECRET_MAX = 4096, PASSWORD_MAX = 80 };

/* What FRR takes as the one word behind `password`. */
static bool is_one_word(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (text[i] <= ' ' || text[i] > '~')
			return false;
	return true;
}

/* What is in a file; to be wiped. */
struct secret {
	char text[SECRET_MAX + 2];
	mode_t mode;
};

static void secret_wipe(struct secret *s)
{
	explicit_bzero(s, sizeof(*s));
}

/* Length, or -errno. */
static ssize_t read_whole(int fd, char *to, size_t size)
{
	size_t len = 0;

	while (len < size) {
		ssize_t n = read(fd, to + len, size - len);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n == 0)
			break;
		len += n > 0 ? (size_t)n : 0;
	}
	return (ssize_t)len;
}

/*
 * 0; -errno: it cannot be read; or -EBADF: it is no file of one line, and *ret_why says what it is. The text has no
 * newline at its end.
 */
static int secret_read(const char *path, struct secret *s, const char **ret_why)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	ssize_t len;

	*ret_why = NULL;
	s->mode = 0;
	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	s->mode = st.st_mode;
	if (!S_ISREG(st.st_mode))
		*ret_why = "is not a regular file";
	else if (st.st_mode & (S_IRWXG | S_IRWXO))
		*ret_why = "is open to group or others";
	else if (st.st_size > SECRET_MAX)
		*ret_why = "has more than 4096 bytes";
	if (*ret_why)
		return -EBADF;
	len = read_whole(fd, s->text, sizeof(s->text) - 1);
	if (len < 0)
		return (int)len;
	if (len > 0 && s->text[len - 1] == '\n')
		len--;
	if (len > 0 && s->text[len - 1] == '\r')
		len--;
	s->text[len] = '\0';
	if (len == 0)
		*ret_why = "is empty";
	else if (!is_one_word(s->text, (size_t)len))
		*ret_why = "must have one line of printable characters, without spaces";
	else if (len > PASSWORD_MAX)
		*ret_why = "has more than the 80 characters that a TCP MD5 password may have";
	return *ret_why ? -EBADF : 0;
}

/* --- every secret of a config --- */

struct secrets {
	struct arena *scratch;
	struct diag *diag;
};

static void check_secret(const struct visit *v, void *user)
{
	const struct secrets *s = user;
	const char *file, *shown, *path, *why;
	struct secret secret;
	int r;

	if (!(v->field->flags & F_SECRET))
		return;
	file = *(const char *const *)v->value;
	shown = diag_show(s->scratch, file);
	path = path_str(v->path, s->scratch);
	r = secret_read(file, &secret, &why);
	if (why && S_ISREG(secret.mode) && (secret.mode & (S_IRWXG | S_IRWXO)))
		diag_error(s->diag, v->loc, "%s: %s %s (mode %04o); give it mode 0600", path, shown, why,
			secret.mode & 07777);
	else if (why)
		diag_error(s->diag, v->loc, "%s: %s %s", path, shown, why);
	else if (r < 0)
		diag_error(s->diag, v->loc, "%s: cannot read %s: %s", path, shown, strerror(-r));
	secret_wipe(&secret);
}

void secret_check(const struct config *cfg, struct diag *diag)
{
	_cleanup_(arena_freep) struct arena *scratch = arena_new();
	struct secrets s = {scratch, diag};

	schema_walk(cfg, check_secret, &s);
}

struct reader {
	void (*each)(const char *path, const char *text, void *arg);
	void *arg;
	int error;
};

static void read_secret(const struct visit *v, void *user)
{
	struct reader *reader = user;
	struct secret secret;
	const char *file, *why;
	int r;

	if (!(v->field->flags & F_SECRET) || reader->error)
		return;
	file = *(const char *const *)v->value;
	r = secret_read(file, &secret, &why);
	if (r == 0)
		reader->each(file, secret.text, reader->arg);
	else
		reader->error = why ? -EINVAL : r;
	secret_wipe(&secret);
}

int secret_read_all(const struct config *cfg, void (*each)(const char *path, const char *text, void *arg), void *arg)
{
	struct reader reader = {each, arg, 0};

	schema_walk(cfg, read_secret, &reader);
	return reader.error;
}
