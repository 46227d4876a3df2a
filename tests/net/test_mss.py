# SPDX-License-Identifier: GPL-2.0-or-later
"""TCP MSS, read from the SYN and the SYN-ACK at the host that receives them. Field cases 1, 2 and 3."""
import socket

import pytest

import netns
import probe
import sites
from conftest import kernel_has

PATHS = sites.paths()


def expected(path):
    """A 1500-byte line takes 50 bytes for VXLAN over IPv4 and 70 over IPv6; TCP/IP 40 and 60."""
    inner = 1430 if "6-" in path.label else 1450
    return (1440, inner - 60) if path.v6 else (1460, inner - 40)


@pytest.mark.parametrize("path", PATHS, ids=str)
def test_syn_and_syn_ack_are_clamped_in_both_directions(pair, path):
    """case 1: not only what leaves; case 3: per family"""
    sent, clamped = expected(path)
    for p in (path, path.reverse):
        seen = probe.handshake(pair.end(p.near), pair.end(p.far))
        assert tuple(seen) == (sent, clamped, sent, clamped), (p, seen)


@pytest.mark.parametrize("path", PATHS, ids=str)
def test_a_smaller_mss_is_never_raised(pair, path):
    sent, clamped = expected(path)
    seen = probe.handshake(pair.end(path.near), pair.end(path.far), client_mss=1200)
    assert tuple(seen) == (1200, 1200, sent, clamped), seen


LOCAL = [("lan", "10.99.1.1", "eth0", "10.99.1.21", 1410), ("lan", "fd00:99:1::1", "eth0", "fd00:99:1::21", 1390),
         ("lan6", "10.99.3.1", "eth2", "10.99.3.21", 1390), ("lan6", "fd00:99:3::1", "eth2", "fd00:99:3::21", 1370),
         ("net", "10.254.2.1", "eth1", "10.2.0.21", 1410), ("net", "fd00:254:2::1", "eth1", "fd00:2::21", 1390),
         ("net6", "10.254.4.1", "eth3", "10.4.0.21", 1390), ("net6", "fd00:254:4::1", "eth3", "fd00:4::21", 1370)]


@pytest.mark.parametrize("segment, local, dev, host, clamped", LOCAL, ids=lambda v: str(v))
def test_connections_of_the_gateway_itself_are_clamped(pair, segment, local, dev, host, clamped):
    """case 2: they pass output and input, not forward; whichever side opens the connection"""
    if segment.startswith("net"):
        add_return_route(pair, local, dev)
    far, gw = pair.lab.ns("h2"), pair.gw1.ns
    with probe.Capture(far, dev) as capture, probe.listen(far, host) as listener:
        with probe.connect(gw, local, listener.getsockname()) as client:
            listener.accept()[0].close()
            syn = capture.wait(lambda f: f.is_syn and not f.outgoing)
            assert syn and syn.mss == clamped
            assert sending_mss(client) <= clamped
    with probe.Capture(far, dev) as capture, probe.listen(gw, local) as listener:
        with probe.connect(far, host, listener.getsockname()):
            served = listener.accept()[0]
            answer = capture.wait(lambda f: f.is_syn and f.is_ack and not f.outgoing)
            assert answer and answer.mss == clamped
            assert sending_mss(served) <= clamped
            served.close()


def add_return_route(pair, local, dev):
    """The far host knows its gateway for the transit network too."""
    me = dev == "eth1"
    via = ("fd00:2::1" if me else "fd00:4::1") if ":" in local else ("10.2.0.1" if me else "10.4.0.1")
    netns.run("ip", "route", "replace", local, "via", via, ns=pair.h2)


def sending_mss(sock):
    """What this end puts into a segment at most, options included. (The kernel's timestamps take 12 bytes.)"""
    return sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG)


@pytest.mark.parametrize("mss, ipv4, ipv6", [(1300, 1300, 1300), ({"ipv4": 1360, "ipv6": 1340}, 1360, 1340), (0, 1460, 1440)],
                         ids=["number", "per family", "off"])
@pytest.mark.parametrize("name", ["lan", "net"])
def test_mss_can_be_overridden_in_place(pair, name, mss, ipv4, ipv6):
    config = sites.gateway_config("gw1")
    sites.segment(config, name)["mss"] = mss
    pair.gw1.apply(sites.text(config))
    config = sites.gateway_config("gw2")
    sites.segment(config, name)["mss"] = mss
    pair.gw2.apply(sites.text(config))
    for label, want in ((f"{name}-ipv4", ipv4), (f"{name}-ipv6", ipv6)):
        path = sites.path(label)
        seen = probe.handshake(pair.end(path.near), pair.end(path.far))
        assert (seen.syn_seen, seen.synack_seen) == (want, want), (label, seen)


def test_tenants_in_a_vrf_are_clamped(pair):
    kernel_has("VRF", "ip", "link", "add", "v", "type", "vrf", "table", "1000")
    config = sites.gateway_config("gw1")
    config["tenants"] = [{"name": "t", "table": 1000}]
    sites.segment(config, "lan")["tenant"] = "t"
    pair.gw1.apply(sites.text(config))
    path = sites.path("lan-ipv4")
    assert probe.handshake(pair.end(path.near), pair.end(path.far)).syn_seen == 1410
