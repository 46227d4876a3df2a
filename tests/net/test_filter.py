# SPDX-License-Identifier: GPL-2.0-or-later
"""The nft subsystem with the tables that real configs mean: loaded, converged, changed in place, shown, taken down."""
import json
import os
import socket

import pytest

import gateway
import netns

SELFTEST = gateway.BUILD / "tests/net/filter_selftest"
EXAMPLES = sorted((gateway.ROOT / "config/examples/good").glob("*.yaml"))
NOTHING = "nothing to do\n"

CONFIG = """
system: {{hostname: gw, site: here, role: gateway}}
lines:
  - {{name: a, interface: eth1, address: 172.31.0.1/30, peer-address: 172.31.0.2, mtu: {mtu}}}
vtep: {{address: 10.255.0.1, address6: "fd00:255::1"}}
remotes:
  - {{name: far, vtep: 10.255.1.1, lines: [a]}}
  - {{name: far6, vtep: "fd00:255:1::1", lines: [a]}}
segments:
{segments}
"""
SEGMENT = "  - {{name: s{vni}, vni: {vni}, mode: {mode}, remotes: [{remote}]}}\n"


@pytest.fixture
def ns():
    name = f"fwfil{os.getpid()}"
    netns.delete(name)
    netns.create(name)
    yield name
    netns.delete(name)


@pytest.fixture
def config(tmp_path):
    def write(*segments, mtu=1500):
        path = tmp_path / "fairway.yaml"
        text = "".join(SEGMENT.format(vni=vni, mode=mode, remote=remote) for vni, mode, remote in segments)
        path.write_text(CONFIG.format(segments=text, mtu=mtu), encoding="utf-8")
        return path
    return write


def run(ns, *args):
    return netns.run(SELFTEST, *args, ns=ns).stdout


def show(ns, path):
    return json.loads(run(ns, "show", path))


ONE, TWO, THREE = (10010, "bridged", "far"), (10020, "routed", "far"), (10030, "bridged", "far6")


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda p: p.stem)
def test_examples_converge(ns, example):
    run(ns, "apply", example)
    assert run(ns, "plan", example) == NOTHING
    run(ns, "down")
    assert netns.run("nft", "list", "ruleset", ns=ns).stdout == ""


def test_one_more_segment_is_only_elements(ns, config):
    run(ns, "apply", config(ONE, TWO))
    out = run(ns, "plan", config(ONE, TWO, (10011, "bridged", "far")))
    assert "+ the VXLAN sources: add 10.255.1.1 . 10011 " in out
    assert '+ the MSS clamp (IPv4 to 1410, in): add "vx10011" ' in out
    assert "table" not in out
    run(ns, "apply", config(ONE, TWO, (10011, "bridged", "far")))
    assert run(ns, "plan", config(ONE, TWO, (10011, "bridged", "far"))) == NOTHING
    out = run(ns, "apply", config(ONE, TWO))
    assert "- the VXLAN sources: remove 10.255.1.1 . 10011 " in out
    assert run(ns, "plan", config(ONE, TWO)) == NOTHING


def test_ipv6_remote(ns, config):
    run(ns, "apply", config(ONE))
    assert "add fd00:255:1::1 . 10030 " in run(ns, "apply", config(ONE, THREE))
    assert run(ns, "plan", config(ONE, THREE)) == NOTHING


def test_another_mtu_converges(ns, config):
    run(ns, "apply", config(ONE, TWO))
    assert "replace" in run(ns, "apply", config(ONE, TWO, mtu=9000))
    assert run(ns, "plan", config(ONE, TWO, mtu=9000)) == NOTHING


def test_show(ns, config):
    path = config(ONE, TWO)
    assert show(ns, path)["tables"] == []
    run(ns, "apply", path)
    netns.nft(ns, "table inet fairway_mine\n"
                  'delete element bridge fairway_bridge clamp_in4_1410 { "vx10010" }\n'
                  'add element bridge fairway_bridge clamp_in4_1410 { "vx10010" counter packets 5 bytes 300 }\n'
                  'delete element bridge fairway_bridge clamp_out6_1390 { "vx10010" }\n'
                  'add element bridge fairway_bridge clamp_out6_1390 { "vx10010" counter packets 2 bytes 160 }\n'
                  'delete element inet fairway_mss clamp_out4_1410 { "vx10020" }\n'
                  'add element inet fairway_mss clamp_out4_1410 { "vx10020" counter packets 1 bytes 60 }\n')
    assert run(ns, "plan", path) == NOTHING
    shown = show(ns, path)
    assert [(t["family"], t["name"]) for t in shown["tables"]] == [
        ("bridge", "fairway_bridge"), ("inet", "fairway_guard"), ("inet", "fairway_mss")]
    assert all(t["rules"] > 0 and t["elements"] > 0 for t in shown["tables"])
    assert shown["guard"] == {"dropped-packets": 0, "dropped-bytes": 0}
    assert shown["clamp"] == [{"segment": "s10010", "packets": 7, "bytes": 460}, {"segment": "s10020", "packets": 1, "bytes": 60}]


def test_show_counts_what_the_guard_dropped(ns, config):
    """A VXLAN packet from nowhere, sent by the namespace to itself."""
    path = config(ONE)
    run(ns, "apply", path)
    netns.ip(ns, "addr add 10.255.0.1/32 dev lo\n")
    with netns.inside(ns):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.sendto(bytes(50), ("10.255.0.1", 4789))
    assert show(ns, path)["guard"] == {"dropped-packets": 1, "dropped-bytes": 78}
