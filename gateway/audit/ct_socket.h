/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The netlink sockets of the audit. Edge. All of them are non-blocking; buffers are the caller's. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	CT_BATCH = 64,
	CT_MESSAGE_MAX = 2048, /* of one event, and of one denied packet */
	CT_DUMP_MAX = 32 * 1024,
};

/* Room for one read of events. */
struct ct_batch {
	size_t len[CT_BATCH];
	_Alignas(8) uint8_t data[CT_BATCH][CT_MESSAGE_MAX];
};

/* Events of flows that start and end, with a buffer of this many bytes in the kernel. 0 or -errno. */
int ct_socket_events(size_t buffer, int *ret_fd);
/* Should the kernel keep the ends of flows that do not fit the buffer, and tell them later? */
int ct_socket_keep(int fd, bool keep);
/* How many datagrams were read; 0: none is there; -ENOBUFS: some were lost; or -errno. */
int ct_socket_read(int fd, struct ct_batch *batch);

/* A socket for dumps of the kernel's table, and the request for one; the answers come by ct_socket_read_dump(). */
int ct_socket_dump(int *ret_fd);
int ct_socket_ask(int fd);
/* Bytes read, several messages; 0: none is there; or -errno. */
int ct_socket_read_dump(int fd, uint8_t room[CT_DUMP_MAX]);

/* What a group of nfnetlink_log has: so many bytes of each packet. -EBUSY where somebody else listens. */
int ct_socket_log(uint16_t group, uint32_t copy, size_t buffer, int *ret_fd);
