/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * frr_selftest CONFIG DAEMON: what is rendered for zebra, bfdd or bgpd, for the tests that give it to a real one. Every
 * secret file is taken to say "secret-" and its name without the folders.
 */
/* LINK: routing/frr_conf.c routing/frr_render.c routing/frr_render_bgp.c routing/frr_render_evpn.c routing/frr_render_policy.c routing/session.c overlay/mtu.c config/config.c config/decode.c config/diag.c config/hint.c config/preset.c config/schema.c config/text.c config/types.c config/types_bgp.c config/types_net.c config/types_policy.c config/endpoint.c config/types_text.c config/yaml.c gateway/engine/facts.c */
/* LIBS: libfyaml jansson */
#include <stdio.h>
#include <string.h>

#include "config/config.h"
#include "gateway/base/arena.h"
#include "gateway/base/buf.h"
#include "gateway/base/cleanup.h"
#include "gateway/base/fs.h"
#include "gateway/base/str.h"
#include "gateway/engine/facts.h"
#include "routing/frr_conf.h"
#include "routing/frr_render.h"

static const struct {
	const char *name;
	void (*render)(const struct config *cfg, const struct facts *facts, struct frr_conf *conf);
} daemons[] = {
	{"zebra", frr_render_zebra},
	{"bfdd", frr_render_bfdd},
	{"bgpd", frr_render_bgpd},
};

static void learn_secret(struct facts *facts, const char *path, struct arena *arena)
{
	if (path)
		facts_set_secret(facts, path, arena_printf(arena, "secret-%s", strrchr(path, '/') + 1));
}

static void learn_secrets(struct facts *facts, const struct config *cfg, struct arena *arena)
{
	for (size_t i = 0; i < cfg->lines.n; i++)
		if (cfg->lines.v[i].bgp)
			learn_secret(facts, cfg->lines.v[i].bgp->password_file, arena);
	for (size_t i = 0; i < cfg->remotes.n; i++)
		learn_secret(facts, cfg->remotes.v[i].password_file, arena);
	for (size_t i = 0; cfg->bgp && i < cfg->bgp->neighbors.n; i++)
		learn_secret(facts, cfg->bgp->neighbors.v[i].password_file, arena);
}

static const struct config *read_config(const char *path, struct arena *arena)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_(buf_free) struct buf messages = {0};
	const struct config *cfg;
	struct diag diag;
	size_t len;

	if (fs_read(path, CONFIG_FILE_MAX, &text, &len) < 0)
		return NULL;
	diag_init(&diag, path);
	cfg = config_parse(text, len, arena, &diag);
	diag_print(&diag, &messages);
	(void)fputs(buf_str(&messages), stderr);
	diag_free(&diag);
	return cfg;
}

int main(int argc, char **argv)
{
	_cleanup_(arena_freep) struct arena *arena = arena_new();
	_cleanup_(buf_free) struct buf text = {0};
	const struct config *cfg = argc == 3 ? read_config(argv[1], arena) : NULL;
	struct frr_conf conf;
	struct facts facts;

	if (!cfg)
		return 2;
	facts_init(&facts);
	learn_secrets(&facts, cfg, arena);
	frr_conf_init(&conf, arena);
	for (size_t i = 0; i < ARRAY_SIZE(daemons); i++)
		if (str_eq(argv[2], daemons[i].name))
			daemons[i].render(cfg, &facts, &conf);
	frr_conf_print(&conf, false, &text);
	(void)fputs(buf_str(&text), stdout);
	facts_free(&facts);
	return fs_finish_stdout() ? 0 : 2;
}
