# SPDX-License-Identifier: GPL-2.0-or-later
"""Paths learned by BGP, in the routing lab: what each side knows and reaches, how soon, and what it must not know."""
import pytest

import frr
import kernel
import netns
import probe
import process
import routing_lab
import sites
from routing_lab import BGP, OURS, carriers, has, routes

CLOUDS = {"ali-h1": ("10.101.1.0/24", ["c1-a", "c1-b"]), "hw-h1": ("10.201.1.0/24", ["c2-a", "c2-b"])}


# --- what is learned --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cloud", CLOUDS)
def test_a_clouds_prefixes_are_learned_over_both_lines_and_told_to_the_fabric(world, cloud):
    prefix, lines = CLOUDS[cloud]
    best = routes(world.bj.ns, prefix)[0]
    assert best["protocol"] == BGP and [dev for _, dev, _ in best["hops"]] == lines
    for leaf in ("leaf1", "leaf2"):
        assert carriers(world.ns(leaf), prefix) == ["spine"], leaf


def test_the_idcs_prefixes_are_learned_in_both_clouds_over_both_lines(world):
    for prefix in ("10.30.1.0/24", "10.30.2.0/24"):
        assert carriers(world.ali.ns, prefix) == ["c1-a", "c1-b"]
        assert carriers(world.ns("hw-rt"), prefix) == ["c2-a", "c2-b"]


@pytest.mark.parametrize("host", ["h1", "h2"])
@pytest.mark.parametrize("cloud", CLOUDS)
def test_a_host_reaches_the_clouds(world, host, cloud):
    assert probe.ping(world.ns(host), routing_lab.HOSTS[cloud], timeout=3)
    assert probe.transfer((world.ns(host), routing_lab.HOSTS[host]), (world.ns(cloud), routing_lab.HOSTS[cloud])) < 10


def test_clouds_do_not_learn_each_other_nor_the_transfer_networks(world):
    """The policy gives them the IDC and the vteps: there is no transit."""
    assert not has(world.ali.ns, "10.201.1.0/24") and not has(world.ns("hw-rt"), "10.101.1.0/24")
    assert not any(has(world.ali.ns, p) for p in ("172.31.2.0/30", "10.20.1.0/30"))
    assert not probe.ping(world.ns("ali-h1"), routing_lab.HOSTS["hw-h1"], timeout=1)


def test_vteps_are_learned_and_have_a_floating_route_below(world):
    for vtep, lines in (("10.255.1.1/32", ["c1-a", "c1-b"]), ("10.255.2.1/32", ["c2-a", "c2-b"])):
        best, floating = routes(world.bj.ns, vtep)
        assert (best["protocol"], floating["protocol"]) == (BGP, OURS) and floating["metric"] > best["metric"]
        assert [dev for _, dev, _ in floating["hops"]] == lines


def test_an_unnumbered_neighbor_carries_ipv4_over_ipv6_next_hops(world):
    n = frr.neighbors(routing_lab.vty(world.bj))["fab2"]
    assert n["bgpState"] == "Established" and n["hostForeign"].startswith("fe80::")
    assert carriers(world.bj.ns, "10.30.2.0/24") == ["fab2"]


def test_zebra_keeps_no_nexthop_objects_in_the_kernel(world):
    assert netns.run("ip", "nexthop", "show", ns=world.bj.ns).stdout == ""


# --- how soon ---------------------------------------------------------------------------------------------------------


def within_a_second(action, state):
    action()
    return process.wait_until(state, 1, 0.01)


def test_a_new_prefix_of_a_fairway_cloud_is_there_within_a_second(world):
    config = world.config("ali-gw1")
    config["bgp"]["networks"].append("10.101.9.0/24")
    assert within_a_second(lambda: world.ali.apply(sites.text(config)), lambda: has(world.ns("leaf1"), "10.101.9.0/24"))
    assert within_a_second(lambda: world.ali.apply(sites.text(world.config("ali-gw1"))),
                           lambda: not has(world.ns("leaf1"), "10.101.9.0/24") and not has(world.bj.ns, "10.101.9.0/24"))


def test_a_new_prefix_of_a_bird_cloud_is_there_within_a_second(world):
    first = world.hw.config
    more = first.replace("protocol static more { ipv4; }", "protocol static more { ipv4; route 10.201.9.0/24 blackhole; }")
    assert more != first
    assert within_a_second(lambda: world.hw.reconfigure(more),
                           lambda: has(world.ns("leaf1"), "10.201.9.0/24") and has(world.ns("leaf2"), "10.201.9.0/24"))


def test_a_new_prefix_of_the_idc_is_in_both_clouds_within_a_second(world):
    lines = "router bgp 65011\n address-family ipv4 unicast\n  {}network 10.30.9.0/24\n"
    try:
        assert within_a_second(lambda: world.leaf1.configure(lines.format("")),
                               lambda: has(world.ali.ns, "10.30.9.0/24") and has(world.ns("hw-rt"), "10.30.9.0/24"))
    finally:
        world.leaf1.configure(lines.format("no "))
    assert process.wait_until(lambda: not has(world.ali.ns, "10.30.9.0/24") and not has(world.ns("hw-rt"), "10.30.9.0/24"), 1)


def test_a_prefix_that_no_policy_permits_stays_out(world):
    first = world.hw.config
    world.hw.reconfigure(first.replace("protocol static more { ipv4; }",
                                       "protocol static more { ipv4; route 10.66.0.0/16 blackhole; route 10.201.8.0/24 blackhole; }"))
    assert process.wait_until(lambda: has(world.bj.ns, "10.201.8.0/24"), 3), "the permitted one is the sign that the update was processed"
    assert not has(world.bj.ns, "10.66.0.0/16")
    shown = world.bj.show("bgp", "c2-a")
    assert (shown["received"]["ipv4"], shown["accepted"]["ipv4"]) == (4, 3), shown
    [denied] = [p for p in shown["prefixes"] if p["prefix"] == "10.66.0.0/16"]
    assert denied["state"] == "not-accepted" and "from-cloud" in denied["reason"]
    assert "from-cloud does not permit it" in world.bj.call("show", "bgp", "c2-a").stdout
    assert {p["prefix"] for p in shown["prefixes"] if p["direction"] == "out"} >= {"10.255.0.1/32", "10.30.1.0/24"}


# --- shown ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("what, named", [
    ("bgp", ["172.31.1.2", "10.20.1.2", "fab2"]), ("bfd", ["172.31.1.2", "172.31.2.6"]), ("lines", ["c1-a", "c2-b"]),
    ("routes", ["10.101.1.0/24"])])
def test_show_has_it(world, what, named):
    text = world.bj.call("show", what).stdout
    as_json = str(world.bj.show(what))
    for word in named:
        assert word in text and word in as_json, (word, text)


def test_the_same_file_twice_changes_nothing(world):
    before, machine = world.settled(), kernel.snapshot(world.bj.ns)
    for _ in range(3):
        assert "nothing to do" in world.bj.apply(sites.text(world.config())).stdout
    assert not routing_lab.moved(before, world.sessions())
    assert not kernel.difference(machine, kernel.snapshot(world.bj.ns))
