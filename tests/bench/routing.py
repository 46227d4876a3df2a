# SPDX-License-Identifier: GPL-2.0-or-later
"""Routing's rows: how long traffic is without a way when a line dies or a daemon does, what a change costs, how fast prefixes travel.

Two gateways, two lines between them, each through a provider's namespace, where it is cut. Baseline: FRR alone at both ends, as somebody
who knows it configures it: the same timers, ECMP, bfdd in real time too, no kernel nexthop objects. What is measured is a UDP probe
each millisecond in each of six flows between the vteps (udp_echo.c); an outage is the longest of any flow.
"""
import contextlib
import ipaddress
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/lib"))

import frr  # noqa: E402
import netns  # noqa: E402
import process  # noqa: E402
import topo  # noqa: E402
from core import Group  # noqa: E402

LINES = ("l1", "l2")
AS = {"a": 65001, "b": 65101}
VTEP = {"a": "10.255.0.1", "b": "10.255.1.1"}
OTHER = {"a": "b", "b": "a"}
FLIPS = 20  # at least so many
FLOWS = 6
PREFIXES = 10000
SOAK_SECONDS = int(os.environ.get("FAIRWAY_SOAK_SECONDS", "300"))
ENTRIES = 100  # of the prefix list in which one line changes
STRESS = ("--cpu", "4")
SOAK_STRESS = ("--cpu", "2", "--fork", "1", "--switch", "1")


class BenchError(RuntimeError):
    """Something did not come to the state in which it can be measured."""


# --- the two kinds of gateway -----------------------------------------------------------------------------------------


def address(line, side):
    return f"172.31.{LINES.index(line) + 1}.{1 if side == 'a' else 2}"


def baseline_bfdd(side, bfd):
    interval, multiplier = bfd
    return "bfd\n" + "".join(
        f" peer {address(n, OTHER[side])} local-address {address(n, side)} interface {n}\n"
        f"  detect-multiplier {multiplier}\n  receive-interval {interval}\n  transmit-interval {interval}\n exit\n" for n in LINES) + "exit\n"


def prefix_list_entry(n, changed):
    return f"10.{100 + n // 256}.{n % 256}.0/{25 if changed and n == ENTRIES // 2 else 24}"


def baseline_bgpd(side, extra="", changed=False):
    peers = [address(n, OTHER[side]) for n in LINES]
    return "".join(f"ip prefix-list some seq {10 * (n + 1)} permit {prefix_list_entry(n, changed)}\n" for n in range(ENTRIES)) + \
        f"""router bgp {AS[side]}
 bgp router-id {VTEP[side]}
 no bgp ebgp-requires-policy
 no bgp default ipv4-unicast
 no bgp network import-check
 bgp bestpath as-path multipath-relax
 timers bgp 3 9
""" + "".join(f""" neighbor {p} remote-as {AS[OTHER[side]]}
 neighbor {p} bfd
 neighbor {p} timers connect 1
 neighbor {p} advertisement-interval 0
""" + (f" neighbor {p} passive\n" if side == "b" else "") for p in peers) + extra + f""" address-family ipv4 unicast
  network {VTEP[side]}/32
""" + "".join(f"  neighbor {p} activate\n" for p in peers) + f"""  maximum-paths 8
 exit-address-family
exit
"""


GRACEFUL = " bgp graceful-restart\n bgp graceful-restart preserve-fw-state\n"
LEAF_NEIGHBOR = """ neighbor 10.20.0.2 remote-as 65011
 neighbor 10.20.0.2 timers connect 1
 neighbor 10.20.0.2 advertisement-interval 0
 address-family ipv4 unicast
  neighbor 10.20.0.2 activate
 exit-address-family
"""


def baseline_node(side, bfd, extra=""):
    return {
        "kind": "router",
        "addresses": {**{n: [f"{address(n, side)}/30"] for n in LINES}, "lo": [f"{VTEP[side]}/32"]},
        "sysctls": {"net/ipv4/fib_multipath_hash_policy": 1},
        "frr": {"bfdd": baseline_bfdd(side, bfd), "bgpd": baseline_bgpd(side, extra)},
    }


def our_config(side, bfd, leaf=False, changed=False, networks=()):
    interval, multiplier = bfd
    session = {"peer-as": AS[OTHER[side]], "policy-in": "all", "policy-out": "all", "passive": side == "b"}
    config = {
        "system": {"hostname": side},
        "lines": [{"name": n, "interface": n, "address": f"{address(n, side)}/30", "peer-address": address(n, OTHER[side]),
                   "bfd": {"interval": f"{interval}ms", "multiplier": multiplier}, "bgp": session} for n in LINES],
        "vtep": {"address": VTEP[side]},
        "remotes": [{"name": "far", "vtep": VTEP[OTHER[side]], "lines": list(LINES)}],
        "bgp": {
            "as": AS[side],
            "networks": list(networks),
            "prefix-lists": [{"name": "some", "entries": [{"seq": 10 * (n + 1), "prefix": prefix_list_entry(n, changed)}
                                                          for n in range(ENTRIES)]}],
            "policies": [{"name": "all", "rules": [{"seq": 10, "action": "permit"}]}],
        },
    }
    if leaf:
        config["interfaces"] = [{"name": "eth0", "addresses": ["10.20.0.1/30"]}]
        config["bgp"]["neighbors"] = [{"name": "leaf", "address": "10.20.0.2", "peer-as": 65011, "policy-in": "all", "policy-out": "all"}]
    return json.dumps(config, indent=1) + "\n"


def leaf_node():
    """Has the prefixes in its kernel and announces them when it is told to redistribute them."""
    return {"kind": "router", "addresses": {"eth0": ["10.20.0.2/30"]}, "frr": {"bgpd": """router bgp 65011
 bgp router-id 10.20.0.2
 no bgp ebgp-requires-policy
 timers bgp 3 9
 neighbor 10.20.0.1 remote-as 65001
 neighbor 10.20.0.1 timers connect 1
 neighbor 10.20.0.1 advertisement-interval 0
 neighbor 10.20.0.1 passive
exit
"""}}


class Site:
    """A lab of one kind, "ours" or "frr"."""

    def __init__(self, kind, bfd, leaf=False, extra=""):
        self.kind, self.bfd = kind, bfd
        if kind == "ours":
            nodes = {s: {"kind": "gateway", "config": our_config(s, bfd, leaf and s == "a")} for s in AS}
        else:
            nodes = {s: baseline_node(s, bfd, extra + (LEAF_NEIGHBOR if leaf and s == "a" else "")) for s in AS}
        links = [{"name": n, "ends": [f"a:{n}", f"b:{n}"]} for n in LINES]
        if leaf:
            nodes["s"] = leaf_node()
            links.append({"name": "leaf", "ends": ["a:eth0", "s:eth0"]})
            if kind == "frr":
                nodes["a"]["addresses"]["eth0"] = ["10.20.0.1/30"]
        self.lab = topo.temporary({"name": f"bench-{kind}", "nodes": nodes, "links": links})

    def __enter__(self):
        self.lab.up()
        return self

    def __exit__(self, *exc):
        self.lab.down()

    def frr_folder(self, side):
        return self.lab.gateways[side].folder / "run/frr" if self.kind == "ours" else self.lab.speakers[side].folder

    def hops(self, side):
        """Interfaces that carry what `side` sends to the other's vtep now: those of the best route in its kernel."""
        out = netns.run("ip", "-j", "route", "show", f"{VTEP[OTHER[side]]}/32", ns=self.lab.ns(side)).stdout
        routes = sorted(json.loads(out or "[]"), key=lambda r: r.get("metric", 0))
        if not routes:
            return []
        hops = routes[0].get("nexthops") or [routes[0]]
        return sorted(h["dev"] for h in hops if not {"dead", "linkdown"} & set(h.get("flags", [])))

    def protocol(self, side):
        out = netns.run("ip", "-j", "-N", "route", "show", f"{VTEP[OTHER[side]]}/32", ns=self.lab.ns(side)).stdout
        return {str(r["protocol"]) for r in json.loads(out or "[]")}

    def wait_ready(self, timeout=60):
        """BGP's routes over both lines at both ends, and no override."""
        def state():
            return all(self.hops(s) == list(LINES) and "186" in self.protocol(s) and "1" not in self.protocol(s) for s in AS)
        if not process.wait_until(state, timeout, 0.05):
            raise BenchError(f"{self.kind}: {[(s, self.hops(s), self.protocol(s)) for s in AS]}")
        for s in AS:
            frr.wait_established(self.frr_folder(s) / "bgpd.vty", [address(n, OTHER[s]) for n in LINES], timeout)

    def wait_left(self, line, timeout=10):
        """Neither end sends over the line."""
        return process.wait_until(lambda: not any(line in self.hops(s) for s in AS), timeout, 0.02)


# --- measuring --------------------------------------------------------------------------------------------------------


def compiled(folder, name):
    program = pathlib.Path(folder) / name
    netns.run("gcc", "-O2", "-D_GNU_SOURCE", "-o", program, ROOT / f"tests/bench/{name}.c", timeout=120)
    return program


class Probe:
    """A probe each millisecond from vtep to vtep. In real time, at the lowest priority of that: what is measured on a busy machine
    is the gateways, not this program."""

    def __init__(self, site, program):
        self.children = []
        self.prober = None
        try:
            server = self._start(site.lab.ns("b"), program, "serve", VTEP["b"], "7")
            if server.stdout.readline() != "ready\n":
                raise BenchError("udp_echo serve did not start")
            self.prober = self._start(site.lab.ns("a"), program, "probe", VTEP["a"], VTEP["b"], "7", FLOWS)
        except BaseException:
            self.__exit__()
            raise

    def _start(self, ns, *argv):
        with netns.inside(ns):
            child = subprocess.Popen(["chrt", "-f", "1", *map(str, argv)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.children.append(child)
        return child

    def begin(self):
        self.prober.stdin.write("begin\n")
        self.prober.stdin.flush()

    def end(self):
        self.prober.stdin.write("end\n")
        self.prober.stdin.flush()
        return json.loads(self.prober.stdout.readline())

    def outage(self):
        """Milliseconds, the longest of any flow since begin()."""
        return max(f["outage_ms"] for f in self.end()["flows"])

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        for child in self.children:
            child.kill()
            child.communicate()


@contextlib.contextmanager
def stressed(args):
    """A machine that is busy with something else."""
    if not args:
        yield
        return
    child = subprocess.Popen(["stress-ng", "--quiet", *args], start_new_session=True)
    try:
        time.sleep(0.5)
        yield
    finally:
        os.killpg(child.pid, signal.SIGTERM)  # its own session, which we made
        child.wait()


def one_flip(site, probe, line, mode):
    """Milliseconds without a way when `line` fails."""
    site.wait_ready()
    probe.begin()
    time.sleep(0.1)  # what is in the window before the failure shows that there was none
    site.lab.fail(line, mode)
    try:
        site.wait_left(line)
        time.sleep(0.1)
        return probe.outage()
    finally:
        site.lab.heal(line)


def measure_flips(name, bfd, mode, bars):
    def measure(runs):
        pairs = {(): [], STRESS: []}
        with tempfile.TemporaryDirectory() as folder:
            program = compiled(folder, "udp_echo")
            with both(bfd) as sites, contextlib.ExitStack() as stack:
                probes = {s: stack.enter_context(Probe(s, program)) for s in sites}
                for stress, found in pairs.items():
                    with stressed(stress):
                        for i in range(max(runs, FLIPS)):
                            took = {s.kind: one_flip(s, probes[s], LINES[i // 2 % 2], mode) for s in (sites if i % 2 else sites[::-1])}
                            found.append((took["ours"], took["frr"]))
        yield name, "ms", bars[0], pairs[()]
        yield f"{name}-stress", "ms", bars[1], pairs[STRESS]
    return Group([name, f"{name}-stress"], measure)


@contextlib.contextmanager
def both(bfd, **more):
    with Site("ours", bfd, **more) as ours, Site("frr", bfd, **more) as theirs:
        for s in (ours, theirs):
            s.wait_ready()
        yield [ours, theirs]


# --- bgpd dies --------------------------------------------------------------------------------------------------------


def one_kill(site, probe):
    """Milliseconds without a way when a's bgpd is killed; with FRR alone somebody starts it again at once, and graceful restart is on at
    both ends, which is better than without."""
    site.wait_ready()
    pid = int((site.frr_folder("a") / "bgpd.pid").read_text(encoding="ascii"))
    probe.begin()
    time.sleep(0.1)
    os.kill(pid, signal.SIGKILL)
    if site.kind == "frr":
        site.lab.speakers["a"].children["bgpd"].popen.wait()
        site.lab.speakers["a"].start_daemon("bgpd")
    else:
        process.wait_until(lambda: frr.answers(site.frr_folder("a") / "bgpd.vty"), 20)
    site.wait_ready()
    time.sleep(0.2)
    return probe.outage()


def measure_kill(runs):
    pairs = {(): [], STRESS: []}
    with tempfile.TemporaryDirectory() as folder:
        program = compiled(folder, "udp_echo")
        with both((50, 3), extra=GRACEFUL) as sites, contextlib.ExitStack() as stack:
            probes = {s: stack.enter_context(Probe(s, program)) for s in sites}
            for stress, found in pairs.items():
                with stressed(stress):
                    for i in range(max(runs, FLIPS)):
                        took = {s.kind: one_kill(s, probes[s]) for s in (sites if i % 2 else sites[::-1])}
                        found.append((took["ours"], took["frr"]))
    yield "bgpd-kill", "ms", ("max", 0.1), pairs[()]
    yield "bgpd-kill-stress", "ms", ("max", 0.1), pairs[STRESS]


# --- false positives --------------------------------------------------------------------------------------------------


def downs(site):
    return sum(sum(frr.bfd_downs(site.frr_folder(s) / "bfdd.vty").values()) for s in AS)


def measure_soak(_runs):
    """BFD sessions that go down though nothing is wrong, while packets fill both lines and the machine is busy."""
    with tempfile.TemporaryDirectory() as folder, Site("ours", (50, 3)) as site, stressed(SOAK_STRESS):
        blast = compiled(folder, "udp_blast")
        site.wait_ready()
        before = downs(site)
        with contextlib.ExitStack() as stack:
            for near, far in OTHER.items():
                for port in ("9", "10"):
                    with netns.inside(site.lab.ns(near)):
                        stack.enter_context(killed(subprocess.Popen(
                            ["chrt", "-i", "0", blast, "send", VTEP[far], port, str(SOAK_SECONDS), "1000"], stdout=subprocess.DEVNULL)))
            time.sleep(SOAK_SECONDS)
        found = downs(site) - before
    yield "bfd-false-positives", "", ("max", 0), [(found, None)]


@contextlib.contextmanager
def killed(child):
    try:
        yield child
    finally:
        child.kill()
        child.wait()


# --- a change ---------------------------------------------------------------------------------------------------------


def timed(argv):
    start = time.monotonic()
    done = subprocess.run([str(a) for a in argv], capture_output=True, text=True, timeout=120, check=False)
    if done.returncode:
        raise BenchError(f"{argv}: exit {done.returncode}: {done.stdout}{done.stderr}")
    return time.monotonic() - start


def our_change(site, folder, changed):
    gw = site.lab.gateways["a"]
    path = pathlib.Path(folder) / f"{changed}.yaml"
    path.write_text(our_config("a", site.bfd, changed=changed), encoding="utf-8")
    return timed(gw.command("apply", path))


def frr_change(site, folder, changed):
    path = pathlib.Path(folder) / f"{changed}.conf"
    path.write_text("frr defaults traditional\nno zebra nexthop kernel enable\n" + baseline_bfdd("a", site.bfd)
                    + baseline_bgpd("a", changed=changed), encoding="utf-8")
    took = timed(["/usr/bin/python3", "/usr/lib/frr/frr-reload.py", "--reload", "--bindir", "/usr/bin", "--confdir", folder, "--rundir", folder,
                  "--vty_socket", site.frr_folder("a"), path])
    with frr.Vty(site.frr_folder("a") / "bgpd.vty") as vty:
        if prefix_list_entry(ENTRIES // 2, changed) not in vty.run("show running-config"):
            raise BenchError("frr-reload.py changed nothing")
    return took


def measure_change(runs):
    pairs = {(): [], STRESS: []}
    with tempfile.TemporaryDirectory() as folder, both((50, 3)) as (ours, theirs):
        (pathlib.Path(folder) / "vtysh.conf").touch()
        frr_change(theirs, folder, False)  # what differs only in how it is written
        for stress, found in pairs.items():
            with stressed(stress):
                for i in range(max(runs, FLIPS)):
                    changed = i % 2 == 0
                    found.append((our_change(ours, folder, changed), frr_change(theirs, folder, changed)))
    yield "change-one-line", "s", ("max", 0.1), pairs[()]
    yield "change-one-line-stress", "s", ("max", 0.1), pairs[STRESS]


# --- many prefixes ----------------------------------------------------------------------------------------------------


def fib_size(ns):
    with netns.inside(ns):
        text = pathlib.Path("/proc/thread-self/net/fib_triestat").read_text(encoding="ascii")
    return sum(int(line.split()[1]) for line in text.splitlines() if line.strip().startswith("Prefixes:"))


def one_announcement(site):
    """Seconds from the leaf's announcement until all is in b's kernel."""
    ns, leaf = site.lab.ns("b"), site.lab.speakers["s"]
    before = fib_size(ns)
    start = time.monotonic()
    leaf.configure("router bgp 65011\n address-family ipv4 unicast\n  redistribute kernel\n")
    if not process.wait_until(lambda: fib_size(ns) >= before + PREFIXES, 120, 0.005):
        raise BenchError(f"{site.kind}: {fib_size(ns) - before} of {PREFIXES} prefixes arrived")
    took = time.monotonic() - start
    leaf.configure("router bgp 65011\n address-family ipv4 unicast\n  no redistribute kernel\n")
    if not process.wait_until(lambda: fib_size(ns) <= before, 120, 0.02):
        raise BenchError(f"{site.kind}: {fib_size(ns) - before} prefixes stayed")
    time.sleep(0.5)  # both ends have done what follows from it
    return took


def many():
    first = int(ipaddress.ip_address("60.0.0.0"))
    return [f"{ipaddress.ip_address(first + (n << 8))}/24" for n in range(PREFIXES)]


def measure_prefixes(runs):
    batch = "".join(f"route add {p} dev lo\n" for p in many())
    pairs = {(): [], STRESS: []}
    with both((50, 3), leaf=True) as sites:
        for s in sites:
            netns.ip(s.lab.ns("s"), batch)
            s.lab.speakers["s"].wait_established("10.20.0.1")
        for stress, found in pairs.items():
            with stressed(stress):
                for i in range(max(runs, 5)):
                    took = {s.kind: one_announcement(s) for s in (sites if i % 2 else sites[::-1])}
                    found.append((took["ours"], took["frr"]))
    yield "prefixes-10000", "s", ("max", 1.1), pairs[()]
    yield "prefixes-10000-stress", "s", ("max", 1.1), pairs[STRESS]


def network_changes(site, folder):
    """(command that announces all, command that withdraws all), as an operator of either does it."""
    folder = pathlib.Path(folder)
    if site.kind == "ours":
        files = [folder / "all.yaml", folder / "none.yaml"]
        for path, networks in zip(files, (many(), ())):
            path.write_text(our_config("a", site.bfd, networks=networks), encoding="utf-8")
        return [site.lab.gateways["a"].command("apply", path) for path in files]
    files = [folder / "all.conf", folder / "none.conf"]
    for path, word in zip(files, ("", "no ")):
        path.write_text(f"router bgp {AS['a']}\n address-family ipv4 unicast\n" + "".join(f"  {word}network {p}\n" for p in many()), encoding="utf-8")
    (folder / "vtysh.conf").touch()
    return [["vtysh", "--vty_socket", site.frr_folder("a"), "--config_dir", folder, "-f", path] for path in files]


def one_file(site, commands):
    """Seconds from giving the file with the networks until all are in b's kernel."""
    ns = site.lab.ns("b")
    before = fib_size(ns)
    start = time.monotonic()
    timed(commands[0])
    if not process.wait_until(lambda: fib_size(ns) >= before + PREFIXES, 120, 0.005):
        raise BenchError(f"{site.kind}: {fib_size(ns) - before} of {PREFIXES} prefixes arrived")
    took = time.monotonic() - start
    timed(commands[1])
    if not process.wait_until(lambda: fib_size(ns) <= before, 120, 0.02):
        raise BenchError(f"{site.kind}: {fib_size(ns) - before} prefixes stayed")
    time.sleep(0.5)
    return took


def measure_networks(runs):
    pairs = {(): [], STRESS: []}
    with tempfile.TemporaryDirectory() as folder, both((50, 3)) as sites:
        commands = {s: network_changes(s, folder) for s in sites}
        for stress, found in pairs.items():
            with stressed(stress):
                for i in range(max(runs, 5)):
                    took = {s.kind: one_file(s, commands[s]) for s in (sites if i % 2 else sites[::-1])}
                    found.append((took["ours"], took["frr"]))
    # Ours is checked, rehearsed, and looked at again after: that is not what vtysh does, so it is only told.
    yield "networks-10000", "s", ("max", None), pairs[()]
    yield "networks-10000-stress", "s", ("max", None), pairs[STRESS]


ROWS = [
    measure_flips("blackhole-10x3", (10, 3), "blackhole", [("max", 0.5, 50), ("max", 0.5)]),
    measure_flips("blackhole-50x3", (50, 3), "blackhole", [("max", None, 175), ("max", 1)]),
    measure_flips("link-down", (50, 3), "down", [("max", None, 30), ("max", 1)]),
    Group(["bgpd-kill", "bgpd-kill-stress"], measure_kill),
    Group(["change-one-line", "change-one-line-stress"], measure_change),
    Group(["prefixes-10000", "prefixes-10000-stress"], measure_prefixes),
    Group(["networks-10000", "networks-10000-stress"], measure_networks),
    Group(["bfd-false-positives"], measure_soak),
]
