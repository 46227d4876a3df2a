/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Table steps done: their commands in one buffer, which libnftables makes one kernel transaction, so that no packet
 * sees a half of it. Element steps go the short way, see nft_elems.c. Edge.
 */
#include "gateway/nft/nft_kernel.h"

#include <errno.h>
#include <nftables/libnftables.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "gateway/base/buf.h"
#include "gateway/base/cleanup.h"
#include "gateway/engine/plan.h"
#include "gateway/engine/txn.h"
#include "gateway/nft/nft.h"
#include "gateway/nft/nft_memory.h"

static void ctx_freep(struct nft_ctx **ctx)
{
	if (*ctx)
		nft_ctx_free(*ctx);
}

/* The first error in nft's words. Its place is left out: nft 1.0.6 does not know the lines of a buffer. */
static void first_error(const char *message, struct buf *ret_reason)
{
	static const char mark[] = "Error: ";
	const char *start = strstr(message, mark);

	start = start ? start + sizeof(mark) - 1 : message;
	buf_reset(ret_reason);
	buf_add(ret_reason, start, strcspn(start, "\n"));
	if (ret_reason->len == 0)
		buf_puts(ret_reason, "no reason given");
}

/*
 * One transaction; `dry`: the kernel checks it and does not do it. A context each time: it caches what it saw of the
 * kernel, and costs little to make.
 */
static bool run(const char *commands, bool dry, struct buf *ret_reason)
{
	_cleanup_(ctx_freep) struct nft_ctx *ctx = nft_ctx_new(NFT_CTX_DEFAULT);

	if (!ctx || nft_ctx_buffer_output(ctx) != 0 || nft_ctx_buffer_error(ctx) != 0)
		abort(); /* out of memory */
	nft_ctx_set_dry_run(ctx, dry);
	if (nft_run_cmd_from_buffer(ctx, commands) == 0)
		return true;
	first_error(nft_ctx_get_error_buffer(ctx), ret_reason);
	return false;
}

bool nft_run(const char *commands, struct buf *ret_why)
{
	return run(commands, false, ret_why);
}

/*
 * A transaction fails as a whole, and nft does not say where. The steps do not build on each other, so the one to blame
 * is the one that fails alone; the first if none does.
 */
static const struct step *blame(const struct step *const *steps, size_t n, struct buf *ret_reason)
{
	_cleanup_(buf_free) struct buf commands = {0};

	for (size_t i = 0; n > 1 && i < n; i++) {
		buf_reset(&commands);
		nft_step_print(steps[i]->payload, &commands);
		if (!run(buf_str(&commands), true, ret_reason))
			return steps[i];
	}
	return steps[0];
}

static int apply_tables(struct txn *txn, const struct step *const *steps, size_t n)
{
	_cleanup_(buf_free) struct buf commands = {0}, reason = {0};
	const struct step *failed;

	for (size_t i = 0; i < n; i++)
		nft_step_print(steps[i]->payload, &commands);
	if (run(buf_str(&commands), false, &reason))
		return 0;
	failed = blame(steps, n, &reason);
	return txn_fail(txn, failed, -EIO, "nft: %s", buf_str(&reason));
}

/* What may be one transaction: a change is finished in another than it began in. */
enum kind { ABOUT_TABLES, ABOUT_ELEMS, SWITCHES, FINISHES };

static enum kind kind_of(const struct step *step)
{
	const struct nft_step *s = step->payload;

	if (s->op == NFT_ADD_ELEMS || s->op == NFT_DEL_ELEMS)
		return ABOUT_ELEMS;
	return s->op == NFT_SWITCH_TABLE ? SWITCHES : s->op == NFT_FINISH_TABLE ? FINISHES : ABOUT_TABLES;
}

/* What stands there now, if these transactions were all that happened since. */
static void remember(const struct step *const *steps, size_t n, uint32_t before, uint32_t n_done)
{
	uint32_t now;

	if (before == 0 || nft_generation(&now) < 0 || now != before + n_done) {
		nft_memory_forget();
		return;
	}
	for (size_t i = 0; i < n; i++) {
		const struct nft_step *s = steps[i]->payload;

		if (s->op == NFT_DELETE_TABLE)
			nft_memory_deleted(s->table);
		else if (i + 1 == n || ((const struct nft_step *)steps[i + 1]->payload)->table != s->table)
			nft_memory_written(s->table);
	}
	nft_memory_moved(before, now);
}

int nft_apply(struct txn *txn, const struct step *const *steps, size_t n)
{
	uint32_t before = 0, n_done = 0;
	int r = 0;

	nft_monitor_listen(false);
	(void)nft_generation(&before);
	for (size_t i = 0, end; i < n && r == 0; i = end) {
		enum kind kind = kind_of(steps[i]);

		for (end = i + 1; end < n && kind_of(steps[end]) == kind;)
			end++;
		r = kind == ABOUT_ELEMS ? nft_apply_elems(txn, steps + i, end - i)
					: apply_tables(txn, steps + i, end - i);
		n_done++;
	}
	nft_monitor_listen(true);
	if (r == 0)
		remember(steps, n, before, n_done);
	else
		nft_memory_forget();
	return r;
}
