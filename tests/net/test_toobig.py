# SPDX-License-Identifier: GPL-2.0-or-later
"""Packets too big for a bridged segment that the kernel's VXLAN driver loses without a word: field cases 6 and 7.

    rack --- gw0 ===== l1, or l2 with a hidden hop of 1400 ===== gwN --- hN

`rack` is behind a routed interface of gw0 and a host `h0` on each segment's gw0 end; hN has all segments of its line.
"""
import errno
import os
import socket
import struct
import time

import pytest

import netns
import probe
import process
import sites
import topo

UDP_SEGMENT = 103
HIDDEN = {"mtu": 1400, "addresses": ["172.31.2.6/32", "fd00:172:2::6/128"],
          "a": {"172.31.2.1": ["10.255.0.1"], "fd00:172:2::1": ["fd00:255::1"]},
          "b": {"172.31.2.2": ["10.255.2.1"], "fd00:172:2::2": ["fd00:255:2::1"]}}


class Segment:
    def __init__(self, site, outer):
        self.site, self.outer = site, outer
        self.number = site * 10 + outer
        self.name = self.interface = f"e{self.number}"
        self.vni = 10000 + self.number
        # The driver looks for extension headers 14 bytes too early, in the addresses: with these it never answers a fragment.
        self.prefixes = (f"10.{self.number}.0.", f"fd00:{self.number}:100::")
        self.inner = (1500 if site == 1 else 1400) - (50 if outer == 4 else 70)
        self.label = f"outer{outer}" + ("-hidden" if site == 2 else "")

    def prefix(self, inner):
        return self.prefixes[inner == 6]

    def addresses(self, number):
        return [f"{self.prefixes[0]}{number}/24", f"{self.prefixes[1]}{number}/64"]

    def config(self, site):
        return {"name": self.name, "vni": self.vni, "mode": "bridged", "members": [self.interface],
                "remotes": [f"r{self.site if site == 0 else 0}v{self.outer}"], **({"gateway": self.addresses(1)} if site == 0 else {})}


SEGMENTS = [Segment(site, outer) for site in (1, 2) for outer in (4, 6)]
PLAIN = [s for s in SEGMENTS if s.site == 1]


def vteps(site):
    return f"10.255.{site}.1", f"fd00:255:{site}::1" if site else "fd00:255::1"


def config(site):
    me = 1 if site == 0 else 2
    lines = (1, 2) if site == 0 else (site,)
    return {
        "system": {"hostname": f"gw{site}"},
        "interfaces": [{"name": "rack", "addresses": ["10.50.0.1/24", "fd00:50::1/64"]}] if site == 0 else [],
        "lines": [{"name": f"l{n}", "interface": f"l{n}", "address": f"172.31.{n}.{me}/29", "peer-address": f"172.31.{n}.{3 - me}",
                   "address6": f"fd00:172:{n}::{me}/64", "peer-address6": f"fd00:172:{n}::{3 - me}"} for n in lines],
        "vtep": {"address": vteps(site)[0], "address6": vteps(site)[1]},
        "remotes": [{"name": f"r{far}v{v}", "vtep": vteps(far)[v == 6], "lines": [f"l{far or site}"]}
                    for far in (lines if site == 0 else (0,)) for v in (4, 6)],
        "segments": [s.config(site) for s in SEGMENTS if site in (0, s.site)],
    }


def host(number, segments):
    return {"addresses": {s.interface: s.addresses(number) for s in segments},
            "routes": [f"10.50.0.0/24 via {segments[0].prefixes[0]}1", f"fd00:50::/64 via {segments[0].prefixes[1]}1"]}


def topology():
    nodes = {"rack": {"addresses": {"eth0": ["10.50.0.11/24", "fd00:50::11/64"]}, "routes": ["10.0.0.0/8 via 10.50.0.1", "fd00::/16 via fd00:50::1"]},
             "h0": {"addresses": {s.interface: s.addresses(11) for s in SEGMENTS}},
             "gw0": {"kind": "gateway", "config": config(0)}}
    links = [{"name": "rack", "ends": ["rack:eth0", "gw0:rack"]}]
    links += [{"name": f"h0-{s.name}", "ends": [f"h0:{s.interface}", f"gw0:{s.interface}"]} for s in SEGMENTS]
    for n in (1, 2):
        nodes[f"gw{n}"] = {"kind": "gateway", "config": config(n)}
        links.append({"name": f"l{n}", "ends": [f"gw0:l{n}", f"gw{n}:l{n}"], **({"hidden": HIDDEN} if n == 2 else {})})
    # One host to a segment, because each has one way to the rack.
    for s in SEGMENTS:
        nodes[f"h{s.number}"] = host(21, [s])
        links.append({"name": f"h{s.number}", "ends": [f"h{s.number}:{s.interface}", f"gw{s.site}:{s.interface}"]})
    return {"name": "toobig", "nodes": nodes, "links": links}


@pytest.fixture(scope="module")
def lab():
    with topo.temporary(topology()) as made:
        for s in SEGMENTS:
            for inner in (4, 6):
                for near in ("h0", "rack"):
                    assert probe.ping(made.ns(near), far_host(made, s, inner)[1]), (near, s.label, inner)
        yield made


def far_host(lab, s, inner):
    return lab.ns(f"h{s.number}"), s.prefix(inner) + "21"


def directions(lab, s, inner, near="h0"):
    """(sender, receiver), both ways; nobody knows anything."""
    here = lab.ns("h0"), s.prefix(inner) + "11"
    if near == "rack":
        here = lab.ns("rack"), "10.50.0.11" if inner == 4 else "fd00:50::11"
    far = far_host(lab, s, inner)
    for a, b in ((here, far), (far, here)):
        probe.forget_path_mtu(lab.ns("h0"), lab.ns("rack"), far[0], lab.ns("gw0"), lab.ns(f"gw{s.site}"))
        yield a, b


def lost_before_the_first(sender, receiver, payload, pause=0.3, most=8):
    """Datagrams that did not arrive before one did; `most` if none did."""
    with probe.udp_socket(*receiver) as rx, probe.udp_socket(*sender) as tx:
        if tx.family == socket.AF_INET:
            tx.setsockopt(socket.IPPROTO_IP, probe.IP_MTU_DISCOVER, probe.PMTUDISC_DONT)
        data = os.urandom(payload)
        for n in range(most):
            tx.sendto(data, rx.getsockname()[:2])
            if probe.readable(rx, pause):
                assert rx.recv(1 << 16) == data
                return n
    return most


def counts(lab, *gateways):
    """Of `show status`, summed."""
    seen = [lab.gateways[g].status()["too_big"] for g in gateways]
    return {k: sum(s[k] for s in seen) for k in seen[0]}


def label(s):
    return s.label


# --- bridged ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("s", SEGMENTS, ids=label)
def test_ipv6_fragments_teach_their_sender(lab, s):
    """two are lost at most: one teaches 1450, one the hidden hop (which the gateway asks for once a second)"""
    for sender, receiver in directions(lab, s, 6):
        n = lost_before_the_first(sender, receiver, 2000, pause=0.3 if s.site == 1 else 1.5)
        assert n <= (1 if s.site == 1 else 3), f"{n} lost from {sender}"


@pytest.mark.parametrize("payload", [1472, 2000, 9000])
@pytest.mark.parametrize("s", PLAIN, ids=label)
def test_ipv4_without_df_arrives_the_first_too(lab, s, payload):
    for sender, receiver in directions(lab, s, 4):
        assert lost_before_the_first(sender, receiver, payload, most=1) == 0, f"from {sender}"


@pytest.mark.parametrize("payload", [1472, 2000])
def test_ipv4_without_df_arrives_behind_a_hidden_hop_once_it_is_known(lab, payload):
    s = next(s for s in SEGMENTS if s.label == "outer6-hidden")
    for sender, receiver in directions(lab, s, 4):
        assert lost_before_the_first(sender, receiver, payload, pause=1.5) <= 2
        assert lost_before_the_first(sender, receiver, payload, most=1) == 0, f"from {sender}"


@pytest.mark.parametrize("s", PLAIN, ids=label)
def test_ipv4_fragments_with_df_are_answered(lab, s):
    """as some senders make them; the answer is the driver's: from the far host, with the inner MTU"""
    (src, to), _ = list(directions(lab, s, 4))
    payload = os.urandom(8 * 180)
    udp = struct.pack("!HHHH", 4000, 4000, 8 + len(payload) + 8, 0) + payload
    header = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 0, 77, 0x6000, 64, 17, 0, socket.inet_aton(src[1]), socket.inet_aton(to[1]))
    with netns.inside(src[0]):
        raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
    with raw, probe.Capture(src[0], s.interface) as capture:
        raw.sendto(header + udp, (to[1], 0))
        answer = capture.wait(lambda f: f.protocol == 1 and f.data[f.l4:f.l4 + 2] == b"\x03\x04")
    assert answer and answer.src == to[1] and struct.unpack_from("!H", answer.data, answer.l4 + 6)[0] == s.inner


def test_answers_and_fragments_are_counted(lab):
    before = counts(lab, "gw0")
    shown = {t["segment"]: t["packets"] for t in lab.gateways["gw0"].show("filter")["too-big"]}
    six = next(s for s in PLAIN if s.outer == 6)
    (sender, receiver), _ = list(directions(lab, six, 6))
    assert lost_before_the_first(sender, receiver, 2000) == 1
    (sender, receiver), _ = list(directions(lab, six, 4))
    assert lost_before_the_first(sender, receiver, 1472) == 0
    after = counts(lab, "gw0")
    assert (after["answered"], after["fragmented"]) == (before["answered"] + 1, before["fragmented"] + 1)
    assert (after["ignored"], after["overruns"]) == (before["ignored"], 0)
    seen = {t["segment"]: t["packets"] for t in lab.gateways["gw0"].show("filter")["too-big"]}
    # The set is looked at for the answer and for the drop: each counts.
    assert seen[six.name] == shown[six.name] + 2


# --- routed into a bridged segment ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("inner", [4, 6])
@pytest.mark.parametrize("s", SEGMENTS, ids=label)
def test_routed_into_a_bridged_segment_df_senders_are_told(lab, s, inner):
    for sender, receiver in directions(lab, s, inner, near="rack"):
        seen = probe.path_mtu(sender, receiver, 1500, timeout=8, until=s.inner)
        assert (seen.told, seen.learned, seen.fits) == (s.inner, s.inner, True), (sender, seen)


@pytest.mark.parametrize("s", PLAIN, ids=label)
def test_routed_into_a_bridged_segment_the_first_of_all_is_answered(lab, s):
    """the kernel alone loses it: it has learned the path only then, and of IPv6 it answers none"""
    for inner in (4, 6):
        sender, receiver = next(directions(lab, s, inner, near="rack"))
        seen = probe.path_mtu(sender, receiver, 1500, until=s.inner)
        assert seen.fits and seen.tries == 2, seen


@pytest.mark.parametrize("inner", [4, 6])
@pytest.mark.parametrize("s", PLAIN, ids=label)
def test_routed_into_a_bridged_segment_without_df(lab, s, inner):
    for payload in (1500 - (28 if inner == 4 else 48), 2000):
        for sender, receiver in directions(lab, s, inner, near="rack"):
            assert lost_before_the_first(sender, receiver, payload) <= (inner == 6), (payload, sender)


# --- what must not be touched ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("inner", [4, 6])
@pytest.mark.parametrize("s", PLAIN, ids=label)
def test_tcp_is_not_touched(lab, s, inner):
    for near in ("h0", "rack"):
        (here, far), _ = list(directions(lab, s, inner, near))
        before = counts(lab, "gw0", f"gw{s.site}")
        probe.transfer(here, far, 5_000_000)
        after = counts(lab, "gw0", f"gw{s.site}")
        assert after == before


@pytest.mark.parametrize("df", [False, True], ids=["no-df", "df"])
@pytest.mark.parametrize("s", PLAIN, ids=label)
def test_trains_of_udp_segments_that_fit_arrive_as_sent(lab, s, df):
    size, n = 1300, 20
    for sender, receiver in directions(lab, s, 4):
        before = counts(lab, "gw0", f"gw{s.site}")
        with probe.udp_socket(*receiver) as rx, probe.udp_socket(*sender) as tx:
            tx.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, size)
            tx.setsockopt(socket.IPPROTO_IP, probe.IP_MTU_DISCOVER, probe.PMTUDISC_DO if df else probe.PMTUDISC_DONT)
            tx.sendto(os.urandom(size * n), rx.getsockname()[:2])
            got = [len(rx.recv(1 << 16)) for _ in range(n) if probe.readable(rx, 1)]
        assert got == [size] * n
        assert counts(lab, "gw0", f"gw{s.site}") == before


def test_errors_are_not_answered(lab):
    """RFC 4443 2.4: never to an ICMPv6 error; it would echo for ever"""
    s = PLAIN[1]
    (src, to), _ = list(directions(lab, s, 6))
    before = counts(lab, "gw0")
    fragment = struct.pack("!BBHI", 58, 0, 1, 7) + struct.pack("!BBHI", 1, 4, 0, 0) + bytes(1416)
    with netns.inside(src[0]):
        raw = socket.socket(socket.AF_INET6, socket.SOCK_RAW, 44)
    with raw, probe.Capture(src[0], s.interface) as capture:
        raw.sendto(fragment, (to[1], 0))
        assert process.wait_until(lambda: counts(lab, "gw0")["ignored"] == before["ignored"] + 1, 3)
        assert not capture.wait(lambda f: f.protocol == 58 and f.data[f.l4] == 2, timeout=0.3)
    assert counts(lab, "gw0")["answered"] == before["answered"]


# --- the daemon's life ----------------------------------------------------------------------------------------------------


def test_without_the_daemon_it_is_as_before_and_its_return_is_enough(lab):
    s = PLAIN[1]
    gw = lab.gateways["gw0"]
    (sender, receiver), _ = list(directions(lab, s, 4))
    gw.kill()
    try:
        assert lost_before_the_first(sender, receiver, 1472, most=2) == 2
        assert lost_before_the_first(sender, receiver, 1400, most=1) == 0
    finally:
        gw.boot()
    assert lost_before_the_first(sender, receiver, 1472, most=1) == 0


def test_privileges_are_still_dropped(lab):
    """the sockets are opened before"""
    gw = lab.gateways["gw0"]
    status = open(f"/proc/{gw.status()['pid']}/status", encoding="ascii").read()
    assert int(next(line.split()[1] for line in status.splitlines() if line.startswith("CapPrm")), 16) == 1 << 12


def test_a_second_listener_is_no_reason_to_die(lab):
    """somebody else has the groups: said once, and all else works"""
    extra = dict(config(0), lines=[], remotes=[], segments=[], interfaces=[])
    with topo.temporary({"name": "taken", "nodes": {"gw": {"kind": "gateway", "config": extra}}, "links": []}) as other:
        gw = other.gateways["gw"]
        gw.stop()
        with netns.inside(gw.ns):
            taker = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 12)
        with taker:
            taker.bind((0, 0))
            taker.send(struct.pack("=IHHIIBBHHHB3x", 28, 4 << 8 | 1, 5, 1, 0, 0, 0, socket.htons(18007), 5, 1, 1))
            reply = taker.recv(4096)
            assert struct.unpack_from("=i", reply, 16)[0] == 0, errno.errorcode
            gw.boot()
            assert gw.status()["too_big"] is None
        assert gw.log_file.read_text().count("too big for bridged segments") == 1
