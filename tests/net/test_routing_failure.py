# SPDX-License-Identifier: GPL-2.0-or-later
"""Lines that fail and daemons that die, while a packet goes each millisecond. Field cases 30 and 32; the bench says how fast."""
import os
import signal
import threading
import time

import pytest

import frr
import kernel
import netns
import probe
import process
import routing_lab
import sites
from routing_lab import BGP, FLIP, OURS, carriers, daemon_pid, routes, vty

DAEMONS = ("zebra", "bfdd", "bgpd")
SIGNALS = {"kill": signal.SIGKILL, "term": signal.SIGTERM, "stop": signal.SIGSTOP}
LONG_GAP = 400  # ms: BFD 50x3 takes 150, and the machine is busy


def report(request, result):
    """Measured, for the reader of -s."""
    print(f"{request.node.name}: " + ", ".join(f"{label} {f['longest_gap']} ms ({f['lost_forward']}+{f['lost_back']} of {f['sent']})"
                                               for label, f in result.items()))


# --- lines ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["blackhole", "down"])
@pytest.mark.parametrize("line, cloud", [("c1-a", "ali-gw1"), ("c2-a", "hw-rt")])
def test_a_line_that_fails_is_left_and_taken_again(world, request, mode, line, cloud):
    other = line[:-1] + "b"
    near, vtep = world.bj.ns, f"{routing_lab.VTEPS[cloud]}/32"
    flows = [(f"{cloud}-{i}", *world.flow("bj-gw1", cloud)[1:]) for i in range(4)]
    with probe.Stream(*flows) as stream:
        world.lab.fail(line, mode)
        assert process.wait_until(lambda: carriers(near, vtep) == [other], 5)
        assert process.wait_until(lambda: not routing_lab.routes(near, vtep)[0]["protocol"] == FLIP, 10), "the override stays for ever"
        failed = stream.stop(at_least=500)
    report(request, failed)
    # BIRD scans what BFD tells it at its own pace: its way back is not ours.
    gaps = [f["longest_gap"] for f in failed.values()]
    assert max(gaps) < (LONG_GAP if cloud == "ali-gw1" else 1500), failed
    assert probe.ping(world.ns("h1"), routing_lab.HOSTS["ali-h1" if line[1] == "1" else "hw-h1"], timeout=3)
    with probe.Stream(*flows) as stream:
        world.lab.heal(line)
        assert process.wait_until(world.shared, 30, 0.05), world.describe()
        assert probe.lost(stream.stop(at_least=300)) < 50


def test_a_failed_line_is_reported(world):
    world.lab.fail("c1-a", "blackhole")
    assert process.wait_until(lambda: routing_lab.says(str(world.bj.show("lines")), r"down"), 5)
    assert routing_lab.says(world.bj.call("show", "bfd").stdout, r"172\.31\.1\.2.*down")
    assert routing_lab.says(world.bj.log(), r"(c1-a|172\.31\.1\.2).*down|down.*(c1-a|172\.31\.1\.2)")
    world.lab.heal("c1-a")
    assert process.wait_until(world.shared, 30, 0.05)


@pytest.mark.parametrize("mode", ["blackhole", "down"])
def test_both_lines_failing_is_reported_and_healing_restores(world, mode):
    for line in ("c1-a", "c1-b"):
        world.lab.fail(line, mode)
    assert process.wait_until(lambda: not routing_lab.has(world.bj.ns, "10.101.1.0/24"), 15)
    assert process.wait_until(lambda: not routing_lab.has(world.ns("leaf1"), "10.101.1.0/24"), 5), "the fabric is told"
    assert not probe.ping(world.ns("h1"), routing_lab.HOSTS["ali-h1"], timeout=1)
    # The other cloud does not notice.
    assert probe.ping(world.ns("h1"), routing_lab.HOSTS["hw-h1"], timeout=3)
    assert process.wait_until(lambda: routing_lab.says(world.bj.log() + str(world.bj.status()), r"(ali|10\.255\.1\.1).*(no line|unreach|down)"), 5), \
        "nobody said that the remote has no line left"
    for line in ("c1-a", "c1-b"):
        world.lab.heal(line)
    world.wait_ready()


def test_flapping_of_an_unrelated_interface_leaves_ecmp_in_the_kernel(world):
    """case 30"""
    with probe.Stream(*world.flows(2)) as stream:
        for _ in range(5):
            world.lab.fail("fab1", "down")
            assert process.wait_until(lambda: not routing_lab.has(world.bj.ns, "10.30.1.0/24"), 10)
            world.lab.heal("fab1")
            assert process.wait_until(lambda: routing_lab.has(world.bj.ns, "10.30.1.0/24"), 15)
        assert process.wait_until(world.shared, 5)
        assert probe.lost(stream.stop()) == 0


def test_flapping_of_a_line_leaves_both_lines_in_the_kernel(world):
    """case 30: FRR's own kernel nexthop groups stay at one member"""
    for _ in range(4):
        world.lab.fail("c1-a", "down")
        assert process.wait_until(lambda: carriers(world.bj.ns, "10.101.1.0/24") == ["c1-b"], 5)
        world.lab.heal("c1-a")
        assert process.wait_until(world.shared, 30, 0.05), world.describe()


@pytest.mark.parametrize("prefix", ["10.101.1.0/24", "10.255.1.1/32"])
def test_a_route_that_is_gone_from_the_kernel_is_back_within_a_second(world, prefix):
    """case 30: by zebra itself, or by who compares it with the kernel"""
    before = routes(world.bj.ns, prefix)
    netns.run("ip", "route", "del", prefix, "proto", "bgp", ns=world.bj.ns)
    assert process.wait_until(lambda: routes(world.bj.ns, prefix) == before, 1.5, 0.01), routes(world.bj.ns, prefix)


def test_a_route_that_lost_one_of_its_lines_is_whole_within_a_second(world):
    """case 30"""
    before = routes(world.bj.ns, "10.101.1.0/24")
    netns.run("ip", "route", "replace", "10.101.1.0/24", "proto", "bgp", "metric", "20", "via", "172.31.1.2", "dev", "c1-a", ns=world.bj.ns)
    assert process.wait_until(lambda: routes(world.bj.ns, "10.101.1.0/24") == before, 1.5, 0.01), routes(world.bj.ns, "10.101.1.0/24")


def test_the_flip_does_not_wait_for_bgp(world):
    """bgpd and zebra stand still: what moves, moves by itself, and steps back when BGP has caught up."""
    pids = [daemon_pid(world.bj, d) for d in ("bgpd", "zebra")]
    moved = ("10.101.1.0/24", "10.255.1.1/32")
    try:
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        with probe.Stream(*world.flows(2), world.flow("h1", "ali-h1")) as stream:
            world.lab.fail("c1-a", "blackhole")
            for prefix in moved:
                assert process.wait_until(lambda p=prefix: routes(world.bj.ns, p)[0]["protocol"] == FLIP, 2, 0.005), prefix
                assert carriers(world.bj.ns, prefix) == ["c1-b"], (prefix, routes(world.bj.ns, prefix), world.bj.log()[-3000:])
            result = stream.stop(at_least=300)
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)
    assert max(f["longest_gap"] for f in result.values()) < LONG_GAP, result
    for prefix in moved:
        assert process.wait_until(lambda p=prefix: FLIP not in [r["protocol"] for r in routes(world.bj.ns, p)], 15), routes(world.bj.ns, prefix)
        assert carriers(world.bj.ns, prefix) == ["c1-b"]
    # Other lines' routes never moved.
    assert carriers(world.bj.ns, "10.201.1.0/24") == ["c2-a", "c2-b"]
    world.lab.heal("c1-a")
    assert process.wait_until(world.shared, 30, 0.05), world.describe()


def test_the_flip_does_not_wait_for_a_commit(world):
    """Thousands of lines keep bgpd and fairwayd's loop busy for seconds."""
    config = world.config()
    for n in range(4):
        prefixes = routing_lab.prefixes(f"100.{64 + n}.0.0/16", 250)
        config["bgp"]["prefix-lists"].append(routing_lab.prefix_list(f"many{n}", *({"prefix": p} for p in prefixes)))
    applying = threading.Thread(target=lambda: world.bj.apply(sites.text(config), timeout=120))
    bgpd = daemon_pid(world.bj, "bgpd")
    before = process.cpu_seconds(bgpd)
    with probe.Stream(*world.flows(2)) as stream:
        applying.start()
        try:
            assert process.wait_until(lambda: process.cpu_seconds(bgpd) > before + 0.3, 20, 0.01), "bgpd has nothing to do"
            world.lab.fail("c1-a", "blackhole")
            assert process.wait_until(lambda: carriers(world.bj.ns, "10.255.1.1/32") == ["c1-b"], 2, 0.005)
            busy = applying.is_alive()
        finally:
            applying.join()
        result = stream.stop(at_least=100)
    assert busy, "the commit was over before the line failed: nothing was tried"
    assert max(f["longest_gap"] for f in result.values()) < LONG_GAP, result
    world.lab.heal("c1-a")
    assert process.wait_until(world.shared, 30, 0.05), world.describe()


def test_the_flip_leaves_foreign_routes_alone(world):
    """Somebody's static route over the line that fails, better than BGP's: not ours to override."""
    netns.ip(world.bj.ns, "route add 10.77.0.0/16 via 172.31.1.2 dev c1-a metric 7 proto static\n")
    try:
        world.lab.fail("c1-a", "blackhole")
        assert process.wait_until(lambda: carriers(world.bj.ns, "10.255.1.1/32") == ["c1-b"], 5)
        assert [r["protocol"] for r in routes(world.bj.ns, "10.77.0.0/16")] == ["4"]
    finally:
        netns.ip(world.bj.ns, "route del 10.77.0.0/16\n")


def test_an_override_of_an_earlier_life_is_flushed_at_the_start(world):
    """A route of the flip's protocol that nobody withdrew would hide BGP for ever."""
    world.bj.kill()
    netns.ip(world.bj.ns, f"route add 10.101.1.0/24 via 172.31.1.2 dev c1-a metric 5 proto {FLIP}\n")
    assert routes(world.bj.ns, "10.101.1.0/24")[0]["protocol"] == FLIP
    world.bj.boot()
    assert process.wait_until(lambda: routes(world.bj.ns, "10.101.1.0/24")[0]["protocol"] == BGP, 3)


# --- daemons ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", SIGNALS)
@pytest.mark.parametrize("daemon", DAEMONS)
def test_a_daemon_dies_or_hangs_forwarding_goes_on_and_all_is_back(world, request, daemon, how):
    """case 32"""
    pid = daemon_pid(world.bj, daemon)
    patience = 10
    with probe.Stream(*world.flows(2), world.flow("h1", "ali-h1"), world.flow("h1", "hw-h1")) as stream:
        os.kill(pid, SIGNALS[how])
        began = time.monotonic()
        assert process.wait_until(lambda: process.start_time(pid) is None, 10), f"{daemon} hangs and nobody ends it"
        assert process.wait_until(lambda: frr.answers(vty(world.bj, daemon)), 10)
        for what in (world.established, world.bfd_up, world.shared):
            assert process.wait_until(what, max(0.1, began + patience - time.monotonic()), 0.05), f"{what.__name__}: not within {patience} s:\n{world.describe()}"
        back = world.sessions()
        assert process.wait_until(world.attached, 15), "bgpd looks for a new zebra every 10 s"
        assert not routing_lab.bounced(back, world.sessions())
        result = stream.stop(at_least=100)
    report(request, result)
    assert not world.bj.plan()
    # Between gateways, both of which have a floating route. BIRD has none: what it sends back waits until its session is up again.
    vtep_gaps = {label: f["longest_gap"] for label, f in result.items() if label.startswith("ali-gw1")}
    assert len(vtep_gaps) == 2 and max(vtep_gaps.values()) < 150, vtep_gaps
    world.wait_ready()


@pytest.mark.parametrize("how", SIGNALS)
def test_fairwayd_dies_or_hangs_and_nothing_else_notices(world, request, how):
    before = world.settled()
    pids = {d: daemon_pid(world.bj, d) for d in DAEMONS}
    machine = kernel.snapshot(world.bj.ns)
    with probe.Stream(*world.flows(2), world.flow("h1", "ali-h1")) as stream:
        if how == "stop":
            os.kill(world.bj.child.pid, signal.SIGSTOP)
            time.sleep(3)  # that nothing happens takes time to see
            os.kill(world.bj.child.pid, signal.SIGCONT)
        else:
            (world.bj.kill if how == "kill" else world.bj.stop)()
            world.bj.boot()
        assert world.bj.wait_converged().plan() == []
        result = stream.stop(at_least=500)
    report(request, result)
    assert probe.lost(result) == 0, result
    assert {d: daemon_pid(world.bj, d) for d in DAEMONS} == pids, "the daemons are adopted, not started again"
    assert not routing_lab.moved(before, world.sessions())
    assert not kernel.difference(machine, kernel.snapshot(world.bj.ns))


def test_a_line_that_fails_while_fairwayd_is_dead_is_left_all_the_same(world):
    """FRR alone does it then, at its own pace; afterwards fairwayd takes over what it finds."""
    world.bj.kill()
    try:
        with probe.Stream(*world.flows(2)) as stream:
            world.lab.fail("c1-a", "blackhole")
            assert process.wait_until(lambda: carriers(world.bj.ns, "10.255.1.1/32") == ["c1-b"], 5)
            result = stream.stop(at_least=300)
        assert max(f["longest_gap"] for f in result.values()) < 1500, result
    finally:
        world.bj.boot()
    assert carriers(world.bj.ns, "10.255.1.1/32") == ["c1-b"]
    world.lab.heal("c1-a")
    assert process.wait_until(world.shared, 30, 0.05), world.describe()


def test_the_floating_route_carries_while_bgpd_is_away(world):
    """And leaves out the line whose BFD is down."""
    world.lab.fail("c1-a", "blackhole")
    assert process.wait_until(lambda: carriers(world.bj.ns, "10.255.1.1/32") == ["c1-b"], 5)

    def devices(protocol):
        return [[d for _, d, _ in r["hops"]] for r in routes(world.bj.ns, "10.255.1.1/32") if r["protocol"] == protocol]
    assert process.wait_until(lambda: devices(OURS) == [["c1-b"]], 5), devices(OURS)
    # BGP has come to the same view, too: of a bgpd that dies in the middle of telling it, zebra may keep the route.
    assert process.wait_until(lambda: devices(BGP) == [["c1-b"]], 5), devices(BGP)
    pid = daemon_pid(world.bj, "bgpd")
    with probe.Stream(world.flow("bj-gw1", "ali-gw1")) as stream:
        os.kill(pid, signal.SIGKILL)
        assert process.wait_until(lambda: routes(world.bj.ns, "10.255.1.1/32") and routes(world.bj.ns, "10.255.1.1/32")[0]["protocol"] == OURS, 5)
        assert process.wait_until(lambda: routes(world.bj.ns, "10.255.1.1/32")[0]["protocol"] == BGP, 15)
        result = stream.stop(at_least=100)
    assert max(f["longest_gap"] for f in result.values()) < 150, result
    world.lab.heal("c1-a")
    assert process.wait_until(world.shared, 30, 0.05), world.describe()


def test_all_daemons_at_once(world):
    for d in DAEMONS:
        os.kill(daemon_pid(world.bj, d), signal.SIGKILL)
    for what in (world.established, world.bfd_up, world.shared):
        assert process.wait_until(what, 10, 0.05), f"{what.__name__}:\n{world.describe()}"


def test_a_machine_that_boots_with_the_saved_file_has_its_sessions(world):
    """Everything is gone: devices stay, daemons and fairwayd do not."""
    world.bj.stop()
    for d in DAEMONS:
        os.kill(daemon_pid(world.bj, d), signal.SIGKILL)
    world.bj.boot()
    world.wait_ready()


def test_teardown_takes_the_daemons_and_routes(world):
    """`routing` taken out of the file: no daemon, no route of BGP's or ours is left, and back again."""
    plain = world.config()
    for line in plain["lines"]:
        line.pop("bgp")
        line.pop("bfd")
    plain.pop("bgp")
    for r in plain["remotes"]:
        r["learn"] = "static"
    pids = [daemon_pid(world.bj, d) for d in DAEMONS]
    world.bj.apply(sites.text(plain))
    assert process.wait_until(lambda: all(process.start_time(p) is None for p in pids), 10)
    assert not routes(world.bj.ns, "10.101.1.0/24")
    assert [r["protocol"] for r in routes(world.bj.ns, "10.255.1.1/32")] == [OURS]
    world.bj.apply(sites.text(world.config()))
    world.wait_ready()
