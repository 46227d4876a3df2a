# SPDX-License-Identifier: GPL-2.0-or-later
"""What a changed line of FRR's configuration interrupts, on real daemons: a gateway with a session to each of two peers. Each change is
made by the commands of the delta; which of the sessions went down must be what frr_impact() said before."""
import pytest

import frr
import gateway
import netns
import process
import topo

SELFTEST = gateway.BUILD / "tests/net/frr_delta_selftest"
NAMES = ("gw", "a", "b")
MSS = 1400
NS = {n: f"{topo.PREFIX}impact-{n}" for n in NAMES}
A, B = "10.0.1.2", "10.0.2.2"

BASE = f"""
router bgp 65001
 bgp router-id 10.255.0.1
 no bgp default ipv4-unicast
 no bgp network import-check
 neighbor {A} remote-as 65002
 neighbor {A} timers 1 9
 neighbor {A} timers connect 1
 neighbor {B} remote-as 65001
 neighbor {B} timers 1 9
 neighbor {B} timers connect 1
 !
 address-family ipv4 unicast
  network 10.255.0.1/32
  neighbor {A} activate
  neighbor {A} route-map ALL in
  neighbor {A} route-map ALL out
  neighbor {B} activate
  neighbor {B} route-map ALL in
  neighbor {B} route-map ALL out
 exit-address-family
 !
exit
!
ip prefix-list L seq 5 permit 10.0.0.0/8 le 32
!
route-map ALL permit 10
exit
!
route-map OTHER permit 10
exit
!
"""


def session(*lines):
    """BASE with lines of A's, or of the instance's."""
    return BASE.replace(f" neighbor {A} timers connect 1\n", f" neighbor {A} timers connect 1\n" + "".join(f" {l}\n" for l in lines))


def family(*lines):
    return BASE.replace(f"  neighbor {A} activate\n", f"  neighbor {A} activate\n" + "".join(f"  {l}\n" for l in lines))


def n(text, peer=A):
    return f"neighbor {peer} {text}"


CHANGES = {
    "description": session(n("description a line")),
    "password": session(n("password s3cret")),
    "tcp-mss": session(n(f"tcp-mss {MSS}")),
    "ebgp-multihop": session(n("ebgp-multihop 4")),
    "ttl-security": session(n("ttl-security hops 1")),
    "update-source": session(n("update-source 10.0.1.1")),
    "passive": session(n("passive")),
    "extended-nexthop": session(n("capability extended-nexthop")),
    "graceful-restart": session(n("graceful-restart")),
    "graceful-restart-helper": session(n("graceful-restart-helper")),
    "graceful-restart-disable": session(n("graceful-restart-disable")),
    "bfd": session(n("bfd")),
    "advertisement-interval": session(n("advertisement-interval 0")),
    "timers": BASE.replace(n("timers 1 9"), n("timers 2 12")),
    "timers connect": BASE.replace(n("timers connect 1"), n("timers connect 2")),
    "remote-as": BASE.replace(n("remote-as 65002"), n("remote-as 65009")),
    "router-id": BASE.replace("router-id 10.255.0.1", "router-id 10.255.0.9"),
    "cluster-id": session("bgp cluster-id 10.255.0.9"),
    "global graceful-restart": session("bgp graceful-restart"),
    "global preserve-fw-state": session("bgp graceful-restart preserve-fw-state"),
    "global restart-time": session("bgp graceful-restart restart-time 60"),
    "global stalepath-time": session("bgp graceful-restart stalepath-time 60"),
    "global graceful-restart-disable": session("bgp graceful-restart-disable"),
    "multipath-relax": session("bgp bestpath as-path multipath-relax"),
    "requires-policy": session("no bgp ebgp-requires-policy"),
    "import-check": BASE.replace(" no bgp network import-check\n", ""),
    "log-neighbor-changes": session("bgp log-neighbor-changes"),
    "timers bgp": session("timers bgp 4 12"),
    "fast-external-failover": session("no bgp fast-external-failover"),
    "delay-timer": BASE + "bgp route-map delay-timer 1\n",
    "suppress-duplicates": session("no bgp suppress-duplicates"),
    "deactivate": BASE.replace(f"  {n('activate')}\n  {n('route-map ALL in')}\n  {n('route-map ALL out')}\n", ""),
    "ipv6 unicast": BASE.replace(" exit-address-family\n", f" exit-address-family\n address-family ipv6 unicast\n  {n('activate')}\n"
                                 " exit-address-family\n"),
    "evpn": BASE.replace(" exit-address-family\n", f" exit-address-family\n address-family l2vpn evpn\n  {n('activate')}\n"
                         " exit-address-family\n"),
    "maximum-prefix": family(n("maximum-prefix 100 80")),
    "next-hop-self": family(n("next-hop-self")),
    "next-hop-self force": family(n("next-hop-self force")),
    "default-originate": family(n("default-originate")),
    "allowas-in": family(n("allowas-in 1")),
    "prefix-list": family(n("prefix-list L in")),
    "soft-reconfiguration": family(n("soft-reconfiguration inbound")),
    "route-map": BASE.replace(n("route-map ALL in"), n("route-map OTHER in")),
    "route-map gone": BASE.replace(f"  {n('route-map ALL out')}\n", ""),
    "route-reflector-client": BASE.replace(f"  {n('activate', B)}\n", f"  {n('activate', B)}\n  {n('route-reflector-client', B)}\n"),
    "maximum-paths": family("maximum-paths 4", "maximum-paths ibgp 4"),
    "network": family("network 10.9.0.0/16"),
    "aggregate": family("aggregate-address 10.8.0.0/16 summary-only"),
    "route-map entry": BASE.replace("route-map ALL permit 10\n", "route-map ALL permit 10\n set metric 5\nexit\nroute-map ALL permit 20\n"),
    "prefix-list entry": BASE.replace("seq 5 permit", "seq 5 deny").replace("!\nroute-map ALL", "ip prefix-list L seq 9 permit any\n!\nroute-map ALL", 1),
    "neighbor gone": "".join(l for l in BASE.splitlines(keepends=True) if A not in l),
    "neighbor comes": session(n("remote-as 65004", "10.0.3.2"), n("timers 1 3", "10.0.3.2")),
    "AS": BASE.replace("router bgp 65001", "router bgp 65099"),
}


# The far side does not do the same, so there is no session to go back from.
STAY_DOWN = {"password", "ttl-security", "remote-as", "deactivate", "neighbor gone", "AS"}


def peer_config(as_number, far_end, far_as=65001):
    return (f"router bgp {as_number}\nno bgp ebgp-requires-policy\nneighbor {far_end} remote-as {far_as}\nneighbor {far_end} timers 1 9\n"
            f"neighbor {far_end} timers connect 1\nneighbor {far_end} ebgp-multihop 4\n")


class Sessions:
    def __init__(self, daemons, folder):
        self.gw, self.a, self.b = daemons
        self.folder = folder

    def neighbors(self):
        return frr.neighbors(self.gw.socket("bgpd"))

    def delta(self, want):
        have, wanted = self.folder / "have", self.folder / "want"
        with self.gw.vty() as vty:
            have.write_text(vty.run("show running-config"), encoding="utf-8")
        wanted.write_text(want, encoding="utf-8")
        fields = (line.split("\t") for line in netns.run(SELFTEST, have, wanted).stdout.splitlines())
        return [(f[0], f[1:-1], f[-1]) for f in fields]

    def become(self, want):
        changes = self.delta(want)
        with self.gw.vty() as vty:
            for _, context, command in changes:
                for line in ["end", "configure terminal", *context, command]:
                    vty.run(line)
        assert self.delta(want) == []
        return {impact for impact, _, _ in changes if impact}

    def wait_up(self):
        self.gw.wait_established(A, B, timeout=30)

    def fate(self, peer, before):
        """Of a session since then: "ended", "reset", "kept", or None while it cannot be known."""
        now = self.neighbors().get(peer)
        if now is None:
            return "ended"
        if now["connectionsDropped"] != before["connectionsDropped"] or now["bgpState"] != "Established":
            return "reset"
        # It has outlived the change for sure when the far side has said so, twice.
        heard = [i["messageStats"]["keepalivesRecv"] for i in (before, now)]
        return "kept" if heard[1] >= heard[0] + 2 else None

    def fates(self, before):
        known = {}

        def all_known():
            for peer in before:
                if known.get(peer) is None or known[peer] == "kept":
                    known[peer] = self.fate(peer, before[peer])
            return all(known.values())

        assert process.wait_until(all_known, 15, 0.05), known
        return known


@pytest.fixture(scope="module")
def sessions(tmp_path_factory):
    folder = tmp_path_factory.mktemp("impact")
    folder.chmod(0o755)
    for parent in list(folder.parents)[:2]:
        parent.chmod(0o755)
    daemons = [frr.Frr(NS[name], folder / name) for name in NAMES]
    try:
        for name in NAMES:
            netns.create(NS[name])
        for i, name in ((1, "a"), (2, "b")):
            netns.run("ip", "link", "add", f"l{i}", "netns", NS["gw"], "type", "veth", "peer", "name", "l0", "netns", NS[name])
            netns.ip(NS["gw"], f"addr add 10.0.{i}.1/30 dev l{i}\nlink set l{i} up\n")
            netns.ip(NS[name], f"addr add 10.0.{i}.2/30 dev l0\nlink set l0 up\n")
        for d in daemons:
            d.start()
        daemons[1].configure(peer_config(65002, "10.0.1.1"))
        daemons[2].configure(peer_config(65001, "10.0.2.1").replace("neighbor 10.0.2.1 ebgp-multihop 4\n", ""))
        yield Sessions(daemons, folder)
    finally:
        for d in daemons:
            d.stop()
        for name in NAMES:
            netns.delete(NS[name])


def expected(impacts, config):
    """The fate of each session, by what was said. One that ended and is in the new config too was made anew."""
    fate = {A: "kept", B: "kept"}
    for impact in impacts:
        verb, what = impact.split(" ", 1)
        for peer in fate:
            if what in (f"BGP {peer}", "all BGP sessions") or (what == "all internal BGP sessions" and peer == B):
                fate[peer] = "ended" if verb == "ends" and f"neighbor {peer} remote-as" not in config else "reset"
    return fate


def change(sessions, config):
    before = {p: sessions.neighbors()[p] for p in (A, B)}
    said = sessions.become(config)
    fates = sessions.fates(before)
    assert fates == expected(said, config), said
    return said


@pytest.mark.parametrize("name", CHANGES)
def test_impact(sessions, name):
    """There, and back again if the far side still talks to us."""
    sessions.become(BASE)
    sessions.wait_up()
    change(sessions, CHANGES[name])
    if name not in STAY_DOWN:
        sessions.wait_up()
        change(sessions, BASE)


@pytest.mark.parametrize("name", ["timers", "tcp-mss", "graceful-restart"])
def test_from_the_next_session(sessions, name):
    """What is said to count from the next session does not count in this one."""
    sessions.become(BASE)
    sessions.wait_up()
    def in_force():
        now = sessions.neighbors()[A]
        return now["bgpTimerHoldTimeMsecs"], now.get("bgpTcpMssSynced"), now["gracefulRestartInfo"]["localGrMode"].strip("*")

    first = in_force()
    assert sessions.become(CHANGES[name]) == {f"BGP {A} uses it from its next session"}
    assert in_force()[0] == first[0] and in_force()[1] != MSS
    with sessions.gw.vty() as vty:
        vty.run(f"clear bgp {A}")
    # The kernel takes 12 bytes of it for the time stamps.
    assert process.wait_until(lambda: in_force()[1] == MSS - 12 if name == "tcp-mss" else in_force() != first, 15, 0.05), in_force()
