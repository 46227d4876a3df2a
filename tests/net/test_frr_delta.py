# SPDX-License-Identifier: GPL-2.0-or-later
"""The delta of FRR's configuration on real daemons: each config of a list becomes each next one, and is gone back from, by the commands
of the delta alone. Each command must be taken, and what runs must then be what was wanted: no delta is left."""
import itertools
import re

import pytest

import frr
import gateway
import netns
import topo

SELFTEST = gateway.BUILD / "tests/net/frr_delta_selftest"
NS = topo.PREFIX + "delta"

EMPTY = ""

SMALL = """
router bgp 65001
 bgp router-id 10.255.0.1
 no bgp default ipv4-unicast
 neighbor 10.0.1.2 remote-as 65002
 !
 address-family ipv4 unicast
  neighbor 10.0.1.2 activate
 exit-address-family
exit
!
"""

RICH = """
router bgp 65001
 bgp router-id 10.255.0.1
 no bgp ebgp-requires-policy
 no bgp default ipv4-unicast
 bgp graceful-restart
 bgp graceful-restart preserve-fw-state
 bgp bestpath as-path multipath-relax
 no bgp network import-check
 timers bgp 3 9
 neighbor l1 interface remote-as 65003
 neighbor 10.0.1.2 remote-as 65002
 neighbor 10.0.1.2 description the first line
 neighbor 10.0.1.2 bfd
 neighbor 10.0.1.2 password s3cret
 neighbor 10.0.1.2 tcp-mss 1400
 neighbor 10.0.1.2 passive
 neighbor 10.0.1.2 ebgp-multihop 4
 neighbor 10.0.1.2 update-source 10.255.0.1
 neighbor 10.0.1.2 advertisement-interval 0
 neighbor 10.0.1.2 timers 3 9
 neighbor 10.0.1.2 timers connect 1
 neighbor 10.0.1.2 graceful-restart-helper
 neighbor 10.0.2.2 remote-as 65002
 neighbor 10.0.2.2 ttl-security hops 1
 neighbor 10.0.2.2 capability extended-nexthop
 neighbor 10.0.3.2 remote-as 65001
 !
 address-family ipv4 unicast
  network 10.255.0.1/32
  aggregate-address 10.8.0.0/16 summary-only
  neighbor 10.0.1.2 activate
  neighbor 10.0.1.2 next-hop-self
  neighbor 10.0.1.2 default-originate
  neighbor 10.0.1.2 maximum-prefix 100 80
  neighbor 10.0.1.2 route-map IN in
  neighbor 10.0.1.2 route-map OUT out
  neighbor 10.0.2.2 activate
  neighbor 10.0.2.2 maximum-prefix 100
  neighbor 10.0.3.2 activate
  neighbor 10.0.3.2 route-reflector-client
  neighbor 10.0.3.2 next-hop-self force
  maximum-paths 8
  maximum-paths ibgp 8
 exit-address-family
 !
 address-family ipv6 unicast
  network fd00:1::/64
  neighbor l1 activate
  neighbor l1 route-map IN in
 exit-address-family
 !
 address-family l2vpn evpn
  neighbor 10.0.3.2 activate
  advertise-all-vni
  vni 100
   rd 10.255.0.1:100
   route-target import 65000:100
   route-target export 65000:100
  exit-vni
  vni 200
   rd 10.255.0.1:200
  exit-vni
  advertise-svi-ip
  advertise ipv4 unicast
  route-target import 65000:4000
  route-target export 65000:4000
 exit-address-family
!
exit
!
ip prefix-list L description some prefixes
ip prefix-list L seq 5 permit 10.0.0.0/8 ge 16 le 24
ip prefix-list L seq 10 deny any
ip prefix-list L seq 15 permit 11.0.0.0/8
ipv6 prefix-list L6 seq 5 permit fd00::/16 le 64
!
bgp as-path access-list AP seq 5 permit ^65002_
bgp as-path access-list AP seq 10 permit ^65003_
!
bgp community-list standard C seq 5 permit 65001:1
bgp community-list standard C seq 10 permit 65001:2
bgp large-community-list standard LC seq 5 permit 65001:1:1
!
route-map IN permit 10
 description the first rule
 match ip address prefix-list L
 match community C
 match large-community LC
 set local-preference 200
 set metric 10
 set as-path prepend 65001 65001
 set community 65001:1 65001:2 additive
 set large-community 65001:1:1
 set extcommunity bandwidth 100
exit
!
route-map IN permit 20
 on-match next
 match ipv6 address prefix-list L6
exit
!
route-map IN deny 30
exit
!
route-map OUT permit 10
exit
!
"""

# Every value of RICH is another one; entries of lists changed places; the kinds of sessions are swapped.
OTHER = """
router bgp 65001
 bgp router-id 10.255.0.9
 bgp log-neighbor-changes
 no bgp default ipv4-unicast
 bgp graceful-restart restart-time 60
 bgp graceful-restart
 timers bgp 5 15
 neighbor l1 interface remote-as 65004
 neighbor 10.0.1.2 remote-as 65002
 neighbor 10.0.1.2 description another name
 neighbor 10.0.1.2 password 0ther
 neighbor 10.0.1.2 tcp-mss 1300
 neighbor 10.0.1.2 ttl-security hops 2
 neighbor 10.0.1.2 update-source l1
 neighbor 10.0.1.2 advertisement-interval 1
 neighbor 10.0.1.2 timers 4 12
 neighbor 10.0.1.2 timers connect 2
 neighbor 10.0.1.2 graceful-restart
 neighbor 10.0.2.2 remote-as 65005
 neighbor 10.0.2.2 ebgp-multihop 3
 neighbor 10.0.3.2 remote-as 65009
 neighbor 10.0.4.2 remote-as 65001
 !
 address-family ipv4 unicast
  network 10.255.0.9/32
  aggregate-address 10.8.0.0/16
  neighbor 10.0.1.2 activate
  neighbor 10.0.1.2 next-hop-self force
  neighbor 10.0.1.2 default-originate route-map OUT
  neighbor 10.0.1.2 maximum-prefix 50
  neighbor 10.0.1.2 route-map OUT in
  neighbor 10.0.1.2 route-map IN out
  neighbor 10.0.2.2 activate
  neighbor 10.0.2.2 maximum-prefix 100 90
  neighbor 10.0.4.2 activate
  neighbor 10.0.4.2 route-reflector-client
  neighbor 10.0.4.2 next-hop-self
  maximum-paths 4
  maximum-paths ibgp 4
 exit-address-family
 !
 address-family l2vpn evpn
  neighbor 10.0.4.2 activate
  advertise-all-vni
  vni 100
   rd 10.255.0.9:100
   route-target import 65000:101
   route-target export 65000:100
  exit-vni
  vni 300
   rd 10.255.0.1:300
  exit-vni
  advertise ipv4 unicast route-map OUT
  advertise ipv6 unicast
  route-target import 65000:4001
  route-target export 65000:4001
 exit-address-family
!
exit
!
ip prefix-list L description others
ip prefix-list L seq 5 permit 11.0.0.0/8
ip prefix-list L seq 10 permit 10.0.0.0/8 ge 16 le 24
ip prefix-list L seq 20 deny any
ip prefix-list NEW seq 5 permit 12.0.0.0/8
!
bgp as-path access-list AP seq 5 permit ^65003_
bgp as-path access-list AP seq 10 permit ^65002_
!
bgp community-list standard C seq 5 permit 65001:2
bgp community-list standard C seq 10 permit 65001:1 65001:3
bgp large-community-list standard LC seq 5 deny 65001:1:1
bgp large-community-list standard LC seq 10 permit 65001:1:2
!
route-map IN deny 10
 description another rule
 match ip address prefix-list NEW
 match community C exact-match
 match as-path AP
 set local-preference 300
 set metric 20
 set as-path prepend 65001
 set community 65001:3
 set large-community 65001:1:2 additive
 set extcommunity bandwidth 300
exit
!
route-map IN permit 20
 on-match goto 40
exit
!
route-map IN permit 40
exit
!
route-map OUT permit 10
 set ipv6 next-hop prefer-global
exit
!
"""


def bare(config):
    """The same sessions, rules and nodes, with nothing said of them: each line is undone alone."""
    kept = ("router bgp", "address-family", "neighbor .* remote-as", "neighbor .* activate", "advertise-all-vni", "vni", "exit", "route-map",
            "no bgp default", "bfd", "peer")
    return "\n".join(line for line in config.splitlines() if re.match("|".join(f" *{k}" for k in kept), line))


OTHER_AS = SMALL.replace("router bgp 65001", "router bgp 65099").replace("remote-as 65002", "remote-as 65001")
# An address that was another AS's is our own's; and a session goes while another one comes.
MOVED = SMALL.replace("remote-as 65002", "remote-as 65001").replace("activate\n", "activate\n  neighbor 10.0.1.2 route-reflector-client\n")
RENAMED = SMALL.replace("10.0.1.2", "10.0.9.2")
# Neither what BGP runs nor what a policy says.
LISTS_ONLY = "ip prefix-list L seq 10 permit 10.0.0.0/8 ge 16 le 24\nroute-map OUT deny 10\nexit\n"

BGPD = {"empty": EMPTY, "small": SMALL, "rich": RICH, "other": OTHER, "other-as": OTHER_AS, "moved": MOVED, "renamed": RENAMED,
        "lists-only": LISTS_ONLY, "rich-bare": bare(RICH), "other-bare": bare(OTHER)}

BFD_A = """
bfd
 peer 10.0.1.2 local-address 10.0.1.1 interface l1
  detect-multiplier 5
  transmit-interval 50
  receive-interval 60
 exit
 !
 peer 10.0.2.2 local-address 10.0.1.1 interface l1
 exit
 !
 peer 10.0.9.2 multihop local-address 10.0.1.1
  transmit-interval 50
  receive-interval 50
  minimum-ttl 250
 exit
 !
exit
!
"""
BFD_B = """
bfd
 peer 10.0.1.2 local-address 10.0.1.1 interface l1
  transmit-interval 10
 exit
 !
 peer 10.0.2.2 local-address 10.0.1.1 interface l1
  detect-multiplier 5
  transmit-interval 50
  receive-interval 50
 exit
 !
 peer 10.0.9.2 multihop local-address 10.0.1.1
  transmit-interval 70
  receive-interval 50
  minimum-ttl 253
 exit
 !
 peer 10.0.9.3 multihop local-address 10.0.1.1
 exit
 !
exit
!
"""
BFDD = {"empty": EMPTY, "a": BFD_A, "b": BFD_B, "a-bare": bare(BFD_A)}

ALWAYS = "no zebra nexthop kernel enable\n"
ZEBRA = {"always": ALWAYS,
         "some": ALWAYS + "vni 4000\nip nht resolve-via-default\nip protocol bgp route-map A\nip router-id 1.1.1.1\n",
         "other": ALWAYS + "vni 4001\nipv6 nht resolve-via-default\nip protocol bgp route-map B\nip router-id 1.1.1.2\n"}


class Daemons:
    """One set of them, and the delta of what each runs to what is wanted."""

    def __init__(self, daemons, folder):
        self.daemons, self.folder = daemons, folder

    def running(self, daemon):
        with self.daemons.vty(daemon) as vty:
            return vty.run("show running-config")

    def delta(self, daemon, want):
        """[(what it interrupts, lines of the nodes around it, command)]"""
        have, wanted = self.folder / "have", self.folder / "want"
        have.write_text(self.running(daemon), encoding="utf-8")
        wanted.write_text(want, encoding="utf-8")
        fields = (line.split("\t") for line in netns.run(SELFTEST, have, wanted).stdout.splitlines())
        return [(f[0], f[1:-1], f[-1]) for f in fields]

    def send(self, daemon, changes):
        with self.daemons.vty(daemon) as vty:
            for _, context, command in changes:
                for line in ["end", "configure terminal", *context, command]:
                    vty.run(line)

    def become(self, daemon, want):
        changes = self.delta(daemon, want)
        self.send(daemon, changes)
        assert self.delta(daemon, want) == [], (changes, self.running(daemon))
        return changes


@pytest.fixture(scope="module")
def daemons(tmp_path_factory):
    folder = tmp_path_factory.mktemp("delta")
    folder.chmod(0o755)
    for parent in list(folder.parents)[:2]:
        parent.chmod(0o755)
    netns.create(NS)
    try:
        netns.ip(NS, "link add l1 type veth peer name p1\nlink set l1 up\nlink set p1 up\naddr add 10.0.1.1/30 dev p1\n"
                     "addr add 10.255.0.1/32 dev lo\n")
        with frr.Frr(NS, folder / "frr") as running:
            yield Daemons(running, folder)
    finally:
        netns.delete(NS)


def transitions(configs):
    """Each of them into each other."""
    return list(itertools.permutations(configs, 2))


def try_transition(daemons, daemon, configs, first, second):
    daemons.become(daemon, configs[first])
    changes = daemons.become(daemon, configs[second])
    assert changes, "two configs that differ"


@pytest.mark.parametrize("first, second", transitions(BGPD))
def test_bgpd(daemons, first, second):
    try_transition(daemons, "bgpd", BGPD, first, second)


@pytest.mark.parametrize("first, second", transitions(BFDD))
def test_bfdd(daemons, first, second):
    try_transition(daemons, "bfdd", BFDD, first, second)


@pytest.mark.parametrize("first, second", transitions(ZEBRA))
def test_zebra(daemons, first, second):
    try_transition(daemons, "zebra", ZEBRA, first, second)


def test_smallest_effect(daemons):
    """A value is set in place, a session goes by one command, and so does a list's user before the list."""
    daemons.become("bgpd", RICH)
    want = RICH.replace("local-preference 200", "local-preference 250").replace("timers 3 9\n neighbor 10.0.1.2 timers",
                                                                                  "timers 4 12\n neighbor 10.0.1.2 timers")
    assert [c for _, _, c in daemons.delta("bgpd", want)] == ["set local-preference 250", "neighbor 10.0.1.2 timers 4 12"]
    want = "\n".join(line for line in RICH.splitlines() if "neighbor 10.0.1.2" not in line)
    assert [c for _, _, c in daemons.delta("bgpd", want)] == ["no neighbor 10.0.1.2"]
    commands = [c for _, _, c in daemons.delta("bgpd", SMALL)]
    assert commands.index("no route-map IN permit 10") < commands.index("no ip prefix-list L seq 10 deny any")
    commands = [c for _, _, c in daemons.become("bgpd", SMALL) + daemons.become("bgpd", RICH)]
    at = [commands.index(c) for c in ("ip prefix-list L seq 10 deny any", "route-map IN permit 10", "neighbor 10.0.1.2 route-map IN in")]
    assert at == sorted(at)
