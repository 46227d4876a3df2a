# SPDX-License-Identifier: GPL-2.0-or-later
"""The audit's rows: what the record of flows costs new connections, and how many flows one core records.

Baselines: the same gateway without a record, but with connection tracking, which any stateful policy needs; ulogd2 (NFCT to JSON).
"""
import contextlib
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

from core import ROOT, Group, gateway, namespaces, run  # first: it says where tests/lib is

import audit_record  # noqa: E402
import netns  # noqa: E402
import process  # noqa: E402

SECONDS = 4
PARALLEL = 64
FLOWS = 120000
CORE = "0"
LARGE = 256 << 20  # of a socket buffer: all events of FLOWS wait in it
ULOGD = "/usr/lib/x86_64-linux-gnu/ulogd"
TRACKED = "table inet bench_tracked {\n chain f {\n type filter hook forward priority 0;\n ct state new counter\n}\n}\n"


def config(folder=None, buffer="64MiB"):
    lines = ["system: {hostname: bench-gw}", "interfaces:", "  - {name: near, addresses: [10.1.0.1/24]}", "  - {name: far, addresses: [10.2.0.1/24]}"]
    if folder:
        lines.append(f"audit: {{directory: {folder}, buffer: {buffer}, max-size: 4GiB, max-files: 4}}")
    return "\n".join(lines) + "\n"


@contextlib.contextmanager
def site(folder, text):
    """client -- gateway -- server, connections tracked whatever the gateway's config says."""
    with namespaces("client", "gw", "server") as (client, gw, server):
        for host, port, n in ((client, "near", 1), (server, "far", 2)):
            run("ip", "link", "add", "e0", "netns", host, "type", "veth", "peer", "name", port, "netns", gw)
            netns.ip(host, f"addr add 10.{n}.0.2/24 dev e0\nlink set e0 up\nroute add default via 10.{n}.0.1\n")
        netns.nft(gw, TRACKED)
        for key in ("acct", "timestamp", "events"):
            netns.sysctl(gw, f"net/netfilter/nf_conntrack_{key}", 1)
        with gateway(gw, folder, text) as running:
            run("ip", "netns", "exec", client, "ping", "-c", "1", "-W", "2", "10.2.0.2")
            yield client, server, running


# --- new connections --------------------------------------------------------------------------------------------------


def connections(client, server, program):
    with netns.inside(server):
        serving = subprocess.Popen([program, "serve", "80"], stdout=subprocess.PIPE, text=True)
    try:
        serving.stdout.readline()
        return float(run("ip", "netns", "exec", client, program, "connect", "10.2.0.2", "80", SECONDS, PARALLEL))
    finally:
        serving.kill()
        serving.wait()


def one_rate(gw, client, server, program, text):
    """Of a table that is empty at first: what was done before must not count."""
    gw.apply(text)
    gw.wait_converged()
    audit_record.flush_conntrack(gw.ns)
    assert process.wait_until(lambda: audit_record.conntrack_count(gw.ns) < 100, 20)
    rate = connections(client, server, program)
    audit_record.flush_conntrack(gw.ns)
    return rate


def whole(gw):
    shown = gw.show("audit")
    return not (shown["missing"] or shown["missing-unknown"] or shown["lines-lost"])


def caught_up(gw):
    return abs(gw.show("audit")["alive"] - audit_record.conntrack_count(gw.ns)) < 10


def measure_cps(runs):
    pairs = []
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "conn_rate"
        run("gcc", "-O2", "-D_GNU_SOURCE", "-o", program, ROOT / "tests/bench/conn_rate.c")
        with site(folder, config()) as (client, server, gw):
            connections(client, server, program)
            for i in range(runs):
                rates = {}
                for on in (True, False) if i % 2 == 0 else (False, True):
                    record = pathlib.Path(folder) / f"record-{i}"
                    rates[on] = one_rate(gw, client, server, program, config(record if on else None))
                    if on:
                        assert process.wait_until(lambda: caught_up(gw), 30) and whole(gw), (gw.show("audit"), audit_record.conntrack_count(gw.ns))
                        shutil.rmtree(record)
                pairs.append((rates[True], rates[False]))
    yield "audit-cps", "/s", ("min", 0.85), pairs


# --- flows on one core ------------------------------------------------------------------------------------------------


class Lines:
    """How many lines a growing file has; only what is new is read."""

    def __init__(self, path):
        self.path, self.at, self.n = path, 0, 0

    def __call__(self):
        if self.path.exists():
            with open(self.path, "rb") as f:
                f.seek(self.at)
                new = f.read()
            self.at += len(new)
            self.n += new.count(b"\n")
        return self.n


def drain(pid, ns, client, lines_of, slack):
    """FLOWS begin and end while the reader sleeps; then it has one core, and this is how many it records a second."""
    before = lines_of()
    run("taskset", "-a", "-p", "-c", CORE, pid)
    signal_process(pid, signal.SIGSTOP)
    try:
        assert audit_record.burst(client, "10.2.0.2", FLOWS) == FLOWS
        audit_record.flush_conntrack(ns)
    finally:
        signal_process(pid, signal.SIGCONT)
    start = time.monotonic()
    done = process.wait_until(lambda: lines_of() - before >= 2 * FLOWS - slack, 60, 0.002)
    took = time.monotonic() - start
    found = lines_of() - before
    assert done, f"{found} lines of {2 * FLOWS}"
    return FLOWS / took


def signal_process(pid, which):
    run("kill", f"-{int(which)}", pid)


def ours(folder, number):
    record = pathlib.Path(folder) / f"flows-{number}"
    with site(pathlib.Path(folder) / f"gw-{number}", config(record, f"{LARGE >> 20}MiB")) as (client, server, gw):
        quiet(server)
        rate = drain(gw.child.pid, gw.ns, client, Lines(record / "audit-0000000001.json"), 0)
        assert whole(gw) and gw.show("audit")["overruns"] == 0, gw.show("audit")
    shutil.rmtree(record)
    return rate


ULOGD_CONF = """[global]
logfile="{folder}/ulogd.log"
loglevel=5
plugin="{plugins}/ulogd_inpflow_NFCT.so"
plugin="{plugins}/ulogd_filter_IP2STR.so"
plugin="{plugins}/ulogd_output_JSON.so"
stack=ct1:NFCT,ip2str1:IP2STR,json1:JSON
[ct1]
netlink_socket_buffer_size={buffer}
netlink_socket_buffer_maxsize={most}
event_mask=5
hash_enable=0
[json1]
sync=0
file="{folder}/flows.json"
"""


@contextlib.contextmanager
def ulogd(ns, folder):
    folder.mkdir()
    (folder / "ulogd.conf").write_text(ULOGD_CONF.format(folder=folder, plugins=ULOGD, buffer=LARGE, most=LARGE + 1))
    with netns.inside(ns):
        child = subprocess.Popen(["ulogd", "-c", folder / "ulogd.conf"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        assert process.wait_until(lambda: "working in event mode" in log_of(folder), 10), log_of(folder)
        yield child.pid
    finally:
        child.terminate()
        child.wait()


def log_of(folder):
    path = folder / "ulogd.log"
    return path.read_text(errors="replace") if path.exists() else ""


def quiet(server):
    """Nobody answers: a flow is one packet."""
    netns.nft(server, "table inet quiet {\n chain in {\n type filter hook input priority 0;\n udp dport 1024-65535 drop\n}\n}\n")


def theirs(folder, number):
    # What stdio has not written yet is less than that many lines.
    slack = 16
    with site(pathlib.Path(folder) / f"gw-u{number}", config()) as (client, server, gw):
        quiet(server)
        out = pathlib.Path(folder) / f"ulogd-{number}"
        with ulogd(gw.ns, out) as pid:
            return drain(pid, gw.ns, client, Lines(out / "flows.json"), slack)


def measure_flows(runs):
    pairs = []
    with tempfile.TemporaryDirectory() as folder:
        for i in range(runs):
            a, b = (ours, theirs) if i % 2 == 0 else (theirs, ours)
            first, second = a(folder, i), b(folder, i)
            pairs.append((first, second) if a is ours else (second, first))
    yield "audit-flows", "/s", ("min", 2), pairs


ROWS = [
    Group(["audit-cps"], measure_cps),
    Group(["audit-flows"], measure_flows),
]
