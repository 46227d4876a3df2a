# SPDX-License-Identifier: GPL-2.0-or-later
"""Who lies about addresses inside a bridged segment: ARP, neighbor discovery, sources, routers that are none.

    good, evil --- members of segment gpu --- gw --- line --- far (a VXLAN device of its own kernel, in the same segment)

A frame that must not arrive is followed by one that does.
"""
import itertools
import json
import select
import socket

import pytest
import yaml
from scapy.layers.dhcp import BOOTP, DHCP
from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import (ICMPv6ND_NA, ICMPv6ND_NS, ICMPv6ND_RA, ICMPv6NDOptDstLLAddr, ICMPv6NDOptSrcLLAddr, IPv6, UDP as UDP6)
from scapy.layers.l2 import ARP, Ether

import netns
import process
import topo

MACS = {"good": "02:00:00:00:01:01", "evil": "02:00:00:00:01:02", "far": "02:00:00:00:01:03"}
V4 = {"good": "10.99.1.11", "evil": "10.99.1.12", "far": "10.99.1.13", "gw": "10.99.1.1"}
V6 = {"good": "fd00:99:1::11", "evil": "fd00:99:1::12", "far": "fd00:99:1::13", "gw": "fd00:99:1::1"}
GOOD = {"mac": MACS["good"], "addresses": [V4["good"], V6["good"]], "member": "good"}
EVIL = {"mac": MACS["evil"], "addresses": [V4["evil"], V6["evil"]]}
ALL4, ALL6 = "ff:ff:ff:ff:ff:ff", "33:33:00:00:00:01"


def text(directory, **segment):
    return yaml.safe_dump({
        "system": {"hostname": "gw"},
        "lines": [{"name": "line", "interface": "wan", "address": "172.31.0.1/30", "peer-address": "172.31.0.2"}],
        "vtep": {"address": "10.255.0.1"},
        "remotes": [{"name": "far", "vtep": "10.255.1.1", "lines": ["line"]}],
        "segments": [{"name": "gpu", "vni": 10010, "mode": "bridged", "members": ["good", "evil"], "remotes": ["far"],
                      "gateway": [f"{V4['gw']}/24", f"{V6['gw']}/64"], **segment}],
        "audit": {"directory": str(directory)},
    }, sort_keys=False)


def topology(directory):
    return {
        "name": "inspect",
        "nodes": {"gw": {"kind": "gateway", "config": text(directory)}, "good": {}, "evil": {},
                  "far": {"addresses": {"eth0": ["172.31.0.2/30"], "lo": ["10.255.1.1/32"]}, "routes": ["10.255.0.1/32 via 172.31.0.1"]}},
        "links": [{"name": n, "ends": [f"{n}:eth0", f"gw:{'wan' if n == 'far' else n}"]} for n in ("good", "evil", "far")],
    }


class Port:
    """A host's frames, as they are."""

    def __init__(self, ns, interface):
        with netns.inside(ns):
            self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.ntohs(3))
        self.socket.bind((interface, 0))

    def send(self, frame):
        self.socket.send(bytes(frame))

    def seen(self, wanted, timeout=2.0):
        """All frames until the one with `wanted` in it; None if it does not come."""
        frames = []
        while select.select([self.socket], [], [], timeout)[0]:
            data, address = self.socket.recvfrom(2048)
            if address[2] == socket.PACKET_OUTGOING:
                continue
            frames.append(data)
            if wanted in data:
                return frames
        return None


class Site:
    def __init__(self, lab, directory):
        self.lab, self.gw, self.directory = lab, lab.gateways["gw"], directory
        self.ns = {n: lab.ns(n) for n in MACS}
        netns.ip(self.ns["far"], "link add vx type vxlan id 10010 local 10.255.1.1 remote 10.255.0.1 dstport 4789\nlink set vx up\n")
        for n in MACS:
            port = "vx" if n == "far" else "eth0"
            netns.ip(self.ns[n], f"link set {port} address {MACS[n]}\naddr add {V4[n]}/24 dev {port}\naddr add {V6[n]}/64 dev {port} nodad\n")
        self.ports = {n: Port(self.ns[n], "vx" if n == "far" else "eth0") for n in MACS}
        self.fences = itertools.count()

    def apply(self, **segment):
        self.gw.apply(text(self.directory, **segment))
        self.gw.wait_converged()

    def arrives(self, sender, receiver, frame):
        """Does it come through, by what comes behind it?"""
        fence = b"fence %08d" % next(self.fences)
        frame = bytes(frame)
        for _ in range(5):
            self.ports[sender].send(frame)
            # Of what is always fine: a host's own, and no neighbor discovery.
            self.ports[sender].send(Ether(src=MACS[sender], dst=ALL4) / IP(src=V4[sender], dst="10.99.1.255") / UDP(sport=1, dport=9) / fence)
            frames = self.ports[receiver].seen(fence)
            if frames is not None:
                return any(f[: len(frame)] == frame for f in frames)
        raise AssertionError(f"nothing comes from {sender} to {receiver}")

    def counted(self):
        one = self.gw.show("filter")["inspection"][0]
        return {k: v for k, v in one.items() if k != "segment"}

    def dropped(self, what, sender, frame, receivers, recorded=True):
        """Nobody gets it, it is counted once, it is in the record, and the gateway did not learn from it."""
        before, known = self.counted(), len(self.denies(what))
        for receiver in receivers:
            assert not self.arrives(sender, receiver, frame), receiver
        after = self.counted()
        assert after[what] >= before[what] + len(receivers)
        assert {k: v for k, v in after.items() if k != what} == {k: v for k, v in before.items() if k != what}
        if recorded:
            assert process.wait_until(lambda: len(self.denies(what)) > known, 5), "it is not in the record"

    def denies(self, what):
        found = []
        for path in sorted(self.directory.glob("*")):
            for line in path.read_text(encoding="utf-8").splitlines():
                entry = json.loads(line)
                if entry.get("event") == "deny" and entry.get("verdict") == what:
                    found.append(entry)
        return found

    def neighbor(self, address):
        return netns.run("ip", "neigh", "show", address, ns=self.gw.ns).stdout


@pytest.fixture(scope="module")
def site_lab(tmp_path_factory):
    directory = tmp_path_factory.mktemp("inspect") / "audit"
    with topo.temporary(topology(directory)) as lab:
        yield Site(lab, directory)


@pytest.fixture
def site(site_lab):
    site_lab.apply()
    yield site_lab


def arp(sender, claims, op=1, mac=None, hardware=None, dst=ALL4, target=None):
    mac = mac or MACS[sender]
    return Ether(src=mac, dst=dst) / ARP(op=op, hwsrc=hardware or mac, psrc=claims, hwdst="00:00:00:00:00:00", pdst=target or claims)


def advertisement(sender, claims, mac=None, option=None, dst=ALL6):
    mac = mac or MACS[sender]
    return Ether(src=mac, dst=dst) / IPv6(src="fe80::ff:fe00:102", dst="ff02::1") / ICMPv6ND_NA(tgt=claims, R=0, S=0, O=1) / \
        ICMPv6NDOptDstLLAddr(lladdr=option or mac)


def solicitation(sender, claims, mac=None):
    mac = mac or MACS[sender]
    return Ether(src=mac, dst="33:33:ff:00:00:11") / IPv6(src=claims, dst="ff02::1:ff00:11") / ICMPv6ND_NS(tgt=V6["good"]) / \
        ICMPv6NDOptSrcLLAddr(lladdr=mac)


# --- the gateway's own addresses --------------------------------------------------------------------------------------


@pytest.mark.parametrize("sender,receivers", [("evil", ("good", "far")), ("far", ("good", "evil"))])
def test_nobody_claims_the_gateways_addresses(site, sender, receivers):
    for frame in (arp(sender, V4["gw"]), arp(sender, V4["gw"], op=2), arp(sender, V4["gw"], op=2, dst=MACS[receivers[0]], target=V4[receivers[0]])):
        site.dropped("arp", sender, frame, receivers[:1] if frame.dst == MACS[receivers[0]] else receivers)
    for frame in (advertisement(sender, V6["gw"]), solicitation(sender, V6["gw"])):
        site.dropped("nd", sender, frame, receivers)
    entry = site.denies("arp")[-1]
    assert entry["proto"] == "arp" and V4["gw"] in json.dumps(entry) and entry["from-segment"] == "gpu" and (sender == "far" or entry["from-interface"] == sender), entry


def test_without_inspection_they_do(site):
    site.apply(**{"neighbor-inspection": False})
    assert site.arrives("evil", "good", arp("evil", V4["gw"]))
    assert site.arrives("evil", "good", advertisement("evil", V6["gw"]))


def test_what_hosts_need_passes(site):
    for frame in (arp("evil", V4["evil"]), arp("evil", V4["evil"], target=V4["gw"]), arp("evil", "0.0.0.0", target=V4["evil"]),
                  advertisement("evil", V6["evil"]), solicitation("evil", V6["evil"]), solicitation("evil", "::")):
        assert site.arrives("evil", "good", frame), frame.summary()
    # A host that is bound to nothing may move: case 12.
    assert site.arrives("good", "evil", arp("good", V4["evil"], mac=MACS["evil"]))
    for name in ("good", "evil", "far"):
        assert process.wait_until(lambda name=name: netns.run("ping", "-n", "-c", "1", "-w", "2", V4["gw"], ns=site.ns[name], check=False).returncode == 0, 10)
        assert netns.run("ping", "-n", "-c", "1", "-w", "5", V6["gw"], ns=site.ns[name], check=False).returncode == 0


# --- hosts that are bound ---------------------------------------------------------------------------------------------


def test_a_bound_address_is_its_hosts_alone(site):
    site.apply(hosts=[GOOD])
    lies4 = [arp("evil", V4["good"]), arp("evil", V4["good"], op=2), arp("evil", V4["good"], mac=MACS["good"]),
             arp("evil", V4["good"], mac=MACS["good"], hardware=MACS["evil"])]
    lies6 = [advertisement("evil", V6["good"]), advertisement("evil", V6["good"], mac=MACS["good"]), solicitation("evil", V6["good"]),
             advertisement("evil", V6["good"], mac=MACS["good"], option=MACS["evil"])]
    for frame in lies4:
        site.dropped("arp", "evil", frame, ("far",))
    for frame in lies6:
        site.dropped("nd", "evil", frame, ("far",))
    for frame, what in ((arp("far", V4["good"]), "arp"), (advertisement("far", V6["good"]), "nd")):
        site.dropped(what, "far", frame, ("evil",))
    # Its own MAC in the frame, and another one in what it says.
    site.dropped("arp", "good", arp("good", V4["good"], hardware=MACS["evil"]), ("far",))
    site.dropped("nd", "good", advertisement("good", V6["good"], option=MACS["evil"]), ("far",))
    for frame in (arp("good", V4["good"]), advertisement("good", V6["good"]), solicitation("good", V6["good"])):
        assert site.arrives("good", "far", frame), frame.summary()


def test_a_bound_address_as_a_source(site):
    site.apply(hosts=[GOOD])
    for frame in (Ether(src=MACS["evil"], dst=MACS["far"]) / IP(src=V4["good"], dst=V4["far"]) / UDP(dport=9) / b"lie",
                  Ether(src=MACS["evil"], dst=MACS["far"]) / IPv6(src=V6["good"], dst=V6["far"]) / UDP6(dport=9) / b"lie"):
        site.dropped("source", "evil", frame, ("far",))
    # What no host is bound to stays free, and the one that is says what it wants.
    assert site.arrives("evil", "far", Ether(src=MACS["evil"], dst=MACS["far"]) / IP(src="10.99.1.99", dst=V4["far"]) / UDP(dport=9) / b"free")
    assert site.arrives("good", "far", Ether(src=MACS["good"], dst=MACS["far"]) / IPv6(src=V6["good"], dst=V6["far"]) / UDP6(dport=9) / b"own")


def test_members_with_hosts_only(site):
    site.apply(hosts=[GOOD, EVIL], **{"hosts-only": True})
    for frame in (Ether(src=MACS["evil"], dst=MACS["far"]) / IP(src="10.99.1.99", dst=V4["far"]) / UDP(dport=9) / b"lie",
                  Ether(src="02:00:00:00:09:09", dst=MACS["far"]) / IP(src=V4["evil"], dst=V4["far"]) / UDP(dport=9) / b"lie",
                  Ether(src=MACS["evil"], dst=MACS["far"]) / IPv6(src="fd00:99:1::99", dst=V6["far"]) / UDP6(dport=9) / b"lie",
                  arp("evil", "10.99.1.99"),
                  Ether(src=MACS["evil"], dst=MACS["far"], type=0x88B5) / b"no IP at all, and long enough for a frame......"):
        site.dropped("source", "evil", frame, ("far",), recorded=frame.type != 0x88B5)
    fine = [Ether(src=MACS["evil"], dst=ALL4) / IP(src="0.0.0.0", dst="255.255.255.255") / UDP(sport=68, dport=67) / BOOTP(chaddr=b"\2") / DHCP(options=["end"]),
            arp("evil", V4["evil"]), arp("evil", "0.0.0.0", target=V4["evil"]), solicitation("evil", "::"), solicitation("evil", "fe80::ff:fe00:102"),
            Ether(src=MACS["evil"], dst=MACS["far"]) / IPv6(src=V6["evil"], dst=V6["far"]) / UDP6(dport=9) / b"own"]
    for frame in fine:
        assert site.arrives("evil", "far", frame), frame.summary()
    # From behind the overlay comes what the other site lets through.
    assert site.arrives("far", "good", Ether(src=MACS["far"], dst=MACS["good"]) / IP(src="10.99.1.77", dst=V4["good"]) / UDP(dport=9) / b"far")


# --- routers that are none --------------------------------------------------------------------------------------------


def test_members_are_no_routers(site):
    ra = Ether(src=MACS["evil"], dst=ALL6) / IPv6(src="fe80::ff:fe00:102", dst="ff02::1") / ICMPv6ND_RA()
    offer = Ether(src=MACS["evil"], dst=ALL4) / IP(src=V4["evil"], dst="255.255.255.255") / UDP(sport=67, dport=68) / BOOTP(op=2, chaddr=b"\2") / DHCP(options=["end"])
    offer6 = Ether(src=MACS["evil"], dst=MACS["far"]) / IPv6(src="fe80::ff:fe00:102", dst="fe80::1") / UDP6(sport=547, dport=546) / b"\7\0\0\0"
    for frame in (ra, offer, offer6):
        assert site.arrives("evil", "far", frame), frame.summary()
    site.apply(**{"ra-guard": True})
    for frame in (ra, offer, offer6):
        site.dropped("ra", "evil", frame, ("far",))


def test_it_is_no_drift(site):
    site.apply(hosts=[GOOD, EVIL], **{"hosts-only": True, "ra-guard": True})
    assert site.gw.plan() == []
    site.apply(hosts=[GOOD])
    assert site.gw.plan() == []
    site.apply()
    assert site.gw.plan() == []
