# SPDX-License-Identifier: GPL-2.0-or-later
"""What is rendered for FRR, given to real daemons: each line is taken, and `show running-config` prints the same tree.

So a default that is rendered, a word that FRR spells otherwise and a line that it drops in silence all show here.
"""
import pathlib
import tempfile

import pytest

import frr
import gateway
import netns
import topo

SELFTEST = gateway.BUILD / "tests/net/frr_selftest"
CONFIGS = sorted(pathlib.Path("config/examples/good").glob("*.yaml")) + sorted(pathlib.Path("tests/golden/frr").glob("*.yaml"))
DAEMONS = ("zebra", "bfdd", "bgpd")
# What FRR prints of itself, not of its configuration.
NOISE = ("frr version", "frr defaults", "hostname", "log ", "no log", "ip forwarding", "no ip forwarding", "ipv6 forwarding",
         "no ipv6 forwarding", "Building", "Current", "end")
ENDS = ("exit", "exit-vrf", "exit-vni", "exit-address-family", "!")


def rendered(config, daemon):
    return netns.run(SELFTEST, config, daemon).stdout


def tree(text):
    """The paths of all lines; the order within a node means nothing."""
    paths, open_nodes = set(), []
    for line in text.splitlines():
        words = line.strip()
        if not words or words.startswith("!") or words in ENDS or (line[0] != " " and words.startswith(NOISE)):
            continue
        depth = len(line) - len(line.lstrip())
        open_nodes = open_nodes[:depth] + [words]
        paths.add(tuple(open_nodes))
    return paths


def give(vty, text):
    """All lines, as they come; those that were refused."""
    vty.run("configure terminal")
    refused = [(line, said) for line in text.splitlines() if line.strip() not in ("", "!") for said in [vty.try_run(line.strip())] if said[0]]
    vty.run("end")
    return refused


@pytest.fixture
def daemons():
    ns = f"{topo.PREFIX}render"
    netns.run("ip", "netns", "delete", ns, check=False)
    netns.create(ns)
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder).chmod(0o755)
        try:
            with frr.Frr(ns, pathlib.Path(folder) / "frr") as running:
                yield running
        finally:
            netns.delete(ns)


@pytest.mark.parametrize("config", CONFIGS, ids=lambda c: c.name)
def test_rendered_is_what_runs(daemons, config):
    for daemon in DAEMONS:
        text = rendered(config, daemon)
        with daemons.vty(daemon) as vty:
            assert give(vty, text) == []
            want, have = tree(text), tree(vty.run("show running-config"))
        if daemon == "zebra":  # is in its file
            want.add(("no zebra nexthop kernel enable",))
        assert sorted(want - have) == [], f"{daemon} does not print this"
        assert sorted(have - want) == [], f"{daemon} prints this too"
