/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A neighbor, as the kernel tells of it. Pure: takes whatever bytes a message has. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "overlay/snoop.h"

struct nlmsghdr;

struct snoop_neighbor {
	uint32_t bridge;	/* or another interface */
	struct snoop_host host; /* its MAC is zero where it is not known */
	bool ours;		/* has our mark */
	bool permanent;		/* stays until somebody deletes it */
	uint32_t silent;	/* seconds since it was last said to be there */
};

/* 0 or -ENOMSG: another kind of message, or not of an IP address. */
int snoop_neighbor_parse(struct nlmsghdr *h, struct snoop_neighbor *ret);
