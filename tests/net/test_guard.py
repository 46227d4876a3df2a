# SPDX-License-Identifier: GPL-2.0-or-later
"""The guard: a VXLAN packet from a source that the VNI does not expect never reaches a device. Proved by frames that do not arrive,
beside one that does."""
import os

import pytest

import kernel
import netns
import probe
import sites

# device, host interface; the right source and destination of each outer family
IPV4 = ("vx10010", 10010, "eth0", "10.255.1.1", "10.255.0.1")
IPV6 = ("vx10030", 10030, "eth2", "fd00:255:1::1", "fd00:255::1")


class Attempt:
    """Sends one marked frame to gw1, from a namespace and source address; says where it showed up."""

    def __init__(self, pair, ns, source, to, vni, device, host_dev, size=16):
        token = os.urandom(size)
        with probe.Capture(pair.h1, host_dev) as at_host, probe.Capture(pair.gw1.ns, device) as at_device:
            probe.send_vxlan(ns, source, to, vni, probe.stray_frame(token))
            self.at_host = at_host.wait(lambda f: token in f.data, timeout=0.3) is not None
            self.at_device = at_device.wait(lambda f: token in f.data, timeout=0.05) is not None


@pytest.mark.parametrize("device, vni, dev, source, to", [IPV4, IPV6], ids=["ipv4", "ipv6"])
def test_the_remote_itself_is_heard(pair, device, vni, dev, source, to):
    """the control: without it the tests below would prove nothing"""
    seen = Attempt(pair, pair.gw2.ns, source, to, vni, device, dev)
    assert seen.at_host and seen.at_device


@pytest.mark.parametrize("device, vni, dev, source, to", [(*IPV4[:3], "172.31.1.2", IPV4[4]), (*IPV6[:3], "fd00:31:1::2", IPV6[4])],
                         ids=["ipv4", "ipv6"])
def test_an_unknown_source_never_reaches_a_device(pair, device, vni, dev, source, to):
    seen = Attempt(pair, pair.gw2.ns, source, to, vni, device, dev)
    assert not seen.at_host and not seen.at_device


@pytest.mark.parametrize("to", ["172.31.1.1", "172.31.1.3"], ids=["the line's address", "broadcast"])
def test_an_unknown_source_is_not_heard_at_other_addresses(pair, to):
    """the device's socket is bound to no address"""
    seen = Attempt(pair, pair.gw2.ns, "172.31.1.2", to, 10010, "vx10010", "eth0")
    assert not seen.at_host and not seen.at_device


@pytest.mark.parametrize("source, heard", [("10.255.1.1", True), ("172.31.1.2", False)], ids=["the remote", "unknown"])
def test_fragments_are_judged_by_their_first(pair, source, heard):
    """the device has the frame, however large; that it is too large for the host's MTU is not the guard's affair"""
    assert Attempt(pair, pair.gw2.ns, source, "10.255.0.1", 10010, "vx10010", "eth0", 2000).at_device == heard


def test_a_host_behind_the_gateway_cannot_speak_vxlan_to_it(pair):
    netns.run("ip", "route", "replace", "10.255.0.1", "via", "10.1.0.1", ns=pair.h1)
    seen = Attempt(pair, pair.h1, "10.1.0.11", "10.255.0.1", 10010, "vx10010", "eth0")
    assert not seen.at_host and not seen.at_device


@pytest.mark.parametrize("vni, device", [(10030, "vx10030"), (10011, "vx10010")], ids=["another segment's", "nobody's"])
def test_a_remote_with_a_vni_that_is_not_its_own_never_reaches_a_device(pair, vni, device):
    for dev in ("eth0", "eth2"):
        seen = Attempt(pair, pair.gw2.ns, "10.255.1.1", "10.255.0.1", vni, device, dev)
        assert not seen.at_host and not seen.at_device


def test_a_removed_remote_is_no_longer_heard(pair):
    config = sites.gateway_config("gw1")
    config["remotes"].append({"name": "other", "vtep": "10.255.9.9", "lines": ["line-a"]})
    sites.segment(config, "lan")["remotes"] = ["other"]
    pair.gw1.apply(sites.text(config))
    seen = Attempt(pair, pair.gw2.ns, "10.255.1.1", "10.255.0.1", 10010, "vx10010", "eth0")
    assert not seen.at_host and not seen.at_device


def test_drops_are_counted_where_an_operator_looks(pair):
    before = pair.gw1.show("filter")["guard"]["dropped-packets"]
    Attempt(pair, pair.gw2.ns, "172.31.1.2", "10.255.0.1", 10010, "vx10010", "eth0")
    assert pair.gw1.show("filter")["guard"]["dropped-packets"] == before + 1


def test_the_guard_is_back_after_a_flush(pair, wait_until):
    netns.run("nft", "flush", "ruleset", ns=pair.gw1.ns)
    assert wait_until(lambda: "fairway_" in kernel.ruleset(pair.gw1.ns), 1)
    seen = Attempt(pair, pair.gw2.ns, "172.31.1.2", "10.255.0.1", 10010, "vx10010", "eth0")
    assert not seen.at_host and not seen.at_device
