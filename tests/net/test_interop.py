# SPDX-License-Identifier: GPL-2.0-or-later
"""The far end is not Fairway: VXLAN by `ip link`, a cloud's layer 2 connection (one static tunnel, one VNI, the same subnet on both
sides), and Open vSwitch's user-space datapath."""
import pathlib

import pytest

import hand
import kernel
import netns
import probe
import topo


def config(far_vtep):
    line = {"name": "a", "interface": "line", "address": "172.31.0.1/30", "peer-address": "172.31.0.2",
            "address6": "fd00:31::1/64", "peer-address6": "fd00:31::2"}
    return {"system": {"hostname": "gw"}, "lines": [line], "vtep": {"address": "10.255.0.1", "address6": "fd00:255::1"},
            "remotes": [{"name": "far", "vtep": far_vtep, "lines": ["a"]}],
            "segments": [{"name": "lan", "vni": 5010, "mode": "bridged", "members": ["lan"], "remotes": ["far"]}]}


def topology(label, far_vtep):
    return {
        "name": label,
        "nodes": {"h1": {"addresses": {"eth0": ["10.0.0.1/24", "fd00:10::1/64"]}}, "gw": {"kind": "gateway", "config": config(far_vtep)},
                  "peer": {"kind": "router"}, "h2": {"addresses": {"eth0": ["10.0.0.2/24", "fd00:10::2/64"]}}},
        "links": [{"name": "h1", "ends": ["h1:eth0", "gw:lan"]}, {"name": "h2", "ends": ["h2:eth0", "peer:lan"]},
                  {"name": "line", "ends": ["gw:line", "peer:line"]}],
    }


def by_hand(lab):
    peer = lab.ns("peer")
    hand.underlay(peer, "line", "172.31.0.2/30", "10.255.1.1/32", "172.31.0.1", ["10.255.0.1"])
    hand.bridged(peer, 5010, "10.255.1.1", ["10.255.0.1"], "lan")


def by_hand_ipv6(lab):
    peer = lab.ns("peer")
    hand.underlay(peer, "line", "fd00:31::2/64", "fd00:255:1::1/128", "fd00:31::1", ["fd00:255::1"])
    hand.bridged(peer, 5010, "fd00:255:1::1", ["fd00:255::1"], "lan")


def l2_connection(lab):
    """A cloud's enterprise switch: its tunnel address is a service of the cloud behind the line."""
    peer = lab.ns("peer")
    hand.underlay(peer, "line", "172.31.0.2/30", "10.200.0.5/32", "172.31.0.1", ["10.255.0.1"])
    hand.point_to_point(peer, 5010, "10.200.0.5", "10.255.0.1", "lan")


FAR = {"ip link": ("10.255.1.1", by_hand, 50), "ip link over ipv6": ("fd00:255:1::1", by_hand_ipv6, 70),
       "l2 connection": ("10.200.0.5", l2_connection, 50)}


@pytest.fixture(scope="module", params=FAR)
def lab(request):
    vtep, make, overhead = FAR[request.param]
    with topo.temporary(topology("interop", vtep)) as found:
        make(found)
        yield found, overhead


def host(lab, name, v6=False):
    n = name[-1]
    return lab.ns(name), "eth0", f"fd00:10::{n}" if v6 else f"10.0.0.{n}"


@pytest.mark.parametrize("v6", [False, True], ids=["ipv4", "ipv6"])
def test_everything_works_towards_it(lab, v6):
    """reach, TCP, MSS in both directions, path MTU, datagrams without DF"""
    lab, overhead = lab
    a, b = host(lab, "h1", v6), host(lab, "h2", v6)
    headers, inner = (60 if v6 else 40), 1500 - overhead
    assert probe.ping(a[0], b[2])
    for near, far in ((a, b), (b, a)):
        seen = probe.handshake(near, far)
        assert (seen.syn_seen, seen.synack_seen) == (inner - headers, inner - headers), seen
    probe.transfer(a[::2], b[::2], 2_000_000)
    assert probe.udp_arrives(a[::2], b[::2], 2000, attempts=5 if v6 else 1)
    probe.forget_path_mtu(a[0])
    for near, far in ((a, b), (b, a)):
        seen = probe.path_mtu(near[::2], far[::2], 1500)
        assert (seen.told, seen.learned, seen.fits) == (inner, inner, True), seen
    assert probe.udp_arrives(b[::2], a[::2], 2000, attempts=5 if v6 else 1)


def test_a_broadcast_arrives_once_each_way(lab):
    lab, _ = lab
    for a, b in (("h1", "h2"), ("h2", "h1")):
        with probe.Broadcasts((lab.ns(a), "eth0"), (lab.ns(b), "eth0")) as broadcasts:
            broadcasts.send(10)
            assert broadcasts.copies() == {(lab.ns(b), "eth0"): dict.fromkeys(range(10), 1)}


def test_the_far_end_is_learned_from_traffic(lab):
    lab, _ = lab
    mac = kernel.links(lab.ns("h2"))["eth0"]["mac"]
    assert probe.ping(lab.ns("h1"), "10.0.0.2")
    assert mac in netns.run("bridge", "fdb", "show", "dev", "vx5010", ns=lab.ns("gw")).stdout


# --- Open vSwitch -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def ovs():
    if not pathlib.Path("/usr/sbin/ovs-vswitchd").exists():
        pytest.skip("Open vSwitch is not installed (openvswitch-switch)")
    if not pathlib.Path("/dev/net/tun").exists():
        pytest.skip("this kernel has no TUN/TAP, which Open vSwitch's user-space datapath needs")
    with topo.temporary(topology("ovs", "172.31.0.2")) as lab:
        # User-space datapaths see frames before a card would have filled in checksums: the sender has to.
        for ns, dev in ((lab.ns("h2"), "eth0"), (lab.ns("gw"), "line")):
            netns.run("ethtool", "-K", dev, "tx", "off", ns=ns)
        with hand.OpenVSwitch(lab.ns("peer"), lab.folder / "ovs") as switch:
            bridges(switch, lab.ns("peer"))
            yield lab, switch


def bridges(switch, ns):
    """br-phy has the line and the tunnel's address, br-int the hosts and the tunnel."""
    switch.vsctl("add-br", "br-phy", "--", "set", "bridge", "br-phy", "datapath_type=netdev")
    netns.ip(ns, "addr flush dev line\n")
    switch.vsctl("add-port", "br-phy", "line")
    netns.ip(ns, "addr add 172.31.0.2/30 dev br-phy\nlink set br-phy up\nroute add 10.255.0.1/32 via 172.31.0.1\n")
    switch.vsctl("add-br", "br-int", "--", "set", "bridge", "br-int", "datapath_type=netdev")
    switch.vsctl("add-port", "br-int", "lan")
    switch.vsctl("add-port", "br-int", "vx0", "--", "set", "interface", "vx0", "type=vxlan", "options:remote_ip=10.255.0.1",
                 "options:local_ip=172.31.0.2", "options:key=5010")


@pytest.mark.parametrize("v6", [False, True], ids=["ipv4", "ipv6"])
def test_open_vswitch(ovs, v6):
    """reach, TCP both ways with the clamped MSS, and what a DF sender learns"""
    lab, _ = ovs
    a, b = host(lab, "h1", v6), host(lab, "h2", v6)
    headers = 60 if v6 else 40
    assert probe.ping(a[0], b[2], timeout=15)
    for near, far in ((a, b), (b, a)):
        seen = probe.handshake(near, far)
        assert (seen.syn_seen, seen.synack_seen) == (1450 - headers, 1450 - headers), seen
    probe.transfer(a[::2], b[::2], 500_000, timeout=20)
    seen = probe.path_mtu(a[::2], b[::2], 1500)
    assert (seen.told, seen.learned, seen.fits) == (1450, 1450, True), seen
