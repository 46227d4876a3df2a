# SPDX-License-Identifier: GPL-2.0-or-later
"""Checksums inside VXLAN, read on the line: a network card that gets them wrong must not get to compute them. Field case 15."""
import contextlib

import pytest

import netns
import probe
import process
import sites


def config(offload):
    spec = sites.gateway_config("gw1")
    spec["vtep"]["checksum-offload"] = offload
    return sites.text(spec)


def inner_frames(pair, path):
    """Inner frames with TCP or UDP that gw1 sends over its lines while a host talks."""
    outer_source = sites.VTEP["gw1"]["6-" in path.label]
    with contextlib.ExitStack() as stack:
        captures = [stack.enter_context(probe.Capture(pair.lab.provider_ns(pair.lab.topology.links[n]), "port-a")) for n in ("line-a", "line-b")]
        probe.transfer(pair.address(path.near), pair.address(path.far), 100_000)
        assert probe.udp_arrives(pair.address(path.near), pair.address(path.far), 500)
        outer = [f for c in captures for f in c.frames(0.1) if f.src == outer_source and f.protocol == 17 and 4789 in f.ports]
    inner = [f.inner[0] for f in outer]
    return [f for f in inner if f.protocol in (6, 17) and not f.fragment]


LABELS = ["lan-ipv4", "lan-ipv6", "net-ipv4", "net-ipv6", "lan6-ipv4", "net6-ipv6"]


@pytest.mark.parametrize("label", LABELS)
def test_without_offload_every_inner_checksum_on_the_line_is_right(pair, label):
    pair.gw1.apply(config(False))
    frames = inner_frames(pair, sites.path(label))
    assert {f.protocol for f in frames} == {6, 17}
    assert len(frames) > 20
    assert all(f.checksum_ok() for f in frames)


def test_with_offload_the_card_is_left_to_do_it(pair):
    """the control: on virtual links nobody fills it in, so the capture above can tell the difference"""
    pair.gw1.apply(config(True))
    assert not all(f.checksum_ok() for f in inner_frames(pair, sites.path("lan-ipv4")))


def tx_checksum(ns, device):
    lines = netns.run("ethtool", "-k", device, ns=ns).stdout.splitlines()
    return next(line for line in lines if line.startswith("tx-checksumming")).split()[1]


def test_the_quirk_survives_drift_and_restart(pair):
    gw = pair.gw1
    gw.apply(config(False))
    for device in ("vx10010", "vx10020", "vx10030", "vx10040"):
        assert tx_checksum(gw.ns, device) == "off"
        netns.run("ethtool", "-K", device, "tx", "on", ns=gw.ns)
        assert process.wait_until(lambda d=device: tx_checksum(gw.ns, d) == "off", 1), device
    netns.run("ip", "link", "del", "vx10010", ns=gw.ns)
    assert process.wait_until(lambda: "vx10010" in netns.run("ip", "-br", "link", ns=gw.ns).stdout, 1)
    gw.wait_converged()
    assert tx_checksum(gw.ns, "vx10010") == "off"
    gw.kill()
    gw.boot()
    assert tx_checksum(gw.ns, "vx10010") == "off"
    assert all(f.checksum_ok() for f in inner_frames(pair, sites.path("lan-ipv4")))
