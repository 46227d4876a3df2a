/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Routing: FRR's daemons, made and kept what the config means.
 *
 *   session.c         config -> every BGP and BFD session                   pure
 *   routing_check.c   routing's own rules, with file:line:col               pure
 *   frr_render*.c     config + facts -> the configuration of each daemon    pure
 *   frr_conf.c, frr_delta.c, frr_impact.c, frr_plan.c                       pure
 *                     what runs and what is wanted -> steps
 *   frr_vty.c         the daemons' sockets                                  edge
 *   flip*.c           BFD events move routes at once                        edge, but for the choice of routes
 */
#pragma once

struct services;
struct subsystem;

/*
 * Where the instance's daemons have their sockets (RUN/frr), and who starts and stops them; NULL: nobody, then plans
 * can be made but not applied. Call once, before anything of routing_subsystem; run_dir must live on.
 */
void routing_attach(const char *run_dir, struct services *services);

extern const struct subsystem routing_subsystem;
