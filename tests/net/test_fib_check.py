# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernel against intent on two gateways' worth of plain FRR: what somebody breaks in the kernel is as FRR means it again within a
second, and ordinary BGP at work is left alone. fib_selftest.c runs the check; everything else here is FRR and ip(8)."""
import contextlib
import json
import os
import re
import subprocess
import tempfile
import time

import pytest

import frr
import gateway
import netns
import process
import topo

SELFTEST = gateway.BUILD / "tests/net/fib_selftest"
A, B = f"{topo.PREFIX}fib-a", f"{topo.PREFIX}fib-b"
VTEPS = {A: "10.255.0.1", B: "10.255.1.1"}
SETTLE = 5.5  # zebra that was found anew is not believed before
PREFIX = "10.77.1.0/24"


def links():
    for ns in (A, B):
        netns.create(ns)
    for i in (1, 2):
        netns.ip(A, f"link add l{i} type veth peer name l{i} netns {B}\n")
    for ns, end in ((A, 1), (B, 2)):
        netns.ip(ns, "".join(f"addr add 172.31.{i}.{end}/30 dev l{i}\naddr add fd00:31:{i}::{end}/64 dev l{i} nodad\nlink set l{i} up\n"
                             for i in (1, 2)) + f"addr add {VTEPS[ns]}/32 dev lo\n" + f"""
link add br10010 type bridge
link add vx10010 group 4001 type vxlan id 10010 local {VTEPS[ns]} dstport 4789 nolearning
link set vx10010 master br10010
link set vx10010 up
link set br10010 up
link add port type veth peer name host
link set port master br10010
link set port up
link set host up
link add other type veth peer name other2
link set other up
link set other2 up
addr add 192.168.9.1/24 dev other
""")


def bgpd(ns):
    local, remote, mine, theirs = (65001, 65002, 1, 2) if ns == A else (65002, 65001, 2, 1)
    far = VTEPS[B if ns == A else A]
    peers = [f"172.31.{i}.{theirs}" for i in (1, 2)]
    peers6 = [f"fd00:31:{i}::{theirs}" for i in (1, 2)]
    lines = [f"router bgp {local}", f"bgp router-id {VTEPS[ns]}", "no bgp default ipv4-unicast", "no bgp ebgp-requires-policy",
             "no bgp network import-check", "bgp bestpath as-path multipath-relax"]
    for p in peers + peers6 + [far]:
        lines += [f"neighbor {p} remote-as {remote}", f"neighbor {p} timers connect 1", f"neighbor {p} advertisement-interval 0"]
        lines += [f"neighbor {p} passive"] if ns == B else []
    lines += [f"neighbor {far} ebgp-multihop 4", f"neighbor {far} update-source {VTEPS[ns]}"]
    lines += ["address-family ipv4 unicast", f"network {VTEPS[ns]}/32", f"network 10.77.{3 - mine}.0/24", "maximum-paths 8"]
    lines += [f"neighbor {p} activate" for p in peers] + ["exit-address-family"]
    lines += ["address-family ipv6 unicast", f"network fd00:77:{mine}::/48", "maximum-paths 8"]
    lines += [f"neighbor {p} activate" for p in peers6] + ["exit-address-family"]
    lines += ["address-family l2vpn evpn", f"neighbor {far} activate", "advertise-all-vni", "vni 10010", "route-target both 65000:10010"]
    return "\n".join(lines + ["exit-vni", "exit-address-family", "exit"]) + "\n"


class Checked:
    """Namespace A, with the check at work in it."""

    def __init__(self, program, far):
        self.program, self.far = program, far
        self.first = self.state()
        self.mac = re.search(r"^(\S+) dst 10.255.1.1 self extern_learn *$", self.fdb(), re.M).group(1)

    def routes(self):
        return [netns.run("ip", f, "-N", "route", "show", "proto", "186", ns=A).stdout for f in ("-4", "-6")]

    def fdb(self):
        return netns.run("bridge", "fdb", "show", "dev", "vx10010", ns=A).stdout

    def state(self):
        """Order means nothing, and the age of an entry neither."""
        return self.routes(), sorted(self.fdb().replace(" offload", "").splitlines())

    def wait_repaired(self, timeout=1.0):
        assert self.broken(), "the test broke nothing"
        ok = process.wait_until(lambda: not self.broken(), timeout)
        assert ok, f"not repaired:\n{self.state()}\nwas\n{self.first}"

    def broken(self):
        return self.state() != self.first

    def bridge(self, *words):
        netns.run("bridge", "fdb", *words, ns=A)

    def end(self):
        out, err = self.program.communicate(timeout=20)
        return json.loads(out), err


@contextlib.contextmanager
def selftest(folder):
    with netns.inside(A):
        program = subprocess.Popen([SELFTEST, folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        time.sleep(SETTLE)
        yield program
    finally:
        if program.poll() is None:
            program.kill()
            program.wait()


@pytest.fixture(scope="module")
def pair_of_frr(clean_machine):
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="fib-"))
        os.chmod(folder, 0o755)
        for ns in (A, B):
            stack.callback(netns.delete, ns)
        links()
        ends = {ns: stack.enter_context(frr.Frr(ns, f"{folder}/{ns}", {"bgpd": bgpd(ns), "zebra": "ip nht resolve-via-default\n"}))
                for ns in (A, B)}
        ends[A].wait_established(timeout=30)
        assert process.wait_until(lambda: PREFIX in netns.run("ip", "route", "show", "proto", "bgp", ns=A).stdout
                                  and "self extern_learn" in netns.run("bridge", "fdb", "show", "dev", "vx10010", ns=A).stdout, 20)
        yield ends


@pytest.fixture
def checked(pair_of_frr):
    with selftest(pair_of_frr[A].folder) as program:
        yield Checked(program, pair_of_frr[B])


def test_what_is_broken_is_repaired(checked):
    route = f"route replace {PREFIX} proto bgp metric 20"
    for family, breakage in (("-4", f"{route} via 172.31.1.2\n"), ("-4", f"{route} nexthop via 172.31.1.2 weight 3 nexthop via 172.31.2.2\n"),
                             ("-4", "route add 198.51.100.0/24 proto bgp metric 20 via 172.31.1.2\n"),
                             ("-6", "route add fd00:99::/48 proto bgp metric 20 via fd00:31:1::2\n"),
                             ("-6", "route del fd00:77:2::/48 proto bgp\nroute add fd00:77:2::/48 proto bgp metric 20 via fd00:31:2::2\n")):
        netns.run("ip", family, "-batch", "-", ns=A, stdin=breakage)  # as one: zebra may write again what is gone for longer
        checked.wait_repaired()
    checked.bridge("replace", checked.mac, "dev", "vx10010", "dst", "10.9.9.9", "dynamic", "self", "extern_learn")
    checked.wait_repaired()
    checked.bridge("add", "02:00:00:00:00:09", "dev", "vx10010", "dst", "10.255.1.1", "dynamic", "self", "extern_learn")
    checked.wait_repaired()
    counters, log = checked.end()
    assert counters["repairs"] == 7, log
    assert f"{PREFIX} was not in the kernel as zebra has it: put back" in log
    assert "198.51.100.0/24 was in the kernel and zebra does not have it: removed" in log


def test_what_is_deleted_is_back(checked):
    """Whoever is first, zebra or the check."""
    netns.run("ip", "route", "del", PREFIX, "proto", "bgp", ns=A)
    assert process.wait_until(lambda: not checked.broken(), 1.0)
    for part in ("self", "master"):
        checked.bridge("del", checked.mac, "dev", "vx10010", part)
        assert process.wait_until(lambda: not checked.broken(), 1.0), checked.fdb()


def test_a_flap_of_another_interface(checked):
    """Case 30: ECMP routes are all there afterwards."""
    for _ in range(5):
        netns.ip(A, "link set other down\nlink set other up\n")
    assert process.wait_until(lambda: not checked.broken(), 1.0)
    assert "nexthop via 172.31.1.2" in checked.routes()[0] and "nexthop via 172.31.2.2" in checked.routes()[0]


def test_churn_is_left_alone(checked):
    """A thousand prefixes come and go, out of step with the looks: the check sees them on their way, and waits."""
    end, cycles = time.monotonic() + 20, 0
    with checked.far.vty() as vty:
        for line in ("configure terminal", "router bgp 65002", "address-family ipv4 unicast"):
            vty.run(line)
        while time.monotonic() < end:
            for word in ("", "no "):
                for i in range(1000):
                    vty.run(f"{word}network 100.64.{i // 250}.{i % 250}/32")
                cycles += 1
    counters, log = checked.end()
    assert cycles >= 6 and counters["looks"] > 20
    assert counters["repairs"] == 0, log
    assert counters["busy_percent"] <= 25
