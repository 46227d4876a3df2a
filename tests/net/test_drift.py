# SPDX-License-Identifier: GPL-2.0-or-later
"""Drift: what somebody changes by hand is put back within a second, logged once, and shown."""
import pytest

import kernel
import netns
import probe
import process
import sites

DAMAGE = {
    "vxlan device deleted": "ip link del vx10010",
    "bridge deleted": "ip link del br10010",
    "routed vxlan device deleted": "ip link del vx10020",
    "vxlan device over ipv6 deleted": "ip link del vx10030",
    "vxlan device taken out of its bridge": "ip link set vx10010 nomaster",
    "vxlan device down": "ip link set vx10010 down",
    "member taken out of the bridge": "ip link set eth0 nomaster",
    "mtu of a vxlan device changed": "ip link set vx10010 mtu 1400",
    "mtu of a member changed": "ip link set eth0 mtu 1400",
    "df of a vxlan device changed": "ip link set vx10010 type vxlan df unset",
    "ttl of a vxlan device changed": "ip link set vx10010 type vxlan ttl 3",
    "line interface down": "ip link set line-a down",
    "all nft rules flushed": "nft flush ruleset",
    "replication entry deleted": "bridge fdb del 00:00:00:00:00:00 dev vx10010 dst 10.255.1.1",
    "replication entry over ipv6 deleted": "bridge fdb del 00:00:00:00:00:00 dev vx10030 dst fd00:255:1::1",
    "foreign replication entry added": "bridge fdb append 00:00:00:00:00:00 dev vx10010 dst 10.255.9.9",
    "static entry for a host added": "bridge fdb replace {mac} dev vx10010 dst 10.9.9.8 self static",
    "static entry for nobody added": "bridge fdb replace 02:00:00:00:00:99 dev vx10010 dst 10.9.9.8 self static",
    "port isolated": "bridge link set dev vx10010 isolated on",
    "port without broadcast": "bridge link set dev vx10010 bcast_flood off",
    "port without unknown unicast": "bridge link set dev vx10010 flood off",
    "port without multicast": "bridge link set dev vx10010 mcast_flood off",
    "port without learning": "bridge link set dev vx10010 learning off",
    "port locked": "bridge link set dev vx10010 locked on",
    "port suppresses neighbours": "bridge link set dev vx10010 neigh_suppress on",
    "port disabled": "bridge link set dev vx10010 state 0",
    "member isolated": "bridge link set dev eth0 isolated on",
    "member disabled": "bridge link set dev eth0 state 0",
    "spanning tree on": "ip link set br10010 type bridge stp_state 1",
    "ageing time of a bridge changed": "ip link set br10010 type bridge ageing_time 0",
    "vtep address removed": "ip addr del 10.255.0.1/32 dev lo",
    "ipv6 vtep address removed": "ip addr del fd00:255::1/128 dev lo",
    "interface address removed": "ip addr del 10.1.0.1/24 dev eth1",
    "ipv6 interface address removed": "ip addr del fd00:1::1/64 dev eth1",
    "line address removed": "ip addr del 172.31.1.1/30 dev line-a",
    "gateway address of a segment removed": "ip addr del 10.99.1.1/24 dev br10010",
    "route to a remote deleted": "ip route del 10.255.1.1/32",
    "ipv6 route to a remote deleted": "ip -6 route del fd00:255:1::1/128",
    "route of a segment deleted": "ip route del 10.2.0.0/24",
    "ipv6 route of a segment deleted": "ip -6 route del fd00:2::/64",
}


@pytest.mark.parametrize("name", DAMAGE)
def test_repaired_within_a_second_logged_once_and_shown(pair, name):
    gw = pair.gw1
    before = kernel.snapshot(gw.ns)
    repairs = gw.status()["repairs"]
    logged = len(repair_lines(gw))
    damage = DAMAGE[name].format(mac=kernel.links(pair.h2)["eth0"]["mac"])
    netns.run(*damage.split(), ns=gw.ns)
    assert process.wait_until(lambda: gw.status()["repairs"] > repairs, 1), "no repair within a second"
    # One repair may take a look or two more, where the kernel takes down more than was deleted.
    whole = process.wait_until(lambda: not kernel.difference(before, kernel.snapshot(gw.ns)), 1)
    assert whole, kernel.difference(before, kernel.snapshot(gw.ns))
    status = gw.wait_converged().status()
    assert status["last_repair"], status
    lines = repair_lines(gw)[logged:]
    assert len(lines) == status["repairs"] - repairs == 1, lines
    path = sites.path("lan6-ipv4" if "over ipv6" in name else "net-ipv6" if name.startswith(("route", "ipv6 route")) else "lan-ipv4")
    assert probe.ping(pair.h1, path.far[2], path.near[2])


def test_ports_isolated_from_each_other_lose_traffic_only_until_the_repair(pair):
    gw, path = pair.gw1, sites.path("lan-ipv4")
    gw.stop()
    for port in ("vx10010", "eth0"):
        netns.run("bridge", "link", "set", "dev", port, "isolated", "on", ns=gw.ns)
    assert not probe.ping(pair.h1, path.far[2], path.near[2], timeout=1)
    gw.boot()
    assert probe.ping(pair.h1, path.far[2], path.near[2], timeout=2)


def repair_lines(gw):
    return [line for line in gw.log().splitlines() if "repair" in line]


def test_other_segments_lose_nothing_while_one_is_repaired(pair):
    with probe.Stream(*pair.flows("lan-ipv4", "net-ipv4", "lan6-ipv4", "net6-ipv6")) as stream:
        for _ in range(5):
            repairs = pair.gw1.status()["repairs"]
            netns.run("ip", "link", "del", "vx10010", ns=pair.gw1.ns)
            assert process.wait_until(lambda n=repairs: pair.gw1.status()["repairs"] > n, 2)
        result = stream.stop(at_least=200)
    damaged = result.pop("lan-ipv4")
    assert probe.lost(result) == 0, result
    assert 0 < damaged["longest_gap"] < 1000, damaged


@pytest.mark.parametrize("key, value", [("net/ipv4/ip_forward", 0), ("net/ipv6/conf/all/forwarding", 0)])
def test_a_flipped_sysctl_is_put_back_at_the_next_regular_look(pair, key, value):
    """sysctls tell nobody: the look that comes every ten seconds sees them, if no event asked for one before"""
    netns.sysctl(pair.gw1.ns, key, value)
    assert process.wait_until(lambda: netns.sysctl(pair.gw1.ns, key) == "1", 12, 0.1)
    path = sites.path("net-ipv4")
    assert probe.ping(pair.h1, path.far[2], path.near[2], timeout=5)


def test_a_restart_on_a_converged_machine_plans_nothing_and_loses_nothing(pair):
    before = kernel.snapshot(pair.gw1.ns)
    with probe.Stream(*pair.flows("lan-ipv4", "net-ipv4", "lan6-ipv4", "net6-ipv6")) as stream:
        pair.gw1.stop()
        assert not kernel.difference(before, kernel.snapshot(pair.gw1.ns)), "stopping the daemon changed the kernel"
        pair.gw1.boot()
        result = stream.stop(at_least=200)
    assert probe.lost(result) == 0, result
    assert not kernel.difference(before, kernel.snapshot(pair.gw1.ns))
    assert pair.gw1.status()["repairs"] == 0
    assert not pair.gw1.plan()


def test_drift_while_nobody_watches_is_repaired_at_the_start(pair):
    before = kernel.snapshot(pair.gw1.ns)
    pair.gw1.kill()
    for damage in ("ip link del vx10010", "ip addr del 10.255.0.1/32 dev lo", "nft flush ruleset", "ip route del 10.2.0.0/24"):
        netns.run(*damage.split(), ns=pair.gw1.ns)
    pair.gw1.boot()
    assert not kernel.lasting_difference(before, pair.gw1.ns)
