#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""demo.py: brings the example lab up, proves with packets what Fairway promises, prints what was measured, takes it down.

Every row is packets between hosts, with the values that were seen on the wire; no row believes what a gateway says about itself.
Ends with 1 if a row fails.
"""
import os
import pathlib
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import gateway  # noqa: E402
import netns  # noqa: E402
import probe  # noqa: E402
import process  # noqa: E402
import topo  # noqa: E402

EXAMPLE = pathlib.Path(__file__).resolve().parent / "example.yaml"


class Path:
    """Two hosts over one segment, in one family: (node, interface, address) of each end."""

    def __init__(self, label, near, far):
        self.label, self.near, self.far = label, near, far

    @property
    def reverse(self):
        return Path(self.label, self.far, self.near)


def both_families(label, near, far):
    """near, far: (node, interface, IPv4, IPv6)"""
    return [Path(f"{label}, IPv{4 if i == 2 else 6}", (*near[:2], near[i]), (*far[:2], far[i])) for i in (2, 3)]


def pair(segment, near, far, subnets):
    """Host numbers on the two subnets of a segment (the same one where it is bridged)."""
    (node_a, dev_a, n_a), (node_b, dev_b, n_b) = near, far
    a, b = subnets
    return both_families(segment, (node_a, dev_a, f"10.{a[0]}.{n_a}", f"fd00:{a[1]}::{n_a}"),
                         (node_b, dev_b, f"10.{b[0]}.{n_b}", f"fd00:{b[1]}::{n_b}"))


BRIDGED = pair("bridged", ("bj-h1", "eth1", 11), ("ali-h1", "eth1", 21), [("99.10", "99:10")] * 2)
ROUTED = pair("routed", ("bj-h1", "eth0", 11), ("ali-h1", "eth0", 11), [("20.1", "20:1"), ("30.0", "30")])
ROUTED_HW = pair("routed, second cloud", ("bj-h1", "eth0", 11), ("hw-h1", "eth0", 11), [("20.1", "20:1"), ("40.0", "40")])
BRIDGED_V6 = pair("bridged over IPv6", ("bj-h1", "eth2", 11), ("hw-h1", "eth2", 21), [("99.30", "99:30")] * 2)
ROUTED_V6 = pair("routed over IPv6", ("bj-h2", "eth0", 12), ("hw-h1", "eth1", 11), [("20.2", "20:2"), ("41.0", "41")])
BRIDGED_9000 = pair("bridged, 9000", ("bj-h2", "eth3", 12), ("aws-h1", "eth1", 21), [("99.70", "99:70")] * 2)
ROUTED_9000 = pair("routed, 9000", ("bj-h2", "eth2", 12), ("aws-h1", "eth0", 11), [("20.3", "20:3"), ("70.0", "70")])
BRIDGED_1400 = pair("bridged, hidden 1400", ("bj-h2", "eth4", 12), ("tx-h1", "eth1", 21), [("99.50", "99:50")] * 2)
ROUTED_1400 = pair("routed, hidden 1400", ("bj-h1", "eth0", 11), ("tx-h1", "eth0", 11), [("20.1", "20:1"), ("60.0", "60")])


class Demo:
    def __init__(self, lab):
        self.lab = lab
        self.rows = []

    def end(self, end):
        """(namespace, interface, address)"""
        return (self.lab.ns(end[0]), *end[1:])

    def address(self, end):
        return self.lab.ns(end[0]), end[2]

    def row(self, what, path, expected, measured, ok):
        self.rows.append((what, path, expected, measured, ok))
        print(f"{'ok  ' if ok else 'FAIL'}  {what:<22} {path:<32} {expected:<30} {measured}", flush=True)

    def prove(self, what, path, expected, test):
        """test() gives (measured, ok); what goes wrong in it fails the row, not the demo."""
        try:
            measured, ok = test()
        except (OSError, RuntimeError) as e:
            measured, ok = f"{type(e).__name__}: {e}", False
        self.row(what, path, expected, measured, ok)

    # --- rows ---

    def reach(self, path):
        def test():
            begin = time.monotonic()
            ok = probe.ping(self.lab.ns(path.near[0]), path.far[2], path.near[2], timeout=10)
            return f"{path.near[2]} - {path.far[2]} in {1000 * (time.monotonic() - begin):.0f} ms", ok
        self.prove("host to host", path.label, "answers", test)

    def mss(self, path, sent, clamped, client_mss=None):
        """SYN at the far host, SYN-ACK at the near one, for a connection in each direction."""
        def test():
            seen = [probe.handshake(self.end(p.near), self.end(p.far), client_mss) for p in (path, path.reverse)]
            syn = (client_mss, client_mss) if client_mss else (sent, clamped)
            return "; ".join(map(str, seen)), all(tuple(h) == (*syn, sent, clamped) for h in seen)
        what = f"client MSS {client_mss}" if client_mss else "MSS, both directions"
        expected = f"SYN stays {client_mss}" if client_mss else f"{sent}->{clamped}"
        self.prove(what, path.label, expected, test)

    def too_big(self, path, size, mtu, timeout=10):
        def test():
            probe.forget_path_mtu(*(self.lab.ns(e[0]) for e in (path.near, path.far)))
            seen = [probe.path_mtu(self.address(p.near), self.address(p.far), size, timeout, until=mtu) for p in (path, path.reverse)]
            return "; ".join(map(str, seen)), all(s.told == s.learned == mtu and s.fits for s in seen)
        self.prove(f"UDP {size} with DF", path.label, f"told {mtu}, the next fits", test)

    def without_df(self, path):
        def test():
            probe.forget_path_mtu(*(self.lab.ns(e[0]) for e in (path.near, path.far)))
            seen = [probe.udp_arrives(self.address(p.near), self.address(p.far), 2000, attempts=1 if "IPv4" in p.label else 5)
                    for p in (path, path.reverse)]
            return f"forward {'arrived' if seen[0] else 'LOST'}, back {'arrived' if seen[1] else 'LOST'}", all(seen)
        self.prove("UDP 2000 without DF", path.label, "arrives both ways", test)

    def tcp(self, path, n_bytes):
        def test():
            seconds = probe.transfer(self.address(path.near), self.address(path.far), n_bytes, timeout=15)
            return f"{n_bytes} bytes each way in {seconds:.2f} s", True
        self.prove("TCP transfer", path.label, "all bytes arrive", test)

    def large_frames(self, path, mtu):
        """A packet of this size with DF goes through whole; counted on the hosts."""
        def test():
            seen = probe.path_mtu(self.address(path.near), self.address(path.far), mtu)
            return f"{mtu} bytes in one packet, {seen.tries} sent", seen.fits and seen.told is None and seen.tries == 1
        self.prove("large frames", path.label, f"{mtu} in one packet", test)

    def apply_twice(self):
        gw = self.lab.gateways["bj-gw1"]

        def test():
            flows = [(p.label, *self.address(p.near), *self.address(p.far)) for p in (*BRIDGED, *ROUTED, *BRIDGED_V6)]
            with probe.Stream(*flows) as stream:
                done = gw.apply(gw.config_file.read_text(encoding="utf-8"))
                result = stream.stop(at_least=1000)
            sent = sum(f["sent"] for f in result.values())
            steps = len(gw.plan())
            said = done.stdout.strip().splitlines()[-1] if done.stdout.strip() else ""
            return f"\"{said}\"; plan: {steps} steps; {probe.lost(result)} of {sent} lost", \
                steps == 0 and probe.lost(result) == 0 and "nothing" in done.stdout
        self.prove("apply the same again", "6 streams, 1 ms", "nothing to do, nothing lost", test)

    def drift(self, what, path, damage, restored):
        gw = self.lab.gateways["bj-gw1"]

        def test():
            before = gw.status()["repairs"]
            begin = time.monotonic()
            netns.run(*damage, ns=gw.ns)
            back = process.wait_until(lambda: restored(gw.ns), 5, 0.002)
            seconds = time.monotonic() - begin
            forwards = probe.ping(self.lab.ns(path.near[0]), path.far[2], path.near[2])
            shown = process.wait_until(lambda: gw.status()["repairs"] > before, 2)
            return f"{1000 * seconds:.0f} ms, traffic {'back' if forwards else 'NOT back'}, status: \"{gw.status()['last_repair']}\"", \
                bool(back) and seconds < 1 and forwards and bool(shown)
        self.prove(what, path.label, "repaired within 1 s", test)

    # --- all of it ---

    def run(self):
        for path in (*BRIDGED, *ROUTED, *ROUTED_HW, *BRIDGED_V6, *ROUTED_V6, *BRIDGED_9000, *ROUTED_9000, *BRIDGED_1400, *ROUTED_1400):
            self.reach(path)
        # TCP before anything has taught the hosts or the gateway about the hidden hop.
        for path in (*BRIDGED_1400, *ROUTED_1400):
            self.tcp(path, 500_000)
        for v4, v6 in (BRIDGED, ROUTED):
            self.mss(v4, 1460, 1410)
            self.mss(v6, 1440, 1390)
            self.mss(v4, 1460, 1410, client_mss=1200)
            self.mss(v6, 1440, 1390, client_mss=1200)
        for v4, v6 in (BRIDGED_V6, ROUTED_V6):
            self.mss(v4, 1460, 1390)
            self.mss(v6, 1440, 1370)
        for v4, v6 in (BRIDGED_9000, ROUTED_9000):
            self.mss(v4, 8960, 8910)
            self.mss(v6, 8940, 8890)
        for path in (*BRIDGED, *ROUTED):
            self.too_big(path, 1500, 1450)
        for path in (*BRIDGED_V6, *ROUTED_V6):
            self.too_big(path, 1500, 1430)
        for path in (*BRIDGED_1400, *ROUTED_1400):
            self.too_big(path, 1500, 1350)
        for path in (*BRIDGED, *ROUTED, *BRIDGED_V6, *ROUTED_V6, *BRIDGED_1400, *ROUTED_1400):
            self.without_df(path)
        for path in (*BRIDGED_9000, *ROUTED_9000):
            self.large_frames(path, 8950)
            self.tcp(path, 5_000_000)
        self.apply_twice()
        self.drift("ip link del vx10010", BRIDGED[0], ("ip", "link", "del", "vx10010"), lambda ns: link_is_up(ns, "vx10010"))
        self.drift("nft flush ruleset", ROUTED[0], ("nft", "flush", "ruleset"), has_fairway_tables)


def link_is_up(ns, name):
    done = netns.run("ip", "-o", "link", "show", "dev", name, ns=ns, check=False)
    return ",UP" in done.stdout and " master " in done.stdout


def has_fairway_tables(ns):
    return "fairway_" in netns.run("nft", "list", "tables", ns=ns).stdout


def main():
    if os.geteuid() != 0:
        sys.exit("demo: needs root, for network namespaces")
    topo.terminate_cleanly()
    topo.sweep()
    begin = time.monotonic()
    lab = topo.Lab(topo.Topology.load(EXAMPLE), name=f"demo-{os.getpid()}", owner=os.getpid())
    try:
        lab.up()
        print(f"up: {len(lab.topology.nodes)} nodes, {len(lab.topology.links)} links in {time.monotonic() - begin:.1f} s\n")
        demo = Demo(lab)
        demo.run()
    except (netns.CommandError, gateway.GatewayError, topo.LabError) as e:
        sys.exit(f"demo: {e}")
    finally:
        lab.down()
    failed = sum(not row[-1] for row in demo.rows)
    print(f"\n{len(demo.rows) - failed} of {len(demo.rows)} rows hold, in {time.monotonic() - begin:.0f} s; everything is taken down again")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
