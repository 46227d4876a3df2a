# SPDX-License-Identifier: GPL-2.0-or-later
"""What one BGP session can be: its protection, limits, families, next hops, weights, policies; against plain FRR and GoBGP.
Field cases 8, 33, 34.

    gw (Fairway, AS 65001) === l1, l2 (IPv4 and IPv6) === r (FRR, AS 65201)
                           === l3 ======================= g (GoBGP, AS 4200000001)
"""
import json
import pathlib

import pytest

import frr
import gateway
import netns
import probe
import process
import routing_lab
import sites
import topo
from routing_lab import BGP, carriers, has, policy, prefix_list, routes, vty

R4, R6, G4 = {"l1": "172.31.1.2", "l2": "172.31.2.2"}, {"l1": "fd00:31:1::2", "l2": "fd00:31:2::2"}, "172.31.3.2"
OUR4, OUR6 = {"l1": "172.31.1.1", "l2": "172.31.2.1"}, {"l1": "fd00:31:1::1", "l2": "fd00:31:2::1"}
GOBGP_AS = 4200000001
NEVER = 3  # seconds in which a session that must not come up would have


def line(name, both=False, **bgp):
    n = name[1]
    entry = {"name": name, "interface": name, "address": f"172.31.{n}.1/30", "peer-address": f"172.31.{n}.2",
             "bgp": {"peer-as": GOBGP_AS if name == "l3" else 65201, **bgp}}
    if both:
        entry |= {"address6": f"fd00:31:{n}::1/64", "peer-address6": f"fd00:31:{n}::2"}
    return entry


def config(*lines, policies=(), prefix_lists=(), **bgp):
    """All is permitted unless the line says otherwise."""
    return {
        "system": {"hostname": "gw"},
        "lines": list(lines),
        "vtep": {"address": "10.255.0.1", "address6": "fd00:255::1"},
        "remotes": [{"name": "r", "vtep": "10.255.1.1", "lines": [n["name"] for n in lines if n["name"] != "l3"]}]
        if any(n["name"] != "l3" for n in lines) else [],
        "bgp": {"as": 65001, "policies": [policy("all", {}), *policies], "prefix-lists": list(prefix_lists), **bgp},
    }


def open_line(name, **more):
    return line(name, **{"policy-in": "all", "policy-out": "all", **more})


def far(*peers, families=("ipv4",), networks=("10.201.1.0/24", "10.255.1.1/32"), networks6=("fd00:201:1::/48",), lines=(), more=""):
    """bgpd's configuration of r, with `lines` for each peer."""
    text = f"{more}\nrouter bgp 65201\n bgp router-id 10.255.1.1\n no bgp ebgp-requires-policy\n no bgp default ipv4-unicast\n" \
           " no bgp network import-check\n bgp bestpath as-path multipath-relax\n timers bgp 3 9\n"
    for p in peers:
        text += f" neighbor {p} remote-as 65001\n neighbor {p} timers connect 1\n neighbor {p} advertisement-interval 0\n"
        text += "".join(f" neighbor {p} {extra}\n" for extra in lines)
    for family, nets in (("ipv4", networks), ("ipv6", networks6)):
        if family in families:
            text += f" address-family {family} unicast\n" + "".join(f"  network {n}\n" for n in nets) + "".join(f"  neighbor {p} activate\n" for p in peers) \
                + "  maximum-paths 8\n exit-address-family\n"
    return text + "exit\n"


def spec():
    return {
        "name": "sessions",
        "nodes": {
            "gw": {"kind": "gateway", "config": sites.text(config(open_line("l1"), open_line("l2")))},
            "r": {"kind": "router", "sysctls": {"net/ipv4/fib_multipath_hash_policy": 1},
                  "addresses": {"l1": ["172.31.1.2/30", "fd00:31:1::2/64"], "l2": ["172.31.2.2/30", "fd00:31:2::2/64"],
                                "lo": ["10.255.1.1/32", "10.201.1.1/32", "fd00:255:1::1/128", "fd00:201:1::1/128"]},
                  "frr": {"bgpd": far(*OUR4.values())}},
            "g": {"kind": "router", "addresses": {"l3": ["172.31.3.2/30"]}, "gobgp": {
                "global": {"config": {"as": GOBGP_AS, "router-id": "10.255.3.1"}},
                "neighbors": [{"config": {"neighbor-address": "172.31.3.1", "peer-as": 65001},
                               "timers": {"config": {"connect-retry": 1, "hold-time": 9, "keepalive-interval": 3}},
                               "afi-safis": [{"config": {"afi-safi-name": "ipv4-unicast"}}]}]}},
        },
        "links": [{"name": "l1", "ends": ["gw:l1", "r:l1"]}, {"name": "l2", "ends": ["gw:l2", "r:l2"]}, {"name": "l3", "ends": ["gw:l3", "g:l3"]}],
    }


class Net:
    def __init__(self, lab):
        self.lab = lab
        self.gw, self.r, self.g = lab.gateways["gw"], lab.speakers["r"], lab.speakers["g"]

    @property
    def ns_r(self):
        return self.lab.ns("r")

    def far(self, *peers, bfd="", **more):
        """r begins anew, with this configuration."""
        self.r.stop()
        self.r.config = {"bgpd": far(*(peers or OUR4.values()), **more), "bfdd": bfd}
        self.r.start()

    def apply(self, *lines, **more):
        return self.gw.apply(sites.text(config(*lines, **more)))

    def wait_established(self, *peers):
        frr.wait_established(vty(self.gw), peers)

    def established(self):
        return frr.established(vty(self.gw))

    def neighbor(self, peer):
        return frr.neighbors(vty(self.gw))[peer]

    def far_path(self, prefix, family="ipv4"):
        """r's best path of a prefix: what we told it."""
        found = self.r.json(f"show bgp {family} unicast {prefix}")
        return (found.get("paths") or [None])[0]

    def wait_far(self, prefix, family="ipv4"):
        assert process.wait_until(lambda: self.far_path(prefix, family), 5, 0.05), prefix
        return self.far_path(prefix, family)

    def secret(self, text):
        path = self.gw.folder / "secret.md5"
        path.write_text(text + "\n", encoding="ascii")
        path.chmod(0o600)
        return str(path)


@pytest.fixture(name="lab", scope="module")
def fixture_lab():
    with topo.temporary(spec()) as lab:
        yield lab


@pytest.fixture(name="net")
def fixture_net(lab):
    yield Net(lab)
    for name in lab.topology.links:
        lab.heal(name)


# --- protection -------------------------------------------------------------------------------------------------------


def test_md5_lets_only_who_knows_the_password(net):
    net.far(lines=["password open-sesame"])
    secret = net.secret("open-sesame")
    net.apply(open_line("l1", **{"password-file": secret}))
    net.wait_established(R4["l1"])
    net.secret("wrong")
    other = {**open_line("l1", **{"password-file": net.secret("wrong")})}
    net.gw.apply(sites.text(config(other)))
    net.far(lines=["password open-sesame"])
    assert not process.wait_until(lambda: R4["l1"] in net.established(), NEVER), "a wrong password was good enough"


def test_a_password_is_nowhere_to_be_seen(net):
    secret = "only-bgpd-may-see-this"
    path = net.secret(secret)
    text = sites.text(config(open_line("l1", **{"password-file": path})))
    candidate = net.gw.folder / "with-secret.yaml"
    candidate.write_text(text, encoding="utf-8")
    said = [net.gw.call("plan", candidate), net.gw.call("--json", "plan", candidate), net.gw.apply(text), net.gw.call("show", "bgp"),
            net.gw.call("--json", "show", "bgp")]
    assert not any(secret in d.stdout + d.stderr for d in said) and secret not in net.gw.log()
    with frr.Vty(vty(net.gw)) as v:
        assert secret in v.run("show running-config"), "it was not even set: this test proves nothing"
    files = [p for p in net.gw.folder.rglob("*") if p.is_file() and p.name != "secret.md5" and secret in p.read_text(errors="replace")]
    assert not files


def test_a_world_readable_password_file_is_refused(net):
    path = pathlib.Path(net.secret("x"))
    path.chmod(0o644)
    done = net.gw.apply(sites.text(config(open_line("l1", **{"password-file": str(path)}))), expect=None)
    assert done.returncode == gateway.REFUSED and "secret.md5" in done.stdout + done.stderr


def test_ttl_security_takes_only_neighbors(net):
    net.far(OUR4["l1"], lines=["ttl-security hops 1"])
    net.apply(open_line("l1", **{"ttl-security": True}))
    net.wait_established(R4["l1"])
    with probe.Capture(net.gw.ns, "l1") as capture:
        assert capture.wait(lambda f: f.outgoing and f.protocol == 6 and 179 in f.ports, 5), "no keepalive"
        net.apply(open_line("l1", **{"ttl-security": True}), networks=["10.30.0.0/16"])
        net.wait_far("10.30.0.0/16")
        sent = [f for f in capture.frames(0.2) if f.outgoing and f.protocol == 6 and 179 in f.ports]
    assert sent and {f.data[14 + 8] for f in sent} == {255}
    net.far(OUR4["l1"])
    assert not process.wait_until(lambda: R4["l1"] in net.established(), NEVER), "a TTL of 1 was taken"


def test_a_passive_session_waits_for_the_far_side(net):
    net.far(OUR4["l1"])
    net.apply(open_line("l1", passive=True))
    net.wait_established(R4["l1"])
    assert net.neighbor(R4["l1"])["portLocal"] == 179
    net.far(OUR4["l1"], lines=["passive"])
    assert not process.wait_until(lambda: R4["l1"] in net.established(), NEVER), "both wait, and yet there is a session"


def test_a_disabled_neighbor_is_shut(net):
    net.far(OUR4["l1"])
    neighbor = {"name": "n", "address": R4["l1"], "peer-as": 65201, "policy-in": "all", "policy-out": "all"}
    plain = {"name": "l1", "interface": "l1", "address": "172.31.1.1/30", "peer-address": "172.31.1.2"}
    net.apply(plain, neighbors=[neighbor])
    net.wait_established(R4["l1"])
    net.apply(plain, neighbors=[{**neighbor, "enabled": False}])
    assert process.wait_until(lambda: R4["l1"] not in net.established(), 3)
    assert not process.wait_until(lambda: R4["l1"] in net.established(), NEVER)


# --- limits -----------------------------------------------------------------------------------------------------------


def test_max_prefixes_warns_and_then_ends_the_session(net):
    few = routing_lab.prefixes("10.210.0.0/16", 8)
    net.far(OUR4["l1"], networks=few)
    net.apply(open_line("l1", **{"max-prefixes": 10, "max-prefixes-warning": 70}))
    net.wait_established(R4["l1"])
    assert process.wait_until(lambda: has(net.gw.ns, *few), 5)
    assert process.wait_until(lambda: routing_lab.says(str(net.gw.status()) + net.gw.log() + str(net.gw.show("bgp")), r"172\.31\.1\.2.*(prefix|limit|8)"), 10)
    net.r.configure("router bgp 65201\n address-family ipv4 unicast\n" + "".join(f"  network 10.211.{i}.0/24\n" for i in range(5)))
    assert process.wait_until(lambda: R4["l1"] not in net.established(), 5)
    assert process.wait_until(lambda: not has(net.gw.ns, few[0]), 3)


@pytest.mark.parametrize("provider, limit", [("huawei", 100), ("aws", 10000)])
def test_more_prefixes_than_the_provider_takes_are_warned_of_or_refused(net, provider, limit):
    """case 34"""
    cfg = config({**open_line("l1"), "provider": provider}, networks=routing_lab.prefixes("10.64.0.0/10", limit + 1))
    path = net.gw.folder / "many.yaml"
    path.write_text(sites.text(cfg), encoding="utf-8")
    done = net.gw.call("check", path)
    said = done.stdout + done.stderr
    assert str(limit) in said and "l1" in said and ("warning" in said or done.returncode == gateway.REFUSED), said
    cfg["bgp"]["networks"] = cfg["bgp"]["networks"][:limit // 2]
    path.write_text(sites.text(cfg), encoding="utf-8")
    done = net.gw.call("check", path)
    assert done.returncode == gateway.OK and str(limit) not in done.stdout + done.stderr, done.stdout + done.stderr


def test_graceful_restart_and_bfd_together_only_if_asked_for(net):
    """case 33"""
    bfd = {"interval": "50ms", "multiplier": 3}
    refused = config({**open_line("l1", **{"graceful-restart": "full"}), "bfd": bfd})
    done = net.gw.apply(sites.text(refused), expect=gateway.REFUSED)
    said = done.stdout + done.stderr
    assert "graceful-restart" in said and "bfd" in said, said
    net.apply({**open_line("l1", **{"graceful-restart": "full-with-bfd"}), "bfd": bfd})
    net.apply(open_line("l1", **{"graceful-restart": "full"}))


def test_hold_time_is_negotiated(net):
    net.far(OUR4["l1"])
    net.apply(open_line("l1", **{"hold-time": "6s"}))
    net.wait_established(R4["l1"])
    n = net.neighbor(R4["l1"])
    assert (n["bgpTimerHoldTimeMsecs"], n["bgpTimerKeepAliveIntervalMsecs"]) == (6000, 2000)


def test_the_sessions_own_mss_fits_the_line(net):
    """case 8: SYN and SYN-ACK say what the line carries, and updates of full size arrive"""
    many = routing_lab.prefixes("10.128.0.0/10", 3000)
    for both, address, headers in ((False, R4["l1"], 40), (True, R6["l1"], 60)):
        entry = {**open_line("l1"), "mtu": 1400}
        entry |= {"address6": "fd00:31:1::1/64", "peer-address6": R6["l1"]} if both else {}
        net.apply(entry)
        with probe.Capture(net.gw.ns, "l1") as capture:
            net.far(OUR6["l1"] if both else OUR4["l1"], networks=many, families=("ipv4", "ipv6"), networks6=["fd00:201:1::/48"])
            net.wait_established(address)
            syns = [f for f in capture.frames(0.3) if f.outgoing and f.is_syn and 179 in f.ports and address in (f.src, f.dst)]
        assert syns and {f.mss for f in syns} == {1400 - headers}, (address, {f.mss for f in syns})
    net.far(OUR4["l1"], networks=many)
    net.wait_established(R4["l1"])
    assert process.wait_until(lambda: has(net.gw.ns, many[0], many[-1]), 5)


# --- families and next hops -------------------------------------------------------------------------------------------


def test_a_line_with_both_families_has_a_session_for_each(net):
    net.far(OUR4["l1"], OUR6["l1"], families=("ipv4", "ipv6"))
    net.apply(line("l1", both=True, **{"policy-in": "all", "policy-out": "all"}))
    net.wait_established(R4["l1"], R6["l1"])
    assert process.wait_until(lambda: has(net.gw.ns, "10.201.1.0/24", "fd00:201:1::/48"), 5)
    assert process.wait_until(lambda: net.far_path("fd00:255::1/128", "ipv6"), 5)
    assert probe.ping(net.gw.ns, "fd00:201:1::1", "fd00:255::1", timeout=5)


def test_ipv4_prefixes_over_an_ipv6_session(net):
    """RFC 8950"""
    net.far(OUR6["l1"], families=("ipv4", "ipv6"), lines=["capability extended-nexthop"])
    six = {"name": "l1", "interface": "l1", "address": "fd00:31:1::1/64", "peer-address": R6["l1"],
           "bgp": {"peer-as": 65201, "families": ["ipv4", "ipv6"], "policy-in": "all", "policy-out": "all"}}
    cfg = config(six)
    cfg["remotes"] = [{"name": "r", "vtep": "fd00:255:1::1", "lines": ["l1"]}]
    net.gw.apply(sites.text(cfg))
    net.wait_established(R6["l1"])
    assert process.wait_until(lambda: has(net.gw.ns, "10.201.1.0/24"), 5)
    # The kernel's route has a stand-in for the IPv6 next hop, with a neighbor entry of the same MAC: FRR's way.
    assert routes(net.gw.ns, "10.201.1.0/24")[0]["hops"][0][:2] == ("169.254.0.1", "l1")
    assert process.wait_until(lambda: carriers(net.ns_r, "10.255.0.1/32") == ["l1"], 5)
    assert probe.ping(net.gw.ns, "10.201.1.1", "10.255.0.1", timeout=5)


def test_default_originate(net):
    net.far(OUR4["l1"])
    plain = {"name": "l1", "interface": "l1", "address": "172.31.1.1/30", "peer-address": "172.31.1.2"}
    net.apply(plain, neighbors=[{"name": "n", "address": R4["l1"], "peer-as": 65201, "policy-in": "all", "policy-out": "all", "default-originate": True}])
    assert process.wait_until(lambda: carriers(net.ns_r, "0.0.0.0/0") == ["l1"], 10) or carriers(net.ns_r, "default") == ["l1"]


# --- several lines ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rates, weights", [(("1gbit", "3gbit"), 3), (("100gbit", "25gbit"), 1 / 4), (("10gbit", "10gbit"), 1)])
def test_the_far_side_weights_the_lines_by_their_rates(net, rates, weights):
    """Whose routes have no bandwidth of ours to say, as plain FRR's, gets equal shares."""
    net.far()
    net.apply({**open_line("l1"), "rate": rates[0]}, {**open_line("l2"), "rate": rates[1]})
    net.wait_established(*R4.values())
    for ns, prefix, weights in ((net.gw.ns, "10.201.1.0/24", 1), (net.ns_r, "10.255.0.1/32", weights)):
        def ratio(ns=ns, prefix=prefix):
            hops = {dev: weight for _, dev, weight in routes(ns, prefix)[0]["hops"]} if has(ns, prefix) else {}
            return len(hops) == 2 and hops["l2"] / hops["l1"]
        assert process.wait_until(lambda weights=weights, ratio=ratio: abs(ratio() - weights) < 0.1 * weights, 10, 0.05), (ns, ratio(), routes(ns, prefix))


BFD = {"interval": "50ms", "multiplier": 3}


def far_bfd(*lines):
    return "bfd\n" + "".join(f" peer {OUR4[n]} local-address {R4[n]} interface {n}\n  detect-multiplier 3\n  receive-interval 50\n  transmit-interval 50\n exit\n"
                             for n in lines) + "exit\n"


def test_of_lines_with_different_priority_the_highest_carries_and_the_other_stands_by(net):
    net.far(bfd=far_bfd("l1", "l2"), lines=["bfd"])
    net.apply({**open_line("l1"), "bfd": BFD, "priority": 200}, {**open_line("l2"), "bfd": BFD})
    net.wait_established(*R4.values())

    def carry(name):
        return all(carriers(ns, p) == [name] for ns, p in ((net.gw.ns, "10.201.1.0/24"), (net.gw.ns, "10.255.1.1/32"), (net.ns_r, "10.255.0.1/32")))
    assert process.wait_until(lambda: carry("l1"), 10), routes(net.gw.ns, "10.255.1.1/32")
    flow = ("f", net.gw.ns, "10.255.0.1", net.ns_r, "10.255.1.1")
    with probe.Stream(flow) as stream:
        net.lab.fail("l1", "blackhole")
        assert process.wait_until(lambda: carry("l2"), 5)
        assert stream.stop(at_least=300)["f"]["longest_gap"] < 500
    net.lab.heal("l1")
    assert process.wait_until(lambda: carry("l1"), 20)


def test_bfd_alone_moves_static_routes(net):
    net.far(bfd=far_bfd("l1", "l2"))
    quiet = [{k: v for k, v in {**line(n), "bfd": BFD}.items() if k != "bgp"} for n in ("l1", "l2")]
    cfg = config(*quiet)
    cfg.pop("bgp")
    net.gw.apply(sites.text(cfg))
    netns.ip(net.ns_r, "route replace 10.255.0.1/32 nexthop via 172.31.1.1 nexthop via 172.31.2.1\n")
    try:
        def up():
            peers = frr.bfd_peers(vty(net.gw, "bfdd"))
            return [peers[p]["status"] for p in R4.values() if p in peers] == ["up", "up"]
        assert process.wait_until(up, 10)
        assert process.wait_until(lambda: carriers(net.gw.ns, "10.255.1.1/32") == ["l1", "l2"], 5)
        net.lab.fail("l1", "blackhole")
        assert process.wait_until(lambda: carriers(net.gw.ns, "10.255.1.1/32") == ["l2"], 2)
        net.lab.heal("l1")
        assert process.wait_until(lambda: carriers(net.gw.ns, "10.255.1.1/32") == ["l1", "l2"], 10)
    finally:
        netns.ip(net.ns_r, "route del 10.255.0.1/32\n")


def test_both_lines_dead_leaves_all_in_place(net):
    """BFD that is wrong about everything must not cut what may still work."""
    net.far(bfd=far_bfd("l1", "l2"))
    quiet = [{k: v for k, v in {**line(n), "bfd": BFD}.items() if k != "bgp"} for n in ("l1", "l2")]
    cfg = config(*quiet)
    cfg.pop("bgp")
    net.gw.apply(sites.text(cfg))
    assert process.wait_until(lambda: all(p["status"] == "up" for p in frr.bfd_peers(vty(net.gw, "bfdd")).values()), 10)
    net.r.stop()
    assert process.wait_until(lambda: all(p["status"] == "down" for p in frr.bfd_peers(vty(net.gw, "bfdd")).values()), 10)
    assert process.wait_until(lambda: carriers(net.gw.ns, "10.255.1.1/32") == ["l1", "l2"], 5), routes(net.gw.ns, "10.255.1.1/32")
    net.r.start()


# --- policies ---------------------------------------------------------------------------------------------------------


def test_without_a_policy_another_as_gives_and_gets_vteps_only(net):
    """RFC 8212, and what an overlay needs"""
    net.far(OUR4["l1"], networks=["10.201.1.0/24", "10.255.1.1/32", "10.255.77.1/32"])
    net.apply(line("l1"), networks=["10.30.0.0/16"])
    net.wait_established(R4["l1"])
    assert process.wait_until(lambda: BGP in [r["protocol"] for r in routes(net.gw.ns, "10.255.1.1/32")], 5)
    assert not has(net.gw.ns, "10.201.1.0/24") and not has(net.gw.ns, "10.255.77.1/32")
    net.wait_far("10.255.0.1/32")
    assert net.far_path("10.30.0.0/16") is None


def test_policies_match_and_set(net):
    """local preference by community on the way in; MED, prepend and communities on the way out"""
    net.far(OUR4["l1"], more="""route-map TAG permit 10
 set community 65201:10
exit
""")
    net.r.configure("router bgp 65201\n address-family ipv4 unicast\n  network 10.202.1.0/24 route-map TAG\n")
    rules = [policy("in", {"community-set": "gold", "local-pref": 333}, {"local-pref": 50}),
             policy("out", {"prefix-list": "own", "med": 77, "prepend": 2, "set-communities": ["65001:1", "65001:2"]},
                    {"prefix-list": "tagged", "add-communities": ["65001:3:4"]})]
    net.apply(line("l1", **{"policy-in": "in", "policy-out": "out"}), policies=rules, networks=["10.30.0.0/16", "10.31.0.0/16", "10.32.0.0/16"],
              prefix_lists=[prefix_list("own", {"prefix": "10.30.0.0/16"}), prefix_list("tagged", {"prefix": "10.31.0.0/16"})],
              **{"community-sets": [{"name": "gold", "communities": ["65201:9", "65201:10"]}]})
    net.wait_established(R4["l1"])
    own = net.wait_far("10.30.0.0/16")
    assert own["aspath"]["string"] == "65001 65001 65001" and own.get("metric", own.get("med")) == 77
    assert own["community"]["string"] == "65001:1 65001:2"
    tagged = net.wait_far("10.31.0.0/16")
    assert tagged["largeCommunity"]["string"] == "65001:3:4"
    assert net.far_path("10.32.0.0/16") is None

    def preference(prefix):
        with frr.Vty(vty(net.gw)) as v:
            paths = v.json(f"show bgp ipv4 unicast {prefix}").get("paths") or [{}]
        return paths[0].get("locPrf")
    assert process.wait_until(lambda: (preference("10.202.1.0/24"), preference("10.201.1.0/24")) == (333, 50), 5)


def test_an_aggregate_hides_its_specifics(net):
    net.far(OUR4["l1"])
    net.apply(open_line("l1"), networks=["10.30.1.0/24", "10.30.2.0/24"], aggregates=[{"prefix": "10.30.0.0/16"}])
    net.wait_far("10.30.0.0/16")
    assert net.far_path("10.30.1.0/24") is None
    net.apply(open_line("l1"), networks=["10.30.1.0/24", "10.30.2.0/24"], aggregates=[{"prefix": "10.30.0.0/16", "summary-only": False}])
    net.wait_far("10.30.1.0/24")


def test_a_changed_policy_is_in_force_without_a_reset(net):
    net.far(OUR4["l1"])
    net.apply(open_line("l1"))
    net.wait_established(R4["l1"])
    assert process.wait_until(lambda: has(net.gw.ns, "10.201.1.0/24"), 5)
    before = routing_lab.sessions(vty(net.gw))
    net.apply(line("l1", **{"policy-in": "some", "policy-out": "all"}), policies=[policy("some", {"prefix-list": "vteps"})],
              prefix_lists=[prefix_list("vteps", {"prefix": "10.255.0.0/16", "ge": 32})])
    assert process.wait_until(lambda: not has(net.gw.ns, "10.201.1.0/24"), 5)
    net.apply(open_line("l1"))
    assert process.wait_until(lambda: has(net.gw.ns, "10.201.1.0/24"), 5)
    assert not routing_lab.bounced(before, routing_lab.sessions(vty(net.gw)))


def test_a_policy_of_one_rule_is_renumbered_while_updates_come(net):
    """bgpd 8.4 crashes when an update meets a route map that was deleted and made again: its last entry must never go first."""
    net.far(OUR4["l1"])
    pid = None
    for seq in (10, 20, 10, 20, 10):
        rules = [{"name": "moving", "rules": [{"seq": seq}]}]
        net.apply(line("l1", **{"policy-in": "moving", "policy-out": "all"}), policies=rules)
        net.wait_established(R4["l1"])
        pid = pid or routing_lab.daemon_pid(net.gw, "bgpd")
        for word in ("", "no "):
            net.r.configure("router bgp 65201\n address-family ipv4 unicast\n" + "".join(f"  {word}network 10.212.{i}.0/24\n" for i in range(20)))
            assert process.wait_until(lambda there=not word: has(net.gw.ns, "10.212.19.0/24") == there, 8, 0.02)
        assert routing_lab.daemon_pid(net.gw, "bgpd") == pid, "bgpd was started again"


# --- GoBGP ------------------------------------------------------------------------------------------------------------


def test_gobgp_as_the_clouds_router(net):
    net.g.announce("10.203.1.0/24", "community", "65203:1")
    net.apply(open_line("l3"), networks=["10.30.0.0/16"])
    net.g.wait_established("172.31.3.1")
    assert process.wait_until(lambda: carriers(net.gw.ns, "10.203.1.0/24") == ["l3"], 5)
    assert process.wait_until(lambda: {"10.30.0.0/16", "10.255.0.1/32"} <= set(net.g.routes()), 5), net.g.routes()
    path = net.g.routes()["10.30.0.0/16"][0]
    assert "65001" in json.dumps(path)
    before = routing_lab.sessions(vty(net.gw))
    net.g.announce("10.203.2.0/24")
    assert process.wait_until(lambda: has(net.gw.ns, "10.203.2.0/24"), 1, 0.01)
    net.g.withdraw("10.203.2.0/24")
    assert process.wait_until(lambda: not has(net.gw.ns, "10.203.2.0/24"), 1, 0.01)
    assert routing_lab.bounced(before, routing_lab.sessions(vty(net.gw))) == []


def test_gobgp_comes_back_after_its_restart(net):
    net.apply(open_line("l3"))
    net.g.wait_established("172.31.3.1")
    net.g.stop()
    assert process.wait_until(lambda: G4 not in net.established(), 15)
    net.g.start()
    net.wait_established(G4)


# --- why not ----------------------------------------------------------------------------------------------------------


def test_show_says_why_a_session_is_not_up_and_what_was_denied(net):
    net.far(OUR4["l1"], lines=["shutdown"])
    net.apply(line("l1"), line("l2"))
    text = net.gw.call("show", "bgp").stdout
    assert R4["l1"] in text and R4["l2"] in text
    net.far()
    net.wait_established(*R4.values())
    shown = json.dumps(net.gw.show("bgp"))
    assert "65201" in shown and R4["l1"] in shown
