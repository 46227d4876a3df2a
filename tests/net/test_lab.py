# SPDX-License-Identifier: GPL-2.0-or-later
"""The lab and the probes themselves, on VXLAN made by hand: a probe that cannot fail proves nothing."""
import json
import os
import subprocess
import sys

import pytest

import hand
import netns
import probe
import process
import topo

LAB = os.path.join(os.path.dirname(topo.__file__), "lab.py")


def by_hand(label, **line):
    """h1 - g1 === line === g2 - h2, the gateways plain routers."""
    return {
        "name": label,
        "nodes": {"h1": {"addresses": {"eth0": ["10.99.0.1/24", "fd00:99::1/64"]}},
                  "h2": {"addresses": {"eth0": ["10.99.0.2/24", "fd00:99::2/64"]}},
                  "g1": {"kind": "router"}, "g2": {"kind": "router"}},
        "links": [{"name": "h1-g1", "ends": ["h1:eth0", "g1:eth2"]}, {"name": "h2-g2", "ends": ["h2:eth0", "g2:eth2"]},
                  {"name": "line", "ends": ["g1:eth1", "g2:eth1"], **line}],
    }


def overlay(lab, df="inherit", mtu=1500):
    ends = (("g1", "172.31.0.1/29", "10.255.0.1", "172.31.0.2", "10.255.1.1"), ("g2", "172.31.0.2/29", "10.255.1.1", "172.31.0.1", "10.255.0.1"))
    for node, address, vtep, far, far_vtep in ends:
        hand.underlay(lab.ns(node), "eth1", address, f"{vtep}/32", far, [far_vtep])
        hand.bridged(lab.ns(node), 100, vtep, [far_vtep], "eth2", df=df)
        if mtu != 1500:
            netns.ip(lab.ns(node), f"link set vx100 mtu {mtu}\n")
    return (lab.ns("h1"), "10.99.0.1"), (lab.ns("h2"), "10.99.0.2")


HIDDEN = {"hidden": {"mtu": 1400, "addresses": ["172.31.0.6/32"], "a": {"172.31.0.1": ["10.255.0.1"]}, "b": {"172.31.0.2": ["10.255.1.1"]}}}


@pytest.fixture(scope="module")
def plain():
    with topo.temporary(by_hand("plain")) as lab:
        yield lab, *overlay(lab)


def test_hidden_hop_is_a_real_router_that_answers_with_its_mtu():
    with topo.temporary(by_hand("hidden", **HIDDEN)) as lab:
        h1, h2 = overlay(lab)
        for a, b in ((h1, h2), (h2, h1)):
            seen = probe.path_mtu(a, b, 1500, until=1350)
            assert (seen.told, seen.learned, seen.fits) == (1350, 1350, True), seen


def test_path_mtu_probe_sees_a_black_hole():
    with topo.temporary(by_hand("hole")) as lab:
        # A VXLAN device of 1450 as a bridge port drops without a word.
        h1, h2 = overlay(lab, mtu=1450)
        seen = probe.path_mtu(h1, h2, 1500, timeout=1)
        assert seen.told is None and not seen.fits and seen.tries > 3, seen


def test_stream_counts_each_direction_and_nothing_without_a_failure(plain):
    lab, h1, h2 = plain
    flow = ("f", *h1, *h2)
    with probe.Stream(flow) as stream:
        quiet = stream.stop()
    assert probe.lost(quiet) == 0
    with probe.Stream(flow) as stream:
        lab.fail("line", "blackhole")
        assert not probe.ping(h1[0], h2[1], timeout=1)
        lab.heal("line")
        assert probe.ping(h1[0], h2[1])
        result = stream.stop()["f"]
    assert result["longest_gap"] > 500 and result["lost_forward"] > 500, result


def test_fail_down_takes_the_carrier_and_blackhole_does_not(plain):
    lab, h1, h2 = plain

    def carrier():
        return [",LOWER_UP" in netns.run("ip", "link", "show", "dev", "eth1", ns=lab.ns(n)).stdout for n in ("g1", "g2")]
    for mode, state in (("down", [False] * 2), ("blackhole", [True] * 2)):
        lab.fail("line", mode)
        assert process.wait_until(lambda s=state: carrier() == s, 3), (mode, carrier())
        assert not probe.ping(h1[0], h2[1], timeout=1)
        assert ("link", "line", f"failed: {mode}") in lab.status()
        lab.heal("line")
        assert process.wait_until(lambda: all(carrier()), 3)
        assert probe.ping(h1[0], h2[1], timeout=5)


def test_rate_is_kept():
    with topo.temporary(by_hand("rate", rate="20mbit")) as lab:
        h1, h2 = overlay(lab)
        n_bytes = 5_000_000
        seconds = probe.transfer(h1, h2, n_bytes, timeout=20)
        assert 8 * n_bytes / seconds < 25e6


def test_handshake_sees_both_mss(plain):
    lab, h1, h2 = plain
    seen = probe.handshake((h1[0], "eth0", h1[1]), (h2[0], "eth0", h2[1]), client_mss=1111)
    assert tuple(seen) == (1111, 1111, 1460, 1460)


def test_broadcasts_are_counted_by_copy(plain):
    lab, h1, h2 = plain
    with probe.Broadcasts((h1[0], "eth0"), (h2[0], "eth0")) as broadcasts:
        broadcasts.send(3)
        assert broadcasts.copies() == {(h2[0], "eth0"): {0: 1, 1: 1, 2: 1}}


def test_down_twice_and_after_a_crash_leaves_nothing():
    lab = topo.temporary(by_hand("crash"))
    lab.up()
    lab.down()
    lab.down()
    script = f"import sys; sys.path.insert(0, {os.path.dirname(topo.__file__)!r}); import os, topo; " \
             f"topo.temporary({by_hand('crash')!r}).up(); os.kill(os.getpid(), 9)"
    child = subprocess.Popen([sys.executable, "-B", "-c", script])
    child.wait()
    prefix = f"{topo.PREFIX}t{child.pid}-"
    assert netns.with_prefix(prefix), "the killed process had built nothing: this test proves nothing"
    topo.sweep()
    assert not netns.with_prefix(prefix)
    assert f"t{child.pid}-crash" not in topo.running_labs()


def test_routers_that_speak_bgp_come_up_with_the_lab_and_go_with_it():
    """two of a kind and one of each, also when the process that made them is killed"""
    session = "router bgp 65001\n no bgp ebgp-requires-policy\n neighbor 10.0.1.2 remote-as 65002\n neighbor 10.0.1.2 timers connect 1\nexit\n"
    bird = "router id 10.0.1.2; protocol device {} protocol bgp f { local as 65002; neighbor 10.0.1.1 as 65001; connect retry time 1; ipv4 { import all; export all; }; }"
    spec = {"name": "speak", "links": [{"name": "l", "ends": ["f:eth0", "b:eth0"]}], "nodes": {
        "f": {"kind": "router", "addresses": {"eth0": ["10.0.1.1/30"]}, "frr": {"bgpd": session}},
        "b": {"kind": "router", "addresses": {"eth0": ["10.0.1.2/30"]}, "bird": bird},
        "g": {"kind": "router", "gobgp": {"global": {"config": {"as": 65003, "router-id": "10.0.9.1"}}}}}}
    with topo.temporary(spec) as lab:
        lab.speakers["f"].wait_established("10.0.1.2")
        lab.speakers["b"].wait_established("f")
        lab.speakers["g"].announce("10.9.0.0/16")
        assert "10.9.0.0/16" in lab.speakers["g"].routes()
        pids = [p for n in spec["nodes"] for p in netns.pids(lab.ns(n))]
        assert len(pids) == 5
    assert not any(process.start_time(p) for p in pids)
    script = f"import sys; sys.path.insert(0, {os.path.dirname(topo.__file__)!r}); import os, netns, topo; lab = topo.temporary({spec!r}); " \
             f"lab.up(); print(*[p for n in {list(spec['nodes'])!r} for p in netns.pids(lab.ns(n))], flush=True); os.kill(os.getpid(), 9)"
    killed = subprocess.run([sys.executable, "-B", "-c", script], stdout=subprocess.PIPE, text=True, check=False, timeout=60)
    pids = [int(p) for p in killed.stdout.split()]
    assert len(pids) == 5 and all(process.start_time(p) for p in pids)
    topo.sweep()
    assert not any(process.start_time(p) for p in pids)


def test_sweep_leaves_living_labs_alone(plain):
    lab = plain[0]
    topo.sweep()
    assert lab.is_up()


@pytest.mark.parametrize("change, message", [
    ({"links": [{"name": "x", "ends": ["h1:eth0", "nobody:eth0"]}]}, "there is no node 'nobody'"),
    ({"links": [{"name": "x", "ends": ["h1:eth0", "h2:eth0"], "mut": 1}]}, "unknown key 'mut'"),
    ({"links": [{"name": "x", "ends": ["h1:eth0", "h1:eth0"]}]}, "is taken"),
    ({"nodes": {"h1": {"kind": "toaster"}}, "links": []}, "kind 'toaster'"),
    ({"nodes": {"h1": {"addresses": {"eth0": ["10.0.0.300/24"]}}}, "links": []}, "10.0.0.300"),
    ({"nodes": {"gw": {"kind": "gateway"}}, "links": []}, "needs a config"),
    ({"nodes": {"h1": {"kind": "host", "frr": {}}}, "links": []}, "only a router runs"),
    ({"name": "../etc"}, "is no name"),
])
def test_wrong_topologies_are_refused_by_name(change, message):
    with pytest.raises(topo.TopologyError, match=message):
        topo.Topology({**by_hand("wrong"), **change})


def test_lab_command_brings_up_runs_fails_heals_and_takes_down(tmp_path):
    path = tmp_path / "t.yaml"
    name = f"cmd{os.getpid()}"
    path.write_text(json.dumps(by_hand(name)), encoding="utf-8")

    def lab(*args):
        return subprocess.run([sys.executable, "-B", LAB, *args[:1], "--topology", str(path), *args[1:]], capture_output=True, text=True,
                              check=False, timeout=60)
    try:
        assert "is not up" in lab("status").stderr
        assert lab("up").returncode == 0
        assert name in lab("list").stdout
        done = lab("exec", "h1", "ip", "-br", "addr", "show", "eth0")
        assert done.returncode == 0 and "10.99.0.1/24" in done.stdout
        assert lab("fail", "line", "--mode", "blackhole").returncode == 0
        assert "failed: blackhole" in lab("status").stdout
        assert lab("heal", "line").returncode == 0
        assert "failed" not in lab("status").stdout
        assert "there is no link 'lime'" in lab("fail", "lime").stderr
    finally:
        assert lab("down").returncode == 0
        assert lab("down").returncode == 0
    assert not netns.with_prefix(f"{topo.PREFIX}{name}-")
