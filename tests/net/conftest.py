# SPDX-License-Identifier: GPL-2.0-or-later
"""Fixtures of the network tests. A lab is shared where it can be, brought back to its first state after each test, and always taken
down; one that a killed run left is removed at the start of the next."""
import os
import pathlib
import signal
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))

import gateway  # noqa: E402
import kernel  # noqa: E402
import netns  # noqa: E402
import probe  # noqa: E402
import process  # noqa: E402
import routing_lab  # noqa: E402
import sites  # noqa: E402
import topo  # noqa: E402


@pytest.fixture(scope="session", autouse=True)
def clean_machine():
    if os.geteuid() != 0:
        pytest.exit("the network tests need root, for network namespaces", returncode=1)
    # As an interrupt: pytest stops, and takes down what is up.
    for s in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(s, signal.default_int_handler)
    topo.sweep()


def kernel_has(feature, *argv):
    """Skips the test, naming the feature, where this kernel cannot do `argv` in a namespace."""
    ns = f"{topo.PREFIX}try-{os.getpid()}"
    netns.create(ns)
    try:
        if netns.run(*argv, ns=ns, check=False).returncode != 0:
            pytest.skip(f"this kernel has no {feature}")
    finally:
        netns.delete(ns)


@pytest.fixture(scope="session", autouse=True)
def vxlan(clean_machine):
    kernel_has("VXLAN", "ip", "link", "add", "v", "type", "vxlan", "id", "1", "dstport", "4789")


class Pair:
    """The lab of sites.two_sites(), and what tests ask of it."""

    def __init__(self, lab):
        self.lab = lab
        self.gw1, self.gw2 = lab.gateways["gw1"], lab.gateways["gw2"]
        self.h1, self.h2 = lab.ns("h1"), lab.ns("h2")
        self.first = None  # snapshots of the gateways

    def end(self, end):
        """(namespace, interface, address)"""
        return (self.lab.ns(end[0]), *end[1:])

    def address(self, end):
        return self.lab.ns(end[0]), end[2]

    def flow(self, path):
        """For probe.Stream."""
        return (path.label, *self.address(path.near), *self.address(path.far))

    def flows(self, *labels):
        return [self.flow(p) for p in sites.paths() if not labels or p.label in labels]

    def wait_forwarding(self):
        """A bridge port begins to forward when the kernel has noticed that its link is up, and IPv6 when its addresses are
        known to be unique: a moment after the configuration is right."""
        for p in sites.paths():
            assert probe.ping(self.h1, p.far[2], p.near[2], timeout=10), p
        self.first = self.snapshots()

    def snapshots(self):
        return [kernel.snapshot(gw.ns) for gw in (self.gw1, self.gw2)]

    def reset(self):
        """As it was at first. A lab that cannot be brought back is built anew, so that one failure does not look like many."""
        try:
            self.apply_first_configs()
        except (gateway.GatewayError, netns.CommandError):
            self.rebuild()
            raise
        if any(kernel.difference(a, b) for a, b in zip(self.first, self.snapshots())):
            self.rebuild()

    def rebuild(self):
        self.lab.up()
        self.wait_forwarding()

    def apply_first_configs(self):
        for name, gw in (("gw1", self.gw1), ("gw2", self.gw2)):
            text = sites.text(sites.gateway_config(name))
            if not gw.running():
                gw.install(text)
                gw.boot()
            gw.apply(text)
            gw.wait_converged()


@pytest.fixture(scope="session")
def pair_lab():
    with topo.temporary(sites.two_sites()) as lab:
        pair = Pair(lab)
        pair.wait_forwarding()
        yield pair


@pytest.fixture
def pair(pair_lab):
    yield pair_lab
    pair_lab.reset()
    probe.forget_path_mtu(pair_lab.h1, pair_lab.h2)


@pytest.fixture(scope="session")
def world_lab():
    with routing_lab.lab() as lab:
        yield routing_lab.World(lab).wait_ready()


@pytest.fixture
def world(world_lab):
    yield world_lab
    world_lab.reset()


@pytest.fixture
def wait_until():
    return process.wait_until


@pytest.fixture
def outcome():
    """The exit codes of the fairway command."""
    return gateway
