# SPDX-License-Identifier: GPL-2.0-or-later
"""Apply: the same again does nothing, a change touches only what differs, a bad file or a failing step changes nothing.
Field cases 9, 10, 23, 24, 26, 27 and 28."""
import random
import select
import subprocess

import pytest

import gateway
import kernel
import netns
import probe
import process
import sites

STREAMS = ("lan-ipv4", "net-ipv4", "lan6-ipv6", "net6-ipv6")


def config():
    return sites.gateway_config("gw1")


def nothing_lost(stream):
    result = stream.stop(at_least=200)
    assert probe.lost(result) == 0, result


# --- the same again ---------------------------------------------------------------------------------------------------


def test_the_same_file_twice_plans_nothing_and_loses_nothing(pair):
    with probe.Stream(*pair.flows(*STREAMS)) as stream:
        for _ in range(5):
            done = pair.gw1.apply(sites.text(config()))
            assert "nothing to do" in done.stdout, done.stdout
            assert not pair.gw1.plan()
        nothing_lost(stream)


def test_a_value_equal_to_its_default_is_no_difference(pair):
    """case 28"""
    spelled = config()
    spelled["vtep"].update({"port": 4789, "assign": True, "checksum-offload": True})
    for line in spelled["lines"]:
        line.update({"mtu": 1500, "enabled": True, "tier": "dedicated", "provider": "generic"})
    for s in spelled["segments"]:
        s.update({"df": "inherit", "tos": "inherit", "ttl": 64, "mss": "auto", "mtu": "auto"})
    assert "nothing to do" in pair.gw1.apply(sites.text(spelled)).stdout


def test_order_in_the_file_is_no_difference(pair):
    """case 10"""
    shuffled = config()
    rng = random.Random(1)
    for key in ("interfaces", "lines", "remotes", "segments"):
        rng.shuffle(shuffled[key])
    shuffled = dict(reversed(list(shuffled.items())))
    assert "nothing to do" in pair.gw1.apply(sites.text(shuffled)).stdout


# --- small changes ----------------------------------------------------------------------------------------------------


LIVE = {
    "ttl": lambda s: s.update(ttl=32),
    "tos": lambda s: s.update(tos=16),
    "df": lambda s: s.update(df="unset"),
    "mss": lambda s: s.update(mss=1300),
    "mtu": lambda s: s.update(mtu=1400),
    "description": lambda s: s.update(description="x"),
    "name": lambda s: s.update(name="renamed"),
}


@pytest.mark.parametrize("what", LIVE)
@pytest.mark.parametrize("segment", ["lan", "net"])
def test_what_can_change_in_place_does(pair, segment, what):
    """case 9: the device stays, with its counters, and its own traffic goes on"""
    changed = config()
    spec = sites.segment(changed, segment)
    device = f"vx{spec['vni']}"
    before = kernel.snapshot(pair.gw1.ns)
    LIVE[what](spec)
    with DeletedLinks(pair.gw1.ns) as deleted, probe.Stream(*pair.flows(*STREAMS)) as stream:
        pair.gw1.apply(sites.text(changed))
        nothing_lost(stream)
    assert device not in deleted.names()
    # The same file is the same machine, wherever it came from.
    pair.gw1.apply(sites.text(config()))
    assert not kernel.lasting_difference(before, pair.gw1.ns)


class DeletedLinks:
    """Names of links that the kernel said were deleted, by `ip monitor`."""

    def __init__(self, ns):
        self.ns, self.out = ns, ""

    def __enter__(self):
        with netns.inside(self.ns):
            self.monitor = subprocess.Popen(["ip", "-o", "monitor", "link"], stdout=subprocess.PIPE, text=True)
        assert process.wait_until(self._listens, 5), "ip monitor hears nothing"
        return self

    def _listens(self):
        """What comes before it listens is lost, so it is told again until it has heard something."""
        netns.ip(self.ns, "link add probe0 type bridge\nlink del probe0\n")
        return bool(select.select([self.monitor.stdout], [], [], 0.05)[0])

    def __exit__(self, *exc):
        self.monitor.terminate()
        self.out = self.monitor.communicate(timeout=10)[0]

    def names(self):
        lines = [line for line in self.out.splitlines() if line.startswith("Deleted")]
        return {line.split(": ")[1].split("@")[0] for line in lines if ": " in line}


def test_deleting_one_mapping_leaves_the_others(pair):
    """case 9: of a device with several remotes and MACs, one goes"""
    full = config()
    full["remotes"] += [{"name": f"r{i}", "vtep": f"10.255.8.{i}", "lines": ["line-a"]} for i in range(1, 6)]
    lan = sites.segment(full, "lan")
    lan["remotes"] += [f"r{i}" for i in range(1, 6)]
    lan["macs"] = [{"mac": f"02:00:00:00:01:{i:02x}", "remote": f"r{i}"} for i in range(1, 6)]
    pair.gw1.apply(sites.text(full))
    before = kernel.fdb(pair.gw1.ns, "vx10010")
    assert len(before) == 11
    lan["macs"] = [m for m in lan["macs"] if m["remote"] != "r3"]
    lan["remotes"].remove("r3")
    with probe.Stream(*pair.flows("lan-ipv4")) as stream:
        pair.gw1.apply(sites.text(full))
        nothing_lost(stream)
    gone = {("vx10010", "00:00:00:00:00:00", "10.255.8.3"), ("vx10010", "02:00:00:00:01:03", "10.255.8.3")}
    assert before - kernel.fdb(pair.gw1.ns, "vx10010") == gone
    assert kernel.fdb(pair.gw1.ns, "vx10010") < before


def test_what_must_be_recreated_is_announced_and_only_that(pair):
    """case 9: a new VNI is a new device; the plan names the segment, the others lose nothing"""
    changed = config()
    sites.segment(changed, "lan")["vni"] = 10011
    path = pair.gw1.folder / "planned.yaml"
    path.write_text(sites.text(changed), encoding="utf-8")
    said = pair.gw1.call("plan", path).stdout
    assert "segment lan" in said and "interrupts" in said, said
    others = [label for label in STREAMS if not label.startswith("lan-")]
    with probe.Stream(*pair.flows(*others)) as stream:
        pair.gw1.apply(sites.text(changed))
        nothing_lost(stream)
    links = kernel.links(pair.gw1.ns)
    assert "vx10011" in links and "vx10010" not in links


def test_a_line_taken_from_a_remote_and_given_back_loses_nothing(pair):
    with probe.Stream(*pair.flows(*STREAMS)) as stream:
        for change in (without_line_b, lambda spec: spec):
            for gw, name in ((pair.gw1, "gw1"), (pair.gw2, "gw2")):
                gw.apply(sites.text(change(sites.gateway_config(name))))
        nothing_lost(stream)


def without_line_b(spec):
    for remote in spec["remotes"]:
        remote["lines"] = ["line-a"]
    return spec


# --- order of events --------------------------------------------------------------------------------------------------


def test_a_member_that_comes_later_is_taken_in(pair):
    """case 10: what a segment needs may appear after it"""
    later = config()
    sites.segment(later, "lan")["members"].append("late")
    done = pair.gw1.apply(sites.text(later), expect=None)
    assert done.returncode in (gateway.OK, gateway.REFUSED, gateway.ROLLED_BACK)
    if done.returncode != gateway.OK:
        assert "late" in done.stdout + done.stderr, "refused, without the name of what is missing"
        boot_with(pair.gw1, later)
    try:
        netns.ip(pair.gw1.ns, "link add late type veth peer name late-peer\n")
        assert process.wait_until(lambda: kernel.links(pair.gw1.ns)["late"]["master"] == "br10010", 3)
        pair.gw1.wait_converged()
    finally:
        netns.ip(pair.gw1.ns, "link del late\n")


def boot_with(gw, spec):
    """A machine that boots with a config before all of its interfaces are there."""
    gw.kill()
    gw.install(sites.text(spec))
    gw.start()
    assert process.wait_until(gw.status, 5)


# --- all or nothing ---------------------------------------------------------------------------------------------------


def test_a_step_that_fails_brings_the_previous_config_back(pair):
    """case 23: a member that the kernel refuses, found only when it is tried; everything else of the file is fine"""
    netns.ip(pair.gw1.ns, "link add busy type veth peer name busy-peer\nlink add link busy name mv0 type macvlan\nlink set busy up\n")
    try:
        before = kernel.snapshot(pair.gw1.ns)
        bad = config()
        bad["segments"] += sites.many_segments(20)
        sites.segment(bad, "s20010")["members"] = ["busy"]
        with probe.Stream(*pair.flows(*STREAMS)) as stream:
            done = pair.gw1.apply(sites.text(bad), expect=gateway.ROLLED_BACK)
            nothing_lost(stream)
        assert "busy" in done.stdout + done.stderr
        assert not kernel.lasting_difference(before, pair.gw1.ns)
        status = pair.gw1.wait_converged().status()
        assert status["converged"] and not pair.gw1.plan()
    finally:
        netns.ip(pair.gw1.ns, "link del busy\n")


def test_a_bad_line_leaves_the_running_config_untouched(pair):
    """case 27"""
    before = kernel.snapshot(pair.gw1.ns)
    file_before = pair.gw1.config_file.read_text(encoding="utf-8")
    good = sites.text(config())
    with probe.Stream(*pair.flows(*STREAMS)) as stream:
        for bad in (good[:-20], good.replace('"vni": 10010', '"vni": 0'), good.replace('"segments"', '"segmets"'), "", "\x00\x01", "- 1\n"):
            done = pair.gw1.apply(bad, expect=gateway.REFUSED)
            assert "candidate.yaml:" in done.stderr or "candidate.yaml: error" in done.stderr, done.stderr
        nothing_lost(stream)
    assert not kernel.lasting_difference(before, pair.gw1.ns)
    assert pair.gw1.config_file.read_text(encoding="utf-8") == file_before
    assert not pair.gw1.plan()


def macs(n):
    return [{"mac": f"02:00:00:{i >> 16:02x}:{i >> 8 & 255:02x}:{i & 255:02x}", "remote": "far"} for i in range(n)]


def test_ten_thousand_entries_in_one_go(pair):
    """case 26: all of them"""
    big = config()
    sites.segment(big, "lan")["macs"] = macs(10000)
    pair.gw1.apply(sites.text(big))
    assert len(kernel.fdb(pair.gw1.ns, "vx10010")) == 10001
    assert not pair.gw1.plan()
    pair.gw1.apply(sites.text(config()))
    assert len(kernel.fdb(pair.gw1.ns, "vx10010")) == 1


def test_of_ten_thousand_entries_the_bad_ones_are_named_by_line(pair):
    """case 26: or the exact lines refused, and nothing done"""
    big = config()
    entries = macs(10000)
    for i in (77, 5000, 9999):
        entries[i]["remote"] = "nowhere"
    lines = [f'  - {{mac: "{m["mac"]}", remote: {m["remote"]}}}' for m in entries]
    lan = sites.segment(big, "lan")
    lan["macs"] = "MACS"
    text = sites.text(big).replace('"MACS"', "[\n" + ",\n".join(line.strip().removeprefix("- ") for line in lines) + "\n]")
    numbers = [n for n, line in enumerate(text.splitlines(), 1) if "nowhere" in line]
    before = kernel.snapshot(pair.gw1.ns)
    done = pair.gw1.apply(text, expect=gateway.REFUSED)
    named = [int(line.split(":")[1]) for line in done.stderr.splitlines() if ": error:" in line]
    assert named == numbers, done.stderr[:2000]
    assert not kernel.lasting_difference(before, pair.gw1.ns)


# --- boot -------------------------------------------------------------------------------------------------------------


def test_boot_is_a_commit_of_what_was_applied_last(pair):
    """case 24: what was applied is what the machine comes up with, in one go, from nothing"""
    new = config()
    new["segments"] += sites.many_segments(10)
    pair.gw1.apply(sites.text(new))
    applied = kernel.snapshot(pair.gw1.ns)
    pair.gw1.kill()
    reboot(pair)
    pair.gw1.boot()
    assert not kernel.lasting_difference(applied, pair.gw1.ns)
    for label in STREAMS:
        path = sites.path(label)
        assert probe.ping(pair.h1, path.far[2], path.near[2])


def reboot(pair):
    """The kernel forgets what is not hardware."""
    ns = pair.gw1.ns
    links = kernel.links(ns)
    netns.nft(ns, "flush ruleset\n")
    for name, link in links.items():
        if link["kind"] in ("vxlan", "bridge"):
            netns.ip(ns, f"link del {name}\n")
        else:
            netns.ip(ns, f"addr flush dev {name}\nlink set {name} down\n")
    netns.ip(ns, "link set lo up\n")
