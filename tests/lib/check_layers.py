#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""check_layers.py OBJDIR: the seams of the design, enforced.

Three rules: who may include whom (a table of folders, without circles), what is pure (its object file needs no symbol that
reads or changes the world), and what stays small (files of 600 lines, functions of 80).
"""
import fnmatch
import pathlib
import re
import subprocess
import sys

# Folder -> folders whose headers it may include. Reading order: every folder only looks to those above it.
LAYERS = {
    "gateway/base": [],
    "config": ["gateway/base"],
    "gateway/engine": ["gateway/base", "config"],
    "gateway/nft": ["gateway/base", "gateway/engine"],
    "overlay": ["gateway/base", "config", "gateway/engine", "gateway/nft"],
    "routing": ["gateway/base", "config", "gateway/engine", "gateway/service", "overlay"],
    "gateway/audit": ["gateway/base", "config", "gateway/engine", "gateway/nft", "overlay"],
    "gateway/policy": ["gateway/base", "config", "gateway/engine", "gateway/nft", "overlay", "routing"],
    "gateway/filter": ["gateway/base", "config", "gateway/engine", "gateway/nft", "overlay", "gateway/audit", "gateway/policy"],
    "gateway/rpc": ["gateway/base"],
    "gateway/service": ["gateway/base"],
    "gateway/daemon": ["gateway/base", "config", "gateway/engine", "gateway/nft", "gateway/filter", "gateway/rpc",
                       "gateway/service", "overlay", "routing", "gateway/audit", "gateway/policy"],
    "gateway": ["gateway/base", "config", "gateway/engine", "gateway/daemon", "gateway/rpc"],
    "gateway/cli": ["gateway/base", "config", "gateway/engine", "gateway/rpc", "gateway/audit"],
}
# What joins the layers on purpose.
INCLUDE_EXCEPTIONS = {
    "gateway/engine/subsystems.c": "the only list of subsystems",
    "gateway/cli/check.c": "the offline check runs every subsystem's rules",
}
# One library, one place.
ONLY_INCLUDED_BY = {
    "libfyaml.h": ["config/yaml.c"],
    "nftables/libnftables.h": ["gateway/nft/nft_apply.c"],
    "fixbuf/public.h": ["gateway/audit/ipfix_sink.c"],
    # A config with errors is for checks alone.
    "config/draft.h": ["config/config.c", "gateway/engine/load.c"],
}
PURE = [
    "gateway/base/*.c", "config/*.c", "overlay/*_plan.c", "overlay/*_render.c", "overlay/*_check.c", "overlay/mtu.c", "overlay/snoop.c", "overlay/toobig.c",
    "overlay/model.c", "overlay/desired.c", "overlay/desired_*.c", "overlay/*_parse.c", "gateway/nft/nft_model.c",
    "gateway/nft/nft_memory.c", "gateway/nft/nft_plan.c", "gateway/nft/nft_change.c", "gateway/nft/nft_parse.c", "gateway/filter/*_desired.c", "gateway/filter/*_show.c",
    "routing/frr_render*.c", "routing/frr_conf.c", "routing/frr_delta.c", "routing/frr_impact.c", "routing/frr_plan.c", "routing/routing_check.c", "routing/neighbor_check.c",
    "routing/policy_check.c", "routing/preset_check.c", "routing/evpn_check.c",
    "routing/session.c", "routing/policy_eval.c", "routing/*_shape.c", "routing/zebra_parse.c", "routing/fib_diff.c", "routing/bfd_event.c",
    "routing/flip_plan.c", "routing/flip_state.c",
    "gateway/engine/plan.c", "gateway/engine/facts.c", "gateway/engine/txn.c", "gateway/rpc/*frame.c",
    "gateway/audit/audit_check.c", "gateway/audit/audit_render.c", "gateway/audit/audit_names.c", "gateway/audit/audit_settings.c",
    "gateway/policy/policy_*.c", "gateway/policy/protect_render.c",
    "gateway/audit/ct_event.c", "gateway/audit/deny.c", "gateway/audit/flow.c", "gateway/audit/flow_*.c", "gateway/audit/names_pool.c",
    "gateway/audit/scan.c", "gateway/audit/totals.c", "gateway/audit/tracker.c",
]
EDGES = ["gateway/base/log.c", "gateway/base/fs.c", "config/store*.c", "config/secret.c", "config/prefix_file.c", "config/gen_exports.c"]
IMPURE_SYMBOLS = re.compile(
    r"^(socket|bind|connect|accept4?|send(to|msg|mmsg)?|recv(from|msg|mmsg)?|open(at)?(64)?|creat|f?read|f?write|ioctl|f(d?open)(64)?"
    r"|unlink(at)?|rename(at)?|mkdir(at)?|f?stat(at)?(64)?|lstat(64)?|opendir|time|clock_gettime|gettimeofday|localtime(_r)?|getenv|fork"
    r"|getpid|getuid|rand(om)?|usleep|nanosleep|printf|puts|putchar|__printf_chk|log_msg|nl_(connect|send|recv).*|mnl_socket_.*"
    r"|nft_ctx_.*|nft_run_.*|sd_.*)$")
NEVER = re.compile(r"^(system|popen|exec[lv]p?e?|gets|tmpnam|mktemp|strtok|sprintf|vsprintf)$")
# The one place that executes programs, of a constant table.
NEVER_EXCEPTIONS = {("gateway/service/program.c", "execve")}
MAX_FILE, MAX_FUNCTION = 600, 80


def matches(path, patterns):
    return any(fnmatch.fnmatch(path, p) for p in patterns)


def layer_of(path):
    return str(pathlib.PurePath(path).parent) if "/" in path else ""


def check_includes(path, text, problems):
    folder = layer_of(path)
    if folder == "config/schema":
        return
    for number, line in enumerate(text.splitlines(), 1):
        m = re.match(r'#include\s+[<"]([^>"]+)[>"]', line)
        if not m:
            continue
        header = m.group(1)
        owners = ONLY_INCLUDED_BY.get(header)
        if owners and path not in owners:
            problems.append(f"{path}:{number}: only {', '.join(owners)} may include {header}")
        target = layer_of(header)
        if target not in LAYERS or target == folder or path in INCLUDE_EXCEPTIONS:
            continue
        if folder not in LAYERS:
            problems.append(f"{path}:{number}: folder {folder} has no row in LAYERS")
        elif target not in LAYERS[folder]:
            problems.append(f"{path}:{number}: {folder} must not include {target} ({header})")


def check_size(path, text, problems):
    lines = text.splitlines()
    if len(lines) > MAX_FILE:
        problems.append(f"{path}: {len(lines)} lines, at most {MAX_FILE}")
    start = None
    for number, line in enumerate(lines, 1):
        if line == "{":
            start = number
        elif line == "}" and start:
            if number - start - 1 > MAX_FUNCTION:
                problems.append(f"{path}:{start}: a function of {number - start - 1} lines, at most {MAX_FUNCTION}")
            start = None


def check_symbols(path, objdir, problems):
    obj = pathlib.Path(objdir) / path.replace(".c", ".o")
    if not obj.exists():
        problems.append(f"{path}: {obj} is not built")
        return
    out = subprocess.run(["nm", "-u", str(obj)], check=True, capture_output=True, text=True).stdout
    pure = matches(path, PURE) and not matches(path, EDGES)
    for symbol in (line.split()[-1].split("@")[0] for line in out.splitlines() if line.strip()):
        if NEVER.match(symbol) and (path, symbol) not in NEVER_EXCEPTIONS:
            problems.append(f"{path}: uses {symbol}(), which nothing here may")
        elif pure and IMPURE_SYMBOLS.match(symbol):
            problems.append(f"{path}: is pure but uses {symbol}()")


def check_circles(problems):
    seen = []

    def visit(folder, trail):
        if folder in trail:
            problems.append("LAYERS has a circle: " + " -> ".join(trail + [folder]))
        elif folder not in seen:
            for below in LAYERS[folder]:
                visit(below, trail + [folder])
            seen.append(folder)

    for folder in LAYERS:
        visit(folder, [])


def main():
    objdir, problems, n = sys.argv[1], [], 0
    check_circles(problems)
    for top in ("config", "gateway", "overlay", "routing", "ha"):
        for file in sorted(pathlib.Path(top).rglob("*.[ch]")):
            path, text = str(file), file.read_text()
            n += 1
            if not text.startswith("/* SPDX-License-Identifier: GPL-2.0-or-later */"):
                problems.append(f"{path}:1: no SPDX line")
            check_includes(path, text, problems)
            check_size(path, text, problems)
            if path.endswith(".c") and path not in ("gateway/fairwayd.c", "gateway/cli/main.c", "config/gen_exports.c"):
                check_symbols(path, objdir, problems)
    print("\n".join(problems + [f"layers: {n} files, {len(problems)} problems"]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
