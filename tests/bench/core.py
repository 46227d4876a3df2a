# SPDX-License-Identifier: GPL-2.0-or-later
"""The core's rows: applying many segments, checking a large file, throughput and packet rate through a segment, memory.

Baselines: the same objects made by `ip -batch` and `bridge -batch`; the same VXLAN by hand, without a firewall.
"""
import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/lib"))

import hand  # noqa: E402
import netns  # noqa: E402
from gateway import BUILD, Gateway  # noqa: E402

SEGMENTS = 1000
FIRST_VNI = 10000
HAND_GROUP = 77  # so that they can go in one command
REMOTES = ("10.255.1.1", "10.255.2.1")


def run(*argv):
    return netns.run(*argv, timeout=300).stdout


def timed(*argv):
    start = time.monotonic()
    run(*argv)
    return time.monotonic() - start


class Group:
    """Rows that share a set-up."""

    def __init__(self, rows, measure):
        self.rows, self.measure = rows, measure


@contextlib.contextmanager
def namespaces(*names):
    """Network namespaces of this run, gone at the end."""
    full = [f"fwb{os.getpid()}-{n}" for n in names]
    try:
        for n in full:
            netns.create(n)
        yield full
    finally:
        for n in full:
            netns.delete(n)


@contextlib.contextmanager
def gateway(ns, folder, text):
    """A converged fairwayd in a namespace."""
    gw = Gateway(ns, pathlib.Path(folder) / ns, "bench")
    gw.install(text)
    try:
        yield gw.boot()
    finally:
        gw.stop()


def apply_time(gw, path):
    return timed(*gw.command("apply", path))


def rss_mb(gw):
    status = pathlib.Path(f"/proc/{gw.child.pid}/status").read_text(encoding="ascii")
    return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1]) / 1024


def base_config(hostname="bench-gw", segments=()):
    lines = [
        f"system: {{hostname: {hostname}}}",
        "lines:",
        "  - {name: a, interface: eth1, address: 172.31.0.1/30, peer-address: 172.31.0.2}",
        "vtep: {address: 10.255.0.1}",
        "remotes:",
        *[f"  - {{name: r{i}, vtep: {v}, lines: [a]}}" for i, v in enumerate(REMOTES)],
    ]
    if segments:
        lines += ["segments:", *[f"  - {{name: s{n}, vni: {n}, mode: bridged, remotes: [r0, r1]}}" for n in segments]]
    return "\n".join(lines) + "\n"


def batch_files(folder):
    """The same objects for `ip -batch` and `bridge -batch`."""
    add, fdb = [], []
    for vni in range(FIRST_VNI, FIRST_VNI + SEGMENTS):
        add += [f"link add br{vni} type bridge mcast_snooping 0",
                f"link add vx{vni} type vxlan id {vni} local 10.255.0.1 dstport 4789 ttl 64 tos inherit df inherit",
                f"link set vx{vni} mtu 1500 addrgenmode none group {HAND_GROUP} master br{vni} up",
                f"link set br{vni} addrgenmode none group {HAND_GROUP} up"]
        fdb += [f"fdb append 00:00:00:00:00:00 dev vx{vni} dst {r} self permanent" for r in REMOTES]
    paths = [pathlib.Path(folder) / n for n in ("ip.batch", "bridge.batch")]
    for path, content in zip(paths, (add, fdb)):
        path.write_text("\n".join(content) + "\n")
    return paths


def wire(a, a_if, b, b_if):
    netns.ip(a, f"link add {a_if} type veth peer name {b_if} netns {b}\nlink set {a_if} up\n")
    netns.ip(b, f"link set {b_if} up\n")


def measure_apply(runs):
    first, again, one_more, rss = [], [], [], []
    with tempfile.TemporaryDirectory() as folder, namespaces("ours", "hand", "far") as (ours, theirs, far):
        wire(ours, "eth1", far, "eth1")
        vnis = range(FIRST_VNI, FIRST_VNI + SEGMENTS)
        files = {n: pathlib.Path(folder) / f"{n}.yaml" for n in ("none", "all", "more")}
        files["none"].write_text(base_config())
        files["all"].write_text(base_config(segments=vnis))
        files["more"].write_text(base_config(segments=[*vnis, FIRST_VNI + SEGMENTS]))
        ip_batch, bridge_batch = batch_files(folder)
        with gateway(ours, folder, base_config()) as gw:
            for _ in range(runs):
                t_first = apply_time(gw, files["all"])
                t_again = apply_time(gw, files["all"])
                t_more = apply_time(gw, files["more"])
                rss.append((rss_mb(gw), None))
                apply_time(gw, files["none"])
                t_hand = timed("ip", "-n", theirs, "-batch", ip_batch) + timed("bridge", "-n", theirs, "-batch", bridge_batch)
                run("ip", "-n", theirs, "link", "del", "group", HAND_GROUP)
                first.append((t_first, t_hand))
                again.append((t_again, t_first))
                one_more.append((t_more, t_first))
    yield "apply-1000", "s", ("max", 1.3), first
    yield "apply-again", "s", ("max", 0.15), again
    yield "apply-one-more", "s", ("max", 0.1), one_more
    yield "rss-1000", "MB", ("max", 40), rss


def measure_check(runs):
    seconds, memory = [], []
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "large.yaml"
        path.write_text(base_config(segments=range(1, 10001)))
        for _ in range(runs):
            start = time.monotonic()
            pid = os.posix_spawn(str(BUILD / "fairway"), ["fairway", "check", str(path)], os.environ,
                                 file_actions=[(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)])
            _, status, usage = os.wait4(pid, 0)
            if status != 0:
                raise RuntimeError("the large file was refused")
            seconds.append((time.monotonic() - start, None))
            memory.append((usage.ru_maxrss / 1024, None))
    yield "check-10000", "s", ("max", 1), seconds
    yield "check-10000-memory", "MB", ("max", 150), memory


def by_hand(ns, me, peer, line, far_line):
    """The same segment as somebody makes it by hand, tuned no worse than ours; no firewall."""
    hand.underlay(ns, "eth1", f"{line}/30", f"{me}/32", far_line, [peer])
    hand.bridged(ns, 100, me, [peer], "eth2")


def fairway_config(hostname, me, peer, line, far_line):
    return f"""
system: {{hostname: {hostname}}}
lines:
  - {{name: a, interface: eth1, address: {line}/30, peer-address: {far_line}}}
vtep: {{address: {me}}}
remotes:
  - {{name: far, vtep: {peer}, lines: [a]}}
segments:
  - {{name: s, vni: 100, mode: bridged, members: [eth2], remotes: [far]}}
"""


@contextlib.contextmanager
def two_sites(folder, kind):
    """host h1 - gateway g1 - line - gateway g2 - host h2; gives the hosts' namespaces."""
    ends = (("10.255.0.1", "10.255.1.1", "172.31.0.1", "172.31.0.2"), ("10.255.1.1", "10.255.0.1", "172.31.0.2", "172.31.0.1"))
    with namespaces(f"{kind}-h1", f"{kind}-g1", f"{kind}-g2", f"{kind}-h2") as (h1, g1, g2, h2), contextlib.ExitStack() as stack:
        wire(h1, "eth0", g1, "eth2")
        wire(g1, "eth1", g2, "eth1")
        wire(g2, "eth2", h2, "eth0")
        for host, number in ((h1, 1), (h2, 2)):
            run("ip", "-n", host, "addr", "add", f"10.99.0.{number}/24", "dev", "eth0")
        for ns, end in ((g1, ends[0]), (g2, ends[1])):
            if kind == "hand":
                by_hand(ns, *end)
            else:
                stack.enter_context(gateway(ns, folder, fairway_config(ns[-2:], *end)))
        run("ip", "netns", "exec", h1, "ping", "-c", "1", "-w", "10", "10.99.0.2")
        yield h1, h2


def tcp_gbit(h1, h2):
    server = subprocess.Popen(["ip", "netns", "exec", h2, "iperf3", "-s", "-1"], stdout=subprocess.DEVNULL)
    try:
        for _ in range(100):
            listening = run("ip", "netns", "exec", h2, "ss", "-Hltn", "sport = :5201")
            if listening.strip():
                break
            time.sleep(0.05)
        out = run("ip", "netns", "exec", h1, "iperf3", "-c", "10.99.0.2", "-t", "3", "-J")
    finally:
        server.kill()
        server.wait()
    return json.loads(out)["end"]["sum_received"]["bits_per_second"] / 1e9


def kpps(h1, h2, blast, to="10.99.0.2", port=9, answered=False):
    """Answered: the first packet is, so that connection tracking knows the flow as established."""
    seconds = 3
    sink = subprocess.Popen(["ip", "netns", "exec", h2, blast, "sink", str(port), str(seconds + 1), *(["answer"] if answered else [])],
                            stdout=subprocess.PIPE, text=True)
    try:
        # 18 bytes of payload: the 64-byte Ethernet frame. At idle priority, so that ksoftirqd is not starved of its core.
        run("chrt", "-i", "0", "ip", "netns", "exec", h1, blast, "send", to, port, seconds, 18)
        got, _ = sink.communicate(timeout=10)
    finally:
        sink.kill()
        sink.wait()
    return int(got) / seconds / 1000


def measure_traffic(runs):
    tcp, packets = [], []
    with tempfile.TemporaryDirectory() as folder:
        blast = pathlib.Path(folder) / "udp_blast"
        run("gcc", "-O2", "-D_GNU_SOURCE", "-o", blast, ROOT / "tests/bench/udp_blast.c")
        with two_sites(folder, "fairway") as ours, two_sites(folder, "hand") as theirs:
            tcp_gbit(*ours)
            tcp_gbit(*theirs)
            for i in range(runs):
                order = (ours, theirs) if i % 2 == 0 else (theirs, ours)
                t = {pair: tcp_gbit(*pair) for pair in order}
                p = {pair: kpps(*pair, blast) for pair in order}
                tcp.append((t[ours], t[theirs]))
                packets.append((p[ours], p[theirs]))
    yield "tcp-throughput", "Gbit/s", ("min", 0.95), tcp
    yield "packets-64", "kpps", ("min", 0.85), packets


ROWS = [
    Group(["apply-1000", "apply-again", "apply-one-more", "rss-1000"], measure_apply),
    Group(["check-10000", "check-10000-memory"], measure_check),
    Group(["tcp-throughput", "packets-64"], measure_traffic),
]
