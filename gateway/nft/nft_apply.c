/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Steps done: their commands in one buffer, which libnftables makes one kernel transaction. So a run of steps is done
 * whole or not at all, and no packet sees a half of it. Edge.
 */
#include "gateway/nft/nft_kernel.h"

#include <errno.h>
#include <nftables/libnftables.h>
#include <stdlib.h>
#include <string.h>

#include "gateway/base/buf.h"
#include "gateway/base/cleanup.h"
#include "gateway/engine/plan.h"
#include "gateway/engine/txn.h"
#include "gateway/nft/nft.h"

static void ctx_freep(struct nft_ctx **ctx)
{
	if (*ctx)
		nft_ctx_free(*ctx);
}

static size_t count_lines(const struct buf *text, size_t from)
{
	size_t n = 0;

	for (size_t i = from; i < text->len; i++)
		n += text->data[i] == '\n';
	return n;
}

/* nft names the line of the buffer: "<cmdline>:12:3-9: Error: ...". The step that has it; the first if it says none. */
static const struct step *failed_step(const struct step *const *steps, size_t n, const char *message)
{
	const char *colon = strchr(message, ':');
	size_t line = colon ? strtoul(colon + 1, NULL, 10) : 0, last = 0;
	struct buf text = {0};
	const struct step *found = steps[0];

	for (size_t i = 0; i < n && line > last; i++) {
		buf_reset(&text);
		nft_step_print(steps[i]->payload, &text);
		last += count_lines(&text, 0);
		found = steps[i];
	}
	buf_free(&text);
	return found;
}

/* The first error in nft's words, without its place in a buffer that nobody sees. */
static void first_error(const char *message, struct buf *out)
{
	static const char mark[] = "Error: ";
	const char *start = strstr(message, mark);

	start = start ? start + sizeof(mark) - 1 : message;
	buf_add(out, start, strcspn(start, "\n"));
	if (out->len == 0)
		buf_puts(out, "no reason given");
}

int nft_apply(struct txn *txn, const struct step *const *steps, size_t n)
{
	/* A context of its own: it caches what it saw of the kernel, and costs little to make. */
	_cleanup_(ctx_freep) struct nft_ctx *ctx = nft_ctx_new(NFT_CTX_DEFAULT);
	_cleanup_(buf_free) struct buf commands = {0}, reason = {0};
	const char *message;

	if (!ctx || nft_ctx_buffer_output(ctx) != 0 || nft_ctx_buffer_error(ctx) != 0)
		return txn_fail(txn, steps[0], -ENOMEM, "nft: cannot start");
	for (size_t i = 0; i < n; i++)
		nft_step_print(steps[i]->payload, &commands);
	if (nft_run_cmd_from_buffer(ctx, buf_str(&commands)) == 0)
		return 0;
	message = nft_ctx_get_error_buffer(ctx);
	first_error(message, &reason);
	return txn_fail(txn, failed_step(steps, n, message), -EIO, "nft: %s", buf_str(&reason));
}
