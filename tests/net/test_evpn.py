# SPDX-License-Identifier: GPL-2.0-or-later
"""EVPN: MACs, flood lists and prefixes learned by BGP instead of from traffic. Two gateways and a plain FRR; a route reflector.
Field cases 10, 12, 14.

    h1, r1 -- gw1 (AS 65001) === a, b === gw2 (AS 65101) -- h2, r2      h: 10.99.1.0/24, stretched
                     \\== c == f3 (plain FRR, AS 65301) == d ==/         r: 10.N.0.0/24, routed
                                 |-- h3, r3
"""
import json
import os
import re
import signal
import socket
import struct

import pytest

import frr
import hand
import kernel
import netns
import probe
import process
import routing_lab
import sites
import topo
from routing_lab import carriers, vty

VNI, L3VNI = 10010, 50000
VTEP = {"gw1": "10.255.0.1", "gw2": "10.255.1.1", "f3": "10.255.3.1"}
AS = {"gw1": 65001, "gw2": 65101, "f3": 65301}
LINES = {"a": ("172.31.1", "gw1", "gw2"), "b": ("172.31.2", "gw1", "gw2"), "c": ("172.31.3", "gw1", "f3"), "d": ("172.31.4", "gw2", "f3")}
HOSTS = {"h1": "10.99.1.11", "h2": "10.99.1.12", "h3": "10.99.1.13"}
ROUTED = {"r1": "10.1.0.11", "r2": "10.2.0.11", "r3": "10.3.0.11"}
FLOOD = "00:00:00:00:00:00"
BFD = {"interval": "50ms", "multiplier": 3}


def ends(name, me):
    """Our address on a line, the peer's, the peer's name."""
    net, a, b = LINES[name]
    return (f"{net}.1", f"{net}.2", b) if me == a else (f"{net}.2", f"{net}.1", a)


def lines_of(me):
    return [n for n, (_, a, b) in LINES.items() if me in (a, b)]


def config(me, l3=True, **segment):
    number = int(me[-1])
    others = sorted({ends(n, me)[2] for n in lines_of(me)})
    cfg = {
        "system": {"hostname": me},
        "interfaces": [{"name": "rack", "addresses": [f"10.{number}.0.1/24"]}],
        "lines": [{"name": n, "interface": n, "address": f"{ends(n, me)[0]}/30", "peer-address": ends(n, me)[1],
                   "bgp": {"peer-as": AS[ends(n, me)[2]]}} for n in lines_of(me)],
        "vtep": {"address": VTEP[me]},
        "remotes": [{"name": o, "vtep": VTEP[o], "lines": [n for n in lines_of(me) if ends(n, me)[2] == o], "learn": "evpn", "peer-as": AS[o]}
                    for o in others],
        "segments": [{"name": "lan", "vni": VNI, "mode": "bridged", "members": ["eth0"], "remotes": others, **segment}],
        "bgp": {"as": AS[me]},
    }
    if l3:
        cfg["bgp"] |= {"l3-vni": L3VNI, "networks": [f"10.{number}.0.0/24"]}
    return cfg


def plain_bgpd():
    """f3's, by hand."""
    text = "router bgp 65301\n bgp router-id 10.255.3.1\n no bgp ebgp-requires-policy\n no bgp default ipv4-unicast\n timers bgp 3 9\n"
    for n in lines_of("f3"):
        _, peer, name = ends(n, "f3")
        text += f" neighbor {peer} remote-as {AS[name]}\n neighbor {peer} timers connect 1\n neighbor {peer} advertisement-interval 0\n"
        v = VTEP[name]
        # Without the second: FRR 8.4 wants a connected next hop after both ends called at the same time.
        text += f" neighbor {v} remote-as {AS[name]}\n neighbor {v} ebgp-multihop 4\n neighbor {v} disable-connected-check\n neighbor {v} update-source 10.255.3.1\n" \
                f" neighbor {v} timers connect 1\n neighbor {v} advertisement-interval 0\n"
    text += " address-family ipv4 unicast\n  network 10.255.3.1/32\n  network 10.3.0.0/24\n"
    text += "".join(f"  neighbor {ends(n, 'f3')[1]} activate\n" for n in lines_of("f3")) + " exit-address-family\n"
    text += " address-family l2vpn evpn\n" + "".join(f"  neighbor {VTEP[ends(n, 'f3')[2]]} activate\n" for n in lines_of("f3"))
    text += f"  advertise-all-vni\n  vni {VNI}\n   rd 10.255.3.1:{VNI}\n   route-target both 65000:{VNI}\n  exit-vni\n" \
            f"  advertise ipv4 unicast\n  rd 10.255.3.1:{L3VNI}\n  route-target both 65000:{L3VNI}\n exit-address-family\nexit\n"
    return text


def spec():
    nodes = {name: {"kind": "host", "addresses": {"eth0": [f"{a}/24"]}} for name, a in HOSTS.items()}
    nodes |= {name: {"kind": "host", "addresses": {"eth0": [f"{a}/24"]}, "routes": [f"default via {a.rpartition('.')[0]}.1"]} for name, a in ROUTED.items()}
    nodes["h4"] = {"kind": "host", "addresses": {"eth0": ["10.99.1.14/24"]}}  # not a member, until a test makes it one
    nodes |= {g: {"kind": "gateway", "config": sites.text(config(g))} for g in ("gw1", "gw2")}
    nodes["f3"] = {"kind": "router", "addresses": {**{n: [f"{ends(n, 'f3')[0]}/30"] for n in lines_of("f3")}, "lo": ["10.255.3.1/32"],
                                                   "rack": ["10.3.0.1/24"]},
                   "frr": {"bgpd": plain_bgpd(), "zebra": f"vni {L3VNI}\n"}}
    links = [{"name": n, "ends": [f"{a}:{n}", f"{b}:{n}"]} for n, (_, a, b) in LINES.items()]
    links += [{"name": f"{kind}{i}", "ends": [f"{kind}{i}:eth0", f"{gw}:{dev}"]} for i, gw in ((1, "gw1"), (2, "gw2"), (3, "f3"))
              for kind, dev in (("h", "eth0"), ("r", "rack"))]
    links.append({"name": "h4", "ends": ["h4:eth0", "gw1:eth9"]})
    return {"name": "evpn", "nodes": nodes, "links": links}


def plain_overlay(ns):
    """f3's devices."""
    hand.bridged(ns, VNI, "10.255.3.1", [], "eth0")
    netns.ip(ns, f"""link set vx{VNI} type bridge_slave learning off neigh_suppress on
link add br{L3VNI} type bridge
link add vx{L3VNI} type vxlan id {L3VNI} local 10.255.3.1 dstport 4789 nolearning df inherit
link set vx{L3VNI} mtu 1450 addrgenmode none master br{L3VNI} up
link set br{L3VNI} addrgenmode none mtu 1450 up
""")


class Fabric:
    def __init__(self, lab):
        self.lab = lab
        self.gw1, self.gw2 = lab.gateways["gw1"], lab.gateways["gw2"]
        self.f3 = lab.speakers.get("f3")

    def ns(self, node):
        return self.lab.ns(node)

    def reset(self):
        for name in self.lab.topology.links:
            self.lab.heal(name)
        for name, gw in self.lab.gateways.items():
            gw.apply(self.lab.topology.nodes[name].config)
            gw.wait_converged()

    def describe(self):
        parts = []
        for gw in (self.gw1, self.gw2):
            with frr.Vty(vty(gw)) as v:
                parts += [gw.instance, v.run("show bgp l2vpn evpn summary"), v.run("show bgp l2vpn evpn")]
            parts += [netns.run("bridge", "fdb", "show", "dev", f"vx{VNI}", ns=gw.ns).stdout, netns.run("ip", "route", ns=gw.ns).stdout,
                      netns.run("bridge", "fdb", "show", "dev", f"vx{L3VNI}", ns=gw.ns, check=False).stdout,
                      netns.run("ip", "neigh", "show", "dev", f"br{L3VNI}", ns=gw.ns, check=False).stdout]
        return "\n".join(parts)

    def reaches(self, host, address):
        """Soon: one ping gives up at the first ICMP error, and bgpd looks for a new zebra every 10 s."""
        return process.wait_until(lambda: probe.ping(self.ns(host), address, timeout=1), 20)

    def flow(self, a, b):
        where = {**HOSTS, **ROUTED}
        return (f"{a}-{b}", self.ns(a), where[a], self.ns(b), where[b])


def fdb(ns, mac=None):
    """{mac: [vtep]} of the VXLAN device's entries with a destination."""
    found = {}
    for line in netns.run("bridge", "fdb", "show", "dev", f"vx{VNI}", ns=ns, check=False).stdout.splitlines():
        match = re.match(r"(\S+) dst (\S+)", line)
        if match:
            found.setdefault(match[1], []).append(match[2])
    return {m: sorted(d) for m, d in found.items()} if mac is None else sorted(found.get(mac, []))


def mac_of(ns, dev="eth0"):
    return kernel.links(ns)[dev]["mac"]


@pytest.fixture(name="lab", scope="module")
def fixture_lab():
    with topo.temporary(spec()) as lab:
        plain_overlay(lab.ns("f3"))
        yield lab


@pytest.fixture(name="fabric")
def fixture_fabric(lab):
    fabric = Fabric(lab)
    for gw, others in ((fabric.gw1, ("gw2", "f3")), (fabric.gw2, ("gw1", "f3"))):
        frr.wait_established(vty(gw), [VTEP[o] for o in others], 20)
    yield fabric
    fabric.reset()


# --- bridged ----------------------------------------------------------------------------------------------------------


def test_every_remote_is_in_the_flood_list_and_hosts_reach_each_other(fabric):
    """type 3"""
    assert process.wait_until(lambda: fdb(fabric.gw1.ns, FLOOD) == [VTEP["gw2"], VTEP["f3"]], 10), fabric.describe()
    assert process.wait_until(lambda: fdb(fabric.gw2.ns, FLOOD) == [VTEP["gw1"], VTEP["f3"]], 10), fabric.describe()
    for a in HOSTS:
        for b in set(HOSTS) - {a}:
            assert fabric.reaches(a, HOSTS[b]), (a, b, fabric.describe())


def test_macs_are_learned_by_bgp_and_not_from_traffic(fabric):
    """type 2"""
    assert fabric.reaches("h1", HOSTS["h2"]) and fabric.reaches("h1", HOSTS["h3"])
    for node, vtep in (("h2", VTEP["gw2"]), ("h3", VTEP["f3"])):
        mac = mac_of(fabric.ns(node))
        assert process.wait_until(lambda m=mac, v=vtep: fdb(fabric.gw1.ns, m) == [v], 5), fabric.describe()
    port = netns.run("bridge", "-d", "link", "show", "dev", f"vx{VNI}", ns=fabric.gw1.ns).stdout
    assert "learning off" in port
    mac = mac_of(fabric.ns("h1"))
    with frr.Vty(fabric.f3.socket("zebra")) as v:
        assert process.wait_until(lambda: mac in v.run(f"show evpn mac vni {VNI}"), 5), "the plain FRR does not know h1"


def test_a_segment_that_comes_after_its_routes_gets_them(fabric):
    """case 10: type 3 and 2 were received before the segment was there"""
    without = config("gw1")
    without["segments"] = []
    fabric.gw1.apply(sites.text(without))
    fabric.gw1.apply(sites.text(config("gw1")))
    assert process.wait_until(lambda: fdb(fabric.gw1.ns, FLOOD) == [VTEP["gw2"], VTEP["f3"]], 10), fabric.describe()
    assert fabric.reaches("h1", HOSTS["h2"]) and fabric.reaches("h1", HOSTS["h3"])


@pytest.mark.parametrize("what", ["mac", "flood"])
def test_an_fdb_entry_that_is_not_bgps_best_path_is_repaired(fabric, what):
    """case 12: deleted, and pointing elsewhere"""
    assert fabric.reaches("h1", HOSTS["h2"])
    mac = mac_of(fabric.ns("h2")) if what == "mac" else FLOOD
    assert process.wait_until(lambda: VTEP["gw2"] in fdb(fabric.gw1.ns, mac), 5)
    before = fdb(fabric.gw1.ns, mac)
    netns.run("bridge", "fdb", "del", mac, "dev", f"vx{VNI}", "dst", VTEP["gw2"], "self", ns=fabric.gw1.ns)
    assert process.wait_until(lambda: fdb(fabric.gw1.ns, mac) == before, 2, 0.02), (fdb(fabric.gw1.ns, mac), before)
    if what == "mac":
        netns.run("bridge", "fdb", "replace", mac, "dev", f"vx{VNI}", "dst", VTEP["f3"], "self", "extern_learn", ns=fabric.gw1.ns)
        assert process.wait_until(lambda: fdb(fabric.gw1.ns, mac) == before, 2, 0.02), (fdb(fabric.gw1.ns, mac), before)


def test_a_mac_that_moves_is_followed_there_and_back(fabric):
    """MAC mobility, RFC 7432 section 7.7; case 12"""
    guest = "02:00:00:00:77:01"
    homes = [("h2", VTEP["gw2"]), ("h3", VTEP["f3"])]
    for round_, (node, vtep) in enumerate([*homes, *homes]):
        ns = fabric.ns(node)
        netns.ip(ns, f"link add guest link eth0 address {guest} type macvlan mode bridge\nlink set guest up\naddr add 10.99.1.77/24 dev guest\n")
        try:
            # It speaks, as a machine does that was moved.
            netns.run("ping", "-c", "1", "-w", "1", "-I", "guest", HOSTS["h1"], ns=ns, check=False)
            assert process.wait_until(lambda v=vtep: fdb(fabric.gw1.ns, guest) == [v], 5), (round_, fabric.describe())
            assert fabric.reaches("h1", "10.99.1.77"), round_
        finally:
            netns.ip(ns, "link del guest\n")


def test_neighbor_suppression_really_suppresses(fabric):
    """case 14: in a pure layer 2 segment too, where this gateway has no address"""
    assert fabric.reaches("h1", HOSTS["h2"])
    mac = mac_of(fabric.ns("h2"))
    assert process.wait_until(lambda: VTEP["gw2"] in fdb(fabric.gw1.ns, mac), 5)
    with frr.Vty(vty(fabric.gw1)) as v:
        assert process.wait_until(lambda: HOSTS["h2"] in v.run("show bgp l2vpn evpn route type macip"), 10), \
            "gw2 announces no MAC with its IP address:\n" + fabric.describe()

    def answered_without_being_asked():
        netns.run("ip", "neigh", "flush", "dev", "eth0", ns=fabric.ns("h1"))
        with probe.Capture(fabric.ns("h2"), "eth0") as capture:
            assert probe.ping(fabric.ns("h1"), HOSTS["h2"], timeout=5)
            asked = [f for f in capture.frames(0.2) if f.ethertype == 0x0806 and not f.outgoing and f.data[20:22] == b"\0\1"
                     and f.data[:6] == b"\xff" * 6]
        return not asked
    assert process.wait_until(answered_without_being_asked, 15, 0.5), "ARP requests for a known host cross the overlay"


def neighbors(ns, *which):
    """{address: what `ip` says of it} on the segment's bridge."""
    rows = json.loads(netns.run("ip", "-j", "-s", "-N", "neigh", "show", "dev", f"br{VNI}", *which, ns=ns).stdout or "[]")
    return {r["dst"]: r for r in rows if "lladdr" in r}


def ours(ns):
    """{address: MAC} of the neighbors that were learned from what hosts say."""
    return {a: r["lladdr"] for a, r in neighbors(ns, "proto", routing_lab.OURS).items()}


def questions(gw):
    return next(v for v in gw.show("evpn")["vnis"] if v["vni"] == VNI)["questions"]


class Speaker:
    """A host that claims to have addresses, with one ARP request each."""
    def __init__(self, ns):
        with netns.inside(ns):
            self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
        self.socket.bind(("eth0", 0))
        self.mac = self.socket.getsockname()[4]

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.socket.close()

    def claim(self, *addresses, mac=None):
        for address in addresses:
            self.socket.send(b"\xff" * 6 + self.mac + struct.pack(">HHHBBH", 0x806, 1, 0x800, 6, 4, 1) + (mac or self.mac)
                             + socket.inet_aton(address) + bytes(6) + socket.inet_aton(HOSTS["h2"]))


def forged(net, n):
    return [f"{net}.{i >> 8}.{i & 255}" for i in range(n)]


def suppresses(fabric, asking, gw, address):
    """A question for a host that the gateway knows is soon answered without flooding it."""
    assert process.wait_until(lambda: str(VNI) in str(gw.show("evpn")["vnis"]), 20), "a new zebra is told of its VNIs"
    before = questions(gw)

    def suppressed():
        netns.run("ip", "neigh", "flush", "dev", "eth0", ns=fabric.ns(asking))
        assert probe.ping(fabric.ns(asking), address, timeout=5)
        return questions(gw)["suppressed"] > before["suppressed"]
    return process.wait_until(suppressed, 15, 0.5)


def test_questions_for_known_hosts_are_counted_as_suppressed(fabric):
    """case 14: hit counters"""
    assert fabric.reaches("h1", HOSTS["h2"])
    before = questions(fabric.gw1)
    assert suppresses(fabric, "h1", fabric.gw1, HOSTS["h2"]), questions(fabric.gw1)
    netns.run("ping", "-c", "1", "-w", "1", "10.99.1.200", ns=fabric.ns("h1"), check=False)  # nobody's
    after = questions(fabric.gw1)
    assert after["flooded"] > before["flooded"] and after["asked"] >= after["flooded"]
    assert fabric.gw1.status()["neighbors"]["learned"] > 0


def test_ipv6_neighbors_are_learned_and_suppressed_too(fabric):
    for host in ("h1", "h2"):
        netns.ip(fabric.ns(host), f"addr replace fd99::{host[1]}/64 dev eth0 nodad\n")
    try:
        assert process.wait_until(lambda: probe.ping(fabric.ns("h1"), "fd99::2", timeout=1), 10)
        assert process.wait_until(lambda: "fd99::2" in ours(fabric.gw2.ns), 5), ours(fabric.gw2.ns)
        with frr.Vty(vty(fabric.gw1)) as v:
            assert process.wait_until(lambda: "fd99::2" in v.run("show bgp l2vpn evpn route type macip"), 10)

        def answered_without_being_asked():
            netns.run("ip", "-6", "neigh", "flush", "dev", "eth0", ns=fabric.ns("h1"))
            with probe.Capture(fabric.ns("h2"), "eth0") as capture:
                assert probe.ping(fabric.ns("h1"), "fd99::2", timeout=5)
                return not [f for f in capture.frames(0.2) if f.ethertype == 0x86dd and not f.outgoing and f.data[:2] == b"\x33\x33" and f.data[54] == 135]
        before = questions(fabric.gw1)
        assert process.wait_until(answered_without_being_asked, 15, 0.5), "neighbor solicitations for a known host cross the overlay"
        assert questions(fabric.gw1)["suppressed"] > before["suppressed"]
    finally:
        for host in ("h1", "h2"):
            netns.ip(fabric.ns(host), f"addr del fd99::{host[1]}/64 dev eth0\n")


def guest(ns, mac, address):
    netns.ip(ns, f"link add guest link eth0 address {mac} type macvlan mode bridge\nlink set guest up\naddr add {address}/24 dev guest\n")
    netns.run("ping", "-c", "1", "-w", "1", "-I", "guest", HOSTS["h3"], ns=ns, check=False)


def test_an_address_that_moves_to_another_mac_is_followed(fabric):
    ns, address = fabric.ns("h1"), "10.99.1.78"
    for mac in ("02:00:00:00:78:01", "02:00:00:00:78:02"):
        guest(ns, mac, address)
        try:
            assert process.wait_until(lambda m=mac: ours(fabric.gw1.ns).get(address) == m, 5), ours(fabric.gw1.ns)
            with frr.Vty(vty(fabric.gw2, "zebra")) as v:
                assert process.wait_until(lambda m=mac: m in v.run(f"show evpn arp-cache vni {VNI} ip {address}"), 5)
        finally:
            netns.ip(ns, "link del guest\n")


def test_a_host_that_moves_to_another_gateway_is_its_neighbor_there(fabric):
    """and back: what we wrote does not stand in the way of zebra's, nor the other way round"""
    mac, address = "02:00:00:00:79:01", "10.99.1.79"
    gateways = {"h1": fabric.gw1, "h2": fabric.gw2}
    for host in ("h1", "h2", "h1", "h2"):
        here, there = gateways[host], gateways["h2" if host == "h1" else "h1"]
        guest(fabric.ns(host), mac, address)
        try:
            assert process.wait_until(lambda g=here: ours(g.ns).get(address) == mac, 5), (host, neighbors(here.ns))
            assert process.wait_until(lambda g=there: address not in ours(g.ns) and neighbors(g.ns).get(address, {}).get("lladdr") == mac, 10), \
                (host, neighbors(there.ns))
        finally:
            netns.ip(fabric.ns(host), "link del guest\n")


def test_each_word_of_a_host_starts_its_time_anew(fabric):
    address = "10.99.1.60"

    def silent():
        return neighbors(fabric.gw1.ns, "proto", routing_lab.OURS)[address]["confirmed"]
    with Speaker(fabric.ns("h1")) as h1:
        h1.claim(address)
        assert process.wait_until(lambda: address in ours(fabric.gw1.ns), 5)
        assert process.wait_until(lambda: silent() >= 2, 5), "the kernel counts the seconds"
        h1.claim(address)
        assert process.wait_until(lambda: silent() < 2, 1)
    assert neighbors(fabric.gw1.ns)[address]["state"] == ["PERMANENT"], "or the kernel would forget it at will"


def test_who_answers_for_others_is_not_believed(fabric):
    """another MAC than the frame's; a neighbor that somebody set by hand; the gateway's own address"""
    def ignored():
        return fabric.gw1.status()["neighbors"]["ignored"]

    # Inspection would not even let the last of them come so far.
    fabric.gw1.apply(sites.text(config("gw1", gateway=["10.99.1.1/24"], **{"neighbor-inspection": False})))
    netns.ip(fabric.gw1.ns, f"neigh replace 10.99.1.61 lladdr 02:00:00:00:61:01 dev br{VNI} nud permanent\n")
    try:
        with Speaker(fabric.ns("h1")) as h1:
            before = ignored()
            h1.claim(*forged("10.95", 20), mac=b"\2\0\0\0\x99\1")
            h1.claim("10.99.1.61", "10.99.1.1")
            h1.claim("10.99.1.62")
            assert process.wait_until(lambda: "10.99.1.62" in ours(fabric.gw1.ns), 5), "it does learn"
            assert ignored() >= before + 22
        known = neighbors(fabric.gw1.ns)
        assert not set(forged("10.95", 20)) & set(known) and "10.99.1.1" not in known
        assert known["10.99.1.61"]["lladdr"] == "02:00:00:00:61:01" and "10.99.1.61" not in ours(fabric.gw1.ns)
        assert known["10.99.1.62"]["state"] != ["PERMANENT"], "the kernel keeps neighbors itself where it has an address"
    finally:
        netns.ip(fabric.gw1.ns, f"neigh del 10.99.1.61 dev br{VNI}\n")


def test_who_floods_silences_nobody_else(fabric):
    """a limit for each port: 1,000 at once, 200 a second"""
    fabric.gw1.apply(sites.text(config("gw1", members=["eth0", "eth9"])))
    with Speaker(fabric.ns("h1")) as h1, Speaker(fabric.ns("h4")) as h4:
        h1.claim(*forged("10.96", 6000))
        h4.claim("10.99.1.14")
        assert process.wait_until(lambda: "10.99.1.14" in ours(fabric.gw1.ns), 5)
        assert process.wait_until(lambda: fabric.gw1.status()["neighbors"]["learned"] > 500, 10)
    assert len(ours(fabric.gw1.ns)) < 3000
    assert fabric.reaches("h1", HOSTS["h2"])


def test_neighbors_are_bounded_and_forgotten_with_the_keyword(fabric):
    gw, most = fabric.gw1, 4096
    netns.ip(gw.ns, "".join(f"neigh replace {a} lladdr 02:00:00:00:98:01 dev br{VNI} nud permanent proto {routing_lab.OURS}\n"
                            for a in forged("10.98", most)))
    fresh = iter(forged("10.97", 200))
    with Speaker(fabric.ns("h1")) as h1:
        def refused():
            h1.claim(next(fresh))
            return gw.status()["neighbors"]["refused"] > 0
        assert process.wait_until(refused, 20, 0.2), "they are counted every 10 s"
        address = next(fresh)
        before = gw.status()["neighbors"]["refused"]
        h1.claim(address)
        assert process.wait_until(lambda: gw.status()["neighbors"]["refused"] > before, 5)
        assert address not in ours(gw.ns)
    gw.apply(sites.text(config("gw1", **{"neighbor-suppression": False})))
    assert process.wait_until(lambda: not ours(gw.ns), 20), "what was learned is forgotten with the keyword"
    assert questions(gw) is None
    netns.run("ip", "neigh", "flush", "dev", "eth0", ns=fabric.ns("h1"))
    with probe.Capture(fabric.ns("h2"), "eth0") as capture:
        assert fabric.reaches("h1", HOSTS["h2"])
        assert [f for f in capture.frames(0.2) if f.ethertype == 0x0806 and not f.outgoing and f.data[:6] == b"\xff" * 6], "asked itself, as in any LAN"
    assert not ours(gw.ns)


def test_what_was_learned_survives_fairwayd(fabric):
    with Speaker(fabric.ns("h1")) as h1:
        h1.claim(HOSTS["h1"])
        assert process.wait_until(lambda: HOSTS["h1"] in ours(fabric.gw1.ns), 5)
        fabric.gw1.kill()
        assert HOSTS["h1"] in ours(fabric.gw1.ns)
        fabric.gw1.boot()
        fabric.gw1.wait_converged()
        assert HOSTS["h1"] in ours(fabric.gw1.ns)
        h1.claim("10.99.1.63")
        assert process.wait_until(lambda: "10.99.1.63" in ours(fabric.gw1.ns), 5)


def test_show_evpn_has_it(fabric):
    assert fabric.reaches("h1", HOSTS["h2"])
    shown = str(fabric.gw1.show("evpn"))
    assert str(VNI) in shown and "'gw2'" in shown and "'f3'" in shown
    assert fabric.gw1.call("show", "evpn").stdout.strip()


# --- routed -----------------------------------------------------------------------------------------------------------


def test_prefixes_of_the_default_domain_go_through_the_overlay(fabric):
    """type 5; on the lines they are VXLAN of the layer 3 VNI"""
    for prefix in ("10.2.0.0/24", "10.3.0.0/24"):
        assert process.wait_until(lambda p=prefix: carriers(fabric.gw1.ns, p) == [f"br{L3VNI}"], 10), fabric.describe()
    assert process.wait_until(lambda: carriers(fabric.ns("f3"), "10.1.0.0/24") == [f"br{L3VNI}"], 10)
    with probe.Capture(fabric.ns("f3"), "c") as capture:
        for a, b in (("r1", "r2"), ("r1", "r3"), ("r2", "r3"), ("r3", "r1")):
            assert fabric.reaches(a, ROUTED[b]), (a, b, fabric.describe())
        packets = [f.inner for f in capture.frames(0.2) if f.protocol == 17 and 4789 in f.ports]
    # In the segment its hosts may say something at any time.
    pings = {vni: {inner.protocol} | {inner.src, inner.dst} for inner, vni in packets if {inner.src, inner.dst} & set(ROUTED.values())}
    assert set(pings) == {L3VNI} and pings[L3VNI] <= {1, *ROUTED.values()}
    # Hosts of the segment are no routes of the routing domain.
    for ns in (fabric.gw1.ns, fabric.gw2.ns, fabric.ns("f3")):
        assert "10.99.1." not in netns.run("ip", "route", ns=ns).stdout


def test_large_tcp_goes_through_the_layer_3_vni(fabric):
    assert process.wait_until(lambda: carriers(fabric.gw1.ns, "10.2.0.0/24") == [f"br{L3VNI}"], 10)
    for a, b in (("r1", "r2"), ("r3", "r1")):
        assert probe.transfer((fabric.ns(a), ROUTED[a]), (fabric.ns(b), ROUTED[b])) < 10


def test_a_withdrawn_prefix_is_gone_within_a_second(fabric):
    assert process.wait_until(lambda: routing_lab.has(fabric.gw1.ns, "10.2.0.0/24"), 10)
    less = config("gw2")
    less["bgp"]["networks"] = []
    fabric.gw2.apply(sites.text(less))
    assert process.wait_until(lambda: not routing_lab.has(fabric.gw1.ns, "10.2.0.0/24"), 1, 0.01)
    assert process.wait_until(lambda: not routing_lab.has(fabric.ns("f3"), "10.2.0.0/24"), 1, 0.01)


# --- failures ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("daemon", ["bgpd", "zebra", "bfdd"])
def test_a_killed_daemon_leaves_the_overlay_forwarding(fabric, request, daemon):
    """Of bridged segments: MACs and flood list stay, or are back before the peers are wrong. Type 5 is another matter: FRR 8.4 may
    leave a next hop on an L3 VNI without its router's MAC when the route comes back soon after it went."""
    assert fabric.reaches("h1", HOSTS["h2"])
    with probe.Stream(fabric.flow("h1", "h2"), fabric.flow("r1", "r2")) as stream:
        pid = routing_lab.daemon_pid(fabric.gw1, daemon)
        os.kill(pid, signal.SIGKILL)
        assert process.wait_until(lambda: frr.answers(vty(fabric.gw1, daemon)), 10)
        frr.wait_established(vty(fabric.gw1), [VTEP["gw2"], VTEP["f3"]], 10)
        assert process.wait_until(lambda: fdb(fabric.gw1.ns, FLOOD) == [VTEP["gw2"], VTEP["f3"]], 10), fabric.describe()
        result = stream.stop(at_least=1000)
    print(f"{request.node.name}: " + ", ".join(f"{k}: longest gap {f['longest_gap']} ms" for k, f in result.items()))
    assert result["h1-h2"]["longest_gap"] < 200, result


def test_a_new_zebra_tells_of_what_was_learned_before(fabric):
    with Speaker(fabric.ns("h1")) as h1:
        h1.claim(HOSTS["h1"])
    assert process.wait_until(lambda: HOSTS["h1"] in ours(fabric.gw1.ns), 5)
    assert suppresses(fabric, "h1", fabric.gw1, HOSTS["h2"]), "gw1 knows h2 too"
    os.kill(routing_lab.daemon_pid(fabric.gw1, "zebra"), signal.SIGKILL)
    assert process.wait_until(lambda: frr.answers(vty(fabric.gw1, "zebra")), 10)
    assert HOSTS["h1"] in ours(fabric.gw1.ns) and HOSTS["h2"] in neighbors(fabric.gw1.ns)
    for host in ("h1", "h2"):
        with frr.Vty(vty(fabric.gw1, "zebra")) as v:
            assert process.wait_until(lambda h=host: HOSTS[h] in v.run(f"show evpn arp-cache vni {VNI}"), 20), v.run(f"show evpn arp-cache vni {VNI}")
    frr.wait_established(vty(fabric.gw1), [VTEP["gw2"], VTEP["f3"]], 10)
    with frr.Vty(vty(fabric.gw2)) as v:
        assert process.wait_until(lambda: HOSTS["h1"] in v.run("show bgp l2vpn evpn route type macip"), 10)
    assert suppresses(fabric, "h2", fabric.gw2, HOSTS["h1"]) and suppresses(fabric, "h1", fabric.gw1, HOSTS["h2"])


def test_a_line_that_fails_takes_no_mac_with_it(fabric):
    assert fabric.reaches("h1", HOSTS["h2"])
    mac = mac_of(fabric.ns("h2"))
    assert process.wait_until(lambda: fdb(fabric.gw1.ns, mac) == [VTEP["gw2"]], 20)
    before = routing_lab.sessions(vty(fabric.gw1))
    fabric.lab.fail("a", "down")
    assert process.wait_until(lambda: carriers(fabric.gw1.ns, f"{VTEP['gw2']}/32") == ["b"], 5)
    assert probe.ping(fabric.ns("h1"), HOSTS["h2"], timeout=5)
    assert process.wait_until(lambda: fdb(fabric.gw1.ns, mac) == [VTEP["gw2"]], 5)
    assert not routing_lab.bounced(before, routing_lab.sessions(vty(fabric.gw1)), [ends("a", "gw1")[1]]), "the session between vteps moved"


# --- a route reflector ------------------------------------------------------------------------------------------------


def reflected(me):
    """iBGP with a reflector; lines with BFD alone, so that the underlay is static."""
    cfg = config(me, l3=False)
    cfg["bgp"]["as"] = 65001
    number = me[-1]
    cfg["interfaces"] = [{"name": "fab", "addresses": [f"10.20.{number}.1/30"]}]
    cfg["lines"] = [{**{k: v for k, v in n.items() if k != "bgp"}, "bfd": BFD} for n in cfg["lines"] if n["name"] in "ab"]
    cfg["remotes"] = [{k: v for k, v in r.items() if k != "peer-as"} for r in cfg["remotes"] if r["name"] != "f3"]
    cfg["segments"][0]["remotes"] = [r["name"] for r in cfg["remotes"]]
    cfg["bgp"]["neighbors"] = [{"name": "rr", "address": f"10.20.{number}.2", "peer-as": 65001, "families": ["evpn"]}]
    return cfg


def test_a_plain_frr_reflects_between_gateways_of_one_as():
    clients = "".join(f" neighbor 10.20.{i}.1 remote-as 65001\n neighbor 10.20.{i}.1 timers connect 1\n" for i in (1, 2))
    bgpd = "router bgp 65001\n bgp router-id 10.255.9.1\n no bgp default ipv4-unicast\n timers bgp 3 9\n" + clients + " address-family l2vpn evpn\n" \
        + "".join(f"  neighbor 10.20.{i}.1 activate\n  neighbor 10.20.{i}.1 route-reflector-client\n" for i in (1, 2)) + " exit-address-family\nexit\n"
    nodes = {h: {"kind": "host", "addresses": {"eth0": [f"{HOSTS[h]}/24"]}} for h in ("h1", "h2")}
    nodes |= {g: {"kind": "gateway", "config": sites.text(reflected(g))} for g in ("gw1", "gw2")}
    # It reflects only what it could reach itself.
    nodes["rr"] = {"kind": "router", "addresses": {"p1": ["10.20.1.2/30"], "p2": ["10.20.2.2/30"]},
                   "routes": [f"{VTEP['gw1']}/32 via 10.20.1.1", f"{VTEP['gw2']}/32 via 10.20.2.1"], "frr": {"bgpd": bgpd}}
    links = [{"name": n, "ends": [f"gw1:{n}", f"gw2:{n}"]} for n in "ab"]
    links += [{"name": f"h{i}", "ends": [f"h{i}:eth0", f"gw{i}:eth0"]} for i in (1, 2)] + [{"name": f"p{i}", "ends": [f"gw{i}:fab", f"rr:p{i}"]} for i in (1, 2)]
    with topo.temporary({"name": "rr", "nodes": nodes, "links": links}) as lab:
        fabric = Fabric(lab)
        for i, gw in ((1, fabric.gw1), (2, fabric.gw2)):
            frr.wait_established(vty(gw), [f"10.20.{i}.2"], 20)
        assert process.wait_until(lambda: fdb(fabric.gw1.ns, FLOOD) == [VTEP["gw2"]] and fdb(fabric.gw2.ns, FLOOD) == [VTEP["gw1"]], 10), fabric.describe()
        assert fabric.reaches("h1", HOSTS["h2"]), fabric.describe()
        mac = mac_of(fabric.ns("h2"))
        assert process.wait_until(lambda: fdb(fabric.gw1.ns, mac) == [VTEP["gw2"]], 5), fabric.describe()
        # The reflector is no hop of the traffic, and its absence for a moment takes nothing away that a line's failure would not.
        with probe.Stream(fabric.flow("h1", "h2")) as stream:
            lab.fail("a", "blackhole")
            assert process.wait_until(lambda: carriers(fabric.gw1.ns, f"{VTEP['gw2']}/32") == ["b"], 5)
            assert stream.stop(at_least=300)["h1-h2"]["longest_gap"] < 500
