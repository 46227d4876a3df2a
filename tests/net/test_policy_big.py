# SPDX-License-Identifier: GPL-2.0-or-later
"""Large groups: half a million lines of a prefix file, and what becomes of one line more or less.

    office --- interface office --- gw --- interface store --- store
"""
import random
import time

import pytest
import yaml

import netns
import probe
import process
import topo

PORT = 7000
OFFICE, STORE = ("10.20.0.9", "fd00:20::9"), ("10.30.0.7", "fd00:30::7")
LINES = 500_000
MANY = 20_000  # enough for what is remembered, and quick to make


def text(path):
    return yaml.safe_dump({
        "system": {"hostname": "gw"},
        "interfaces": [{"name": "office", "addresses": ["10.20.0.1/24", "fd00:20::1/64"]},
                       {"name": "store", "addresses": ["10.30.0.1/24", "fd00:30::1/64"]}],
        "policy": {"default": "drop", "own-addresses": "accept", "groups": [{"name": "clouds", "file": str(path)}],
                   "rules": [{"seq": 10, "from": ["clouds"], "to": ["store"], "action": "accept"}]},
    }, sort_keys=False)


def topology():
    def host(addresses):
        return {"addresses": {"eth0": [f"{addresses[0]}/24", f"{addresses[1]}/64"]},
                "routes": [f"default via {addresses[0].rsplit('.', 1)[0]}.1", f"default via {addresses[1].rsplit('::', 1)[0]}::1"]}
    return {"name": "big", "nodes": {"office": host(OFFICE), "store": host(STORE), "gw": {"kind": "gateway", "config": "system: {hostname: gw}\n"}},
            "links": [{"name": n, "ends": [f"{n}:eth0", f"gw:{n}"]} for n in ("office", "store")]}


def prefixes(n, seed=1):
    """Overlapping, repeated, of both families, and none that holds a host of the lab."""
    generator = random.Random(seed)
    lines = []
    for i in range(n):
        bits = generator.getrandbits(30) | 0x40000000  # 64.0.0.0/2
        if i % 10 == 0:
            lines.append(f"2001:db8:{bits & 0xffff:x}:{bits >> 16 & 0xffff:x}::/64")
        else:
            length = generator.choice((16, 20, 24, 24, 24, 28, 32))
            bits &= 0xFFFFFFFF << (32 - length)
            lines.append(f"{bits >> 24}.{bits >> 16 & 255}.{bits >> 8 & 255}.{bits & 255}/{length}")
    return lines


class Site:
    def __init__(self, lab, folder):
        self.lab, self.gw = lab, lab.gateways["gw"]
        self.path = folder / "clouds.txt"
        self.office, self.store = lab.ns("office"), lab.ns("store")

    def put(self, data):
        new = self.path.with_suffix(".new")
        new.write_text(data, encoding="utf-8", newline="")
        new.rename(self.path)

    def passes(self, v6):
        with probe.udp_socket(self.store, STORE[v6], PORT) as there, probe.udp_socket(self.office, OFFICE[v6]) as s:
            for _ in range(3):
                s.sendto(b"x", (STORE[v6], PORT))
                if probe.readable(there, 0.05):
                    return True
        return False

    def wait(self, v4, v6, timeout=20):
        assert process.wait_until(lambda: (self.passes(0), self.passes(1)) == (v4, v6), timeout), (self.passes(0), self.passes(1))

    def settle(self):
        assert process.wait_until(lambda: self.gw.status()["converged"] and self.gw.plan() == [], 20)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("big")
    for parent in (folder, *folder.parents[:2]):
        parent.chmod(0o755)
    with topo.temporary(topology()) as lab:
        yield Site(lab, folder)


def test_half_a_million_lines(site):
    """Comments, CRLF, blank lines, overlaps, repetitions; a line of junk is said with its place and changes nothing."""
    lines = prefixes(LINES - 5) + ["# an office", "10.20.0.0/24\r", "\r", "  10.20.0.9   # once more", "10.20.0.9/32"]
    site.put("\n".join(lines) + "\n")
    site.gw.apply(text(site.path))
    site.gw.wait_converged(60)
    site.wait(True, False)
    resident = int(next(s for s in open(f"/proc/{site.gw.child.pid}/status", encoding="ascii") if s.startswith("VmRSS")).split()[1])
    assert resident < 600 * 1024, resident
    lines[400_000] = "64.0.0.1/24"
    lines[400_001] = "nonsense"
    site.put("\n".join(lines) + "\n")
    assert process.wait_until(lambda: len(site.gw.status()["trouble"]) >= 2, 30), site.gw.status()
    trouble = "\n".join(site.gw.status()["trouble"])
    assert f"{site.path}:400001:1: \"64.0.0.1/24\" is not a network" in trouble and "write 64.0.0.0/24" in trouble
    assert f"{site.path}:400002:1: \"nonsense\" is not a network" in trouble
    site.wait(True, False)
    refused = site.gw.apply(text(site.path), expect=1)
    assert ":400001:1:" in refused.stdout + refused.stderr


def test_one_line_more_or_less(site):
    lines = prefixes(MANY)
    site.put("\n".join(lines) + "\n")
    site.gw.apply(text(site.path))
    site.settle()
    site.wait(False, False)
    log = len(site.gw.log())
    # More, both families; less, in the middle; and all at once. Each is in force and then looked at; what was accepted before is cut.
    site.put("\n".join([*lines, "10.20.0.0/16"]) + "\n")
    site.wait(True, False)
    site.settle()
    site.put("\n".join([*lines[:500], "fd00:20::9", *lines[500:], "10.20.0.0/16"]) + "\n")
    site.wait(True, True)
    site.settle()
    assert "in force" in site.gw.log()[log:], "by the quick way"
    # Half of what goes stays, as it is named twice.
    site.put("\n".join([*lines[:500], "fd00:20::9", *lines[500:], "10.20.0.9"]) + "\n")
    site.settle()
    site.wait(True, True)
    site.put("\n".join(lines) + "\n")
    site.wait(False, False)
    site.settle()
    site.wait(False, False)
    assert "replace" not in site.gw.log()[log:]


def test_changes_one_after_the_other_are_all_in_force(site):
    """Before the loop has looked at one, the next is there."""
    lines = prefixes(MANY)
    site.put("\n".join(lines) + "\n")
    site.gw.apply(text(site.path))
    site.settle()
    for i in range(30):
        site.put("\n".join([*lines, *(["10.20.0.9"] if i % 2 == 0 else []), f"192.0.2.{i}"]) + "\n")
        time.sleep(0.01)  # the moment of the next is any
    site.wait(False, False)
    site.settle()
    site.wait(False, False)
    site.put("\n".join([*lines, "10.20.0.9"]) + "\n")
    site.wait(True, False)
    site.settle()


@pytest.mark.parametrize("what", ["delete element inet fairway_policy class4 { 10.20.0.9 }", "flush map inet fairway_policy class4",
                                  "add element inet fairway_policy recent4 { 10.20.0.9 : 0 }", "flush ruleset"])
def test_what_is_remembered_is_not_believed_when_others_change_it(site, what):
    site.put("\n".join([*prefixes(MANY), "10.20.0.9"]) + "\n")
    site.gw.apply(text(site.path))
    site.settle()
    site.wait(True, False)
    repairs = site.gw.status()["repairs"]
    netns.nft(site.gw.ns, what + "\n")
    assert process.wait_until(lambda: site.gw.status()["repairs"] > repairs, 10)
    site.settle()
    site.wait(True, False)
    assert "10.20.0.9" in netns.run("nft", "get", "element", "inet", "fairway_policy", "class4", "{ 10.20.0.9 }", ns=site.gw.ns).stdout


def test_a_restart_reads_it_all_and_changes_nothing(site):
    site.put("\n".join([*prefixes(MANY), "10.20.0.9"]) + "\n")
    site.gw.apply(text(site.path))
    site.settle()
    site.gw.kill()
    site.gw.boot()
    assert "nothing to do" in site.gw.log()[-2000:]
    site.wait(True, False)
