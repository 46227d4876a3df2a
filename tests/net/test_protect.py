# SPDX-License-Identifier: GPL-2.0-or-later
"""Protection: the gateway's own addresses, sources that are not where they say, fragments, floods, scans, and no good config.

    gpu1   --- segment gpu, bridged --+
    store  --- segment store, bridged +--- gw --- line ali-a, 172.31.0.0/29 --- cloud (.2 the peer, .3 somebody else)
    office --- interface office ------+

That something does not arrive is said by what was sent after it and does.
"""
import itertools
import signal
import socket
import subprocess
import time

import pytest
import yaml
from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.inet6 import IPv6, IPv6ExtHdrFragment

import gateway
import netns
import probe
import process
import topo

IPV6_HDRINCL = 36
SERVICE, FENCE, NOWHERE = 7000, 9999, 7001
HOSTS = {
    "gpu1": ("10.99.1.11", "fd00:99:1::11"),
    "store": ("10.99.8.7", "fd00:99:8::7"),
    "office": ("10.20.0.9", "fd00:20::9"),
    "cloud": ("172.31.0.2", "fd00:31::2"),
}
GW = {"gpu1": ("10.99.1.1", "fd00:99:1::1"), "store": ("10.99.8.1", "fd00:99:8::1"), "office": ("10.20.0.1", "fd00:20::1"),
      "cloud": ("172.31.0.1", "fd00:31::1")}
RULES = [
    {"seq": 10, "name": "service", "services": [f"udp/{SERVICE}", f"tcp/{SERVICE}", f"udp/{FENCE}"], "action": "accept"},
    {"seq": 20, "name": "manage", "from": ["office"], "to": ["gateway"], "services": ["tcp/22"], "action": "accept", "rate-limit": "100/s"},
]


def text(line=None, segment=None, interface=None, **policy):
    return yaml.safe_dump({
        "system": {"hostname": "gw"},
        "interfaces": [{"name": "office", "addresses": ["10.20.0.1/24", "fd00:20::1/64"], **(interface or {})}],
        "lines": [{"name": "ali-a", "interface": "wan", "address": "172.31.0.1/29", "peer-address": "172.31.0.2", "address6": "fd00:31::1/64",
                   "peer-address6": "fd00:31::2", "bfd": {"interval": "300ms"}, "bgp": {"peer-as": 65101}, **(line or {})}],
        "vtep": {"address": "10.255.0.1"},
        "remotes": [{"name": "far", "vtep": "10.255.1.1", "lines": ["ali-a"]}],
        "bgp": {"as": 65001, "router-id": "10.255.0.1"},
        "segments": [
            {"name": "gpu", "vni": 10010, "mode": "bridged", "members": ["gpu1"], "gateway": ["10.99.1.1/24", "fd00:99:1::1/64"],
             "remotes": ["far"], **(segment or {})},
            {"name": "store", "vni": 10020, "mode": "bridged", "members": ["store"], "gateway": ["10.99.8.1/24", "fd00:99:8::1/64"]},
        ],
        "policy": {"default": "drop", "rules": RULES, **policy},
    }, sort_keys=False)


def topology():
    def host(name):
        v4, v6 = HOSTS[name]
        bits = 29 if name == "cloud" else 24
        more = ["172.31.0.3/29", "fd00:31::3/64"] if name == "cloud" else []
        return {"addresses": {"eth0": [f"{v4}/{bits}", f"{v6}/64", *more]}, "routes": [f"default via {g}" for g in GW[name]]}
    return {
        "name": "protect",
        "nodes": {**{name: host(name) for name in HOSTS}, "gw": {"kind": "gateway", "config": text()}},
        "links": [{"name": name, "ends": [f"{name}:eth0", f"gw:{'wan' if name == 'cloud' else name}"]} for name in HOSTS],
    }


class Site:
    def __init__(self, lab):
        self.lab, self.gw = lab, lab.gateways["gw"]
        self.ns = {name: lab.ns(name) for name in HOSTS}
        self.tokens = (b"packet %d" % n for n in itertools.count())
        self.raws = {}

    def apply(self, **changes):
        self.gw.apply(text(**changes))
        self.gw.wait_converged()

    def raw(self, name, *packets):
        """Packets as they are, whatever their source, from a host."""
        for p in packets:
            v6 = p.version == 6
            if (name, v6) not in self.raws:
                with netns.inside(self.ns[name]):
                    s = socket.socket(socket.AF_INET6 if v6 else socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
                s.setsockopt(socket.IPPROTO_IPV6 if v6 else socket.IPPROTO_IP, IPV6_HDRINCL if v6 else socket.IP_HDRINCL, 1)
                self.raws[name, v6] = s
            self.raws[name, v6].sendto(bytes(p), (p.dst, 0))

    def arrive(self, sender, receiver, v6, packets, port=SERVICE, fence_from=None):
        """How many UDP packets that end in one token arrive: those made by `packets(token)`, before the fence does."""
        token, address, fencer = next(self.tokens), HOSTS[receiver][v6], fence_from or sender
        with probe.udp_socket(self.ns[receiver], address, port) as there, probe.udp_socket(self.ns[receiver], address, FENCE) as fence, \
                probe.udp_socket(self.ns[fencer], HOSTS[fencer][v6]) as s:
            self.raw(sender, *packets(token))
            for _ in range(50):
                s.sendto(token, (address, FENCE))
                if probe.readable(fence, 0.2):
                    break
            else:
                raise AssertionError(f"what is allowed does not arrive: {sender} {receiver}")
            n = 0
            while probe.readable(there, 0.02):
                n += there.recv(65535).endswith(token)
            return n

    def udp(self, source, receiver, v6, port=SERVICE):
        def make(token):
            ip = IPv6(src=source, dst=HOSTS[receiver][1]) if v6 else IP(src=source, dst=HOSTS[receiver][0])
            return [ip / UDP(sport=5000, dport=port) / token]
        return make

    def counter(self, key):
        return self.gw.show("policy")[key]

    def denies(self):
        return self.gw.show("policy")

    def connects(self, name, address, port, timeout=1.0, source=None):
        """Does a handshake begin to be answered?"""
        with probe.new_socket(self.ns[name], address, socket.SOCK_STREAM) as s:
            s.settimeout(timeout)
            if source:
                s.bind((source, 0))
            try:
                s.connect((address, port))
            except ConnectionRefusedError:
                return True
            except (TimeoutError, socket.timeout):
                return False
        return True


@pytest.fixture(scope="module")
def site_lab():
    with topo.temporary(topology()) as lab:
        site = Site(lab)
        for name, addresses in HOSTS.items():
            for v6 in (0, 1):
                # Neighbors are resolved, and nothing that is still tentative is taken for lost.
                assert process.wait_until(lambda: site.arrive(name, "store" if name != "store" else "office", v6, lambda _: []) == 0, 10)
        yield site
        for s in site.raws.values():
            s.close()


@pytest.fixture
def site(site_lab):
    if not site_lab.gw.running():
        site_lab.gw.boot()
    site_lab.apply()
    yield site_lab


# --- the gateway's own addresses --------------------------------------------------------------------------------------


@pytest.mark.parametrize("v6", (0, 1))
def test_only_management_from_where_it_is_configured_reaches_the_gateway(site, v6):
    before = site.counter("denied-to-the-gateway")
    assert site.connects("office", GW["office"][v6], 22)
    # Another port, another place, and another address of the gateway than the one that is near.
    assert not site.connects("office", GW["office"][v6], 80, 0.3)
    assert not site.connects("gpu1", GW["gpu1"][v6], 22, 0.3)
    assert not site.connects("cloud", GW["cloud"][v6], 22, 0.3)
    assert not site.connects("gpu1", GW["office"][v6], 22, 0.3)
    assert not probe.ping(site.ns["office"], GW["office"][v6], timeout=1)
    assert site.counter("denied-to-the-gateway") >= before + 5
    site.apply(**{"own-addresses": "accept"})
    assert site.connects("gpu1", GW["gpu1"][v6], 80)
    assert probe.ping(site.ns["office"], GW["office"][v6])


@pytest.mark.parametrize("v6", (0, 1))
def test_bgp_and_bfd_are_for_the_configured_peer(site, v6):
    peer, other, gw = ("fd00:31::2", "fd00:31::3", "fd00:31::1") if v6 else ("172.31.0.2", "172.31.0.3", "172.31.0.1")
    assert site.connects("cloud", gw, 179, source=peer)
    before = site.counter("denied-to-the-gateway")
    assert not site.connects("cloud", gw, 179, 0.3, source=other)
    assert not site.connects("gpu1", gw, 179, 0.3)
    ip = IPv6 if v6 else IP
    for source, denied in ((peer, False), (other, True)):
        at = site.counter("denied-to-the-gateway")
        site.raw("cloud", ip(src=source, dst=gw) / UDP(sport=50000, dport=3784) / b"no bfd")
        site.raw("cloud", ip(src=source, dst=gw) / UDP(sport=50000, dport=9) / b"fence")
        assert process.wait_until(lambda: site.counter("denied-to-the-gateway") >= at + 1 + denied, 3)
        assert site.counter("denied-to-the-gateway") == at + 1 + denied
    assert site.counter("denied-to-the-gateway") > before


def test_peers_are_not_shut_out_by_a_rule(site):
    site.apply(rules=RULES + [{"seq": 5, "to": ["gateway"], "action": "drop"}])
    assert site.connects("cloud", "172.31.0.1", 179, source="172.31.0.2")
    assert not site.connects("office", GW["office"][0], 22, 0.3)


def test_what_path_mtu_needs_passes(site):
    """Frag-needed about a VXLAN packet of ours, which connection tracking does not know, teaches the kernel."""
    inner = IP(src="10.255.0.1", dst="10.255.1.1", id=1, flags="DF") / UDP(sport=50000, dport=4789, len=1458) / (b"\x08\0\0\0" + (10010 << 8).to_bytes(4, "big"))
    inner.len = 1478
    site.raw("cloud", IP(src="172.31.0.2", dst="10.255.0.1") / ICMP(type=3, code=4, nexthopmtu=1400) / bytes(inner)[:36])
    assert process.wait_until(lambda: "mtu 1400" in netns.run("ip", "route", "get", "10.255.1.1", ns=site.gw.ns).stdout, 3)


# --- sources ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sender,source,receiver", [
    ("gpu1", HOSTS["store"], "office"),  # of another segment
    ("gpu1", HOSTS["office"], "store"),  # of an interface
    ("gpu1", ("198.51.100.1", "2001:db8::1"), "office"),  # of nowhere
    ("gpu1", GW["gpu1"], "store"),  # of the gateway itself
    ("office", HOSTS["gpu1"], "store"),
    ("office", GW["office"], "store"),
    ("cloud", HOSTS["store"], "office"),  # from a line: of this side
    ("cloud", ("10.255.0.1", GW["store"][1]), "office"),
])
@pytest.mark.parametrize("v6", (0, 1))
def test_a_forged_source_is_dropped(site, sender, source, receiver, v6):
    before = site.counter("dropped-forged-source")
    assert site.arrive(sender, receiver, v6, site.udp(HOSTS[sender][v6], receiver, v6)) == 1, "the test itself"
    assert site.arrive(sender, receiver, v6, site.udp(source[v6], receiver, v6)) == 0
    # The kernel itself drops some of them, before or behind us; what we see is counted and, with that, reported.
    if source != GW[sender] or v6:
        assert site.counter("dropped-forged-source") > before


@pytest.mark.parametrize("v6", (0, 1))
def test_a_line_brings_sources_that_are_not_known(site, v6):
    far = ("198.51.100.1", "2001:db8::1")[v6]
    assert site.arrive("cloud", "office", v6, site.udp(far, "office", v6)) == 1
    site.apply(line={"anti-spoofing": "strict"})
    assert site.arrive("cloud", "office", v6, site.udp(far, "office", v6)) == 0


@pytest.mark.parametrize("v6", (0, 1))
def test_anti_spoofing_can_be_switched_off(site, v6):
    site.apply(segment={"anti-spoofing": "off"})
    assert site.arrive("gpu1", "office", v6, site.udp(("198.51.100.1", "2001:db8::1")[v6], "office", v6)) == 1


def test_a_host_without_an_address_can_ask_for_one(site):
    before = site.counter("dropped-forged-source")
    site.raw("gpu1", IP(src="0.0.0.0", dst="10.99.1.1") / UDP(sport=68, dport=67) / b"discover")
    site.raw("gpu1", IP(src="198.51.100.1", dst="10.99.1.1") / UDP(sport=68, dport=67) / b"fence")
    assert process.wait_until(lambda: site.counter("dropped-forged-source") > before, 3)
    assert site.counter("dropped-forged-source") == before + 1


# --- fragments --------------------------------------------------------------------------------------------------------


def fragments(v6, source, receiver, overlap):
    """One datagram in two fragments, of which the second begins where the first ends, or 8 bytes before."""
    def make(token):
        whole = bytes(UDP(sport=5000, dport=SERVICE, len=8 + 64 + len(token), chksum=0 if not v6 else None) / (b"x" * 64) / token)
        if v6:
            whole = bytes(IPv6(src=source, dst=HOSTS[receiver][1]) / UDP(sport=5000, dport=SERVICE) / (b"x" * 64 + token))[40:]
        second = 32 - (8 if overlap else 0)
        parts = ((0, 1, whole[:32]), (second // 8, 0, (b"y" * 8 if overlap else b"") + whole[32:]))
        if v6:
            return [IPv6(src=source, dst=HOSTS[receiver][1]) / IPv6ExtHdrFragment(nh=17, offset=o, m=m, id=77 + overlap) / part for o, m, part in parts]
        return [IP(src=source, dst=HOSTS[receiver][0], id=77 + overlap, proto=17, frag=o, flags="MF" if m else 0) / part for o, m, part in parts]
    return make


@pytest.mark.parametrize("v6", (0, 1))
def test_fragments_are_judged_whole_and_those_that_overlap_are_dropped(site, v6):
    assert site.arrive("office", "store", v6, fragments(v6, HOSTS["office"][v6], "store", False)) == 1
    overlaps = site.counter("dropped-overlapping-fragments")
    assert site.arrive("office", "store", v6, fragments(v6, HOSTS["office"][v6], "store", True)) == 0
    # Of IPv6 the kernel does not count them.
    assert site.counter("dropped-overlapping-fragments") == overlaps + (not v6)
    site.apply(fragments="drop")
    before = site.counter("dropped-fragments")
    assert site.arrive("office", "store", v6, fragments(v6, HOSTS["office"][v6], "store", False)) == 0
    assert site.counter("dropped-fragments") == before + 2


# --- floods -----------------------------------------------------------------------------------------------------------


def flows(source, receiver, v6, n, proto=UDP):
    ip = (lambda: IPv6(src=source, dst=HOSTS[receiver][1])) if v6 else (lambda: IP(src=source, dst=HOSTS[receiver][0]))
    if proto is UDP:
        return lambda token: [ip() / UDP(sport=10000 + i, dport=SERVICE) / token for i in range(n)]
    return lambda token: [ip() / TCP(sport=10000 + i, dport=SERVICE, flags="S", seq=i) for i in range(n)]


@pytest.mark.parametrize("v6", (0, 1))
def test_flows_of_one_source_are_limited(site, v6):
    site.apply(**{"source-limits": {"flows": "20/m"}})
    before = site.counter("dropped-over-source-limits")
    got = site.arrive("office", "store", v6, flows(HOSTS["office"][v6], "store", v6, 15))
    assert got == 15
    with probe.udp_socket(site.ns["store"], HOSTS["store"][v6], SERVICE) as there:
        site.raw("office", *flows(HOSTS["office"][v6], "store", v6, 60)(b"flood"))
        assert process.wait_until(lambda: site.counter("dropped-over-source-limits") >= before + 30, 3)
        # Who is not over it is not held up by who is.
        assert site.arrive("gpu1", "office", v6, site.udp(HOSTS["gpu1"][v6], "office", v6)) == 1
        while probe.readable(there, 0.05):
            there.recv(100)
    site.apply(**{"source-limits": {"flows": "20/m", "except": ["10.20.0.0/16", "10.20.0.0/24", "fd00:20::/64"]}})
    assert site.arrive("office", "store", v6, lambda token: flows(HOSTS["office"][v6], "store", v6, 200)(token)[100:]) == 100


@pytest.mark.parametrize("v6", (0, 1))
def test_a_syn_flood_is_limited_and_running_connections_go_on(site, v6):
    server = probe.listen(site.ns["store"], HOSTS["store"][v6])
    port = server.getsockname()[1]
    site.apply(rules=RULES + [{"seq": 30, "to": ["store"], "services": [f"tcp/{port}"], "action": "accept"}], **{"source-limits": {"syn": "50/s"}})
    with server, probe.connect(site.ns["office"], HOSTS["office"][v6], server.getsockname()[:2]) as client:
        there, _ = server.accept()
        before = site.counter("dropped-over-source-limits")
        packets = flows(HOSTS["office"][v6], "store", v6, 400, TCP)(b"")
        start = time.monotonic()
        site.raw("office", *packets)
        allowed = 50 + 50 * (time.monotonic() - start + 1)
        assert process.wait_until(lambda: site.counter("dropped-over-source-limits") >= before + 400 - allowed, 3)
        for i in range(20):
            client.sendall(b"%d" % i)
            assert probe.readable(there, 2) and there.recv(100) == b"%d" % i
        there.close()


@pytest.mark.parametrize("v6", (0, 1))
def test_flows_at_a_time_are_limited(site, v6):
    site.apply(**{"source-limits": {"connections": 10}})
    before = site.counter("dropped-over-source-limits")
    got = site.arrive("gpu1", "store", v6, flows(HOSTS["gpu1"][v6], "store", v6, 40), fence_from="office")
    # Some of its flows may be alive from before.
    assert got <= 10
    assert site.counter("dropped-over-source-limits") == before + 40 - got
    assert site.gw.plan() == []


# --- scans ------------------------------------------------------------------------------------------------------------


def scan(site, sender, receiver, v6, n):
    ip = IPv6(src=HOSTS[sender][v6], dst=HOSTS[receiver][1]) if v6 else IP(src=HOSTS[sender][v6], dst=HOSTS[receiver][0])
    site.raw(sender, *[ip / TCP(sport=4000, dport=1000 + i, flags="S") for i in range(n)])


def scans_of(site, address):
    return [s for s in site.denies()["scans"] if s["source"] == address]


@pytest.mark.parametrize("v6", (0, 1))
def test_a_scan_is_reported(site, v6):
    site.apply(scan={"destinations": 30})
    known = len(scans_of(site, HOSTS["office"][v6]))
    # One destination over and over is no scan, and 29 are none.
    for _ in range(40):
        scan(site, "office", "store", v6, 1)
    scan(site, "office", "store", v6, 29)
    assert site.arrive("office", "store", v6, site.udp(HOSTS["office"][v6], "store", v6)) == 1
    assert len(scans_of(site, HOSTS["office"][v6])) == known
    scan(site, "office", "store", v6, 31)
    assert process.wait_until(lambda: len(scans_of(site, HOSTS["office"][v6])) == known + 1, 5)
    assert f"{HOSTS['office'][v6]} scans: 30 destinations denied within a minute" in site.gw.log()
    assert scans_of(site, HOSTS["office"][v6])[0]["blocked-until"] is None
    assert site.arrive("office", "store", v6, site.udp(HOSTS["office"][v6], "store", v6)) == 1


@pytest.mark.parametrize("v6", (0, 1))
def test_who_scans_is_blocked_for_a_time(site, v6):
    site.apply(scan={"destinations": 25, "action": "block", "block-time": "3s"})
    before = site.counter("dropped-of-blocked-sources")
    scan(site, "gpu1", "store", v6, 40)
    assert process.wait_until(lambda: scans_of(site, HOSTS["gpu1"][v6]) and scans_of(site, HOSTS["gpu1"][v6])[0]["blocked-until"], 5)
    with probe.udp_socket(site.ns["store"], HOSTS["store"][v6], SERVICE) as there, probe.udp_socket(site.ns["gpu1"], HOSTS["gpu1"][v6]) as s:
        s.sendto(b"blocked", (HOSTS["store"][v6], SERVICE))
        assert process.wait_until(lambda: site.counter("dropped-of-blocked-sources") > before, 3)
        assert not probe.readable(there, 0.05)
        # Nobody else is, and it ends by itself. It is no drift.
        assert site.arrive("office", "gpu1", v6, lambda _: []) == 0
        assert site.gw.plan() == []

        def passes():
            s.sendto(b"again", (HOSTS["store"][v6], SERVICE))
            return probe.readable(there, 0.1)
        assert process.wait_until(passes, 10)


def test_a_peer_and_an_exception_are_never_blocked(site):
    site.apply(scan={"destinations": 25, "action": "block", "except": ["10.20.0.0/24"]})
    for sender in ("office", "cloud"):
        scan(site, sender, "store", 0, 40)
        address = HOSTS[sender][0]
        assert process.wait_until(lambda: scans_of(site, address), 5), sender
        assert scans_of(site, address)[0]["blocked-until"] is None
        assert site.arrive(sender, "store", 0, site.udp(address, "store", 0)) == 1


def test_forged_packets_blame_nobody(site):
    """What a source never sent must not have it blocked."""
    site.apply(scan={"destinations": 25, "action": "block"})
    known = len(scans_of(site, "10.99.8.7"))
    site.raw("gpu1", *[IP(src="10.99.8.7", dst=HOSTS["office"][0]) / TCP(sport=4000, dport=1000 + i, flags="S") for i in range(60)])
    assert site.arrive("store", "office", 0, site.udp("10.99.8.7", "office", 0)) == 1
    assert len(scans_of(site, "10.99.8.7")) == known


# --- no good configuration --------------------------------------------------------------------------------------------


def passes(site, v6):
    return site.arrive("gpu1", "store", v6, site.udp(HOSTS["gpu1"][v6], "store", v6)) == 1


def is_closed(site):
    with probe.udp_socket(site.ns["store"], HOSTS["store"][0], SERVICE) as there, probe.udp_socket(site.ns["gpu1"], HOSTS["gpu1"][0]) as s:
        for _ in range(10):
            s.sendto(b"transit", (HOSTS["store"][0], SERVICE))
            if probe.readable(there, 0.05):
                return False
    return True


def tables(site):
    return [t for t in netns.run("nft", "list", "tables", ns=site.gw.ns).stdout.splitlines() if "closed_by_fairway" in t]


def test_without_a_good_configuration_nothing_passes(site):
    """Neither the file nor what is stored is of use: transit is closed, management is open, and an apply opens."""
    site.apply(**{"own-addresses": "accept"})
    site.gw.stop()
    state = site.gw.folder / "state"
    kept = site.gw.folder / "state-kept"
    state.rename(kept)
    site.gw.install("system: {hostname: ")
    try:
        site.gw.start()
        assert process.wait_until(lambda: site.gw.running() and site.gw.status(), 10)
        assert process.wait_until(lambda: is_closed(site), 5)
        assert site.connects("office", GW["office"][0], 22)
        assert not site.gw.status()["configured"]
        assert "nothing passes through" in site.gw.log()
        # It holds without fairwayd, too, until somebody takes all of it down.
        site.gw.kill()
        assert is_closed(site)
        netns.run(gateway.BUILD / "fairwayd", "--instance", site.gw.instance, "--run-dir", site.gw.folder / "run", "--state-dir", site.gw.folder / "state",
                  "--teardown", ns=site.gw.ns, check=False)
        assert tables(site) == []
        site.gw.start()
        assert process.wait_until(lambda: site.gw.status(), 10)
        # A configuration that is refused opens nothing.
        site.gw.apply("system: {}\n", expect=1)
        assert is_closed(site)
        site.apply()
        assert passes(site, 0) and passes(site, 1)
        assert tables(site) == []
    finally:
        if not site.gw.running():
            site.gw.install(text())
            site.gw.boot()
