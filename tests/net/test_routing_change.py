# SPDX-License-Identifier: GPL-2.0-or-later
"""A change of routing moves no session that it has no reason to move, and the plan has said before which. Field cases 13, 28, 29, 31."""
import json
import subprocess
import time

import pytest

import frr
import gateway
import kernel
import probe
import process
import routing_lab
import sites
from routing_lab import PEERS, bounced, impacts, moved, prefix_list, vty


def named(entries, name):
    return next(e for e in entries if e["name"] == name)


def neighbor(name, **more):
    """Nobody answers there: a session that tries."""
    return {"name": name, "address": "10.20.1.9", "peer-as": 65099, "connect-time": "60s", **more}


def far_sessions(world):
    """As the far ends see it: FRR's counters, and since when BIRD's sessions are up."""
    # BIRD computes the time from a clock of its own, and is off by a millisecond at times.
    bird = {line.split()[0]: line.split()[4][:-4] for line in world.hw.show("protocols").splitlines() if " BGP " in line}
    return {"leaf1": routing_lab.sessions(world.leaf1.socket("bgpd")), "leaf2": routing_lab.sessions(world.leaf2.socket("bgpd")),
            "hw": bird}


# name: what is changed in a config; what it changes; whose session may move; whose messages may; what the plan has to say of sessions
def add_neighbor(c):
    c["bgp"]["neighbors"].append(neighbor("new"))


def change_neighbor(c):
    named(c["bgp"]["neighbors"], "leaf1")["max-prefixes"] = 500


def reset_neighbor(c):
    named(c["bgp"]["neighbors"], "leaf1")["hold-time"] = "30s"


def remove_neighbor(c):
    c["bgp"]["neighbors"] = [n for n in c["bgp"]["neighbors"] if n["name"] != "leaf2"]


def add_entry(c):
    named(c["bgp"]["prefix-lists"], "clouds")["entries"].append({"seq": 30, "prefix": "10.202.0.0/16", "le": 24})


def change_entry(c):
    named(c["bgp"]["prefix-lists"], "clouds")["entries"][1]["le"] = 25


def remove_entry(c):
    named(c["bgp"]["prefix-lists"], "idc")["entries"] = [{"seq": 10, "prefix": "10.30.0.0/16", "le": 24}]


def add_policy(c):
    c["bgp"]["policies"].append(routing_lab.policy("unused", {"prefix-list": "idc", "local-pref": 50}))


def add_rule(c):
    named(c["bgp"]["policies"], "from-fabric")["rules"].insert(0, {"seq": 5, "prefix-list": "idc", "local-pref": 150})


def change_rule(c):
    named(c["bgp"]["policies"], "to-fabric")["rules"][0]["med"] = 50


def change_policy_of_session(c):
    c["bgp"]["policies"].append(routing_lab.policy("other", {"prefix-list": "idc", "add-communities": ["65001:7"]}))
    named(c["bgp"]["neighbors"], "leaf1")["policy-in"] = "other"


def change_bfd(c):
    named(c["lines"], "c1-a")["bfd"] = {"interval": "100ms", "multiplier": 5}


def add_community_set(c):
    c["bgp"]["community-sets"] = [{"name": "gold", "communities": ["65001:1", "65001:2"]}]


def change_description(c):
    named(c["lines"], "c1-a")["description"] = "the first circuit"
    named(c["bgp"]["neighbors"], "leaf1")["description"] = "rack row 1"


def disable_line(c):
    named(c["lines"], "c2-b")["enabled"] = False


CHANGES = {
    "add-neighbor": (add_neighbor, [], [], set()),
    "change-neighbor": (change_neighbor, [], ["leaf1"], set()),
    "reset-neighbor": (reset_neighbor, ["leaf1"], list(PEERS), {"10.20.1.2"}),
    "remove-neighbor": (remove_neighbor, ["leaf2"], list(PEERS), {"fab2"}),
    "add-entry": (add_entry, [], ["leaf1", "leaf2", "c1-a", "c1-b", "c2-a", "c2-b"], set()),
    "change-entry": (change_entry, [], ["leaf1", "leaf2", "c1-a", "c1-b", "c2-a", "c2-b"], set()),
    "same-entry": (remove_entry, [], [], set()),
    "add-policy": (add_policy, [], [], set()),
    "add-rule": (add_rule, [], ["leaf1", "leaf2"], set()),
    "change-rule": (change_rule, [], ["leaf1", "leaf2"], set()),
    "change-policy-of-session": (change_policy_of_session, [], list(PEERS), set()),
    "change-bfd": (change_bfd, [], [], set()),
    "add-community-set": (add_community_set, [], [], set()),
    "change-description": (change_description, [], [], set()),
    "disable-line": (disable_line, ["c2-b"], list(PEERS), {"172.31.2.6"}),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_moves_no_other_session_and_the_plan_says_which(world, change):
    """case 29"""
    mutate, may_move, may_talk, told = CHANGES[change]
    config = world.config()
    mutate(config)
    before, far = world.settled(), far_sessions(world)
    downs = frr.bfd_downs(vty(world.bj, "bfdd"))
    said = impacts(world.bj, config)
    peers_said = {p for p in PEERS.values() if any(routing_lab.says(i, rf"BGP (session )?{p}\b") for i in said)}
    assert peers_said == told and not any("all" in i and "BGP" in i for i in said), said
    host = "h2" if "leaf1" in may_move else "h1"
    with probe.Stream(world.flow("bj-gw1", "ali-gw1"), world.flow(host, "ali-h1")) as stream:
        world.bj.apply(sites.text(config))
        assert not world.bj.plan()
        lost = probe.lost(stream.stop(at_least=500))
    after, far_after = world.sessions(), far_sessions(world)
    movers, talkers = [PEERS[n] for n in may_move], [PEERS[n] for n in may_talk]
    extra = set(after) - set(before)
    assert extra <= {"10.20.1.9"}
    assert not bounced(before, after, [*movers, *extra])
    assert not moved(before, after, [*movers, *talkers, *extra])
    for leaf in {"leaf1", "leaf2"} - set(may_move):
        assert not bounced(far[leaf], far_after[leaf]), leaf
    if "c2-b" not in may_move:
        assert far["hw"] == far_after["hw"]
    after_downs = frr.bfd_downs(vty(world.bj, "bfdd"))
    assert {p: n for p, n in after_downs.items() if n != downs.get(p, 0)} == {}, "a BFD session bounced"
    assert lost == 0, lost
    for name in movers:
        assert name in moved_peers(before, after, name), f"{name} did not move: the plan said that it would"


def moved_peers(before, after, peer):
    return {line.split(":")[0] for line in moved({peer: before.get(peer)}, {peer: after.get(peer)})} \
        if peer in after else {peer}


def test_a_changed_bfd_timer_is_in_force_at_both_ends_without_a_flap(world):
    """case 29"""
    config = world.config()
    change_bfd(config)
    downs = frr.bfd_downs(vty(world.bj, "bfdd"))
    world.bj.apply(sites.text(config))

    def in_force():
        peer = frr.bfd_peers(vty(world.bj, "bfdd"))["172.31.1.2"]
        far = frr.bfd_peers(vty(world.ali, "bfdd"))["172.31.1.1"]
        return (peer["receive-interval"], peer["detect-multiplier"], far["remote-receive-interval"]) == (100, 5, 100)
    assert process.wait_until(in_force, 5, 0.05)
    assert frr.bfd_downs(vty(world.bj, "bfdd")) == downs


def test_removing_a_line_and_putting_it_back_moves_no_other(world):
    config = world.config()
    config["lines"] = [n for n in config["lines"] if n["name"] != "c2-b"]
    named(config["remotes"], "hw")["lines"] = ["c2-a"]
    before = world.settled()
    gone = PEERS["c2-b"]
    assert any(gone in i for i in impacts(world.bj, config))
    world.bj.apply(sites.text(config))
    assert gone not in world.sessions() and not bounced(before, world.sessions(), [gone])
    world.bj.apply(sites.text(world.config()))
    assert not bounced(before, world.sessions(), [gone])
    world.wait_ready()


def test_default_values_are_no_difference(world):
    """case 28"""
    spelled = world.config()
    for session in [*(n["bgp"] for n in spelled["lines"]), *spelled["bgp"]["neighbors"]]:
        session.update({"connect-time": "1s", "passive": False, "ttl-security": False, "tcp-mss": "auto", "graceful-restart": "helper",
                        "max-prefixes-warning": 75})
    for p in spelled["bgp"]["policies"]:
        for r in p["rules"]:
            r["action"] = "permit"
    spelled["bgp"]["max-paths"] = 16
    before = world.settled()
    assert "nothing to do" in world.bj.apply(sites.text(spelled)).stdout
    assert not moved(before, world.sessions())


def test_growing_and_shrinking_an_ecmp_set_loses_nothing(world):
    """case 31: the second line is taken out of service and back while packets flow"""
    one = world.config()
    named(one["lines"], "c1-b")["enabled"] = False
    with probe.Stream(*world.flows(3)) as stream:
        world.bj.apply(sites.text(one))
        assert process.wait_until(lambda: routing_lab.carriers(world.bj.ns, "10.255.1.1/32") == ["c1-a"], 5)
        assert process.wait_until(lambda: routing_lab.carriers(world.ali.ns, "10.255.0.1/32") == ["c1-a"], 5)
        shrunk = stream.stop(at_least=300)
    with probe.Stream(*world.flows(3)) as stream:
        world.bj.apply(sites.text(world.config()))
        assert process.wait_until(world.shared, 15, 0.05)
        grown = stream.stop(at_least=300)
    assert probe.lost(grown) == 0, grown
    # What leaves a line that is shut is lost until both ends know.
    assert max(f["longest_gap"] for f in shrunk.values()) < 500, shrunk


def test_running_is_compared_with_what_is_meant_and_put_back(world):
    """case 13: somebody's hands in bgpd, both policies of both clouds"""
    before = world.bj.status()["repairs"]
    with frr.Vty(vty(world.bj)) as v:
        running = v.run("show running-config")
        v.configure("router bgp 65001\n address-family ipv4 unicast\n  no neighbor 172.31.1.2 activate\n  no network 10.255.0.1/32\n")
        changed = v.run("show running-config")
    assert sorted(changed.splitlines()) != sorted(running.splitlines())

    def back():
        with frr.Vty(vty(world.bj)) as v:
            return sorted(v.run("show running-config").splitlines()) == sorted(running.splitlines())
    assert process.wait_until(back, 15, 0.1)
    assert process.wait_until(lambda: world.bj.status()["repairs"] > before, 5), world.bj.status()


@pytest.mark.parametrize("daemon", ["bgpd", "zebra", "bfdd"])
def test_all_of_the_configuration_is_there_after_a_daemons_restart(world, daemon):
    """case 13: also with two of everything"""
    with frr.Vty(vty(world.bj, daemon)) as v:
        running = v.run("show running-config")
    process_id = routing_lab.daemon_pid(world.bj, daemon)
    subprocess.run(["kill", "-9", str(process_id)], check=True)

    def back():
        try:
            with frr.Vty(vty(world.bj, daemon)) as v:
                return sorted(v.run("show running-config").splitlines()) == sorted(running.splitlines())
        except (OSError, frr.VtyError):
            return False
    assert process.wait_until(back, 10, 0.05)
    assert process.wait_until(lambda: not world.bj.plan(), 5)


# --- large ------------------------------------------------------------------------------------------------------------


def large(config):
    """2,000 lines of policies, 1,000 entries of a prefix list."""
    entries = [{"prefix": p} for p in routing_lab.prefixes("100.64.0.0/16", 1000)]
    config["bgp"]["prefix-lists"].append(prefix_list("many", *entries))
    config["bgp"]["community-sets"] = [{"name": f"set{i}", "communities": [f"65001:{i + 1}"]} for i in range(20)]
    # A rule is five lines of FRR: its head, two matches, two values.
    for name in ("from-cloud", "to-cloud", "from-fabric", "to-fabric"):
        named(config["bgp"]["policies"], name)["rules"] += [
            {"seq": 1000 + n, "prefix-list": "many", "community-set": f"set{n % 20}", "local-pref": 100 + n, "med": n} for n in range(110)]
    return config


def test_thousands_of_policy_lines_and_entries_commit_without_a_reset(world):
    """FRR 8.4 itself needs the longer for a line the more it has; that nothing else waits for it is what is looked at."""
    before, far = world.settled(), far_sessions(world)
    text = sites.text(large(world.config()))
    with probe.Stream(world.flow("h1", "ali-h1"), world.flow("bj-gw1", "hw-rt")) as stream:
        began = time.monotonic()
        world.bj.apply(text, timeout=300)
        took = time.monotonic() - began
        assert not bounced(before, world.sessions())
        with frr.Vty(vty(world.bj)) as v:
            running = v.run("show running-config")
        began = time.monotonic()
        assert "nothing to do" in world.bj.apply(text).stdout
        again = time.monotonic() - began
        world.bj.apply(sites.text(world.config()), timeout=300)
        assert probe.lost(stream.stop()) == 0
    print(f"2,000 policy lines and 1,000 entries: {took:.1f} s, the same again: {again:.2f} s")
    policy_lines = [line for line in running.splitlines() if line.startswith(("route-map", " match", " set"))]
    entries = [line for line in running.splitlines() if line.startswith("ip prefix-list FW-L-many")]
    assert len(policy_lines) >= 2000 and len(entries) == 1000
    assert not bounced(before, world.sessions())
    after = far_sessions(world)
    assert not bounced(far["leaf1"], after["leaf1"]) and not bounced(far["leaf2"], after["leaf2"]) and far["hw"] == after["hw"]


def test_a_config_that_the_daemon_would_refuse_is_refused_before_anything_moves(world):
    config = world.config()
    named(config["bgp"]["neighbors"], "leaf1")["policy-in"] = "nothing-of-this-name"
    before, machine = world.settled(), kernel.snapshot(world.bj.ns)
    done = world.bj.apply(sites.text(config), expect=gateway.REFUSED)
    assert "nothing-of-this-name" in done.stdout + done.stderr
    assert not moved(before, world.sessions()) and not kernel.difference(machine, kernel.snapshot(world.bj.ns))


def test_a_failing_step_brings_the_previous_sessions_back(world):
    """A step of the overlay fails after FRR's would have been made: the prefix list of before is there again."""
    config = world.config()
    add_entry(config)
    config["segments"] = [{"name": "s", "vni": 4242, "mode": "bridged", "members": ["no-such-if"], "remotes": ["ali"]}]
    before = world.settled()
    done = world.bj.apply(sites.text(config), expect=None)
    assert done.returncode in (gateway.REFUSED, gateway.ROLLED_BACK), done.stdout + done.stderr
    with frr.Vty(vty(world.bj)) as v:
        assert "10.202.0.0/16" not in v.run("show running-config")
    assert not bounced(before, world.sessions())
    assert not world.bj.plan(), json.dumps(world.bj.show("plan"))
