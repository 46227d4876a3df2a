# SPDX-License-Identifier: GPL-2.0-or-later
"""Hosts reach each other through the overlay, over all lines, and each broadcast arrives exactly once."""
import pytest

import kernel
import probe
import sites
import topo

PATHS = sites.paths()


@pytest.mark.parametrize("path", PATHS, ids=str)
def test_hosts_reach_each_other(pair, path):
    """bridged and routed, IPv4 and IPv6, over IPv4 and over IPv6"""
    for p in (path, path.reverse):
        assert probe.ping(pair.lab.ns(p.near[0]), p.far[2], p.near[2])


@pytest.mark.parametrize("path", PATHS, ids=str)
def test_tcp_bytes_arrive_both_ways(pair, path):
    probe.transfer(pair.address(path.near), pair.address(path.far), 2_000_000)


@pytest.mark.parametrize("line", ["line-a", "line-b"])
def test_a_line_that_loses_its_carrier_is_left(pair, line):
    """traffic goes on over the other line, of all segments, within a second"""
    with probe.Stream(*pair.flows()) as stream:
        pair.lab.fail(line)
        try:
            ok = {p.label: probe.ping(pair.lab.ns(p.near[0]), p.far[2], timeout=3) for p in PATHS}
        finally:
            pair.lab.heal(line)
        result = stream.stop()
    assert all(ok.values()), ok
    assert max(f["longest_gap"] for f in result.values()) < 1000, result
    for p in PATHS:
        assert probe.ping(pair.lab.ns(p.near[0]), p.far[2], timeout=5), p
    for gw in (pair.gw1, pair.gw2):
        gw.wait_converged()


def test_lines_share_traffic(pair):
    """flows of different ports use both lines"""
    providers = [(pair.lab.provider_ns(pair.lab.topology.links[n]), "port-b") for n in ("line-a", "line-b")]
    path = sites.path("lan-ipv4")
    before = [kernel.received(*p) for p in providers]
    for _ in range(40):
        assert probe.udp_arrives(pair.address(path.far), pair.address(path.near), 100)
    after = [kernel.received(*p) for p in providers]
    assert all(b - a > 5 for a, b in zip(before, after)), (before, after)


# --- three sites ------------------------------------------------------------------------------------------------------


def spoke(n):
    return {"system": {"hostname": f"gw{n}"}, "vtep": {"address": f"10.255.{n}.1"},
            "lines": [{"name": "line", "interface": "line", "address": f"172.31.{n}.2/30", "peer-address": f"172.31.{n}.1"}],
            "remotes": [{"name": "hub", "vtep": "10.255.0.1", "lines": ["line"]}],
            "segments": [{"name": "lan", "vni": 100, "mode": "bridged", "members": ["eth0"], "remotes": ["hub"]}]}


HUB = {"system": {"hostname": "hub"}, "vtep": {"address": "10.255.0.1"},
       "lines": [{"name": f"l{n}", "interface": f"l{n}", "address": f"172.31.{n}.1/30", "peer-address": f"172.31.{n}.2"} for n in (1, 2)],
       "remotes": [{"name": f"r{n}", "vtep": f"10.255.{n}.1", "lines": [f"l{n}"]} for n in (1, 2)],
       "segments": [{"name": "lan", "vni": 100, "mode": "bridged", "members": ["eth0", "eth1"], "remotes": ["r1", "r2"]}]}

THREE = {
    "name": "three",
    "nodes": {"hub": {"kind": "gateway", "config": HUB}, "gw1": {"kind": "gateway", "config": spoke(1)},
              "gw2": {"kind": "gateway", "config": spoke(2)},
              **{h: {"addresses": {"eth0": [f"10.0.0.{n}/24"]}} for n, h in enumerate(("ha", "hb", "h1", "h2"), 1)}},
    "links": [{"name": "ha", "ends": ["ha:eth0", "hub:eth0"]}, {"name": "hb", "ends": ["hb:eth0", "hub:eth1"]},
              {"name": "h1", "ends": ["h1:eth0", "gw1:eth0"]}, {"name": "h2", "ends": ["h2:eth0", "gw2:eth0"]},
              {"name": "l1", "ends": ["hub:l1", "gw1:line"]}, {"name": "l2", "ends": ["hub:l2", "gw2:line"]}],
}


@pytest.fixture(scope="module")
def three():
    with topo.temporary(THREE) as lab:
        # A bridge port begins to forward when the kernel has noticed that its link is up: a moment later.
        assert all(probe.ping(lab.ns("ha"), f"10.0.0.{n}") for n in (2, 3, 4))
        yield lab


def test_each_broadcast_arrives_once_at_every_remote_and_member(three):
    others = [(three.ns(h), "eth0") for h in ("hb", "h1", "h2")]
    with probe.Broadcasts((three.ns("ha"), "eth0"), *others) as broadcasts:
        broadcasts.send(20)
        assert broadcasts.copies() == {o: dict.fromkeys(range(20), 1) for o in others}


def test_a_broadcast_from_a_remote_is_not_sent_on_to_other_remotes(three):
    """head-end replication: who sends, sends to all; forwarding VXLAN to VXLAN would loop"""
    hub_hosts, other = [(three.ns(h), "eth0") for h in ("ha", "hb")], (three.ns("h2"), "eth0")
    with probe.Broadcasts((three.ns("h1"), "eth0"), *hub_hosts, other) as broadcasts:
        broadcasts.send(20)
        assert broadcasts.copies() == {**{o: dict.fromkeys(range(20), 1) for o in hub_hosts}, other: dict.fromkeys(range(20), 0)}


def test_known_macs_are_sent_to_their_remote_only(three):
    """`macs:` needs no learning: a unicast frame goes to the remote that has it, and to no other"""
    config = sites.changed(HUB)
    mac = kernel.links(three.ns("h1"))["eth0"]["mac"]
    config["segments"][0]["macs"] = [{"mac": mac, "remote": "r1"}]
    hub = three.gateways["hub"]
    hub.apply(sites.text(config))
    assert ("vx100", mac, "10.255.1.1") in kernel.fdb(hub.ns, "vx100")
    with probe.Capture(three.ns("h2"), "eth0") as elsewhere:
        assert probe.ping(three.ns("ha"), "10.0.0.3")
        assert not [f for f in elsewhere.frames(0.1) if not f.outgoing and f.protocol == 1]
    hub.apply(sites.text(HUB))
    assert ("vx100", mac, "10.255.1.1") not in kernel.fdb(hub.ns, "vx100")
