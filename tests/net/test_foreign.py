# SPDX-License-Identifier: GPL-2.0-or-later
"""What is not ours stays as it is: through apply, repair, restart and tear-down. What is in our way is named, not deleted.
Field case 11 and 38."""
import pytest

import gateway
import kernel
import netns
import probe
import process
import sites
import topo

FOREIGN_NFT = """
table inet mine {
 set s { type ipv4_addr; elements = { 192.0.2.1, 192.0.2.2 }; }
 chain forward { type filter hook forward priority 10; policy accept; ip saddr @s counter; }
}
table bridge theirs {
 chain c { type filter hook forward priority 0; policy accept; }
}
"""
FOREIGN_IP = """
link add foreign0 type veth peer name foreign1
link set foreign0 up
link set foreign1 up
link add br-foreign type bridge
link set foreign0 master br-foreign
link add vx-foreign type vxlan id 777 local 172.31.1.1 dstport 8472
link set vx-foreign master br-foreign up
addr add 192.0.2.1/24 dev br-foreign
addr add 10.77.0.1/24 dev line-a
addr add fd00:77::1/64 dev eth1 nodad
addr add 10.98.0.1/32 dev lo
link set br-foreign up
route add 198.51.100.0/24 via 172.31.1.2 proto static
route add 203.0.113.0/24 via 172.31.1.2 table 77
route add fd00:5151::/48 via fd00:31:1::2 proto static
"""


def foreign(ns):
    """Everything of other people's in a namespace."""
    s = kernel.snapshot(ns)
    mine = {n: link for n, link in s["links"].items() if "foreign" in n}
    addresses = {a for a in s["addresses"] if a[0] == "br-foreign" or a[1].startswith(("10.77.", "fd00:77:", "10.98."))}
    routes = {r for r in s["routes"] if r[1].startswith(("198.51.100.", "203.0.113.", "fd00:5151:"))}
    tables = {t: netns.run("nft", "-s", "list", "table", *t.split(), ns=ns).stdout.splitlines() for t in ("inet mine", "bridge theirs")}
    return {"links": mine, "addresses": addresses, "routes": routes, "fdb": {e for e in s["fdb"] if e[0] == "vx-foreign"}, "nft": [t + line for t, lines in tables.items() for line in sorted(lines)]}


def ours(ns):
    """Names of what carries our marks."""
    s = kernel.snapshot(ns)
    return [n for n, link in s["links"].items() if link["group"] == "ours"] + [r for r in s["routes"] if r[4] == "250"] \
        + [line for line in s["nft"] if line.startswith("table") and "fairway_" in line] \
        + [a for a in s["addresses"] if a[1] in ("10.255.0.1/32", "172.31.1.1/30", "10.1.0.1/24")]


@pytest.fixture
def crowded():
    """A pair of its own: it is torn down in the middle."""
    with topo.temporary(sites.two_sites("foreign")) as lab:
        gw = lab.gateways["gw1"]
        netns.ip(gw.ns, FOREIGN_IP)
        netns.run("bridge", "fdb", "append", "00:00:00:00:00:00", "dev", "vx-foreign", "dst", "192.0.2.99", ns=gw.ns)
        netns.nft(gw.ns, FOREIGN_NFT)
        yield gw, lab


def test_apply_repair_restart_and_tear_down_leave_other_peoples_things_alone(crowded):
    gw, _ = crowded
    before = foreign(gw.ns)
    assert len(before["links"]) == 4 and len(before["addresses"]) == 4 and len(before["routes"]) == 3 and before["fdb"]

    def untouched():
        return kernel.difference(before, foreign(gw.ns))
    spec = sites.gateway_config("gw1")
    spec["segments"] += sites.many_segments(20)
    gw.apply(sites.text(spec))
    assert not untouched(), "apply"
    gw.apply(sites.text(sites.changed(spec, segments=spec["segments"][2:6])))
    assert not untouched(), "apply that removes"
    for damage in ("link del vx10030", "addr del 10.255.0.1/32 dev lo", "route del 10.2.0.0/24"):
        repairs = gw.status()["repairs"]
        netns.run("ip", *damage.split(), ns=gw.ns, check=False)
        process.wait_until(lambda n=repairs: gw.status()["repairs"] > n, 1)
    assert not untouched(), "repair"
    gw.stop()
    gw.boot()
    assert not untouched(), "restart"
    assert ours(gw.ns), "nothing is ours: the next assertion would prove nothing"
    gw.stop()
    netns.run(gateway.BUILD / "fairwayd", "--config", gw.config_file, "--instance", gw.instance, "--run-dir", gw.folder / "run",
              "--state-dir", gw.folder / "state", "--teardown", ns=gw.ns)
    assert not ours(gw.ns)
    assert not untouched(), "tear-down"


@pytest.mark.parametrize("make, names", [
    ("link add vx30000 type vxlan id 999 dstport 8472", ["vx30000"]),
    ("link add br30000 type bridge", ["br30000"]),
    ("link add other type vxlan id 30000 dstport 4789", ["other", "30000"]),
    ("route add 10.30.0.0/24 via 172.31.1.2", ["10.30.0.0/24"]),
], ids=["vxlan name", "bridge name", "same VNI and port", "route"])
def test_somebody_elses_object_in_the_way_is_named_and_stays(pair, make, names):
    ns = pair.gw1.ns
    netns.ip(ns, make + "\n")
    try:
        before = kernel.snapshot(ns)
        spec = sites.gateway_config("gw1")
        spec["segments"] += sites.many_segments(3, first=29999)
        sites.segment(spec, "net")["routes"].append({"prefix": "10.30.0.0/24", "via": "10.254.2.2"})
        done = pair.gw1.apply(sites.text(spec), expect=gateway.REFUSED)
        assert all(n in done.stdout + done.stderr for n in names), done.stdout + done.stderr
        assert not kernel.lasting_difference(before, ns)
    finally:
        netns.run("ip", *make.replace(" add ", " del ").split(" type ")[0].split(), ns=ns, check=False)


def test_leftovers_of_a_crash_are_adopted(pair):
    """case 11: devices of ours are there, and nobody remembers having made them"""
    gw = pair.gw1
    before = kernel.snapshot(gw.ns)
    with probe.Stream(*pair.flows("lan-ipv4", "net6-ipv4")) as stream:
        gw.kill()
        (gw.folder / "state").rename(gw.folder / "state-lost")
        gw.boot()
        result = stream.stop(at_least=200)
    assert probe.lost(result) == 0, result
    assert not kernel.lasting_difference(before, gw.ns)


def test_half_made_leftovers_are_completed(pair):
    """case 11: a device of ours without what belongs to it, from a crash between two messages"""
    gw = pair.gw1
    before = kernel.snapshot(gw.ns)
    gw.kill()
    index = before["links"]["vx10010"]["index"]
    netns.ip(gw.ns, f"link del vx10010\nlink del br10010\nlink add vx10010 index {index} type vxlan id 10010 dstport 4789\n"
                    "link set vx10010 group 4001\n")
    gw.boot()
    assert not kernel.lasting_difference(before, gw.ns)
    path = sites.path("lan-ipv4")
    assert probe.ping(pair.h1, path.far[2])
