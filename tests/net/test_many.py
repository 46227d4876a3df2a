# SPDX-License-Identifier: GPL-2.0-or-later
"""A change among 200 segments: what is not changed loses no packet, and nothing is left to do."""
import pytest

import netns
import probe
import sites

STREAMS = ("lan-ipv4", "net-ipv4", "lan6-ipv6", "net6-ipv6")


def crowded_config():
    config = sites.gateway_config("gw1")
    config["segments"] += sites.many_segments(200)
    return config


@pytest.fixture(scope="module")
def crowded_lab(pair_lab):
    """gw1 with 200 more segments, and an interface that nobody uses."""
    netns.ip(pair_lab.gw1.ns, "link add spare type veth peer name spare-peer\n")
    yield pair_lab
    netns.ip(pair_lab.gw1.ns, "link del spare\n")
    pair_lab.reset()


@pytest.fixture
def crowded(crowded_lab):
    many = crowded_config()
    crowded_lab.gw1.apply(sites.text(many))
    return crowded_lab, many


def add_segment(many):
    many["segments"] += sites.many_segments(1, first=30000)


def add_remote(many):
    many["remotes"].append({"name": "new", "vtep": "10.255.7.1", "lines": ["line-a", "line-b"]})
    for s in many["segments"][4:104]:
        s["remotes"] = [*s["remotes"], "new"]


def add_remote_to_the_segments_that_are_watched(many):
    many["remotes"].append({"name": "new", "vtep": "10.255.7.1", "lines": ["line-a", "line-b"]})
    for name in ("lan", "net"):
        sites.segment(many, name)["remotes"].append("new")


def add_member(many):
    many["segments"][100]["members"] = ["spare"]


def add_member_to_the_segment_that_is_watched(many):
    sites.segment(many, "lan")["members"].append("spare")


def add_mac(many):
    many["segments"][100]["macs"] = [{"mac": "02:00:00:00:00:99", "remote": "far"}]


def remove_segment(many):
    many["segments"] = [s for s in many["segments"] if s["name"] != "s20100"]


def remove_half(many):
    many["segments"] = many["segments"][:104]


@pytest.mark.parametrize("change", [add_segment, add_remote, add_remote_to_the_segments_that_are_watched, add_member,
                                    add_member_to_the_segment_that_is_watched, add_mac, remove_segment, remove_half],
                         ids=lambda f: f.__name__)
def test_a_change_among_200_segments_loses_no_packet_of_the_others(crowded, change):
    pair, many = crowded
    with probe.Stream(*pair.flows(*STREAMS)) as stream:
        change(many)
        pair.gw1.apply(sites.text(many))
        assert not pair.gw1.plan()
        result = stream.stop(at_least=200)
    assert probe.lost(result) == 0, result
